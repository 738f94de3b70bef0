/* SPDX-License-Identifier: MIT */
#include "base/pool.h"

#include <stdalign.h>

void vs_pool_init(struct vs_pool *p, size_t size)
{
    size_t unit = alignof(void *); /* for the link in a free object */
    size = (size + !size + unit - 1) & ~(unit - 1);
    size_t align = size & -size; /* a type's size is a multiple of its alignment */
    if (align > alignof(max_align_t))
        align = alignof(max_align_t);
    *p = (struct vs_pool){.size = size, .align = align};
}

void *vs_pool_get(struct vs_pool *p)
{
    void *object = p->free;
    if (!object)
        return vs_arena_alloc(&p->arena, p->size, p->align);
    p->free = *(void **)object;
    return object;
}

void vs_pool_put(struct vs_pool *p, void *object)
{
    if (!object)
        return;
    *(void **)object = p->free;
    p->free = object;
}

void vs_pool_fini(struct vs_pool *p)
{
    vs_arena_fini(&p->arena);
    *p = (struct vs_pool){0};
}
