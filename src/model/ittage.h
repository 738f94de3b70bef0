/* SPDX-License-Identifier: MIT */
/* ITTAGE: targets of indirect branches, from tagged tables indexed by the address and ever longer
 * histories.
 *
 * The history is handed in, at most 64 bits, the newest in bit 0. Table 0 sees none of it, the
 * others the newest L(i) bits: L(1) = 4, and L doubles from one table to the next, up to 64. A
 * history is folded to w bits as in tage.h.
 *
 *   index(i) = (x xor x >> n xor fold(L(i), n)) mod entries       x = pc >> 1 xor pc >> 12
 *   tag(i)   = (pc xor pc >> 9 xor fold(L(i), t) xor fold(L(i), t - 1) << 1) mod 2^t
 *
 * An entry has a tag of t bits, a target, a confidence (2 bits) and a useful bit; it is empty until
 * it is first written. The provider is the longest table whose tag matches, the alternative the
 * next one. The provider predicts, unless its confidence is 0 and the alternative's is not.
 *
 * Learning. A provider that has the target gains confidence; another one loses it, and gets the
 * target if it has none to lose. If there is an alternative with another target, the provider's
 * useful bit becomes whether it was right. If the prediction was wrong, the first longer table
 * whose entry is not useful gets one with confidence 0; if there is none, the useful bits of all of
 * them are cleared. */
#ifndef MODEL_ITTAGE_H
#define MODEL_ITTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

enum {
    VS_ITTAGE_TABLES_MAX = 6,
    VS_ITTAGE_ENTRIES_MAX = 1 << 15,
    VS_ITTAGE_TAG_MIN = 4,
    VS_ITTAGE_TAG_MAX = 15,
};

struct vs_ittage_config {
    uint32_t entries; /* of each table: a power of two, 2 to VS_ITTAGE_ENTRIES_MAX; or 0 */
    unsigned tables;  /* 1 to VS_ITTAGE_TABLES_MAX */
    unsigned tag_bits;
};

struct vs_ittage_entry {
    uint64_t target;
    uint16_t tag;
    uint8_t confidence;
    bool useful, valid;
};

struct vs_ittage {
    struct vs_ittage_entry *entries; /* by table and index; NULL: none */
    unsigned tables, log, tag_bits;
};

struct vs_ittage_lookup {
    uint16_t index[VS_ITTAGE_TABLES_MAX], tag[VS_ITTAGE_TABLES_MAX];
    int provider, alternative;  /* tables; -1: none */
    bool any, second;           /* whether there is a prediction, and another target beside it */
    uint8_t confidence;         /* of the prediction */
    uint64_t prediction, other; /* other: if `second` */
};

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_ittage_init(struct vs_ittage *t, const struct vs_ittage_config *config);
void vs_ittage_fini(struct vs_ittage *t);
void vs_ittage_clear(struct vs_ittage *t);

/* The cost with targets of that many bits. */
struct vs_cost vs_ittage_cost(const struct vs_ittage *t, unsigned target_bits);

/* Looks a branch up and changes nothing. */
void vs_ittage_look(const struct vs_ittage *t, uint64_t pc, uint64_t history,
                    struct vs_ittage_lookup *l);

/* Learns the target of the branch that was looked up last. */
void vs_ittage_learn(struct vs_ittage *t, const struct vs_ittage_lookup *l, uint64_t target);

#endif
