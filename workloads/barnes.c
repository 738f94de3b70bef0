/* SPDX-License-Identifier: MIT */
/* Barnes-Hut N-body: two star clusters fall into each other.
 *
 * Every step builds an octree of the bodies (octree.h). All workers insert into the one tree, whose
 * shape does not depend on the order in which they do. Centres of mass climb from the lowest cells:
 * the worker that finishes the last child of a cell does the cell, adding the children in their
 * fixed order. Forces are divided by cost zones: the depth-first order of the tree is cut into
 * parts of equal cost, as counted in the step before.
 */
#include <stdlib.h>

#include "common/wl.h"
#include "octree.h"
#include "vec.h"

#define STEPS     3
#define TIME_STEP 0.02
#define SOFTENING 0.05
#define THETA     0.8

struct sim {
    unsigned threads;
    size_t n;
    struct body *body;
    struct arena *arena;
    struct vec *low, *high; /* per worker */
    struct cell *root;
    pthread_barrier_t barrier;
};

/* ---- building the tree ----------------------------------------------------------------------- */

static void new_root(struct sim *s)
{
    struct vec low = s->low[0], high = s->high[0], extent;
    double size;

    for (unsigned i = 1; i < s->threads; i++) {
        low = vec_min(low, s->low[i]);
        high = vec_max(high, s->high[i]);
    }
    extent = vec_sub(high, low);
    size = extent.x > extent.y ? extent.x : extent.y;
    size = extent.z > size ? extent.z : size;
    s->root = new_cell(&s->arena[0], NULL, size, vec_scale(vec_add(low, high), 0.5));
}

static void build(struct sim *s, unsigned id, size_t first, size_t end)
{
    s->low[id] = s->high[id] = s->body[first < end ? first : 0].node.at;
    for (size_t i = first; i < end; i++) {
        s->low[id] = vec_min(s->low[id], s->body[i].node.at);
        s->high[id] = vec_max(s->high[id], s->body[i].node.at);
    }
    reset(&s->arena[id]);
    pthread_barrier_wait(&s->barrier);
    if (id == 0)
        new_root(s);
    pthread_barrier_wait(&s->barrier);
    for (size_t i = first; i < end; i++)
        insert(&s->arena[id], s->root, &s->body[i]);
    pthread_barrier_wait(&s->barrier);
}

/* ---- centres of mass ------------------------------------------------------------------------- */

static void add_node(struct node *sum, const struct node *n)
{
    sum->cost += n->cost;
    sum->mass += n->mass;
    sum->at = vec_along(sum->at, n->at, n->mass);
}

static void summarise(struct cell *c)
{
    struct node sum = {.kind = CELL};

    for (unsigned k = 0; k < 8; k++) {
        struct node *n = child_of(c, k);

        if (n && n->kind == CELL)
            add_node(&sum, n);
        else
            for (struct body *b = (struct body *)n; b; b = b->same)
                add_node(&sum, &b->node);
    }
    sum.at = vec_scale(sum.at, 1.0 / sum.mass);
    c->node = sum;
}

static void climb(struct cell *c)
{
    do {
        summarise(c);
        c = c->parent;
    } while (c && atomic_fetch_add_explicit(&c->done, 1, memory_order_acq_rel) + 1 == c->inner);
}

static void centres(struct sim *s, unsigned id)
{
    struct arena *a = &s->arena[id];

    for (struct chunk *c = a->first;; c = c->next) {
        unsigned used = c == a->current ? a->used : CHUNK;

        for (unsigned i = 0; i < used; i++)
            if (c->cell[i].inner == 0)
                climb(&c->cell[i]);
        if (c == a->current)
            break;
    }
    pthread_barrier_wait(&s->barrier);
}

/* ---- forces ---------------------------------------------------------------------------------- */

static struct vec attraction(struct vec at, const struct node *n)
{
    struct vec d = vec_sub(n->at, at);
    double r2 = vec_dot(d, d) + SOFTENING * SOFTENING;

    return vec_scale(d, n->mass / (r2 * sqrt(r2)));
}

static void pull(struct body *b, const struct cell *c)
{
    for (unsigned k = 0; k < 8; k++) {
        const struct node *n = child_of(c, k);

        if (!n)
            continue;
        if (n->kind == CELL) {
            const struct cell *sub = (const struct cell *)n;
            struct vec d = vec_sub(n->at, b->node.at);

            if (sub->size * sub->size >= THETA * THETA * vec_dot(d, d)) {
                pull(b, sub);
                continue;
            }
            b->pull = vec_add(b->pull, attraction(b->node.at, n));
            b->work++;
            continue;
        }
        for (const struct body *o = (const struct body *)n; o; o = o->same)
            if (o != b) {
                b->pull = vec_add(b->pull, attraction(b->node.at, &o->node));
                b->work++;
            }
    }
}

/* Computes the bodies below c whose costs start within [low, high). Returns the cost at its end. */
static uint64_t zone(struct sim *s, struct cell *c, uint64_t start, uint64_t low, uint64_t high)
{
    for (unsigned k = 0; k < 8 && start < high; k++) {
        struct node *n = child_of(c, k);

        if (n && n->kind == CELL) {
            if (start + n->cost > low)
                zone(s, (struct cell *)n, start, low, high);
            start += n->cost;
            continue;
        }
        for (struct body *b = (struct body *)n; b; b = b->same) {
            if (start >= low && start < high) {
                b->pull = vec(0, 0, 0);
                b->work = 0;
                pull(b, s->root);
            }
            start += b->node.cost;
        }
    }
    return start;
}

static void forces(struct sim *s, unsigned id, size_t first, size_t end)
{
    uint64_t total;

    build(s, id, first, end);
    centres(s, id);
    total = s->root->node.cost;
    zone(s, s->root, 0, total * id / s->threads, total * (id + 1) / s->threads);
    pthread_barrier_wait(&s->barrier);
}

static void work(unsigned id, void *arg)
{
    struct sim *s = arg;
    size_t first, end;

    wl_share(s->n, s->threads, id, &first, &end);
    forces(s, id, first, end);
    for (unsigned step = 0; step < STEPS; step++) {
        for (size_t i = first; i < end; i++) {
            struct body *b = &s->body[i];

            b->speed = vec_along(b->speed, b->pull, TIME_STEP / 2);
            b->node.at = vec_along(b->node.at, b->speed, TIME_STEP);
            b->node.cost = b->work;
        }
        forces(s, id, first, end);
        for (size_t i = first; i < end; i++)
            s->body[i].speed = vec_along(s->body[i].speed, s->body[i].pull, TIME_STEP / 2);
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

static struct vec on_sphere(struct wl_rng *r, double radius)
{
    double z = 2 * wl_uniform(r) - 1, phi = 2 * WL_PI * wl_uniform(r), q = sqrt(1 - z * z);

    return vec_scale(vec(q * wl_cos(phi), q * wl_sin(phi), z), radius);
}

/* A body of a Plummer sphere of mass 1/2 in equilibrium. */
static void plummer(struct wl_rng *r, struct body *b)
{
    double u = 0.999 * wl_uniform(r) + 0.0005, radius, x, y, k;

    radius = 1 / sqrt(wl_exp(-2.0 / 3.0 * wl_log(u)) - 1);
    do {
        x = wl_uniform(r);
        y = 0.1 * wl_uniform(r);
        k = 1 - x * x;
    } while (y > x * x * k * k * k * sqrt(k));
    b->node.at = on_sphere(r, radius);
    b->speed = on_sphere(r, x / sqrt(sqrt(1 + radius * radius)));
}

static void generate(struct sim *s, uint64_t seed)
{
    struct wl_rng r = wl_rng(seed, 0);

    for (size_t i = 0; i < s->n; i++) {
        struct body *b = &s->body[i];
        double side = wl_random(&r) >> 63 ? 1 : -1;

        plummer(&r, b);
        b->node.kind = BODY;
        b->node.cost = 1;
        b->node.mass = 1 / (double)s->n;
        b->node.at = vec_add(b->node.at, vec(2 * side, 0.5 * side, 0.25 * side));
        b->speed = vec_add(b->speed, vec(-0.3 * side, 0.1 * side, 0));
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

static double energy(const struct sim *s)
{
    double e = 0;

    for (size_t i = 0; i < s->n; i++) {
        const struct body *b = &s->body[i];

        e += 0.5 * b->node.mass * vec_dot(b->speed, b->speed);
        for (size_t j = 0; j < i; j++) {
            struct vec d = vec_sub(b->node.at, s->body[j].node.at);

            e -= b->node.mass * s->body[j].node.mass / sqrt(vec_dot(d, d) + SOFTENING * SOFTENING);
        }
    }
    return e;
}

/* Bodies below c, or SIZE_MAX if one is in the wrong place or a cell was not needed. */
static size_t sound(const struct cell *c)
{
    size_t bodies = 0;

    for (unsigned k = 0; k < 8; k++) {
        const struct node *n = child_of(c, k);
        size_t below;

        if (n && n->kind == CELL) {
            below = sound((const struct cell *)n);
            if (below < 2 || below == SIZE_MAX)
                return SIZE_MAX;
            bodies += below;
            continue;
        }
        for (const struct body *b = (const struct body *)n; b; b = b->same, bodies++)
            if (octant_of(c, b) != k || (b->same && c->depth < DEPTH_MAX))
                return SIZE_MAX;
    }
    return bodies;
}

/* The tree's forces are those of the sum over all pairs, but for the approximation. */
static bool forces_close(const struct sim *s)
{
    double error = 0, all = 0;

    for (size_t i = 0; i < s->n; i++) {
        struct vec f = vec(0, 0, 0), d;

        for (size_t j = 0; j < s->n; j++)
            if (j != i)
                f = vec_add(f, attraction(s->body[i].node.at, &s->body[j].node));
        d = vec_sub(f, s->body[i].pull);
        error += vec_dot(d, d);
        all += vec_dot(f, f);
    }
    return error < 0.08 * 0.08 * all;
}

static uint64_t checksum(const struct sim *s)
{
    uint64_t sum = wl_sum_double(0, s->root->node.mass);

    for (size_t i = 0; i < s->n; i++) {
        const struct body *b = &s->body[i];
        const double v[] = {b->node.at.x, b->node.at.y, b->node.at.z,
                            b->speed.x,   b->speed.y,   b->speed.z};

        for (unsigned k = 0; k < 6; k++)
            sum = wl_sum_double(sum, v[k]);
        sum = wl_sum(sum, b->work);
    }
    return sum;
}

static void release(struct sim *s)
{
    for (unsigned i = 0; i < s->threads; i++)
        discard(&s->arena[i]);
    pthread_barrier_destroy(&s->barrier);
    free(s->body);
    free(s->arena);
    free(s->low);
    free(s->high);
}

static const struct wl_program program = {
    .name = "barnes",
    .about = "Barnes-Hut N-body: an octree built in parallel with a lock per cell.",
    .size = "number of bodies",
    .size_default = 96,
    .size_min = 64,
    .size_max = 1 << 20,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct sim s = {.threads = a.threads, .n = a.size};
    double before = 0;
    bool passed = true;
    uint64_t sum;

    s.body = wl_alloc(s.n * sizeof(*s.body));
    s.arena = wl_alloc(s.threads * sizeof(*s.arena));
    s.low = wl_alloc(s.threads * sizeof(*s.low));
    s.high = wl_alloc(s.threads * sizeof(*s.high));
    pthread_barrier_init(&s.barrier, NULL, s.threads);
    generate(&s, a.seed);
    if (a.check)
        before = energy(&s);
    wl_run(s.threads, work, &s);
    sum = checksum(&s);
    if (a.check)
        passed = sound(s.root) == s.n && forces_close(&s) && fabs(energy(&s) - before) < 1e-4;
    release(&s);
    return wl_finish(&program, &a, sum, passed);
}
