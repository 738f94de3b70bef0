/* SPDX-License-Identifier: MIT */
/* A speech-like signal at 8 kHz for the coders: voiced, unvoiced and silent stretches, each a
 * source (pulses of gliding pitch, or noise) through three resonances. */
#ifndef VOICE_H
#define VOICE_H

#include <math.h>

#include "common/wl.h"

#define VOICE_RATE     8000
#define VOICE_FORMANTS 3

enum voice_kind { VOICE_SILENT, VOICE_NOISY, VOICE_VOICED };

struct voice {
    struct wl_rng rng;
    unsigned left; /* samples to the end of the stretch */
    enum voice_kind kind;
    double phase, step, glide, pulse, gain;
    double a0[VOICE_FORMANTS], a1[VOICE_FORMANTS], a2[VOICE_FORMANTS];
    double s1[VOICE_FORMANTS], s2[VOICE_FORMANTS];
};

static inline struct voice voice(uint64_t seed, uint64_t stream)
{
    return (struct voice){.rng = wl_rng(seed, stream)};
}

static inline double voice_between(struct voice *v, double low, double high)
{
    return low + (high - low) * wl_uniform(&v->rng);
}

static inline void voice_formant(struct voice *v, unsigned i, double hertz, double width)
{
    double r = wl_exp(-WL_PI * width / VOICE_RATE);

    v->a1[i] = 2 * r * wl_cos(2 * WL_PI * hertz / VOICE_RATE);
    v->a2[i] = -r * r;
    v->a0[i] = 1 - v->a1[i] - v->a2[i];
}

static inline void voice_stretch(struct voice *v)
{
    static const enum voice_kind kinds[8] = {VOICE_VOICED, VOICE_NOISY, VOICE_VOICED, VOICE_VOICED,
                                             VOICE_SILENT, VOICE_NOISY, VOICE_VOICED, VOICE_VOICED};
    double up = 1;

    v->left = 300 + (unsigned)wl_below(&v->rng, 1500);
    v->kind = kinds[wl_below(&v->rng, 8)];
    v->step = voice_between(v, 80, 220) / VOICE_RATE;
    v->glide = voice_between(v, -0.2, 0.2) * v->step / v->left;
    v->gain = v->kind == VOICE_VOICED ? voice_between(v, 2000, 9000) : voice_between(v, 60, 300);
    if (v->kind == VOICE_SILENT)
        v->gain = 8;
    if (v->kind == VOICE_NOISY)
        up = 1.4;
    voice_formant(v, 0, up * voice_between(v, 280, 850), 90);
    voice_formant(v, 1, up * voice_between(v, 900, 2100), 130);
    voice_formant(v, 2, up * voice_between(v, 2200, 2700), 200);
}

static inline double voice_source(struct voice *v)
{
    double noise = wl_uniform(&v->rng) - 0.5;

    if (v->kind != VOICE_VOICED)
        return noise;
    v->phase += v->step;
    v->step += v->glide;
    v->pulse *= 0.85;
    if (v->phase >= 1) {
        v->phase -= 1;
        v->pulse = 1;
    }
    return v->pulse - 0.1 + 0.02 * noise;
}

static inline int16_t voice_sample(struct voice *v)
{
    double x;

    if (v->left == 0)
        voice_stretch(v);
    v->left--;
    x = voice_source(v) * v->gain;
    for (unsigned i = 0; i < VOICE_FORMANTS; i++) {
        x = v->a0[i] * x + v->a1[i] * v->s1[i] + v->a2[i] * v->s2[i];
        v->s2[i] = v->s1[i];
        v->s1[i] = x;
    }
    if (x > 32767)
        return 32767;
    return x < -32768 ? -32768 : (int16_t)floor(x);
}

#endif
