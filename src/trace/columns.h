/* SPDX-License-Identifier: MIT */
/* A chunk's payload: a directory and columns, each compressed by itself.
 *
 *   count | { id, codec, raw length, stored length } * count | stored bytes ...
 */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "trace/layout.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Columns that are being written. Whoever holds the struct owns them; empty ones are not stored. */
struct vs_columns {
    struct vs_buf col[VS_COL_END];
};

/* Empties the columns and keeps their memory. */
void vs_columns_clear(struct vs_columns *c);
void vs_columns_fini(struct vs_columns *c);
size_t vs_columns_size(const struct vs_columns *c);

/* The compressor's default level. Up to it, columns that gain nothing from the effort are
 * compressed with less; above it, all columns get the level. */
#define VS_LEVEL_DEFAULT 3

/* Appends the payload to out. level: 1 to 19. Returns 0; -VSE_NOMEM; -VSE_INTERNAL (the
 * compressor failed). */
int vs_columns_pack(const struct vs_columns *c, struct ZSTD_CCtx_s *zstd, int level,
                    struct vs_buf *out);

/* A column that is being read: [p, end). At least 8 readable bytes follow end, so that a whole word
 * may be fetched if its first byte lies before end. A column that the chunk lacks is empty. */
struct vs_column {
    const uint8_t *p, *end;
};

/* Unpacks a payload of a chunk of that type. `raw` receives the decompressed bytes and must
 * outlive the columns; its old content is lost. chunk and offset are for the diag.
 * Returns 0; -VSE_NOMEM; -VSE_CORRUPT; -VSE_LIMIT; -VSE_TRUNCATED. */
int vs_columns_unpack(const uint8_t *payload, size_t size, unsigned type, struct ZSTD_DCtx_s *zstd,
                      struct vs_buf *raw, struct vs_column cols[VS_COL_END], uint64_t offset,
                      int64_t chunk, struct vs_diag *diag);

#endif
