/* SPDX-License-Identifier: MIT */
/* Numbers that look random and are the same for the same seed. Not for secrets. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

#include "base/hash.h"

/* The next number of splitmix64. The state is the seed at first, which may be any number. */
static inline uint64_t vs_random(uint64_t *state)
{
    uint64_t z = *state += VS_HASH_FACTOR;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

#endif
