/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once. A zeroed struct is an empty arena. Nothing moves: pointers stay
 * valid until vs_arena_fini. Not for use by two threads at a time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct vs_arena_block;

struct vs_arena {
    struct vs_arena_block *blocks;
    uint8_t *next; /* free memory in the newest shared block */
    size_t left;
};

/* `size` bytes, uninitialised, at a multiple of align, which is a power of two. A size of 0
 * gives a pointer, too. NULL: no memory; what was allocated before stays. */
void *vs_arena_alloc(struct vs_arena *a, size_t size, size_t align);

/* A copy of `size` bytes with a NUL byte after it, not aligned. NULL: no memory. */
void *vs_arena_dup(struct vs_arena *a, const void *bytes, size_t size);

/* Frees everything; the arena is empty again and may be used again. */
void vs_arena_fini(struct vs_arena *a);

#endif
