/* SPDX-License-Identifier: MIT */
#include "base/bits.h"

#include <stdlib.h>

#include "rng.h"
#include "unittest.h"

TEST(writes_least_significant_bit_first)
{
    uint8_t bytes[3] = {0xee, 0xee, 0xee};
    struct vs_bitw w;
    vs_bitw_init(&w, bytes, sizeof(bytes));
    vs_bitw_put(&w, 1, 1);
    vs_bitw_put(&w, 0, 2);
    vs_bitw_put(&w, 0x1f, 5);
    vs_bitw_put(&w, 2, 2);
    CHECK_EQ(vs_bitw_bits(&w), 10);
    CHECK_EQ(vs_bitw_finish(&w), 2);
    CHECK_MEM(bytes, "\xf9\x02\xee", 3);
}

TEST(ignores_bits_above_the_width)
{
    uint8_t bytes[8];
    struct vs_bitw w;
    vs_bitw_init(&w, bytes, sizeof(bytes));
    vs_bitw_put(&w, UINT64_MAX, 0);
    vs_bitw_put(&w, UINT64_MAX, 3);
    vs_bitw_put(&w, 0, 5);
    CHECK_EQ(vs_bitw_finish(&w), 1);
    CHECK_EQ(bytes[0], 7);
}

TEST(is_exact_for_64_bits_at_every_shift)
{
    for (unsigned shift = 0; shift < 64; shift++) {
        uint8_t bytes[16];
        struct vs_bitw w;
        struct vs_bitr r;
        uint64_t v;
        vs_bitw_init(&w, bytes, sizeof(bytes));
        vs_bitw_put(&w, UINT64_MAX, shift);
        vs_bitw_put(&w, 0x8123456789abcde1, 64);
        CHECK_EQ(vs_bitw_bits(&w), 64 + shift);
        int64_t size = vs_bitw_finish(&w);
        CHECK_EQ(size, 8 + (shift + 7) / 8);
        CHECK_EQ(vs_bitr_init(&r, bytes, (size_t)size, vs_bitw_bits(&w)), 0);
        CHECK_EQ(vs_bitr_get(&r, shift, &v), 0);
        CHECK_EQ(v, shift ? UINT64_MAX >> (64 - shift) : 0);
        CHECK_EQ(vs_bitr_get(&r, 64, &v), 0);
        CHECK_EQ(v, 0x8123456789abcde1);
        CHECK_EQ(vs_bitr_left(&r), 0);
    }
}

TEST(writes_nothing_for_no_bits)
{
    struct vs_bitw w;
    struct vs_bitr r;
    uint64_t v = 1;
    vs_bitw_init(&w, NULL, 0);
    vs_bitw_put(&w, 5, 0);
    CHECK_EQ(vs_bitw_finish(&w), 0);
    CHECK_EQ(vs_bitr_init(&r, NULL, 0, 0), 0);
    CHECK_EQ(vs_bitr_get(&r, 0, &v), 0);
    CHECK_EQ(v, 0);
    CHECK_ERR(vs_bitr_get(&r, 1, &v), VSE_END);
}

TEST(fills_the_buffer_to_the_last_bit)
{
    for (size_t cap = 0; cap <= 20; cap++) {
        uint8_t bytes[24];
        struct vs_bitw w;
        memset(bytes, 0xee, sizeof(bytes));
        vs_bitw_init(&w, bytes, cap);
        for (size_t i = 0; i < cap * 8; i++)
            vs_bitw_put(&w, 1, 1);
        CHECK(!vs_bitw_overflow(&w));
        CHECK_EQ(vs_bitw_finish(&w), cap);
        for (size_t i = 0; i < cap; i++)
            CHECK_EQ(bytes[i], 0xff);
        vs_bitw_put(&w, 1, 1);
        CHECK(vs_bitw_overflow(&w));
        CHECK_ERR(vs_bitw_finish(&w), VSE_LIMIT);
        CHECK_EQ(bytes[cap], 0xee);
    }
}

TEST(stays_overflowed_and_within_the_buffer)
{
    struct rng rng = rng_init(5);
    for (size_t cap = 0; cap <= 20; cap++) {
        uint8_t *bytes = malloc(cap + 16);
        struct vs_bitw w;
        uint64_t bits = 0;
        memset(bytes, 0xee, cap + 16);
        vs_bitw_init(&w, bytes, cap);
        while (bits < 1000) {
            unsigned n = (unsigned)rng_below(&rng, 65);
            vs_bitw_put(&w, rng_next(&rng), n);
            bits += n;
            CHECK_EQ(vs_bitw_bits(&w), bits);
            CHECK_EQ(vs_bitw_overflow(&w), bits > cap * 8);
        }
        CHECK_ERR(vs_bitw_finish(&w), VSE_LIMIT);
        CHECK_MEM(bytes + cap, "\xee\xee\xee\xee\xee\xee\xee\xee", 8);
        free(bytes);
    }
}

TEST(goes_on_after_finish)
{
    uint8_t bytes[16];
    struct vs_bitw w;
    vs_bitw_init(&w, bytes, sizeof(bytes));
    vs_bitw_put(&w, 5, 3);
    CHECK_EQ(vs_bitw_finish(&w), 1);
    CHECK_EQ(bytes[0], 5);
    vs_bitw_put(&w, 0x1234567890, 62);
    CHECK_EQ(vs_bitw_finish(&w), 9);
    CHECK_EQ(vs_get64(bytes), 0x1234567890 << 3 | 5);
}

TEST(consumes_nothing_at_the_end)
{
    static const uint8_t bytes[] = {0xff, 0xff};
    struct vs_bitr r;
    uint64_t v = 42;
    CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), 11), 0);
    CHECK_EQ(vs_bitr_get(&r, 4, &v), 0);
    v = 42;
    CHECK_ERR(vs_bitr_get(&r, 8, &v), VSE_END);
    CHECK_ERR(vs_bitr_get(&r, 64, &v), VSE_END);
    CHECK_EQ(v, 42);
    CHECK_EQ(vs_bitr_pos(&r), 4);
    CHECK_EQ(vs_bitr_get(&r, 7, &v), 0);
    CHECK_EQ(v, 0x7f);
    CHECK_EQ(vs_bitr_get(&r, 0, &v), 0);
    CHECK_ERR(vs_bitr_get(&r, 1, &v), VSE_END);
    CHECK_EQ(vs_bitr_pos(&r), 11);
}

TEST(refuses_more_bits_than_bytes_hold)
{
    static const uint8_t bytes[2] = {0};
    struct vs_bitr r;
    uint64_t v;
    CHECK_EQ(vs_bitr_init(&r, bytes, 2, 16), 0);
    CHECK_ERR(vs_bitr_init(&r, bytes, 2, 17), VSE_TRUNCATED);
    CHECK_ERR(vs_bitr_get(&r, 1, &v), VSE_END);
    CHECK_ERR(vs_bitr_init(&r, bytes, 2, UINT64_MAX), VSE_TRUNCATED);
    CHECK_ERR(vs_bitr_init(&r, NULL, 0, 1), VSE_TRUNCATED);
}

enum { FIELDS = 500 };

TEST(round_trips_random_fields)
{
    struct rng rng = rng_init(6);
    static struct {
        uint64_t v;
        unsigned n;
    } fields[FIELDS];
    for (int round = 0; round < 200; round++) {
        struct vs_bitw w;
        struct vs_bitr r;
        uint64_t pos = 0, v;
        unsigned widest = (unsigned)rng_below(&rng, 64) + 1;
        uint8_t *bytes = malloc(FIELDS * 8);
        vs_bitw_init(&w, bytes, FIELDS * 8);
        for (int i = 0; i < FIELDS; i++) {
            unsigned n = fields[i].n = (unsigned)rng_below(&rng, widest + 1);
            fields[i].v = n ? rng_next(&rng) >> (64 - n) : 0;
            bool room = FIELDS * 8 - vs_bitw_bits(&w) / 8 >= 8;
            if (room && rng_below(&rng, 2))
                vs_bitw_put_fast(&w, fields[i].v, n);
            else
                vs_bitw_put(&w, fields[i].v, n);
        }
        int64_t size = vs_bitw_finish(&w);
        CHECK_EQ(size, (vs_bitw_bits(&w) + 7) / 8);
        /* Exactly as large as the data, for the sanitizers to see what is read. */
        uint8_t *exact = malloc((size_t)size + !size);
        memcpy(exact, bytes, (size_t)size);
        CHECK_EQ(vs_bitr_init(&r, exact, (size_t)size, vs_bitw_bits(&w)), 0);
        for (int i = 0; i < FIELDS; i++) {
            unsigned n = fields[i].n;
            if (n >= 1 && n <= 57 && vs_bitr_left(&r) >= 64 && rng_below(&rng, 2))
                v = vs_bitr_get_fast(&r, n);
            else
                CHECK_EQ(vs_bitr_get(&r, n, &v), 0);
            CHECK_EQ(v, fields[i].v);
            pos += n;
            CHECK_EQ(vs_bitr_pos(&r), pos);
        }
        CHECK_ERR(vs_bitr_get(&r, 1, &v), VSE_END);
        free(exact);
        free(bytes);
    }
}
