/* SPDX-License-Identifier: MIT */
/* The world of raytrace: objects of several shapes, and the uniform grid that finds them. */
#ifndef SCENE_H
#define SCENE_H

#include <stdlib.h>

#include "common/wl.h"
#include "vec.h"

#define FAR     1e30
#define NEAR    1e-6 /* closer than this, a ray meets the surface it starts from */
#define SPHERES 48
#define GEMS    14 /* octahedra */
#define OBJECTS (SPHERES + 8 * GEMS)
#define GROUND  OBJECTS /* the number of the plane, which the grid cannot hold */
#define SIDE    14      /* cells along a side of the grid */
#define LIGHTS  3

struct ray {
    struct vec from, along; /* along has length 1 */
};

struct material {
    struct vec colour;
    double diffuse, specular, mirror, clear;
    unsigned shine; /* the highlight's sharpness, a power of two */
    bool chequered;
};

struct object {
    const struct shape *shape;
    const struct material *material;
    struct vec at, u, v; /* centre; or corner and edges */
    struct vec normal;
    double radius;
};

struct shape {
    double (*meet)(const struct object *o, const struct ray *r); /* distance, or FAR */
    struct vec (*normal)(const struct object *o, struct vec p);
    void (*bounds)(const struct object *o, struct vec *low, struct vec *high);
};

struct light {
    struct vec at;
    double power;
};

struct grid {
    double low[3], size[3]; /* of a cell */
    uint32_t start[SIDE * SIDE * SIDE + 1];
    uint32_t *item;
};

struct scene {
    struct object object[OBJECTS + 1];
    struct light light[LIGHTS];
    struct grid grid;
};

/* ---- shapes ---------------------------------------------------------------------------------- */

static inline double sphere_meet(const struct object *o, const struct ray *r)
{
    struct vec d = vec_sub(o->at, r->from);
    double along = vec_dot(d, r->along), inside = along * along - vec_dot(d, d), half, t;

    inside += o->radius * o->radius;
    if (inside <= 0)
        return FAR;
    half = sqrt(inside);
    t = along - half;
    if (t < NEAR)
        t = along + half;
    return t < NEAR ? FAR : t;
}

static inline struct vec sphere_normal(const struct object *o, struct vec p)
{
    return vec_scale(vec_sub(p, o->at), 1 / o->radius);
}

static inline void sphere_bounds(const struct object *o, struct vec *low, struct vec *high)
{
    struct vec r = vec(o->radius, o->radius, o->radius);

    *low = vec_sub(o->at, r);
    *high = vec_add(o->at, r);
}

static inline double triangle_meet(const struct object *o, const struct ray *r)
{
    struct vec p = vec_cross(r->along, o->v), s, q;
    double det = vec_dot(o->u, p), a, b, t;

    if (fabs(det) < 1e-12)
        return FAR;
    s = vec_sub(r->from, o->at);
    a = vec_dot(s, p) / det;
    if (a < 0 || a > 1)
        return FAR;
    q = vec_cross(s, o->u);
    b = vec_dot(r->along, q) / det;
    if (b < 0 || a + b > 1)
        return FAR;
    t = vec_dot(o->v, q) / det;
    return t < NEAR ? FAR : t;
}

static inline void triangle_bounds(const struct object *o, struct vec *low, struct vec *high)
{
    struct vec b = vec_add(o->at, o->u), c = vec_add(o->at, o->v);

    *low = vec_min(o->at, vec_min(b, c));
    *high = vec_max(o->at, vec_max(b, c));
}

static inline struct vec flat_normal(const struct object *o, struct vec p)
{
    (void)p;
    return o->normal;
}

static inline double plane_meet(const struct object *o, const struct ray *r)
{
    double down = vec_dot(r->along, o->normal), t;

    if (fabs(down) < 1e-9)
        return FAR;
    t = vec_dot(vec_sub(o->at, r->from), o->normal) / down;
    return t < NEAR || t > 100 ? FAR : t;
}

static const struct shape shape_sphere = {sphere_meet, sphere_normal, sphere_bounds};
static const struct shape shape_triangle = {triangle_meet, flat_normal, triangle_bounds};
static const struct shape shape_plane = {plane_meet, flat_normal, NULL};

/* ---- the grid -------------------------------------------------------------------------------- */

/* A ray's way through the cells. Axis k is crossed at the distances next[k], next[k] + delta[k]...
 */
struct walk {
    int cell[3], step[3];
    double next[3], delta[3];
};

static inline int cell_along(const struct grid *g, unsigned axis, double x)
{
    double k = (x - g->low[axis]) / g->size[axis];

    return k < 1 ? 0 : k >= SIDE - 1 ? SIDE - 1 : (int)k;
}

/* Where the ray enters the grid, or FAR. */
static inline double grid_enter(const struct grid *g, const double from[3], const double along[3])
{
    double first = 0, last = FAR;

    for (unsigned k = 0; k < 3; k++) {
        double high = g->low[k] + SIDE * g->size[k], a, b;

        if (fabs(along[k]) < 1e-12) {
            if (from[k] < g->low[k] || from[k] > high)
                return FAR;
            continue;
        }
        a = (g->low[k] - from[k]) / along[k];
        b = (high - from[k]) / along[k];
        first = (a < b ? a : b) > first ? (a < b ? a : b) : first;
        last = (a < b ? b : a) < last ? (a < b ? b : a) : last;
    }
    return first < last ? first : FAR;
}

/* False if the ray misses the grid. */
static inline bool walk_start(struct walk *w, const struct grid *g, const struct ray *r)
{
    const double from[3] = {r->from.x, r->from.y, r->from.z};
    const double along[3] = {r->along.x, r->along.y, r->along.z};
    double t = grid_enter(g, from, along);

    if (t == FAR)
        return false;
    for (unsigned k = 0; k < 3; k++) {
        w->cell[k] = cell_along(g, k, from[k] + t * along[k]);
        w->step[k] = along[k] < 0 ? -1 : 1;
        w->next[k] = w->delta[k] = FAR;
        if (fabs(along[k]) < 1e-12)
            continue;
        w->next[k] = (g->low[k] + (w->cell[k] + (along[k] > 0)) * g->size[k] - from[k]) / along[k];
        w->delta[k] = g->size[k] / fabs(along[k]);
    }
    return true;
}

static inline unsigned walk_cell(const struct walk *w)
{
    return (unsigned)((w->cell[2] * SIDE + w->cell[1]) * SIDE + w->cell[0]);
}

/* Steps to the next cell. False if that is outside, or if limit comes first. */
static inline bool walk_step(struct walk *w, double limit)
{
    unsigned k = w->next[0] < w->next[1] ? 0 : 1;

    if (w->next[2] < w->next[k])
        k = 2;
    if (w->next[k] > limit)
        return false;
    w->next[k] += w->delta[k];
    w->cell[k] += w->step[k];
    return w->cell[k] >= 0 && w->cell[k] < SIDE;
}

/* Counts object i in all cells that its bounds touch, or puts it there. */
static inline void grid_add(struct grid *g, const struct object *o, uint32_t i, bool put)
{
    struct vec low, high, slack = vec(1e-6, 1e-6, 1e-6);

    o->shape->bounds(o, &low, &high);
    low = vec_sub(low, slack);
    high = vec_add(high, slack);
    for (int z = cell_along(g, 2, low.z); z <= cell_along(g, 2, high.z); z++)
        for (int y = cell_along(g, 1, low.y); y <= cell_along(g, 1, high.y); y++)
            for (int x = cell_along(g, 0, low.x); x <= cell_along(g, 0, high.x); x++) {
                uint32_t *start = &g->start[(z * SIDE + y) * SIDE + x];

                if (put)
                    g->item[--*start] = i;
                else
                    ++*start;
            }
}

static inline void grid_extent(struct grid *g, const struct scene *s)
{
    struct vec low = vec(FAR, FAR, FAR), high = vec(-FAR, -FAR, -FAR), a, b;

    for (unsigned i = 0; i < OBJECTS; i++) {
        s->object[i].shape->bounds(&s->object[i], &a, &b);
        low = vec_min(low, a);
        high = vec_max(high, b);
    }
    low = vec_sub(low, vec(0.01, 0.01, 0.01));
    high = vec_scale(vec_sub(vec_add(high, vec(0.01, 0.01, 0.01)), low), 1.0 / SIDE);
    g->low[0] = low.x, g->low[1] = low.y, g->low[2] = low.z;
    g->size[0] = high.x, g->size[1] = high.y, g->size[2] = high.z;
}

static inline void grid_build(struct grid *g, const struct scene *s)
{
    grid_extent(g, s);
    for (uint32_t i = 0; i < OBJECTS; i++)
        grid_add(g, &s->object[i], i, false);
    for (unsigned c = 1; c <= SIDE * SIDE * SIDE; c++)
        g->start[c] += g->start[c - 1];
    g->item = wl_alloc(g->start[SIDE * SIDE * SIDE] * sizeof(*g->item));
    for (uint32_t i = OBJECTS; i-- > 0;)
        grid_add(g, &s->object[i], i, true);
}

/* ---- making a scene -------------------------------------------------------------------------- */

static const struct material materials[] = {
    {{0.9, 0.9, 0.95}, 0.1, 0.6, 0.1, 0.8, 64, false}, /* glass */
    {{0.9, 0.9, 0.9}, 0.2, 0.7, 0.7, 0, 128, false},   /* mirror */
    {{0.9, 0.3, 0.2}, 0.8, 0.3, 0, 0, 16, false},      /* matt */
    {{0.2, 0.4, 0.9}, 0.6, 0.5, 0.2, 0, 32, false},    /* varnish */
    {{0.8, 0.8, 0.3}, 0.8, 0, 0, 0, 1, true},          /* chequered */
    {{0.6, 0.7, 0.6}, 0.7, 0, 0.15, 0, 1, true},       /* ground */
};

#define MATERIALS 5 /* the ground's is its own */

static inline struct vec scene_place(struct wl_rng *r)
{
    struct vec p = vec_random(r);

    return vec(9 * p.x - 4.5, 4 * p.y + 0.4, 8 * p.z - 4);
}

/* Eight triangles around a centre, somewhat irregular. */
static inline void scene_gem(struct object *o, struct wl_rng *r)
{
    struct vec at = scene_place(r), tip[6];
    const struct material *m = &materials[1 + wl_below(r, MATERIALS - 1)]; /* glass is for balls */

    for (unsigned k = 0; k < 6; k++) {
        double length = (k & 1 ? -1 : 1) * (0.3 + 0.5 * wl_uniform(r));
        struct vec lean = vec_scale(vec_random(r), 0.2);

        tip[k] = vec_add(vec_add(at, lean), vec(k / 2 == 0 ? length : 0, k / 2 == 1 ? length : 0,
                                                k / 2 == 2 ? length : 0));
    }
    for (unsigned k = 0; k < 8; k++) {
        struct vec a = tip[k & 1], b = tip[2 + (k >> 1 & 1)], c = tip[4 + (k >> 2)];

        o[k] = (struct object){.shape = &shape_triangle, .material = m, .at = a};
        o[k].u = vec_sub(b, a);
        o[k].v = vec_sub(c, a);
        o[k].normal = vec_unit(vec_cross(o[k].u, o[k].v));
    }
}

static inline struct scene *scene_new(uint64_t seed)
{
    struct scene *s = wl_alloc(sizeof(*s));
    struct wl_rng r = wl_rng(seed, 0);

    for (unsigned i = 0; i < SPHERES; i++) {
        struct object *o = &s->object[i];

        o->shape = &shape_sphere;
        o->material = &materials[wl_below(&r, MATERIALS)];
        o->radius = 0.15 + 0.25 * wl_uniform(&r);
        o->at = scene_place(&r);
    }
    for (unsigned i = 0; i < GEMS; i++)
        scene_gem(&s->object[SPHERES + 8 * i], &r);
    s->object[GROUND] = (struct object){
        .shape = &shape_plane, .material = &materials[MATERIALS], .normal = {0, 1, 0}};
    for (unsigned i = 0; i < LIGHTS; i++) {
        struct vec p = vec_random(&r);

        s->light[i].at = vec(12 * p.x - 6, 7 + 3 * p.y, -8 * p.z);
        s->light[i].power = 0.9 / (i + 1);
    }
    grid_build(&s->grid, s);
    return s;
}

static inline void scene_free(struct scene *s)
{
    free(s->grid.item);
    free(s);
}

#endif
