/* SPDX-License-Identifier: MIT */
/* When instructions would commit if no access ever missed: a model of the cores' pipelines, for
 * techniques that report cycles. The module and the debugger follow the same code and both run the
 * model, so that only the difference to what really happened has to be reported. A model that fits
 * the cores badly costs bits, never exactness.
 *
 * An instruction issues, and commits, in program order, when its operands are there, at most
 * `width` in a cycle; its result is there after the latency of its unit. What follows a taken
 * branch issues in another cycle, what follows a branch that the core mispredicted `penalty` cycles
 * later, what follows a system call `system` cycles after it. The core's predictors are those of
 * model/branch_unit.h.
 *
 * Each core is led by these calls, in this order: `pass` for straight code, up to and including a
 * branch; then, if something tells when the last of it really committed, `set`; then, if the last
 * is a conditional or indirect branch, `branch`. */
#ifndef TECHNIQUE_TIMING_H
#define TECHNIQUE_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/cpu_log.h"
#include "model/branch_unit.h"
#include "model/inorder.h"
#include "technique/address.h"

#define VS_TIMING_UNITS (VS_UNIT_FENCE + 1)

struct vs_timing_config {
    unsigned width, penalty, system;
    uint16_t latency[VS_TIMING_UNITS]; /* by enum vs_unit; of VS_UNIT_MEMORY: a hit's */
    struct vs_branch_unit_config predictors;
};

struct vs_timing_core {
    struct vs_inorder issue;
    struct vs_branch_unit branches;
};

struct vs_timing_code; /* straight code as the model sees it */

struct vs_timing {
    struct vs_timing_config config;
    struct vs_address_code code; /* zeroed: none is known, and an instruction takes a cycle */
    struct vs_timing_code *cached;
    struct vs_timing_core *cores;
    unsigned core_count;
};

/* Checks that vs_timing_init takes the configuration. Returns 0; -VSE_INVAL. */
int vs_timing_check(const struct vs_timing_config *config, struct vs_diag *diag);

/* All cores are at cycle 0. The code is the caller's to set before the first call of pass. Returns
 * 0; -VSE_INVAL; -VSE_NOMEM. fini is needed in any case. */
int vs_timing_init(struct vs_timing *t, const struct vs_timing_config *config, unsigned cores);
void vs_timing_fini(struct vs_timing *t);

/* The core executes `count` instructions that lie one after the other from pc on, in that version
 * of the code. All but the last are no branches and ask the system for nothing. */
void vs_timing_pass(struct vs_timing *t, unsigned core, uint32_t version, uint64_t pc,
                    uint64_t count);

/* Returns when the last of them committed, as far as the model knows; after a system call, when the
 * next instruction may. */
static inline uint64_t vs_timing_now(const struct vs_timing *t, unsigned core)
{
    return t->cores[core].issue.slots.cycle;
}

/* It really committed in that cycle. What is in flight is late by as much. */
void vs_timing_set(struct vs_timing *t, unsigned core, uint64_t cycle);

/* It was this conditional or indirect branch. */
void vs_timing_branch(struct vs_timing *t, unsigned core, const struct vs_step *branch);

/* The core goes elsewhere at that cycle, and begins there with nothing in flight. */
void vs_timing_restart(struct vs_timing *t, unsigned core, uint64_t cycle);

/* The core's predictors forget everything. */
void vs_timing_forget(struct vs_timing *t, unsigned core);

/* What one core's model keeps; and its predictors, which are the core's own if the module sees
 * which branches it mispredicts. */
struct vs_cost vs_timing_cost(const struct vs_timing_config *config);
struct vs_cost vs_timing_predictors_cost(const struct vs_timing_config *config,
                                         unsigned address_bits);

#endif
