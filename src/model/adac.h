/* SPDX-License-Identifier: MIT */
/* The adaptive data address cache: for each instruction that accesses memory, a few of the
 * addresses that it used last. It has no tags.
 *
 *   set = (pc >> low xor pc >> low + log2 sets) mod sets
 *
 * An entry has an address (DA), the bits of it that are expected to differ (SHIFT), and a counter
 * that trains SHIFT (TCNT). A lookup takes the first way, in their order, that agrees with the
 * address above SHIFT + j, with the smallest j of a window.
 *
 *   j = 0   TCNT -= dec; at 0: SHIFT--, not below min, and TCNT = tmax
 *   j > 0   TCNT += inc; at tmax: SHIFT++, not above max, and TCNT = 0
 *   miss    the least recently used way: SHIFT = max, TCNT = tmax
 *
 * The entry then holds the new address. TCNT saturates. At first every DA is 0, SHIFT is max, TCNT
 * is tmax, and way 0 is the least recently used. With min = max and a window of 1 SHIFT is fixed:
 * the plain data address cache. */
#ifndef MODEL_ADAC_H
#define MODEL_ADAC_H

#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_ADAC_SETS_MAX   (1u << 16)
#define VS_ADAC_WAYS_MAX   16
#define VS_ADAC_WINDOW_MAX 8
#define VS_ADAC_SHIFT_MAX  24 /* SHIFT plus any j is less than the width of any address */
#define VS_ADAC_TCNT_MAX   255

struct vs_adac_config {
    uint32_t sets, ways; /* powers of two; the ways too, so that every number names one */
    uint32_t low;        /* bits of the pc that are dropped, less than 16 */
    uint32_t window;     /* values of j, at least 1 */
    uint32_t max, min;
    uint32_t tmax, inc, dec; /* at least 1 */
};

struct vs_adac_entry {
    uint64_t da;
    uint8_t shift, tcnt;
    uint8_t rank; /* 0: the most recently used of its set */
};

struct vs_adac {
    struct vs_adac_config config;
    unsigned set_bits;
    struct vs_adac_entry *entries; /* ways of set 0, of set 1, ... */
};

enum vs_adac_kind {
    VS_ADAC_MRU,   /* in the most recently used way, j = 0 */
    VS_ADAC_OTHER, /* in another way, j = 0 */
    VS_ADAC_WIDER, /* j > 0 */
    VS_ADAC_MISS,
};

struct vs_adac_result {
    enum vs_adac_kind kind;
    uint32_t way, j; /* 0 after a miss */
    uint32_t bits;   /* SHIFT + j: above these bits the address is the entry's; 0 after a miss */
};

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_adac_init(struct vs_adac *c, const struct vs_adac_config *config);
void vs_adac_fini(struct vs_adac *c);

static inline uint32_t vs_adac_set(const struct vs_adac *c, uint64_t pc)
{
    uint64_t x = pc >> c->config.low;
    return (uint32_t)(x ^ x >> c->set_bits) & (c->config.sets - 1);
}

static inline const struct vs_adac_entry *vs_adac_entry(const struct vs_adac *c, uint32_t set,
                                                        uint32_t way)
{
    return &c->entries[set * c->config.ways + way];
}

/* The most recently used way. */
uint32_t vs_adac_mru(const struct vs_adac *c, uint32_t set);

/* Changes nothing. */
static inline struct vs_adac_result vs_adac_find(const struct vs_adac *c, uint32_t set,
                                                 uint64_t addr)
{
    const struct vs_adac_entry *e = vs_adac_entry(c, set, 0);
    unsigned drop = c->config.window - 1;
    uint32_t agree = 0; /* a bit per way, since a branch on the way would be mispredicted */
    for (uint32_t way = 0; way < c->config.ways; way++)
        agree |= (uint32_t) !((e[way].da ^ addr) >> e[way].shift >> drop) << way;
    if (!agree)
        return (struct vs_adac_result){.kind = VS_ADAC_MISS};
    uint32_t way = (uint32_t)__builtin_ctz(agree);
    uint64_t differ = (e[way].da ^ addr) >> e[way].shift;
    uint32_t j = differ ? 64 - (uint32_t)__builtin_clzll(differ) : 0;
    return (struct vs_adac_result){.kind = j             ? VS_ADAC_WIDER
                                           : e[way].rank ? VS_ADAC_OTHER
                                                         : VS_ADAC_MRU,
                                   .way = way,
                                   .j = j,
                                   .bits = e[way].shift + j};
}

/* The part of update for every address but one in the most recently used way with j = 0. */
void vs_adac_update_rest(struct vs_adac *c, uint32_t set, const struct vs_adac_result *r,
                         uint64_t addr);

/* j = 0. */
static inline void vs_adac_shrink(const struct vs_adac_config *g, struct vs_adac_entry *e)
{
    e->tcnt = (uint8_t)(e->tcnt > g->dec ? e->tcnt - g->dec : 0);
    if (e->tcnt)
        return;
    e->shift = (uint8_t)(e->shift - (e->shift > g->min));
    e->tcnt = (uint8_t)g->tmax;
}

/* Takes the address in, after what find said of it. */
static inline void vs_adac_update(struct vs_adac *c, uint32_t set, const struct vs_adac_result *r,
                                  uint64_t addr)
{
    if (r->kind == VS_ADAC_MRU) {
        struct vs_adac_entry *e = &c->entries[set * c->config.ways + r->way];
        vs_adac_shrink(&c->config, e);
        e->da = addr;
    } else {
        vs_adac_update_rest(c, set, r, addr);
    }
}

/* Comparators are part of the 1.5 gates per bit, as published. Recency takes the bits that tell
 * the orders of the ways apart; a fixed SHIFT takes none, and then there is no TCNT. */
struct vs_cost vs_adac_cost(const struct vs_adac_config *config, unsigned address_bits);

#endif
