/* SPDX-License-Identifier: MIT */
/* The code of a run by address. Blocks come in the order of a run's table, and each is taken to lie
 * in memory from the start as far as no earlier one covers it; a VS_CODE event then puts a block's
 * bytes in the place of what lay there. */
#ifndef CLI_CODEMAP_H
#define CLI_CODEMAP_H

#include "base/arena.h"
#include "vestige/run.h"

struct codemap_page;

/* A zeroed struct is an empty map. */
struct codemap {
    struct codemap_page **slots; /* by number of the page; a power of two of them */
    size_t slot_count, page_count;
    struct vs_block *blocks;
    size_t block_count, block_capacity;
    struct vs_arena memory;
};

/* Takes a copy of the block. Returns its number, from 0 up; -VSE_NOMEM; -VSE_LIMIT (the blocks are
 * scattered over more memory than a map holds). */
int64_t codemap_block(struct codemap *m, const struct vs_block *block);

/* Puts a block's bytes in place. Returns the block, for its addresses; NULL if there is none of
 * that number. */
const struct vs_block *codemap_replace(struct codemap *m, uint64_t number);

/* Copies the bytes known from addr on without a hole, at most `capacity`. Returns how many. */
size_t codemap_fetch(const struct codemap *m, uint64_t addr, uint8_t *bytes, size_t capacity);

void codemap_fini(struct codemap *m);

#endif
