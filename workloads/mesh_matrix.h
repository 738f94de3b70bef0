/* SPDX-License-Identifier: MIT */
/* The matrix that cholesky factorises: the weighted Laplacian, made definite by a small addition to
 * the diagonal, of a square mesh with random links, in an order of nested dissection with random
 * cuts. */
#ifndef MESH_MATRIX_H
#define MESH_MATRIX_H

#include <stdlib.h>

#include "wl.h"

/* Below the diagonal by rows, the diagonal apart. */
struct matrix {
    uint32_t n;
    uint32_t *start; /* n + 1 */
    uint32_t *col;
    double *val;
    double *diagonal;
};

struct mesh {
    uint32_t side, next;
    uint32_t *order; /* of a point: its row in the matrix */
    struct wl_rng rng;
};

/* Numbers the rectangle: both sides of a cut first, then the cut. */
static void dissect(struct mesh *m, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1)
{
    uint32_t w = x1 - x0, h = y1 - y0, cut;

    if (w * h <= 6 || (w < 3 && h < 3)) {
        for (uint32_t y = y0; y < y1; y++)
            for (uint32_t x = x0; x < x1; x++)
                m->order[y * m->side + x] = m->next++;
    } else if (w >= h) {
        cut = x0 + w / 2 - w / 8 + (uint32_t)wl_below(&m->rng, w / 4 + 1);
        dissect(m, x0, cut, y0, y1);
        dissect(m, cut + 1, x1, y0, y1);
        for (uint32_t y = y0; y < y1; y++)
            m->order[y * m->side + cut] = m->next++;
    } else {
        cut = y0 + h / 2 - h / 8 + (uint32_t)wl_below(&m->rng, h / 4 + 1);
        dissect(m, x0, x1, y0, cut);
        dissect(m, x0, x1, cut + 1, y1);
        for (uint32_t x = x0; x < x1; x++)
            m->order[cut * m->side + x] = m->next++;
    }
}

struct link {
    uint32_t low, high;
    double weight;
};

/* Most links to the east and south, some diagonal ones. Returns their number. */
static size_t make_links(struct mesh *m, struct link *links)
{
    static const struct {
        int dx, dy;
        unsigned of_8;
    } kind[4] = {{1, 0, 7}, {0, 1, 7}, {1, 1, 2}, {-1, 1, 2}};
    size_t n = 0;

    for (uint32_t y = 0; y < m->side; y++) {
        for (uint32_t x = 0; x < m->side; x++) {
            for (unsigned k = 0; k < 4; k++) {
                uint32_t tx = x + (uint32_t)kind[k].dx, ty = y + (uint32_t)kind[k].dy, a, b;

                if (tx >= m->side || ty >= m->side || wl_below(&m->rng, 8) >= kind[k].of_8)
                    continue;
                a = m->order[y * m->side + x];
                b = m->order[ty * m->side + tx];
                links[n++] = (struct link){a < b ? a : b, a < b ? b : a, 0.1 + wl_uniform(&m->rng)};
            }
        }
    }
    return n;
}

/* counts[i + 1] to starts. */
static void accumulate(uint32_t *start, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        start[i + 1] += start[i];
}

static struct matrix make_matrix(uint32_t side, uint64_t seed)
{
    uint32_t n = side * side;
    struct mesh m = {.side = side, .order = wl_alloc(n * sizeof(uint32_t)), .rng = wl_rng(seed, 1)};
    struct link *links = wl_alloc(4 * (size_t)n * sizeof(*links));
    struct matrix a = {.n = n, .start = wl_alloc((n + 2) * sizeof(uint32_t))};
    uint32_t *next = a.start + 1; /* one ahead while filling */
    size_t n_links;

    dissect(&m, 0, side, 0, side);
    n_links = make_links(&m, links);
    a.col = wl_alloc(n_links * sizeof(*a.col));
    a.val = wl_alloc(n_links * sizeof(*a.val));
    a.diagonal = wl_alloc(n * sizeof(*a.diagonal));
    for (uint32_t i = 0; i < n; i++)
        a.diagonal[i] = 0.01 + 0.1 * wl_uniform(&m.rng);
    for (size_t i = 0; i < n_links; i++)
        next[links[i].high + 1]++;
    accumulate(next, n);
    for (size_t i = 0; i < n_links; i++) {
        uint32_t at = next[links[i].high]++;

        a.col[at] = links[i].low;
        a.val[at] = -links[i].weight;
        a.diagonal[links[i].low] += links[i].weight;
        a.diagonal[links[i].high] += links[i].weight;
    }
    free(links);
    free(m.order);
    return a;
}

static void free_matrix(struct matrix *a)
{
    free(a->start);
    free(a->col);
    free(a->val);
    free(a->diagonal);
}

#endif
