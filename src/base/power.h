/* SPDX-License-Identifier: MIT */
/* Powers of two. */
#ifndef BASE_POWER_H
#define BASE_POWER_H

#include <stdbool.h>
#include <stdint.h>

/* The width of a number that tells n things apart: ceil(log2 n); 0 for one thing or none. */
static inline unsigned vs_log2_ceil(uint64_t n)
{
    return n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 0;
}

static inline bool vs_is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

#endif
