/* SPDX-License-Identifier: MIT */
/* The outcome predictor of RISC-V Efficient Trace: a table of two bits for each entry, indexed by
 * the branch's address. The upper bit is the prediction, the lower the last outcome. The prediction
 * changes after two equal outcomes in a row. At first it is "not taken", and the last outcome
 * "taken". */
#ifndef MODEL_BHT_H
#define MODEL_BHT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_BHT_MAX (1u << 24)

struct vs_bht {
    uint8_t *states; /* 0..3, one to a byte */
    uint32_t mask;   /* entries - 1 */
    unsigned shift;  /* of the address */
};

/* entries: a power of two, 1 to VS_BHT_MAX. The lowest `shift` bits of addresses do not count.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_bht_init(struct vs_bht *b, uint32_t entries, unsigned shift);
void vs_bht_fini(struct vs_bht *b);

/* Makes all entries as they were at first. */
void vs_bht_clear(struct vs_bht *b);

struct vs_cost vs_bht_cost(const struct vs_bht *b);

/* Whether the branch is predicted taken. Changes nothing. */
static inline bool vs_bht_predict(const struct vs_bht *b, uint64_t pc)
{
    return b->states[pc >> b->shift & b->mask] >> 1;
}

/* Learns the outcome. Returns what was predicted. */
static inline bool vs_bht_update(struct vs_bht *b, uint64_t pc, bool taken)
{
    uint8_t *state = &b->states[pc >> b->shift & b->mask];
    bool predicted = *state >> 1, last = *state & 1;
    *state = (uint8_t)((predicted != last ? taken : predicted) << 1 | taken);
    return predicted;
}

#endif
