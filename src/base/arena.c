/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

struct vs_arena_block {
    struct vs_arena_block *older;
    uint8_t bytes[];
};

enum {
    BLOCK = 64 * 1024 - sizeof(struct vs_arena_block),
    LARGE = BLOCK / 4, /* from here on a request gets a block of its own; bounds what is wasted */
};

static struct vs_arena_block *add_block(struct vs_arena *a, size_t size)
{
    struct vs_arena_block *block = malloc(sizeof(*block) + size);
    if (!block)
        return NULL;
    block->older = a->blocks;
    a->blocks = block;
    return block;
}

static size_t padding(const uint8_t *p, size_t align)
{
    return -(uintptr_t)p & (align - 1);
}

void *vs_arena_alloc(struct vs_arena *a, size_t size, size_t align)
{
    invariant(align && !(align & (align - 1)));
    size_t pad = padding(a->next, align), worst;
    size += !size;
    if (pad >= a->left || size > a->left - pad) {
        if (__builtin_add_overflow(size, align - 1, &worst) || worst > PTRDIFF_MAX - BLOCK)
            return NULL;
        struct vs_arena_block *block = add_block(a, worst < LARGE ? BLOCK : worst);
        if (!block)
            return NULL;
        pad = padding(block->bytes, align);
        if (worst >= LARGE)
            return block->bytes + pad;
        a->next = block->bytes;
        a->left = BLOCK;
    }
    void *p = a->next + pad;
    a->next += pad + size;
    a->left -= pad + size;
    return p;
}

void *vs_arena_dup(struct vs_arena *a, const void *bytes, size_t size)
{
    char *copy = size < PTRDIFF_MAX ? vs_arena_alloc(a, size + 1, 1) : NULL;
    if (!copy)
        return NULL;
    if (size)
        memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

void vs_arena_fini(struct vs_arena *a)
{
    for (struct vs_arena_block *block = a->blocks, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    *a = (struct vs_arena){0};
}
