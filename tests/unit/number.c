/* SPDX-License-Identifier: MIT */
#include "base/number.h"

#include <string.h>

#include "unittest.h"

static const char *read_text(const char *text, uint64_t *number)
{
    return vs_number(text, text + strlen(text), number);
}

TEST(reads_numbers_with_and_without_a_suffix)
{
    static const struct {
        const char *text;
        uint64_t want;
    } cases[] = {
        {"0", 0},
        {"007", 7},
        {"0x1fF", 0x1ff},
        {"0X10", 16},
        {"1K", 1024},
        {"1Ki", 1024},
        {"1KiB", 1024},
        {"3M", 3 << 20},
        {"3Mi", 3 << 20},
        {"512MiB", 512 << 20},
        {"2G", UINT64_C(2) << 30},
        {"0x10GiB", UINT64_C(16) << 30},
        {"18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t got = 99;
        CHECK(!read_text(cases[i].text, &got));
        CHECK_EQ(got, cases[i].want);
    }
}

TEST(refuses_what_is_no_number)
{
    static const char *const cases[] = {"",    "-1",  "+1",    "K",   "x",    "0x",    "1 ",
                                        " 1",  "1k",  "1KB",   "1MB", "1Kib", "1KiBx", "1T",
                                        "1.5", "1e6", "1,000", "1KK", "1i",   "1B",    "12a"};
    uint64_t got;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_HAS(read_text(cases[i], &got), "is not a number");
    CHECK_HAS(read_text("18446744073709551616", &got), "64 bits");
    CHECK_HAS(read_text("17179869184G", &got), "64 bits");
}

TEST(reads_no_further_than_the_end)
{
    const char *text = "12K34";
    uint64_t got;
    CHECK(!vs_number(text, text + 3, &got));
    CHECK_EQ(got, 12288);
    CHECK_HAS(vs_number(text, text, &got), "is not a number");
}
