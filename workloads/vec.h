/* SPDX-License-Identifier: MIT */
/* Vectors in space. */
#ifndef VEC_H
#define VEC_H

#include <math.h>

#include "common/wl.h"

struct vec {
    double x, y, z;
};

static inline struct vec vec(double x, double y, double z)
{
    return (struct vec){x, y, z};
}

static inline struct vec vec_add(struct vec a, struct vec b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline struct vec vec_sub(struct vec a, struct vec b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline struct vec vec_scale(struct vec a, double s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}

/* a + b * s */
static inline struct vec vec_along(struct vec a, struct vec b, double s)
{
    return vec(a.x + b.x * s, a.y + b.y * s, a.z + b.z * s);
}

static inline double vec_dot(struct vec a, struct vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct vec vec_cross(struct vec a, struct vec b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double vec_length(struct vec a)
{
    return sqrt(vec_dot(a, a));
}

static inline struct vec vec_unit(struct vec a)
{
    return vec_scale(a, 1.0 / vec_length(a));
}

static inline struct vec vec_min(struct vec a, struct vec b)
{
    return vec(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}

static inline struct vec vec_max(struct vec a, struct vec b)
{
    return vec(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

/* In the unit cube. Arguments of a call are computed in no defined order: hence the variables. */
static inline struct vec vec_random(struct wl_rng *r)
{
    double x = wl_uniform(r), y = wl_uniform(r), z = wl_uniform(r);

    return vec(x, y, z);
}

#endif
