/* SPDX-License-Identifier: MIT */
/* Poisson's equation on a square with holes, by multigrid V-cycles with red-black Gauss-Seidel, as
 * many as the residual demands.
 *
 * Workers own bands of rows and meet at a barrier after each colour, transfer and reduction; coarse
 * grids are left to worker 0. Sums are made by row, then over the rows in order, by every worker
 * for itself, so that all come to the same decision.
 */
#ifndef MULTIGRID_H
#define MULTIGRID_H

#include <math.h>
#include <stdlib.h>

#include "wl.h"

#define LOG_COARSEST 4
#define COARSEST     (1 << LOG_COARSEST) /* intervals */
#define ALONE        32                  /* grids no finer than this are worker 0's */
#define MAX_LEVELS   9
#define MAX_CYCLES   40
#define TOLERANCE    1e-4

struct level {
    size_t m;      /* intervals along a side; (m + 1) x (m + 1) points */
    double *u, *f; /* the laplacian of u shall be f */
    double *r;     /* f less the laplacian of u */
    uint8_t *sea;  /* u is 0 where this is */
};

struct grids {
    struct level level[MAX_LEVELS]; /* the finest first */
    unsigned levels;
    double *by_row; /* partial results */
    pthread_barrier_t barrier;
};

/* The workers on a job: all, or worker 0 alone. */
struct team {
    struct grids *g;
    unsigned id, size;
};

static void meet(const struct team *t)
{
    if (t->size > 1)
        pthread_barrier_wait(&t->g->barrier);
}

/* Inner rows of worker t->id. */
static void rows(const struct team *t, size_t m, size_t *first, size_t *end)
{
    wl_share(m - 1, t->size, t->id, first, end);
    (*first)++;
    (*end)++;
}

static void relax(const struct team *t, const struct level *l, unsigned colour, double omega)
{
    size_t w = l->m + 1, first, end;
    double h2 = 1.0 / ((double)l->m * (double)l->m);

    rows(t, l->m, &first, &end);
    for (size_t i = first; i < end; i++) {
        double *u = l->u + i * w;

        for (size_t j = 1 + ((i + colour) & 1); j < l->m; j += 2)
            if (l->sea[i * w + j])
                u[j] +=
                    omega *
                    (0.25 * (u[j - 1] + u[j + 1] + *(u + j - w) + u[j + w] - h2 * l->f[i * w + j]) -
                     u[j]);
    }
    meet(t);
}

static void residual(const struct team *t, const struct level *l)
{
    size_t w = l->m + 1, first, end;
    double scale = (double)l->m * (double)l->m;

    rows(t, l->m, &first, &end);
    for (size_t i = first; i < end; i++) {
        for (size_t j = 1; j < l->m; j++) {
            const double *u = l->u + i * w + j;

            if (l->sea[i * w + j])
                l->r[i * w + j] =
                    l->f[i * w + j] - scale * (u[-1] + u[1] + *(u - w) + u[w] - 4 * *u);
        }
    }
    meet(t);
}

/* The residual of l, weighted, becomes the right side of the coarser c. */
static void restrict_to(const struct team *t, const struct level *l, const struct level *c)
{
    size_t w = l->m + 1, v = c->m + 1, first, end;

    rows(t, c->m, &first, &end);
    for (size_t i = first; i < end; i++) {
        for (size_t j = 1; j < c->m; j++) {
            const double *r = l->r + 2 * i * w + 2 * j, *n = r - w, *s = r + w;

            c->u[i * v + j] = 0;
            c->f[i * v + j] = 0.25 * *r + 0.125 * (r[-1] + r[1] + *n + *s) +
                              0.0625 * (n[-1] + n[1] + s[-1] + s[1]);
        }
    }
    meet(t);
}

/* Adds the bilinear interpolation of c to l, over sea. */
static void correct(const struct team *t, const struct level *l, const struct level *c)
{
    size_t w = l->m + 1, v = c->m + 1, first, end;

    rows(t, l->m, &first, &end);
    for (size_t i = first; i < end; i++) {
        const double *a = c->u + i / 2 * v, *b = i & 1 ? a + v : a;

        for (size_t j = 1; j < l->m; j++) {
            size_t k = j / 2, k1 = k + (j & 1);

            if (l->sea[i * w + j])
                l->u[i * w + j] += 0.25 * (a[k] + a[k1] + b[k] + b[k1]);
        }
    }
    meet(t);
}

static void smooth(const struct team *t, const struct level *l, unsigned sweeps, double omega)
{
    for (unsigned k = 0; k < 2 * sweeps; k++)
        relax(t, l, k & 1, omega);
}

static void v_cycle(const struct team *t, unsigned depth)
{
    const struct level *l = &t->g->level[depth];
    const struct team alone = {t->g, 0, 1};

    if (depth + 1 == t->g->levels) {
        smooth(t, l, 10, 1.6); /* all but solves it */
        return;
    }
    smooth(t, l, 2, 1);
    residual(t, l);
    restrict_to(t, l, l + 1);
    if (l[1].m > ALONE) {
        v_cycle(t, depth + 1);
    } else {
        if (t->id == 0)
            v_cycle(&alone, depth + 1);
        meet(t);
    }
    correct(t, l, l + 1);
    smooth(t, l, 2, 1);
}

/* The root of the sum of squares of a field on the finest grid. */
static double norm(const struct team *t, const double *field)
{
    size_t m = t->g->level[0].m, first, end;
    double sum = 0;

    rows(t, m, &first, &end);
    for (size_t i = first; i < end; i++) {
        double s = 0;

        for (size_t j = 1; j < m; j++)
            s += field[i * (m + 1) + j] * field[i * (m + 1) + j];
        t->g->by_row[i] = s;
    }
    meet(t);
    for (size_t i = 1; i < m; i++)
        sum += t->g->by_row[i];
    meet(t); /* by_row is free again */
    return sqrt(sum);
}

/* Adds to *cycles. Returns whether the residual has become small enough. The same in every worker.
 */
static bool solve(const struct team *t, unsigned *cycles)
{
    const struct level *l = &t->g->level[0];
    double enough = TOLERANCE * norm(t, l->f), r;
    unsigned n = 0;

    do {
        v_cycle(t, 0);
        residual(t, l);
        r = norm(t, l->r);
        ++*cycles;
    } while (!(r <= enough) && ++n < MAX_CYCLES);
    return r <= enough;
}

static void make_grids(struct grids *g, unsigned log_m)
{
    g->levels = log_m + 1 - LOG_COARSEST;
    for (unsigned k = 0; k < g->levels; k++) {
        struct level *l = &g->level[k];
        size_t points;

        l->m = (size_t)1 << (log_m - k);
        points = (l->m + 1) * (l->m + 1);
        l->u = wl_alloc(points * sizeof(double));
        l->f = wl_alloc(points * sizeof(double));
        l->r = wl_alloc(points * sizeof(double));
        l->sea = wl_alloc(points);
    }
    g->by_row = wl_alloc((g->level[0].m + 1) * sizeof(double));
}

static void free_grids(struct grids *g)
{
    for (unsigned k = 0; k < g->levels; k++) {
        free(g->level[k].u);
        free(g->level[k].f);
        free(g->level[k].r);
        free(g->level[k].sea);
    }
    free(g->by_row);
}

/* Coasts are lines of the coarsest grid, so every grid has the same land. */
static void coarsen_land(struct grids *g)
{
    for (unsigned k = 1; k < g->levels; k++) {
        struct level *l = &g->level[k];
        size_t w = l->m + 1, fine = 2 * l->m + 1;

        for (size_t i = 1; i < l->m; i++)
            for (size_t j = 1; j < l->m; j++)
                l->sea[i * w + j] = l[-1].sea[2 * i * fine + 2 * j];
    }
}

#endif
