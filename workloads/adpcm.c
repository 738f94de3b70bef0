/* SPDX-License-Identifier: MIT */
/* IMA-style ADPCM: two channels of a speech-like signal are coded at four bits a sample in blocks
 * that each carry their starting state, then decoded. The encoder tries several starting steps for
 * every block and gives a trial up once it is worse than the best so far, so how far it gets
 * depends on the data. */
#include <stdlib.h>
#include <string.h>

#include "voice.h"

#define CHANNELS 2
#define STEPS    89
#define SAMPLES  505 /* of a block: one in its header, two to each byte after it */
#define HEADER   4
#define BYTES    (HEADER + (SAMPLES - 1) / 2)

static const struct wl_program program = {
    .name = "adpcm",
    .about = "codes and decodes a speech-like signal at four bits a sample",
    .size = "number of blocks of 505 samples per channel",
    .size_default = 5,
    .size_min = 1,
    .size_max = 200000,
    .threads_max = 1,
};

static const int16_t steps[STEPS] = {
    7,     8,     9,     10,    11,    12,    13,    14,    16,    17,    19,   21,    23,
    25,    28,    31,    34,    37,    41,    45,    50,    55,    60,    66,   73,    80,
    88,    97,    107,   118,   130,   143,   157,   173,   190,   209,   230,  253,   279,
    307,   337,   371,   408,   449,   494,   544,   598,   658,   724,   796,  876,   963,
    1060,  1166,  1282,  1411,  1552,  1707,  1878,  2066,  2272,  2499,  2749, 3024,  3327,
    3660,  4026,  4428,  4871,  5358,  5894,  6484,  7132,  7845,  8630,  9493, 10442, 11487,
    12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767};

static const int8_t adapt[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

struct state {
    int value; /* the last sample as the decoder has it */
    int index; /* of the step */
};

struct channel {
    size_t blocks;
    int16_t *input, *output;
    uint8_t *code;
    struct state end; /* of the encoder */
};

static int clamp(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static void follow(struct state *s, unsigned code, int delta)
{
    s->value = clamp(code & 8 ? s->value - delta : s->value + delta, -32768, 32767);
    s->index = clamp(s->index + adapt[code & 7], 0, STEPS - 1);
}

static unsigned encode_sample(struct state *s, int sample)
{
    int step = steps[s->index], delta = step >> 3, diff = sample - s->value;
    unsigned code = 0;

    if (diff < 0) {
        code = 8;
        diff = -diff;
    }
    for (unsigned bit = 4; bit; bit >>= 1) {
        if (diff >= step) {
            code |= bit;
            diff -= step;
            delta += step;
        }
        step >>= 1;
    }
    follow(s, code, delta);
    return code;
}

static int decode_sample(struct state *s, unsigned code)
{
    int step = steps[s->index], delta = step >> 3;

    if (code & 4)
        delta += step;
    if (code & 2)
        delta += step >> 1;
    if (code & 1)
        delta += step >> 2;
    follow(s, code, delta);
    return s->value;
}

/* Codes a block from *s on. Returns the squared error, or anything above limit once it exceeds
 * it. */
static uint64_t trial(struct state *s, const int16_t *in, uint8_t *out, uint64_t limit)
{
    uint64_t error = 0;

    out[0] = (uint8_t)s->value;
    out[1] = (uint8_t)((unsigned)s->value >> 8);
    out[2] = (uint8_t)s->index;
    out[3] = 0;
    for (unsigned i = 1; i < SAMPLES && error <= limit; i++) {
        unsigned code = encode_sample(s, in[i]);
        int64_t d = in[i] - s->value;

        error += (uint64_t)(d * d);
        if (i & 1)
            out[HEADER + (i - 1) / 2] = (uint8_t)code;
        else
            out[HEADER + (i - 1) / 2] |= (uint8_t)(code << 4);
    }
    return error;
}

static void encode_block(struct state *s, const int16_t *in, uint8_t *out)
{
    static const int offsets[] = {0, 5, -5, 16, -16, 40};
    uint64_t best = UINT64_MAX;
    struct state after = *s;
    uint8_t code[BYTES];

    for (unsigned t = 0; t < sizeof(offsets) / sizeof(offsets[0]); t++) {
        struct state with = {in[0], s->index + offsets[t]};
        uint64_t error;

        if (with.index < 0 || with.index >= STEPS)
            continue;
        error = trial(&with, in, code, best);
        if (error < best) {
            best = error;
            after = with;
            memcpy(out, code, BYTES);
        }
    }
    *s = after;
}

static void decode_block(const uint8_t *in, int16_t *out)
{
    struct state s = {(int16_t)(in[0] | in[1] << 8), in[2]};

    out[0] = (int16_t)s.value;
    for (unsigned i = 1; i < SAMPLES; i++) {
        unsigned pair = in[HEADER + (i - 1) / 2];

        out[i] = (int16_t)decode_sample(&s, i & 1 ? pair & 15 : pair >> 4);
    }
}

static void run(struct channel *c)
{
    for (size_t b = 0; b < c->blocks; b++)
        encode_block(&c->end, c->input + b * SAMPLES, c->code + b * BYTES);
    for (size_t b = 0; b < c->blocks; b++)
        decode_block(c->code + b * BYTES, c->output + b * SAMPLES);
}

static uint64_t sum_channel(uint64_t sum, const struct channel *c)
{
    sum = wl_sum_bytes(sum, c->code, c->blocks * BYTES);
    for (size_t i = 0; i < c->blocks * SAMPLES; i++)
        sum = wl_sum(sum, (uint16_t)c->output[i]);
    return sum;
}

/* What a code adds to the value, by multiplication instead of bit by bit. The halves are rounded
 * one by one, as the coder does. */
static int change(int index, unsigned code)
{
    int s = steps[index], magnitude = 0;

    for (unsigned k = 0; k < 4; k++)
        magnitude += k == 3 || code >> (2 - k) & 1 ? s / (1 << k) : 0;
    return code & 8 ? -magnitude : magnitude;
}

/* Follows the decoder, and sees that no sample is further off than half the distance between two
 * codes (with some rounding) unless the code was the largest there is. */
static bool check_block(const uint8_t *code, const int16_t *in, const int16_t *out)
{
    int value = (int16_t)(code[0] | code[1] << 8), index = code[2];
    bool ok = value == out[0] && value == in[0];

    for (unsigned i = 1; i < SAMPLES && ok; i++) {
        unsigned c = code[HEADER + (i - 1) / 2] >> (i & 1 ? 0 : 4) & 15;
        int step = steps[index], next = value + change(index, c);

        value = next > 32767 ? 32767 : next < -32768 ? -32768 : next;
        index += (c & 7) < 4 ? -1 : 2 * (int)(c & 7) - 6;
        index = index < 0 ? 0 : index > STEPS - 1 ? STEPS - 1 : index;
        ok = value == out[i] && ((c & 7) == 7 || abs(in[i] - value) <= step / 8 + 3);
    }
    return ok;
}

static bool check(const struct channel *c)
{
    double signal = 1, noise = 0;

    for (size_t b = 0; b < c->blocks; b++)
        if (!check_block(c->code + b * BYTES, c->input + b * SAMPLES, c->output + b * SAMPLES))
            return false;
    for (size_t i = 0; i < c->blocks * SAMPLES; i++) {
        double d = c->input[i] - c->output[i];

        signal += (double)c->input[i] * c->input[i];
        noise += d * d;
    }
    return c->end.value == c->output[c->blocks * SAMPLES - 1] && noise < signal;
}

static void prepare(struct channel *c, size_t blocks, uint64_t seed, unsigned number)
{
    struct voice v = voice(seed, number);

    *c = (struct channel){.blocks = blocks};
    c->input = wl_alloc(blocks * SAMPLES * sizeof(*c->input));
    c->output = wl_alloc(blocks * SAMPLES * sizeof(*c->output));
    c->code = wl_alloc(blocks * BYTES);
    for (size_t i = 0; i < blocks * SAMPLES; i++)
        c->input[i] = voice_sample(&v);
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    uint64_t sum = 0;
    bool passed = true;

    for (unsigned i = 0; i < CHANNELS; i++) {
        struct channel c;

        prepare(&c, a.size, a.seed, i);
        run(&c);
        sum = sum_channel(sum, &c);
        if (a.check && !check(&c))
            passed = false;
        free(c.input);
        free(c.output);
        free(c.code);
    }
    return wl_finish(&program, &a, sum, passed);
}
