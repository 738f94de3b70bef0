/* SPDX-License-Identifier: MIT */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

#include "unittest.h"

TEST(grows_and_keeps_elements)
{
    uint32_t *a = NULL;
    size_t capacity = 0;

    for (uint32_t i = 0; i < 10000; i++) {
        CHECK_EQ(vs_array_room((void **)&a, &capacity, i, 1, sizeof(*a)), 0);
        CHECK(capacity > i);
        a[i] = i * 3;
    }
    for (uint32_t i = 0; i < 10000; i++)
        CHECK_EQ(a[i], i * 3);
    free(a);
}

TEST(makes_room_for_many_at_once)
{
    uint64_t *a = NULL;
    size_t capacity = 0;

    CHECK_EQ(vs_array_room((void **)&a, &capacity, 0, 1000, sizeof(*a)), 0);
    CHECK(capacity >= 1000);
    a[999] = 1;
    CHECK_EQ(vs_array_room((void **)&a, &capacity, 1000, 5000, sizeof(*a)), 0);
    CHECK(capacity >= 6000);
    CHECK_EQ(a[999], 1);
    a[5999] = 2;
    free(a);
}

TEST(does_not_move_when_there_is_room)
{
    uint64_t *a = NULL, *before;
    size_t capacity = 0, had;

    CHECK_EQ(vs_array_room((void **)&a, &capacity, 0, 10, sizeof(*a)), 0);
    before = a;
    had = capacity;
    CHECK_EQ(vs_array_room((void **)&a, &capacity, 3, had - 3, sizeof(*a)), 0);
    CHECK(a == before && capacity == had);
    free(a);
}

TEST(refuses_sizes_that_wrap)
{
    uint64_t *a = NULL, *before;
    size_t capacity = 0, had;

    CHECK_EQ(vs_array_room((void **)&a, &capacity, 0, 10, sizeof(*a)), 0);
    before = a;
    had = capacity;
    CHECK_ERR(vs_array_room((void **)&a, &capacity, 10, SIZE_MAX, sizeof(*a)), VSE_NOMEM);
    CHECK_ERR(vs_array_room((void **)&a, &capacity, 10, SIZE_MAX / 4, sizeof(*a)), VSE_NOMEM);
    CHECK_ERR(vs_array_room((void **)&a, &capacity, SIZE_MAX / 2, 1, sizeof(*a)), VSE_NOMEM);
    CHECK(a == before && capacity == had);
    free(a);
}
