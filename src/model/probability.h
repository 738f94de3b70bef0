/* SPDX-License-Identifier: MIT */
/* An adaptive probability that a bit is 1, for arithmetic coders: a number of VS_PROBABILITY_BITS
 * bits, 0.5 at first. After a bit it moves towards the bit by 2^-s of the distance, rounded towards
 * where it was. s is 1 for the first bit, and the least that satisfies 2^s >= n + 1 for the n-th,
 * but never more than the limit: early bits count as in an average, later ones decay. The number of
 * bits seen is kept until that no longer matters, which takes `limit` bits. */
#ifndef MODEL_PROBABILITY_H
#define MODEL_PROBABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cost.h"

enum {
    VS_PROBABILITY_BITS = 16,
    VS_PROBABILITY_LIMIT_MIN = 1,
    VS_PROBABILITY_LIMIT_MAX = 10,
};

struct vs_probability {
    uint16_t one;
    uint16_t seen;
};

static inline void vs_probability_init(struct vs_probability *p)
{
    *p = (struct vs_probability){.one = UINT16_C(1) << (VS_PROBABILITY_BITS - 1)};
}

static inline void vs_probabilities_init(struct vs_probability *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        vs_probability_init(&p[i]);
}

/* What a coder of 16 bits takes: 1 to 65535. */
static inline uint32_t vs_probability_of_one(const struct vs_probability *p)
{
    return p->one ? p->one : 1;
}

/* Learns a bit. */
static inline void vs_probability_learn(struct vs_probability *p, bool bit, unsigned limit)
{
    unsigned s = limit;
    if (p->seen + 1u < 1u << limit) {
        p->seen++;
        s = 32 - (unsigned)__builtin_clz(p->seen);
    }
    if (bit)
        p->one = (uint16_t)(p->one + ((UINT16_MAX - p->one) >> s));
    else
        p->one = (uint16_t)(p->one - (p->one >> s));
}

/* The cost of one. */
static inline struct vs_cost vs_probability_cost(unsigned limit)
{
    return (struct vs_cost){.sram = VS_PROBABILITY_BITS + limit};
}

#endif
