/* SPDX-License-Identifier: MIT */
#include "target/hierarchy.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

#define LINE 32
#define SPAN 4096 /* bytes of the flat memory */

enum { L1 = 4, L2 = 12, MEMORY = 100, TRANSFER = 20, UPGRADE = 7 };

static uint8_t flat[SPAN];

static int read_flat(void *context, uint64_t addr, void *bytes, size_t size)
{
    if (addr > SPAN || size > SPAN - addr)
        return -VSE_NOTFOUND;
    memcpy(bytes, (uint8_t *)context + addr, size);
    return 0;
}

/* L1: 2 ways by 2 sets. L2: 4 ways by 4 sets. */
static struct vs_hierarchy_config tiny(unsigned cores, bool check)
{
    struct vs_cache_config l1 = {4 * LINE, LINE, 2, VS_CACHE_LRU};
    return (struct vs_hierarchy_config){
        .cores = cores,
        .l1i = l1,
        .l1d = l1,
        .l2 = {16 * LINE, LINE, 4, VS_CACHE_LRU},
        .latency = {L1, L2, MEMORY, TRANSFER, UPGRADE},
        .check = check,
        .backing = read_flat,
        .context = flat,
    };
}

static struct vs_hierarchy make(unsigned cores, bool check)
{
    struct vs_hierarchy h;
    struct vs_diag diag = {0};
    struct vs_hierarchy_config config = tiny(cores, check);
    CHECK_EQ(vs_hierarchy_init(&h, &config, &diag), 0);
    return h;
}

/* ---- costs ----------------------------------------------------------------------------------- */

TEST(costs_what_the_levels_cost)
{
    struct vs_hierarchy h = make(2, false);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x40, 8), L1 + L2 + MEMORY);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x58, 8), L1);
    CHECK_EQ(vs_hierarchy_store(&h, 0, 0x44, 4), L1);
    CHECK_EQ(vs_hierarchy_load(&h, 1, 0x40, 4), L1 + TRANSFER);
    CHECK_EQ(vs_hierarchy_store(&h, 1, 0x40, 4), L1 + UPGRADE);
    CHECK_EQ(vs_hierarchy_store(&h, 0, 0x40, 4), L1 + TRANSFER);
    CHECK_EQ(vs_hierarchy_fetch(&h, 0, 0x60), L1 + L2 + MEMORY);
    CHECK_EQ(vs_hierarchy_fetch(&h, 0, 0x7e), L1);
    CHECK_EQ(vs_hierarchy_fetch(&h, 1, 0x60), L1 + L2);
    CHECK_EQ(vs_hierarchy_load(&h, 1, 0x60, 8), L1 + L2);
    CHECK_EQ(vs_hierarchy_fetch(&h, 1, 0x40), L1 + TRANSFER);
    CHECK_EQ(vs_moesi_state(&h.l1d, 0, 0x40), VS_MOESI_M);
    CHECK_EQ(vs_hierarchy_check(&h), 0);
    vs_hierarchy_fini(&h);
}

TEST(costs_one_more_for_each_line_that_an_access_spans)
{
    struct vs_hierarchy h = make(1, false);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x20, 8), L1 + L2 + MEMORY);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x3c, 8), L1 + L2 + MEMORY + 1);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x3c, 8), L1 + 1);
    CHECK_EQ(vs_hierarchy_store(&h, 0, 0x39, 8), L1 + 1);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x3c, 4), L1);
    CHECK_EQ(h.stats[0].spans, 3);
    CHECK_EQ(h.stats[0].loads, 6);
    CHECK_EQ(h.stats[0].load_misses, 2);
    CHECK_EQ(h.stats[0].stores, 2);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x20, 3 * LINE), L1 + L2 + MEMORY + 2);
    vs_hierarchy_fini(&h);
}

TEST(counts_what_happens)
{
    struct vs_hierarchy h = make(2, false);
    struct vs_hierarchy_stats *a = &h.stats[0], *b = &h.stats[1];
    vs_hierarchy_store(&h, 0, 0x40, 8); /* from memory */
    vs_hierarchy_load(&h, 1, 0x40, 8);  /* transfer */
    vs_hierarchy_store(&h, 0, 0x40, 8); /* upgrade: 1 loses it */
    vs_hierarchy_store(&h, 1, 0x40, 8); /* transfer: 0 loses it */
    vs_hierarchy_load(&h, 1, 0x80, 8);  /* the same set of the L1D */
    vs_hierarchy_load(&h, 1, 0xc0, 8);  /* 0x40 is written back */
    CHECK_EQ(a->stores, 2);
    CHECK_EQ(a->store_misses, 2);
    CHECK_EQ(a->upgrades, 1);
    CHECK_EQ(a->invalidations, 1);
    CHECK_EQ(a->transfers, 0);
    CHECK_EQ(a->l2_accesses, 1);
    CHECK_EQ(a->l2_misses, 1);
    CHECK_EQ(a->memory_reads, 1);
    CHECK_EQ(a->write_backs, 0);
    CHECK_EQ(b->loads, 3);
    CHECK_EQ(b->load_misses, 3);
    CHECK_EQ(b->stores, 1);
    CHECK_EQ(b->store_misses, 1);
    CHECK_EQ(b->upgrades, 0);
    CHECK_EQ(b->transfers, 2);
    CHECK_EQ(b->invalidations, 1);
    CHECK_EQ(b->write_backs, 1);
    CHECK_EQ(b->memory_reads, 2);
    CHECK_EQ(b->memory_writes, 0);
    CHECK_EQ(a->back_invalidations + b->back_invalidations, 0);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x40, 8), L1 + L2);
    vs_hierarchy_fini(&h);
}

/* ---- inclusion ------------------------------------------------------------------------------- */

TEST(takes_the_copies_above_along_when_the_l2_replaces)
{
    struct vs_hierarchy h = make(2, false);
    uint64_t stride = 4 * LINE; /* the same set of the L2 */
    vs_hierarchy_store(&h, 0, 0, 8);
    vs_hierarchy_fetch(&h, 1, 0);
    for (unsigned i = 1; i < 4; i++) {
        vs_hierarchy_load(&h, 1, i * stride, 8);
        CHECK_EQ(vs_hierarchy_load(&h, 0, 0, 8), L1);
    }
    CHECK_EQ(h.stats[0].back_invalidations, 0);
    vs_hierarchy_load(&h, 1, 4 * stride, 8);
    CHECK_EQ(h.stats[0].back_invalidations, 1);
    CHECK_EQ(h.stats[1].back_invalidations, 1);
    CHECK_EQ(h.stats[0].write_backs, 1);
    CHECK_EQ(h.stats[1].memory_writes, 1);
    CHECK_EQ(vs_moesi_state(&h.l1d, 0, 0), VS_MOESI_I);
    CHECK_EQ(vs_cache_find(&h.l1i[1], 0), VS_CACHE_NONE);
    CHECK_EQ(vs_hierarchy_check(&h), 0);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0, 8), L1 + L2 + MEMORY);
    vs_hierarchy_fini(&h);
}

TEST(writes_to_memory_what_was_written_back_before)
{
    struct vs_hierarchy h = make(1, false);
    uint64_t stride = 4 * LINE;
    vs_hierarchy_store(&h, 0, 0, 8);
    for (unsigned i = 1; i <= 3; i++)
        vs_hierarchy_load(&h, 0, i * stride, 8);
    CHECK_EQ(h.stats[0].write_backs, 1);
    CHECK_EQ(h.stats[0].memory_writes, 0);
    vs_hierarchy_load(&h, 0, 4 * stride, 8);
    CHECK_EQ(h.stats[0].memory_writes, 1);
    CHECK_EQ(h.stats[0].back_invalidations, 0);
    vs_hierarchy_load(&h, 0, 5 * stride, 8);
    CHECK_EQ(h.stats[0].memory_writes, 1);
    vs_hierarchy_fini(&h);
}

/* ---- fences and outside writes --------------------------------------------------------------- */

TEST(drops_instructions_at_a_fence)
{
    struct vs_hierarchy h = make(2, false);
    vs_hierarchy_fetch(&h, 0, 0);
    vs_hierarchy_fetch(&h, 1, 0);
    vs_hierarchy_store(&h, 1, 0, 4);
    CHECK_EQ(vs_hierarchy_fetch(&h, 0, 0), L1);
    vs_hierarchy_fence_i(&h, 0);
    CHECK_EQ(vs_hierarchy_fetch(&h, 0, 0), L1 + TRANSFER);
    CHECK_EQ(vs_hierarchy_fetch(&h, 1, 0), L1);
    vs_hierarchy_fini(&h);
}

static void fill_some(struct vs_hierarchy *h)
{
    vs_hierarchy_store(h, 0, 0x40, 8);
    vs_hierarchy_load(h, 1, 0x40, 8);
    vs_hierarchy_fetch(h, 1, 0x40);
    vs_hierarchy_load(h, 0, 0x60, 8);
}

TEST(drops_everywhere_what_something_outside_writes)
{
    struct vs_hierarchy h = make(2, false);
    fill_some(&h);
    CHECK_EQ(vs_hierarchy_outside(&h, 0x5f, 1), 0);
    CHECK_EQ(h.outside_writes, 1);
    CHECK_EQ(h.stats[0].invalidations, 1);
    CHECK_EQ(h.stats[1].invalidations, 2);
    CHECK_EQ(h.stats[0].write_backs, 1);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x60, 8), L1);
    CHECK_EQ(vs_hierarchy_fetch(&h, 1, 0x40), L1 + L2 + MEMORY);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x40, 8), L1 + L2);
    vs_hierarchy_fini(&h);
}

TEST(drops_large_ranges_and_nothing_beside_them)
{
    struct vs_hierarchy h = make(2, false);
    fill_some(&h);
    CHECK_EQ(vs_hierarchy_outside(&h, 0x60, UINT64_MAX - 0x60), 0);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x40, 8), L1);
    CHECK_EQ(vs_hierarchy_load(&h, 0, 0x60, 8), L1 + L2 + MEMORY);
    CHECK_EQ(vs_hierarchy_outside(&h, 0, 0), 0);
    CHECK_EQ(vs_hierarchy_outside(&h, 0, UINT64_MAX), 0);
    CHECK_EQ(h.l2.used, 0);
    CHECK_EQ(h.l1d.core[0].cache.used + h.l1d.core[1].cache.used + h.l1i[1].used, 0);
    vs_hierarchy_fini(&h);
}

/* ---- checking -------------------------------------------------------------------------------- */

static void put(struct vs_hierarchy *h, unsigned core, uint64_t addr, uint64_t value, unsigned size)
{
    CHECK(vs_hierarchy_store_checked(h, core, addr, size, &value) > 0);
    memcpy(flat + addr, &value, size);
}

static int get(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size)
{
    return vs_hierarchy_load_checked(h, core, addr, size, flat + addr);
}

TEST(finds_a_byte_that_changed)
{
    struct vs_hierarchy h = make(4, true);
    put(&h, 2, 0x48, 0x1122334455667788, 8);
    CHECK_EQ(get(&h, 2, 0x48, 8), L1);
    vs_moesi_bytes(&h.l1d, 2, vs_cache_find(&h.l1d.core[2].cache, 0x40))[9] ^= 0x80;
    CHECK_EQ(get(&h, 2, 0x4a, 2), L1);
    CHECK_ERR(get(&h, 2, 0x48, 8), VSE_INTERNAL);
    CHECK_STR(h.diag.text, "core 2 loads 8 bytes at 0x48: expected 8877665544332211, "
                           "got 88f7665544332211");
    CHECK_ERR(get(&h, 3, 0x48, 8), VSE_INTERNAL);
    CHECK_HAS(h.diag.text, "core 3 loads");
    vs_hierarchy_fini(&h);
}

static struct vs_hierarchy shared_line(void)
{
    struct vs_hierarchy h = make(4, true);
    put(&h, 0, 0x40, 5, 8);
    CHECK_EQ(get(&h, 1, 0x40, 8), L1 + TRANSFER);
    CHECK_EQ(get(&h, 2, 0x40, 8), L1 + TRANSFER);
    return h;
}

static void check_found(struct vs_hierarchy *h, const char *phrase)
{
    CHECK_ERR(get(h, 1, 0x40, 8), VSE_INTERNAL);
    CHECK_HAS(h->diag.text, phrase);
    CHECK_ERR(vs_hierarchy_check(h), VSE_INTERNAL);
    vs_hierarchy_fini(h);
}

TEST(finds_a_state_that_changed)
{
    struct vs_hierarchy h = shared_line();
    h.l1d.core[2].states[vs_cache_find(&h.l1d.core[2].cache, 0x40)] = VS_MOESI_M;
    check_found(&h, "modified copy is not alone");
}

TEST(finds_another_cores_copy_that_changed)
{
    struct vs_hierarchy h = shared_line();
    vs_moesi_bytes(&h.l1d, 2, vs_cache_find(&h.l1d.core[2].cache, 0x40))[31] ^= 1;
    check_found(&h, "copies differ");
}

TEST(finds_a_line_that_is_not_in_the_l2)
{
    struct vs_hierarchy h = shared_line();
    vs_cache_drop(&h.l2, vs_cache_find(&h.l2, 0x40));
    check_found(&h, "L1D and not in the L2");
}

TEST(finds_an_owner_that_forgot_it)
{
    struct vs_hierarchy h = shared_line();
    h.l1d.core[0].states[vs_cache_find(&h.l1d.core[0].cache, 0x40)] = VS_MOESI_S;
    check_found(&h, "clean in an L1D, and not what the L2 holds");
}

TEST(finds_an_l2_that_lost_a_dirty_bit)
{
    struct vs_hierarchy h = make(1, true);
    put(&h, 0, 0x40, 5, 8);
    CHECK(get(&h, 0, 0x80, 8) > 0 && get(&h, 0, 0xc0, 8) > 0);
    CHECK_EQ(vs_hierarchy_check(&h), 0);
    h.l2_dirty[vs_cache_find(&h.l2, 0x40)] = 0;
    CHECK_ERR(get(&h, 0, 0x40, 8), VSE_INTERNAL);
    CHECK_HAS(h.diag.text, "clean in the L2");
    vs_hierarchy_fini(&h);
}

TEST(finds_an_outside_write_that_nobody_told)
{
    struct vs_hierarchy h = shared_line();
    flat[0x41] = 9;
    CHECK_ERR(get(&h, 1, 0x40, 8), VSE_INTERNAL);
    flat[0x40] = 1;
    CHECK_EQ(vs_hierarchy_outside(&h, 0x40, 2), 0);
    CHECK_EQ(get(&h, 1, 0x40, 8), L1 + L2 + MEMORY);
    CHECK_EQ(get(&h, 0, 0x40, 8), L1 + TRANSFER);
    vs_hierarchy_fini(&h);
}

TEST(hands_on_that_memory_is_not_known)
{
    struct vs_hierarchy h = make(2, true);
    uint64_t value = 1;
    CHECK_ERR(vs_hierarchy_load_checked(&h, 0, SPAN, 8, &value), VSE_NOTFOUND);
    CHECK_HAS(h.diag.text, "0x1000");
    CHECK_ERR(vs_hierarchy_store_checked(&h, 1, SPAN, 8, &value), VSE_NOTFOUND);
    CHECK_ERR(vs_hierarchy_fetch(&h, 1, SPAN), VSE_NOTFOUND);
    CHECK_EQ(vs_hierarchy_check(&h), 0);
    CHECK_EQ(h.l2.used, 0);
    CHECK_EQ(get(&h, 0, 0, 8), L1 + L2 + MEMORY);
    vs_hierarchy_fini(&h);
}

/* ---- stress ---------------------------------------------------------------------------------- */

struct counts {
    unsigned compared, stored, outside;
};

static void step(struct vs_hierarchy *h, struct rng *r, struct counts *n)
{
    unsigned core = (unsigned)rng_below(r, h->config.cores);
    unsigned size = rng_below(r, 50) ? 1u << rng_below(r, 4) : 1 + (unsigned)rng_below(r, 100);
    uint64_t addr = rng_below(r, rng_below(r, 2) ? 8 * LINE : SPAN - size);
    unsigned choice = (unsigned)rng_below(r, 64);
    uint8_t bytes[100];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)rng_next(r);
    if (!choice) {
        memcpy(flat + addr, bytes, size);
        CHECK_EQ(vs_hierarchy_outside(h, addr, size), 0);
        n->outside++;
    } else if (choice == 1) {
        vs_hierarchy_fence_i(h, core);
    } else if (choice < 12) {
        CHECK(vs_hierarchy_fetch(h, core, addr) >= L1);
    } else if (choice < 36) {
        CHECK(vs_hierarchy_store_checked(h, core, addr, size, bytes) >= L1);
        memcpy(flat + addr, bytes, size);
        n->stored++;
    } else {
        int cost = get(h, core, addr, size);
        if (cost < L1)
            unittest_fail(__FILE__, __LINE__, "%s", h->diag.text);
        n->compared++;
    }
}

static struct vs_hierarchy_stats total(const struct vs_hierarchy *h)
{
    struct vs_hierarchy_stats t = {0};
    for (unsigned i = 0; i < h->config.cores; i++) {
        t.load_misses += h->stats[i].load_misses;
        t.store_misses += h->stats[i].store_misses;
        t.fetch_misses += h->stats[i].fetch_misses;
        t.upgrades += h->stats[i].upgrades;
        t.transfers += h->stats[i].transfers;
        t.l2_accesses += h->stats[i].l2_accesses;
        t.l2_misses += h->stats[i].l2_misses;
        t.back_invalidations += h->stats[i].back_invalidations;
        t.write_backs += h->stats[i].write_backs;
        t.memory_reads += h->stats[i].memory_reads;
        t.memory_writes += h->stats[i].memory_writes;
    }
    return t;
}

static void stress(unsigned cores, enum vs_cache_policy policy, unsigned steps)
{
    struct vs_hierarchy_config config = tiny(cores, true);
    struct vs_hierarchy h;
    struct rng r = rng_init(cores + 100 * (unsigned)policy);
    struct counts n = {0};
    config.l1d.policy = config.l1i.policy = config.l2.policy = policy;
    if (policy == VS_CACHE_FIFO)
        config.l1d.ways = 4; /* fully associative */
    CHECK_EQ(vs_hierarchy_init(&h, &config, NULL), 0);
    for (unsigned i = 0; i < steps; i++) {
        step(&h, &r, &n);
        if (i % 64 == 0)
            CHECK_EQ(vs_hierarchy_check(&h), 0);
    }
    struct vs_hierarchy_stats t = total(&h);
    CHECK(n.compared > steps / 3 && n.stored > steps / 4 && n.outside > steps / 100);
    CHECK(t.upgrades > 100 && t.transfers > 100 && t.back_invalidations > 100);
    CHECK(t.write_backs > 100 && t.memory_writes > 100);
    /* Every miss is supplied once. */
    CHECK_EQ(t.load_misses + t.store_misses + t.fetch_misses,
             t.upgrades + t.transfers + t.l2_accesses);
    CHECK_EQ(t.l2_misses, t.memory_reads);
    vs_hierarchy_fini(&h);
}

TEST(loads_what_was_stored_last_by_any_of_4_cores)
{
    for (int policy = 0; policy < VS_CACHE_POLICIES; policy++)
        stress(4, (enum vs_cache_policy)policy, 60000);
}

TEST(loads_what_was_stored_last_by_any_of_64_cores)
{
    stress(64, VS_CACHE_LRU, 60000);
}

TEST(costs_the_same_with_and_without_checking)
{
    struct vs_hierarchy a = make(4, true), b = make(4, false);
    struct rng r = rng_init(3);
    for (unsigned i = 0; i < 50000; i++) {
        unsigned core = (unsigned)rng_below(&r, 4), size = 1u << rng_below(&r, 4);
        uint64_t addr = rng_below(&r, 32 * LINE), value = rng_next(&r);
        if (rng_below(&r, 3)) {
            CHECK_EQ(get(&a, core, addr, size), vs_hierarchy_load(&b, core, addr, size));
        } else {
            CHECK_EQ(vs_hierarchy_store_checked(&a, core, addr, size, &value),
                     vs_hierarchy_store(&b, core, addr, size));
            memcpy(flat + addr, &value, size);
        }
    }
    CHECK_MEM(a.stats, b.stats, 4 * sizeof(*a.stats));
    vs_hierarchy_fini(&a);
    vs_hierarchy_fini(&b);
}

/* ---- configurations -------------------------------------------------------------------------- */

static void check_refused(struct vs_hierarchy_config config, const char *why)
{
    struct vs_hierarchy h;
    struct vs_diag diag = {0};
    CHECK_ERR(vs_hierarchy_init(&h, &config, &diag), VSE_INVAL);
    CHECK_HAS(diag.text, why);
    vs_hierarchy_fini(&h);
}

TEST(refuses_impossible_configurations)
{
    struct vs_hierarchy_config c = tiny(0, false);
    check_refused(c, "0 cores");
    c = tiny(65, false);
    check_refused(c, "65 cores");
    c = tiny(2, false);
    c.l1d.line = 16;
    check_refused(c, "lines of 32 (L1I), 16 (L1D) and 32 bytes (L2): must be equal");
    c = tiny(2, false);
    c.l1i.ways = 0;
    check_refused(c, "L1I: a cache of 0 ways");
    c = tiny(2, false);
    c.l2.size = 1000;
    check_refused(c, "L2: a cache of 1000 bytes");
    c = tiny(2, false);
    c.latency.memory = VS_HIERARCHY_LATENCY_MAX + 1;
    check_refused(c, "latency");
    c = tiny(2, true);
    c.backing = NULL;
    check_refused(c, "what memory holds");
}

TEST(refuses_to_check_what_it_cannot)
{
    struct vs_hierarchy h = make(1, false);
    uint64_t value = 0;
    CHECK_ERR(vs_hierarchy_load_checked(&h, 0, 0, 8, &value), VSE_INVAL);
    CHECK_ERR(vs_hierarchy_store_checked(&h, 0, 0, 8, &value), VSE_INVAL);
    vs_hierarchy_fini(&h);
    h = make(1, true);
    CHECK_ERR(vs_hierarchy_store(&h, 0, 0, 8), VSE_INVAL);
    vs_hierarchy_fini(&h);
}
