/* SPDX-License-Identifier: MIT */
/* A slice as encoders see it that report little of it: what each core has counted by each step, so
 * that nobody has to go through the steps to count, and which steps there are something to say of
 * whatever is predicted. A part (technique/parts.h), whose key is a struct vs_branches_key.
 *
 * Steps make blocks. What a core has counted by the end of each one tells where a counter may be
 * full, without a look at the steps. */
#ifndef TECHNIQUE_BRANCHES_H
#define TECHNIQUE_BRANCHES_H

#include "technique/parts.h"

struct vs_branches_key {
    uint32_t calls; /* direct calls are counted, beside conditional and indirect branches */
};

/* A core's, since its first step. */
struct vs_branch_totals {
    uint64_t instructions;
    uint64_t branches; /* steps that are counted */
};

/* A conditional direct branch. */
struct vs_branch_outcome {
    uint64_t pc;
    uint32_t step; /* of the slice */
    uint16_t core;
    bool taken;
};

struct vs_branches {
    struct vs_part part;
    unsigned cores;

    /* Of the slice: */
    const struct vs_step *steps;
    size_t count;
    struct vs_branch_totals *at; /* by step: its core's, this step included */
    uint64_t *told;              /* by step a bit: a discontinuity, or an indirect branch that is
                                  * not taken, which nobody predicts */
    struct vs_branch_outcome *outcomes;
    size_t outcome_count;
    uint32_t *others; /* numbers of the steps that are no conditional direct branches */
    size_t other_count;
    struct vs_branch_totals *ends; /* [block * cores + core]: after the block */
    size_t blocks, block;          /* their number, and how many steps each has, by words of 64 */

    /* Of all slices: */
    uint64_t instructions, conditional, returns, indirect;

    /* private */
    uint32_t counted;             /* kinds of steps: 1 << enum vs_step_kind */
    struct vs_branch_totals *now; /* by core */
    size_t room, end_room;
};

/* Returns as vs_parts_get. */
int vs_branches_get(struct vs_parts *parts, const struct vs_branches_key *key,
                    const struct vs_technique_setup *setup, struct vs_branches **out);

#endif
