/* SPDX-License-Identifier: MIT */
/* Addresses in fewer bits: the low ones, and the number of a register that has the upper ones.
 * There are 4 such registers, which start at 0. An address whose upper bits none of them has takes
 * the next one in turn, and names that were given to others with it then mean another address. */
#ifndef MODEL_REGION_H
#define MODEL_REGION_H

#include <stdint.h>

#include "model/cost.h"

enum { VS_REGIONS = 4, VS_REGION_BITS = 2 };

struct vs_region {
    uint64_t upper[VS_REGIONS];
    unsigned low, width; /* bits kept in names, and of an address */
    unsigned next;
};

/* low: 1 to width; all bits are kept if it is the width. */
static inline void vs_region_init(struct vs_region *r, unsigned width, unsigned low)
{
    *r = (struct vs_region){.low = low < width ? low : width, .width = width};
}

static inline void vs_region_clear(struct vs_region *r)
{
    vs_region_init(r, r->width, r->low);
}

/* How many bits a name has. */
static inline unsigned vs_region_name_bits(const struct vs_region *r)
{
    return r->low < r->width ? r->low + VS_REGION_BITS : r->width;
}

/* Names an address. */
static inline uint64_t vs_region_name(struct vs_region *r, uint64_t address)
{
    if (r->low >= r->width)
        return address;
    uint64_t upper = address >> r->low, lower = address & ((UINT64_C(1) << r->low) - 1);
    unsigned i = 0;
    while (i < VS_REGIONS && r->upper[i] != upper)
        i++;
    if (i == VS_REGIONS) {
        i = r->next;
        r->upper[i] = upper;
        r->next = (r->next + 1) % VS_REGIONS;
    }
    return lower << VS_REGION_BITS | i;
}

/* The address that a name means now. */
static inline uint64_t vs_region_address(const struct vs_region *r, uint64_t name)
{
    if (r->low >= r->width)
        return name;
    return r->upper[name % VS_REGIONS] << r->low | name >> VS_REGION_BITS;
}

static inline struct vs_cost vs_region_cost(const struct vs_region *r)
{
    uint64_t bits = r->low < r->width ? VS_REGIONS * (uint64_t)(r->width - r->low) : 0;
    return (struct vs_cost){.registers = bits ? bits + VS_REGION_BITS : 0, .comparators = bits};
}

#endif
