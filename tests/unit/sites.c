/* SPDX-License-Identifier: MIT */
#include "trace/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "rng.h"
#include "unittest.h"

static struct vs_event random_event(struct rng *r)
{
    static const uint8_t branches[] = {VS_BR_TAKEN,
                                       VS_BR_COND,
                                       VS_BR_COND | VS_BR_TAKEN,
                                       VS_BR_TAKEN | VS_BR_CALL,
                                       VS_BR_TAKEN | VS_BR_INDIRECT,
                                       VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN};
    struct vs_event e = {.kind = (uint8_t)(VS_BRANCH + rng_below(r, 3)),
                         .pc = rng_any(r),
                         .addr = rng_any(r),
                         .size = (uint16_t)(1 + rng_below(r, 255)),
                         .icount = (uint16_t)rng_any(r),
                         .thread = (uint16_t)rng_any(r)};

    e.flags = e.kind == VS_BRANCH ? branches[rng_below(r, sizeof(branches))]
                                  : (uint8_t)rng_below(r, VS_MEM_ALL + 1);
    return e;
}

TEST(keeps_the_static_parts_of_hot_events)
{
    struct vs_event e = {.kind = VS_BRANCH,
                         .flags = VS_BR_COND | VS_BR_TAKEN,
                         .pc = 100,
                         .addr = 200,
                         .size = 4,
                         .icount = 7,
                         .thread = 9};
    struct vs_site s = vs_site_of(&e), t;

    CHECK(s.pc == 100 && s.target == 200);
    CHECK_EQ(VS_META_KIND(s.meta), VS_BRANCH);
    CHECK_EQ(VS_META_FLAGS(s.meta), VS_BR_COND);
    CHECK_EQ(VS_META_SIZE(s.meta), 4);
    CHECK_EQ(VS_META_ICOUNT(s.meta), 7);
    e.flags = VS_BR_COND; /* not taken, in another thread: the same site */
    e.thread = 1;
    t = vs_site_of(&e);
    CHECK(vs_site_equal(&s, &t));
    e.flags = VS_BR_TAKEN | VS_BR_INDIRECT; /* its target is dynamic */
    CHECK_EQ(vs_site_of(&e).target, 0);
}

TEST(keeps_kind_and_flags_of_other_events)
{
    struct vs_event e = {
        .kind = VS_MAP, .flags = VS_MAP_READ, .pc = 3, .addr = 4096, .value = 5, .icount = 6};
    struct vs_site s = vs_site_of(&e);

    CHECK(s.pc == 0 && s.target == 0);
    CHECK_EQ(s.meta, (uint64_t)VS_MAP_READ << 56 | (uint64_t)VS_MAP << 48);
    e = (struct vs_event){.kind = VS_LOAD, .pc = 3, .addr = 4096, .value = 5, .size = 1};
    CHECK_EQ(vs_site_of(&e).target, 0);
}

TEST(numbers_each_site_once)
{
    struct vs_sites s;
    struct rng r = rng_init(1);
    struct vs_site sites[3000];

    CHECK_EQ(vs_sites_init(&s), 0);
    CHECK_EQ(s.count, 1);
    for (unsigned i = 0; i < 3000; i++) {
        struct vs_event e = random_event(&r);

        e.pc = i; /* all different */
        sites[i] = vs_site_of(&e);
        CHECK_EQ(vs_sites_number(&s, &sites[i], VS_MAX_SITES), i + 1);
    }
    for (unsigned i = 0; i < 3000; i++)
        CHECK_EQ(vs_sites_number(&s, &sites[i], VS_MAX_SITES), i + 1);
    CHECK_EQ(s.count, 3001);
    CHECK_EQ(s.list[0].meta, 0);
    CHECK_EQ(s.list[s.count].meta, 0);
    vs_sites_fini(&s);
}

TEST(gives_the_literal_when_full)
{
    struct vs_sites s;

    CHECK_EQ(vs_sites_init(&s), 0);
    for (uint64_t pc = 1; pc < 20; pc++) {
        struct vs_site site = {.pc = pc, .meta = 1};

        CHECK_EQ(vs_sites_number(&s, &site, 5), pc < 5 ? pc : 0);
    }
    CHECK_EQ(s.count, 5);
    CHECK_EQ(vs_sites_number(&s, &(struct vs_site){.pc = 3, .meta = 1}, 5), 3);
    vs_sites_fini(&s);
}

TEST(packs_sites_both_ways)
{
    struct vs_sites out, in;
    struct vs_buf col = {0};
    struct rng r = rng_init(2);

    CHECK_EQ(vs_sites_init(&out), 0);
    CHECK_EQ(vs_sites_init(&in), 0);
    for (unsigned i = 0; i < 2000; i++) {
        struct vs_event e = random_event(&r);
        struct vs_site s = vs_site_of(&e);

        CHECK(vs_sites_number(&out, &s, VS_MAX_SITES) > 0);
    }
    for (uint32_t i = 1; i < out.count; i++)
        CHECK_EQ(vs_site_pack(&col, &out.list[i], &out.list[i - 1]), 0);
    CHECK_EQ(vs_sites_unpack(&in, (struct vs_column){col.data, col.data + col.len}), 0);
    CHECK_EQ(in.count, out.count);
    for (uint32_t i = 0; i < out.count; i++)
        CHECK(vs_site_equal(&in.list[i], &out.list[i]));
    vs_buf_fini(&col);
    vs_sites_fini(&in);
    vs_sites_fini(&out);
}

TEST(packs_sites_of_all_other_kinds)
{
    for (unsigned kind = VS_EXTERNAL; kind < VS_KIND_END; kind++) {
        struct vs_event e = {.kind = (uint8_t)kind};
        struct vs_site s = vs_site_of(&e), got, before = {.pc = 5};
        struct vs_buf b = {0};
        struct vs_column col;

        CHECK_EQ(vs_site_pack(&b, &s, &before), 0);
        CHECK_EQ(b.len, 2);
        col = (struct vs_column){b.data, b.data + b.len};
        CHECK_EQ(vs_site_unpack(&col, &got, &before), 0);
        CHECK(vs_site_equal(&s, &got) && col.p == col.end);
        vs_buf_fini(&b);
    }
}

static int unpack(const uint8_t *bytes, size_t n)
{
    uint8_t *exact = malloc(n ? n : 1);
    struct vs_column col = {exact, exact + n};
    struct vs_site before = {.pc = 1000}, site;
    int err;

    memcpy(exact, bytes, n);
    err = vs_site_unpack(&col, &site, &before);
    free(exact);
    return err;
}

TEST(refuses_a_site_cut_anywhere)
{
    struct vs_event e = {
        .kind = VS_BRANCH, .flags = VS_BR_TAKEN, .size = 200, .icount = 300, .pc = 99, .addr = 1};
    struct vs_site s = vs_site_of(&e);
    struct vs_buf b = {0};

    CHECK_EQ(vs_site_pack(&b, &s, &(struct vs_site){.pc = 1000}), 0);
    CHECK_EQ(unpack(b.data, b.len), 0);
    for (size_t n = 0; n < b.len; n++)
        CHECK_ERR(unpack(b.data, n), VSE_TRUNCATED);
    vs_buf_fini(&b);
}

static int unpack_parts(unsigned kind, unsigned flags, uint64_t size, uint64_t icount)
{
    uint8_t b[64] = {(uint8_t)kind, (uint8_t)flags}, *p = b + 2;

    p = vs_varint_put(p, size);
    p = vs_varint_put(p, icount);
    p = vs_varint_put(p, 4);
    p = vs_varint_put(p, 4);
    return unpack(b, (size_t)(p - b));
}

TEST(refuses_sites_that_no_event_can_have)
{
    CHECK_EQ(unpack_parts(VS_BRANCH, 0, 4, 1), 0);
    CHECK_EQ(unpack_parts(VS_STORE, VS_MEM_ALL, 65535, 65535), 0);
    CHECK_ERR(unpack_parts(0, 0, 4, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_KIND_END, 0, 4, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(255, 0, 4, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_BRANCH, VS_BR_TAKEN, 4, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_BRANCH, VS_BR_RETURN, 4, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_BRANCH, 32, 4, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_BRANCH, 0, 0, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_BRANCH, 0, 256, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_LOAD, 0, 0, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_LOAD, 4, 1, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_LOAD, 0, 65536, 1), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_LOAD, 0, 1, 65536), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_LOAD, 0, 1, UINT64_MAX), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_EXTERNAL, 1, 0, 0), VSE_CORRUPT);
    CHECK_ERR(unpack_parts(VS_MAP, 16, 0, 0), VSE_CORRUPT);
}

TEST(refuses_more_sites_than_the_format_allows)
{
    struct vs_sites s;
    uint8_t *bytes = malloc(2 * (size_t)VS_MAX_SITES);

    CHECK(bytes);
    for (size_t i = 0; i < VS_MAX_SITES; i++) {
        bytes[2 * i] = VS_COUNT;
        bytes[2 * i + 1] = 0;
    }
    CHECK_EQ(vs_sites_init(&s), 0);
    CHECK_ERR(vs_sites_unpack(&s, (struct vs_column){bytes, bytes + 2 * (size_t)VS_MAX_SITES}),
              VSE_LIMIT);
    CHECK_EQ(s.count, VS_MAX_SITES);
    vs_sites_fini(&s);
    free(bytes);
}
