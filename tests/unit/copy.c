/* SPDX-License-Identifier: MIT */
/* Copies of memory that share pages, and clones of what decoders have beside: each goes on by
 * itself, and the same from there on. */
#include "base/copy.h"
#include "base/copy_pool.h"

#include <stdlib.h>

#include "model/traced.h"
#include "port/demux.h"
#include "rng.h"
#include "unittest.h"

#define AT UINT64_C(0x10000)

static void put(struct vs_copy *c, uint64_t addr, uint8_t value)
{
    CHECK_EQ(vs_copy_write(c, addr, &value, 1), 0);
}

/* -1: unknown. */
static int get(struct vs_copy *c, uint64_t addr)
{
    uint8_t value;
    return vs_copy_read(c, addr, &value, 1) ? -1 : value;
}

TEST(shares_until_one_writes)
{
    struct vs_copy a, b;
    vs_copy_init(&a);
    put(&a, AT, 1);
    put(&a, AT + 0x1000, 2);
    CHECK_EQ(vs_copy_clone(&b, &a), 0);
    CHECK(vs_copy_look(&a, AT >> 12) == vs_copy_look(&b, AT >> 12));
    CHECK_EQ(get(&b, AT), 1);
    put(&b, AT, 3);
    CHECK_EQ(get(&a, AT), 1);
    CHECK_EQ(get(&b, AT), 3);
    put(&a, AT + 0x1000, 4);
    CHECK_EQ(get(&a, AT + 0x1000), 4);
    CHECK_EQ(get(&b, AT + 0x1000), 2);
    put(&a, AT + 1, 5);
    CHECK_EQ(get(&b, AT + 1), -1);
    put(&b, AT + 0x5000, 6);
    CHECK_EQ(get(&a, AT + 0x5000), -1);
    CHECK_EQ(a.count, 2);
    CHECK_EQ(b.count, 3);
    vs_copy_fini(&a);
    CHECK_EQ(get(&b, AT + 0x1000), 2);
    vs_copy_fini(&b);
}

TEST(clones_nothing)
{
    struct vs_copy a, b;
    vs_copy_init(&a);
    CHECK_EQ(vs_copy_clone(&b, &a), 0);
    CHECK_EQ(get(&b, AT), -1);
    put(&b, AT, 1);
    CHECK_EQ(get(&a, AT), -1);
    vs_copy_fini(&b);
    vs_copy_fini(&a);
}

/* What was found lately is not written through after a clone, and what is the copy's own again is
 * written in place. */
TEST(forgets_what_it_found_lately)
{
    struct vs_copy a, b;
    vs_copy_init(&a);
    put(&a, AT, 1);
    put(&a, AT, 2);
    CHECK_EQ(vs_copy_clone(&b, &a), 0);
    CHECK_EQ(get(&a, AT), 2);
    CHECK_EQ(get(&b, AT), 2);
    put(&a, AT, 3);
    CHECK_EQ(get(&b, AT), 2);
    put(&a, AT, 4);
    CHECK_EQ(get(&a, AT), 4);
    const struct vs_copy_page *page = vs_copy_look(&b, AT >> 12);
    put(&b, AT, 5);
    CHECK(vs_copy_look(&b, AT >> 12) == page);
    CHECK_EQ(get(&a, AT), 4);
    CHECK_EQ(get(&b, AT), 5);
    vs_copy_fini(&b);
    vs_copy_fini(&a);
}

TEST(counts_what_it_has_alone)
{
    struct vs_copy a, b, c;
    vs_copy_init(&a);
    for (unsigned i = 0; i < 100; i++)
        put(&a, AT + 0x1000 * i, 1);
    size_t alone = vs_copy_alone(&a), made = a.made;
    CHECK(made >= 100 * sizeof(struct vs_copy_page) && made <= alone);
    CHECK_EQ(vs_copy_clone(&b, &a), 0);
    size_t table = vs_copy_alone(&a);
    CHECK_EQ(vs_copy_alone(&b), table);
    CHECK(table < alone / 10);
    CHECK_EQ(b.made, 0);
    CHECK_EQ(vs_copy_clone(&c, &b), 0);
    put(&a, AT + 0x1000, 2);
    CHECK_EQ(a.made, made + sizeof(struct vs_copy_page) + sizeof(struct vs_copy_group));
    CHECK_EQ(vs_copy_alone(&a), table + a.made - made);
    CHECK_EQ(vs_copy_alone(&b), table);
    for (unsigned i = 0; i < 100; i++)
        put(&a, AT + 0x1000 * i, 2);
    CHECK_EQ(vs_copy_alone(&a), alone);
    vs_copy_fini(&c);
    CHECK_EQ(vs_copy_alone(&b), alone);
    vs_copy_fini(&b);
    vs_copy_fini(&a);
}

/* ---- against arrays -------------------------------------------------------------------------- */

enum { COPIES = 6, PAGES = 40, SPAN = PAGES * 4096 };

struct plain {
    int16_t bytes[SPAN]; /* -1: unknown */
};

/* Around the end of all addresses. */
static uint64_t address(size_t at)
{
    return UINT64_C(0) - SPAN / 2 + at;
}

static void check_same(struct vs_copy *c, const struct plain *p, size_t at, size_t size)
{
    uint8_t bytes[300];
    size_t known = 0;
    for (size_t i = 0; i < size; i++)
        known += p->bytes[at + i] >= 0;
    CHECK_EQ(vs_copy_peek(c, address(at), bytes, size), known);
    for (size_t i = 0; i < size; i++)
        CHECK_EQ(bytes[i], p->bytes[at + i] < 0 ? 0 : p->bytes[at + i]);
    int err = vs_copy_read(c, address(at), bytes, size);
    CHECK_EQ(err, known == size ? 0 : -VSE_NOTFOUND);
}

static void write_both(struct vs_copy *c, struct plain *p, struct rng *rng, size_t at, size_t size)
{
    uint8_t bytes[300];
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)rng_next(rng);
        p->bytes[at + i] = bytes[i];
    }
    CHECK_EQ(vs_copy_write(c, address(at), bytes, size), 0);
}

/* Every now and then `pool` is trimmed, and what it has in a file is put away. */
static void check_separate(struct vs_copy_pool *pool)
{
    struct rng rng = rng_init(1);
    struct vs_copy *copies = malloc(COPIES * sizeof(*copies));
    struct plain *plain = malloc(COPIES * sizeof(*plain));
    CHECK(copies && plain);
    memset(plain, 0xff, COPIES * sizeof(*plain));
    for (unsigned i = 0; i < COPIES; i++) {
        vs_copy_init(&copies[i]);
        vs_copy_use(&copies[i], pool);
    }
    for (unsigned n = 0; n < 60000; n++) {
        unsigned which = (unsigned)rng_below(&rng, COPIES);
        size_t size = rng_below(&rng, 8) ? 1 + rng_below(&rng, 40) : 1 + rng_below(&rng, 300);
        size_t at = rng_below(&rng, SPAN - size);
        if (rng_below(&rng, 100) == 0) {
            unsigned to = (unsigned)rng_below(&rng, COPIES);
            if (to == which)
                continue;
            vs_copy_fini(&copies[to]);
            CHECK_EQ(vs_copy_clone(&copies[to], &copies[which]), 0);
            plain[to] = plain[which];
            if (pool && rng_below(&rng, 2)) {
                vs_copy_pool_trim(pool);
                vs_scratch_rest(&pool->scratch);
            }
        } else if (rng_below(&rng, 2)) {
            write_both(&copies[which], &plain[which], &rng, at, size);
        } else {
            check_same(&copies[which], &plain[which], at, size);
        }
    }
    for (unsigned i = 0; i < COPIES; i++) {
        for (size_t at = 0; at + 256 <= SPAN; at += 256)
            check_same(&copies[i], &plain[i], at, 256);
        vs_copy_fini(&copies[i]);
    }
    free(plain);
    free(copies);
}

TEST(is_as_separate_memories_are)
{
    check_separate(NULL);
}

static void check_pool(const char *folder)
{
    struct vs_copy_pool pool;
    CHECK_EQ(vs_copy_pool_init(&pool, folder, NULL), 0);
    check_separate(&pool);
    size_t groups = 0, each = sizeof(struct vs_copy_page) / sizeof(struct vs_copy_group);
    for (void *g = pool.free_group; g; g = *(void **)g)
        groups++;
    CHECK_EQ(pool.free_count + groups / each, pool.cells); /* everything came back */
    CHECK(pool.cells <= COPIES * (PAGES + 2));             /* and was used again */
    vs_copy_pool_fini(&pool);
}

TEST(is_as_separate_memories_are_in_a_pool)
{
    check_pool(NULL);
}

TEST(is_as_separate_memories_are_in_a_file)
{
    check_pool(unittest_folder());
}

/* ---- caches ---------------------------------------------------------------------------------- */

static struct vs_cache_config draw_config(struct rng *rng)
{
    uint32_t ways = UINT32_C(1) << rng_below(rng, 8); /* narrow and wide ones */
    uint32_t line = UINT32_C(4) << rng_below(rng, 4);
    return (struct vs_cache_config){.size = (uint64_t)line * ways << rng_below(rng, 4),
                                    .line = line,
                                    .ways = ways,
                                    .policy =
                                        (enum vs_cache_policy)rng_below(rng, VS_CACHE_POLICIES)};
}

static void use(struct vs_cache *c, uint64_t line, uint64_t what)
{
    uint32_t index = vs_cache_hit(c, line);
    if (what == 0 && index != VS_CACHE_NONE)
        vs_cache_drop(c, index);
    else if (what && index == VS_CACHE_NONE)
        vs_cache_place(c, vs_cache_victim(c, line), line);
}

static void check_caches(const struct vs_cache *a, const struct vs_cache *b)
{
    CHECK_EQ(a->used, b->used);
    CHECK_MEM(a->tags, b->tags, a->lines * sizeof(a->tags[0]));
}

TEST(assigns_caches)
{
    struct rng rng = rng_init(2);
    for (unsigned n = 0; n < 60; n++) {
        struct vs_cache_config config = draw_config(&rng);
        struct vs_cache a, b;
        uint64_t span = 3 * config.size / config.line + 1;
        CHECK_EQ(vs_cache_init(&a, &config, NULL), 0);
        CHECK_EQ(vs_cache_init(&b, &config, NULL), 0);
        for (unsigned i = 0; i < 2000; i++) {
            use(&a, rng_below(&rng, span) * config.line, rng_below(&rng, 10));
            use(&b, rng_below(&rng, span) * config.line, rng_below(&rng, 10));
        }
        vs_cache_assign(&b, &a);
        for (unsigned i = 0; i < 2000; i++) {
            uint64_t line = rng_below(&rng, span) * config.line, what = rng_below(&rng, 10);
            use(&a, line, what);
            use(&b, line, what);
            CHECK_EQ(vs_cache_find(&a, line), vs_cache_find(&b, line));
        }
        check_caches(&a, &b);
        /* nothing is shared */
        for (unsigned i = 0; i < 500; i++)
            use(&a, (span + i) * config.line, 1);
        CHECK(vs_cache_find(&b, (span + 499) * config.line) == VS_CACHE_NONE);
        vs_cache_fini(&a);
        vs_cache_fini(&b);
    }
}

enum { CORES = 3 };

/* One operation on a group, with trace bits and data. */
static void act(struct vs_traced *t, unsigned core, uint64_t line, uint64_t what, uint8_t value)
{
    struct vs_moesi_result r;
    if (what < 5) {
        vs_moesi_read(&t->group, core, line, &r);
    } else if (what < 9) {
        vs_moesi_write(&t->group, core, line, &r);
    } else {
        vs_traced_drop(t, core, line, t->group.line, NULL, NULL);
        return;
    }
    if (r.outcome != VS_MOESI_HIT && r.outcome != VS_MOESI_UPGRADE)
        vs_traced_inherit(t, core, &r);
    if (r.outcome == VS_MOESI_BELOW)
        memset(vs_moesi_bytes(&t->group, core, r.index), (int)(line >> 5), t->group.line);
    if (what >= 5)
        vs_moesi_bytes(&t->group, core, r.index)[line % 3] = value;
    t->t[core][r.index] = what % 2 ? 1 : t->t[core][r.index];
}

static void check_traced(const struct vs_traced *a, const struct vs_traced *b)
{
    for (unsigned i = 0; i < CORES; i++) {
        const struct vs_moesi_core *x = &a->group.core[i], *y = &b->group.core[i];
        check_caches(&x->cache, &y->cache);
        for (uint32_t k = 0; k < x->cache.lines; k++) {
            if (x->cache.tags[k] == VS_CACHE_FREE)
                continue;
            CHECK_EQ(x->states[k], y->states[k]);
            CHECK_EQ(a->t[i][k], b->t[i][k]);
            CHECK_MEM(vs_moesi_bytes(&a->group, i, k), vs_moesi_bytes(&b->group, i, k),
                      a->group.line);
        }
    }
}

TEST(clones_coherent_caches)
{
    struct rng rng = rng_init(3);
    for (unsigned n = 0; n < 40; n++) {
        struct vs_cache_config config = draw_config(&rng);
        struct vs_traced a = {0}, b = {0};
        uint64_t span = 2 * config.size / config.line + 1;
        CHECK_EQ(vs_traced_init(&a, CORES, &config, n & 1, true), 0);
        for (unsigned i = 0; i < 3000; i++)
            act(&a, (unsigned)rng_below(&rng, CORES), rng_below(&rng, span) * config.line,
                rng_below(&rng, 10), (uint8_t)i);
        CHECK_EQ(vs_traced_clone(&b, &a), 0);
        check_traced(&a, &b);
        for (unsigned i = 0; i < 3000; i++) {
            unsigned core = (unsigned)rng_below(&rng, CORES);
            uint64_t line = rng_below(&rng, span) * config.line, what = rng_below(&rng, 10);
            act(&a, core, line, what, (uint8_t)i);
            act(&b, core, line, what, (uint8_t)i);
        }
        check_traced(&a, &b);
        vs_traced_fini(&a);
        check_traced(&b, &b);
        vs_traced_fini(&b);
    }
}

/* ---- queues ---------------------------------------------------------------------------------- */

TEST(clones_queues)
{
    struct rng rng = rng_init(4);
    struct vs_demux a, b;
    uint64_t item, other;
    CHECK_EQ(vs_demux_init(&a, CORES, sizeof(item)), 0);
    for (unsigned i = 0; i < 5000; i++) {
        unsigned core = (unsigned)rng_below(&rng, CORES);
        item = rng_next(&rng);
        if (rng_below(&rng, 5) < 3)
            CHECK_EQ(vs_demux_push(&a, core, &item), 0);
        else
            vs_demux_pop(&a, core, NULL);
    }
    CHECK_EQ(vs_demux_clone(&b, &a), 0);
    for (unsigned i = 0; i < 5000; i++) {
        unsigned core = (unsigned)rng_below(&rng, CORES);
        item = rng_next(&rng);
        if (rng_below(&rng, 5) < 2) {
            CHECK_EQ(vs_demux_push(&a, core, &item), 0);
            CHECK_EQ(vs_demux_push(&b, core, &item), 0);
            continue;
        }
        CHECK_EQ(vs_demux_front(&a, core) != NULL, vs_demux_front(&b, core) != NULL);
        int end = vs_demux_pop(&a, core, &item);
        CHECK_EQ(vs_demux_pop(&b, core, &other), end);
        CHECK(end || item == other);
    }
    vs_demux_fini(&a);
    for (unsigned core = 0; core < CORES; core++)
        while (!vs_demux_pop(&b, core, &item))
            ;
    vs_demux_fini(&b);
}
