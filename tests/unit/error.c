/* SPDX-License-Identifier: MIT */
#include "base/base.h" /* must compile by itself */
#include "unittest.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

TEST(names_every_code_with_either_sign)
{
    CHECK_STR(vs_errname(VSE_OK), "VSE_OK");
    CHECK_STR(vs_errname(VSE_CHECKSUM), "VSE_CHECKSUM");
    CHECK_STR(vs_errname(-VSE_CHECKSUM), "VSE_CHECKSUM");
    CHECK_STR(vs_errname(-VSE_LIMIT), "VSE_LIMIT");
    CHECK_STR(vs_errstr(-VSE_NOMEM), "out of memory");
    CHECK_STR(vs_errstr(VSE_NOMEM), "out of memory");
}

TEST(names_unknown_numbers)
{
    static const int unknown[] = {4, -4, 9, 12, 29, 37, -37, 1000, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        CHECK_STR(vs_errname(unknown[i]), "VSE_UNKNOWN");
        CHECK_STR(vs_errstr(unknown[i]), "unknown error");
    }
}

TEST(pins_the_numbers)
{
    static const struct {
        int number;
        const char *name;
    } pinned[] = {
        {0, "VSE_OK"},         {1, "VSE_INVAL"},    {2, "VSE_INTERNAL"}, {3, "VSE_NOMEM"},
        {10, "VSE_IO"},        {11, "VSE_EXISTS"},  {20, "VSE_END"},     {21, "VSE_NOTFOUND"},
        {30, "VSE_FORMAT"},    {31, "VSE_VERSION"}, {32, "VSE_FEATURE"}, {33, "VSE_CHECKSUM"},
        {34, "VSE_TRUNCATED"}, {35, "VSE_CORRUPT"}, {36, "VSE_LIMIT"},
    };
    for (size_t i = 0; i < sizeof(pinned) / sizeof(pinned[0]); i++)
        CHECK_STR(vs_errname(pinned[i].number), pinned[i].name);
}

TEST(gives_each_code_its_own_text)
{
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < i; j++)
            if (strcmp(vs_errname(i), "VSE_UNKNOWN") && strcmp(vs_errname(j), "VSE_UNKNOWN"))
                CHECK(strcmp(vs_errstr(i), vs_errstr(j)) != 0);
}

TEST(tells_the_version)
{
    char want[32];
    snprintf(want, sizeof(want), "%d.%d.%d", VS_VERSION_MAJOR, VS_VERSION_MINOR, VS_VERSION_PATCH);
    CHECK_STR(vs_version(), want);
}
