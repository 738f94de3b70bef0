/* SPDX-License-Identifier: MIT */
/* The jump target cache of RISC-V Efficient Trace: recent targets of jumps, each in the entry that
 * its own lowest bits choose. A target that is there can be told by its entry's number. */
#ifndef MODEL_JTC_H
#define MODEL_JTC_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

#define VS_JTC_MAX (1u << 16)

struct vs_jtc {
    uint64_t *targets; /* 0: the entry is empty */
    uint32_t mask;     /* entries - 1 */
    unsigned shift;    /* of the target */
};

/* entries: a power of two, 1 to VS_JTC_MAX. The lowest `shift` bits of targets do not count.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_jtc_init(struct vs_jtc *j, uint32_t entries, unsigned shift);
void vs_jtc_fini(struct vs_jtc *j);

/* Empties all entries. */
void vs_jtc_clear(struct vs_jtc *j);

struct vs_cost vs_jtc_cost(const struct vs_jtc *j, unsigned address_bits);

/* Returns the entry that is the target's. */
static inline uint32_t vs_jtc_index(const struct vs_jtc *j, uint64_t target)
{
    return (uint32_t)(target >> j->shift) & j->mask;
}

/* Puts a target, which is not 0, in its entry. Returns whether it was there. */
static inline bool vs_jtc_put(struct vs_jtc *j, uint64_t target)
{
    uint64_t *entry = &j->targets[vs_jtc_index(j, target)];
    bool hit = *entry == target;
    *entry = target;
    return hit;
}

#endif
