/* SPDX-License-Identifier: MIT */
/* Writing a run: events become columns in the caller's thread, columns become chunks in the
 * workers, chunks enter the file in order. At most workers + 2 chunks are in memory. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "base/workers.h"
#include "trace/encode.h"
#include "trace/tables.h"
#include "vestige/run.h"

#define DEFAULT_LEVEL 3
/* What a crash loses and what a seek decodes; larger chunks are a few percent smaller. */
#define DEFAULT_EVENTS (1u << 20)
#define DEFAULT_BYTES  (8u << 20)
#define WORKERS_MAX    64
#define BYTES_MAX      (32u << 20) /* of a chunk; leaves room below VS_MAX_COLUMN */

/* A chunk on its way. Belongs to the workers from submission until it was waited for. */
struct packing {
    struct vs_job job;
    bool busy;
    uint8_t type;
    struct vs_columns cols;
    struct vs_summary summary; /* events chunks */
    struct vs_buf threads;
    ZSTD_CCtx *zstd;
    struct vs_buf payload; /* result */
    uint32_t crc;
    int err;
};

struct vs_writer {
    struct vs_outfile file;
    struct vs_tables tables;
    struct vs_index index; /* of the chunks in the file */
    struct vs_workers *workers;
    struct packing *ring; /* chunks are packed and written in ring order */
    unsigned ring_size;
    unsigned oldest, current; /* current: being filled; [oldest, current): submitted */
    struct vs_encoder encoder;
    bool in_chunk; /* the encoder has begun the current chunk */
    uint32_t features;
    uint64_t bytes;
    int failed; /* sticky */
    struct vs_diag diag;
};

static int fail(struct vs_writer *w, int err)
{
    if (err == -VSE_NOMEM)
        vs_diag_set(&w->diag, err, -1, -1, "out of memory");
    else if (err == -VSE_LIMIT)
        vs_diag_set(&w->diag, err, -1, -1, "the run has more chunks than the format allows");
    else if (err == -VSE_INTERNAL)
        vs_diag_set(&w->diag, err, -1, -1, "the compressor failed");
    w->failed = err;
    return err;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Fills in what is 0. Returns the name of an option that is out of range, or NULL. */
static const char *defaults(struct vs_writer_options *o)
{
    if (!o->level)
        o->level = DEFAULT_LEVEL;
    if (!o->workers)
        o->workers = 1;
    if (o->inline_work)
        o->workers = 0;
    if (!o->chunk_events)
        o->chunk_events = DEFAULT_EVENTS;
    if (!o->chunk_bytes)
        o->chunk_bytes = DEFAULT_BYTES;
    if (!o->max_sites)
        o->max_sites = VS_MAX_SITES;
    return o->level < 1 || o->level > 19           ? "level"
           : o->workers > WORKERS_MAX              ? "workers"
           : o->chunk_events > VS_MAX_CHUNK_EVENTS ? "chunk_events"
           : o->chunk_bytes > BYTES_MAX            ? "chunk_bytes"
           : o->max_sites > VS_MAX_SITES           ? "max_sites"
           : o->features & ~(uint32_t)VS_RUN_KNOWN ? "features"
                                                   : NULL;
}

static int init_ring(struct vs_writer *w, int level)
{
    w->ring = calloc(w->ring_size, sizeof(*w->ring));
    if (!w->ring)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < w->ring_size; i++) {
        ZSTD_CCtx *z = w->ring[i].zstd = ZSTD_createCCtx();

        if (!z || ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level)))
            return -VSE_NOMEM;
    }
    return 0;
}

static void free_writer(struct vs_writer *w)
{
    vs_workers_close(w->workers);
    for (unsigned i = 0; w->ring && i < w->ring_size; i++) {
        struct packing *k = &w->ring[i];

        vs_columns_fini(&k->cols);
        vs_buf_fini(&k->threads);
        vs_buf_fini(&k->payload);
        ZSTD_freeCCtx(k->zstd);
    }
    free(w->ring);
    vs_encoder_fini(&w->encoder);
    vs_tables_fini(&w->tables);
    vs_index_fini(&w->index);
    free(w);
}

static int write_header(struct vs_writer *w)
{
    uint8_t header[VS_HEADER_SIZE];

    vs_header_pack(header, w->features);
    w->bytes = sizeof(header);
    return vs_outfile_write(&w->file, header, sizeof(header), &w->diag);
}

static int init_writer(struct vs_writer *w, const struct vs_writer_options *o)
{
    w->features = o->features;
    w->ring_size = o->workers + 2;
    vs_encoder_init(&w->encoder, &w->tables, o->features, o->max_sites, o->chunk_events,
                    o->chunk_bytes);
    if (vs_tables_init(&w->tables, true) < 0 || init_ring(w, o->level) < 0 ||
        vs_workers_open(&w->workers, o->workers) < 0)
        return fail(w, -VSE_NOMEM);
    return 0;
}

int vs_writer_open(struct vs_writer **out, const char *path,
                   const struct vs_writer_options *options, struct vs_diag *diag)
{
    struct vs_writer_options o = options ? *options : (struct vs_writer_options){0};
    const char *bad = path ? defaults(&o) : "path";
    struct vs_writer *w;
    int err;

    *out = NULL;
    if (bad)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s is missing or out of range", bad);
    w = calloc(1, sizeof(*w));
    if (!w)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    w->file.fd = -1;
    if ((err = init_writer(w, &o)) < 0 ||
        (err = vs_outfile_open(&w->file, path, o.overwrite, &w->diag)) < 0 ||
        (err = write_header(w)) < 0) {
        if (diag)
            *diag = w->diag;
        vs_outfile_abort(&w->file);
        free_writer(w);
        return err;
    }
    *out = w;
    return 0;
}

/* ---- chunks -------------------------------------------------------------------------------- */

static void pack(void *arg)
{
    struct packing *k = arg;

    k->payload.len = 0;
    k->err = vs_columns_pack(&k->cols, k->zstd, &k->payload);
    if (k->err == 0)
        k->crc = vs_crc32c(0, k->payload.data, k->payload.len);
}

static int write_chunk(struct vs_writer *w, unsigned type, const struct vs_buf *payload,
                       uint32_t crc)
{
    uint8_t header[VS_CHUNK_HEADER];
    struct vs_chunk chunk = {(uint8_t)type, (uint32_t)w->index.entry_count, crc, payload->len};
    int err;

    vs_chunk_pack(header, &chunk);
    if ((err = vs_outfile_write(&w->file, header, sizeof(header), &w->diag)) < 0 ||
        (err = vs_outfile_write(&w->file, payload->data, payload->len, &w->diag)) < 0)
        return err;
    w->bytes += sizeof(header) + payload->len;
    return 0;
}

/* Waits for the oldest submitted chunk and writes it. */
static int retire(struct vs_writer *w)
{
    struct packing *k = &w->ring[w->oldest];
    int err;

    vs_workers_wait(w->workers, &k->job);
    k->busy = false;
    w->oldest = (w->oldest + 1) % w->ring_size;
    if ((err = k->err) < 0 || (err = write_chunk(w, k->type, &k->payload, k->crc)) < 0)
        return fail(w, err);
    err = vs_index_add(&w->index, k->type, k->payload.len, &k->summary,
                       (const struct vs_chunk_thread *)(void *)k->threads.data);
    return err < 0 ? fail(w, err) : 0;
}

static int retire_all(struct vs_writer *w)
{
    int err = 0;

    while (err == 0 && w->ring[w->oldest].busy)
        err = retire(w);
    return err;
}

/* Hands the current chunk to the workers and makes the next in the ring the current one. */
static int submit(struct vs_writer *w, unsigned type)
{
    struct packing *k = &w->ring[w->current];
    int err = 0;

    k->type = (uint8_t)type;
    k->busy = true;
    k->job.run = pack;
    k->job.arg = k;
    vs_workers_submit(w->workers, &k->job);
    w->current = (w->current + 1) % w->ring_size;
    if (w->ring[w->current].busy)
        err = retire(w);
    vs_columns_clear(&w->ring[w->current].cols);
    return err;
}

/* Facts and static tables precede the events that need them. The events' columns wait aside while
 * the current place in the ring is used for other chunks. */
static int submit_tables(struct vs_writer *w)
{
    int more, err = 0;

    while (err == 0 && (more = vs_tables_pack_meta(&w->tables, &w->ring[w->current].cols)) != 0)
        err = more < 0 ? fail(w, more) : submit(w, VS_CHUNK_META);
    while (err == 0 && (more = vs_tables_pack_static(&w->tables, &w->ring[w->current].cols)) != 0)
        err = more < 0 ? fail(w, more) : submit(w, VS_CHUNK_STATIC);
    return err;
}

static int end_chunk(struct vs_writer *w)
{
    struct vs_columns events = {0};
    struct vs_summary summary = {0};
    struct vs_buf threads = {0};
    struct packing *k = &w->ring[w->current];
    bool had_events = w->in_chunk && w->encoder.events > 0;
    int err = 0;

    w->in_chunk = false;
    if (had_events) {
        if (vs_encoder_end(&w->encoder, &summary, &k->threads) < 0)
            return fail(w, -VSE_NOMEM);
        events = k->cols;
        threads = k->threads;
        memset(&k->cols, 0, sizeof(k->cols));
        memset(&k->threads, 0, sizeof(k->threads));
    }
    err = submit_tables(w);
    if (had_events) {
        k = &w->ring[w->current];
        vs_columns_fini(&k->cols);
        vs_buf_fini(&k->threads);
        k->cols = events;
        k->threads = threads;
        k->summary = summary;
        if (err == 0)
            err = submit(w, VS_CHUNK_EVENTS);
    }
    return err;
}

/* ---- the interface ------------------------------------------------------------------------- */

/* The result of an addition to the tables, with words if it failed. Only lack of memory is for
 * good. */
static int64_t added(struct vs_writer *w, int64_t result, const char *what)
{
    if (result == -VSE_NOMEM)
        return fail(w, -VSE_NOMEM);
    if (result < 0)
        vs_diag_set(&w->diag, (int)result, -1, -1, "%s: %s", what, vs_errstr((int)result));
    return result;
}

int vs_writer_meta(struct vs_writer *w, const char *key, const char *value)
{
    if (w->failed)
        return w->failed;
    return (int)added(w, vs_tables_fact(&w->tables, key, value), "a fact");
}

int64_t vs_writer_image(struct vs_writer *w, const struct vs_image *image)
{
    return w->failed ? w->failed : added(w, vs_tables_image(&w->tables, image), "an image");
}

int64_t vs_writer_block(struct vs_writer *w, const struct vs_block *block)
{
    return w->failed ? w->failed : added(w, vs_tables_block(&w->tables, block), "a block");
}

static int refuse(struct vs_writer *w, size_t pos, const char *why)
{
    uint64_t number = w->encoder.first + w->encoder.events;

    return vs_diag_set(&w->diag, -VSE_INVAL, -1, -1, "event %llu (%zu of its batch) has %s",
                       (unsigned long long)number, pos, why);
}

int vs_writer_put(struct vs_writer *w, const struct vs_batch *batch)
{
    const char *why = "";
    size_t pos = 0;
    int err;

    if (w->failed)
        return w->failed;
    if (batch->count && !batch->cycles != !(w->features & VS_RUN_TIMED))
        return refuse(w, 0, batch->cycles ? "a cycle in an untimed run" : "no cycle");
    while (pos < batch->count) {
        if (!w->in_chunk) {
            if (vs_encoder_begin(&w->encoder, &w->ring[w->current].cols) < 0)
                return fail(w, -VSE_NOMEM);
            w->in_chunk = true;
        }
        err = vs_encoder_put(&w->encoder, batch, &pos, &why);
        if (err == -VSE_INVAL)
            return refuse(w, pos, why);
        if (err < 0)
            return fail(w, err);
        if (err > 0 && (err = end_chunk(w)) < 0)
            return err;
    }
    return 0;
}

int vs_writer_flush(struct vs_writer *w)
{
    int err;

    if (w->failed)
        return w->failed;
    if ((err = end_chunk(w)) < 0)
        return err;
    return retire_all(w);
}

const struct vs_diag *vs_writer_diag(const struct vs_writer *w)
{
    return &w->diag;
}

void vs_writer_stats(const struct vs_writer *w, struct vs_writer_stats *stats)
{
    *stats = (struct vs_writer_stats){.events = w->encoder.first + w->encoder.events,
                                      .instructions = w->encoder.insns,
                                      .bytes = w->bytes,
                                      .chunks = w->index.entry_count,
                                      .sites = w->tables.sites.count - 1,
                                      .blocks = (uint32_t)w->tables.block_count,
                                      .threads = w->encoder.thread_count};
}

static int write_index(struct vs_writer *w)
{
    struct packing *k = &w->ring[w->current];
    uint8_t trailer[VS_TRAILER_SIZE];
    uint64_t offset = w->bytes;
    int err;

    vs_columns_clear(&k->cols);
    if ((err = vs_index_pack(&w->index, &k->cols.col[VS_COL_INDEX])) < 0)
        return fail(w, err);
    if (k->cols.col[VS_COL_INDEX].len > VS_MAX_INDEX)
        return fail(w, -VSE_LIMIT);
    pack(k);
    if ((err = k->err) < 0 || (err = write_chunk(w, VS_CHUNK_INDEX, &k->payload, k->crc)) < 0)
        return fail(w, err);
    w->bytes += sizeof(trailer);
    vs_trailer_pack(trailer, offset, w->bytes);
    err = vs_outfile_write(&w->file, trailer, sizeof(trailer), &w->diag);
    return err < 0 ? fail(w, err) : 0;
}

int vs_writer_seal(struct vs_writer *w, struct vs_diag *diag)
{
    int err = w->failed;

    if (err == 0 && (err = vs_writer_flush(w)) == 0 && (err = write_index(w)) == 0)
        err = vs_outfile_commit(&w->file, &w->diag);
    if (err < 0) {
        vs_outfile_keep(&w->file);
        if (diag)
            *diag = w->diag;
    }
    free_writer(w);
    return err;
}

void vs_writer_abort(struct vs_writer *w)
{
    if (!w)
        return;
    vs_outfile_abort(&w->file);
    free_writer(w);
}
