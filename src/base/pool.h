/* SPDX-License-Identifier: MIT */
/* Objects of one size, reused: a free list on top of an arena. Not for use by two threads at a
 * time. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/arena.h"

struct vs_pool {
    struct vs_arena arena;
    void *free; /* each free object begins with a pointer to the next */
    size_t size, align;
};

/* `size` is the sizeof of the objects; it tells how they are aligned, up to max_align_t. */
void vs_pool_init(struct vs_pool *p, size_t size);

/* An uninitialised object. NULL: no memory. */
void *vs_pool_get(struct vs_pool *p);

/* Gives an object back; NULL is ignored. The memory stays with the pool. */
void vs_pool_put(struct vs_pool *p, void *object);

/* Frees all objects, given back or not. The pool needs vs_pool_init to be used again. */
void vs_pool_fini(struct vs_pool *p);

#endif
