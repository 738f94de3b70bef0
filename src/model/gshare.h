/* SPDX-License-Identifier: MIT */
/* The outcome predictor of conditional branches: a table of 2-bit saturating counters, indexed by
 * the last outcomes and the branch's address.
 *
 * Counters start at 1 (weakly not taken) and predict taken from 2 up. The history register has the
 * last log2(entries) outcomes, the newest in bit 0, and changes after the lookup. */
#ifndef MODEL_GSHARE_H
#define MODEL_GSHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_GSHARE_MAX (1u << 24)

enum vs_gshare_hash {
    VS_GSHARE_PUBLISHED, /* (history xor pc >> 4) mod entries */
    /* (history xor pc xor pc >> 4 xor pc >> (4 + log2 entries)) mod entries: tells apart
     * branches that are less than 16 bytes, or a multiple of 16 * entries, from each other */
    VS_GSHARE_FOLDED,
};

struct vs_gshare {
    uint8_t *counters; /* 0..3, one to a byte */
    uint32_t mask;     /* entries - 1 */
    uint32_t history;
    uint64_t fold; /* all ones if folded, else 0 */
    unsigned fold_shift;
};

/* entries: a power of two, 1 to VS_GSHARE_MAX. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_gshare_init(struct vs_gshare *g, uint32_t entries, enum vs_gshare_hash hash);
void vs_gshare_fini(struct vs_gshare *g);

struct vs_cost vs_gshare_cost(const struct vs_gshare *g);

static inline uint32_t vs_gshare_index(const struct vs_gshare *g, uint64_t pc)
{
    uint64_t folded = (pc ^ pc >> g->fold_shift) & g->fold;

    return (uint32_t)(g->history ^ pc >> 4 ^ folded) & g->mask;
}

/* Whether the branch is predicted taken. Changes nothing. */
static inline bool vs_gshare_predict(const struct vs_gshare *g, uint64_t pc)
{
    return g->counters[vs_gshare_index(g, pc)] >= 2;
}

/* Learns the outcome. Returns what was predicted. */
static inline bool vs_gshare_update(struct vs_gshare *g, uint64_t pc, bool taken)
{
    uint8_t *counter = &g->counters[vs_gshare_index(g, pc)];
    unsigned before = *counter;

    /* no branch on the outcome: the host could not predict it either */
    *counter = (uint8_t)(before + (taken & (before < 3)) - (!taken & (before > 0)));
    g->history = (g->history << 1 | taken) & g->mask;
    return before >= 2;
}

#endif
