/* SPDX-License-Identifier: MIT */
/* Logistic mixing: one probability out of several, by weights that learn which of them to believe.
 *
 * Probabilities are numbers of 65536ths. Their logarithmic odds, lb(p / (1 - p)), are taken in
 * 256ths and are about -4096 to 4096. Both ways go through small tables (mixer.c), so that all
 * machines agree. The mixed odds are the sum of the inputs' odds times their weights, each 65536ths
 * and at first the same, kept within VS_MIXER_ODDS; the mixed probability is kept within
 * VS_MIXER_LEAST of 0 and 1. After a bit, each weight moves by its odds times the error, shifted
 * right by VS_MIXER_RATE. Weights have 20 bits and saturate.
 *
 * Two mixers may share their inputs: then the probability is that of the mean of their odds, and
 * each learns from its own error. */
#ifndef MODEL_MIXER_H
#define MODEL_MIXER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/likely.h"
#include "model/cost.h"

enum {
    VS_MIXER_INPUTS = 8, /* at most */
    VS_MIXER_ODDS = 8191,
    VS_MIXER_LEAST = 4,
    VS_MIXER_RATE = 15,
    VS_MIXER_MOST = (1 << 19) - 1, /* of a weight */
};

struct vs_mixer {
    int32_t weight[VS_MIXER_INPUTS];
};

/* What one mixer makes of the odds of one bit. */
struct vs_mixed {
    int32_t odds;
    uint32_t one; /* the probability of a 1 */
};

extern const int16_t vs_mixer_log[16 * 32];
extern const uint32_t vs_mixer_near[129], vs_mixer_far[32];

static inline void vs_mixer_init(struct vs_mixer *m)
{
    for (unsigned i = 0; i < VS_MIXER_INPUTS; i++)
        m->weight[i] = 65536 * 3 / 10;
}

static inline struct vs_cost vs_mixer_cost(unsigned inputs)
{
    return (struct vs_cost){.sram = 20 * (uint64_t)inputs};
}

/* lb of 1 to 65535, in 256ths: by the exponent and the upper 5 bits below it, which a float shows
 * side by side. */
static inline int32_t vs_mixer_lb(uint32_t v)
{
    float f = (float)(int32_t)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return vs_mixer_log[(bits >> 18) - (127u << 5)];
}

static inline int32_t vs_mixer_odds(uint32_t one)
{
    return vs_mixer_lb(one) - vs_mixer_lb(65536 - one);
}

/* The probability with those odds. */
static inline uint32_t vs_mixer_probability(int32_t odds)
{
    uint32_t t = (uint32_t)(odds < 0 ? -odds : odds), small;
    if (t < 2048) {
        uint32_t a = vs_mixer_near[t / 16], b = vs_mixer_near[t / 16 + 1];
        small = a - ((a - b) * (t % 16) >> 4);
    } else {
        small = t < 16 * 256 ? vs_mixer_far[t / 8 % 32] >> (t / 256) : 0;
    }
    small = small < VS_MIXER_LEAST ? VS_MIXER_LEAST : small;
    return odds < 0 ? small : 65536 - small;
}

static inline struct vs_mixed vs_mixer_mix(const struct vs_mixer *m, const int32_t *odds,
                                           unsigned inputs)
{
    int64_t sum = 0;
    VS_UNROLL
    for (unsigned i = 0; i < inputs; i++)
        sum += (int64_t)m->weight[i] * odds[i];
    sum /= 65536;
    int32_t mixed = (int32_t)(sum < -VS_MIXER_ODDS  ? -VS_MIXER_ODDS
                              : sum > VS_MIXER_ODDS ? VS_MIXER_ODDS
                                                    : sum);
    return (struct vs_mixed){.odds = mixed, .one = vs_mixer_probability(mixed)};
}

/* The probability of a 1 that two mixers have together. */
static inline uint32_t vs_mixer_both(const struct vs_mixed *a, const struct vs_mixed *b)
{
    return vs_mixer_probability((a->odds + b->odds) / 2);
}

/* Learns the bit, whose mixed probability of being 1 was `one`. */
static inline void vs_mixer_learn(struct vs_mixer *m, const int32_t *odds, unsigned inputs,
                                  uint32_t one, bool bit)
{
    int32_t error = (bit ? 65536 : 0) - (int32_t)one;
    VS_UNROLL
    for (unsigned i = 0; i < inputs; i++) { /* odds have 13 bits, and the error has 17 */
        int32_t w = m->weight[i] + odds[i] * error / (1 << VS_MIXER_RATE);
        m->weight[i] = w < -VS_MIXER_MOST ? -VS_MIXER_MOST : w > VS_MIXER_MOST ? VS_MIXER_MOST : w;
    }
}

#endif
