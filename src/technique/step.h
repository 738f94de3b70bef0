/* SPDX-License-Identifier: MIT */
/* Control flow as trace modules see it: what a debugger could not follow in a run by itself, and
 * the direct calls, which predictors of returns need.
 *
 * A step is one of
 *   conditional     a conditional direct branch, taken or not
 *   indirect        a transfer whose target is not in the code; a conditional one, which some ISAs
 *                   have, may not be taken
 *   call            a direct call
 *   discontinuity   after the instructions counted, control went to `target` without a branch: a
 *                   thread's start, an exception and the return from it, a restarted system call,
 *                   the end of a gap. At a thread's end, and where a gap begins, the target is
 *                   VS_STEP_NOWHERE
 * Between two steps of a core there is only straight code and direct jumps. A walk through the code
 * (replay/walk.h) makes steps of these jumps too if it is asked to. */
#ifndef TECHNIQUE_STEP_H
#define TECHNIQUE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

enum vs_step_kind {
    VS_STEP_CONDITIONAL,
    VS_STEP_INDIRECT,
    VS_STEP_CALL,
    VS_STEP_DISCONTINUITY,
    VS_STEP_JUMP,
};

#define VS_STEP_NOWHERE UINT64_C(0)

/* A core is a thread of the run. */
struct vs_step {
    uint64_t pc;     /* the branch's; 0 for a discontinuity */
    uint64_t target; /* set whether or not it is taken; 0 for an indirect one that is not */
    uint64_t time;   /* commit cycle; untimed: instructions of all cores before it */
    uint32_t icount; /* the core's instructions since its last step, this one's included */
    uint16_t core;
    uint8_t kind;
    uint8_t flags;  /* a branch's VS_BR_* */
    uint8_t size;   /* bytes of the branch */
    uint32_t jumps; /* direct ones since the core's last step */
    /* A discontinuity in a walk; steps that differ in nothing else are equal. */
    bool returned; /* the stream says that the system call before it was over */
    bool within;   /* the last instruction repeats itself and, if the stream tells, was not over */
    bool begun;    /* the instruction at the target is such a one, and is not counted again */
    /* Any step in a walk. */
    bool timed; /* the stream tells when it committed, and `time` is that */
};

static inline bool vs_step_taken(const struct vs_step *s)
{
    return s->flags & VS_BR_TAKEN;
}

/* Returns where the core goes on. */
static inline uint64_t vs_step_next(const struct vs_step *s)
{
    return s->kind == VS_STEP_DISCONTINUITY || vs_step_taken(s) ? s->target : s->pc + s->size;
}

/* Whether a branch's VS_BR_* are those of a return, or of a call. One that is both swaps
 * co-routines, and is neither here. */
static inline bool vs_step_returns(uint8_t flags)
{
    return (flags & (VS_BR_RETURN | VS_BR_CALL)) == VS_BR_RETURN;
}

static inline bool vs_step_calls(uint8_t flags)
{
    return (flags & (VS_BR_RETURN | VS_BR_CALL)) == VS_BR_CALL;
}

/* What a core did after its last step. */
struct vs_step_since {
    uint64_t instructions;
    uint32_t jumps;
};

/* Makes steps from events. A zeroed struct is ready. */
struct vs_stepper {
    struct vs_step_since *since; /* by core */
    bool *alive;                 /* by core: it has started and is not in a gap */
    size_t cores, capacity, alive_capacity;
    uint64_t instructions; /* of all cores, so far */

    struct vs_step *steps; /* the last batch's */
    size_t count, step_capacity;
};

/* Makes the batch's steps in s->steps, where they stay until the next call. Returns 0;
 * -VSE_NOMEM. */
int vs_stepper_take(struct vs_stepper *s, const struct vs_batch *batch);

/* Ends the cores that are still running after the last batch. Returns as vs_stepper_take. */
int vs_stepper_end(struct vs_stepper *s, uint64_t time);

void vs_stepper_fini(struct vs_stepper *s);

#endif
