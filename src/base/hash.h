/* SPDX-License-Identifier: MIT */
/* Scattering numbers. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

/* 2^64 divided by the golden ratio: its multiples are spread evenly over all 64-bit numbers. */
#define VS_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The upper bits of the product depend on all bits of the key, the lower ones only on the lower
 * ones: take them from the top. Part of the .vest format, whose predictors use it
 * (trace/predict.h). */
static inline uint64_t vs_hash(uint64_t key)
{
    return key * VS_HASH_FACTOR;
}

#endif
