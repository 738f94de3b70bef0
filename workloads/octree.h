/* SPDX-License-Identifier: MIT */
/* An octree of bodies that many threads build at once.
 *
 * Descent reads the child pointers without locks, a change of a cell's children takes the cell's
 * lock. Cells are split until every leaf holds one body, so the shape of the tree depends on the
 * positions alone, whatever the order of insertion.
 */
#ifndef OCTREE_H
#define OCTREE_H

#include <stdatomic.h>
#include <stdlib.h>

#include "common/wl.h"
#include "vec.h"

#define CHUNK 64 /* cells allocated at once */

/* Bodies so close that cells this deep do not part them share a leaf. */
#ifndef DEPTH_MAX
#define DEPTH_MAX 48
#endif

enum kind { BODY, CELL };

struct node {
    enum kind kind;
    uint64_t cost; /* interactions in the last step */
    double mass;
    struct vec at;
};

struct body {
    struct node node;
    struct body *same; /* the next in a shared leaf, by rising address */
    uint64_t work;     /* interactions in this step */
    struct vec speed, pull;
};

struct cell {
    struct node node;
    unsigned depth;
    unsigned inner;   /* children that are cells */
    atomic_uint done; /* those whose centre of mass is known */
    double size;
    struct vec middle;
    struct cell *parent;
    _Atomic(struct node *) child[8];
    pthread_mutex_t lock;
};

struct chunk {
    struct chunk *next;
    struct cell cell[CHUNK];
};

/* A worker's cells, used again in every step. */
struct arena {
    struct chunk *first, *current;
    unsigned used; /* in current */
};

/* ---- cells ----------------------------------------------------------------------------------- */

static inline struct chunk *new_chunk(void)
{
    struct chunk *c = wl_alloc(sizeof(*c));

    for (unsigned i = 0; i < CHUNK; i++) {
        c->cell[i].node.kind = CELL;
        pthread_mutex_init(&c->cell[i].lock, NULL);
    }
    return c;
}

static inline struct cell *take(struct arena *a)
{
    if (a->used == CHUNK) {
        if (!a->current->next)
            a->current->next = new_chunk();
        a->current = a->current->next;
        a->used = 0;
    }
    return &a->current->cell[a->used++];
}

static inline void reset(struct arena *a)
{
    if (!a->first)
        a->first = new_chunk();
    a->current = a->first;
    a->used = 0;
}

static inline void discard(struct arena *a)
{
    for (struct chunk *c = a->first, *next; c; c = next) {
        next = c->next;
        free(c);
    }
}

static inline struct cell *new_cell(struct arena *a, struct cell *parent, double size,
                                    struct vec middle)
{
    struct cell *c = take(a);

    c->depth = parent ? parent->depth + 1 : 0;
    c->inner = 0;
    atomic_store_explicit(&c->done, 0, memory_order_relaxed);
    c->size = size;
    c->middle = middle;
    c->parent = parent;
    for (unsigned k = 0; k < 8; k++)
        atomic_store_explicit(&c->child[k], NULL, memory_order_relaxed);
    return c;
}

static inline struct cell *new_child(struct arena *a, struct cell *c, unsigned octant)
{
    double q = c->size * 0.25;
    struct vec m = c->middle;

    m.x += octant & 1 ? q : -q;
    m.y += octant & 2 ? q : -q;
    m.z += octant & 4 ? q : -q;
    return new_cell(a, c, c->size * 0.5, m);
}

static inline unsigned octant_of(const struct cell *c, const struct body *b)
{
    return (b->node.at.x >= c->middle.x) | (b->node.at.y >= c->middle.y) << 1 |
           (b->node.at.z >= c->middle.z) << 2;
}

static inline struct node *child_of(const struct cell *c, unsigned k)
{
    return atomic_load_explicit(&c->child[k], memory_order_relaxed);
}

/* ---- building the tree ----------------------------------------------------------------------- */

/* Adds b to the bodies of a shared leaf; returns the first of them. */
static inline struct body *share_leaf(struct body *first, struct body *b)
{
    struct body **at = &first;

    while (*at && *at < b)
        at = &(*at)->same;
    b->same = *at;
    *at = b;
    return first;
}

/* The subtree for an octant of c in which a and b are all there is. Nobody else sees it yet. */
static inline struct cell *part(struct arena *ar, struct cell *c, unsigned octant, struct body *a,
                                struct body *b)
{
    struct cell *top = new_child(ar, c, octant), *low = top;
    unsigned oa, ob;

    while ((oa = octant_of(low, a)) == (ob = octant_of(low, b)) && low->depth < DEPTH_MAX) {
        struct cell *next = new_child(ar, low, oa);

        low->child[oa] = &next->node;
        low->inner = 1;
        low = next;
    }
    if (oa == ob) {
        low->child[oa] = &share_leaf(a, b)->node;
    } else {
        low->child[oa] = &a->node;
        low->child[ob] = &b->node;
    }
    return top;
}

/* Puts b into a child of c that was no cell a moment ago. False: now it is one. */
static inline bool place(struct arena *ar, struct cell *c, unsigned octant, struct body *b)
{
    struct node *old, *new = &b->node;
    bool placed = true;

    pthread_mutex_lock(&c->lock);
    old = child_of(c, octant);
    if (old && old->kind == CELL) {
        placed = false;
    } else if (old && c->depth == DEPTH_MAX) {
        new = &share_leaf((struct body *)old, b)->node;
    } else if (old) {
        new = &part(ar, c, octant, (struct body *)old, b)->node;
        c->inner++;
    }
    if (placed)
        atomic_store_explicit(&c->child[octant], new, memory_order_release);
    pthread_mutex_unlock(&c->lock);
    return placed;
}

static inline void insert(struct arena *ar, struct cell *root, struct body *b)
{
    struct cell *c = root;

    b->same = NULL;
    for (;;) {
        unsigned k = octant_of(c, b);
        struct node *n = atomic_load_explicit(&c->child[k], memory_order_acquire);

        if (n && n->kind == CELL)
            c = (struct cell *)n;
        else if (place(ar, c, k, b))
            return;
    }
}

#endif
