/* SPDX-License-Identifier: MIT */
/* The last three addresses that an ETMv4 module sent, of which its next address packet may name
 * one, or replace the low bits of the last. */
#ifndef MODEL_RECENT_H
#define MODEL_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"

enum { VS_RECENT_SIZE = 3 };

/* A zeroed struct has no address: its last one counts as 0. */
struct vs_recent {
    uint64_t addresses[VS_RECENT_SIZE]; /* the last one first */
    unsigned count;
};

static inline void vs_recent_push(struct vs_recent *r, uint64_t address)
{
    r->addresses[2] = r->addresses[1];
    r->addresses[1] = r->addresses[0];
    r->addresses[0] = address;
    r->count += r->count < VS_RECENT_SIZE;
}

/* Returns the place of an address, from 0, the first if there are several; VS_RECENT_SIZE if it is
 * not there. */
static inline unsigned vs_recent_find(const struct vs_recent *r, uint64_t address)
{
    unsigned i = 0;
    while (i < r->count && r->addresses[i] != address)
        i++;
    return i < r->count ? i : VS_RECENT_SIZE;
}

static inline struct vs_cost vs_recent_cost(unsigned address_bits)
{
    return (struct vs_cost){.registers = VS_RECENT_SIZE * (address_bits + 1),
                            .comparators = VS_RECENT_SIZE * address_bits};
}

#endif
