/* SPDX-License-Identifier: MIT */
/* A register with the upper bits of the last address. It starts at 0. */
#ifndef MODEL_LASTVALUE_H
#define MODEL_LASTVALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"

struct vs_lastvalue {
    uint64_t upper;
    unsigned width; /* of an address, 1 to 64 */
    unsigned low;   /* bits below the register's, 0 to width */
};

/* The upper `bits` of addresses of `width` bits; bits <= width, width 1 to 64. */
static inline void vs_lastvalue_init(struct vs_lastvalue *v, unsigned width, unsigned bits)
{
    *v = (struct vs_lastvalue){.width = width, .low = width - bits};
}

static inline uint64_t vs_lastvalue_upper(const struct vs_lastvalue *v, uint64_t address)
{
    return v->low < 64 ? address >> v->low : 0;
}

/* The bits of an address that the register does not hold. */
static inline uint64_t vs_lastvalue_lower(const struct vs_lastvalue *v, uint64_t address)
{
    return v->low < 64 ? address & ((UINT64_C(1) << v->low) - 1) : address;
}

/* The address with the register's upper bits. */
static inline uint64_t vs_lastvalue_join(const struct vs_lastvalue *v, uint64_t lower)
{
    return (v->low < 64 ? v->upper << v->low : 0) | lower;
}

static inline bool vs_lastvalue_match(const struct vs_lastvalue *v, uint64_t address)
{
    return v->upper == vs_lastvalue_upper(v, address);
}

/* Keeps an address's upper bits. Returns whether the register had them already. */
static inline bool vs_lastvalue_update(struct vs_lastvalue *v, uint64_t address)
{
    uint64_t before = v->upper;

    v->upper = vs_lastvalue_upper(v, address);
    return v->upper == before;
}

static inline struct vs_cost vs_lastvalue_cost(const struct vs_lastvalue *v)
{
    unsigned bits = v->width - v->low;

    return (struct vs_cost){.registers = bits, .comparators = bits};
}

#endif
