/* SPDX-License-Identifier: MIT */
/* The branch predictors of a core that executes a program, which decide how long it waits after a
 * branch: gshare with a folded index, a return address stack, a target buffer. Any of them may be
 * missing; without gshare, conditional branches are predicted not taken. */
#ifndef MODEL_BRANCH_UNIT_H
#define MODEL_BRANCH_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "model/gshare.h"
#include "model/ibtb.h"
#include "model/ras.h"
#include "vestige/event.h"

struct vs_branch_unit_config {
    uint32_t gshare, ras, ibtb; /* entries; 0: none */
};

struct vs_branch_unit {
    struct vs_gshare gshare;
    struct vs_ras ras;
    struct vs_ibtb ibtb;
};

/* Returns 0; -VSE_INVAL (entries that a predictor does not take); -VSE_NOMEM. After an error there
 * is nothing to be freed; fini is fine then, and for a zeroed struct. */
int vs_branch_unit_init(struct vs_branch_unit *u, const struct vs_branch_unit_config *config);
void vs_branch_unit_fini(struct vs_branch_unit *u);

/* Makes all as it was at first. */
void vs_branch_unit_clear(struct vs_branch_unit *u);

struct vs_cost vs_branch_unit_cost(const struct vs_branch_unit *u, unsigned address_bits);

/* Learn a conditional direct branch, or an indirect one. They return whether it was predicted. */
static inline bool vs_branch_unit_outcome(struct vs_branch_unit *u, uint64_t pc, bool taken)
{
    bool predicted = u->gshare.counters && vs_gshare_update(&u->gshare, pc, taken);
    return predicted == taken;
}

static inline bool vs_branch_unit_target(struct vs_branch_unit *u, uint64_t pc, unsigned flags,
                                         uint64_t target)
{
    uint64_t predicted;
    return flags & VS_BR_RETURN ? vs_ras_pop(&u->ras, &predicted) && predicted == target
                                : vs_ibtb_update(&u->ibtb, pc, target);
}

/* A call of any kind, after what it learned. */
static inline void vs_branch_unit_call(struct vs_branch_unit *u, uint64_t return_address)
{
    vs_ras_push(&u->ras, return_address);
}

#endif
