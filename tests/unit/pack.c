/* SPDX-License-Identifier: MIT */
#include "base/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "rng.h"
#include "unittest.h"

static int to_buf(void *buf, const uint8_t *bytes, size_t size)
{
    CHECK(size);
    return vs_buf_put(buf, bytes, size);
}

/* Bytes that compress, with runs that do not. */
static void draw(struct rng *r, struct vs_buf *b, size_t size)
{
    b->len = 0;
    CHECK_EQ(vs_buf_reserve(b, size + 1), 0);
    while (b->len < size) {
        size_t n = 1 + rng_below(r, 300);
        bool noise = rng_below(r, 2);
        uint8_t same = (uint8_t)rng_next(r);
        for (size_t i = 0; i < n && b->len < size; i++)
            b->data[b->len++] = noise ? (uint8_t)rng_next(r) : same;
    }
}

/* In pieces of 0 to most bytes. */
static void pack(struct rng *r, enum vs_pack_kind kind, unsigned level, const struct vs_buf *plain,
                 size_t most, struct vs_buf *packed)
{
    struct vs_pack *p;
    packed->len = 0;
    CHECK_EQ(vs_pack_open(&p, kind, level, to_buf, packed), 0);
    for (size_t at = 0, n; at < plain->len; at += n) {
        n = rng_below(r, most + 1);
        n = n < plain->len - at ? n : plain->len - at;
        CHECK_EQ(vs_pack_put(p, plain->data + at, n), 0);
    }
    CHECK_EQ(vs_pack_finish(p), 0);
    CHECK_ERR(vs_pack_put(p, "x", 1), VSE_INVAL);
    CHECK_ERR(vs_pack_finish(p), VSE_INVAL);
    vs_pack_close(p);
}

/* Fed in pieces of up to `fed` bytes, each in memory of its own, taken in pieces of up to `room`.
 * Returns 0 if it all came, or the error. */
static int unpack(struct rng *r, enum vs_pack_kind kind, const uint8_t *bytes, size_t size,
                  size_t fed, size_t room, struct vs_buf *plain, struct vs_diag *diag)
{
    struct vs_unpack *u;
    uint8_t *piece = NULL;
    size_t at = 0;
    int64_t n;
    plain->len = 0;
    CHECK_EQ(vs_unpack_open(&u, kind), 0);
    do {
        size_t want = 1 + rng_below(r, room);
        CHECK_EQ(vs_buf_reserve(plain, want), 0);
        n = vs_unpack_get(u, plain->data + plain->len, want, diag);
        CHECK(n <= (int64_t)want);
        plain->len += n > 0 ? (size_t)n : 0;
        if (n)
            continue;
        if (at == size) {
            vs_unpack_end(u);
            continue;
        }
        size_t next = 1 + rng_below(r, fed);
        next = next < size - at ? next : size - at;
        free(piece);
        CHECK((piece = malloc(next)));
        memcpy(piece, bytes + at, next);
        vs_unpack_feed(u, piece, next);
        at += next;
    } while (n >= 0);
    CHECK_EQ(vs_unpack_get(u, plain->data, 1, NULL), n); /* it stays */
    vs_unpack_close(u);
    free(piece);
    return n == -VSE_END ? 0 : (int)n;
}

TEST(gives_back_what_was_packed)
{
    static const size_t sizes[] = {0, 1, 2, 100, 4095, 70000, 300000};
    struct vs_buf plain = {0}, packed = {0}, back = {0};
    struct rng r = rng_init(1);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        unsigned least, most;
        vs_pack_levels(kind, &least, &most);
        for (unsigned i = 0; i < 7; i++) {
            draw(&r, &plain, sizes[i]);
            pack(&r, kind, least + (unsigned)rng_below(&r, most - least + 1), &plain,
                 i % 2 ? 7 : 20000, &packed);
            CHECK(packed.len && packed.len < sizes[i] * 9 / 10 + 100);
            for (unsigned k = 0; k < 3; k++) {
                CHECK_EQ(unpack(&r, kind, packed.data, packed.len, k ? 1 << 12 : 1,
                                k < 2 ? 5000 : 3, &back, NULL),
                         0);
                CHECK_EQ(back.len, plain.len);
                CHECK_MEM(back.data, plain.data, plain.len);
            }
        }
    }
    vs_buf_fini(&plain);
    vs_buf_fini(&packed);
    vs_buf_fini(&back);
}

/* The libraries may not depend on where pieces end. */
TEST(packs_the_same_in_any_pieces)
{
    struct vs_buf plain = {0}, a = {0}, b = {0};
    struct rng r = rng_init(2);
    draw(&r, &plain, 200000);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        pack(&r, kind, 1, &plain, 100, &a);
        pack(&r, kind, 1, &plain, 200000, &b);
        CHECK_EQ(a.len, b.len);
        CHECK_MEM(a.data, b.data, a.len);
    }
    vs_buf_fini(&plain);
    vs_buf_fini(&a);
    vs_buf_fini(&b);
}

TEST(packs_better_at_a_higher_level)
{
    struct vs_buf plain = {0}, low = {0}, high = {0};
    struct rng r = rng_init(3);
    draw(&r, &plain, 40000);
    for (unsigned i = 0; i < 20; i++) {
        char text[40];
        int n = snprintf(text, sizeof text, "%u and %u; ", i * 77, i % 7);
        CHECK_EQ(vs_buf_put(&plain, text, (size_t)n), 0);
    }
    CHECK_EQ(vs_buf_put(&plain, (const uint8_t[1000]){0}, 1000), 0);
    for (unsigned i = 0; i < 5; i++) { /* far behind, for windows and blocks of different sizes */
        size_t len = plain.len;
        CHECK_EQ(vs_buf_reserve(&plain, len), 0);
        memcpy(plain.data + len, plain.data, len);
        plain.len += len;
    }
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        unsigned least, most;
        vs_pack_levels(kind, &least, &most);
        pack(&r, kind, least, &plain, 5000, &low);
        pack(&r, kind, most, &plain, 5000, &high);
        CHECK(high.len <= low.len);
    }
    vs_buf_fini(&plain);
    vs_buf_fini(&low);
    vs_buf_fini(&high);
}

TEST(names_a_cut_at_every_length)
{
    struct vs_buf plain = {0}, packed = {0}, back = {0};
    struct rng r = rng_init(4);
    draw(&r, &plain, 3000);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        pack(&r, kind, 1, &plain, 100, &packed);
        for (size_t n = 0; n < packed.len; n++) {
            struct vs_diag diag = {0};
            CHECK_ERR(unpack(&r, kind, packed.data, n, 100, 500, &back, &diag), VSE_TRUNCATED);
            CHECK_HAS(diag.text, vs_pack_name(kind));
            CHECK_EQ(diag.offset, n);
            CHECK(back.len <= plain.len);
            CHECK_MEM(back.data, plain.data, back.len);
        }
    }
    vs_buf_fini(&plain);
    vs_buf_fini(&packed);
    vs_buf_fini(&back);
}

TEST(names_what_follows_the_end)
{
    struct vs_buf plain = {0}, packed = {0}, back = {0};
    struct rng r = rng_init(5);
    draw(&r, &plain, 1000);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        struct vs_diag diag = {0};
        struct vs_unpack *u;
        uint8_t byte[2000];
        pack(&r, kind, 1, &plain, 100, &packed);
        CHECK_EQ(vs_unpack_open(&u, kind), 0);
        vs_unpack_feed(u, packed.data, packed.len);
        CHECK_EQ(vs_unpack_get(u, byte, sizeof byte, NULL), plain.len);
        CHECK_ERR(vs_unpack_get(u, byte, sizeof byte, NULL), VSE_END);
        vs_unpack_feed(u, byte, 1); /* it had ended */
        CHECK_ERR(vs_unpack_get(u, byte, sizeof byte, &diag), VSE_CORRUPT);
        CHECK_HAS(diag.text, "something follows its end");
        vs_unpack_close(u);
        CHECK_EQ(vs_buf_put(&packed, "\0", 1), 0);
        CHECK_ERR(unpack(&r, kind, packed.data, packed.len, 1 << 30, 500, &back, &diag),
                  VSE_CORRUPT);
        CHECK_EQ(back.len, plain.len);
    }
    vs_buf_fini(&plain);
    vs_buf_fini(&packed);
    vs_buf_fini(&back);
}

TEST(names_damage)
{
    struct vs_buf plain = {0}, packed = {0}, back = {0};
    struct rng r = rng_init(6);
    draw(&r, &plain, 2000);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        size_t unnoticed = 0;
        pack(&r, kind, 1, &plain, 100, &packed);
        for (size_t bit = 0; bit < 8 * packed.len; bit += unittest_every(5)) {
            struct vs_diag diag = {0};
            packed.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int err = unpack(&r, kind, packed.data, packed.len, 100, 500, &back, &diag);
            CHECK(err == 0 || err == -VSE_CORRUPT || err == -VSE_TRUNCATED);
            CHECK(err == 0 || (diag.error == err && diag.text[0]));
            /* fields of heads that say nothing of the content, and filling */
            if (!err) {
                unnoticed++;
                CHECK_EQ(back.len, plain.len);
                CHECK_MEM(back.data, plain.data, plain.len);
            }
            packed.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        CHECK(unnoticed < 100);
    }
    vs_buf_fini(&plain);
    vs_buf_fini(&packed);
    vs_buf_fini(&back);
}

/* A few bytes that grow to a hundred million are taken in pieces; nothing waits inside. */
TEST(gives_no_more_than_there_is_room_for)
{
    enum { ROOM = 1 << 16 };
    const size_t all = (100 << 20) / unittest_every(4);
    static uint8_t zeros[ROOM];
    struct vs_buf packed = {0};
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        struct vs_pack *p;
        struct vs_unpack *u;
        size_t size = 0;
        int64_t n;
        packed.len = 0;
        CHECK_EQ(vs_pack_open(&p, kind, 1, to_buf, &packed), 0);
        for (size_t i = 0; i < all / ROOM; i++)
            CHECK_EQ(vs_pack_put(p, zeros, ROOM), 0);
        CHECK_EQ(vs_pack_finish(p), 0);
        vs_pack_close(p);
        CHECK(packed.len < all / 200);
        uint8_t *out = malloc(ROOM);
        CHECK(out);
        CHECK_EQ(vs_unpack_open(&u, kind), 0);
        vs_unpack_feed(u, packed.data, packed.len);
        while ((n = vs_unpack_get(u, out, ROOM, NULL)) > 0)
            size += (size_t)n;
        CHECK_EQ(n, -VSE_END);
        CHECK_EQ(size, all);
        vs_unpack_close(u);
        free(out);
    }
    vs_buf_fini(&packed);
}

/* xz and zstd say in their heads how far back a copy may reach, and a reader keeps as much. */
TEST(refuses_to_keep_more_than_its_levels_need)
{
    /* a frame of zstd: no single segment, a window of 2^31 bytes, an empty last block */
    static const uint8_t zstd[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 21 << 3, 0x01, 0x00, 0x00};
    struct vs_buf back = {0};
    struct rng r = rng_init(7);
    struct vs_diag diag = {0};
    CHECK_ERR(unpack(&r, VS_PACK_ZSTD, zstd, sizeof zstd, 100, 100, &back, &diag), VSE_CORRUPT);
    CHECK_HAS(diag.text, "zstd");
    vs_buf_fini(&back);
}

static int full(void *context, const uint8_t *bytes, size_t size)
{
    size_t *left = context;
    (void)bytes;
    if (size > *left)
        return -VSE_IO;
    *left -= size;
    return 0;
}

TEST(reports_the_sink_that_refuses)
{
    struct vs_buf plain = {0};
    struct rng r = rng_init(8);
    draw(&r, &plain, 500000);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        struct vs_pack *p;
        size_t left = 100000;
        int err = 0;
        CHECK_EQ(vs_pack_open(&p, kind, 1, full, &left), 0);
        for (size_t at = 0; at < plain.len && !err; at += 1000)
            err = vs_pack_put(p, plain.data + at, 1000);
        CHECK_ERR(vs_pack_finish(p), VSE_IO);
        CHECK(!err || err == -VSE_IO);
        vs_pack_close(p);
    }
    vs_buf_fini(&plain);
}

TEST(refuses_what_there_is_not)
{
    struct vs_pack *p;
    struct vs_unpack *u;
    CHECK_ERR(vs_pack_open(&p, VS_PACK_KINDS, 1, to_buf, NULL), VSE_INVAL);
    CHECK_ERR(vs_unpack_open(&u, VS_PACK_KINDS), VSE_INVAL);
    for (enum vs_pack_kind kind = 0; kind < VS_PACK_KINDS; kind++) {
        unsigned least, most;
        vs_pack_levels(kind, &least, &most);
        CHECK_ERR(vs_pack_open(&p, kind, most + 1, to_buf, NULL), VSE_INVAL);
        CHECK(!least || vs_pack_open(&p, kind, least - 1, to_buf, NULL) == -VSE_INVAL);
        CHECK(!p);
    }
    vs_pack_close(NULL);
    vs_unpack_close(NULL);
}
