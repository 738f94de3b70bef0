/* SPDX-License-Identifier: MIT */
/* The tables of a run that are not events: facts (meta), images, blocks of code, sites. The writer
 * fills them and packs what is new into chunks; the reader unpacks those chunks into the same
 * struct. */
#ifndef TRACE_TABLES_H
#define TRACE_TABLES_H

#include "base/arena.h"
#include "trace/sites.h"
#include "vestige/run.h"

struct vs_fact {
    const char *key, *value;
    bool packed; /* this value is in a chunk */
};

struct vs_tables {
    struct vs_sites sites;
    struct vs_block *blocks;
    size_t block_count, block_capacity;
    struct vs_map block_numbers; /* plus one; by the block's hash, or the next free key after it */
    struct vs_image *images;
    size_t image_count, image_capacity;
    struct vs_fact *facts;
    size_t fact_count, fact_capacity;
    uint64_t code_size, text_size;
    uint32_t facts_set;
    struct vs_arena arena; /* strings and code */
    /* how many of each are in chunks already; for the writer */
    uint32_t packed_sites;
    size_t packed_blocks, packed_images;
};

/* Returns 0; -VSE_NOMEM. */
int vs_tables_init(struct vs_tables *t);
void vs_tables_fini(struct vs_tables *t);

/* These do what vs_writer_meta, vs_writer_image and vs_writer_block say. */
int vs_tables_fact(struct vs_tables *t, const char *key, const char *value);
int64_t vs_tables_image(struct vs_tables *t, const struct vs_image *image);
int64_t vs_tables_block(struct vs_tables *t, const struct vs_block *block);

/* Pack what is not in a chunk yet, but no more than one chunk should hold: facts into the empty
 * columns of a meta chunk, the rest into those of a static chunk. Call them until nothing is left.
 * Return 1 if there was something, otherwise 0; -VSE_NOMEM. */
int vs_tables_pack_meta(struct vs_tables *t, struct vs_columns *cols);
int vs_tables_pack_static(struct vs_tables *t, struct vs_columns *cols);

/* Adds a chunk's content, or nothing if it is bad. *why gets a phrase (static storage).
 * Return 0; -VSE_NOMEM; -VSE_CORRUPT; -VSE_TRUNCATED; -VSE_LIMIT. */
int vs_tables_unpack_meta(struct vs_tables *t, const struct vs_column cols[VS_COL_END],
                          const char **why);
int vs_tables_unpack_static(struct vs_tables *t, const struct vs_column cols[VS_COL_END],
                            const char **why);

#endif
