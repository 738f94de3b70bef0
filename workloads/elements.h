/* SPDX-License-Identifier: MIT */
/* Elements of radiosity: quadtrees over the patches of a room, shared by all workers, each element
 * with a lock for its links and its division. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <stdlib.h>

#include "room.h"
#include "tasks.h"

#define RAYS  4
#define BATCH 64 /* elements or links allocated at once */

struct element {
    struct task task;
    const struct patch *patch;
    struct part part;
    uint64_t id; /* from the patch's number and the path in its tree */
    unsigned level;
    double area;
    struct vec middle;
    struct vec light, before; /* now and an iteration ago */
    struct vec gathered, down;
    struct element *parent, *child[4];
    struct link *links;
    atomic_uint done; /* children averaged */
    pthread_mutex_t lock;
};

/* Light goes from -> to. */
struct link {
    struct task task;
    struct link *next;
    struct element *to, *from;
    double form;   /* the form factor: how much of what `to` sees is `from` */
    double demand; /* of refinement, for a unit of light */
};

struct batch {
    struct batch *next;
    struct element element[BATCH];
};

struct link_batch {
    struct link_batch *next;
    struct link link[BATCH];
};

/* Where a worker gets its elements and links. */
struct pool {
    struct batch *elements;
    struct link_batch *links;
    unsigned elements_left, links_left; /* in the first batch */
    struct link *free;
};

/* ---- elements and links ---------------------------------------------------------------------- */

static inline void element_init(struct element *e, const struct patch *p, struct part part)
{
    e->patch = p;
    e->part = part;
    e->area = p->area * part.size * part.size;
    e->middle = room_point(p, part.u + part.size / 2, part.v + part.size / 2);
    pthread_mutex_init(&e->lock, NULL);
}

static inline struct element *new_element(struct pool *p)
{
    if (p->elements_left == 0) {
        struct batch *b = wl_alloc(sizeof(*b));

        b->next = p->elements;
        p->elements = b;
        p->elements_left = BATCH;
    }
    return &p->elements->element[--p->elements_left];
}

static inline struct link *new_link(struct pool *p)
{
    struct link *l = p->free;

    if (l) {
        p->free = l->next;
        return l;
    }
    if (p->links_left == 0) {
        struct link_batch *b = wl_alloc(sizeof(*b));

        b->next = p->links;
        p->links = b;
        p->links_left = BATCH;
    }
    return &p->links->link[--p->links_left];
}

/* Divides e unless somebody has. */
static inline void divide(struct pool *p, struct element *e)
{
    double half = e->part.size / 2;

    pthread_mutex_lock(&e->lock);
    for (unsigned k = 0; k < 4 && !e->child[k]; k++) {
        struct element *c = new_element(p);
        struct part part = {e->part.u + (k & 1 ? half : 0), e->part.v + (k & 2 ? half : 0), half};

        element_init(c, e->patch, part);
        c->id = (e->id & ~UINT64_C(0xffffffff)) | (e->id << 2 & 0xffffffff) | k;
        c->level = e->level + 1;
        c->light = c->before = e->light;
        c->parent = e;
        e->child[k] = c;
    }
    pthread_mutex_unlock(&e->lock);
}

static inline void pool_free(struct pool *p)
{
    for (struct batch *b = p->elements, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    for (struct link_batch *b = p->links, *next; b; b = next) {
        next = b->next;
        free(b);
    }
}

static inline void attach(struct link *l)
{
    pthread_mutex_lock(&l->to->lock);
    l->next = l->to->links;
    l->to->links = l;
    pthread_mutex_unlock(&l->to->lock);
}

/* ---- what a link carries -----------------------------------------------------------------------
 */

/* The part of `from` that `to` sees, by a few rays. */
static inline double visible(const struct room *room, const struct element *to,
                             const struct element *from)
{
    struct wl_rng r = wl_rng(to->id, from->id);
    unsigned seen = 0;

    for (unsigned k = 0; k < RAYS; k++) {
        struct vec p[2];
        const struct element *e[2] = {to, from};

        for (unsigned i = 0; i < 2; i++) {
            double u = wl_uniform(&r), v = wl_uniform(&r);

            p[i] = room_point(e[i]->patch, e[i]->part.u + u * e[i]->part.size,
                              e[i]->part.v + v * e[i]->part.size);
        }
        seen += room_sees(room, p[0], p[1]);
    }
    return (double)seen / RAYS;
}

/* The form factor, as of a disc seen from a point, and a bound for it: the elements' extent may
 * turn them towards each other more than their middles tell. What is partly hidden wants a closer
 * look, what is all in sight or out of sight does less. */
static inline void measure(const struct room *room, struct link *l)
{
    const struct element *to = l->to, *from = l->from;
    struct vec d = vec_sub(from->middle, to->middle);
    double r2 = vec_dot(d, d), r = sqrt(r2), sight, disc, here, there, slack;

    l->form = l->demand = 0;
    if (!room_faces(to->patch, from->patch, &from->part) ||
        !room_faces(from->patch, to->patch, &to->part))
        return;
    disc = from->area / (WL_PI * r2 + from->area);
    here = vec_dot(to->patch->normal, d) / r;
    there = -vec_dot(from->patch->normal, d) / r;
    sight = visible(room, to, from);
    if (here > 0 && there > 0)
        l->form = here * there * disc * sight;
    slack = sqrt(to->area > from->area ? to->area : from->area) / r;
    here = (here > 0 ? here : 0) + slack;
    there = (there > 0 ? there : 0) + slack;
    l->demand = (here < 1 ? here : 1) * (there < 1 ? there : 1) * disc;
    l->demand *= sight == 0 ? 0.1 : sight == 1 ? 0.3 : 1;
}

#endif
