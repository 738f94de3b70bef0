/* SPDX-License-Identifier: MIT */
#include "trace/columns.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/varint.h"
#include "rng.h"
#include "unittest.h"

/* ---- round trip ---- */

static void fill(struct vs_columns *c, unsigned id, size_t n, uint64_t noise)
{
    struct rng r = rng_init(id);

    for (size_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)(noise ? rng_below(&r, noise) : id);

        CHECK_EQ(vs_buf_put(&c->col[id], &byte, 1), 0);
    }
}

static void check_round_trip(const struct vs_columns *c, unsigned type, size_t *packed)
{
    ZSTD_CCtx *cc = ZSTD_createCCtx();
    ZSTD_DCtx *dc = ZSTD_createDCtx();
    struct vs_buf out = {0}, raw = {0};
    struct vs_column cols[VS_COL_END];

    CHECK_EQ(vs_columns_pack(c, cc, VS_LEVEL_DEFAULT, &out), 0);
    CHECK_EQ(vs_columns_unpack(out.data, out.len, type, dc, &raw, cols, 0, 0, NULL), 0);
    for (int i = 0; i < VS_COL_END; i++) {
        volatile uint8_t pad;

        CHECK_EQ(cols[i].end - cols[i].p, c->col[i].len);
        if (!c->col[i].len)
            continue;
        CHECK_MEM(cols[i].p, c->col[i].data, c->col[i].len);
        for (int k = 0; k < 8; k++) /* readable, says the header; the sanitizer knows */
            pad = cols[i].end[k];
        (void)pad;
    }
    *packed = out.len;
    vs_buf_fini(&out);
    vs_buf_fini(&raw);
    ZSTD_freeCCtx(cc);
    ZSTD_freeDCtx(dc);
}

TEST(packs_columns_of_all_sizes_both_ways)
{
    for (size_t n = 0; n < 200000; n = n * 5 / 2 + 1) {
        struct vs_columns c = {0};
        size_t packed;

        for (unsigned id = VS_COL_SUMMARY; id < VS_COL_END; id++)
            fill(&c, id, id % 3 ? n : n / 2, id % 5);
        check_round_trip(&c, VS_CHUNK_EVENTS, &packed);
        vs_columns_fini(&c);
    }
}

TEST(packs_no_columns)
{
    struct vs_columns c = {0};
    size_t packed;

    check_round_trip(&c, VS_CHUNK_META, &packed);
    CHECK_EQ(packed, 1);
    CHECK_EQ(vs_columns_size(&c), 0);
}

TEST(stores_what_does_not_compress)
{
    struct vs_columns noise = {0}, same = {0};
    size_t packed;

    fill(&noise, VS_COL_META, 100000, 256);
    check_round_trip(&noise, VS_CHUNK_META, &packed);
    CHECK(packed > 100000 && packed < 100010);
    fill(&same, VS_COL_META, 100000, 0);
    check_round_trip(&same, VS_CHUNK_META, &packed);
    CHECK(packed < 100);
    vs_columns_fini(&noise);
    vs_columns_fini(&same);
}

TEST(clears_and_keeps_memory)
{
    struct vs_columns c = {0};
    const uint8_t *data;

    fill(&c, VS_COL_BLOCKS, 100, 0);
    fill(&c, VS_COL_SITES, 50, 0);
    CHECK_EQ(vs_columns_size(&c), 150);
    data = c.col[VS_COL_BLOCKS].data;
    vs_columns_clear(&c);
    CHECK_EQ(vs_columns_size(&c), 0);
    fill(&c, VS_COL_BLOCKS, 100, 0);
    CHECK(c.col[VS_COL_BLOCKS].data == data);
    vs_columns_fini(&c);
}

/* ---- payloads written by hand ---- */

struct payload {
    uint8_t bytes[512];
    size_t len;
};

static void put(struct payload *p, const void *bytes, size_t n)
{
    CHECK(p->len + n <= sizeof(p->bytes));
    memcpy(p->bytes + p->len, bytes, n);
    p->len += n;
}

static void put_count(struct payload *p, unsigned count)
{
    *p = (struct payload){.len = 1, .bytes = {(uint8_t)count}};
}

static void put_entry(struct payload *p, unsigned id, unsigned codec, uint64_t raw, uint64_t stored)
{
    uint8_t b[2 + 2 * VS_VARINT_MAX] = {(uint8_t)id, (uint8_t)codec}, *e = b + 2;

    e = vs_varint_put(e, raw);
    e = vs_varint_put(e, stored);
    put(p, b, (size_t)(e - b));
}

/* Unpacks from memory of exactly that size. */
static int unpack(const struct payload *p, unsigned type, struct vs_diag *d)
{
    ZSTD_DCtx *dc = ZSTD_createDCtx();
    struct vs_buf raw = {0};
    struct vs_column cols[VS_COL_END];
    uint8_t *exact = malloc(p->len ? p->len : 1);
    int err;

    memcpy(exact, p->bytes, p->len);
    *d = (struct vs_diag){0};
    err = vs_columns_unpack(exact, p->len, type, dc, &raw, cols, 4321, 17, d);
    free(exact);
    vs_buf_fini(&raw);
    ZSTD_freeDCtx(dc);
    return err;
}

#define CHECK_BAD(p, type, code)                                                                   \
    do {                                                                                           \
        struct vs_diag diag;                                                                       \
        CHECK_ERR(unpack(p, type, &diag), code);                                                   \
        CHECK_ERR(diag.error, code);                                                               \
        CHECK(diag.offset == 4321 && diag.chunk == 17 && diag.text[0]);                            \
    } while (0)

static void put_two(struct payload *p, unsigned first, unsigned second)
{
    put_count(p, 2);
    put_entry(p, first, VS_CODEC_RAW, 1, 1);
    put_entry(p, second, VS_CODEC_RAW, 1, 1);
    put(p, "ab", 2);
}

TEST(takes_columns_in_order_only)
{
    struct payload p;
    struct vs_diag d;

    put_two(&p, VS_COL_ORDER, VS_COL_SITE);
    CHECK_EQ(unpack(&p, VS_CHUNK_EVENTS, &d), 0);
    put_two(&p, VS_COL_SITE, VS_COL_ORDER);
    CHECK_BAD(&p, VS_CHUNK_EVENTS, VSE_CORRUPT);
    put_two(&p, VS_COL_SITE, VS_COL_SITE);
    CHECK_BAD(&p, VS_CHUNK_EVENTS, VSE_CORRUPT);
}

TEST(takes_only_columns_of_the_chunk_type)
{
    for (unsigned type = 1; type < VS_CHUNK_TYPE_END; type++) {
        unsigned taken = 0;

        for (unsigned id = 0; id < 256; id++) {
            struct payload p;
            struct vs_diag d;

            put_count(&p, 1);
            put_entry(&p, id, VS_CODEC_RAW, 1, 1);
            put(&p, "a", 1);
            taken += unpack(&p, type, &d) == 0;
        }
        CHECK_EQ(taken, type == VS_CHUNK_STATIC   ? 4
                        : type == VS_CHUNK_EVENTS ? VS_COL_END - VS_COL_SUMMARY
                                                  : 1);
    }
}

TEST(refuses_wrong_lengths)
{
    struct payload p;

    put_count(&p, 1); /* a raw column whose lengths differ */
    put_entry(&p, VS_COL_META, VS_CODEC_RAW, 2, 3);
    put(&p, "abc", 3);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
    put_count(&p, 1); /* an empty column, which is not stored */
    put_entry(&p, VS_COL_META, VS_CODEC_RAW, 0, 0);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
    put_count(&p, 1); /* past the end */
    put_entry(&p, VS_COL_META, VS_CODEC_RAW, 4, 4);
    put(&p, "abc", 3);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_TRUNCATED);
    put_count(&p, 1); /* bytes left over */
    put_entry(&p, VS_COL_META, VS_CODEC_RAW, 2, 2);
    put(&p, "abc", 3);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
    put_count(&p, 0);
    put(&p, "a", 1);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
}

TEST(refuses_stored_lengths_whose_sum_wraps)
{
    struct payload p;

    put_count(&p, 2);
    put_entry(&p, VS_COL_ORDER, VS_CODEC_ZSTD, 10, 3);
    put_entry(&p, VS_COL_SITE, VS_CODEC_ZSTD, 10, UINT64_MAX - 2);
    put(&p, "", 0);
    CHECK_BAD(&p, VS_CHUNK_EVENTS, VSE_TRUNCATED);
}

TEST(refuses_absurd_raw_lengths)
{
    static const uint64_t sizes[] = {VS_MAX_COLUMN + 1u, UINT32_MAX, INT64_MAX, UINT64_MAX};
    struct payload p;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        put_count(&p, 1);
        put_entry(&p, VS_COL_META, VS_CODEC_ZSTD, sizes[i], 1);
        put(&p, "a", 1);
        CHECK_BAD(&p, VS_CHUNK_META, VSE_LIMIT);
    }
    put_count(&p, 1);
    put_entry(&p, VS_COL_INDEX, VS_CODEC_ZSTD, VS_MAX_INDEX + 1u, 1);
    put(&p, "a", 1);
    CHECK_BAD(&p, VS_CHUNK_INDEX, VSE_LIMIT);
}

/* Each is allowed, all together are not. */
TEST(refuses_an_absurd_sum_of_raw_lengths)
{
    struct payload p;

    put_count(&p, 3);
    put_entry(&p, VS_COL_ORDER, VS_CODEC_ZSTD, VS_MAX_COLUMN, 1);
    put_entry(&p, VS_COL_SITE, VS_CODEC_ZSTD, VS_MAX_COLUMN, 1);
    put_entry(&p, VS_COL_VALUE, VS_CODEC_ZSTD, 1, 1);
    put(&p, "abc", 3);
    CHECK_BAD(&p, VS_CHUNK_EVENTS, VSE_LIMIT);
}

TEST(refuses_malformed_directories)
{
    struct payload p = {0};
    struct vs_diag d;

    CHECK_EQ(unpack(&p, VS_CHUNK_META, &d), 0); /* nothing at all: no columns */
    for (unsigned count = VS_COL_END; count < 256; count++) {
        put_count(&p, count);
        CHECK_BAD(&p, VS_CHUNK_EVENTS, VSE_CORRUPT);
    }
    put_count(&p, 1); /* an unknown codec */
    put_entry(&p, VS_COL_META, 2, 1, 1);
    put(&p, "a", 1);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
    put_count(&p, 1); /* not the shortest form of a number */
    put(&p, "\x01\x00\x81\x00\x01\x61", 6);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
}

TEST(refuses_a_directory_cut_anywhere)
{
    struct payload whole, p;

    put_count(&whole, 1);
    put_entry(&whole, VS_COL_META, VS_CODEC_RAW, 300, 300);
    for (size_t n = 1; n <= whole.len; n++) {
        p = whole;
        p.len = n;
        CHECK_BAD(&p, VS_CHUNK_META, VSE_TRUNCATED);
    }
}

/* ---- compressed columns that lie ---- */

/* A frame of n zero bytes. */
static size_t frame(uint8_t *out, size_t capacity, size_t n, bool says_size)
{
    ZSTD_CCtx *cc = ZSTD_createCCtx();
    uint8_t *zeros = calloc(1, n);
    size_t got;

    ZSTD_CCtx_setParameter(cc, ZSTD_c_contentSizeFlag, says_size);
    got = ZSTD_compress2(cc, out, capacity, zeros, n);
    CHECK(!ZSTD_isError(got));
    free(zeros);
    ZSTD_freeCCtx(cc);
    return got;
}

static void put_frame(struct payload *p, uint64_t claim, size_t really, bool says_size)
{
    uint8_t z[256];
    size_t n = frame(z, sizeof(z), really, says_size);

    put_count(p, 1);
    put_entry(p, VS_COL_META, VS_CODEC_ZSTD, claim, n);
    put(p, z, n);
}

TEST(refuses_zip_bombs)
{
    struct payload p;
    struct vs_diag d;

    for (int says_size = 0; says_size < 2; says_size++) {
        put_frame(&p, 100000, 100000, says_size);
        CHECK_EQ(unpack(&p, VS_CHUNK_META, &d), 0);
        put_frame(&p, 100, 1000000, says_size); /* more than it claims */
        CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
        put_frame(&p, 99999, 100000, says_size);
        CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
        put_frame(&p, 100001, 100000, says_size); /* less */
        CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
    }
}

TEST(refuses_frames_cut_or_damaged)
{
    struct payload whole, p;
    uint8_t z[256];
    size_t n = frame(z, sizeof(z), 5000, true);

    put_count(&whole, 1);
    put_entry(&whole, VS_COL_META, VS_CODEC_ZSTD, 5000, n);
    for (size_t cut = 0; cut < n; cut++) {
        put_count(&p, 1);
        put_entry(&p, VS_COL_META, VS_CODEC_ZSTD, 5000, cut);
        put(&p, z, cut);
        CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
    }
    put_count(&p, 1);
    put_entry(&p, VS_COL_META, VS_CODEC_ZSTD, 5, 5);
    put(&p, "hello", 5);
    CHECK_BAD(&p, VS_CHUNK_META, VSE_CORRUPT);
}
