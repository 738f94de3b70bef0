/* SPDX-License-Identifier: MIT */
/* Molecular dynamics of water: what water_nsq and water_spa share.
 *
 * A molecule is an oxygen and two hydrogens held by springs. Molecules interact by the Coulomb
 * forces between their nine pairs of atoms and a Lennard-Jones force between the oxygens, faded out
 * to zero at a cutoff of the distance of the oxygens, in a periodic box.
 *
 * Forces and energies are summed in fixed point: integer sums do not depend on their order, so
 * workers add their parts to shared molecules, each under its own lock, as they come. Every
 * interaction adds to one atom exactly what it takes from another.
 *
 * Units: nm, ps, atomic mass, kJ/mol.
 */
#ifndef WATER_H
#define WATER_H

#include <stdlib.h>
#include <string.h>

#include "common/wl.h"
#include "vec.h"

#define WATER_STEPS   3
#define WATER_DT      0.0002
#define WATER_DENSITY 33.4 /* molecules per nm^3 */
#define WATER_CUTOFF  0.45
#define WATER_FADE    0.35 /* where fading out starts */
#define WATER_SCALE   0x1p28

enum { OXYGEN, HYDROGEN_1, HYDROGEN_2, ATOMS };

static const double water_mass[ATOMS] = {15.9994, 1.008, 1.008};
static const double water_charge[ATOMS] = {-0.82, 0.41, 0.41};

struct molecule {
    struct vec at[ATOMS], speed[ATOMS];
};

/* In units of 1 / WATER_SCALE. */
struct water_force {
    int64_t f[ATOMS][3];
};

struct water {
    unsigned threads;
    size_t n;
    double box;
    struct molecule *molecule;
    struct water_force *force;
    pthread_mutex_t *lock; /* of force, one per molecule */
    int64_t potential[WATER_STEPS + 1];
    pthread_mutex_t potential_lock;
    pthread_barrier_t barrier;
    /* Adds to the forces between molecules the part that is this worker's, returns its energy.
     * Called by all workers between barriers, with the sums cleared. */
    int64_t (*pairs)(struct water *w, unsigned id);
    void *more; /* the program's */
};

/* ---- interactions ---------------------------------------------------------------------------- */

/* Truncates towards zero, so that opposite forces stay opposite. The limit is far above anything
 * but a collapse of the liquid, which then at least is the same collapse everywhere. */
static inline int64_t water_fixed(double x)
{
    double v = x * WATER_SCALE;

    if (!(fabs(v) < 0x1p52))
        v = v > 0 ? 0x1p52 : -0x1p52;
    return (int64_t)v;
}

static inline void water_push(int64_t *a, int64_t *b, struct vec f)
{
    int64_t x = water_fixed(f.x), y = water_fixed(f.y), z = water_fixed(f.z);

    a[0] += x, a[1] += y, a[2] += z;
    b[0] -= x, b[1] -= y, b[2] -= z;
}

static inline void water_add(struct water_force *to, const struct water_force *f)
{
    for (unsigned i = 0; i < ATOMS; i++)
        for (unsigned k = 0; k < 3; k++)
            to->f[i][k] += f->f[i][k];
}

/* How far the nearest image of an atom d away is from the atom: a box, or nothing. */
static inline double water_nearest(double d, double box)
{
    if (d > 0.5 * box)
        return box;
    return d < -0.5 * box ? -box : 0;
}

/* One at FADE, zero at CUTOFF, smooth in between; *slope is its derivative by r2. */
static inline double water_fade(double r2, double *slope)
{
    const double start = WATER_FADE * WATER_FADE, width = WATER_CUTOFF * WATER_CUTOFF - start;
    double x = (r2 - start) / width;

    *slope = 0;
    if (x <= 0)
        return 1;
    *slope = 6 * x * (x - 1) / width;
    return 1 - x * x * (3 - 2 * x);
}

/* The interaction of two atoms d apart: returns the energy, *f is the force on the first. */
static inline double water_atoms(struct vec d, double charges, bool oxygens, struct vec *f)
{
    double inverse2 = 1 / vec_dot(d, d), u = 138.935 * charges * sqrt(inverse2), slope = u;

    if (oxygens) {
        double r6 = inverse2 * inverse2 * inverse2;
        double repulsion = 2.634e-6 * r6 * r6, dispersion = 2.617e-3 * r6;

        u += repulsion - dispersion;
        slope += 12 * repulsion - 6 * dispersion;
    }
    *f = vec_scale(d, slope * inverse2);
    return u;
}

/* Adds the forces between molecules a and b and their energy. False if they are too far apart. The
 * lower number must come first: the result is rounded and the same in both programs. */
static inline bool water_pair(const struct water *w, size_t a, size_t b, struct water_force *fa,
                              struct water_force *fb, int64_t *energy)
{
    const struct molecule *p = &w->molecule[a], *q = &w->molecule[b];
    struct vec d = vec_sub(p->at[OXYGEN], q->at[OXYGEN]), shift, f;
    double r2, fade, slope, u = 0;

    shift = vec(water_nearest(d.x, w->box), water_nearest(d.y, w->box), water_nearest(d.z, w->box));
    d = vec_sub(d, shift);
    r2 = vec_dot(d, d);
    if (r2 >= WATER_CUTOFF * WATER_CUTOFF)
        return false;
    fade = water_fade(r2, &slope);
    for (unsigned i = 0; i < ATOMS; i++)
        for (unsigned k = 0; k < ATOMS; k++) {
            struct vec e = vec_sub(vec_sub(p->at[i], q->at[k]), shift);

            u += water_atoms(e, water_charge[i] * water_charge[k], i + k == 0, &f);
            water_push(fa->f[i], fb->f[k], vec_scale(f, fade));
        }
    if (slope < 0)
        water_push(fa->f[OXYGEN], fb->f[OXYGEN], vec_scale(d, -2 * slope * u));
    *energy += water_fixed(fade * u);
    return true;
}

static inline int64_t water_spring(const struct molecule *m, struct water_force *f, unsigned i,
                                   unsigned k, double stiffness, double rest)
{
    struct vec d = vec_sub(m->at[i], m->at[k]);
    double r = vec_length(d), stretch = r - rest;

    water_push(f->f[i], f->f[k], vec_scale(d, -stiffness * stretch / r));
    return water_fixed(0.5 * stiffness * stretch * stretch);
}

static inline int64_t water_inside(const struct molecule *m, struct water_force *f)
{
    return water_spring(m, f, OXYGEN, HYDROGEN_1, 345000, 0.1) +
           water_spring(m, f, OXYGEN, HYDROGEN_2, 345000, 0.1) +
           water_spring(m, f, HYDROGEN_1, HYDROGEN_2, 90000, 0.1633);
}

/* ---- motion ---------------------------------------------------------------------------------- */

static inline void water_kick(struct molecule *m, const struct water_force *f)
{
    for (unsigned i = 0; i < ATOMS; i++) {
        const int64_t *g = f->f[i];
        struct vec v = vec((double)g[0], (double)g[1], (double)g[2]);

        m->speed[i] = vec_along(m->speed[i], v, WATER_DT / 2 / WATER_SCALE / water_mass[i]);
    }
}

/* Moves the atoms, and the molecule as a whole back into the box when its oxygen leaves it. */
static inline void water_drift(struct molecule *m, double box)
{
    struct vec o, out;

    for (unsigned i = 0; i < ATOMS; i++)
        m->at[i] = vec_along(m->at[i], m->speed[i], WATER_DT);
    o = m->at[OXYGEN];
    out = vec(box * floor(o.x / box), box * floor(o.y / box), box * floor(o.z / box));
    for (unsigned i = 0; i < ATOMS; i++)
        m->at[i] = vec_sub(m->at[i], out);
}

static inline void water_forces(struct water *w, unsigned id, unsigned step, size_t first,
                                size_t end)
{
    int64_t energy = 0;

    memset(&w->force[first], 0, (end - first) * sizeof(*w->force));
    pthread_barrier_wait(&w->barrier);
    for (size_t i = first; i < end; i++) {
        struct water_force f = {0};

        energy += water_inside(&w->molecule[i], &f);
        pthread_mutex_lock(&w->lock[i]);
        water_add(&w->force[i], &f);
        pthread_mutex_unlock(&w->lock[i]);
    }
    energy += w->pairs(w, id);
    pthread_mutex_lock(&w->potential_lock);
    w->potential[step] += energy;
    pthread_mutex_unlock(&w->potential_lock);
    pthread_barrier_wait(&w->barrier);
}

static inline void water_work(unsigned id, void *arg)
{
    struct water *w = arg;
    size_t first, end;

    wl_share(w->n, w->threads, id, &first, &end);
    water_forces(w, id, 0, first, end);
    for (unsigned step = 1; step <= WATER_STEPS; step++) {
        for (size_t i = first; i < end; i++) {
            water_kick(&w->molecule[i], &w->force[i]);
            water_drift(&w->molecule[i], w->box);
        }
        water_forces(w, id, step, first, end);
        for (size_t i = first; i < end; i++)
            water_kick(&w->molecule[i], &w->force[i]);
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static inline double water_cube_root(double x)
{
    return wl_exp(wl_log(x) / 3);
}

static inline struct vec water_random_vec(struct wl_rng *r, double width)
{
    return vec_scale(vec_sub(vec_random(r), vec(0.5, 0.5, 0.5)), width);
}

static inline void water_place(struct wl_rng *r, struct molecule *m, struct vec at)
{
    struct vec u = vec_unit(water_random_vec(r, 1)), side, speed;

    side = vec_unit(vec_cross(u, water_random_vec(r, 1)));
    m->at[OXYGEN] = at;
    m->at[HYDROGEN_1] = vec_along(vec_along(at, u, 0.0577), side, 0.0816);
    m->at[HYDROGEN_2] = vec_along(vec_along(at, u, 0.0577), side, -0.0816);
    speed = water_random_vec(r, 1.3);
    for (unsigned i = 0; i < ATOMS; i++)
        m->speed[i] = vec_add(speed, water_random_vec(r, i == OXYGEN ? 0.2 : 2.0));
}

/* The sites of a lattice, in no order. The lattice is as near to a cube as the number of molecules
 * allows, with few sites left empty: molecules too close would fly apart. */
static inline uint32_t *water_sites(struct wl_rng *r, size_t n, size_t side[3])
{
    uint32_t *site, sites;

    side[0] = side[1] = side[2] = 1;
    for (unsigned k = 0; side[0] * side[1] * side[2] < n; k++)
        side[k % 3]++;
    sites = (uint32_t)(side[0] * side[1] * side[2]);
    site = wl_alloc(sites * sizeof(*site));
    for (uint32_t i = 0; i < sites; i++) {
        uint64_t k = wl_below(r, i + 1);

        site[i] = site[k];
        site[k] = i;
    }
    return site;
}

static inline void water_generate(struct water *w, uint64_t seed)
{
    struct wl_rng r = wl_rng(seed, 0);
    size_t side[3];
    uint32_t *site = water_sites(&r, w->n, side);

    for (size_t i = 0; i < w->n; i++) {
        size_t x = site[i] % side[0], y = site[i] / side[0] % side[1];
        struct vec at = vec((double)x, (double)y, (double)(site[i] / side[0] / side[1]));

        at = vec_add(vec_add(at, vec(0.5, 0.5, 0.5)), water_random_vec(&r, 0.2));
        at = vec_scale(at, w->box);
        at = vec(at.x / (double)side[0], at.y / (double)side[1], at.z / (double)side[2]);
        water_place(&r, &w->molecule[i], at);
    }
    free(site);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static inline double water_kinetic(const struct water *w)
{
    double e = 0;

    for (size_t i = 0; i < w->n; i++)
        for (unsigned k = 0; k < ATOMS; k++)
            e += 0.5 * water_mass[k] * vec_dot(w->molecule[i].speed[k], w->molecule[i].speed[k]);
    return e;
}

/* Forces and energy by a plain loop over all pairs. */
static inline int64_t water_plain(const struct water *w, struct water_force *f)
{
    int64_t u = 0;

    memset(f, 0, w->n * sizeof(*f));
    for (size_t a = 0; a < w->n; a++) {
        u += water_inside(&w->molecule[a], &f[a]);
        for (size_t b = a + 1; b < w->n; b++)
            water_pair(w, a, b, &f[a], &f[b], &u);
    }
    return u;
}

/* Moves every atom by step times a random vector, the same for every call. Returns how much energy
 * the forces f say this costs; *scale is the size of the terms of that sum. */
static inline double water_shake(struct water *w, const struct water_force *f, double step,
                                 double *scale)
{
    struct wl_rng r = wl_rng(0, 1);
    double cost = 0, squares = 0;

    for (size_t i = 0; i < w->n; i++)
        for (unsigned k = 0; k < ATOMS; k++) {
            struct vec move = water_random_vec(&r, step);
            const int64_t *g = f[i].f[k];
            double c = vec_dot(move, vec((double)g[0], (double)g[1], (double)g[2]));

            w->molecule[i].at[k] = vec_add(w->molecule[i].at[k], move);
            cost -= c;
            squares += c * c;
        }
    *scale = sqrt(squares);
    return cost;
}

/* The last step's forces and energy are, to the last bit, those of a plain loop; the forces are the
 * slope of the energy; and the energy is still that of the start. Displaces the atoms. */
static inline bool water_check(struct water *w, double kinetic_before)
{
    struct water_force *f = wl_alloc(w->n * sizeof(*f));
    double kinetic = water_kinetic(w), drift, cost, scale;
    int64_t u = water_plain(w, f), before, after;
    bool same = u == w->potential[WATER_STEPS] && memcmp(f, w->force, w->n * sizeof(*f)) == 0;

    drift = kinetic + (double)(u - w->potential[0]) / WATER_SCALE - kinetic_before;
    water_shake(w, w->force, -1e-6, &scale);
    before = water_plain(w, f);
    cost = water_shake(w, w->force, 2e-6, &scale);
    after = water_plain(w, f);
    free(f);
    return same && fabs((double)(after - before) - cost) < 1e-4 * scale &&
           fabs(drift) < 0.01 * kinetic;
}

static inline uint64_t water_checksum(const struct water *w)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i <= WATER_STEPS; i++)
        sum = wl_sum(sum, (uint64_t)w->potential[i]);
    for (size_t i = 0; i < w->n; i++)
        for (unsigned k = 0; k < ATOMS; k++) {
            struct vec p = w->molecule[i].at[k], v = w->molecule[i].speed[k];

            sum = wl_sum_double(wl_sum_double(wl_sum_double(sum, p.x), p.y), p.z);
            sum = wl_sum_double(wl_sum_double(wl_sum_double(sum, v.x), v.y), v.z);
        }
    return sum;
}

/* ---- the frame of a program ------------------------------------------------------------------ */

static inline void water_init(struct water *w, const struct wl_args *a)
{
    w->threads = a->threads;
    w->n = a->size;
    w->box = water_cube_root((double)w->n / WATER_DENSITY);
    w->molecule = wl_alloc(w->n * sizeof(*w->molecule));
    w->force = wl_alloc(w->n * sizeof(*w->force));
    w->lock = wl_alloc(w->n * sizeof(*w->lock));
    for (size_t i = 0; i < w->n; i++)
        pthread_mutex_init(&w->lock[i], NULL);
    pthread_mutex_init(&w->potential_lock, NULL);
    pthread_barrier_init(&w->barrier, NULL, w->threads);
    water_generate(w, a->seed);
}

static inline int water_run(struct water *w, const struct wl_program *p, const struct wl_args *a)
{
    double kinetic = a->check ? water_kinetic(w) : 0;
    uint64_t sum;

    wl_run(w->threads, water_work, w);
    sum = water_checksum(w);
    return wl_finish(p, a, sum, !a->check || water_check(w, kinetic));
}

static inline void water_fini(struct water *w)
{
    pthread_barrier_destroy(&w->barrier);
    free(w->molecule);
    free(w->force);
    free(w->lock);
}

#endif
