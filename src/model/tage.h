/* SPDX-License-Identifier: MIT */
/* TAGE: outcomes of conditional branches, from a table indexed by the address alone (the base) and
 * tagged tables indexed by the address and ever longer histories.
 *
 * History. A shift register of bits, the newest first. Table i sees the newest L(i) of them, where
 * L grows geometrically from history_min to history_max. A history is folded to w bits by taking
 * the exclusive or of its groups of w bits, the newest group as it is.
 *
 * Indices. With x = pc >> 1 xor pc >> 12, kept to 16 bits, and n = log2(entries):
 *   index(i) = (x xor x >> n xor fold(L(i), n)) mod entries
 *   tag(i)   = (pc xor pc >> 9 xor fold(L(i), t) xor fold(L(i), t - 1) << 1) mod 2^t
 *   base     = (pc >> 1 xor pc >> (1 + log2(base entries))) mod base entries
 *
 * Entries. A tagged one has a tag of t bits, a counter of 3 bits, -4 to 3, and 2 useful bits; a
 * base one has a counter of 2 bits, -2 to 1. A counter says taken if it is not negative. All start
 * at 0, but counters at -1.
 *
 * Prediction. The provider is the longest table whose tag matches, or the base; the alternative is
 * the next one that matches, or the base. The provider's counter predicts, unless it is weak (-1 or
 * 0), its useful bits are 0, and the counter `choice` (4 bits, starts at 0) is not negative: then
 * the alternative's does.
 *
 * Learning. What is weak, useful or right is as the look found it; counters are
 * changed as they are by then, after any halving.
 * - If the provider is weak, not useful, and differs from the alternative, `choice` counts up if
 *   the alternative was right, down if not.
 * - If the prediction was wrong, and the provider is not a weak, not useful one that was right, an
 *   entry is allocated in a longer table: candidates are the tables after the provider, without the
 *   first one if the lowest bit of a 16-bit LFSR is set and there is another. The first whose entry
 *   is not useful gets the tag, and a weak counter of the outcome. `tick` (8 bits) counts up for
 *   each candidate that was useful and down for the allocation; when it is full it starts again
 *   from 0, and all useful bits are halved.
 * - The provider's counter counts the outcome; if the provider is not useful, so does the
 *   alternative's. If they differ, the useful bits count up if the provider was right, down if
 *   not. */
#ifndef MODEL_TAGE_H
#define MODEL_TAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

enum {
    VS_TAGE_TABLES_MAX = 16,
    VS_TAGE_ENTRIES_MAX = 1 << 15,
    VS_TAGE_BASE_MAX = 1 << 20,
    VS_TAGE_TAG_MIN = 4,
    VS_TAGE_TAG_MAX = 15,
    VS_TAGE_HISTORY_MAX = 1000,
    VS_TAGE_ROOM = 4096, /* bits of history that lie in a row before they are moved */
};

struct vs_tage_config {
    uint32_t base;    /* entries: a power of two, 2 to VS_TAGE_BASE_MAX */
    uint32_t entries; /* of each tagged table: a power of two, 2 to VS_TAGE_ENTRIES_MAX */
    unsigned tables;  /* 1 to VS_TAGE_TABLES_MAX */
    unsigned tag_bits;
    unsigned history_min, history_max; /* 1 <= min <= max <= VS_TAGE_HISTORY_MAX */
};

struct vs_tage_entry {
    uint16_t tag;
    int8_t counter;
    uint8_t useful;
};

/* One element for each of 8 tables, so that these are computed at once; and for all tables. */
enum { VS_TAGE_LANES = 8, VS_TAGE_GROUPS = VS_TAGE_TABLES_MAX / VS_TAGE_LANES };
typedef uint16_t vs_tage_lanes __attribute__((vector_size(2 * VS_TAGE_LANES)));
union vs_tage_row {
    vs_tage_lanes group[VS_TAGE_GROUPS];
    uint16_t table[VS_TAGE_TABLES_MAX];
};

/* Folded histories of all tables. */
struct vs_tage_fold {
    union vs_tage_row value;
    union vs_tage_row out; /* where the bit that leaves the history is */
    vs_tage_lanes ones;    /* of the width */
    unsigned width;
};

struct vs_tage {
    struct vs_tage_fold index, tag, tag_less;        /* to n, t and t - 1 bits */
    struct vs_tage_entry *entries;                   /* by table and index; of whole groups */
    struct vs_tage_entry *table[VS_TAGE_TABLES_MAX]; /* where each table's begin */
    int8_t *base;
    uint32_t base_mask;
    unsigned tables, groups; /* groups: of 8 tables */
    unsigned log;            /* log2 of a table's entries */
    unsigned base_log, tag_bits;
    uint16_t length[VS_TAGE_TABLES_MAX];
    int8_t choice;
    uint8_t tick;
    uint16_t lfsr;
    uint32_t head;                  /* the newest bit of the history; older ones follow */
    uint64_t recent;                /* the newest 64 bits of history, the newest in bit 0 */
    uint16_t history[VS_TAGE_ROOM]; /* each is 0 or all ones */
};

/* What the tables say about a branch. Table numbers count from 0; -1 is the base. */
struct vs_tage_lookup {
    union vs_tage_row index, tag;
    uint32_t base;
    int provider, alternative;
    int counter;         /* the provider's */
    uint8_t useful;      /* the provider's; 0 for the base */
    bool longest, other; /* what the provider and the alternative say */
    bool prediction;
};

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. fini is needed in any case. */
int vs_tage_init(struct vs_tage *t, const struct vs_tage_config *config);
void vs_tage_fini(struct vs_tage *t);

/* Makes all as it was at first. */
void vs_tage_clear(struct vs_tage *t);

struct vs_cost vs_tage_cost(const struct vs_tage *t);

/* Looks a branch up and changes nothing. */
void vs_tage_look(const struct vs_tage *t, uint64_t pc, struct vs_tage_lookup *l);

/* Learns the outcome of the branch that was looked up last. The history stays. */
void vs_tage_learn(struct vs_tage *t, const struct vs_tage_lookup *l, bool taken);

/* Shifts the lowest `count` bits, 1 to 32, into the history, the highest of them first; the others
 * are 0. */
void vs_tage_push(struct vs_tage *t, unsigned bits, unsigned count);

#endif
