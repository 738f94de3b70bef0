/* SPDX-License-Identifier: MIT */
/* A trace module's counter of a fixed width. It neither wraps around nor saturates: as soon as it
 * is full the module sends a message that says so, and counts on from 0. In a message all ones
 * stand for "full". */
#ifndef MODEL_COUNTER_H
#define MODEL_COUNTER_H

#include <stdint.h>

#include "model/cost.h"

enum {
    VS_COUNTER_BITS_MIN = 4,
    VS_COUNTER_BITS_MAX = 64, /* never full in practice: for streams without such messages */
};

/* All ones; bits: 1 to 64. */
static inline uint64_t vs_counter_full(uint64_t bits)
{
    return UINT64_MAX >> (64 - bits);
}

static inline struct vs_cost vs_counter_cost(uint64_t bits)
{
    return (struct vs_cost){.registers = bits};
}

#endif
