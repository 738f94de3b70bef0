/* SPDX-License-Identifier: MIT */
/* A picture to process: a gradient with soft clouds, overlaid by discs, boxes and stripes with hard
 * edges, and a little grain. Flat, smooth, textured and sharp parts, so that what a coder does
 * differs from place to place. Made a row at a time, from the top. */
#ifndef PICTURE_H
#define PICTURE_H

#include "common/wl.h"

#define PICTURE_SHAPES  12
#define PICTURE_LATTICE 32 /* points of the clouds' lattice each way, then it repeats */
#define PICTURE_CELL    16 /* pixels between them */

enum picture_kind { PICTURE_DISC, PICTURE_BOX, PICTURE_STRIPES, PICTURE_KINDS };

struct picture_shape {
    enum picture_kind kind;
    int64_t x, y, r;
    uint8_t colour[3];
};

struct picture {
    struct wl_rng rng;
    int64_t side;
    struct picture_shape shapes[PICTURE_SHAPES];
    uint8_t clouds[PICTURE_LATTICE * PICTURE_LATTICE];
};

static inline struct picture picture(uint64_t seed, uint64_t side)
{
    struct picture p = {.rng = wl_rng(seed, 0), .side = (int64_t)side};

    for (unsigned i = 0; i < PICTURE_SHAPES; i++) {
        struct picture_shape *s = &p.shapes[i];

        s->kind = (enum picture_kind)wl_below(&p.rng, PICTURE_KINDS);
        s->x = (int64_t)wl_below(&p.rng, side);
        s->y = (int64_t)wl_below(&p.rng, side);
        s->r = (int64_t)(side / 16 + wl_below(&p.rng, side / 8 + 1));
        for (unsigned c = 0; c < 3; c++)
            s->colour[c] = (uint8_t)wl_below(&p.rng, 256);
    }
    for (unsigned i = 0; i < PICTURE_LATTICE * PICTURE_LATTICE; i++)
        p.clouds[i] = (uint8_t)wl_below(&p.rng, 96);
    return p;
}

static inline bool picture_covers(const struct picture_shape *s, int64_t x, int64_t y)
{
    int64_t dx = x - s->x, dy = y - s->y;

    if (dx < -s->r || dx > s->r)
        return false;
    switch (s->kind) {
    case PICTURE_DISC:
        return dx * dx + dy * dy <= s->r * s->r;
    case PICTURE_STRIPES:
        return ((dx + 2 * dy) & 15) < 6;
    default:
        return true;
    }
}

/* The clouds at (x, y), between the four lattice points around it. */
static inline int picture_cloud(const struct picture *p, int64_t x, int64_t y)
{
    unsigned fx = (unsigned)(x % PICTURE_CELL), fy = (unsigned)(y % PICTURE_CELL);
    unsigned x0 = (unsigned)(x / PICTURE_CELL) % PICTURE_LATTICE, x1 = (x0 + 1) % PICTURE_LATTICE;
    unsigned y0 = (unsigned)(y / PICTURE_CELL) % PICTURE_LATTICE, y1 = (y0 + 1) % PICTURE_LATTICE;
    const uint8_t *a = p->clouds + y0 * PICTURE_LATTICE, *b = p->clouds + y1 * PICTURE_LATTICE;
    unsigned top = a[x0] * (PICTURE_CELL - fx) + a[x1] * fx;
    unsigned bottom = b[x0] * (PICTURE_CELL - fx) + b[x1] * fx;

    return (int)((top * (PICTURE_CELL - fy) + bottom * fy) / (PICTURE_CELL * PICTURE_CELL));
}

/* side pixels of three bytes. */
static inline void picture_row(struct picture *p, int64_t y, uint8_t *rgb)
{
    const struct picture_shape *here[PICTURE_SHAPES];
    unsigned n = 0;

    for (unsigned i = 0; i < PICTURE_SHAPES; i++)
        if (y >= p->shapes[i].y - p->shapes[i].r && y <= p->shapes[i].y + p->shapes[i].r)
            here[n++] = &p->shapes[i];
    for (int64_t x = 0; x < p->side; x++, rgb += 3) {
        int grain = (int)(wl_random(&p->rng) >> 62), cloud = picture_cloud(p, x, y);
        int base[3] = {(int)(x * 150 / p->side), (int)(y * 150 / p->side),
                       (int)(150 - (x + y) * 75 / p->side)};
        unsigned top = n;

        while (top > 0 && !picture_covers(here[top - 1], x, y))
            top--;
        for (unsigned c = 0; c < 3; c++) {
            int v = (top ? here[top - 1]->colour[c] : base[c] + cloud) + grain;

            rgb[c] = (uint8_t)(v > 255 ? 255 : v);
        }
    }
}

#endif
