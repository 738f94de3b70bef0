/* SPDX-License-Identifier: MIT */
/* A recursive ray tracer: balls and gems (scene.h) over a chequered ground, with shadows, mirrors
 * and glass.
 *
 * A pixel depends on nothing but the scene, so workers may do them in any order. The image is cut
 * into tiles, of which each worker has a queue at the start; a worker whose queue is empty takes
 * half of what another still has.
 */
#include <stdlib.h>
#include <string.h>

#include "scene.h"

#define TILE      8
#define DEPTH_MAX 5
#define INDEX     1.5 /* of refraction */

/* Tiles first .. end-1. The owner takes from the front, thieves from the back. */
struct queue {
    pthread_mutex_t lock;
    size_t first, end;
    char padding[64 - (sizeof(pthread_mutex_t) + 2 * sizeof(size_t)) % 64];
};

struct render {
    unsigned threads;
    size_t size, across; /* pixels and tiles along a side of the image */
    const struct scene *scene;
    struct queue *queue;
    uint8_t *image;
};

/* One worker's. An object that lies in many cells is tried once per ray: seen[object] is the last
 * ray that did. */
struct tracer {
    const struct scene *scene;
    bool plain; /* without the grid: for the check */
    uint64_t ray;
    uint64_t seen[OBJECTS];
};

struct hit {
    double t;
    unsigned object;
};

/* ---- what a ray meets ------------------------------------------------------------------------ */

static void try_object(const struct scene *s, const struct ray *r, unsigned i, struct hit *h)
{
    double t = s->object[i].shape->meet(&s->object[i], r);

    if (t < h->t || (t == h->t && i < h->object))
        *h = (struct hit){t, i};
}

static struct hit nearest(struct tracer *tr, const struct ray *r)
{
    const struct scene *s = tr->scene;
    struct hit h = {FAR, UINT32_MAX};
    struct walk w;

    try_object(s, r, GROUND, &h);
    for (unsigned i = 0; tr->plain && i < OBJECTS; i++)
        try_object(s, r, i, &h);
    if (tr->plain || !walk_start(&w, &s->grid, r))
        return h;
    tr->ray++;
    do {
        unsigned c = walk_cell(&w);

        for (uint32_t k = s->grid.start[c]; k < s->grid.start[c + 1]; k++) {
            uint32_t i = s->grid.item[k];

            if (tr->seen[i] == tr->ray)
                continue;
            tr->seen[i] = tr->ray;
            try_object(s, r, i, &h);
        }
    } while (walk_step(&w, h.t));
    return h;
}

/* What object i leaves of the light of a ray that may meet it up to limit. Every glass object takes
 * the same part, so that the order does not matter. */
static double shade_of(const struct scene *s, const struct ray *r, unsigned i, double limit)
{
    if (s->object[i].shape->meet(&s->object[i], r) >= limit)
        return 1;
    return s->object[i].material->clear > 0 ? 0.75 : 0;
}

/* The part of the light that gets through. */
static double passage(struct tracer *tr, const struct ray *r, double limit)
{
    const struct scene *s = tr->scene;
    double light = 1;
    struct walk w;

    for (unsigned i = 0; tr->plain && i < OBJECTS; i++)
        light *= shade_of(s, r, i, limit);
    if (tr->plain || !walk_start(&w, &s->grid, r))
        return light;
    tr->ray++;
    do {
        unsigned c = walk_cell(&w);

        for (uint32_t k = s->grid.start[c]; k < s->grid.start[c + 1]; k++) {
            uint32_t i = s->grid.item[k];

            if (tr->seen[i] == tr->ray)
                continue;
            tr->seen[i] = tr->ray;
            light *= shade_of(s, r, i, limit);
            if (light == 0)
                return 0;
        }
    } while (walk_step(&w, limit));
    return light;
}

/* ---- colours --------------------------------------------------------------------------------- */

static struct vec sky(struct vec along)
{
    double up = along.y > 0 ? along.y : 0;

    return vec(0.7 - 0.5 * up, 0.8 - 0.4 * up, 0.95 - 0.2 * up);
}

/* Off the whole and half numbers, so that the ground does not lie between two chequers. */
static struct vec surface_colour(const struct material *m, struct vec p)
{
    int64_t parity;

    if (!m->chequered)
        return m->colour;
    parity = (int64_t)floor(p.x * 2) + (int64_t)floor(p.y * 2 + 0.3) + (int64_t)floor(p.z * 2);
    return parity % 2 ? vec_scale(m->colour, 0.3) : m->colour;
}

/* Light from the lamps off a surface with normal n towards -along. */
static struct vec lit(struct tracer *tr, const struct material *m, struct vec p, struct vec n,
                      struct vec along)
{
    struct vec colour = surface_colour(m, p), sum = vec_scale(colour, 0.15);

    for (unsigned i = 0; i < LIGHTS; i++) {
        const struct light *l = &tr->scene->light[i];
        struct vec to = vec_sub(l->at, p);
        double distance = vec_length(to), cosine, power, shine;
        struct ray r = {p, vec_scale(to, 1 / distance)};

        cosine = vec_dot(r.along, n);
        if (cosine <= 0)
            continue;
        power = l->power * passage(tr, &r, distance);
        if (power == 0)
            continue;
        sum = vec_along(sum, colour, power * m->diffuse * cosine);
        shine = vec_dot(vec_along(r.along, n, -2 * cosine), along);
        if (shine <= 0 || m->specular == 0)
            continue;
        for (unsigned k = m->shine; k > 1; k /= 2)
            shine *= shine;
        sum = vec_along(sum, vec(1, 1, 1), power * m->specular * shine);
    }
    return sum;
}

/* The direction of a ray through a surface of glass; false if all of it is reflected. */
static bool refract(struct vec along, struct vec n, bool entering, struct vec *through)
{
    double ratio = entering ? 1 / INDEX : INDEX, cosine = -vec_dot(along, n);
    double rest = 1 - ratio * ratio * (1 - cosine * cosine);

    if (rest < 0)
        return false;
    *through = vec_unit(vec_along(vec_scale(along, ratio), n, ratio * cosine - sqrt(rest)));
    return true;
}

/* weight: how much of the result will be seen. */
static struct vec trace(struct tracer *tr, const struct ray *r, unsigned depth, double weight)
{
    struct hit h = nearest(tr, r);
    const struct object *o;
    const struct material *m;
    struct ray next;
    struct vec n, colour;
    double mirror;
    bool entering;

    if (h.t == FAR)
        return sky(r->along);
    o = &tr->scene->object[h.object];
    m = o->material;
    next.from = vec_along(r->from, r->along, h.t);
    n = o->shape->normal(o, next.from);
    entering = vec_dot(n, r->along) < 0;
    if (!entering)
        n = vec_scale(n, -1);
    colour = lit(tr, m, next.from, n, r->along);
    mirror = m->mirror;
    if (depth == DEPTH_MAX)
        return colour;
    if (weight * m->clear > 0.01) {
        if (!refract(r->along, n, entering, &next.along))
            mirror = 0.9;
        else
            colour = vec_along(colour, trace(tr, &next, depth + 1, weight * m->clear), m->clear);
    }
    if (weight * mirror > 0.01) {
        next.along = vec_unit(vec_along(r->along, n, -2 * vec_dot(r->along, n)));
        colour = vec_along(colour, trace(tr, &next, depth + 1, weight * mirror), mirror);
    }
    return colour;
}

/* ---- the image ------------------------------------------------------------------------------- */

static struct vec sample(struct tracer *tr, size_t size, double x, double y)
{
    double u = 2 * x / (double)size - 1, v = 1 - 2 * y / (double)size;
    struct ray r = {{0.5, 3, -11}, {0, 0, 0}};

    r.along = vec_unit(vec(0.55 * u, 0.55 * v - 0.1, 1));
    return trace(tr, &r, 0, 1);
}

static uint8_t to_byte(double c)
{
    return c >= 1 ? 255 : c <= 0 ? 0 : (uint8_t)(255 * sqrt(c) + 0.5);
}

/* Two samples, and two more where they differ. */
static void pixel(struct tracer *tr, size_t size, size_t x, size_t y, uint8_t out[3])
{
    double px = (double)x, py = (double)y;
    struct vec a = sample(tr, size, px + 0.25, py + 0.25);
    struct vec b = sample(tr, size, px + 0.75, py + 0.75);
    struct vec d = vec_sub(a, b), c = vec_scale(vec_add(a, b), 0.5);

    if (fabs(d.x) + fabs(d.y) + fabs(d.z) > 0.1) {
        a = sample(tr, size, px + 0.75, py + 0.25);
        b = sample(tr, size, px + 0.25, py + 0.75);
        c = vec_scale(vec_along(c, vec_add(a, b), 0.5), 0.5);
    }
    out[0] = to_byte(c.x);
    out[1] = to_byte(c.y);
    out[2] = to_byte(c.z);
}

static void do_tile(struct render *rd, struct tracer *tr, size_t tile)
{
    size_t left = tile % rd->across * TILE, top = tile / rd->across * TILE;

    for (size_t y = top; y < top + TILE && y < rd->size; y++)
        for (size_t x = left; x < left + TILE && x < rd->size; x++)
            pixel(tr, rd->size, x, y, &rd->image[(y * rd->size + x) * 3]);
}

/* ---- queues ---------------------------------------------------------------------------------- */

static bool take(struct queue *q, size_t *tile)
{
    bool any;

    pthread_mutex_lock(&q->lock);
    any = q->first < q->end;
    if (any)
        *tile = q->first++;
    pthread_mutex_unlock(&q->lock);
    return any;
}

/* Takes half of the tiles of some other worker into the own, empty queue. */
static bool steal(struct render *rd, unsigned id)
{
    for (unsigned k = 1; k < rd->threads; k++) {
        struct queue *q = &rd->queue[(id + k) % rd->threads], *own = &rd->queue[id];
        size_t first, end;

        pthread_mutex_lock(&q->lock);
        end = q->end;
        first = end - (end - q->first + 1) / 2;
        q->end = first;
        pthread_mutex_unlock(&q->lock);
        if (first == end)
            continue;
        pthread_mutex_lock(&own->lock);
        own->first = first;
        own->end = end;
        pthread_mutex_unlock(&own->lock);
        return true;
    }
    return false;
}

static void work(unsigned id, void *arg)
{
    struct render *rd = arg;
    struct tracer *tr = wl_alloc(sizeof(*tr));
    size_t tile;

    tr->scene = rd->scene;
    do {
        while (take(&rd->queue[id], &tile))
            do_tile(rd, tr, tile);
    } while (steal(rd, id));
    free(tr);
}

/* ---- the program ----------------------------------------------------------------------------- */

/* The image is what comes of trying every object for every ray. */
static bool verify(const struct render *rd)
{
    struct tracer *tr = wl_alloc(sizeof(*tr));
    size_t wrong = 0;
    uint8_t p[3];

    tr->scene = rd->scene;
    tr->plain = true;
    for (size_t i = 0; i < rd->size * rd->size; i++) {
        pixel(tr, rd->size, i % rd->size, i / rd->size, p);
        wrong += memcmp(p, &rd->image[3 * i], 3) != 0;
    }
    free(tr);
    return wrong == 0;
}

static const struct wl_program program = {
    .name = "raytrace",
    .about = "Recursive ray tracer over a uniform grid, with queues of tiles and stealing.",
    .size = "pixels along a side of the image",
    .size_default = 16,
    .size_min = 1,
    .size_max = 8192,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct scene *scene = scene_new(a.seed);
    struct render rd = {.threads = a.threads, .size = a.size, .scene = scene};
    uint64_t sum;
    bool passed;

    rd.across = (rd.size + TILE - 1) / TILE;
    rd.image = wl_alloc(rd.size * rd.size * 3);
    rd.queue = wl_alloc(rd.threads * sizeof(*rd.queue));
    for (unsigned i = 0; i < rd.threads; i++) {
        pthread_mutex_init(&rd.queue[i].lock, NULL);
        wl_share(rd.across * rd.across, rd.threads, i, &rd.queue[i].first, &rd.queue[i].end);
    }
    wl_run(rd.threads, work, &rd);
    sum = wl_sum_bytes(0, rd.image, rd.size * rd.size * 3);
    passed = !a.check || verify(&rd);
    free(rd.image);
    free(rd.queue);
    scene_free(scene);
    return wl_finish(&program, &a, sum, passed);
}
