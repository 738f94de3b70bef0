/* SPDX-License-Identifier: MIT */
/* Code by address, as it lies in memory at some moment of a run. */
#ifndef ISA_CODEMAP_H
#define ISA_CODEMAP_H

#include "base/arena.h"
#include "base/map.h"
#include "vestige/event.h"

struct vs_codemap_page;

/* A zeroed struct is an empty map. */
struct vs_codemap {
    struct vs_map pages; /* by number */
    struct vs_arena memory;
};

/* Put a block's bytes in place: add only where nothing is known, replace also over what lay there.
 * Return 0; -VSE_NOMEM; -VSE_LIMIT (code is scattered over more memory than a map holds). */
int vs_codemap_add(struct vs_codemap *m, const struct vs_block *block);
int vs_codemap_replace(struct vs_codemap *m, const struct vs_block *block);

/* Returns whether bytes other than the block's are known somewhere in its place. */
bool vs_codemap_differs(const struct vs_codemap *m, const struct vs_block *block);

/* Copies the bytes that are known from addr on without a hole, at most `capacity`. Returns how
 * many. */
size_t vs_codemap_fetch(const struct vs_codemap *m, uint64_t addr, uint8_t *bytes, size_t capacity);

void vs_codemap_fini(struct vs_codemap *m);

#endif
