/* SPDX-License-Identifier: MIT */
#include "trace/tables.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/varint.h"
#include "rng.h"
#include "unittest.h"

/* The columns as the reader gets them, without compression. */
static void view(const struct vs_columns *c, struct vs_column out[VS_COL_END])
{
    for (int i = 0; i < VS_COL_END; i++)
        out[i] = (struct vs_column){c->col[i].data, c->col[i].data + c->col[i].len};
}

static int unpack_static(struct vs_tables *t, const struct vs_columns *c)
{
    struct vs_column cols[VS_COL_END];
    const char *why = NULL;
    int err;

    view(c, cols);
    err = vs_tables_unpack_static(t, cols, &why);
    CHECK(err == 0 || (why && why[0]));
    return err;
}

static int unpack_meta(struct vs_tables *t, const struct vs_columns *c)
{
    struct vs_column cols[VS_COL_END];
    const char *why = NULL;
    int err;

    view(c, cols);
    err = vs_tables_unpack_meta(t, cols, &why);
    CHECK(err == 0 || (why && why[0]));
    return err;
}

/* ---- facts ---- */

TEST(replaces_facts)
{
    struct vs_tables t;

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_EQ(vs_tables_fact(&t, "a", "1"), 0);
    CHECK_EQ(vs_tables_fact(&t, "b", ""), 0);
    CHECK_EQ(vs_tables_fact(&t, "a", "three"), 0);
    CHECK_EQ(t.fact_count, 2);
    CHECK_STR(t.facts[0].key, "a");
    CHECK_STR(t.facts[0].value, "three");
    CHECK_STR(t.facts[1].value, "");
    vs_tables_fini(&t);
}

TEST(packs_a_replaced_fact_again)
{
    struct vs_tables out, in;
    struct vs_columns c = {0};

    CHECK_EQ(vs_tables_init(&out), 0);
    CHECK_EQ(vs_tables_init(&in), 0);
    vs_tables_fact(&out, "x", "old");
    vs_tables_fact(&out, "y", "kept");
    CHECK_EQ(vs_tables_pack_meta(&out, &c), 1);
    CHECK_EQ(unpack_meta(&in, &c), 0);
    vs_columns_clear(&c);
    CHECK_EQ(vs_tables_pack_meta(&out, &c), 0);
    vs_tables_fact(&out, "x", "new");
    CHECK_EQ(vs_tables_pack_meta(&out, &c), 1);
    CHECK_EQ(c.col[VS_COL_META].len, 2 + 4); /* x only */
    CHECK_EQ(unpack_meta(&in, &c), 0);
    CHECK_EQ(in.fact_count, 2);
    CHECK_STR(in.facts[0].value, "new");
    CHECK_STR(in.facts[1].value, "kept");
    vs_columns_fini(&c);
    vs_tables_fini(&in);
    vs_tables_fini(&out);
}

TEST(limits_facts)
{
    struct vs_tables t;
    char *text = calloc(1, VS_MAX_STRING + 2);
    char key[16];

    CHECK_EQ(vs_tables_init(&t), 0);
    memset(text, 'a', VS_MAX_STRING + 1);
    CHECK_ERR(vs_tables_fact(&t, "", "x"), VSE_INVAL);
    CHECK_ERR(vs_tables_fact(&t, text, "x"), VSE_INVAL);
    CHECK_ERR(vs_tables_fact(&t, "x", text), VSE_INVAL);
    text[VS_MAX_STRING] = 0;
    CHECK_EQ(vs_tables_fact(&t, "0", text), 0);
    for (unsigned i = 1; i < VS_MAX_FACTS; i++) {
        snprintf(key, sizeof(key), "%u", i);
        CHECK_EQ(vs_tables_fact(&t, key, ""), 0);
    }
    CHECK_ERR(vs_tables_fact(&t, "one more", ""), VSE_LIMIT);
    CHECK_EQ(vs_tables_fact(&t, "7", "still replaced"), 0);
    CHECK_STR(t.facts[7].value, "still replaced");
    free(text);
    vs_tables_fini(&t);
}

TEST(limits_replacements_and_text)
{
    struct vs_tables t;
    char *text = calloc(1, VS_MAX_STRING + 1);
    unsigned set = 0;
    int err;

    CHECK_EQ(vs_tables_init(&t), 0);
    while ((err = vs_tables_fact(&t, "key", "value")) == 0)
        set++;
    CHECK_EQ(err, -VSE_LIMIT);
    CHECK_EQ(set, VS_MAX_SET);
    vs_tables_fini(&t);

    CHECK_EQ(vs_tables_init(&t), 0);
    memset(text, 'v', VS_MAX_STRING);
    for (set = 0; (err = vs_tables_fact(&t, "key", text)) == 0;)
        set++;
    CHECK_EQ(err, -VSE_LIMIT);
    CHECK_EQ(set, VS_MAX_TEXT / (VS_MAX_STRING + 3));
    free(text);
    vs_tables_fini(&t);
}

/* Many long facts take several chunks, each far below the limit of a column. */
TEST(packs_many_facts_into_several_chunks)
{
    struct vs_tables out, in;
    struct vs_columns c = {0};
    char *text = calloc(1, VS_MAX_STRING + 1);
    unsigned chunks = 0;

    memset(text, 'v', VS_MAX_STRING);
    CHECK_EQ(vs_tables_init(&out), 0);
    CHECK_EQ(vs_tables_init(&in), 0);
    for (char key[2] = "a"; key[0] <= 't'; key[0]++)
        CHECK_EQ(vs_tables_fact(&out, key, text), 0);
    for (; vs_tables_pack_meta(&out, &c) == 1; chunks++) {
        CHECK(vs_columns_size(&c) <= VS_MAX_COLUMN);
        CHECK_EQ(unpack_meta(&in, &c), 0);
        vs_columns_clear(&c);
    }
    CHECK(chunks >= 2);
    CHECK_EQ(in.fact_count, 20);
    CHECK_STR(in.facts[19].key, "t");
    CHECK_STR(in.facts[19].value, text);
    free(text);
    vs_columns_fini(&c);
    vs_tables_fini(&in);
    vs_tables_fini(&out);
}

static int unpack_fact(const void *bytes, size_t n)
{
    struct vs_columns c = {0};
    struct vs_tables t;
    int err;

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_EQ(vs_buf_put(&c.col[VS_COL_META], bytes, n), 0);
    err = unpack_meta(&t, &c);
    vs_columns_fini(&c);
    vs_tables_fini(&t);
    return err;
}

TEST(refuses_bad_facts)
{
    CHECK_EQ(unpack_fact("\1k\3abc", 6), 0);
    CHECK_ERR(unpack_fact("\0\3abc", 5), VSE_CORRUPT);
    CHECK_ERR(unpack_fact("\2k\0\1a", 5), VSE_CORRUPT);
    CHECK_ERR(unpack_fact("\1k\3a\0c", 6), VSE_CORRUPT);
    CHECK_ERR(unpack_fact("\1k\3ab", 5), VSE_TRUNCATED);
    CHECK_ERR(unpack_fact("\1k", 2), VSE_TRUNCATED);
    CHECK_ERR(unpack_fact("\1k\x81\x80\x40", 5), VSE_LIMIT);
    CHECK_ERR(unpack_fact("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10), VSE_LIMIT);
    CHECK_ERR(unpack_fact("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10), VSE_CORRUPT);
}

/* ---- blocks ---- */

TEST(knows_blocks_by_address_and_bytes)
{
    struct vs_tables t;
    uint8_t code[4] = {1, 2, 3, 4};
    struct vs_block a = {100, code, 4, 2}, b = a;

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_EQ(vs_tables_block(&t, &a), 0);
    b.addr = 101;
    CHECK_EQ(vs_tables_block(&t, &b), 1);
    b = a;
    b.size = 3;
    CHECK_EQ(vs_tables_block(&t, &b), 2);
    code[3] = 5; /* other bytes at the same address */
    CHECK_EQ(vs_tables_block(&t, &a), 3);
    CHECK_EQ(vs_tables_block(&t, &a), 3);
    code[3] = 4;
    CHECK_EQ(vs_tables_block(&t, &a), 0);
    CHECK_EQ(t.block_count, 4);
    CHECK_EQ(t.blocks[0].bytes[3], 4);
    CHECK_EQ(t.blocks[3].bytes[3], 5);
    vs_tables_fini(&t);
}

TEST(refuses_bad_blocks)
{
    struct vs_tables t;
    uint8_t *code = calloc(1, VS_SIZE_MAX + 1);

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_ERR(vs_tables_block(&t, &(struct vs_block){0, code, 0, 0}), VSE_INVAL);
    CHECK_ERR(vs_tables_block(&t, &(struct vs_block){0, code, 4, 0}), VSE_INVAL);
    CHECK_ERR(vs_tables_block(&t, &(struct vs_block){0, code, 4, 5}), VSE_INVAL);
    CHECK_ERR(vs_tables_block(&t, &(struct vs_block){0, code, VS_SIZE_MAX + 1, 1}), VSE_INVAL);
    CHECK_ERR(vs_tables_block(&t, &(struct vs_block){0, NULL, 4, 1}), VSE_INVAL);
    CHECK_EQ(vs_tables_block(&t, &(struct vs_block){0, code, VS_SIZE_MAX, VS_SIZE_MAX}), 0);
    free(code);
    vs_tables_fini(&t);
}

static struct vs_block random_block(struct rng *r, uint8_t code[64])
{
    struct vs_block b = {rng_any(r), code, (uint32_t)(1 + rng_below(r, 64)), 1};

    b.insns = (uint32_t)(1 + rng_below(r, b.size));
    for (uint32_t i = 0; i < b.size; i++)
        code[i] = (uint8_t)rng_next(r);
    return b;
}

TEST(finds_each_of_many_blocks_again)
{
    struct vs_tables t;

    CHECK_EQ(vs_tables_init(&t), 0);
    for (int pass = 0; pass < 2; pass++) {
        struct rng r = rng_init(3);

        for (unsigned i = 0; i < 20000; i++) {
            uint8_t code[64];
            struct vs_block b = random_block(&r, code);

            b.addr = i;
            CHECK_EQ(vs_tables_block(&t, &b), i);
        }
    }
    CHECK_EQ(t.block_count, 20000);
    vs_tables_fini(&t);
}

/* One place whose code is replaced again and again. */
TEST(tells_many_blocks_at_one_address_apart)
{
    struct vs_tables t;

    CHECK_EQ(vs_tables_init(&t), 0);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < 20000; i++) {
            struct vs_block b = {0x1000, (const uint8_t *)&i, sizeof(i), 1};

            CHECK_EQ(vs_tables_block(&t, &b), i);
        }
    }
    vs_tables_fini(&t);
}

TEST(limits_code)
{
    struct vs_tables t;
    uint8_t code[16] = {0};
    struct vs_block b = {1, code, 16, 1};

    CHECK_EQ(vs_tables_init(&t), 0);
    t.code_size = VS_MAX_CODE - 16; /* as if so much were there */
    CHECK_EQ(vs_tables_block(&t, &b), 0);
    b.addr = 2;
    CHECK_ERR(vs_tables_block(&t, &b), VSE_LIMIT);
    b.addr = 1;
    CHECK_EQ(vs_tables_block(&t, &b), 0);
    vs_tables_fini(&t);
}

/* ---- static chunks ---- */

static void check_static(const struct vs_tables *a, const struct vs_tables *b)
{
    CHECK_EQ(a->block_count, b->block_count);
    for (size_t i = 0; i < a->block_count; i++) {
        const struct vs_block *x = &a->blocks[i], *y = &b->blocks[i];

        CHECK(x->addr == y->addr && x->size == y->size && x->insns == y->insns);
        CHECK_MEM(x->bytes, y->bytes, x->size);
    }
    CHECK_EQ(a->image_count, b->image_count);
    for (size_t i = 0; i < a->image_count; i++) {
        const struct vs_image *x = &a->images[i], *y = &b->images[i];

        CHECK_STR(x->path, y->path);
        CHECK_STR(x->symbols, y->symbols);
        CHECK_EQ(x->build_id_size, y->build_id_size);
        CHECK_MEM(x->build_id, y->build_id, x->build_id_size);
        CHECK(x->base == y->base && x->start == y->start && x->length == y->length);
    }
    CHECK_EQ(a->sites.count, b->sites.count);
    for (uint32_t i = 0; i < a->sites.count; i++)
        CHECK(vs_site_equal(&a->sites.list[i], &b->sites.list[i]));
}

static void add_random(struct vs_tables *t, struct rng *r)
{
    uint8_t code[64], id[64];
    struct vs_block b = random_block(r, code);
    struct vs_site s = {rng_any(r), 0, UINT64_C(1) << 16 | (uint64_t)VS_LOAD << 48};
    struct vs_image m = {.path = "/usr/lib/libm.so",
                         .symbols = rng_below(r, 2) ? "/usr/lib/debug" : NULL,
                         .build_id = id,
                         .build_id_size = (uint32_t)rng_below(r, 65),
                         .base = rng_any(r),
                         .start = rng_any(r),
                         .length = rng_any(r)};

    memset(id, (int)rng_below(r, 256), sizeof(id));
    CHECK(vs_tables_block(t, &b) >= 0);
    CHECK(vs_tables_image(t, &m) >= 0);
    CHECK(vs_sites_number(&t->sites, &s, VS_MAX_SITES) > 0);
}

TEST(packs_static_tables_both_ways_in_parts)
{
    struct vs_tables out, in;
    struct vs_columns c = {0};
    struct rng r = rng_init(4);

    CHECK_EQ(vs_tables_init(&out), 0);
    CHECK_EQ(vs_tables_init(&in), 0);
    for (unsigned part = 0; part < 10; part++) {
        for (uint64_t i = rng_below(&r, 50); i <= 50; i++)
            add_random(&out, &r);
        CHECK_EQ(vs_tables_pack_static(&out, &c), 1);
        CHECK_EQ(unpack_static(&in, &c), 0);
        vs_columns_clear(&c);
        CHECK_EQ(vs_tables_pack_static(&out, &c), 0);
        check_static(&out, &in);
    }
    vs_columns_fini(&c);
    vs_tables_fini(&in);
    vs_tables_fini(&out);
}

TEST(refuses_bad_images)
{
    struct vs_tables t;
    uint8_t id[65] = {0};
    char *text = calloc(1, VS_MAX_STRING + 2);

    memset(text, 'a', VS_MAX_STRING + 1);
    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_ERR(vs_tables_image(&t, &(struct vs_image){.path = NULL}), VSE_INVAL);
    CHECK_ERR(vs_tables_image(&t, &(struct vs_image){.path = text}), VSE_INVAL);
    CHECK_ERR(vs_tables_image(&t, &(struct vs_image){.path = "a", .symbols = text}), VSE_INVAL);
    CHECK_ERR(
        vs_tables_image(&t, &(struct vs_image){.path = "a", .build_id = id, .build_id_size = 65}),
        VSE_INVAL);
    CHECK_ERR(vs_tables_image(&t, &(struct vs_image){.path = "a", .build_id_size = 1}), VSE_INVAL);
    CHECK_EQ(vs_tables_image(&t, &(struct vs_image){.path = ""}), 0);
    for (unsigned i = 1; i < VS_MAX_IMAGES; i++)
        CHECK_EQ(vs_tables_image(&t, &(struct vs_image){.path = "a"}), i);
    CHECK_ERR(vs_tables_image(&t, &(struct vs_image){.path = "a"}), VSE_LIMIT);
    free(text);
    vs_tables_fini(&t);
}

static int unpack_columns(unsigned id, const void *bytes, size_t n, unsigned id2,
                          const void *bytes2, size_t n2)
{
    struct vs_columns c = {0};
    struct vs_tables t;
    int err;

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_EQ(vs_buf_put(&c.col[id], bytes, n), 0);
    CHECK_EQ(vs_buf_put(&c.col[id2], bytes2, n2), 0);
    err = unpack_static(&t, &c);
    vs_columns_fini(&c);
    vs_tables_fini(&t);
    return err;
}

static int unpack_block(const void *block, size_t n, const void *code, size_t code_size)
{
    return unpack_columns(VS_COL_BLOCKS, block, n, VS_COL_CODE, code, code_size);
}

TEST(refuses_bad_blocks_in_chunks)
{
    CHECK_EQ(unpack_block("\x08\x02\x01", 3, "ab", 2), 0);
    CHECK_ERR(unpack_block("\x08\x02\x01", 3, "a", 1), VSE_TRUNCATED);
    CHECK_ERR(unpack_block("\x08\x02", 2, "ab", 2), VSE_TRUNCATED);
    CHECK_ERR(unpack_block("\x08\x02\x01", 3, "abc", 3), VSE_CORRUPT);
    CHECK_ERR(unpack_block("", 0, "a", 1), VSE_CORRUPT);
    CHECK_ERR(unpack_block("\x08\x00\x00", 3, "", 0), VSE_CORRUPT);
    CHECK_ERR(unpack_block("\x08\x02\x00", 3, "ab", 2), VSE_CORRUPT);
    CHECK_ERR(unpack_block("\x08\x02\x03", 3, "ab", 2), VSE_CORRUPT);
    CHECK_ERR(unpack_block("\x08\x80\x80\x04\x01", 5, "ab", 2), VSE_CORRUPT);
    CHECK_ERR(unpack_block("\x08\x02\x81\x80\x80\x80\x10", 7, "ab", 2), VSE_CORRUPT);
}

static int unpack_image(const void *bytes, size_t n)
{
    return unpack_columns(VS_COL_IMAGES, bytes, n, VS_COL_CODE, "", 0);
}

TEST(refuses_bad_images_in_chunks)
{
    CHECK_EQ(unpack_image("\1p\1s\1i\1\2\3", 9), 0);
    for (size_t n = 1; n < 9; n++)
        CHECK_ERR(unpack_image("\1p\1s\1i\1\2\3", n), VSE_TRUNCATED);
    CHECK_ERR(unpack_image("\1\0\1s\1i\1\2\3", 9), VSE_CORRUPT);
    CHECK_ERR(unpack_image("\1p\1\0\1i\1\2\3", 9), VSE_CORRUPT);
    CHECK_EQ(unpack_image("\1p\1s\1\0\1\2\3", 9), 0); /* a build id is not text */
    CHECK_ERR(unpack_image("\1p\1s\x41i\1\2\3", 9), VSE_LIMIT);
    CHECK_ERR(unpack_image("\xff\xff\xff\x7fp", 5), VSE_LIMIT);
}

/* One-byte blocks at scattered addresses: their list grows faster than their code. */
TEST(packs_many_small_blocks_into_several_chunks)
{
    struct vs_tables t;
    struct vs_columns c = {0};
    unsigned chunks = 0;

    CHECK_EQ(vs_tables_init(&t), 0);
    for (uint64_t i = 0; i < 1000000; i++) {
        struct vs_block b = {.addr = i * UINT64_C(0x9e3779b97f4a7c15),
                             .bytes = (const uint8_t *)"c",
                             .size = 1,
                             .insns = 1};

        CHECK_EQ(vs_tables_block(&t, &b), i);
    }
    for (; vs_tables_pack_static(&t, &c) == 1; chunks++) {
        CHECK(c.col[VS_COL_BLOCKS].len < (9u << 20));
        vs_columns_clear(&c);
    }
    CHECK_EQ(chunks, 2);
    vs_columns_fini(&c);
    vs_tables_fini(&t);
}

TEST(takes_nothing_from_a_bad_static_chunk)
{
    static const uint8_t blocks[] = {2, 1, 1, 2, 1, 1, 2, 0, 0}, code[] = {1, 2};
    struct vs_column cols[VS_COL_END] = {[VS_COL_BLOCKS] = {blocks, blocks + sizeof(blocks)},
                                         [VS_COL_CODE] = {code, code + sizeof(code)}};
    struct vs_tables t;
    const char *why;

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_ERR(vs_tables_unpack_static(&t, cols, &why), VSE_CORRUPT);
    CHECK(t.block_count == 0 && t.code_size == 0 && t.sites.count == 1);
    cols[VS_COL_BLOCKS].end = blocks + 6;
    CHECK_EQ(vs_tables_unpack_static(&t, cols, &why), 0);
    CHECK_EQ(t.block_count, 2);
    vs_tables_fini(&t);
}

TEST(takes_nothing_from_a_bad_meta_chunk)
{
    static const uint8_t facts[] = {1, 'k', 1, 'v', 0, 0};
    struct vs_column cols[VS_COL_END] = {[VS_COL_META] = {facts, facts + sizeof(facts)}};
    struct vs_tables t;
    const char *why;

    CHECK_EQ(vs_tables_init(&t), 0);
    CHECK_ERR(vs_tables_unpack_meta(&t, cols, &why), VSE_CORRUPT);
    CHECK_EQ(t.fact_count, 0);
    vs_tables_fini(&t);
}
