/* SPDX-License-Identifier: MIT */
/* Compresses a generated colour picture as JPEG does and decodes it again: luminance and halved
 * chrominance, 8x8 cosine transform in integers, quantisation, zig-zag order, run lengths and
 * Huffman codes made for the picture. Every component is coded twice through a pointer to what
 * becomes of a symbol: once to count, once to write. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dct.h"
#include "huffman.h"
#include "picture.h"

#define PLANES    3
#define SKIP16    0xf0 /* the symbol for sixteen zeros */
#define BLOCK_MAX 256  /* bytes that a coded block cannot exceed */

static const struct wl_program program = {
    .name = "jpeg",
    .about = "compresses a generated picture by cosine transform and Huffman codes, and decodes it",
    .size = "side of the picture in pixels",
    .size_default = 64,
    .size_min = 32,
    .size_max = 6000,
    .threads_max = 1,
};

/* One component, its samples padded to whole blocks. */
struct plane {
    size_t across, down; /* blocks */
    uint8_t *sample;
    int16_t *coefficient; /* quantised, a block after another, in zig-zag order */
};

struct image {
    size_t side;
    uint8_t *rgb;
    struct plane plane[PLANES];
};

/* ---- coding ---------------------------------------------------------------------------------- */

static void count_symbol(struct stream *s, struct code *c, unsigned symbol, unsigned bits,
                         uint32_t value)
{
    (void)s;
    (void)bits;
    (void)value;
    c->count[symbol]++;
}

static void write_symbol(struct stream *s, struct code *c, unsigned symbol, unsigned bits,
                         uint32_t value)
{
    put(s, c->length[symbol], c->bits[symbol]);
    put(s, bits, value);
}

typedef void emit(struct stream *s, struct code *c, unsigned symbol, unsigned bits, uint32_t value);

/* A value is its number of bits and these; those of a negative one are complemented. */
static void value(emit *e, struct stream *s, struct code *c, unsigned run, int v)
{
    unsigned magnitude = (unsigned)abs(v), bits = 0;

    while (magnitude >> bits)
        bits++;
    e(s, c, run << 4 | bits, bits, v < 0 ? magnitude ^ ((1u << bits) - 1) : magnitude);
}

static void code_plane(const struct plane *p, emit *e, struct stream *s, struct code *dc,
                       struct code *ac)
{
    int before = 0;

    for (size_t b = 0; b < p->across * p->down; b++) {
        const int16_t *v = p->coefficient + b * BLOCK;
        unsigned run = 0;

        value(e, s, dc, 0, v[0] - before);
        before = v[0];
        for (unsigned i = 1; i < BLOCK; i++) {
            if (v[i] == 0) {
                run++;
                continue;
            }
            for (; run > 15; run -= 16)
                e(s, ac, SKIP16, 0, 0);
            value(e, s, ac, run, v[i]);
            run = 0;
        }
        if (run)
            e(s, ac, 0, 0, 0);
    }
}

static void write_plane(const struct plane *p, struct stream *s)
{
    struct code *code = wl_alloc(2 * sizeof(*code));

    code_plane(p, count_symbol, NULL, &code[0], &code[1]);
    for (unsigned i = 0; i < 2; i++) {
        make_code(&code[i]);
        write_code(s, &code[i]);
    }
    code_plane(p, write_symbol, s, &code[0], &code[1]);
    flush(s);
    free(code);
}

/* ---- decoding -------------------------------------------------------------------------------- */

static int read_value(struct source *s, unsigned bits)
{
    int v = (int)take(s, bits);

    return bits && v < 1 << (bits - 1) ? v - (1 << bits) + 1 : v;
}

static void read_block(struct source *s, const struct code *dc, const struct code *ac, int before,
                       int16_t *v)
{
    v[0] = (int16_t)(before + read_value(s, take_symbol(s, dc) & 15));
    for (unsigned i = 1; i < BLOCK && !s->bad; i++) {
        unsigned symbol = take_symbol(s, ac);

        if (symbol == 0)
            return;
        i += symbol >> 4;
        if (i < BLOCK)
            v[i] = (int16_t)read_value(s, symbol & 15);
        else
            s->bad = true;
    }
}

static void read_plane(struct plane *p, struct source *s)
{
    struct code *code = wl_alloc(2 * sizeof(*code));
    int before = 0;

    read_code(s, &code[0]);
    read_code(s, &code[1]);
    for (size_t b = 0; b < p->across * p->down && !s->bad; b++) {
        read_block(s, &code[0], &code[1], before, p->coefficient + b * BLOCK);
        before = p->coefficient[b * BLOCK];
    }
    free(code);
}

/* ---- colours --------------------------------------------------------------------------------- */

static void prepare(struct image *m, size_t side)
{
    m->side = side;
    m->rgb = wl_alloc(side * side * 3);
    for (unsigned i = 0; i < PLANES; i++) {
        struct plane *p = &m->plane[i];
        size_t s = i ? (side + 1) / 2 : side;

        p->across = p->down = (s + SIDE - 1) / SIDE;
        p->sample = wl_alloc(p->across * p->down * BLOCK);
        p->coefficient = wl_alloc(p->across * p->down * BLOCK * sizeof(*p->coefficient));
    }
}

static void discard(struct image *m)
{
    free(m->rgb);
    for (unsigned i = 0; i < PLANES; i++) {
        free(m->plane[i].sample);
        free(m->plane[i].coefficient);
    }
}

static const uint8_t *pixel(const struct image *m, size_t x, size_t y)
{
    x = x < m->side ? x : m->side - 1;
    y = y < m->side ? y : m->side - 1;
    return m->rgb + 3 * (y * m->side + x);
}

/* Luminance, or the mean of a difference of colour over four pixels. Beyond the edges the last
 * pixels go on. */
static uint8_t component(const struct image *m, unsigned plane, size_t x, size_t y)
{
    const uint8_t *p = pixel(m, x, y);
    int v = 0;

    if (plane == 0)
        return (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
    for (unsigned i = 0; i < 4; i++) {
        p = pixel(m, 2 * x + i % 2, 2 * y + i / 2);
        v += plane == 1 ? -43 * p[0] - 85 * p[1] + 128 * p[2] : 128 * p[0] - 107 * p[1] - 21 * p[2];
    }
    return to_byte(((v + 512) >> 10) + 128);
}

static void split(struct image *m)
{
    for (unsigned i = 0; i < PLANES; i++) {
        struct plane *p = &m->plane[i];
        size_t width = p->across * SIDE;

        for (size_t at = 0; at < width * p->down * SIDE; at++)
            p->sample[at] = component(m, i, at % width, at / width);
    }
}

static void merge(struct image *m)
{
    for (size_t at = 0; at < m->side * m->side; at++) {
        size_t x = at % m->side, y = at / m->side;
        size_t half = y / 2 * m->plane[1].across * SIDE + x / 2;
        int l = m->plane[0].sample[y * m->plane[0].across * SIDE + x];
        int b = m->plane[1].sample[half] - 128, r = m->plane[2].sample[half] - 128;

        m->rgb[3 * at] = to_byte(l + ((359 * r + 128) >> 8));
        m->rgb[3 * at + 1] = to_byte(l - ((88 * b + 183 * r + 128) >> 8));
        m->rgb[3 * at + 2] = to_byte(l + ((454 * b + 128) >> 8));
    }
}

/* ---- the run --------------------------------------------------------------------------------- */

static size_t encode(const struct tables *t, struct image *m, uint8_t *bytes)
{
    struct stream s = {.bytes = bytes};

    split(m);
    for (unsigned i = 0; i < PLANES; i++) {
        struct plane *p = &m->plane[i];
        size_t stride = p->across * SIDE;

        for (size_t b = 0; b < p->across * p->down; b++)
            analyse(t, t->quantum[i > 0],
                    p->sample + b / p->across * stride * SIDE + b % p->across * SIDE, stride,
                    p->coefficient + b * BLOCK);
        write_plane(p, &s);
    }
    return s.at;
}

static bool decode(const struct tables *t, struct image *m, const uint8_t *bytes, size_t n)
{
    struct source s = {.bytes = bytes, .end = n};

    for (unsigned i = 0; i < PLANES; i++) {
        struct plane *p = &m->plane[i];
        size_t stride = p->across * SIDE;

        read_plane(p, &s);
        for (size_t b = 0; b < p->across * p->down; b++)
            synthesise(t, t->quantum[i > 0], p->coefficient + b * BLOCK,
                       p->sample + b / p->across * stride * SIDE + b % p->across * SIDE, stride);
    }
    merge(m);
    return !s.bad && s.at == n;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The value at (x, y) of the wave (u, w), by the definition of the transform. */
static double wave(unsigned x, unsigned y, unsigned u, unsigned w)
{
    double scale = (u ? 0.5 : sqrt(0.125)) * (w ? 0.5 : sqrt(0.125));

    return scale * wl_cos((2 * x + 1) * u * WL_PI / 16) * wl_cos((2 * y + 1) * w * WL_PI / 16);
}

static double *make_waves(const struct tables *t)
{
    double *waves = wl_alloc(BLOCK * BLOCK * sizeof(*waves));

    for (unsigned i = 0; i < BLOCK * BLOCK; i++)
        waves[i] =
            wave(i % SIDE, i / SIDE % SIDE, t->order[i / BLOCK] % SIDE, t->order[i / BLOCK] / SIDE);
    return waves;
}

/* Coefficients and decoded samples of a block are what the definition says, but for rounding. */
static bool right_block(const struct tables *t, const double *waves, const uint16_t *quantum,
                        const uint8_t *sample, const uint8_t *decoded, size_t stride,
                        const int16_t *v)
{
    double out[BLOCK] = {0};

    for (unsigned k = 0; k < BLOCK; k++) {
        double q = quantum[t->order[k]], sum = 0;

        for (unsigned i = 0; i < BLOCK; i++) {
            sum += (sample[i / SIDE * stride + i % SIDE] - 128) * waves[k * BLOCK + i];
            out[i] += v[k] * q * waves[k * BLOCK + i];
        }
        if (fabs(sum / q - v[k]) > 0.5 + 1 / q)
            return false;
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        double sum = out[i] < -128 ? -128 : out[i] > 127 ? 127 : out[i];

        if (fabs(sum - (decoded[i / SIDE * stride + i % SIDE] - 128)) > 1)
            return false;
    }
    return true;
}

static double squared_error(const uint8_t *a, const uint8_t *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum / (double)n;
}

static bool check_plane(const struct tables *t, const double *waves, unsigned i,
                        const struct plane *p, const struct plane *q)
{
    size_t blocks = p->across * p->down, stride = p->across * SIDE;

    for (size_t b = 0; b < blocks; b++) {
        size_t at = b / p->across * stride * SIDE + b % p->across * SIDE;

        if (!right_block(t, waves, t->quantum[i > 0], p->sample + at, q->sample + at, stride,
                         p->coefficient + b * BLOCK))
            return false;
    }
    return memcmp(p->coefficient, q->coefficient, blocks * BLOCK * sizeof(*p->coefficient)) == 0;
}

/* Beyond the planes: the noise is 26 dB below the greatest luminance, and 14 dB below the greatest
 * colours, of whose detail only a quarter is kept. */
static bool check(const struct tables *t, const struct image *m, const struct image *back)
{
    double *waves = make_waves(t);
    bool ok = true;

    for (unsigned i = 0; i < PLANES; i++)
        ok = ok && check_plane(t, waves, i, &m->plane[i], &back->plane[i]);
    free(waves);
    return ok &&
           squared_error(m->plane[0].sample, back->plane[0].sample,
                         m->plane[0].across * m->plane[0].down * BLOCK) < 160 &&
           squared_error(m->rgb, back->rgb, m->side * m->side * 3) < 2600;
}

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct picture scene = picture(a.seed, a.size);
    struct tables *t = wl_alloc(sizeof(*t));
    struct image m, back;
    uint8_t *bytes;
    size_t n, blocks;
    bool passed;
    uint64_t sum;

    make_tables(t);
    prepare(&m, a.size);
    prepare(&back, a.size);
    for (size_t y = 0; y < a.size; y++)
        picture_row(&scene, (int64_t)y, m.rgb + y * a.size * 3);
    blocks = m.plane[0].across * m.plane[0].down + 2 * m.plane[1].across * m.plane[1].down;
    bytes = wl_alloc(blocks * BLOCK_MAX + 2 * PLANES * TABLE_MAX);
    n = encode(t, &m, bytes);
    passed = decode(t, &back, bytes, n);
    sum = wl_sum_bytes(wl_sum_bytes(0, bytes, n), back.rgb, a.size * a.size * 3);
    if (a.check)
        passed = passed && check(t, &m, &back);
    discard(&m);
    discard(&back);
    free(bytes);
    free(t);
    return wl_finish(&program, &a, sum, passed);
}
