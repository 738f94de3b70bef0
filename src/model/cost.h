/* SPDX-License-Identifier: MIT */
/* What hardware costs: bits by the kind of cell that they are made of, and gates.
 *
 * The weights are the published ones: 1.5 gates for a bit of SRAM, 3 for one of CAM, 2.5 for one of
 * a register, 2.5 for one of a comparator, 0.5 for a tri-state buffer. All are multiples of one
 * half, so that sums are exact in half gates. */
#ifndef MODEL_COST_H
#define MODEL_COST_H

#include <stdint.h>

struct vs_cost {
    uint64_t sram, cam, registers; /* storage */
    uint64_t comparators, tristate;
};

/* Adds `times` copies of a cost. */
static inline void vs_cost_add(struct vs_cost *sum, struct vs_cost c, uint64_t times)
{
    sum->sram += times * c.sram;
    sum->cam += times * c.cam;
    sum->registers += times * c.registers;
    sum->comparators += times * c.comparators;
    sum->tristate += times * c.tristate;
}

/* Bits that keep state. */
static inline uint64_t vs_cost_storage(struct vs_cost c)
{
    return c.sram + c.cam + c.registers;
}

static inline uint64_t vs_cost_half_gates(struct vs_cost c)
{
    return 3 * c.sram + 6 * c.cam + 5 * c.registers + 5 * c.comparators + c.tristate;
}

/* Rounded up. */
static inline uint64_t vs_cost_gates(struct vs_cost c)
{
    return (vs_cost_half_gates(c) + 1) / 2;
}

#endif
