/* SPDX-License-Identifier: MIT */
/* The issue stage of an in-order core. An instruction issues in the cycle of the one before it, if
 * fewer than `width` have issued in that cycle, or later, when its operands are there. Whoever
 * holds the core up says for how long: a miss, a branch, a system call.
 *
 * The slots are apart from the registers, so that a loop over instructions can keep them in local
 * variables. */
#ifndef MODEL_INORDER_H
#define MODEL_INORDER_H

#include <stdint.h>
#include <string.h>

#define VS_INORDER_REGISTERS 64 /* that instructions wait for; register 0 is always there */

struct vs_slots {
    uint64_t cycle; /* the earliest in which the next instruction can issue */
    uint32_t used;  /* instructions that have issued in it */
};

struct vs_inorder {
    struct vs_slots slots;
    uint64_t ready[VS_INORDER_REGISTERS]; /* by register: when it has its value */
};

static inline uint64_t vs_later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns when an instruction issues that reads these registers. */
static inline uint64_t vs_inorder_when(const struct vs_slots *slots, const uint64_t *ready,
                                       uint32_t width, unsigned rs1, unsigned rs2, unsigned rs3)
{
    uint64_t at = slots->cycle + (slots->used == width);
    at = vs_later(at, ready[rs1]);
    at = vs_later(at, ready[rs2]);
    return vs_later(at, ready[rs3]);
}

/* It issues in that cycle. */
static inline void vs_slots_take(struct vs_slots *slots, uint64_t at)
{
    slots->used = at == slots->cycle ? slots->used + 1 : 1;
    slots->cycle = at;
}

/* A result is there from the cycle on. */
static inline void vs_inorder_result(uint64_t *ready, unsigned reg, uint64_t cycle)
{
    ready[reg] = cycle;
    ready[0] = 0;
}

/* Nothing issues for so many cycles. */
static inline void vs_slots_hold(struct vs_slots *slots, uint64_t cycles)
{
    slots->cycle += cycles;
    if (cycles)
        slots->used = 0;
}

/* The core begins anew at the cycle, or now if that is later, with nothing in flight. */
static inline void vs_inorder_restart(struct vs_inorder *core, uint64_t cycle)
{
    if (core->slots.cycle < cycle)
        core->slots = (struct vs_slots){.cycle = cycle};
    memset(core->ready, 0, sizeof(core->ready));
}

#endif
