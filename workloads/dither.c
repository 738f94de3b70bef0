/* SPDX-License-Identifier: MIT */
/* Dithers a generated grey picture by error diffusion with several kernels, row by row in
 * alternating direction, to two and to four levels; the packed rows are then compressed by run
 * lengths. Each pixel's outcome decides where the error goes next, so the branches follow no
 * pattern. */
#include <stdlib.h>
#include <string.h>

#include "picture.h"

#define TAPS   12
#define MARGIN 2 /* how far a kernel reaches, each way and down */
#define ROWS   (MARGIN + 1)

static const struct wl_program program = {
    .name = "dither",
    .about = "error diffusion of a generated picture with several kernels",
    .size = "side of the picture in pixels",
    .size_default = 56,
    .size_min = 1,
    .size_max = 8192,
    .threads_max = 1,
};

struct tap {
    int8_t dx, dy, weight;
};

struct kernel {
    int divisor;
    unsigned levels;
    struct tap taps[TAPS]; /* to the one of weight 0 */
};

#define JARVIS                                                                                     \
    {                                                                                              \
        {1, 0, 7}, {2, 0, 5}, {-2, 1, 3}, {-1, 1, 5}, {0, 1, 7}, {1, 1, 5}, {2, 1, 3}, {-2, 2, 1}, \
            {-1, 2, 3}, {0, 2, 5}, {1, 2, 3}, {2, 2, 1},                                           \
    }
#define FLOYD                                                                                      \
    {                                                                                              \
        {1, 0, 7}, {-1, 1, 3}, {0, 1, 5},                                                          \
        {                                                                                          \
            1, 1, 1                                                                                \
        }                                                                                          \
    }

static const struct kernel kernels[] = {
    {16, 2, FLOYD},
    {16, 4, FLOYD},
    {48, 2, JARVIS},
    {8, 2, {{1, 0, 1}, {2, 0, 1}, {-1, 1, 1}, {0, 1, 1}, {1, 1, 1}, {0, 2, 1}}}, /* Atkinson */
    {32, 4, {{1, 0, 8}, {2, 0, 4}, {-2, 1, 2}, {-1, 1, 4}, {0, 1, 8}, {1, 1, 4}, {2, 1, 2}}},
    {4, 2, {{1, 0, 2}, {-1, 1, 1}, {0, 1, 1}}}, /* Sierra's short one */
};

#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

struct dither {
    size_t side;
    uint8_t *grey;
    int32_t *carry[ROWS]; /* errors times weights for this row and those below it */
    uint8_t *packed, *runs;
    uint8_t *level; /* the last kernel's result, a byte per pixel */
};

/* ---- diffusion ------------------------------------------------------------------------------- */

static int nearest(int a, int divisor)
{
    return (a < 0 ? a - divisor / 2 : a + divisor / 2) / divisor;
}

static unsigned quantise(int v, unsigned levels)
{
    if (levels == 2)
        return v >= 128;
    if (v < 128)
        return v >= 43;
    return v >= 213 ? 3 : 2;
}

/* Spreads an error at x, in the direction of the row. What falls off the sides is dropped. */
static void spread(struct dither *d, const struct kernel *k, ptrdiff_t x, int direction, int error)
{
    for (const struct tap *t = k->taps; t < k->taps + TAPS && t->weight; t++) {
        ptrdiff_t to = x + direction * t->dx;

        if (to >= 0 && to < (ptrdiff_t)d->side)
            d->carry[t->dy][to] += error * t->weight;
    }
}

static void diffuse_row(struct dither *d, const struct kernel *k, size_t y)
{
    int direction = y & 1 ? -1 : 1, scale = 255 / (int)(k->levels - 1);
    ptrdiff_t x = direction > 0 ? 0 : (ptrdiff_t)d->side - 1;

    for (size_t i = 0; i < d->side; i++, x += direction) {
        int v = d->grey[y * d->side + (size_t)x] + nearest(d->carry[0][x], k->divisor);
        unsigned level = quantise(v, k->levels);
        int error = v - (int)level * scale;

        d->level[y * d->side + (size_t)x] = (uint8_t)level;
        if (error != 0)
            spread(d, k, x, direction, error);
    }
}

static void next_row(struct dither *d)
{
    int32_t *done = d->carry[0];

    for (unsigned r = 0; r + 1 < ROWS; r++)
        d->carry[r] = d->carry[r + 1];
    d->carry[ROWS - 1] = done;
    memset(done, 0, d->side * sizeof(*done));
}

/* ---- rows as bytes, then as runs ------------------------------------------------------------- */

static size_t pack(const struct dither *d, unsigned bits, const uint8_t *level)
{
    unsigned held = 0, word = 0;
    size_t n = 0;

    for (size_t x = 0; x < d->side; x++) {
        word = word << bits | level[x];
        held += bits;
        if (held == 8) {
            d->packed[n++] = (uint8_t)word;
            held = 0;
        }
    }
    if (held)
        d->packed[n++] = (uint8_t)(word << (8 - held));
    return n;
}

static size_t run_length(const uint8_t *in, size_t n, size_t limit)
{
    size_t i = 1;

    while (i < n && i < limit && in[i] == in[0])
        i++;
    return i;
}

/* A byte c below 128 says that c + 1 bytes follow as they are, another that the next one comes
 * c - 125 times: 3 to 130. */
static size_t compress(const uint8_t *in, size_t n, uint8_t *out)
{
    size_t made = 0, from = 0, at = 0;

    while (at < n) {
        size_t run = run_length(in + at, n - at, 130);

        if (run < 3)
            at++;
        if (at > from && (run >= 3 || at == n || at - from == 128)) {
            out[made++] = (uint8_t)(at - from - 1);
            memcpy(out + made, in + from, at - from);
            made += at - from;
            from = at;
        }
        if (run >= 3) {
            out[made++] = (uint8_t)(run + 125);
            out[made++] = in[at];
            at += run;
            from = at;
        }
    }
    return made;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The runs of a row give the packed row back. */
static bool expands(const uint8_t *runs, size_t made, const uint8_t *packed, size_t n)
{
    size_t at = 0, i = 0;

    while (i < made) {
        size_t count = runs[i] < 128 ? runs[i] + 1u : runs[i] - 125u;

        if (count > n - at)
            return false;
        for (size_t j = 0; j < count; j++)
            if (packed[at + j] != (runs[i] < 128 ? runs[i + 1 + j] : runs[i + 1]))
                return false;
        i += runs[i] < 128 ? 1 + count : 2;
        at += count;
    }
    return at == n;
}

/* Diffusion the other way about: every pixel collects from the errors of those before it. */
static int collected(const struct dither *d, const struct kernel *k, const int *error, size_t x,
                     size_t y)
{
    int sum = 0;

    for (unsigned i = 0; i < TAPS && k->taps[i].weight; i++) {
        ptrdiff_t row = (ptrdiff_t)y - k->taps[i].dy;
        ptrdiff_t from = (ptrdiff_t)x + (row & 1 ? k->taps[i].dx : -k->taps[i].dx);

        if (row >= 0 && from >= 0 && from < (ptrdiff_t)d->side)
            sum += error[row * (ptrdiff_t)d->side + from] * k->taps[i].weight;
    }
    return sum;
}

static bool check(const struct dither *d, const struct kernel *k)
{
    int *error = wl_alloc(d->side * d->side * sizeof(*error));
    bool ok = true;

    for (size_t y = 0; y < d->side; y++) {
        for (size_t i = 0; i < d->side; i++) {
            size_t x = y & 1 ? d->side - 1 - i : i, at = y * d->side + x;
            int v = d->grey[at] + nearest(collected(d, k, error, x, y), k->divisor), level = 0;
            int scale = 255 / (int)(k->levels - 1);

            while (level + 1 < (int)k->levels &&
                   abs(v - (level + 1) * scale) <= abs(v - level * scale))
                level++;
            error[at] = v - level * scale;
            ok = ok && d->level[at] == level;
        }
    }
    free(error);
    return ok;
}

/* ---- the run --------------------------------------------------------------------------------- */

static uint64_t run(struct dither *d, const struct kernel *k, bool checked, bool *passed)
{
    uint64_t sum = 0;

    for (unsigned r = 0; r < ROWS; r++)
        memset(d->carry[r], 0, d->side * sizeof(**d->carry));
    for (size_t y = 0; y < d->side; y++) {
        size_t bytes, made;

        diffuse_row(d, k, y);
        next_row(d);
        bytes = pack(d, k->levels / 2, d->level + y * d->side);
        made = compress(d->packed, bytes, d->runs);
        sum = wl_sum_bytes(sum, d->runs, made);
        if (checked && !expands(d->runs, made, d->packed, bytes))
            *passed = false;
    }
    if (checked && !check(d, k))
        *passed = false;
    return sum;
}

static void prepare(struct dither *d, const struct wl_args *a)
{
    struct picture p = picture(a->seed, a->size);
    uint8_t *rgb = wl_alloc(a->size * 3);

    d->side = a->size;
    d->grey = wl_alloc(d->side * d->side);
    d->level = wl_alloc(d->side * d->side);
    d->packed = wl_alloc(d->side);
    d->runs = wl_alloc(2 * d->side + 2);
    for (unsigned r = 0; r < ROWS; r++)
        d->carry[r] = wl_alloc(d->side * sizeof(**d->carry));
    for (size_t y = 0; y < d->side; y++) {
        picture_row(&p, (int64_t)y, rgb);
        for (size_t x = 0; x < d->side; x++)
            d->grey[y * d->side + x] =
                (uint8_t)((77 * rgb[3 * x] + 150 * rgb[3 * x + 1] + 29 * rgb[3 * x + 2]) >> 8);
    }
    free(rgb);
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct dither *d = wl_alloc(sizeof(*d));
    bool passed = true;
    uint64_t sum = 0;

    prepare(d, &a);
    for (unsigned i = 0; i < KERNELS; i++)
        sum = wl_sum(sum, run(d, &kernels[i], a.check, &passed));
    for (unsigned r = 0; r < ROWS; r++)
        free(d->carry[r]);
    free(d->grey);
    free(d->level);
    free(d->packed);
    free(d->runs);
    free(d);
    return wl_finish(&program, &a, sum, passed);
}
