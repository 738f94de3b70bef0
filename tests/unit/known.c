/* SPDX-License-Identifier: MIT */
#include "model/known.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

static struct vs_known make(const struct vs_known_config *config)
{
    struct vs_known k;
    struct vs_diag diag = {0};
    CHECK_EQ(vs_known_init(&k, config, &diag), 0);
    return k;
}

/* ---- a plain model --------------------------------------------------------------------------- */

/* Entries in a list, each with a byte for every part; a set is whatever has the same number of a
 * set, found bit by bit. */
enum { ENTRIES_MAX = 64, PARTS_MAX = 128 };

struct entry {
    bool used;
    uint64_t number, last_use;
    uint8_t known[PARTS_MAX];
};

struct table {
    uint32_t entries, ways, parts;
    struct entry e[ENTRIES_MAX];
};

struct plain {
    struct table k, r;
    uint64_t line, page, region, time;
};

static struct plain plain_make(const struct vs_known_config *c)
{
    struct plain p = {.line = c->line, .page = c->page, .region = c->region};
    p.k.entries = c->k_entries;
    p.k.ways = c->k_ways;
    p.k.parts = c->page / c->line;
    p.r.entries = c->r_entries;
    p.r.ways = c->r_ways;
    p.r.parts = c->region / c->page;
    CHECK(p.k.entries <= ENTRIES_MAX && p.r.entries <= ENTRIES_MAX);
    CHECK(p.k.parts <= PARTS_MAX && p.r.parts <= PARTS_MAX);
    return p;
}

static uint32_t set_of(const struct table *t, uint64_t number)
{
    uint32_t sets = t->entries / t->ways, set = 0, bits = 0;
    while (1u << bits < sets)
        bits++;
    for (unsigned i = 0; bits && i < 64; i++)
        set ^= (uint32_t)(number >> i & 1) << i % bits;
    return set;
}

static struct entry *lookup(struct table *t, uint64_t number)
{
    for (uint32_t i = 0; i < t->entries; i++)
        if (t->e[i].used && t->e[i].number == number)
            return &t->e[i];
    return NULL;
}

static struct entry *plain_provide(struct plain *p, struct table *t, uint64_t number)
{
    struct entry *e = lookup(t, number), *free = NULL, *oldest = NULL;
    uint32_t same = 0;
    for (uint32_t i = 0; !e && i < t->entries; i++) {
        struct entry *other = &t->e[i];
        if (!other->used) {
            free = other;
        } else if (set_of(t, other->number) == set_of(t, number)) {
            same++;
            if (!oldest || other->last_use < oldest->last_use)
                oldest = other;
        }
    }
    if (!e) {
        e = same < t->ways ? free : oldest;
        *e = (struct entry){.used = true, .number = number};
    }
    e->last_use = ++p->time;
    return e;
}

static bool plain_line(struct plain *p, uint64_t addr)
{
    struct entry *e = lookup(&p->k, addr / p->page);
    if (e) {
        e->last_use = ++p->time;
        return e->known[addr % p->page / p->line];
    }
    e = lookup(&p->r, addr / p->region);
    if (e)
        e->last_use = ++p->time;
    return e && e->known[addr % p->region / p->page];
}

static bool in_r(struct plain *p, uint64_t addr)
{
    struct entry *e = lookup(&p->r, addr / p->region);
    return e && e->known[addr % p->region / p->page];
}

static void plain_set_line(struct plain *p, uint64_t addr)
{
    struct entry *e = lookup(&p->r, addr / p->region);
    if (!p->k.entries)
        return;
    if (e)
        e->last_use = ++p->time;
    if (!in_r(p, addr))
        plain_provide(p, &p->k, addr / p->page)->known[addr % p->page / p->line] = 1;
}

static unsigned plain_count(struct plain *p, uint64_t addr)
{
    struct entry *e = lookup(&p->k, addr / p->page);
    unsigned count = 0;
    for (uint32_t i = 0; e && i < p->k.parts; i++)
        count += e->known[i];
    return count;
}

static void plain_set_page(struct plain *p, uint64_t addr)
{
    struct entry *e = lookup(&p->k, addr / p->page);
    if (p->r.entries) {
        if (e)
            e->used = false;
        plain_provide(p, &p->r, addr / p->region)->known[addr % p->region / p->page] = 1;
    } else if (p->k.entries) {
        memset(plain_provide(p, &p->k, addr / p->page)->known, 1, p->k.parts);
    }
}

static void free_empty(struct table *t)
{
    static const uint8_t none[PARTS_MAX];
    for (uint32_t i = 0; i < t->entries; i++)
        if (!memcmp(t->e[i].known, none, t->parts))
            t->e[i].used = false;
}

/* Line by line, as none of the tables' shortcuts would do it. */
static void plain_forget(struct plain *p, uint64_t addr, uint64_t size)
{
    for (uint64_t done = 0, at = addr; done < size; at++, done++) {
        uint64_t start = at - at % p->page;
        bool whole = start - addr < size && start + (p->page - 1) - addr < size &&
                     start + (p->page - 1) - addr >= start - addr;
        if (in_r(p, at)) {
            lookup(&p->r, at / p->region)->known[at % p->region / p->page] = 0;
            if (!whole && p->k.entries)
                memset(plain_provide(p, &p->k, at / p->page)->known, 1, p->k.parts);
        }
        struct entry *e = lookup(&p->k, at / p->page);
        if (e)
            e->known[at % p->page / p->line] = 0;
        if (at % p->page == p->page - 1 || done == size - 1) {
            free_empty(&p->k);
            free_empty(&p->r);
        }
    }
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Addresses of a few pages, on both sides of the place where they wrap around. */
static uint64_t any_address(struct rng *rng, const struct vs_known_config *c)
{
    return rng_below(rng, 4 * c->region) - 2 * c->region;
}

static uint64_t any_size(struct rng *rng, const struct vs_known_config *c)
{
    static const unsigned shares[] = {0, 4, 1, 2};
    unsigned share = shares[rng_below(rng, 4)];
    return share ? rng_below(rng, share * c->page) : 1 + rng_below(rng, c->line);
}

static void check_alike(struct vs_known *k, struct plain *p, uint64_t addr)
{
    CHECK_EQ(vs_known_count(k, addr), plain_count(p, addr));
    bool has = vs_known_has(k, addr);
    CHECK_EQ(has, plain_line(p, addr));
    CHECK_EQ(vs_known_line(k, addr), has);
}

static void run_both(const struct vs_known_config *c, uint64_t seed)
{
    struct vs_known k = make(c);
    struct plain p = plain_make(c);
    struct rng rng = rng_init(seed);
    for (unsigned n = 0; n < 20000; n++) {
        uint64_t addr = any_address(&rng, c), size = any_size(&rng, c),
                 what = rng_below(&rng, 2000);
        if (what < 1000) {
            vs_known_set_line(&k, addr);
            plain_set_line(&p, addr);
        } else if (what < 1200) {
            vs_known_set_page(&k, addr);
            plain_set_page(&p, addr);
        } else if (what < 1400) {
            vs_known_forget(&k, addr, size);
            plain_forget(&p, addr, size);
        } else if (!what) {
            vs_known_clear(&k);
            p = plain_make(c);
        }
        check_alike(&k, &p, addr);
        check_alike(&k, &p, any_address(&rng, c));
    }
    vs_known_fini(&k);
}

TEST(agrees_with_a_plain_reference)
{
    static const struct vs_known_config configs[] = {
        {8, 2, 4, 2, 16, 256, 2048}, {16, 8, 8, 8, 32, 256, 1024}, {4, 4, 0, 0, 16, 256, 2048},
        {0, 0, 4, 1, 64, 256, 1024}, {12, 3, 3, 3, 4, 512, 4096},  {64, 8, 16, 8, 64, 128, 1024},
        {0, 0, 0, 0, 64, 256, 1024}, {4, 1, 4, 4, 64, 64, 64},     {48, 48, 2, 2, 16, 128, 16384},
    };
    for (unsigned i = 0; i < sizeof(configs) / sizeof(*configs); i++)
        run_both(&configs[i], i);
}

TEST(keeps_the_other_lines_of_a_page_that_is_written_in_part)
{
    struct vs_known k = make(&(struct vs_known_config){.k_entries = 8, .r_entries = 8, .line = 64});
    vs_known_set_page(&k, 0x5000);
    CHECK_EQ(vs_known_count(&k, 0x5000), 0);
    CHECK(vs_known_line(&k, 0x5fff) && !vs_known_line(&k, 0x6000));
    vs_known_forget(&k, 0x507f, 2);
    CHECK_EQ(vs_known_count(&k, 0x5000), 62);
    CHECK(vs_known_line(&k, 0x5000) && !vs_known_line(&k, 0x5040) && !vs_known_line(&k, 0x5080));
    CHECK(vs_known_line(&k, 0x50c0));
    vs_known_fini(&k);
}

/* Whole pages of a mapping go without a trace, however many there are. */
TEST(forgets_a_mapping_of_all_sizes)
{
    struct vs_known k = make(&(struct vs_known_config){.k_entries = 8, .r_entries = 8, .line = 64});
    for (unsigned pages = 1; pages < 1u << 20; pages *= 4) {
        uint64_t addr = UINT64_C(0x7f0000000000), size = (uint64_t)pages * VS_KNOWN_PAGE;
        vs_known_set_page(&k, addr - 1);
        vs_known_set_page(&k, addr);
        vs_known_set_line(&k, addr + size - 1);
        vs_known_set_line(&k, addr + size);
        vs_known_forget(&k, addr, size);
        CHECK(vs_known_line(&k, addr - 1) && vs_known_line(&k, addr + size));
        CHECK(!vs_known_line(&k, addr) && !vs_known_line(&k, addr + size - 1));
        CHECK_EQ(vs_known_count(&k, addr), 0);
        vs_known_clear(&k);
        CHECK(!vs_known_line(&k, addr - 1));
    }
    vs_known_fini(&k);
}

/* 64 entries in 8 sets: a page has 64 lines of 64 bytes, and its tag lacks 12 + 3 bits. A region
 * has 64 pages, and its tag lacks 18 + 3. */
TEST(costs_vectors_tags_and_ranks)
{
    const struct vs_known_config c = {.k_entries = 64, .r_entries = 64, .line = 64};
    struct vs_cost cost = vs_known_cost(&c, 48);
    CHECK_EQ(cost.sram, 64 * (64 + 33 + 3) + 64 * (64 + 27 + 3));
    CHECK_EQ(cost.comparators, 8 * 33 + 8 * 27);
    CHECK_EQ(cost.cam + cost.registers + cost.tristate, 0);
    CHECK_EQ(vs_cost_storage(vs_known_cost(&(struct vs_known_config){.line = 64}, 48)), 0);
}

TEST(refuses_other_shapes)
{
    static const struct vs_known_config configs[] = {
        {.k_entries = 24, .k_ways = 8, .line = 64},
        {.r_entries = 12, .line = 64},
        {.k_entries = 4, .k_ways = 8, .line = 64},
        {.line = 0},
        {.line = 48},
        {.line = 2},
        {.line = 64, .page = 32},
        {.line = 64, .page = 3000},
        {.line = 64, .page = 4096, .region = 2048},
        {.line = 64, .region = 300000},
        {.k_entries = 1u << 25, .k_ways = 8, .line = 64},
    };
    for (unsigned i = 0; i < sizeof(configs) / sizeof(*configs); i++) {
        struct vs_known k;
        struct vs_diag diag = {0};
        CHECK_ERR(vs_known_init(&k, &configs[i], &diag), VSE_INVAL);
        CHECK_EQ(diag.error, -VSE_INVAL);
        CHECK(diag.text[0]);
    }
}
