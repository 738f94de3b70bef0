/* SPDX-License-Identifier: MIT */
/* A wind-driven basin with islands: vorticity is carried along by the flow, and the stream function
 * of the flow comes from the vorticity through Poisson's equation, solved by multigrid.
 *
 * Workers own bands of rows and meet at barriers; see multigrid.h for the reductions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wl.h"
#include "multigrid.h"

#define STEPS    3
#define FRICTION 0.2

struct ocean {
    struct grids g; /* u is the stream function, f the vorticity */
    unsigned threads;
    double *next;         /* vorticity after the step */
    double *wind;         /* by row */
    double sum, wind_sum; /* with -c: of the vorticity as it should be, of the wind over the sea */
    bool converged;
    unsigned cycles;
};

/* ---- transport ------------------------------------------------------------------------------- */

/* The flow at point p through the face towards p + to, left being a quarter turn to the left of
 * that: differences of the stream function along the face. In units of 1 / 4h. */
static double through(const double *p, ptrdiff_t to, ptrdiff_t left)
{
    return p[left] + p[to + left] - p[-left] - p[to - left];
}

static double fastest(const struct team *t)
{
    const struct level *l = &t->g->level[0];
    ptrdiff_t w = (ptrdiff_t)l->m + 1;
    size_t first, end;
    double max = 0;

    rows(t, l->m, &first, &end);
    for (size_t i = first; i < end; i++) {
        double row_max = 0;

        for (ptrdiff_t j = 1; j < w - 1; j++) {
            const double *p = l->u + (ptrdiff_t)i * w + j;
            double x = fabs(through(p, 1, -w)), y = fabs(through(p, w, 1));

            if (x > row_max)
                row_max = x;
            if (y > row_max)
                row_max = y;
        }
        t->g->by_row[i] = row_max;
    }
    meet(t);
    for (size_t i = 1; i < l->m; i++)
        if (t->g->by_row[i] > max)
            max = t->g->by_row[i];
    meet(t);
    return max * 0.25 * (double)l->m;
}

/* What flows out of point at towards to: the vorticity of the side the flow comes from. No flow
 * into land. Both sides of a face find the same flux, so none is lost. */
static double outflow(const struct level *l, size_t at, ptrdiff_t to, ptrdiff_t left)
{
    size_t other = at + (size_t)to;
    double v;

    if (!l->sea[other])
        return 0;
    v = through(l->u + at, to, left);
    if (v > 0)
        return v * l->f[at];
    return v * l->f[other];
}

static void transport(const struct ocean *o, const struct team *t, double dt)
{
    const struct level *l = &t->g->level[0];
    ptrdiff_t w = (ptrdiff_t)l->m + 1;
    double scale = 0.25 * (double)l->m * (double)l->m;
    size_t first, end;

    rows(t, l->m, &first, &end);
    for (size_t i = first; i < end; i++) {
        for (size_t j = 1; j < l->m; j++) {
            size_t at = i * (size_t)w + j;
            double out;

            if (!l->sea[at])
                continue;
            out = outflow(l, at, 1, -w) + outflow(l, at, -1, w) + outflow(l, at, w, 1) +
                  outflow(l, at, -w, -1);
            o->next[at] = l->f[at] + dt * (o->wind[i] - FRICTION * l->f[at] - scale * out);
        }
    }
    meet(t);
}

static void worker(unsigned id, void *arg)
{
    struct ocean *o = arg;
    struct level *l = &o->g.level[0];
    const struct team t = {&o->g, id, o->threads};
    unsigned cycles = 0;
    bool converged = solve(&t, &cycles);

    for (unsigned step = 0; step < STEPS; step++) {
        double v = fastest(&t), dt = 0.4 / ((double)l->m * (v > 1e-3 ? v : 1e-3));

        transport(o, &t, dt);
        if (id == 0) {
            double *f = l->f;

            l->f = o->next;
            o->next = f;
            o->sum += dt * (o->wind_sum - FRICTION * o->sum);
        }
        meet(&t);
        converged = solve(&t, &cycles) && converged;
    }
    if (id == 0) {
        o->cycles = cycles;
        o->converged = converged;
    }
}

/* ---- the basin ------------------------------------------------------------------------------- */

struct disc {
    double x, y, radius, strength;
};

static struct disc random_disc(struct wl_rng *rng, double least, double most)
{
    struct disc d;

    d.x = wl_uniform(rng);
    d.y = wl_uniform(rng);
    d.radius = least + (most - least) * wl_uniform(rng);
    d.strength = 2 * wl_uniform(rng) - 1;
    return d;
}

/* 1 in the middle of the disc, 0 at its rim and outside. */
static double inside(const struct disc *d, double x, double y)
{
    double q = ((x - d->x) * (x - d->x) + (y - d->y) * (y - d->y)) / (d->radius * d->radius);

    return q < 1 ? 1 - q : 0;
}

/* Islands grow by random walks over the squares of the coarsest grid. */
static void raise_islands(struct ocean *o, struct wl_rng *rng)
{
    struct level *l = &o->g.level[0];
    size_t square = l->m / COARSEST, w = l->m + 1;

    for (size_t at = 0; at < w * w; at++)
        l->sea[at] = at % w > 0 && at % w < l->m && at / w > 0 && at / w < l->m;
    for (unsigned k = 0; k < 4; k++) {
        size_t x = 1 + wl_below(rng, COARSEST - 2), y = 1 + wl_below(rng, COARSEST - 2);

        for (uint64_t steps = 2 + wl_below(rng, 5); steps > 0; steps--) {
            size_t *way = wl_below(rng, 2) ? &x : &y;

            for (size_t i = y * square; i <= (y + 1) * square; i++)
                memset(l->sea + i * w + x * square, 0, square + 1);
            *way = *way <= 1 || (*way < COARSEST - 2 && wl_below(rng, 2)) ? *way + 1 : *way - 1;
        }
    }
}

/* The vorticity at the start is that of some eddies. */
static void fill_basin(struct ocean *o, uint64_t seed)
{
    enum { EDDIES = 10 };
    struct wl_rng rng = wl_rng(seed, 1);
    struct disc eddy[EDDIES];
    struct level *l = &o->g.level[0];
    double h = 1.0 / (double)l->m;

    raise_islands(o, &rng);
    for (unsigned k = 0; k < EDDIES; k++)
        eddy[k] = random_disc(&rng, 0.1, 0.3);
    for (size_t i = 1; i < l->m; i++) {
        o->wind[i] = -wl_sin(2 * WL_PI * (double)i * h);
        for (size_t j = 1; j < l->m; j++) {
            size_t at = i * (l->m + 1) + j;

            for (unsigned k = 0; k < EDDIES && l->sea[at]; k++)
                l->f[at] += eddy[k].strength * inside(&eddy[k], (double)j * h, (double)i * h);
        }
    }
}

/* Sums over the sea: the budget that transport must keep. */
static double sum_of(const struct ocean *o, const double *field, const double *per_row,
                     double *magnitude)
{
    const struct level *l = &o->g.level[0];
    double sum = 0;

    *magnitude = 0;
    for (size_t i = 0; i <= l->m; i++) {
        for (size_t j = 0; j <= l->m; j++) {
            size_t at = i * (l->m + 1) + j;
            double v = !l->sea[at] ? 0 : field ? field[at] : per_row[i];

            sum += v;
            *magnitude += fabs(v);
        }
    }
    return sum;
}

/* The stream function belongs to the vorticity and is 0 on land, and the vorticity's sum is what
 * wind and friction have made of it. */
static bool verify(const struct ocean *o)
{
    const struct level *l = &o->g.level[0];
    size_t w = l->m + 1;
    double h2 = 1.0 / ((double)l->m * (double)l->m), off = 0, all = 0, magnitude, sum;

    for (size_t i = 0; i < w; i++) {
        for (size_t j = 0; j < w; j++) {
            const double *u = l->u + i * w + j;
            double e;

            if (!l->sea[i * w + j]) {
                if (*u != 0)
                    return false;
                continue;
            }
            e = u[-1] + u[1] + *(u - w) + u[w] - 4 * *u - h2 * l->f[i * w + j];
            off += e * e;
            all += h2 * l->f[i * w + j] * h2 * l->f[i * w + j];
        }
    }
    sum = sum_of(o, l->f, NULL, &magnitude);
    return o->converged && all > 0 && sqrt(off / all) <= 2 * TOLERANCE &&
           fabs(sum - o->sum) <= 1e-11 * magnitude;
}

static const struct wl_program program = {
    .name = "ocean",
    .about = "Wind-driven basin: red-black Gauss-Seidel multigrid on a square grid.",
    .size = "log2 of the intervals along a side",
    .size_default = 5,
    .size_min = 4,
    .size_max = 12,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args args = wl_args(&program, argc, argv);
    struct ocean *o = wl_alloc(sizeof(*o));
    const struct level *l = &o->g.level[0];
    double unused;
    uint64_t sum;
    bool passed;

    o->threads = args.threads;
    make_grids(&o->g, (unsigned)args.size);
    o->next = wl_alloc((l->m + 1) * (l->m + 1) * sizeof(double));
    o->wind = wl_alloc((l->m + 1) * sizeof(double));
    fill_basin(o, args.seed);
    coarsen_land(&o->g);
    if (args.check) {
        o->sum = sum_of(o, l->f, NULL, &unused);
        o->wind_sum = sum_of(o, NULL, o->wind, &unused);
    }
    pthread_barrier_init(&o->g.barrier, NULL, args.threads);
    wl_run(args.threads, worker, o);
    pthread_barrier_destroy(&o->g.barrier);
    sum = wl_sum(0, o->cycles);
    for (size_t i = 0; i < (l->m + 1) * (l->m + 1); i++)
        sum = wl_sum_double(wl_sum_double(sum, l->u[i]), l->f[i]);
    passed = !args.check || verify(o);
    free_grids(&o->g);
    free(o->next);
    free(o->wind);
    free(o);
    return wl_finish(&program, &args, sum, passed);
}
