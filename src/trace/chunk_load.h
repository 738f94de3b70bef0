/* SPDX-License-Identifier: MIT */
/* Loads chunks from a source and checks them; gets a run's index and tables from its chunks. */
#ifndef TRACE_CHUNK_LOAD_H
#define TRACE_CHUNK_LOAD_H

#include "trace/index.h"
#include "base/byte_source.h"
#include "trace/tables.h"

struct ZSTD_DCtx_s;

/* The chunk that was loaded last. */
struct vs_loader {
    struct vs_byte_source source;
    struct ZSTD_DCtx_s *zstd;
    struct vs_chunk chunk;
    struct vs_column cols[VS_COL_END];
    struct vs_buf payload, raw; /* raw holds what cols point to */
};

/* Takes over the source. Returns 0; -VSE_NOMEM. */
int vs_loader_init(struct vs_loader *l, const struct vs_byte_source *source);
void vs_loader_fini(struct vs_loader *l);

/* Loads the chunk at an offset, which must have that number.
 * Returns 0; -VSE_IO; -VSE_NOMEM; -VSE_TRUNCATED; -VSE_CHECKSUM; -VSE_CORRUPT; -VSE_LIMIT. */
int vs_loader_chunk(struct vs_loader *l, uint64_t offset, uint32_t number, struct vs_diag *diag);

/* Gets index and tables by way of the index chunk. Returns 0; -VSE_NOTFOUND (the file is not
 * sealed); otherwise as vs_loader_chunk. */
int vs_load_sealed(struct vs_loader *l, struct vs_index *index, struct vs_tables *tables,
                   struct vs_diag *diag);

/* The same by reading chunk after chunk for as long as they are intact. *missing says why it
 * stopped; missing->error is 0 if the file is complete. Returns 0; -VSE_IO; -VSE_NOMEM. */
int vs_load_scan(struct vs_loader *l, struct vs_index *index, struct vs_tables *tables,
                 struct vs_diag *missing);

#endif
