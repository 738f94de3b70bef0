/* SPDX-License-Identifier: MIT */
/* Files with correct checksums and any content: a file is taken apart into columns, these are
 * changed, and it is put together again with an index that repeats what the chunks say. Runs out of
 * memory by aborting; needs nothing of the test harness, so that fuzz targets can use it. */
#ifndef FORGE_H
#define FORGE_H

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/varint.h"
#include "trace/columns.h"

struct forge_chunk {
    uint8_t type;
    struct vs_columns cols;
    struct vs_buf payload; /* if not empty: instead of the columns */
    uint64_t at, size;     /* where it was built */
};

struct forge {
    uint32_t features;
    struct forge_chunk *chunks; /* without the index */
    size_t count;
    struct vs_buf index; /* if not empty: the index column, instead of the true one */
    uint64_t index_at;   /* where it was built */
};

static inline void forge_must(bool ok)
{
    if (!ok)
        abort();
}

static inline void forge_free(struct forge *f)
{
    for (size_t i = 0; i < f->count; i++) {
        vs_columns_fini(&f->chunks[i].cols);
        vs_buf_fini(&f->chunks[i].payload);
    }
    free(f->chunks);
    vs_buf_fini(&f->index);
    *f = (struct forge){0};
}

/* Makes room for a chunk before number i. */
static inline struct forge_chunk *forge_insert(struct forge *f, size_t i, unsigned type)
{
    f->chunks = realloc(f->chunks, (f->count + 1) * sizeof(*f->chunks));
    forge_must(f->chunks && i <= f->count);
    memmove(f->chunks + i + 1, f->chunks + i, (f->count - i) * sizeof(*f->chunks));
    f->chunks[i] = (struct forge_chunk){.type = (uint8_t)type};
    f->count++;
    return &f->chunks[i];
}

static inline void forge_swap(struct forge *f, size_t i, size_t k)
{
    struct forge_chunk c = f->chunks[i];

    f->chunks[i] = f->chunks[k];
    f->chunks[k] = c;
}

/* The n-th chunk of a type; aborts if there is none. */
static inline size_t forge_find(const struct forge *f, unsigned type, size_t n)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->chunks[i].type == type && n-- == 0)
            return i;
    abort();
}

static inline void forge_set(struct vs_buf *b, const void *bytes, size_t n)
{
    b->len = 0;
    forge_must(vs_buf_put(b, bytes, n) == 0);
}

static inline void forge_varint(struct vs_buf *b, uint64_t v)
{
    uint8_t bytes[VS_VARINT_MAX];

    forge_must(vs_buf_put(b, bytes, (size_t)(vs_varint_put(bytes, v) - bytes)) == 0);
}

/* The n-th number of a column of varints. */
static inline uint64_t forge_number(const struct vs_buf *b, size_t n)
{
    const uint8_t *p = b->data;
    uint64_t v = 0;

    for (size_t i = 0; i <= n; i++)
        forge_must(vs_varint_get(&p, b->data + b->len, &v) == 0);
    return v;
}

static inline void forge_set_number(struct vs_buf *b, size_t n, uint64_t to)
{
    const uint8_t *p = b->data, *end = b->data + b->len;
    struct vs_buf out = {0};
    uint64_t v;

    for (size_t i = 0; i < n; i++)
        forge_must(vs_varint_get(&p, end, &v) == 0);
    forge_must(vs_buf_put(&out, b->data, (size_t)(p - b->data)) == 0);
    forge_varint(&out, to);
    forge_must(vs_varint_get(&p, end, &v) == 0 && vs_buf_put(&out, p, (size_t)(end - p)) == 0);
    vs_buf_fini(b);
    *b = out;
}

/* Takes an intact file apart. */
static inline void forge_load(struct forge *f, const uint8_t *data, size_t size)
{
    ZSTD_DCtx *zstd = ZSTD_createDCtx();
    struct vs_buf raw = {0};
    uint32_t version;
    size_t at = VS_HEADER_SIZE;

    *f = (struct forge){0};
    forge_must(zstd && vs_header_parse(data, &version, &f->features, NULL) == 0);
    while (size - at > VS_TRAILER_SIZE) {
        struct vs_column cols[VS_COL_END];
        struct vs_chunk h;

        forge_must(vs_chunk_parse(data + at, &h, (uint32_t)f->count, at, NULL) == 0 &&
                   vs_columns_unpack(data + at + VS_CHUNK_HEADER, h.size, h.type, zstd, &raw, cols,
                                     0, 0, NULL) == 0);
        if (h.type == VS_CHUNK_INDEX)
            break;
        struct forge_chunk *c = forge_insert(f, f->count, h.type);

        c->at = at;
        c->size = h.size;
        for (int i = 0; i < VS_COL_END; i++)
            if (cols[i].p < cols[i].end)
                forge_set(&c->cols.col[i], cols[i].p, (size_t)(cols[i].end - cols[i].p));
        at += VS_CHUNK_HEADER + h.size;
    }
    f->index_at = at;
    vs_buf_fini(&raw);
    ZSTD_freeDCtx(zstd);
}

static inline void forge_put_chunk(struct vs_buf *out, unsigned type, size_t number,
                                   const struct vs_buf *payload)
{
    struct vs_chunk h = {(uint8_t)type, (uint32_t)number, vs_crc32c(0, payload->data, payload->len),
                         payload->len};
    uint8_t header[VS_CHUNK_HEADER];

    vs_chunk_pack(header, &h);
    forge_must(vs_buf_put(out, header, sizeof(header)) == 0 &&
               vs_buf_put(out, payload->data, payload->len) == 0);
}

/* The columns as a payload; a column that is empty is not stored. */
static inline void forge_pack(const struct vs_columns *cols, ZSTD_CCtx *zstd, struct vs_buf *out)
{
    out->len = 0;
    forge_must(vs_columns_pack(cols, zstd, VS_LEVEL_DEFAULT, out) == 0);
}

static inline void forge_index_entry(struct vs_buf *index, const struct forge_chunk *c)
{
    const struct vs_buf *summary = &c->cols.col[VS_COL_SUMMARY];

    forge_must(vs_buf_put(index, &c->type, 1) == 0);
    forge_varint(index, c->size);
    if (c->type == VS_CHUNK_EVENTS)
        forge_must(vs_buf_put(index, summary->data, summary->len) == 0);
}

/* Puts the file together in an empty buffer. */
static inline void forge_build(struct forge *f, struct vs_buf *out)
{
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    struct vs_buf payload = {0};
    struct vs_columns index = {0};
    uint8_t header[VS_HEADER_SIZE], trailer[VS_TRAILER_SIZE];

    forge_must(zstd != NULL);
    vs_header_pack(header, f->features);
    forge_set(out, header, sizeof(header));
    for (size_t i = 0; i < f->count; i++) {
        struct forge_chunk *c = &f->chunks[i];

        if (c->payload.len)
            forge_set(&payload, c->payload.data, c->payload.len);
        else
            forge_pack(&c->cols, zstd, &payload);
        c->at = out->len;
        c->size = payload.len;
        forge_put_chunk(out, c->type, i, &payload);
        forge_index_entry(&index.col[VS_COL_INDEX], c);
    }
    if (f->index.len)
        forge_set(&index.col[VS_COL_INDEX], f->index.data, f->index.len);
    forge_pack(&index, zstd, &payload);
    f->index_at = out->len;
    forge_put_chunk(out, VS_CHUNK_INDEX, f->count, &payload);
    vs_trailer_pack(trailer, f->index_at, out->len + sizeof(trailer));
    forge_must(vs_buf_put(out, trailer, sizeof(trailer)) == 0);
    vs_buf_fini(&payload);
    vs_columns_fini(&index);
    ZSTD_freeCCtx(zstd);
}

/* Makes a header, chunk header or trailer right again after a change. */
static inline void forge_reseal(uint8_t *structure)
{
    vs_put32(structure + 28, vs_crc32c(0, structure, 28));
}

#endif
