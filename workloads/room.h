/* SPDX-License-Identifier: MIT */
/* The world of radiosity: a room with lamps under the ceiling and boxes on the floor, made of
 * rectangular patches, and what can be seen of one from another. */
#ifndef ROOM_H
#define ROOM_H

#include "common/wl.h"
#include "vec.h"

#define WALLS   6
#define LAMPS   2
#define BOXES   3
#define PATCHES (WALLS + LAMPS + 5 * BOXES)

struct patch {
    struct vec corner, u, v, normal; /* the normal points to where the light is */
    double area;
    struct vec reflect, emit; /* red, green, blue */
};

/* A part of a patch: squares in its coordinates, which run from 0 to 1. */
struct part {
    double u, v, size;
};

struct room {
    struct patch patch[PATCHES];
};

static inline struct vec room_point(const struct patch *p, double u, double v)
{
    return vec_along(vec_along(p->corner, p->u, u), p->v, v);
}

/* ---- sight ----------------------------------------------------------------------------------- */

/* Whether the line from a to a + d is broken by the patch. */
static inline bool room_breaks(const struct patch *p, struct vec a, struct vec d)
{
    double across = vec_dot(d, p->normal), t, u, v;
    struct vec at;

    if (fabs(across) < 1e-12)
        return false;
    at = vec_sub(p->corner, a);
    t = vec_dot(at, p->normal) / across;
    if (t < 1e-6 || t > 1 - 1e-6)
        return false;
    at = vec_sub(vec_scale(d, t), at);
    u = vec_dot(at, p->u);
    if (u < 0 || u > vec_dot(p->u, p->u))
        return false;
    v = vec_dot(at, p->v);
    return v >= 0 && v <= vec_dot(p->v, p->v);
}

/* The walls stand around everything and hide nothing. */
static inline bool room_sees(const struct room *r, struct vec a, struct vec b)
{
    struct vec d = vec_sub(b, a);

    for (unsigned i = WALLS; i < PATCHES; i++)
        if (room_breaks(&r->patch[i], a, d))
            return false;
    return true;
}

/* Whether any of q is on the bright side of p. */
static inline bool room_faces(const struct patch *p, const struct patch *q, const struct part *part)
{
    for (unsigned k = 0; k < 4; k++) {
        struct vec c =
            room_point(q, part->u + (k & 1 ? part->size : 0), part->v + (k & 2 ? part->size : 0));

        if (vec_dot(vec_sub(c, p->corner), p->normal) > 1e-9)
            return true;
    }
    return false;
}

/* ---- furniture ------------------------------------------------------------------------------- */

static inline struct patch room_patch(struct vec corner, struct vec u, struct vec v)
{
    struct patch p = {.corner = corner, .u = u, .v = v, .normal = vec_cross(u, v)};

    p.area = vec_length(p.normal);
    p.normal = vec_scale(p.normal, 1 / p.area);
    return p;
}

static inline struct vec room_paint(struct wl_rng *r)
{
    return vec_along(vec(0.2, 0.2, 0.2), vec_random(r), 0.6);
}

/* Six faces of a body with edges a, b, c from a corner; a x b points along c. Outside, or inside.
 */
static inline void room_faces_of(struct patch out[6], struct vec at, struct vec a, struct vec b,
                                 struct vec c, bool inside)
{
    const struct vec far = vec_add(at, vec_add(a, vec_add(b, c)));
    const struct vec edge[5] = {a, b, c, a, b};

    for (unsigned k = 0; k < 3; k++) {
        struct vec u = edge[k], v = edge[k + 1], mu = vec_scale(u, -1), mv = vec_scale(v, -1);

        out[k] = inside ? room_patch(at, u, v) : room_patch(at, v, u);
        out[k + 3] = inside ? room_patch(far, mv, mu) : room_patch(far, mu, mv);
    }
}

/* Each box has its third of the floor. */
static inline void room_box(struct patch *out, unsigned i, struct wl_rng *r)
{
    double turn = 0.2 + 1.2 * wl_uniform(r), width = 0.5 + 0.4 * wl_uniform(r);
    double depth = 0.5 + 0.4 * wl_uniform(r), height = 0.5 + 1.5 * wl_uniform(r);
    struct vec a = vec(width * wl_cos(turn), 0, -width * wl_sin(turn));
    struct vec b = vec(depth * wl_sin(turn), 0, depth * wl_cos(turn));
    struct vec middle = vec(0.8 + 1.3 * i, 0, 1 + 2 * wl_uniform(r)), paint = room_paint(r);
    struct patch faces[6];
    unsigned n = 0;

    middle = vec_sub(middle, vec_scale(vec_add(a, b), 0.5));
    room_faces_of(faces, middle, b, a, vec(0, height, 0), false);
    for (unsigned k = 0; k < 6; k++) {
        if (faces[k].normal.y < -0.5) /* it stands on this one */
            continue;
        faces[k].reflect = paint;
        out[n++] = faces[k];
    }
}

static inline void room_init(struct room *room, uint64_t seed)
{
    struct wl_rng r = wl_rng(seed, 0);
    struct patch *p = room->patch;

    room_faces_of(p, vec(0, 0, 0), vec(0, 0, 4.1), vec(4.2, 0, 0), vec(0, 3, 0), true);
    for (unsigned i = 0; i < WALLS; i++)
        p[i].reflect = room_paint(&r);
    p += WALLS;
    for (unsigned i = 0; i < LAMPS; i++) {
        struct vec q = vec_random(&r), at = vec(0.7 + 2 * i + 0.5 * q.x, 2.9, 1 + 1.5 * q.y);

        *p = room_patch(at, vec(0.6, 0, 0), vec(0, 0, 0.3 + 0.4 * q.z));
        p->reflect = vec(0.1, 0.1, 0.1);
        p->emit = vec_add(vec(8, 8, 8), vec_scale(room_paint(&r), 8));
        p++;
    }
    for (unsigned i = 0; i < BOXES; i++)
        room_box(p + 5 * i, i, &r);
}

#endif
