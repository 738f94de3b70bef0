/* SPDX-License-Identifier: MIT */
#include "model/cache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/invariant.h"

struct vs_cache_set {
    uint32_t used; /* ways that hold a line */
    uint32_t free; /* the highest way that holds none; 0 if all do */
    uint32_t next; /* round robin: the way to replace */
    uint32_t latest, oldest;
};

struct vs_cache_link {
    uint32_t later, earlier; /* neighbours in the set's list */
    uint32_t before, after;  /* neighbours in the bucket */
};

const char *const vs_cache_policy_words[VS_CACHE_POLICIES + 1] = {
    [VS_CACHE_LRU] = "lru",
    [VS_CACHE_ROUND_ROBIN] = "round-robin",
    [VS_CACHE_FIFO] = "fifo",
    [VS_CACHE_PLRU] = "plru",
};

/* ---- making ---------------------------------------------------------------------------------- */

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

int vs_cache_check_config(const struct vs_cache_config *g, struct vs_diag *diag)
{
    if ((unsigned)g->policy >= VS_CACHE_POLICIES)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no such replacement policy");
    if (!is_power_of_two(g->line) || g->line < VS_CACHE_LINE_MIN || g->line > VS_CACHE_LINE_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "a cache line of %" PRIu32 " bytes: must be a power of two, %d to %d",
                           g->line, VS_CACHE_LINE_MIN, VS_CACHE_LINE_MAX);
    if (!g->ways || g->ways > VS_CACHE_WAYS_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "a cache of %" PRIu32 " ways: must be 1 to %d",
                           g->ways, VS_CACHE_WAYS_MAX);
    if (g->policy == VS_CACHE_PLRU && !is_power_of_two(g->ways))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "plru with %" PRIu32 " ways: must be a power of two", g->ways);
    uint64_t column = (uint64_t)g->line * g->ways;
    if (g->size % column || !is_power_of_two(g->size / column))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "a cache of %" PRIu64 " bytes: must be %" PRIu32 " ways of %" PRIu32
                           "-byte lines times a power of two",
                           g->size, g->ways, g->line);
    if (g->size / g->line > VS_CACHE_LINES_MAX)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "a cache of %" PRIu64 " lines: must be at most %u", g->size / g->line,
                           VS_CACHE_LINES_MAX);
    return 0;
}

static bool is_listed(const struct vs_cache *c)
{
    return c->wide && (c->config.policy == VS_CACHE_LRU || c->config.policy == VS_CACHE_FIFO);
}

static bool is_stamped(const struct vs_cache *c)
{
    return !c->wide && (c->config.policy == VS_CACHE_LRU || c->config.policy == VS_CACHE_FIFO);
}

static enum vs_cache_order order_of_uses(const struct vs_cache *c)
{
    if (c->config.policy == VS_CACHE_PLRU)
        return VS_CACHE_BY_TREE;
    if (c->config.policy != VS_CACHE_LRU)
        return VS_CACHE_BY_NOTHING;
    return c->wide ? VS_CACHE_BY_LIST : VS_CACHE_BY_STAMP;
}

/* The tags of a set of 4 lie in one line of the host's cache. */
static void *aligned_array(size_t count, size_t element)
{
    return aligned_alloc(64, (count * element + 63) & ~(size_t)63);
}

static bool allocate(struct vs_cache *c)
{
    size_t sets = (size_t)c->set_mask + 1;
    bool complete = (c->tags = aligned_array(c->lines, sizeof(*c->tags))) &&
                    (c->sets = malloc(sets * sizeof(*c->sets)));
    if (complete && is_stamped(c))
        complete = (c->stamps = aligned_array(c->lines, sizeof(*c->stamps)));
    if (complete && c->config.policy == VS_CACHE_PLRU)
        complete = (c->tree = malloc(c->lines));
    if (complete && c->wide)
        complete = (c->links = malloc(c->lines * sizeof(*c->links))) &&
                   (c->buckets = malloc(sizeof(*c->buckets) << (64 - c->bucket_shift)));
    return complete;
}

int vs_cache_init(struct vs_cache *c, const struct vs_cache_config *config, struct vs_diag *diag)
{
    *c = (struct vs_cache){.config = *config};
    int error = vs_cache_check_config(config, diag);
    if (error)
        return error;
    c->ways = config->ways;
    c->lines = (uint32_t)(config->size / config->line);
    c->set_mask = c->lines / c->ways - 1;
    c->line_bits = (uint8_t)__builtin_ctz(config->line);
    c->wide = c->ways > VS_CACHE_NARROW;
    c->use = (uint8_t)order_of_uses(c);
    c->usual = c->ways == 4 && c->use == VS_CACHE_BY_STAMP;
    c->bucket_shift = (uint32_t)__builtin_clzll(c->lines);
    if (!allocate(c)) {
        vs_cache_fini(c);
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "no memory for a cache of %" PRIu32 " lines",
                           c->lines);
    }
    invariant(((uint64_t)c->set_mask + 1) * c->ways == c->lines &&
              !(c->set_mask & (c->set_mask + 1)));
    vs_cache_clear(c);
    return 0;
}

void vs_cache_fini(struct vs_cache *c)
{
    free(c->tags);
    free(c->stamps);
    free(c->sets);
    free(c->links);
    free(c->buckets);
    free(c->tree);
    c->tags = c->stamps = NULL;
    c->sets = NULL;
    c->links = NULL;
    c->buckets = NULL;
    c->tree = NULL;
}

void vs_cache_assign(struct vs_cache *c, const struct vs_cache *from)
{
    invariant(c->lines == from->lines && c->ways == from->ways && c->use == from->use);
    size_t sets = (size_t)c->set_mask + 1;
    c->clock = from->clock;
    c->used = from->used;
    memcpy(c->tags, from->tags, c->lines * sizeof(*c->tags));
    memcpy(c->sets, from->sets, sets * sizeof(*c->sets));
    if (c->stamps)
        memcpy(c->stamps, from->stamps, c->lines * sizeof(*c->stamps));
    if (c->tree)
        memcpy(c->tree, from->tree, c->lines);
    if (c->wide) {
        memcpy(c->links, from->links, c->lines * sizeof(*c->links));
        memcpy(c->buckets, from->buckets, sizeof(*c->buckets) << (64 - c->bucket_shift));
    }
}

void vs_cache_clear(struct vs_cache *c)
{
    c->clock = 0;
    c->used = 0;
    for (uint32_t i = 0; i < c->lines; i++)
        c->tags[i] = VS_CACHE_FREE;
    for (uint32_t s = 0; s <= c->set_mask; s++)
        c->sets[s] = (struct vs_cache_set){.free = c->ways - 1,
                                           .next = c->ways - 1,
                                           .latest = VS_CACHE_NONE,
                                           .oldest = VS_CACHE_NONE};
    if (c->tree)
        memset(c->tree, 0, c->lines);
    if (c->buckets)
        memset(c->buckets, 0xff, sizeof(*c->buckets) << (64 - c->bucket_shift));
}

/* ---- wide sets ------------------------------------------------------------------------------- */

/* Many ways are searched by hash. Lines are chained through their links, so one that leaves its set
 * leaves the chain at once, and nothing is allocated once the cache is made. */

static uint32_t *bucket_of(const struct vs_cache *c, uint64_t line)
{
    return &c->buckets[vs_hash(line >> c->line_bits) >> c->bucket_shift];
}

static void hash_in(struct vs_cache *c, uint32_t index)
{
    uint32_t *bucket = bucket_of(c, c->tags[index]);
    c->links[index].before = VS_CACHE_NONE;
    c->links[index].after = *bucket;
    if (*bucket != VS_CACHE_NONE)
        c->links[*bucket].before = index;
    *bucket = index;
}

static void hash_out(struct vs_cache *c, uint32_t index)
{
    struct vs_cache_link *link = &c->links[index];
    if (link->before == VS_CACHE_NONE)
        *bucket_of(c, c->tags[index]) = link->after;
    else
        c->links[link->before].after = link->after;
    if (link->after != VS_CACHE_NONE)
        c->links[link->after].before = link->before;
}

static void list_in(struct vs_cache *c, struct vs_cache_set *set, uint32_t index)
{
    c->links[index].later = VS_CACHE_NONE;
    c->links[index].earlier = set->latest;
    if (set->latest == VS_CACHE_NONE)
        set->oldest = index;
    else
        c->links[set->latest].later = index;
    set->latest = index;
}

static void list_out(struct vs_cache *c, struct vs_cache_set *set, uint32_t index)
{
    const struct vs_cache_link *link = &c->links[index];
    if (link->later == VS_CACHE_NONE)
        set->latest = link->earlier;
    else
        c->links[link->later].earlier = link->earlier;
    if (link->earlier == VS_CACHE_NONE)
        set->oldest = link->later;
    else
        c->links[link->earlier].later = link->later;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Turns every node on the way to the root away from the way used. */
static void tree_touch(struct vs_cache *c, uint32_t index)
{
    uint32_t way = index & (c->ways - 1);
    uint8_t *tree = c->tree + (index - way);
    for (uint32_t node = c->ways + way; node > 1; node >>= 1)
        tree[node >> 1] = !(node & 1);
}

static uint32_t tree_victim(const struct vs_cache *c, uint32_t first)
{
    const uint8_t *tree = c->tree + first;
    uint32_t node = 1;
    while (node < c->ways)
        node = 2 * node + tree[node];
    return first + node - c->ways;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static struct vs_cache_set *set_of(const struct vs_cache *c, uint64_t line)
{
    return &c->sets[(uint32_t)(line >> c->line_bits) & c->set_mask];
}

uint32_t vs_cache_find_other(const struct vs_cache *c, uint64_t line)
{
    if (c->wide) {
        uint32_t i = *bucket_of(c, line);
        while (i != VS_CACHE_NONE && c->tags[i] != line)
            i = c->links[i].after;
        return i;
    }
    uint32_t first = ((uint32_t)(line >> c->line_bits) & c->set_mask) * c->ways, hits = 0;
    for (uint32_t way = 0; way < c->ways; way++)
        hits |= (uint32_t)(c->tags[first + way] == line) << way;
    return hits ? first + (uint32_t)__builtin_ctz(hits) : VS_CACHE_NONE;
}

void vs_cache_touch_other(struct vs_cache *c, uint32_t index)
{
    if (c->use == VS_CACHE_BY_TREE) {
        tree_touch(c, index);
        return;
    }
    struct vs_cache_set *set = set_of(c, c->tags[index]);
    if (set->latest == index)
        return;
    list_out(c, set, index);
    list_in(c, set, index);
}

uint32_t vs_cache_hit_other(struct vs_cache *c, uint64_t line)
{
    uint32_t index = vs_cache_find(c, line);
    if (index != VS_CACHE_NONE)
        vs_cache_touch(c, index);
    return index;
}

static uint32_t least_stamp(const struct vs_cache *c, uint32_t first)
{
    uint32_t least = first;
    for (uint32_t i = first + 1; i < first + c->ways; i++)
        if (c->stamps[i] < c->stamps[least])
            least = i;
    return least;
}

uint32_t vs_cache_victim(const struct vs_cache *c, uint64_t line)
{
    const struct vs_cache_set *set = set_of(c, line);
    uint32_t first = (uint32_t)(set - c->sets) * c->ways;
    if (set->used < c->ways)
        return first + set->free;
    if (is_stamped(c))
        return least_stamp(c, first);
    if (is_listed(c))
        return set->oldest;
    return c->tree ? tree_victim(c, first) : first + set->next;
}

void vs_cache_drop(struct vs_cache *c, uint32_t index)
{
    if (c->tags[index] == VS_CACHE_FREE)
        return;
    struct vs_cache_set *set = set_of(c, c->tags[index]);
    uint32_t way = index - (uint32_t)(set - c->sets) * c->ways;
    if (c->wide)
        hash_out(c, index);
    if (is_listed(c))
        list_out(c, set, index);
    invariant(set->used && c->used);
    c->tags[index] = VS_CACHE_FREE;
    c->used--;
    set->used--;
    if (way > set->free)
        set->free = way;
}

/* Lowers `free` to the highest free way, if there is one. */
static void lower_free(struct vs_cache *c, struct vs_cache_set *set)
{
    const uint64_t *tags = c->tags + (size_t)(set - c->sets) * c->ways;
    if (set->used == c->ways)
        set->free = 0;
    while (set->used < c->ways && tags[set->free] != VS_CACHE_FREE)
        set->free--;
}

void vs_cache_place(struct vs_cache *c, uint32_t index, uint64_t line)
{
    vs_cache_drop(c, index);
    struct vs_cache_set *set = set_of(c, line);
    uint32_t way = index - (uint32_t)(set - c->sets) * c->ways;
    c->tags[index] = line;
    invariant(way < c->ways && set->used < c->ways);
    c->used++;
    set->used++;
    lower_free(c, set);
    if (way == set->next)
        set->next = (way ? way : c->ways) - 1;
    if (c->wide)
        hash_in(c, index);
    if (is_listed(c))
        list_in(c, set, index);
    if (is_stamped(c))
        c->stamps[index] = ++c->clock;
    if (c->tree)
        tree_touch(c, index);
}
