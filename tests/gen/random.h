/* SPDX-License-Identifier: MIT */
/* Seeded random numbers that are the same on every host: no libc, no floating point. A caller keeps
 * it so by drawing one number per full expression: compilers differ in the order of arguments. */
#ifndef GEN_RANDOM_H
#define GEN_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

/* A good hash of 64 bits; a bijection. */
static inline uint64_t rng_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Streams of the same seed are unrelated to each other. */
static inline struct rng rng_make(uint64_t seed, uint64_t stream)
{
    return (struct rng){rng_mix(seed + 1) ^ rng_mix(~stream)};
}

static inline uint64_t rng_next(struct rng *r)
{
    r->state += 0x9e3779b97f4a7c15u;
    return rng_mix(r->state);
}

/* 0 to n - 1; n is not 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
    return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}

/* low to high, both included. */
static inline uint32_t rng_range(struct rng *r, uint32_t low, uint32_t high)
{
    return low + rng_below(r, high - low + 1);
}

static inline bool rng_percent(struct rng *r, uint32_t percent)
{
    return rng_below(r, 100) < percent;
}

static inline bool rng_one_in(struct rng *r, uint32_t n)
{
    return rng_below(r, n) == 0;
}

/* 1 to 2^(bits + 1) - 1, every power of two as likely as the others: many small, few large. */
static inline uint32_t rng_log(struct rng *r, uint32_t bits)
{
    uint32_t k = rng_below(r, bits + 1);
    return (1u << k) + rng_below(r, 1u << k);
}

#endif
