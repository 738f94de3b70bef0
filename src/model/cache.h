/* SPDX-License-Identifier: MIT */
/* The tag store of a set-associative cache: which lines are in it, and which one makes way.
 *
 * A line in the cache has an index in [0, lines), set * ways + way; it keeps it until it is
 * replaced. Whatever else a line has (state, flags, data) its user keeps in arrays by index.
 *
 * An access calls vs_cache_find. If the line is there, vs_cache_touch follows (vs_cache_hit does
 * both); otherwise vs_cache_victim, whatever has to be done with the line that makes way, and
 * vs_cache_place.
 *
 * A new line takes the highest free way of its set. In a full set the policy chooses:
 *   lru          the line whose last use, by touch or place, is the longest ago
 *   fifo         the line that was placed first
 *   round-robin  the way after the one replaced last, from the highest downwards. Placing a line
 *                where the pointer stands moves it on; nothing else does
 *   plru         a tree of bits over the ways, each pointing to the half used less recently
 *
 * Sets of up to VS_CACHE_NARROW ways are searched, and wider ones hashed, so that an access to a
 * fully associative cache costs about the same whatever its size. */
#ifndef MODEL_CACHE_H
#define MODEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "vestige/error.h"

#define VS_CACHE_NONE      UINT32_MAX /* no index */
#define VS_CACHE_FREE      UINT64_MAX /* the tag of a way that holds no line */
#define VS_CACHE_NARROW    32
#define VS_CACHE_WAYS_MAX  65536
#define VS_CACHE_LINE_MIN  4
#define VS_CACHE_LINE_MAX  65536
#define VS_CACHE_LINES_MAX (1u << 24)

#define VS_CACHE_OPAQUE(value) __asm__("" : "+r"(value))

enum vs_cache_policy {
    VS_CACHE_LRU,
    VS_CACHE_ROUND_ROBIN,
    VS_CACHE_FIFO,
    VS_CACHE_PLRU,
    VS_CACHE_POLICIES, /* how many there are */
};

/* Their names and a NULL, as base/parameter.h takes them. */
extern const char *const vs_cache_policy_words[VS_CACHE_POLICIES + 1];

struct vs_cache_config {
    uint64_t size; /* bytes: line * ways * a power of two */
    uint32_t line; /* bytes: a power of two, VS_CACHE_LINE_MIN..MAX */
    uint32_t ways; /* 1..VS_CACHE_WAYS_MAX; plru: a power of two */
    enum vs_cache_policy policy;
};

/* How a cache notes uses. */
enum vs_cache_order {
    VS_CACHE_BY_NOTHING, /* uses do not matter */
    VS_CACHE_BY_STAMP,   /* a time for each line */
    VS_CACHE_BY_LIST,    /* a list for each set, latest first */
    VS_CACHE_BY_TREE,
};

struct vs_cache_set;
struct vs_cache_link;

/* Users read config, lines, tags and used; the rest belongs to cache.c and the functions below. */
struct vs_cache {
    uint64_t *tags;   /* by index: the line's address, or VS_CACHE_FREE */
    uint64_t *stamps; /* by index: for BY_STAMP and for fifo in narrow sets */
    uint64_t clock;
    uint32_t ways, set_mask;
    uint8_t line_bits;
    uint8_t use; /* enum vs_cache_order: what a touch does */
    bool usual;  /* 4 ways, lru */
    bool wide;
    uint32_t lines;
    uint32_t used; /* lines that hold something */
    struct vs_cache_config config;
    struct vs_cache_set *sets;
    struct vs_cache_link *links; /* by index, wide */
    uint32_t *buckets;           /* by hash, wide: the first line's index or VS_CACHE_NONE */
    uint32_t bucket_shift;
    uint8_t *tree; /* plru: by set * ways + node, the root is node 1; 1: the upper half is next */
};

/* Returns 0; -VSE_INVAL, and diag says why there can be no such cache. */
int vs_cache_check_config(const struct vs_cache_config *config, struct vs_diag *diag);

/* Makes an empty cache. Returns 0; -VSE_INVAL as vs_cache_check_config; -VSE_NOMEM. After an error
 * nothing has to be freed, though vs_cache_fini may be called. */
int vs_cache_init(struct vs_cache *c, const struct vs_cache_config *config, struct vs_diag *diag);
void vs_cache_fini(struct vs_cache *c);

/* Makes a cache equal to another one of the same configuration. */
void vs_cache_assign(struct vs_cache *c, const struct vs_cache *from);

/* The address of the line that a byte is in. All functions below take lines' addresses. */
static inline uint64_t vs_cache_line(const struct vs_cache *c, uint64_t addr)
{
    return addr >> c->line_bits << c->line_bits;
}

uint32_t vs_cache_find_other(const struct vs_cache *c, uint64_t line);
void vs_cache_touch_other(struct vs_cache *c, uint32_t index);

/* For caches of 4 ways. A branch on the way would often be mispredicted; VS_CACHE_OPAQUE keeps the
 * compiler from making one. */
static inline uint32_t vs_cache_find_4(const struct vs_cache *c, uint64_t line)
{
    uint32_t first = 4 * ((uint32_t)(line >> c->line_bits) & c->set_mask);
    const uint64_t *t = c->tags + first;
    uint32_t at1 = t[1] == line, at2 = t[2] == line, at3 = t[3] == line;
    VS_CACHE_OPAQUE(at3);
    uint32_t way = at1 + 2 * at2 + 3 * at3;
    return likely(t[way] == line) ? first + way : VS_CACHE_NONE;
}

/* The line's index, or VS_CACHE_NONE if it is not in the cache. Changes nothing. */
static inline uint32_t vs_cache_find(const struct vs_cache *c, uint64_t line)
{
    return likely(c->ways == 4) ? vs_cache_find_4(c, line) : vs_cache_find_other(c, line);
}

/* Notes a use of the line at the index. */
static inline void vs_cache_touch(struct vs_cache *c, uint32_t index)
{
    if (likely(c->use == VS_CACHE_BY_STAMP))
        c->stamps[index] = ++c->clock;
    else if (c->use != VS_CACHE_BY_NOTHING)
        vs_cache_touch_other(c, index);
}

uint32_t vs_cache_hit_other(struct vs_cache *c, uint64_t line);

/* vs_cache_find, and vs_cache_touch if the line is there. */
static inline uint32_t vs_cache_hit(struct vs_cache *c, uint64_t line)
{
    if (unlikely(!c->usual))
        return vs_cache_hit_other(c, line);
    uint32_t index = vs_cache_find_4(c, line);
    if (likely(index != VS_CACHE_NONE))
        c->stamps[index] = ++c->clock;
    return index;
}

/* The index at which to place a line that is not in the cache. The tag there says what it replaces.
 * Changes nothing. */
uint32_t vs_cache_victim(const struct vs_cache *c, uint64_t line);

/* Places the line at an index of its set, which counts as a use, and replaces what was there. The
 * line must not be elsewhere in the cache. */
void vs_cache_place(struct vs_cache *c, uint32_t index, uint64_t line);

/* Frees the index. It may be free already. */
void vs_cache_drop(struct vs_cache *c, uint32_t index);

/* Frees all indices; policies start over. */
void vs_cache_clear(struct vs_cache *c);

#endif
