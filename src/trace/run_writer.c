/* SPDX-License-Identifier: MIT */
/* Writes a run. The caller's thread finds out what each event is and follows control flow. Workers
 * make columns of addresses and values, block by block while the chunk grows, and compress the
 * chunk when it is complete. Chunks enter the file in order. Instead of waiting for the workers,
 * the caller lends them a hand. At most workers + 3 chunks are in memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/crc32c.h"
#include "base/diag.h"
#include "base/invariant.h"
#include "base/outfile.h"
#include "base/workers.h"
#include "trace/chunk_encode.h"
#include "trace/recipe.h"
#include "trace/tables.h"
#include "vestige/run.h"

/* A chunk's size: this much a crash loses and a seek decodes. Larger chunks compress a few percent
 * better. */
#define DEFAULT_EVENTS (1u << 20)
#define DEFAULT_BYTES  (8u << 20)
#define WORKERS_MAX    64
#define BYTES_MAX      (32u << 20) /* of a chunk; this leaves room below VS_MAX_COLUMN */
/* How many blocks of operands there are per working thread: one is filled or encoded, and the
 * others wait. */
#define BLOCKS 4

/* Coders that no chunk uses. The one used last is on top, as its memory is still in the caches. */
struct coder {
    struct vs_chunk_operand_coder state;
    struct coder *next;
};

struct coders {
    pthread_mutex_t lock;
    struct coder *free;
};

/* What is needed to pack a chunk. */
struct tools {
    ZSTD_CCtx *zstd;
    int level;
};

/* A chunk on its way. Its operands' columns, coder and err belong to the workers from the first
 * block's submission, and all of it from its own submission, until it has been waited for. */
struct packing {
    struct vs_job job;
    struct vs_strand strand; /* of its blocks' jobs, and then its own */
    bool busy;
    uint8_t type;
    struct vs_columns cols;
    struct vs_summary summary; /* events chunks */
    struct vs_buf threads;
    struct coder *coder; /* from the first block to the last */
    struct vs_writer *writer;
    struct vs_buf payload; /* result */
    uint32_t crc;
    int err;
};

/* Operands on their way. A block belongs to the workers from its submission until it has been
 * waited for. */
struct block {
    struct vs_job job;
    bool busy;
    struct vs_chunk_operands operands;
    struct packing *chunk;
};

struct vs_writer {
    struct vs_outfile file;
    struct vs_tables tables;
    struct vs_index index; /* the index of the chunks in the file */
    struct vs_workers *workers;
    struct tools *tools; /* by worker; the last are the caller's */
    unsigned tool_count;
    struct coders coders;
    struct block *blocks;        /* used in turn */
    unsigned block_count, block; /* block: the one being filled */
    struct packing **ring; /* chunks are packed and written in ring order; one more is aside */
    unsigned ring_size;
    unsigned oldest, current; /* current is being filled; [oldest, current) are submitted */
    struct vs_encoder encoder;
    struct vs_buf expanded; /* events of a record: room for those of any recipe */
    bool in_chunk;          /* the encoder has begun the current chunk */
    uint32_t features, shadow_bits;
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

/* ---- coders -------------------------------------------------------------------------------- */

/* Makes sure that the chunk has a coder. Returns 0; -VSE_NOMEM. */
static int take_coder(struct packing *k)
{
    struct coders *all = &k->writer->coders;

    if (k->coder)
        return 0;
    pthread_mutex_lock(&all->lock);
    k->coder = all->free;
    if (k->coder)
        all->free = k->coder->next;
    pthread_mutex_unlock(&all->lock);
    if (!k->coder)
        k->coder = calloc(1, sizeof(*k->coder));
    return k->coder ? vs_chunk_operand_coder_begin(&k->coder->state, k->writer->shadow_bits)
                    : -VSE_NOMEM;
}

static void give_coder(struct packing *k)
{
    struct coders *all = &k->writer->coders;

    if (!k->coder)
        return;
    pthread_mutex_lock(&all->lock);
    k->coder->next = all->free;
    all->free = k->coder;
    pthread_mutex_unlock(&all->lock);
    k->coder = NULL;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Fills in options that are 0. Returns the name of an option that is out of range, or NULL. */
static const char *defaults(struct vs_writer_options *o)
{
    if (!o->level)
        o->level = VS_LEVEL_DEFAULT;
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

static int init_tools(struct vs_writer *w, int level)
{
    w->tools = calloc(w->tool_count, sizeof(*w->tools));
    if (!w->tools)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < w->tool_count; i++) {
        w->tools[i].level = level;
        w->tools[i].zstd = ZSTD_createCCtx();
        if (!w->tools[i].zstd)
            return -VSE_NOMEM;
    }
    return 0;
}

static int init_blocks(struct vs_writer *w)
{
    w->blocks = calloc(w->block_count, sizeof(*w->blocks));
    if (!w->blocks)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < w->block_count; i++)
        if (vs_chunk_operands_init(&w->blocks[i].operands) < 0)
            return -VSE_NOMEM;
    return 0;
}

static int init_ring(struct vs_writer *w)
{
    w->ring = calloc(w->ring_size + 1, sizeof(*w->ring));
    if (!w->ring)
        return -VSE_NOMEM;
    for (unsigned i = 0; i <= w->ring_size; i++) {
        w->ring[i] = calloc(1, sizeof(*w->ring[i]));
        if (!w->ring[i])
            return -VSE_NOMEM;
        w->ring[i]->writer = w;
    }
    return 0;
}

static void free_packing(struct packing *k)
{
    if (!k)
        return;
    give_coder(k);
    vs_columns_fini(&k->cols);
    vs_buf_fini(&k->threads);
    vs_buf_fini(&k->payload);
    free(k);
}

static void free_coders(struct coders *c)
{
    while (c->free) {
        struct coder *next = c->free->next;

        vs_chunk_operand_coder_fini(&c->free->state);
        free(c->free);
        c->free = next;
    }
    pthread_mutex_destroy(&c->lock);
}

static void free_writer(struct vs_writer *w)
{
    vs_workers_close(w->workers);
    for (unsigned i = 0; w->ring && i <= w->ring_size; i++)
        free_packing(w->ring[i]);
    for (unsigned i = 0; w->blocks && i < w->block_count; i++)
        vs_chunk_operands_fini(&w->blocks[i].operands);
    for (unsigned i = 0; w->tools && i < w->tool_count; i++)
        ZSTD_freeCCtx(w->tools[i].zstd);
    free_coders(&w->coders);
    free(w->ring);
    free(w->blocks);
    free(w->tools);
    vs_encoder_fini(&w->encoder);
    vs_buf_fini(&w->expanded);
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
    w->tool_count = o->workers + 1;
    w->block_count = o->workers ? BLOCKS * w->tool_count : 1;
    pthread_mutex_init(&w->coders.lock, NULL);
    vs_encoder_init(&w->encoder, &w->tables, o->features, o->max_sites, o->chunk_events,
                    o->chunk_bytes);
    w->shadow_bits = w->encoder.shadow_bits;
    if (vs_tables_init(&w->tables) < 0 || init_tools(w, o->level) < 0 || init_blocks(w) < 0 ||
        init_ring(w) < 0 || vs_workers_open(&w->workers, o->workers) < 0)
        return fail(w, -VSE_NOMEM);
    return 0;
}

/* Refuses to write over a run that was cut off. Returns 0; -VSE_EXISTS. */
static int spare_partial(const char *path, struct vs_diag *diag)
{
    struct vs_reader *r;
    char *partial;
    struct stat st;
    int err = 0;

    if (asprintf(&partial, "%s.partial", path) < 0)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (lstat(partial, &st) == 0 && S_ISREG(st.st_mode) && !vs_outfile_busy(partial) &&
        vs_reader_open(&r, partial, VS_OPEN_SALVAGE, NULL) == 0) {
        if (vs_reader_info(r)->events)
            err = vs_diag_set(diag, -VSE_EXISTS, -1, -1,
                              "%s has %llu events of a run that was cut off", partial,
                              (unsigned long long)vs_reader_info(r)->events);
        vs_reader_close(r);
    }
    free(partial);
    return err;
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
        (!o.overwrite && (err = spare_partial(path, &w->diag)) < 0) ||
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

static void encode_block(void *arg)
{
    struct block *b = arg;
    struct packing *k = b->chunk;

    if (k->err == 0 && (k->err = take_coder(k)) == 0)
        k->err = vs_chunk_operand_coder_put(&k->coder->state, &b->operands, &k->cols);
}

static void pack_with(struct packing *k, const struct tools *t)
{
    give_coder(k);
    if (k->err == 0)
        k->err = vs_columns_pack(&k->cols, t->zstd, t->level, &k->payload);
    if (k->err == 0)
        k->crc = vs_crc32c(0, k->payload.data, k->payload.len);
}

static void pack(void *arg)
{
    struct packing *k = arg;

    pack_with(k, &k->writer->tools[k->job.worker]);
}

static void clear(struct packing *k)
{
    vs_columns_clear(&k->cols);
    k->threads.len = 0;
    k->payload.len = 0;
    k->err = 0;
}

/* Hands over operands of the current chunk, and waits for the block whose turn is next. */
static void submit_block(struct vs_writer *w)
{
    struct block *b = &w->blocks[w->block];

    invariant(!b->busy && (b->operands.count || b->operands.part_count));
    b->chunk = w->ring[w->current];
    b->busy = true;
    b->job.run = encode_block;
    b->job.arg = b;
    vs_workers_submit_to(w->workers, &b->chunk->strand, &b->job);
    w->block = (w->block + 1) % w->block_count;
    b = &w->blocks[w->block];
    if (b->busy)
        vs_workers_help(w->workers, &b->job);
    b->busy = false;
    vs_chunk_operands_clear(&b->operands);
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
    struct packing *k = w->ring[w->oldest];
    int err;

    invariant(k->busy);
    vs_workers_help(w->workers, &k->job);
    k->busy = false;
    w->oldest = (w->oldest + 1) % w->ring_size;
    if ((err = k->err) < 0 || (err = write_chunk(w, k->type, &k->payload, k->crc)) < 0)
        return fail(w, err);
    err = vs_index_add(&w->index, k->type, k->payload.len, &k->summary,
                       (const struct vs_chunk_thread *)(void *)k->threads.data);
    if (err >= 0)
        invariant(vs_index_end(&w->index) == w->bytes);
    return err < 0 ? fail(w, err) : 0;
}

static int retire_all(struct vs_writer *w)
{
    int err = 0;

    while (err == 0 && w->ring[w->oldest]->busy)
        err = retire(w);
    return err;
}

/* Hands the current chunk to the workers and makes the next in the ring the current one. */
static int submit(struct vs_writer *w, unsigned type)
{
    struct packing *k = w->ring[w->current];
    int err = 0;

    invariant(!k->busy);
    k->type = (uint8_t)type;
    k->busy = true;
    k->job.run = pack;
    k->job.arg = k;
    vs_workers_submit_to(w->workers, &k->strand, &k->job);
    w->current = (w->current + 1) % w->ring_size;
    if (w->ring[w->current]->busy)
        err = retire(w);
    clear(w->ring[w->current]);
    return err;
}

/* Facts and static tables precede the events that need them. The events wait aside while the
 * current place in the ring is used for other chunks. */
static int submit_tables(struct vs_writer *w)
{
    int more, err = 0;

    while (err == 0 && (more = vs_tables_pack_meta(&w->tables, &w->ring[w->current]->cols)) != 0)
        err = more < 0 ? fail(w, more) : submit(w, VS_CHUNK_META);
    while (err == 0 && (more = vs_tables_pack_static(&w->tables, &w->ring[w->current]->cols)) != 0)
        err = more < 0 ? fail(w, more) : submit(w, VS_CHUNK_STATIC);
    return err;
}

static void swap_aside(struct vs_writer *w)
{
    struct packing *k = w->ring[w->current];

    w->ring[w->current] = w->ring[w->ring_size];
    w->ring[w->ring_size] = k;
}

static int end_chunk(struct vs_writer *w)
{
    struct packing *k = w->ring[w->current];
    bool had_events = w->in_chunk && w->encoder.events > 0;
    int err;

    w->in_chunk = false;
    if (!had_events)
        return submit_tables(w);
    if (vs_encoder_end(&w->encoder, &k->summary, &k->threads) < 0)
        return fail(w, -VSE_NOMEM);
    if (w->blocks[w->block].operands.count || w->blocks[w->block].operands.part_count)
        submit_block(w);
    swap_aside(w);
    err = submit_tables(w);
    swap_aside(w);
    return err < 0 ? err : submit(w, VS_CHUNK_EVENTS);
}

/* ---- the interface ------------------------------------------------------------------------- */

/* Passes on the result of an addition to the tables, and explains it if it failed. Only a lack of
 * memory makes the writer fail for good. */
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

/* Makes sure that there is a chunk to put events into. */
static int begin_chunk(struct vs_writer *w)
{
    if (w->in_chunk)
        return 0;
    if (vs_encoder_begin(&w->encoder, &w->ring[w->current]->cols) < 0)
        return fail(w, -VSE_NOMEM);
    w->in_chunk = true;
    return 0;
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
        if ((err = begin_chunk(w)) < 0)
            return err;
        err = vs_encoder_put(&w->encoder, batch, &pos, &w->blocks[w->block].operands, &why);
        if (err == -VSE_INVAL)
            return refuse(w, pos, why);
        if (err < 0)
            return fail(w, err);
        if (err == VS_ENCODED_BLOCK)
            submit_block(w);
        if (err == VS_ENCODED_CHUNK && (err = end_chunk(w)) < 0)
            return err;
    }
    return 0;
}

int64_t vs_writer_recipe(struct vs_writer *w, const struct vs_recipe *recipe)
{
    int64_t number = w->failed ? w->failed : vs_encoder_recipe(&w->encoder, recipe);

    if (number >= 0 && vs_buf_reserve(&w->expanded, recipe->count * sizeof(struct vs_event)) < 0)
        number = -VSE_NOMEM;
    return w->failed ? number : added(w, number, "a recipe");
}

/* Puts one record as events, and goes on behind it. The record may change while it is read, unlike
 * a batch. */
static int put_expanded(struct vs_writer *w, const struct vs_records *r,
                        struct vs_record_place *place)
{
    struct vs_event *events = (void *)w->expanded.data;
    uint32_t recipe = r->recipes[place->record], length = vs_encoder_length(&w->encoder, recipe);
    const uint8_t *record = r->bytes + place->at;
    struct vs_batch batch = {.events = events, .wide = record, .wide_size = length};

    batch.count = vs_encoder_expand(&w->encoder, recipe, record, r->thread, events);
    place->record++;
    place->at += length;
    return vs_writer_put(w, &batch);
}

int vs_writer_records(struct vs_writer *w, const struct vs_records *r)
{
    struct vs_record_place place = {0};
    int err;

    if (w->failed)
        return w->failed;
    while (place.record < r->count) {
        if ((err = begin_chunk(w)) < 0)
            return err;
        err = w->features & VS_RUN_TIMED
                  ? VS_ENCODED_EVENTS
                  : vs_encoder_put_records(&w->encoder, r, &place, &w->blocks[w->block].operands);
        if (err == -VSE_NOMEM)
            return fail(w, err);
        if (err == VS_ENCODED_BLOCK)
            submit_block(w);
        else if (err == VS_ENCODED_CHUNK)
            err = end_chunk(w);
        else if (err == VS_ENCODED_EVENTS)
            err = put_expanded(w, r, &place);
        if (err < 0)
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
    struct packing *k = w->ring[w->current];
    uint8_t trailer[VS_TRAILER_SIZE];
    uint64_t offset = w->bytes;
    struct vs_buf *column;
    int err;

    clear(k);
    column = &k->cols.col[VS_COL_INDEX];
    invariant(!k->busy && !w->in_chunk);
    if ((err = vs_index_pack(&w->index, column)) < 0)
        return fail(w, err);
    if (column->len > VS_MAX_INDEX)
        return fail(w, -VSE_LIMIT);
    pack_with(k, &w->tools[w->tool_count - 1]);
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

uint64_t vs_writer_keep(struct vs_writer *w)
{
    uint64_t events;

    vs_writer_flush(w);
    events = w->index.events;
    if (events)
        vs_outfile_keep(&w->file);
    else
        vs_outfile_abort(&w->file);
    free_writer(w);
    return events;
}

void vs_writer_abort(struct vs_writer *w)
{
    if (!w)
        return;
    vs_outfile_abort(&w->file);
    free_writer(w);
}
