/* SPDX-License-Identifier: MIT */
#include "port/port.h" /* must compile by itself */

#include <string.h>

#include "rng.h"
#include "unittest.h"

/* Bits as text, in the order in which they leave the port. */
static const char *bits_of(struct vs_bitw *w)
{
    static char text[300];
    uint64_t n = vs_bitw_bits(w);

    CHECK(vs_bitw_finish(w) >= 0 && n < sizeof(text));
    for (uint64_t i = 0; i < n; i++)
        text[i] = (char)('0' + (w->data[i / 8] >> i % 8 & 1));
    text[n] = '\0';
    return text;
}

static void parse_bits(struct vs_bitr *r, uint8_t *bytes, const char *text)
{
    size_t n = strlen(text);

    memset(bytes, 0, 64);
    for (size_t i = 0; i < n; i++)
        bytes[i / 8] |= (uint8_t)((text[i] == '1') << i % 8);
    CHECK_EQ(vs_bitr_init(r, bytes, 64, n), 0);
}

static const struct vs_chunks tr_e = {4, 2}, tr_b = {8, 8};

TEST(sizes_of_traptor_messages)
{
    CHECK_EQ(vs_chunks_size(tr_e, 1), 5);
    CHECK_EQ(vs_chunks_size(tr_e, 15), 5);
    CHECK_EQ(vs_chunks_size(tr_e, 16), 8);
    CHECK_EQ(vs_chunks_size(tr_e, 63), 8);
    CHECK_EQ(vs_chunks_size(tr_e, 64), 11);
    CHECK_EQ(vs_chunks_size(tr_b, 0), 9);
    CHECK_EQ(vs_chunks_size(tr_b, 255), 9);
    CHECK_EQ(vs_chunks_size(tr_b, 256), 18);
    CHECK_EQ(vs_chunks_size(tr_b, 65535), 18);
    CHECK_EQ(vs_chunks_size((struct vs_chunks){1, 1}, UINT64_MAX), 128);
}

TEST(puts_chunks_least_significant_first)
{
    uint8_t bytes[64];
    struct vs_bitw w;

    vs_bitw_init(&w, bytes, sizeof(bytes));
    CHECK_EQ(vs_chunks_put(&w, tr_e, 0x56), 11); /* 01 01 0110 */
    CHECK_STR(bits_of(&w), "0110"
                           "1"
                           "10"
                           "1"
                           "10"
                           "0");
}

static const struct vs_unary tmbp = {3, 2, 0};

/* Fields are numbers, their lowest bit first: the examples' 101, 01001, 0101000 from the right. */
TEST(puts_the_codes_of_tmbp)
{
    static const struct {
        uint64_t v;
        const char *bits;
    } examples[] = {{5, "0101"}, {9, "1010010"}, {40, "1100001010"}, {0, "0000"}};

    for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
        uint8_t bytes[64];
        struct vs_bitw w;

        vs_bitw_init(&w, bytes, sizeof(bytes));
        CHECK_EQ(vs_unary_put(&w, tmbp, examples[i].v), strlen(examples[i].bits));
        CHECK_EQ(vs_unary_size(tmbp, examples[i].v), strlen(examples[i].bits));
        CHECK_STR(bits_of(&w), examples[i].bits);
    }
}

static uint64_t interesting(struct rng *rng)
{
    uint64_t v = rng_any(rng);

    switch (rng_below(rng, 4)) {
    case 0:
        return UINT64_C(1) << rng_below(rng, 64);
    case 1:
        return UINT64_MAX >> rng_below(rng, 64);
    default:
        return v;
    }
}

enum { VALUES = 60, BYTES = VALUES * 20 };

/* Every code, values of every length; and the stream cut before each value's last bit. */
TEST(round_trips_chunks)
{
    struct rng rng = rng_init(1);

    for (int round = 0; round < 3000; round++) {
        struct vs_chunks c = {(uint8_t)(1 + rng_below(&rng, 64)),
                              (uint8_t)(1 + rng_below(&rng, 64))};
        uint64_t values[VALUES], got;
        uint8_t bytes[BYTES];
        struct vs_bitw w;
        struct vs_bitr r;

        vs_bitw_init(&w, bytes, sizeof(bytes));
        for (int i = 0; i < VALUES; i++) {
            values[i] = interesting(&rng);
            CHECK_EQ(vs_chunks_put(&w, c, values[i]), vs_chunks_size(c, values[i]));
        }
        CHECK(vs_bitw_finish(&w) > 0);
        CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), vs_bitw_bits(&w)), 0);
        for (int i = 0; i < VALUES; i++) {
            uint64_t pos = r.pos, all = r.nbits;

            r.nbits = pos + rng_below(&rng, vs_chunks_size(c, values[i]));
            CHECK_ERR(vs_chunks_get(&r, c, &got), VSE_END);
            CHECK_EQ(r.pos, pos);
            r.nbits = all;
            CHECK_EQ(vs_chunks_get(&r, c, &got), 0);
            CHECK_EQ(got, values[i]);
            CHECK_EQ(r.pos - pos, vs_chunks_size(c, values[i]));
        }
        CHECK_EQ(vs_bitr_left(&r), 0);
    }
}

TEST(round_trips_unary_codes)
{
    struct rng rng = rng_init(2);

    for (int round = 0; round < 3000; round++) {
        struct vs_unary u = {(uint8_t)(1 + rng_below(&rng, 64)), (uint8_t)(1 + rng_below(&rng, 64)),
                             0};
        uint64_t values[VALUES], got;
        uint8_t bytes[BYTES];
        struct vs_bitw w;
        struct vs_bitr r;

        u.most = (uint8_t)(u.size + rng_below(&rng, 65u - u.size));
        CHECK(vs_unary_valid(u));
        vs_bitw_init(&w, bytes, sizeof(bytes));
        for (int i = 0; i < VALUES; i++) {
            values[i] = interesting(&rng) >> (64 - u.most);
            CHECK_EQ(vs_unary_put(&w, u, values[i]), vs_unary_size(u, values[i]));
        }
        CHECK(vs_bitw_finish(&w) > 0);
        CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), vs_bitw_bits(&w)), 0);
        for (int i = 0; i < VALUES; i++) {
            uint64_t pos = r.pos, all = r.nbits;

            r.nbits = pos + rng_below(&rng, vs_unary_size(u, values[i]));
            CHECK_ERR(vs_unary_get(&r, u, &got), VSE_END);
            CHECK_EQ(r.pos, pos);
            r.nbits = all;
            CHECK_EQ(vs_unary_get(&r, u, &got), 0);
            CHECK_EQ(got, values[i]);
        }
        CHECK_EQ(vs_bitr_left(&r), 0);
    }
}

TEST(takes_differences_modulo_the_width)
{
    struct vs_difference d = vs_difference(0x1000, 0xff0, 64);

    CHECK(d.negative);
    CHECK_EQ(d.magnitude, 0x10);
    CHECK_EQ(vs_difference_apply(0x1000, d, 64), 0xff0);
    d = vs_difference(0xfffffff0, 0x10, 32);
    CHECK(!d.negative);
    CHECK_EQ(d.magnitude, 0x20);
    d = vs_difference(0, 0x80000000, 32);
    CHECK(d.negative);
    CHECK_EQ(d.magnitude, 0x80000000);
    d = vs_difference(5, 5, 64);
    CHECK(!d.negative);
    CHECK_EQ(d.magnitude, 0);
    d = vs_difference(0, UINT64_C(1) << 63, 64);
    CHECK_EQ(d.magnitude, UINT64_C(1) << 63);
    CHECK_EQ(vs_difference_apply(0, d, 64), UINT64_C(1) << 63);
}

TEST(round_trips_differences)
{
    static const unsigned widths[] = {1, 2, 31, 32, 33, 48, 63, 64};
    struct rng rng = rng_init(3);

    for (int round = 0; round < 20000; round++) {
        unsigned width = widths[rng_below(&rng, 8)];
        uint64_t mask = UINT64_MAX >> (64 - width), from = interesting(&rng) & mask,
                 to = (rng_below(&rng, 2) ? from + rng_below(&rng, 100) - 50 : interesting(&rng)) &
                      mask;
        struct vs_chunks c = {(uint8_t)(1 + rng_below(&rng, 64)),
                              (uint8_t)(1 + rng_below(&rng, 64))};
        struct vs_unary u = {(uint8_t)(1 + rng_below(&rng, width)),
                             (uint8_t)(1 + rng_below(&rng, 64)), 0};
        struct vs_difference d = vs_difference(from, to, width), got;
        uint64_t address = 0;
        uint8_t bytes[64];
        struct vs_bitw w;
        struct vs_bitr r;

        vs_bitw_init(&w, bytes, sizeof(bytes));
        CHECK_EQ(vs_chunks_difference_put(&w, c, d), vs_chunks_difference_size(c, d));
        CHECK_EQ(vs_unary_address_put(&w, u, from, to, width),
                 vs_unary_address_size(u, from, to, width));
        CHECK(vs_bitw_finish(&w) > 0);
        CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), vs_bitw_bits(&w)), 0);
        CHECK_EQ(vs_chunks_difference_get(&r, c, width, &got), 0);
        CHECK_EQ(vs_difference_apply(from, got, width), to);
        CHECK_EQ(vs_unary_address_get(&r, u, from, width, &address), 0);
        CHECK_EQ(address, to);
        CHECK_EQ(vs_bitr_left(&r), 0);
    }
}

/* 12, 16, ..., 28 bits and a sign, or all 32. */
TEST(sends_distant_addresses_whole)
{
    static const struct vs_unary ta = {12, 4, 0};

    CHECK_EQ(vs_unary_address_size(ta, 0x8000, 0x8010, 32), 1 + 1 + 12);
    CHECK_EQ(vs_unary_address_size(ta, 0x8010, 0x8000, 32), 1 + 1 + 12);
    CHECK_EQ(vs_unary_address_size(ta, 0x8000, 0x9000, 32), 2 + 1 + 16);
    CHECK_EQ(vs_unary_address_size(ta, 0, 0x0fffffff, 32), 5 + 1 + 28);
    CHECK_EQ(vs_unary_address_size(ta, 0, 0x10000000, 32), 6 + 32);
}

TEST(refuses_what_no_encoder_writes)
{
    static const struct vs_chunks c = {2, 2}, ones = {64, 64};
    struct vs_difference d;
    uint8_t bytes[64];
    struct vs_bitr r;
    unsigned k;
    uint64_t v = 7;

    parse_bits(&r, bytes, "110"); /* 3 */
    CHECK_EQ(vs_chunks_get(&r, c, &v), 0);
    CHECK_EQ(v, 3);
    parse_bits(&r, bytes, "111000"); /* 3 and an empty chunk */
    CHECK_ERR(vs_chunks_get(&r, c, &v), VSE_CORRUPT);
    CHECK_EQ(r.pos, 0);
    parse_bits(&r, bytes, "001001000"); /* 0 twice, then nothing */
    CHECK_ERR(vs_chunks_get(&r, c, &v), VSE_CORRUPT);
    memset(bytes, 0, sizeof(bytes));
    for (size_t i = 2; i < 99; i += 3) /* chunks of 0 and more to come, past 64 bits */
        bytes[i / 8] |= (uint8_t)(1 << i % 8);
    CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), 99), 0);
    CHECK_ERR(vs_chunks_get(&r, c, &v), VSE_CORRUPT);
    memset(bytes, 0xff, sizeof(bytes));
    CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), 512), 0);
    CHECK_ERR(vs_chunks_get(&r, c, &v), VSE_CORRUPT); /* never ends */
    CHECK_ERR(vs_chunks_get(&r, ones, &v), VSE_CORRUPT);
    CHECK_ERR(vs_chunks_get(&r, (struct vs_chunks){60, 6}, &v), VSE_CORRUPT);
    CHECK_ERR(vs_unary_get(&r, tmbp, &v), VSE_CORRUPT);
    CHECK_ERR(vs_ones_get(&r, 20, &k), VSE_CORRUPT);
    CHECK_EQ(r.pos, 0);
    parse_bits(&r, bytes, "1010100"); /* 5 in five bits */
    CHECK_ERR(vs_unary_get(&r, tmbp, &v), VSE_CORRUPT);
    parse_bits(&r, bytes, "1000"); /* minus 0 */
    CHECK_ERR(vs_chunks_difference_get(&r, c, 64, &d), VSE_CORRUPT);
    parse_bits(&r, bytes, "0001010"); /* 8 of 4 bits: only minus 8 is */
    CHECK_ERR(vs_chunks_difference_get(&r, c, 4, &d), VSE_CORRUPT);
    parse_bits(&r, bytes, "1001010");
    CHECK_EQ(vs_chunks_difference_get(&r, c, 4, &d), 0);
    parse_bits(&r, bytes, "1010100000"); /* a whole address though the difference is short */
    CHECK_ERR(vs_unary_address_get(&r, (struct vs_unary){4, 4, 0}, 3, 8, &v), VSE_CORRUPT);
    parse_bits(&r, bytes, "01000"); /* minus 0 */
    CHECK_ERR(vs_unary_address_get(&r, (struct vs_unary){3, 4, 0}, 3, 8, &v), VSE_CORRUPT);
    CHECK_EQ(v, 3);
}

/* What is counted without being kept is what there would be; long numbers, which are put chunk by
 * chunk, and short ones, which are put at once, are read back. */
TEST(counts_and_puts_chunks_of_any_size)
{
    struct rng rng = rng_init(5);

    for (int round = 0; round < 200000; round++) {
        struct vs_chunks c = {(uint8_t)(1 + rng_below(&rng, 64)),
                              (uint8_t)(1 + rng_below(&rng, 64))};
        uint64_t v = rng_next(&rng) >> rng_below(&rng, 64), got = 0;
        unsigned before = (unsigned)rng_below(&rng, 64);
        uint8_t bytes[64] = {0};
        struct vs_bitw w, skipping;
        struct vs_bitr r;

        vs_bitw_init(&w, bytes, sizeof(bytes));
        vs_bitw_put(&w, 0, before);
        skipping = w;
        CHECK_EQ(vs_chunks_put(&w, c, v), vs_chunks_size(c, v));
        vs_bitw_skip(&skipping, vs_chunks_size(c, v));
        CHECK_EQ(vs_bitw_bits(&skipping), vs_bitw_bits(&w));
        CHECK(vs_bitw_finish(&w) > 0);
        CHECK_EQ(vs_bitr_init(&r, bytes, sizeof(bytes), vs_bitw_bits(&w)), 0);
        r.pos = before;
        CHECK_EQ(vs_chunks_get(&r, c, &got), 0);
        CHECK_EQ(got, v);
        CHECK_EQ(r.pos, vs_bitw_bits(&w));
    }
}

TEST(judges_codes)
{
    CHECK(vs_chunks_valid((struct vs_chunks){1, 64}));
    CHECK(!vs_chunks_valid((struct vs_chunks){0, 4}));
    CHECK(!vs_chunks_valid((struct vs_chunks){4, 0}));
    CHECK(!vs_chunks_valid((struct vs_chunks){65, 4}));
    CHECK(vs_unary_valid(tmbp));
    CHECK(!vs_unary_valid((struct vs_unary){0, 2, 0}));
    CHECK(!vs_unary_valid((struct vs_unary){8, 2, 7}));
    CHECK(!vs_unary_valid((struct vs_unary){8, 0, 0}));
}

/* Any bits: a value that is put back the same, or an error. */
TEST(accepts_only_its_own_codes)
{
    struct rng rng = rng_init(4);
    unsigned good = 0;

    for (int round = 0; round < 200000; round++) {
        struct vs_chunks c = {(uint8_t)(1 + rng_below(&rng, 9)), (uint8_t)(1 + rng_below(&rng, 9))};
        struct vs_unary u = {c.first, c.other, 0};
        uint64_t words[4] = {rng_next(&rng), rng_next(&rng), rng_next(&rng), rng_next(&rng)}, v;
        uint8_t bytes[32], again[64];
        struct vs_bitw w;
        struct vs_bitr r;
        bool unary = round % 2;

        memcpy(bytes, words, 32);
        CHECK_EQ(vs_bitr_init(&r, bytes, 32, 256), 0);
        if ((unary ? vs_unary_get(&r, u, &v) : vs_chunks_get(&r, c, &v)) < 0)
            continue;
        good++;
        vs_bitw_init(&w, again, sizeof(again));
        CHECK_EQ(unary ? vs_unary_put(&w, u, v) : vs_chunks_put(&w, c, v), r.pos);
        CHECK(vs_bitw_finish(&w) > 0);
        for (uint64_t i = 0; i < r.pos; i++)
            CHECK_EQ(bytes[i / 8] >> i % 8 & 1, again[i / 8] >> i % 8 & 1);
    }
    CHECK(good > 50000);
}
