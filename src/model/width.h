/* SPDX-License-Identifier: MIT */
/* How wide numbers have been of late: a running mean of their lengths, from which both sides choose
 * the code of the next one. */
#ifndef MODEL_WIDTH_H
#define MODEL_WIDTH_H

#include <stdint.h>

#include "model/cost.h"

enum { VS_WIDTH_SHIFT = 3, VS_WIDTH_UNIT = 16 };

struct vs_width {
    uint16_t mean; /* in parts of VS_WIDTH_UNIT of a bit, up to 64 bits */
};

/* Returns the bits that suffice for most of the numbers; at least 1. */
static inline unsigned vs_width_bits(const struct vs_width *w)
{
    unsigned bits = (w->mean + VS_WIDTH_UNIT / 2u) / VS_WIDTH_UNIT;
    return bits ? bits : 1;
}

static inline void vs_width_note(struct vs_width *w, uint64_t number)
{
    int length = number ? 64 - __builtin_clzll(number) : 0;
    int off = length * VS_WIDTH_UNIT - w->mean;
    w->mean = (uint16_t)(w->mean + off / (1 << VS_WIDTH_SHIFT));
}

static inline struct vs_cost vs_width_cost(void)
{
    return (struct vs_cost){.registers = 11};
}

#endif
