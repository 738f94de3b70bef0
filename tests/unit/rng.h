/* SPDX-License-Identifier: MIT */
/* Pseudo-random numbers for tests: xorshift64*, the same on every machine for the same seed. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

struct rng {
    uint64_t state; /* never 0 */
};

static inline struct rng rng_init(uint64_t seed)
{
    /* Spreads small seeds over all bits; odd multiples of an odd number are not 0. */
    return (struct rng){(2 * seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};
}

static inline uint64_t rng_next(struct rng *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 to n - 1; n is not 0. Slightly uneven for large n, which tests do not mind. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    return rng_next(r) % n;
}

/* A number of any magnitude: as likely to need 3 bits as 60. */
static inline uint64_t rng_any(struct rng *r)
{
    uint64_t v = rng_next(r);
    return v >> rng_below(r, 64);
}

#endif
