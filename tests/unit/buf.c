/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "rng.h"
#include "unittest.h"

TEST(starts_empty_when_zeroed)
{
    struct vs_buf b = {0};
    CHECK_EQ(vs_buf_reserve(&b, 0), 0);
    CHECK_EQ(vs_buf_put(&b, NULL, 0), 0);
    CHECK_EQ(b.len, 0);
    vs_buf_fini(&b);
}

TEST(appends_in_order)
{
    struct vs_buf b = {0};
    CHECK_EQ(vs_buf_put(&b, "abc", 3), 0);
    CHECK_EQ(vs_buf_put(&b, "", 0), 0);
    CHECK_EQ(vs_buf_put(&b, "defg", 4), 0);
    CHECK_EQ(b.len, 7);
    CHECK_MEM(b.data, "abcdefg", 7);
    vs_buf_fini(&b);
}

TEST(reserves_without_adding)
{
    struct vs_buf b = {0};
    vs_buf_put(&b, "x", 1);
    CHECK_EQ(vs_buf_reserve(&b, 1000), 0);
    CHECK_EQ(b.len, 1);
    CHECK(b.cap - b.len >= 1000);
    const uint8_t *before = b.data;
    memset(b.data + b.len, 0, 1000);
    CHECK_EQ(vs_buf_reserve(&b, 1000), 0);
    CHECK(b.data == before);
    vs_buf_fini(&b);
}

TEST(grows_geometrically)
{
    struct vs_buf b = {0};
    unsigned growths = 0;
    for (unsigned i = 0; i < 1000000; i++) {
        size_t cap = b.cap;
        CHECK_EQ(vs_buf_put(&b, &(uint8_t){(uint8_t)i}, 1), 0);
        growths += b.cap != cap;
    }
    CHECK(growths < 40);
    for (unsigned i = 0; i < 1000000; i++)
        if (b.data[i] != (uint8_t)i)
            CHECK_EQ(b.data[i], (uint8_t)i);
    vs_buf_fini(&b);
}

TEST(matches_a_plain_array_for_random_sizes)
{
    static uint8_t want[200000];
    struct vs_buf b = {0};
    struct rng r = rng_init(1);
    size_t len = 0;
    for (;;) {
        size_t n = rng_below(&r, 700);
        if (len + n > sizeof(want))
            break;
        for (size_t i = 0; i < n; i++)
            want[len + i] = (uint8_t)rng_next(&r);
        CHECK_EQ(vs_buf_put(&b, want + len, n), 0);
        len += n;
    }
    CHECK_EQ(b.len, len);
    CHECK_MEM(b.data, want, len);
    vs_buf_fini(&b);
}

TEST(refuses_sizes_that_overflow)
{
    struct vs_buf b = {0};
    vs_buf_put(&b, "abc", 3);
    struct vs_buf before = b;
    CHECK_ERR(vs_buf_reserve(&b, SIZE_MAX), VSE_NOMEM);
    CHECK_ERR(vs_buf_reserve(&b, SIZE_MAX - 2), VSE_NOMEM);
    CHECK_ERR(vs_buf_reserve(&b, (size_t)PTRDIFF_MAX), VSE_NOMEM);
    CHECK_MEM(&b, &before, sizeof(b));
    CHECK_MEM(b.data, "abc", 3);
    vs_buf_fini(&b);
}

TEST(works_again_after_fini)
{
    struct vs_buf b = {0};
    vs_buf_put(&b, "abc", 3);
    vs_buf_fini(&b);
    CHECK(!b.data);
    CHECK_EQ(b.len, 0);
    CHECK_EQ(b.cap, 0);
    CHECK_EQ(vs_buf_put(&b, "z", 1), 0);
    CHECK_MEM(b.data, "z", 1);
    vs_buf_fini(&b);
    vs_buf_fini(&b);
}
