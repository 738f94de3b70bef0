/* SPDX-License-Identifier: MIT */
/* Entropies, codes and small words of loads, computed by hand. */
#include "study/entropy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "unittest.h"

/* ---- a study to feed ---- */

static const uint32_t sizes[VS_ENTROPY_BLOCKS] = {4, 8, 16, 32};

static struct vs_entropy start(void)
{
    struct vs_entropy e;

    CHECK_EQ(vs_entropy_init(&e, sizes), 0);
    return e;
}

static void load(struct vs_entropy *e, const void *bytes, unsigned size)
{
    struct vs_event v = {.kind = VS_LOAD, .pc = 0x1000, .addr = 0x2000, .size = (uint16_t)size};
    struct vs_batch b = {.events = &v, .count = 1};

    if (size > 8) {
        b.wide = bytes;
        b.wide_size = size;
    } else {
        memcpy(&v.value, bytes, size);
    }
    vs_entropy_consume(e, &b);
}

static void load_words(struct vs_entropy *e, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        load(e, &words[i], 4);
}

#define LOAD(e, ...)                                                                               \
    load_words(e, (const uint32_t[]){__VA_ARGS__},                                                 \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static struct vs_entropy_figures end(struct vs_entropy *e)
{
    vs_entropy_finish(e);
    vs_entropy_fini(e);
    return e->figures;
}

static void check_near(const char *file, int line, double got, double wanted)
{
    if (!(got - wanted < 1e-12 && wanted - got < 1e-12))
        unittest_fail(file, line, "got %.15g, expected %.15g", got, wanted);
}
#define CHECK_NEAR(got, wanted) check_near(__FILE__, __LINE__, got, wanted)

static void check_row(const char *file, int line, const struct vs_entropy_row *row, uint64_t blocks,
                      double min, double mean, double max, double distinct)
{
    if (row->blocks != blocks)
        unittest_fail(file, line, "%llu blocks, expected %llu", (unsigned long long)row->blocks,
                      (unsigned long long)blocks);
    check_near(file, line, row->min, min);
    check_near(file, line, vs_entropy_mean(row), mean);
    check_near(file, line, row->max, max);
    check_near(file, line, vs_entropy_distinct(row), distinct);
}
#define CHECK_ROW(...) check_row(__FILE__, __LINE__, __VA_ARGS__)

/* ---- entropy ---- */

TEST(gives_a_constant_no_entropy)
{
    struct vs_entropy e = start();

    for (int i = 0; i < 32; i++)
        LOAD(&e, 0xdeadbeef);
    struct vs_entropy_figures f = end(&e);
    CHECK_EQ(f.loads, 32);
    CHECK_EQ(f.bytes, 128);
    CHECK_EQ(f.words, 32);
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++) {
            CHECK_ROW(&f.rows[i][m], 32 / sizes[i], 0, 0, 0, 1);
            /* 32 bits, then only what is masked off */
            CHECK_NEAR(f.rows[i][m].bits,
                       32.0 / sizes[i] * (32 + (sizes[i] - 1) * vs_entropy_masks[m]));
            CHECK(!f.cut[i]);
        }
    CHECK_NEAR(vs_entropy_ratio(&f.rows[3][0]), 32);
    CHECK_NEAR(vs_entropy_ratio(&f.rows[3][1]), 1024.0 / (32 + 31 * 4));
}

TEST(gives_two_equal_halves_one_bit)
{
    struct vs_entropy e = start();

    for (int i = 0; i < 16; i++)
        LOAD(&e, 0x10000, 0x20000);
    struct vs_entropy_figures f = end(&e);
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++)
            CHECK_ROW(&f.rows[i][m], 32 / sizes[i], 1, 1, 1, 2);
    CHECK_NEAR(f.rows[3][0].bits, 2 * 32 + 30 * 1);
    CHECK_NEAR(f.rows[3][2].bits, 2 * 32 + 30 * (1 + 8));
    CHECK_NEAR(vs_entropy_ratio(&f.rows[3][0]), 1024.0 / 94);
    CHECK_NEAR(vs_entropy_ratio_of_means(&f.rows[3][2], 8), 1024.0 / 334);
}

TEST(gives_distinct_words_all_bits)
{
    struct vs_entropy e = start();

    for (uint32_t i = 0; i < 32; i++)
        LOAD(&e, i << 20);
    struct vs_entropy_figures f = end(&e);
    for (unsigned i = 0; i < VS_ENTROPY_BLOCKS; i++)
        for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++) {
            CHECK_ROW(&f.rows[i][m], 32 / sizes[i], 2 + i, 2 + i, 2 + i, sizes[i]);
            CHECK_NEAR(vs_entropy_ratio(&f.rows[i][m]), 1);
        }
}

TEST(weighs_uneven_counts)
{
    struct vs_entropy e = start();

    /* 3/4 and 1/4: H = 2 - 3/4 log2 3 */
    LOAD(&e, 7, 7, 9, 7);
    struct vs_entropy_figures f = end(&e);
    CHECK_ROW(&f.rows[0][0], 1, 0.811278124459132864, 0.811278124459132864, 0.811278124459132864,
              2);
    CHECK_NEAR(f.rows[0][0].bits, 64 + 2 * 0.811278124459132864);
}

TEST(is_exact_for_any_count)
{
    static const uint32_t whole[VS_ENTROPY_BLOCKS] = {1000, 1000, 100000, 100000};
    struct vs_entropy e;
    uint32_t n = 0;

    /* 99991 of one word, 9 of another */
    CHECK_EQ(vs_entropy_init(&e, whole), 0);
    for (; n < 99991; n++)
        LOAD(&e, 5);
    for (; n < 100000; n++)
        LOAD(&e, 6);
    struct vs_entropy_figures f = end(&e);
    double p = 0.99991, q = 0.00009;
    /* -log2 p = (q + q^2/2 + q^3/3) / ln 2; -log2 q = 13.43965... = 5 log2 10 - 2 log2 3 */
    double h = p * (q + q * q / 2 + q * q * q / 3) / 0.693147180559945309 +
               q * (5 * 3.321928094887362348 - 2 * 1.584962500721156181);
    CHECK(fabs(vs_entropy_mean(&f.rows[2][0]) - h) < 1e-12);
    CHECK_EQ(f.rows[0][0].blocks, 100);
    CHECK_EQ(f.rows[2][0].blocks, 1);
    CHECK_EQ(f.rows[3][0].distinct, 2);
}

/* ---- blocks ---- */

TEST(studies_blocks_one_by_one)
{
    struct vs_entropy e = start();

    /* blocks of 4: H is 0, 1, 2, 0 */
    LOAD(&e, 1, 1, 1, 1, 1, 2, 1, 2, 3, 4, 5, 6, 6, 6, 6, 6);
    struct vs_entropy_figures f = end(&e);
    CHECK_ROW(&f.rows[0][0], 4, 0, 0.75, 2, 2);
    /* 6 and 2 of 8; 1, 1, 1 and 5 of 8 */
    CHECK_ROW(&f.rows[1][0], 2, 0.811278124459132864,
              (0.811278124459132864 + 1.548794940695398652) / 2, 1.548794940695398652, 3);
    CHECK_EQ(f.rows[2][0].distinct, 6);
    CHECK_NEAR(f.rows[0][0].bits, 32 + (64 + 2) + 128 + 32);
    CHECK_NEAR(vs_entropy_ratio(&f.rows[0][0]), 512.0 / 258);
    /* a block of 4 with 2 distinct words and 0.75 bits */
    CHECK_NEAR(vs_entropy_ratio_of_means(&f.rows[0][0], 0), 128 / (64 + 2 * 0.75));
}

TEST(leaves_the_rest_out_after_a_full_block)
{
    struct vs_entropy e = start();

    LOAD(&e, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    struct vs_entropy_figures f = end(&e);
    CHECK_EQ(f.words, 9);
    CHECK_ROW(&f.rows[0][0], 2, 2, 2, 2, 4);
    CHECK_EQ(f.rows[0][0].words, 8);
    CHECK_ROW(&f.rows[1][0], 1, 3, 3, 3, 8);
    CHECK(!f.cut[0] && !f.cut[1] && f.cut[2] && f.cut[3]);
    /* no full block of 16: what there is, and all of it */
    CHECK_ROW(&f.rows[2][0], 1, 3.169925001442312363, 3.169925001442312363, 3.169925001442312363,
              9);
    CHECK_EQ(f.rows[3][0].words, 9);
}

TEST(counts_the_last_block_if_it_is_full)
{
    struct vs_entropy e = start();

    LOAD(&e, 1, 2, 3, 4);
    struct vs_entropy_figures f = end(&e);
    CHECK(!f.cut[0] && f.cut[1]);
    CHECK_ROW(&f.rows[0][0], 1, 2, 2, 2, 4);
    CHECK_ROW(&f.rows[1][0], 1, 2, 2, 2, 4);
}

TEST(has_no_figures_without_loads)
{
    struct vs_entropy e = start();
    struct vs_event events[] = {
        {.kind = VS_STORE, .size = 4, .value = 7},
        {.kind = VS_EXTERNAL, .size = 4, .value = 7},
        {.kind = VS_BRANCH, .size = 4, .flags = VS_BR_TAKEN},
    };
    struct vs_batch b = {.events = events, .count = 3};

    vs_entropy_consume(&e, &b);
    struct vs_entropy_figures f = end(&e);
    CHECK_EQ(f.loads, 0);
    CHECK_EQ(f.words, 0);
    CHECK_EQ(f.rows[0][0].blocks, 0);
    CHECK(!f.cut[0]);
    CHECK(isnan(vs_entropy_mean(&f.rows[0][0])));
    CHECK(isnan(vs_entropy_distinct(&f.rows[0][0])));
    CHECK(isnan(vs_entropy_ratio(&f.rows[0][0])));
    CHECK(isnan(vs_entropy_ratio_of_means(&f.rows[0][0], 0)));
    CHECK(isnan(vs_entropy_small_ratio(&f, 8)));
}

/* ---- masks ---- */

TEST(tells_words_apart_by_the_bits_that_are_left)
{
    struct vs_entropy e = start();

    /* apart by bits 0 to 3, 4 to 7, 8 to 11, and above */
    LOAD(&e, 0x1000, 0x1001, 0x1010, 0x1100, 0x2000, 0x2000, 0x2000, 0x2000);
    struct vs_entropy_figures f = end(&e);
    const struct vs_entropy_row *r = f.rows[1];
    /* counts: 1 1 1 1 4; 2 1 1 4; 3 1 4; 4 4 */
    CHECK_ROW(&r[0], 1, 2, 2, 2, 5);
    CHECK_ROW(&r[1], 1, 1.75, 1.75, 1.75, 4);
    double h = 3 - (3 * 1.584962500721156181 + 8) / 8;
    CHECK_ROW(&r[2], 1, h, h, h, 3);
    CHECK_ROW(&r[3], 1, 1, 1, 1, 2);
    CHECK_NEAR(r[0].bits, 5 * 32 + 3 * 2);
    CHECK_NEAR(r[1].bits, 4 * 32 + 4 * (1.75 + 4));
    CHECK_NEAR(r[2].bits, 3 * 32 + 5 * (h + 8));
    CHECK_NEAR(r[3].bits, 2 * 32 + 6 * (1 + 12));
    CHECK_NEAR(vs_entropy_ratio_of_means(&r[3], 12), 256.0 / (64 + 78));
}

/* ---- small words ---- */

TEST(counts_words_by_the_bits_they_need)
{
    struct vs_entropy e = start();

    LOAD(&e, 0, 15, 16, 255, 256, 4095, 4096, 0xffffffff);
    struct vs_entropy_figures f = end(&e);
    CHECK_EQ(vs_entropy_small(&f, 0), 1);
    CHECK_EQ(vs_entropy_small(&f, 4), 2);
    CHECK_EQ(vs_entropy_small(&f, 5), 3);
    CHECK_EQ(vs_entropy_small(&f, 7), 3);
    CHECK_EQ(vs_entropy_small(&f, 8), 4);
    CHECK_EQ(vs_entropy_small(&f, 9), 5);
    CHECK_EQ(vs_entropy_small(&f, 12), 6);
    CHECK_EQ(vs_entropy_small(&f, 32), 8);
    CHECK_NEAR(vs_entropy_small_ratio(&f, 4), 256.0 / (2 * 5 + 6 * 33));
    CHECK_NEAR(vs_entropy_small_ratio(&f, 12), 256.0 / (6 * 13 + 2 * 33));
}

/* ---- operands ---- */

static struct vs_entropy_figures one_operand(unsigned size, const uint8_t *bytes)
{
    struct vs_entropy e = start();

    load(&e, bytes, size);
    struct vs_entropy_figures f = end(&e);
    CHECK_EQ(f.loads, 1);
    CHECK_EQ(f.bytes, size);
    CHECK_EQ(f.words, (size + 3) / 4);
    CHECK_EQ(vs_entropy_small(&f, 32), f.words);
    return f;
}

TEST(extends_small_operands_with_zeros)
{
    static const uint8_t ones[4] = {0xff, 0xff, 0xff, 0xff};

    for (unsigned size = 1; size <= 4; size++)
        CHECK_EQ(one_operand(size, ones).lengths[8 * size], 1);
}

TEST(cuts_large_operands_into_words)
{
    uint8_t bytes[32] = {0};

    for (unsigned i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(i % 4 ? 0 : 1 << i / 4); /* words 1, 2, 4, ... 128 */
    for (unsigned size = 8; size <= 32; size *= 2) {
        struct vs_entropy_figures f = one_operand(size, bytes);
        for (unsigned i = 1; i <= 8; i++)
            CHECK_EQ(f.lengths[i], i <= size / 4);
        CHECK_EQ(f.rows[3][0].distinct, size / 4);
    }
    /* 10 bytes: two words, and two bytes of the third */
    memset(bytes, 0xff, sizeof(bytes));
    struct vs_entropy_figures f = one_operand(10, bytes);
    CHECK_EQ(f.lengths[32], 2);
    CHECK_EQ(f.lengths[16], 1);
    /* 5 to 7 bytes are not wide, and are two words too */
    for (unsigned size = 5; size < 8; size++) {
        f = one_operand(size, bytes);
        CHECK_EQ(f.lengths[32], 1);
        CHECK_EQ(f.lengths[8 * (size - 4)], 1);
    }
}

TEST(puts_the_lowest_address_first)
{
    struct vs_entropy e = start();
    uint64_t value = UINT64_C(0x0000000200000001);

    /* the block of four ends in the middle of an operand, after its 1 */
    LOAD(&e, 1, 1, 1);
    load(&e, &value, 8);
    LOAD(&e, 2, 2, 2);
    struct vs_entropy_figures f = end(&e);
    CHECK_ROW(&f.rows[0][0], 2, 0, 0, 0, 1);

    uint8_t wide[12] = {1, 0, 0, 0, 2, 0, 0, 0, 2};
    e = start();
    LOAD(&e, 1, 1, 1);
    load(&e, wide, sizeof(wide));
    LOAD(&e, 2, 2);
    f = end(&e);
    CHECK_ROW(&f.rows[0][0], 2, 0, 0, 0, 1);
}

/* ---- against a count by sorting ---- */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* Sorts them. */
static unsigned distinct_of(uint32_t *words, unsigned n)
{
    unsigned distinct = n != 0;

    qsort(words, n, sizeof(*words), compare);
    for (unsigned i = 1; i < n; i++)
        distinct += words[i] != words[i - 1];
    return distinct;
}

TEST(counts_distinct_words_of_any_mix)
{
    enum { N = 4096 };
    static const uint32_t blocks[VS_ENTROPY_BLOCKS] = {64, 512, 1024, 4096};
    static uint32_t words[N], sorted[N];
    struct rng rng = rng_init(11);

    for (int round = 0; round < 20; round++) {
        struct vs_entropy e;
        for (unsigned i = 0; i < N; i++)
            words[i] = (uint32_t)rng_next(&rng) >> (rng_next(&rng) % 32);
        CHECK_EQ(vs_entropy_init(&e, blocks), 0);
        load_words(&e, words, N);
        struct vs_entropy_figures f = end(&e);
        for (unsigned b = 0; b < VS_ENTROPY_BLOCKS; b++)
            for (unsigned m = 0; m < VS_ENTROPY_MASKS; m++) {
                uint64_t distinct = 0;
                for (unsigned i = 0; i < N; i++)
                    sorted[i] = words[i] >> vs_entropy_masks[m];
                for (unsigned i = 0; i < N; i += blocks[b])
                    distinct += distinct_of(sorted + i, blocks[b]);
                CHECK_EQ(f.rows[b][m].distinct, distinct);
                CHECK_EQ(f.rows[b][m].blocks, N / blocks[b]);
            }
    }
}

/* ---- sums, and what is refused ---- */

TEST(adds_full_blocks_of_runs)
{
    struct vs_entropy_figures sum = {0};
    struct vs_entropy e = start();

    LOAD(&e, 1, 2, 3, 4, 5);
    struct vs_entropy_figures a = end(&e);
    e = start();
    LOAD(&e, 1, 1, 1, 1, 1, 1, 1, 2);
    struct vs_entropy_figures b = end(&e);
    vs_entropy_figures_add(&sum, &a);
    vs_entropy_figures_add(&sum, &b);
    CHECK_EQ(sum.loads, 13);
    CHECK_EQ(sum.words, 13);
    CHECK_EQ(sum.bytes, 52);
    CHECK_EQ(sum.block_words[3], 32);
    CHECK_EQ(vs_entropy_small(&sum, 4), 13);
    CHECK_ROW(&sum.rows[0][0], 3, 0, (2 + 0.811278124459132864) / 3, 2, 7.0 / 3);
    CHECK_EQ(sum.rows[0][0].words, 12);
    CHECK_NEAR(sum.rows[0][0].bits, a.rows[0][0].bits + b.rows[0][0].bits);
    CHECK_EQ(sum.rows[1][0].blocks, 1);
    CHECK_EQ(sum.rows[2][0].blocks, 0);
    CHECK(!sum.cut[2]);
}

TEST(refuses_sizes_that_do_not_nest)
{
    static const uint32_t bad[][VS_ENTROPY_BLOCKS] = {
        {0, 8, 16, 32},
        {4, 8, 12, 24},
        {8, 4, 16, 32},
        {4, 8, 16, 0},
        {1, 1, 1, VS_ENTROPY_WORDS_MAX + 1},
    };
    struct vs_entropy e;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_ERR(vs_entropy_init(&e, bad[i]), VSE_INVAL);
    CHECK_EQ(vs_entropy_init(&e, (const uint32_t[]){1, 1, 1, 1}), 0);
    LOAD(&e, 1, 2, 2);
    struct vs_entropy_figures f = end(&e);
    CHECK_ROW(&f.rows[3][3], 3, 0, 0, 0, 1);
}
