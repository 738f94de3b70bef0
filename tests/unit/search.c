/* SPDX-License-Identifier: MIT */
#include "base/search.h"

#include "unittest.h"

struct item {
    char name;
    uint64_t key;
};

static const struct item items[] = {{'a', 0}, {'b', 5}, {'c', 5}, {'d', 7}, {'e', UINT64_MAX}};

/* As it is defined, from front to back. */
static size_t plain(size_t count, uint64_t key, bool after)
{
    size_t i = 0;
    while (i < count && !(after ? items[i].key > key : items[i].key >= key))
        i++;
    return i;
}

TEST(finds_the_first)
{
    static const uint64_t keys[] = {0, 1, 4, 5, 6, 7, 8, UINT64_MAX - 1, UINT64_MAX};
    for (size_t count = 0; count <= sizeof(items) / sizeof(items[0]); count++)
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            CHECK_EQ(VS_FIRST_FROM(items, count, key, keys[k]), plain(count, keys[k], false));
            CHECK_EQ(VS_FIRST_AFTER(items, count, key, keys[k]), plain(count, keys[k], true));
        }
}

TEST(finds_nothing_in_no_array)
{
    const struct item *none = NULL;
    CHECK_EQ(VS_FIRST_FROM(none, 0, key, 1), 0);
    CHECK_EQ(VS_FIRST_AFTER(none, 0, key, 1), 0);
}
