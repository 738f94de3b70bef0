/* SPDX-License-Identifier: MIT */
#include "model/cache.h"

#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "unittest.h"

static struct vs_cache make(uint64_t size, uint32_t line, uint32_t ways,
                            enum vs_cache_policy policy)
{
    struct vs_cache c;
    struct vs_diag diag = {0};
    struct vs_cache_config config = {size, line, ways, policy};
    CHECK_EQ(vs_cache_init(&c, &config, &diag), 0);
    return c;
}

/* An access by the rules of the header. Returns whether it hit; the index goes to *index. */
static bool access_line(struct vs_cache *c, uint64_t addr, uint32_t *index)
{
    uint64_t line = vs_cache_line(c, addr);
    *index = vs_cache_find(c, line);
    if (*index != VS_CACHE_NONE) {
        vs_cache_touch(c, *index);
        return true;
    }
    *index = vs_cache_victim(c, line);
    vs_cache_place(c, *index, line);
    return false;
}

/* ---- a plain model --------------------------------------------------------------------------- */

/* Everything is looked for, nothing is linked: times for lru and fifo, and for plru the times at
 * which each half of each subtree was used last, since a node points to the half used earlier. */
struct plain {
    uint32_t sets, ways, line;
    enum vs_cache_policy policy;
    uint64_t time;
    uint64_t *line_at; /* VS_CACHE_FREE: none */
    uint64_t *placed_at, *used_at;
    uint32_t *next; /* by set */
};

static struct plain plain_make(const struct vs_cache_config *g)
{
    struct plain p = {.ways = g->ways, .line = g->line, .policy = g->policy};
    size_t lines = g->size / g->line;
    p.sets = (uint32_t)(lines / g->ways);
    p.line_at = malloc(lines * sizeof(*p.line_at));
    p.placed_at = calloc(lines, sizeof(*p.placed_at));
    p.used_at = calloc(lines, sizeof(*p.used_at));
    p.next = malloc(p.sets * sizeof(*p.next));
    CHECK(p.line_at && p.placed_at && p.used_at && p.next);
    for (size_t i = 0; i < lines; i++)
        p.line_at[i] = VS_CACHE_FREE;
    for (uint32_t s = 0; s < p.sets; s++)
        p.next[s] = p.ways - 1;
    return p;
}

static void plain_free(struct plain *p)
{
    free(p->line_at);
    free(p->placed_at);
    free(p->used_at);
    free(p->next);
}

static uint64_t last_use(const uint64_t *used, uint32_t from, uint32_t count)
{
    uint64_t last = 0;
    for (uint32_t i = from; i < from + count; i++)
        if (used[i] > last)
            last = used[i];
    return last;
}

/* used_at outlives the line, as the bits of the tree do. */
static uint32_t plain_tree_victim(const uint64_t *used, uint32_t ways)
{
    uint32_t from = 0;
    for (uint32_t half = ways / 2; half; half /= 2)
        if (last_use(used, from, half) > last_use(used, from + half, half))
            from += half;
    return from;
}

static uint32_t plain_victim(const struct plain *p, uint32_t set)
{
    uint32_t first = set * p->ways;
    for (uint32_t way = p->ways; way-- > 0;)
        if (p->line_at[first + way] == VS_CACHE_FREE)
            return first + way;
    if (p->policy == VS_CACHE_ROUND_ROBIN)
        return first + p->next[set];
    if (p->policy == VS_CACHE_PLRU)
        return first + plain_tree_victim(p->used_at + first, p->ways);
    const uint64_t *time = p->policy == VS_CACHE_LRU ? p->used_at : p->placed_at;
    uint32_t least = first;
    for (uint32_t i = first; i < first + p->ways; i++)
        if (time[i] < time[least])
            least = i;
    return least;
}

static bool plain_access(struct plain *p, uint64_t addr, uint32_t *index)
{
    uint64_t line = addr / p->line * p->line;
    uint32_t set = (uint32_t)(addr / p->line % p->sets);
    p->time++;
    for (uint32_t way = 0; way < p->ways; way++) {
        *index = set * p->ways + way;
        if (p->line_at[*index] == line) {
            p->used_at[*index] = p->time;
            return true;
        }
    }
    *index = plain_victim(p, set);
    p->line_at[*index] = line;
    p->used_at[*index] = p->placed_at[*index] = p->time;
    if (*index % p->ways == p->next[set])
        p->next[set] = (p->next[set] + p->ways - 1) % p->ways;
    return false;
}

/* Addresses with reuse: mostly near the last ones, sometimes anywhere. */
static uint64_t some_address(struct rng *r, uint64_t size)
{
    uint64_t spread = rng_below(r, 4) ? size : 4 * size;
    return UINT64_C(0x7fff00000000) + rng_below(r, spread);
}

static void compare_with_plain(const struct vs_cache_config *g, unsigned accesses)
{
    struct vs_cache c = make(g->size, g->line, g->ways, g->policy);
    struct plain p = plain_make(g);
    struct rng r = rng_init(g->size + g->ways + (unsigned)g->policy);
    uint32_t mine, its;
    unsigned hits = 0;
    for (unsigned n = 0; n < accesses; n++) {
        if (!rng_below(&r, 16)) {
            uint32_t gone = (uint32_t)rng_below(&r, c.lines);
            vs_cache_drop(&c, gone);
            p.line_at[gone] = VS_CACHE_FREE;
        }
        uint64_t addr = some_address(&r, g->size);
        bool hit = plain_access(&p, addr, &its);
        CHECK_EQ(access_line(&c, addr, &mine), hit);
        CHECK_EQ(mine, its);
        hits += hit;
    }
    CHECK(hits > accesses / 10 && hits < accesses);
    CHECK_MEM(c.tags, p.line_at, c.lines * sizeof(*c.tags));
    uint32_t used = 0;
    for (uint32_t i = 0; i < c.lines; i++)
        used += p.line_at[i] != VS_CACHE_FREE;
    CHECK_EQ(c.used, used);
    plain_free(&p);
    vs_cache_fini(&c);
}

TEST(agrees_with_a_plain_model_for_every_policy)
{
    static const struct vs_cache_config shapes[] = {
        {.size = 1024, .line = 32, .ways = 1},  {.size = 1024, .line = 16, .ways = 2},
        {.size = 4096, .line = 32, .ways = 4},  {.size = 4096, .line = 64, .ways = 8},
        {.size = 2048, .line = 4, .ways = 16},  {.size = 8192, .line = 64, .ways = 32},
        {.size = 8192, .line = 32, .ways = 64}, {.size = 4096, .line = 32, .ways = 128},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (int policy = 0; policy < VS_CACHE_POLICIES; policy++) {
            struct vs_cache_config g = shapes[i];
            g.policy = (enum vs_cache_policy)policy;
            compare_with_plain(&g, 20000);
        }
}

TEST(agrees_with_a_plain_model_for_odd_ways)
{
    static const struct vs_cache_config shapes[] = {
        {.size = 3 * 16 * 8, .line = 16, .ways = 3},
        {.size = 7 * 32 * 4, .line = 32, .ways = 7},
        {.size = 33 * 32 * 2, .line = 32, .ways = 33},
        {.size = 100 * 64, .line = 64, .ways = 100},
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
        for (int policy = VS_CACHE_LRU; policy <= VS_CACHE_FIFO; policy++) {
            struct vs_cache_config g = shapes[i];
            g.policy = (enum vs_cache_policy)policy;
            compare_with_plain(&g, 20000);
        }
}

/* ---- properties ------------------------------------------------------------------------------ */

static unsigned misses(struct vs_cache *c, uint64_t (*address)(struct rng *, unsigned),
                       unsigned accesses)
{
    struct rng r = rng_init(7);
    unsigned missed = 0;
    uint32_t index;
    vs_cache_clear(c);
    for (unsigned n = 0; n < accesses; n++)
        missed += !access_line(c, address(&r, n), &index);
    return missed;
}

static uint64_t random_stream(struct rng *r, unsigned n)
{
    (void)n;
    return rng_below(r, 256) * rng_below(r, 256);
}

static uint64_t looping_stream(struct rng *r, unsigned n)
{
    (void)r;
    return n % 300 * 16;
}

static uint64_t nested_stream(struct rng *r, unsigned n)
{
    return rng_below(r, 3) ? n % 40 * 16 : n / 40 % 500 * 16;
}

TEST(misses_no_more_in_a_larger_fully_associative_lru_cache)
{
    uint64_t (*const streams[])(struct rng *, unsigned) = {random_stream, looping_stream,
                                                           nested_stream};
    for (size_t s = 0; s < sizeof(streams) / sizeof(*streams); s++) {
        unsigned before = UINT32_MAX, first = 0, last = 0;
        for (uint32_t lines = 1; lines <= 512; lines = lines * 3 / 2 + 1) {
            struct vs_cache c = make(UINT64_C(16) * lines, 16, lines, VS_CACHE_LRU);
            last = misses(&c, streams[s], 30000);
            CHECK(last <= before);
            before = last;
            if (!first)
                first = last;
            vs_cache_fini(&c);
        }
        CHECK(last < first);
    }
}

TEST(misses_always_in_a_loop_longer_than_lru_holds)
{
    struct vs_cache c = make(16 * 299, 16, 299, VS_CACHE_LRU);
    CHECK_EQ(misses(&c, looping_stream, 30000), 30000);
    vs_cache_fini(&c);
    c = make(16 * 300, 16, 300, VS_CACHE_LRU);
    CHECK_EQ(misses(&c, looping_stream, 30000), 300);
    vs_cache_fini(&c);
}

TEST(holds_what_a_large_fully_associative_cache_can)
{
    struct vs_cache c = make(UINT64_C(65536) * 64, 64, 65536, VS_CACHE_LRU);
    uint32_t index;
    for (uint64_t n = 0; n < 65536; n++)
        CHECK(!access_line(&c, n * 4096, &index));
    for (uint64_t n = 0; n < 65536; n++)
        CHECK(access_line(&c, n * 4096, &index));
    CHECK_EQ(c.used, 65536);
    CHECK(!access_line(&c, UINT64_C(1) << 40, &index));
    CHECK_EQ(vs_cache_find(&c, 0), VS_CACHE_NONE);
    CHECK(vs_cache_find(&c, 4096) != VS_CACHE_NONE);
    vs_cache_fini(&c);
}

/* ---- round robin ----------------------------------------------------------------------------- */

struct step {
    uint64_t addr;
    bool hit;
    uint32_t way;
};

static void follow(struct vs_cache *c, const struct step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t index;
        CHECK_EQ(access_line(c, steps[i].addr, &index), steps[i].hit);
        CHECK_EQ(index % c->ways, steps[i].way);
    }
}

#define FOLLOW(c, steps) follow(c, steps, sizeof(steps) / sizeof(*(steps)))

TEST(goes_round_from_the_highest_way)
{
    static const struct step steps[] = {
        {0x80, 0, 1}, {0x50, 0, 0}, {0x54, 1, 0}, {0x58, 1, 0}, {0x5c, 1, 0}, {0x60, 0, 1},
        {0x64, 1, 1}, {0x68, 1, 1}, {0x6c, 1, 1}, {0x70, 0, 0}, {0x80, 0, 1}, {0x88, 1, 1},
    };
    struct vs_cache c = make(32, 16, 2, VS_CACHE_ROUND_ROBIN);
    FOLLOW(&c, steps);
    vs_cache_fini(&c);
}

TEST(goes_round_over_operands_that_span_lines)
{
    static const struct step steps[] = {
        {0x80, 0, 1}, {0x78, 0, 0}, {0x70, 1, 0}, {0x68, 0, 1}, {0x60, 1, 1}, {0x78, 1, 0},
        {0x70, 1, 0}, {0x68, 1, 1}, {0x60, 1, 1}, {0x40, 0, 0}, {0x50, 0, 1}, {0x40, 1, 0},
        {0x50, 1, 1}, {0x20, 0, 0}, {0x40, 0, 1}, {0x50, 0, 0},
    };
    struct vs_cache c = make(32, 16, 2, VS_CACHE_ROUND_ROBIN);
    FOLLOW(&c, steps);
    vs_cache_fini(&c);
}

TEST(leaves_the_pointer_where_another_way_is_filled)
{
    static const struct step filling[] = {
        {0x00, 0, 3}, {0x10, 0, 2}, {0x20, 0, 1}, {0x30, 0, 0}, {0x40, 0, 3}};
    static const struct step after[] = {{0x50, 0, 0}, {0x60, 0, 2}, {0x70, 0, 1}, {0x80, 0, 0}};
    struct vs_cache c = make(64, 16, 4, VS_CACHE_ROUND_ROBIN);
    FOLLOW(&c, filling);
    vs_cache_drop(&c, 0);
    FOLLOW(&c, after);
    vs_cache_fini(&c);
}

/* ---- the rest -------------------------------------------------------------------------------- */

TEST(replaces_by_the_tree_not_by_the_oldest)
{
    /* After 3 2 1 0 and uses of 3 and 1, the root points to the upper half, and in it to 2. */
    static const struct step steps[] = {{0x00, 0, 3}, {0x10, 0, 2}, {0x20, 0, 1}, {0x30, 0, 0},
                                        {0x00, 1, 3}, {0x20, 1, 1}, {0x40, 0, 2}, {0x50, 0, 0}};
    struct vs_cache c = make(64, 16, 4, VS_CACHE_PLRU);
    FOLLOW(&c, steps);
    vs_cache_fini(&c);
}

TEST(frees_on_drop_and_clear)
{
    struct vs_cache c = make(4096, 32, 4, VS_CACHE_LRU);
    uint32_t a, b;
    access_line(&c, 0x1000, &a);
    access_line(&c, 0x2000, &b);
    CHECK_EQ(c.used, 2);
    vs_cache_drop(&c, a);
    vs_cache_drop(&c, a);
    CHECK_EQ(c.used, 1);
    CHECK_EQ(vs_cache_find(&c, 0x1000), VS_CACHE_NONE);
    CHECK_EQ(vs_cache_find(&c, 0x2000), b);
    vs_cache_clear(&c);
    CHECK_EQ(c.used, 0);
    CHECK_EQ(vs_cache_find(&c, 0x2000), VS_CACHE_NONE);
    vs_cache_fini(&c);
}

TEST(tells_addresses_apart_that_differ_in_their_highest_bit)
{
    struct vs_cache c = make(4096, 32, 4, VS_CACHE_LRU);
    uint32_t a, b;
    CHECK(!access_line(&c, 0x40, &a));
    CHECK(!access_line(&c, UINT64_C(0x8000000000000040), &b));
    CHECK(!access_line(&c, UINT64_MAX, &b));
    CHECK(access_line(&c, 0x40, &b));
    CHECK_EQ(a, b);
    CHECK(access_line(&c, UINT64_MAX - 31, &b));
    vs_cache_fini(&c);
}

static void check_refused(uint64_t size, uint32_t line, uint32_t ways, int policy, const char *why)
{
    struct vs_cache_config config = {size, line, ways, (enum vs_cache_policy)policy};
    struct vs_cache c;
    struct vs_diag diag = {0};
    CHECK_ERR(vs_cache_init(&c, &config, &diag), VSE_INVAL);
    CHECK_EQ(diag.error, -VSE_INVAL);
    CHECK_HAS(diag.text, why);
    CHECK_ERR(vs_cache_check_config(&config, NULL), VSE_INVAL);
    vs_cache_fini(&c);
}

TEST(refuses_impossible_geometry)
{
    check_refused(4096, 24, 4, VS_CACHE_LRU, "line of 24 bytes");
    check_refused(4096, 2, 4, VS_CACHE_LRU, "line of 2 bytes");
    check_refused(4096, 0, 4, VS_CACHE_LRU, "line of 0 bytes");
    check_refused(1u << 20, 1u << 17, 4, VS_CACHE_LRU, "line of 131072 bytes");
    check_refused(4096, 32, 0, VS_CACHE_LRU, "0 ways");
    check_refused(65537 * 32, 32, 65537, VS_CACHE_LRU, "65537 ways");
    check_refused(3 * 32, 32, 3, VS_CACHE_PLRU, "plru with 3 ways");
    check_refused(3072, 32, 4, VS_CACHE_LRU, "3072 bytes");
    check_refused(0, 32, 4, VS_CACHE_LRU, "0 bytes");
    check_refused(100, 32, 1, VS_CACHE_LRU, "100 bytes");
    check_refused(UINT64_C(1) << 40, 32, 4, VS_CACHE_LRU, "lines");
    check_refused(4096, 32, 4, VS_CACHE_POLICIES, "policy");
}

TEST(names_its_policies)
{
    for (int i = 0; i < VS_CACHE_POLICIES; i++)
        CHECK(vs_cache_policy_words[i]);
    CHECK(!vs_cache_policy_words[VS_CACHE_POLICIES]);
}
