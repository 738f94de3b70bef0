/* SPDX-License-Identifier: MIT */
/* The 8x8 cosine transform in integers, with quantisation and zig-zag order, both ways. */
#ifndef DCT_H
#define DCT_H

#include "common/wl.h"

#define SIDE  8
#define BLOCK 64

/* What both directions need. */
struct tables {
    int32_t cosine[SIDE];       /* cos(i pi / 16) / 2, in units of 2^-13 */
    uint8_t order[BLOCK];       /* zig-zag: where the i-th coefficient is */
    uint16_t quantum[2][BLOCK]; /* of luminance and chrominance */
};

static inline void make_tables(struct tables *t)
{
    static const uint8_t luminance[BLOCK] = {
        16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
        14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
        18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99};
    static const uint8_t chrominance[4][4] = {
        {17, 18, 24, 47}, {18, 21, 26, 66}, {24, 26, 56, 99}, {47, 66, 99, 99}};
    unsigned n = 0;

    for (unsigned i = 0; i < SIDE; i++)
        t->cosine[i] = (int32_t)(wl_cos(i * WL_PI / 16) * 4096 + 0.5);
    for (unsigned d = 0; d < 2 * SIDE - 1; d++)
        for (unsigned i = 0; i <= d; i++) {
            unsigned y = d & 1 ? i : d - i, x = d - y;

            if (x < SIDE && y < SIDE)
                t->order[n++] = (uint8_t)(y * SIDE + x);
        }
    for (unsigned i = 0; i < BLOCK; i++) {
        unsigned x = i % SIDE, y = i / SIDE;

        t->quantum[0][i] = (uint16_t)((luminance[i] + 1) / 2);
        t->quantum[1][i] = (uint16_t)((x < 4 && y < 4 ? chrominance[y][x] : 99) / 2 + 1);
    }
}

/* One dimension, over v[0], v[stride] and so on; the result is shifted right. */
static inline void forward(const int32_t *c, int32_t *v, unsigned stride, unsigned shift)
{
    int32_t s[4], d[4], half = 1 << (shift - 1);

    for (unsigned i = 0; i < 4; i++) {
        s[i] = v[i * stride] + v[(7 - i) * stride];
        d[i] = v[i * stride] - v[(7 - i) * stride];
    }
    v[0] = ((s[0] + s[3] + s[1] + s[2]) * c[4] + half) >> shift;
    v[4 * stride] = ((s[0] + s[3] - s[1] - s[2]) * c[4] + half) >> shift;
    v[2 * stride] = ((s[0] - s[3]) * c[2] + (s[1] - s[2]) * c[6] + half) >> shift;
    v[6 * stride] = ((s[0] - s[3]) * c[6] - (s[1] - s[2]) * c[2] + half) >> shift;
    v[1 * stride] = (d[0] * c[1] + d[1] * c[3] + d[2] * c[5] + d[3] * c[7] + half) >> shift;
    v[3 * stride] = (d[0] * c[3] - d[1] * c[7] - d[2] * c[1] - d[3] * c[5] + half) >> shift;
    v[5 * stride] = (d[0] * c[5] - d[1] * c[1] + d[2] * c[7] + d[3] * c[3] + half) >> shift;
    v[7 * stride] = (d[0] * c[7] - d[1] * c[5] + d[2] * c[3] - d[3] * c[1] + half) >> shift;
}

static inline void inverse(const int32_t *c, int32_t *v, unsigned stride, unsigned shift)
{
    int32_t x1 = v[stride], x2 = v[2 * stride], x3 = v[3 * stride], x4 = v[4 * stride];
    int32_t x5 = v[5 * stride], x6 = v[6 * stride], x7 = v[7 * stride], half = 1 << (shift - 1);
    int32_t a[4], b[4];

    a[0] = (v[0] + x4) * c[4] + x2 * c[2] + x6 * c[6];
    a[1] = (v[0] - x4) * c[4] + x2 * c[6] - x6 * c[2];
    a[2] = (v[0] - x4) * c[4] - x2 * c[6] + x6 * c[2];
    a[3] = (v[0] + x4) * c[4] - x2 * c[2] - x6 * c[6];
    b[0] = x1 * c[1] + x3 * c[3] + x5 * c[5] + x7 * c[7];
    b[1] = x1 * c[3] - x3 * c[7] - x5 * c[1] - x7 * c[5];
    b[2] = x1 * c[5] - x3 * c[1] + x5 * c[7] + x7 * c[3];
    b[3] = x1 * c[7] - x3 * c[5] + x5 * c[3] - x7 * c[1];
    for (unsigned i = 0; i < 4; i++) {
        v[i * stride] = (a[i] + b[i] + half) >> shift;
        v[(7 - i) * stride] = (a[i] - b[i] + half) >> shift;
    }
}

/* Between the dimensions values have three more bits. */
static inline void analyse(const struct tables *t, const uint16_t *quantum, const uint8_t *sample,
                           size_t stride, int16_t *out)
{
    int32_t v[BLOCK];

    for (unsigned i = 0; i < BLOCK; i++)
        v[i] = sample[i / SIDE * stride + i % SIDE] - 128;
    for (unsigned y = 0; y < SIDE; y++)
        forward(t->cosine, v + y * SIDE, 1, 10);
    for (unsigned x = 0; x < SIDE; x++)
        forward(t->cosine, v + x, SIDE, 16);
    for (unsigned i = 0; i < BLOCK; i++) {
        int32_t x = v[t->order[i]], q = quantum[t->order[i]];

        out[i] = (int16_t)(x < 0 ? -((-x + q / 2) / q) : (x + q / 2) / q);
    }
}

static inline bool only_first(const int32_t *v)
{
    for (unsigned i = 1; i < SIDE; i++)
        if (v[i])
            return false;
    return true;
}

static inline uint8_t to_byte(int32_t v)
{
    return (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
}

static inline void synthesise(const struct tables *t, const uint16_t *quantum, const int16_t *in,
                              uint8_t *sample, size_t stride)
{
    int32_t v[BLOCK];

    for (unsigned i = 0; i < BLOCK; i++)
        v[t->order[i]] = in[i] * quantum[t->order[i]];
    for (unsigned y = 0; y < SIDE; y++) {
        int32_t *row = v + y * SIDE;

        if (!only_first(row)) {
            inverse(t->cosine, row, 1, 10);
            continue;
        }
        row[0] = (row[0] * t->cosine[4] + 512) >> 10;
        for (unsigned x = 1; x < SIDE; x++)
            row[x] = row[0];
    }
    for (unsigned x = 0; x < SIDE; x++)
        inverse(t->cosine, v + x, SIDE, 16);
    for (unsigned i = 0; i < BLOCK; i++)
        sample[i / SIDE * stride + i % SIDE] = to_byte(v[i] + 128);
}

#endif
