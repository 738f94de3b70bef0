/* SPDX-License-Identifier: MIT */
/* A speech coder: each frame of a speech-like signal is windowed, its autocorrelation solved for a
 * predictor by Levinson and Durbin's recursion, whose reflection coefficients are quantised; what
 * they leave over is predicted from a pitch period before, and a third of the rest is coded in
 * three bits a sample. A decoder synthesises the signal again. Frames without energy or pitch take
 * shorter ways. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "voice.h"

#define FRAME   160
#define WINDOW  240 /* ends with the frame */
#define PART    40  /* pitch and residual are coded for each quarter of a frame */
#define ORDER   10
#define LAG_MIN PART
#define LAG_MAX 147
#define PAST    (LAG_MAX + FRAME)
#define GRID    3    /* every third sample of the rest is kept */
#define PULSES  13   /* of a part */
#define GROWTH  1.25 /* from one scale of the rest to the next, from 1 to over a million */
#define BYTES   34   /* that a coded frame cannot exceed */

static const struct wl_program program = {
    .name = "lpc",
    .about = "codes and decodes a speech-like signal by linear and pitch prediction",
    .size = "number of frames of 160 samples",
    .size_default = 20,
    .size_min = 1,
    .size_max = 1000000,
    .threads_max = 1,
};

/* Reflection coefficients are quantised as log area ratios, with these numbers of bits. */
static const uint8_t bits_of[ORDER] = {6, 6, 5, 5, 4, 4, 4, 4, 3, 3};
static const double gains[4] = {0.1, 0.35, 0.65, 1.0};

struct coder {
    size_t frames;
    double window[WINDOW];
    int16_t *input, *output;
    uint8_t *bytes;
    double signal[WINDOW];               /* pre-emphasised */
    double before;                       /* the last sample before pre-emphasis */
    double lattice[ORDER];               /* of the analysis filter */
    double synthesis[ORDER + 1], out;    /* of the decoder */
    double inverse[ORDER + 1];           /* of the check */
    double encoder[PAST], decoder[PAST]; /* residuals that both have, the frame's last */
    bool checked, passed;
};

/* ---- bits ------------------------------------------------------------------------------------ */

struct bits {
    uint8_t *bytes;
    unsigned at;
};

static void put(struct bits *b, unsigned n, unsigned value)
{
    while (n--) {
        b->bytes[b->at / 8] |= (uint8_t)((value >> n & 1) << (7 - b->at % 8));
        b->at++;
    }
}

static unsigned get(struct bits *b, unsigned n)
{
    unsigned v = 0;

    while (n--) {
        v = v << 1 | (b->bytes[b->at / 8] >> (7 - b->at % 8) & 1);
        b->at++;
    }
    return v;
}

/* ---- short-term prediction ------------------------------------------------------------------- */

static void take_frame(struct coder *c, const int16_t *in)
{
    memmove(c->signal, c->signal + FRAME, (WINDOW - FRAME) * sizeof(*c->signal));
    for (unsigned i = 0; i < FRAME; i++) {
        c->signal[WINDOW - FRAME + i] = in[i] - 0.9 * c->before;
        c->before = in[i];
    }
}

static void correlate(const struct coder *c, double *r)
{
    double w[WINDOW];

    for (unsigned i = 0; i < WINDOW; i++)
        w[i] = c->signal[i] * c->window[i];
    for (unsigned lag = 0; lag <= ORDER; lag++) {
        r[lag] = 0;
        for (unsigned i = lag; i < WINDOW; i++)
            r[lag] += w[i] * w[i - lag];
    }
    r[0] = r[0] * 1.0005 + 1; /* a floor of white noise keeps the equations well-conditioned */
}

/* Solves the normal equations for the predictor a[1..ORDER]; k are its reflection coefficients. */
static void levinson(const double *r, double *a, double *k)
{
    double error = r[0], next[ORDER + 1];

    memset(a, 0, (ORDER + 1) * sizeof(*a));
    for (unsigned m = 1; m <= ORDER; m++) {
        double sum = r[m];

        for (unsigned i = 1; i < m; i++)
            sum -= a[i] * r[m - i];
        k[m - 1] = sum / error;
        for (unsigned i = 1; i < m; i++)
            next[i] = a[i] - k[m - 1] * a[m - i];
        next[m] = k[m - 1];
        memcpy(a + 1, next + 1, m * sizeof(*a));
        error *= 1 - k[m - 1] * k[m - 1];
    }
}

static unsigned quantise_ratio(double k, unsigned bits)
{
    double ratio = wl_log((1 + k) / (1 - k)), half = 1 << (bits - 1);
    double step = ratio * half / 4 + half;

    if (step < 0)
        return 0;
    return step >= 2 * half ? (unsigned)(2 * half) - 1 : (unsigned)step;
}

static double reflection(unsigned code, unsigned bits)
{
    double half = 1 << (bits - 1), e = wl_exp((code + 0.5 - half) * 4 / half);

    return (e - 1) / (e + 1);
}

/* The residual of the frame, by a lattice of the coefficients that the decoder will have. */
static void analyse(struct coder *c, const double *k, double *residual)
{
    for (unsigned i = 0; i < FRAME; i++) {
        double f = c->signal[WINDOW - FRAME + i], b = f;

        for (unsigned m = 0; m < ORDER; m++) {
            double above = f - k[m] * c->lattice[m], below = c->lattice[m] - k[m] * f;

            c->lattice[m] = b;
            f = above;
            b = below;
        }
        residual[i] = f;
    }
}

/* The inverse; b is its state. */
static double synthesise(double *b, const double *k, double f)
{
    for (unsigned m = ORDER; m-- > 0;) {
        f += k[m] * b[m];
        b[m + 1] = b[m] - k[m] * f;
    }
    b[0] = f;
    return f;
}

/* ---- pitch ----------------------------------------------------------------------------------- */

/* How well the part at `now` resembles the past a lag before: correlation, squared, per energy. */
static double likeness(const double *part, const double *now, unsigned lag, unsigned step,
                       double *gain)
{
    double product = 0, energy = 1;

    for (unsigned i = 0; i < PART; i += step) {
        double p = now[(ptrdiff_t)i - (ptrdiff_t)lag];

        product += part[i] * p;
        energy += p * p;
    }
    *gain = product / energy;
    return product > 0 ? product * product / energy : 0;
}

/* Coarsely with every other sample, then closely around the best. Returns 0 if nothing is worth
 * the bits. */
static unsigned find_pitch(const double *part, const double *now, double *gain)
{
    double best = 0, energy = 1, g;
    unsigned at = 0, lag = 0;

    for (unsigned i = 0; i < PART; i++)
        energy += part[i] * part[i];
    if (energy < PART * 16.0)
        return 0;
    for (unsigned l = LAG_MIN; l <= LAG_MAX; l += 2) {
        double s = likeness(part, now, l, 2, &g);

        if (s > best) {
            best = s;
            at = l;
        }
    }
    best = energy * 0.08;
    for (unsigned l = at > LAG_MIN + 2 ? at - 2 : LAG_MIN; at && l <= at + 2 && l <= LAG_MAX; l++) {
        double s = likeness(part, now, l, 1, &g);

        if (s > best) {
            best = s;
            lag = l;
            *gain = g;
        }
    }
    return lag;
}

static unsigned quantise_gain(double gain)
{
    unsigned code = 0;

    while (code < 3 && gain > (gains[code] + gains[code + 1]) / 2)
        code++;
    return code;
}

/* ---- the rest -------------------------------------------------------------------------------- */

/* Which grid has most energy: 0, 1 or 2. */
static unsigned choose_grid(const double *rest)
{
    double e[GRID] = {0};

    for (unsigned i = 0; i < GRID * PULSES; i++)
        e[i % GRID] += rest[i] * rest[i];
    return e[1] > e[0] ? (e[2] > e[1] ? 2 : 1) : e[2] > e[0] ? 2 : 0;
}

static double peak_of(const double *rest, unsigned grid)
{
    double peak = 0;

    for (unsigned i = grid; i < GRID * PULSES; i += GRID)
        peak = fabs(rest[i]) > peak ? fabs(rest[i]) : peak;
    return peak;
}

static void code_rest(struct bits *b, const double *rest)
{
    unsigned grid = choose_grid(rest), scale = 0;
    double peak = peak_of(rest, grid), s = 1;

    for (; s < peak && scale < 63; scale++)
        s *= GROWTH;
    put(b, 2, grid);
    put(b, 6, scale);
    for (unsigned i = 0; i < PULSES; i++) {
        double v = rest[grid + GRID * i] / s * 4 + 4;

        put(b, 3, v < 0 ? 0 : v >= 8 ? 7 : (unsigned)v);
    }
}

/* Reads a part and appends its residual to the past; encoder and decoder both do, so as to predict
 * from the same. */
static void rebuild(struct bits *b, double *past, unsigned part)
{
    double *now = past + LAG_MAX + part * PART, gain = 0, s = 1;
    unsigned lag = LAG_MIN, grid;

    if (get(b, 1)) {
        lag = LAG_MIN + get(b, 7);
        gain = gains[get(b, 2)];
    }
    for (unsigned i = 0; i < PART; i++)
        now[i] = gain * now[(ptrdiff_t)i - (ptrdiff_t)lag];
    grid = get(b, 2);
    for (unsigned code = get(b, 6); code; code--)
        s *= GROWTH;
    for (unsigned i = 0; i < PULSES; i++)
        now[grid + GRID * i] += ((double)get(b, 3) - 3.5) / 4 * s;
}

/* For the check: the samples that are kept are off by no more than half a step, which is an eighth
 * of the scale, which is 1 or less than GROWTH times the peak. */
static bool close_enough(const double *residual, const double *now, const double *rest)
{
    unsigned grid = choose_grid(rest);
    double off[PART];

    for (unsigned i = 0; i < PART; i++)
        off[i] = residual[i] - now[i];
    return peak_of(off, grid) <= 0.125 + peak_of(rest, grid) * GROWTH / 8;
}

static void code_part(struct coder *c, struct bits *b, const double *residual, unsigned part)
{
    double *now = c->encoder + LAG_MAX + part * PART, rest[PART], gain = 0;
    unsigned lag = find_pitch(residual, now, &gain);
    struct bits back = *b;

    put(b, 1, lag != 0);
    if (lag) {
        put(b, 7, lag - LAG_MIN);
        put(b, 2, quantise_gain(gain));
        gain = gains[quantise_gain(gain)];
    }
    for (unsigned i = 0; i < PART; i++)
        rest[i] = residual[i] - (lag ? gain * now[(ptrdiff_t)i - (ptrdiff_t)lag] : 0);
    code_rest(b, rest);
    rebuild(&back, c->encoder, part);
    if (c->checked && !close_enough(residual, now, rest))
        c->passed = false;
}

static void next_frame(double *past)
{
    memmove(past, past + FRAME, LAG_MAX * sizeof(*past));
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* The predictor satisfies the normal equations and every reflection coefficient is less than 1. */
static bool solved(const double *r, const double *a, const double *k)
{
    for (unsigned i = 1; i <= ORDER; i++) {
        double sum = -r[i];

        for (unsigned j = 1; j <= ORDER; j++)
            sum += a[j] * r[i > j ? i - j : j - i];
        if (fabs(sum) > 1e-8 * r[0] || fabs(k[i - 1]) >= 1)
            return false;
    }
    return true;
}

/* Synthesis from the residual as it is gives the signal back. */
static bool inverts(struct coder *c, const double *k, const double *residual)
{
    bool ok = true;

    for (unsigned i = 0; i < FRAME; i++) {
        double v = synthesise(c->inverse, k, residual[i]);

        ok = ok && fabs(v - c->signal[WINDOW - FRAME + i]) < 1e-3;
    }
    return ok;
}

static void encode_frame(struct coder *c, const int16_t *in, uint8_t *bytes)
{
    double r[ORDER + 1], a[ORDER + 1], k[ORDER], residual[FRAME];
    struct bits b = {bytes, 0};

    take_frame(c, in);
    correlate(c, r);
    levinson(r, a, k);
    if (c->checked && !solved(r, a, k))
        c->passed = false;
    for (unsigned i = 0; i < ORDER; i++) {
        unsigned code = quantise_ratio(k[i], bits_of[i]);

        put(&b, bits_of[i], code);
        k[i] = reflection(code, bits_of[i]);
    }
    analyse(c, k, residual);
    if (c->checked && !inverts(c, k, residual))
        c->passed = false;
    for (unsigned p = 0; p < FRAME / PART; p++)
        code_part(c, &b, residual + p * PART, p);
    next_frame(c->encoder);
}

static int16_t to_sample(double v)
{
    return v > 32767 ? 32767 : v < -32768 ? -32768 : (int16_t)floor(v + 0.5);
}

static void decode_frame(struct coder *c, uint8_t *bytes, int16_t *out)
{
    struct bits b = {bytes, 0};
    double k[ORDER];

    for (unsigned i = 0; i < ORDER; i++)
        k[i] = reflection(get(&b, bits_of[i]), bits_of[i]);
    for (unsigned p = 0; p < FRAME / PART; p++)
        rebuild(&b, c->decoder, p);
    for (unsigned i = 0; i < FRAME; i++) {
        c->out = synthesise(c->synthesis, k, c->decoder[LAG_MAX + i]) + 0.9 * c->out;
        out[i] = to_sample(c->out);
    }
    next_frame(c->decoder);
}

/* The decoder predicts from what the encoder did, and its filter has not run away. */
static bool check(const struct coder *c)
{
    double signal = 1, noise = 0;

    for (size_t i = 0; i < c->frames * FRAME; i++) {
        double d = c->input[i] - c->output[i];

        signal += (double)c->input[i] * c->input[i];
        noise += d * d;
    }
    return c->passed && noise < 4 * signal &&
           memcmp(c->encoder, c->decoder, LAG_MAX * sizeof(*c->encoder)) == 0;
}

static struct coder *prepare(const struct wl_args *a)
{
    struct coder *c = wl_alloc(sizeof(*c));
    struct voice v = voice(a->seed, 0);

    c->frames = a->size;
    c->checked = a->check;
    c->passed = true;
    c->input = wl_alloc(c->frames * FRAME * sizeof(*c->input));
    c->output = wl_alloc(c->frames * FRAME * sizeof(*c->output));
    c->bytes = wl_alloc(c->frames * BYTES);
    for (unsigned i = 0; i < WINDOW; i++)
        c->window[i] = 0.54 - 0.46 * wl_cos(2 * WL_PI * i / (WINDOW - 1));
    for (size_t i = 0; i < c->frames * FRAME; i++)
        c->input[i] = voice_sample(&v);
    return c;
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct coder *c = prepare(&a);
    uint64_t sum = 0;
    bool passed;

    for (size_t f = 0; f < c->frames; f++)
        encode_frame(c, c->input + f * FRAME, c->bytes + f * BYTES);
    for (size_t f = 0; f < c->frames; f++) {
        decode_frame(c, c->bytes + f * BYTES, c->output + f * FRAME);
        sum = wl_sum_bytes(sum, c->bytes + f * BYTES, BYTES);
        for (unsigned i = 0; i < FRAME; i++)
            sum = wl_sum(sum, (uint16_t)c->output[f * FRAME + i]);
    }
    passed = !a.check || check(c);
    free(c->input);
    free(c->output);
    free(c->bytes);
    free(c);
    return wl_finish(&program, &a, sum, passed);
}
