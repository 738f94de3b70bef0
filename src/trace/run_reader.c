/* SPDX-License-Identifier: MIT */
/* Reads a run: one chunk at a time is decoded, a batch of events at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "trace/chunk_decode.h"
#include "trace/chunk_load.h"
#include "trace/expander.h"
#include "trace/retired.h"
#include "vestige/run.h"

#define BATCH VS_DECODE_MAX

_Static_assert(BATCH <= VS_BATCH_MAX, "a batch fits where a caller makes room for one");

struct vs_reader {
    struct vs_loader loader;
    struct vs_index index;
    struct vs_tables tables;
    struct vs_decoder decoder;
    struct vs_run_info info;
    struct vs_diag diag;
    int failed;        /* the error, which is returned again until a seek */
    int thread;        /* the selected one, or -1 */
    uint64_t position; /* number of the event after the last one delivered */
    size_t next;       /* the chunk (by summary) to open next */
    bool in_chunk;     /* chunk next - 1 is being decoded */
    /* the decoded batch; [at, count) is not yet delivered */
    unsigned at, count;
    uint64_t first; /* global number of events[0] */
    struct vs_buf wide;
    uint64_t *cycles;             /* timed runs */
    struct vs_expander *expander; /* NULL: the events are the file's */
    struct vs_batch made;         /* by the expander; its events from made_at on come next */
    size_t made_at;
    struct vs_event events[BATCH];
};

/* ---- opening ------------------------------------------------------------------------------- */

static int read_header(struct vs_reader *r, struct vs_diag *diag)
{
    uint8_t header[VS_HEADER_SIZE];
    int err;

    if (r->loader.source.size < sizeof(header))
        return vs_diag_set(diag, -VSE_TRUNCATED, 0, -1,
                           "not a .vest file: %llu bytes are too few for a header",
                           (unsigned long long)r->loader.source.size);
    if ((err = vs_byte_source_read(&r->loader.source, 0, header, sizeof(header), diag)) < 0)
        return err;
    return vs_header_parse(header, &r->info.version, &r->info.features, diag);
}

static int load(struct vs_reader *r, enum vs_open_mode mode, struct vs_diag *diag)
{
    int err = -VSE_NOTFOUND;

    if (mode != VS_OPEN_SALVAGE)
        err = vs_load_sealed(&r->loader, &r->index, &r->tables, diag);
    if (err == -VSE_NOTFOUND) {
        err = vs_load_scan(&r->loader, &r->index, &r->tables, &r->info.missing);
        if (err < 0 || (mode == VS_OPEN_STRICT && r->info.missing.error)) {
            if (diag)
                *diag = r->info.missing;
            return r->info.missing.error;
        }
    }
    return err;
}

static void fill_info(struct vs_reader *r)
{
    struct vs_run_info *i = &r->info;
    const struct vs_index *x = &r->index;

    i->sealed = i->missing.error == 0;
    i->file_size = r->loader.source.size;
    i->readable = i->sealed ? i->file_size : vs_index_end(x);
    i->events = x->events;
    i->chunks = x->entry_count + i->sealed;
    i->event_chunks = x->summary_count;
    i->threads = (uint32_t)x->total_count;
    for (size_t t = 0; t < x->total_count; t++)
        i->instructions += x->totals[t].insns;
    if (x->summary_count) {
        i->cycle_first = x->summaries[0].cycle_first;
        i->cycle_last = x->summaries[x->summary_count - 1].cycle_last;
    }
    i->blocks = (uint32_t)r->tables.block_count;
    i->images = (uint32_t)r->tables.image_count;
    i->sites = r->tables.sites.count - 1;
    i->metas = (uint32_t)r->tables.fact_count;
}

static int open_source(struct vs_reader **out, const struct vs_byte_source *source,
                       enum vs_open_mode mode, struct vs_diag *diag)
{
    struct vs_reader *r = calloc(1, sizeof(*r));
    struct vs_byte_source copy = *source;
    int err = -VSE_NOMEM;

    *out = NULL;
    if (!r) {
        vs_byte_source_close(&copy);
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    }
    r->thread = -1;
    r->info.missing = (struct vs_diag){.offset = -1, .chunk = -1};
    if (vs_loader_init(&r->loader, source) < 0 || vs_tables_init(&r->tables) < 0)
        vs_diag_set(diag, err, -1, -1, "out of memory");
    else if ((err = read_header(r, diag)) == 0 && (err = load(r, mode, diag)) == 0) {
        if (r->info.features & VS_RUN_TIMED)
            r->cycles = calloc(BATCH, sizeof(*r->cycles));
        vs_decoder_init(&r->decoder, &r->tables.sites, r->info.features);
        if ((r->info.features & VS_RUN_TIMED) && !r->cycles)
            err = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    }
    if (err < 0) {
        vs_reader_close(r);
        return err;
    }
    fill_info(r);
    *out = r;
    return 0;
}

int vs_reader_open(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                   struct vs_diag *diag)
{
    struct vs_byte_source source;
    int err;

    *r = NULL;
    if (!path)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no path");
    err = vs_byte_source_open(&source, path, diag);
    return err < 0 ? err : open_source(r, &source, mode, diag);
}

int vs_reader_open_memory(struct vs_reader **r, const void *data, size_t size,
                          enum vs_open_mode mode, struct vs_diag *diag)
{
    struct vs_byte_source source;

    *r = NULL;
    if (!data && size)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no data");
    vs_byte_source_memory(&source, data, size);
    return open_source(r, &source, mode, diag);
}

void vs_reader_close(struct vs_reader *r)
{
    if (!r)
        return;
    vs_decoder_fini(&r->decoder);
    vs_tables_fini(&r->tables);
    vs_index_fini(&r->index);
    vs_loader_fini(&r->loader);
    vs_buf_fini(&r->wide);
    free(r->cycles);
    if (r->expander)
        r->expander->ops->close(r->expander);
    free(r);
}

/* ---- tables -------------------------------------------------------------------------------- */

const struct vs_run_info *vs_reader_info(const struct vs_reader *r)
{
    return &r->info;
}

const struct vs_diag *vs_reader_diag(const struct vs_reader *r)
{
    return &r->diag;
}

int vs_reader_thread(const struct vs_reader *r, unsigned thread, struct vs_thread_info *info)
{
    if (thread >= r->index.total_count)
        return -VSE_NOTFOUND;
    if (r->expander) {
        *info = r->expander->threads[thread];
        return 0;
    }
    *info = (struct vs_thread_info){r->index.totals[thread].events, r->index.totals[thread].insns};
    return 0;
}

const char *vs_reader_meta(const struct vs_reader *r, const char *key)
{
    for (size_t i = 0; i < r->tables.fact_count; i++)
        if (strcmp(r->tables.facts[i].key, key) == 0)
            return r->tables.facts[i].value;
    return NULL;
}

int vs_reader_meta_at(const struct vs_reader *r, uint32_t i, const char **key, const char **value)
{
    if (i >= r->tables.fact_count)
        return -VSE_NOTFOUND;
    *key = r->tables.facts[i].key;
    *value = r->tables.facts[i].value;
    return 0;
}

int vs_reader_block(const struct vs_reader *r, uint64_t id, struct vs_block *block)
{
    if (id >= r->tables.block_count)
        return -VSE_NOTFOUND;
    *block = r->tables.blocks[id];
    return 0;
}

int vs_reader_image(const struct vs_reader *r, uint64_t id, struct vs_image *image)
{
    if (id >= r->tables.image_count)
        return -VSE_NOTFOUND;
    *image = r->tables.images[id];
    return 0;
}

/* ---- events -------------------------------------------------------------------------------- */

/* The index entry of an events chunk, by summary number. */
static const struct vs_index_entry *entry_of(const struct vs_reader *r, size_t summary)
{
    size_t lo = 0, hi = r->index.entry_count;

    /* each entry has the number of the first summary at or after it, so these do not decrease */
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (r->index.entries[mid].summary < summary)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (r->index.entries[lo].type != VS_CHUNK_EVENTS)
        lo++;
    return &r->index.entries[lo];
}

/* Whether the chunk's own summary is the one that the index has. */
static bool summary_agrees(const struct vs_reader *r, size_t i)
{
    const struct vs_summary *a = &r->index.summaries[i], *b = &r->decoder.summary;
    const struct vs_chunk_thread *t = r->index.threads + a->thread_at;
    const struct vs_chunk_thread *u = (const struct vs_chunk_thread *)(void *)r->decoder.parts.data;

    if (a->first != b->first || a->events != b->events || a->sites != b->sites ||
        a->blocks != b->blocks || a->images != b->images || a->shadow_bits != b->shadow_bits ||
        a->cycle_first != b->cycle_first || a->cycle_last != b->cycle_last ||
        a->threads != b->threads)
        return false;
    for (uint32_t k = 0; k < a->threads; k++)
        if (t[k].thread != u[k].thread || t[k].events != u[k].events || t[k].insns != u[k].insns ||
            t[k].before != u[k].before)
            return false;
    return true;
}

static int open_chunk(struct vs_reader *r, size_t summary)
{
    const struct vs_index_entry *e = entry_of(r, summary);
    uint32_t number = (uint32_t)(e - r->index.entries);
    int err = vs_loader_chunk(&r->loader, e->offset, number, &r->diag);

    r->at = r->count = 0;
    r->in_chunk = false;
    if (err < 0)
        return err;
    if (r->loader.chunk.type != VS_CHUNK_EVENTS || r->loader.chunk.size != e->size)
        return vs_diag_set(&r->diag, -VSE_CORRUPT, (int64_t)e->offset, number,
                           "not the chunk that the index has here");
    if ((err = vs_decoder_begin(&r->decoder, r->loader.cols)) < 0)
        return vs_diag_set(&r->diag, err, (int64_t)e->offset, number,
                           "the chunk's events are not valid");
    if (!summary_agrees(r, summary))
        return vs_diag_set(&r->diag, -VSE_CORRUPT, (int64_t)e->offset, number,
                           "the chunk is not what the index says");
    r->next = summary + 1;
    r->in_chunk = true;
    return 0;
}

/* Decodes the next batch of the open chunk to arrays of BATCH elements. Returns as vs_decoder_next;
 * 0 is the chunk's end. */
static int decode_to(struct vs_reader *r, struct vs_event *events, uint64_t *cycles)
{
    uint64_t first = r->decoder.summary.first + r->decoder.done;
    int n = vs_decoder_next(&r->decoder, events, cycles, &r->wide, BATCH);

    r->at = r->count = 0;
    if (n < 0) {
        const struct vs_index_entry *e = entry_of(r, r->next - 1);

        return vs_diag_set(&r->diag, n, (int64_t)e->offset, e - r->index.entries,
                           "the chunk's events are not valid, from event %llu on",
                           (unsigned long long)(r->decoder.summary.first + r->decoder.done));
    }
    invariant(n <= BATCH);
    r->first = first;
    r->count = (unsigned)n;
    r->in_chunk = n > 0;
    return n;
}

static int decode(struct vs_reader *r)
{
    return decode_to(r, r->events, r->cycles);
}

/* ---- events that are made -------------------------------------------------------------------- */

void vs_reader_expand(struct vs_reader *r, struct vs_expander *x)
{
    r->expander = x;
    r->info.events = x->events;
    r->info.instructions = x->instructions;
    r->info.threads = x->thread_count;
    r->info.features &=
        ~(uint32_t)(x->selected ? VS_RUN_SHORT | VS_RUN_INPUTS | VS_RUN_DIGESTS : VS_RUN_SHORT);
    if (x->flow_only)
        r->info.features &= ~(uint32_t)(VS_RUN_LOADS | VS_RUN_STORES);
}

/* Lets the expander make events, if all that it made were taken. Returns 0; -VSE_END; an error. */
static int make(struct vs_reader *r)
{
    int n = 0;

    if (r->made_at == r->made.count) {
        n = r->expander->ops->next(r->expander, &r->made, &r->diag);
        r->made_at = n < 0 ? r->made.count : 0;
    }
    return n < 0 ? n : 0;
}

/* Takes the next made events as decode does. */
static int take_made(struct vs_reader *r)
{
    int err = make(r);
    size_t n = r->made.count - r->made_at;

    r->at = r->count = 0;
    if (err < 0)
        return err;
    if (n > BATCH)
        n = BATCH;
    memcpy(r->events, r->made.events + r->made_at, n * sizeof(*r->events));
    r->first = r->made.first + r->made_at;
    r->count = (unsigned)n;
    r->made_at += n;
    return (int)n;
}

static int go_made(struct vs_reader *r, unsigned place)
{
    r->made = (struct vs_batch){0};
    r->made_at = 0;
    r->at = r->count = 0;
    r->failed = 0;
    return r->expander->ops->go(r->expander, place, &r->diag);
}

/* The last place that is not after the event. */
static unsigned place_before(const struct vs_reader *r, uint64_t event)
{
    unsigned i = r->expander->place_count - 1;

    while (i && r->expander->places[i] > event)
        i--;
    return i;
}

/* Opens the next chunk that has something to deliver, unless one is open. Returns 0; -VSE_END; an
 * error. */
static int enter_chunk(struct vs_reader *r)
{
    if (r->in_chunk)
        return 0;
    while (r->thread >= 0 && r->next < r->index.summary_count &&
           !vs_index_part(&r->index, r->next, (unsigned)r->thread))
        r->next++;
    return r->next == r->index.summary_count ? -VSE_END : open_chunk(r, r->next);
}

/* Makes sure that something is decoded and not yet delivered. Returns 0; -VSE_END; an error. */
static int fill(struct vs_reader *r)
{
    int err;

    while (r->expander && r->at == r->count)
        if ((err = take_made(r)) < 0)
            return err;
    while (r->at == r->count)
        if ((err = enter_chunk(r)) < 0 || (err = decode(r)) < 0)
            return err;
    return 0;
}

/* Keeps the selected thread's events of [at, count). Returns whether any is left. */
static bool filter(struct vs_reader *r)
{
    unsigned kept = r->at;
    uint64_t base = r->first;

    for (unsigned i = r->at; i < r->count; i++) {
        if (r->events[i].thread != r->thread)
            continue;
        if (kept == r->at)
            r->first =
                base + i - kept; /* so that first + at is the number of the first event kept */
        r->position = base + i + 1;
        if (r->cycles)
            r->cycles[kept] = r->cycles[i];
        r->events[kept++] = r->events[i];
    }
    r->count = kept;
    return kept > r->at;
}

static int failed(struct vs_reader *r, int err)
{
    if (err != -VSE_END)
        r->failed = err;
    return err;
}

int vs_reader_next(struct vs_reader *r, struct vs_batch *batch)
{
    int err;

    if (r->failed)
        return r->failed;
    do
        if ((err = fill(r)) < 0)
            return failed(r, err);
    while (r->thread >= 0 && !filter(r));
    *batch = (struct vs_batch){.events = r->events + r->at,
                               .cycles = r->cycles ? r->cycles + r->at : NULL,
                               .wide = r->expander ? r->made.wide : r->wide.data,
                               .wide_size = r->expander ? r->made.wide_size : r->wide.len,
                               .count = r->count - r->at,
                               .first = r->first + r->at};
    if (r->thread < 0)
        r->position = r->first + r->count;
    r->at = r->count;
    return (int)batch->count;
}

/* Decodes straight to the caller's arrays, batch after batch, until one has wide values: these are
 * then all in the reader's area. What fails after the first batch is returned by the next call.
 * Returns as vs_reader_next. */
static int next_decoded(struct vs_reader *r, struct vs_event *events, uint64_t *cycles,
                        size_t capacity, struct vs_batch *batch)
{
    size_t count = 0;
    int n = 0;

    *batch = (struct vs_batch){.events = events, .cycles = r->cycles ? cycles : NULL};
    r->wide.len = 0;
    while (!r->wide.len && capacity - count >= BATCH) {
        if ((n = enter_chunk(r)) < 0 ||
            (n = decode_to(r, events + count, r->cycles ? cycles + count : NULL)) < 0)
            break;
        batch->first = n && !count ? r->first : batch->first;
        count += (size_t)n;
        r->position = n ? r->first + (uint64_t)n : r->position;
        r->at = r->count;
    }
    if (n < 0 && failed(r, n) && !count)
        return n;
    batch->wide = r->wide.data;
    batch->wide_size = r->wide.len;
    batch->count = count;
    return (int)count;
}

int vs_reader_next_into(struct vs_reader *r, struct vs_event *events, uint64_t *cycles,
                        size_t capacity, struct vs_batch *batch)
{
    int n;

    if (capacity < VS_BATCH_MAX || !events || (r->cycles && !cycles))
        return -VSE_INVAL;
    if (!r->failed && !r->expander && r->thread < 0 && r->at == r->count)
        return next_decoded(r, events, cycles, capacity < INT32_MAX ? capacity : INT32_MAX, batch);
    if ((n = vs_reader_next(r, batch)) <= 0)
        return n;
    memcpy(events, batch->events, batch->count * sizeof(*events));
    if (batch->cycles)
        memcpy(cycles, batch->cycles, batch->count * sizeof(*cycles));
    batch->events = events;
    batch->cycles = batch->cycles ? cycles : NULL;
    return n;
}

int vs_reader_select(struct vs_reader *r, int thread)
{
    int before = r->thread;

    if (thread >= 0 && (size_t)thread >= r->index.total_count)
        return -VSE_NOTFOUND;
    r->thread = thread < 0 ? -1 : thread;
    /* reading one thread drops what lies between its events */
    if (before >= 0 && r->thread != before && r->position < r->info.events)
        return vs_reader_seek_event(r, r->position);
    return 0;
}

/* ---- seeking ------------------------------------------------------------------------------- */

/* Decodes from the start of a chunk until an event is `reached`, which is then the next to be
 * delivered. The index says that there is one. */
static int seek(struct vs_reader *r, int64_t chunk, void *goal,
                bool (*reached)(struct vs_reader *r, unsigned i, void *goal))
{
    int err;

    r->failed = 0;
    err = open_chunk(r, (size_t)chunk);
    while (err >= 0 && (err = decode(r)) > 0)
        for (; r->at < r->count; r->at++)
            if (reached(r, r->at, goal)) {
                r->position = r->first + r->at;
                return 0;
            }
    return failed(r, err < 0 ? err
                             : vs_diag_set(&r->diag, -VSE_CORRUPT, -1, -1,
                                           "the index promises an event that is not there"));
}

/* Does the same with events that are made, from where the expander is. */
static int seek_made(struct vs_reader *r, void *goal,
                     bool (*reached)(struct vs_reader *r, unsigned i, void *goal))
{
    int err;

    r->failed = 0;
    while ((err = take_made(r)) > 0)
        for (; r->at < r->count; r->at++)
            if (reached(r, r->at, goal)) {
                r->position = r->first + r->at;
                return 0;
            }
    return failed(r, err);
}

/* Passes over whole batches before the event, if that is nearer than a place. */
static int skip_made(struct vs_reader *r, uint64_t event)
{
    unsigned place = place_before(r, event);
    uint64_t here = r->made.first + r->made_at;
    int err = 0;

    if (!r->made.count || event < here || here < r->expander->places[place])
        err = go_made(r, place);
    while (!err && !(err = make(r)) && r->made.first + r->made.count <= event)
        r->made_at = r->made.count;
    return err;
}

static bool at_event(struct vs_reader *r, unsigned i, void *goal)
{
    return r->first + i == *(const uint64_t *)goal;
}

static int seek_made_event(struct vs_reader *r, uint64_t n)
{
    int err;

    if (n >= r->info.events)
        return -VSE_NOTFOUND;
    err = skip_made(r, n);
    return err < 0 ? failed(r, err) : seek_made(r, &n, at_event);
}

int vs_reader_seek_event(struct vs_reader *r, uint64_t n)
{
    int64_t chunk;

    if (r->expander)
        return seek_made_event(r, n);
    chunk = vs_index_find_event(&r->index, n);
    return chunk < 0 ? (int)chunk : seek(r, chunk, &n, at_event);
}

struct insn_goal {
    unsigned thread;
    uint64_t count, wanted;
};

static bool at_insn(struct vs_reader *r, unsigned i, void *goal)
{
    struct insn_goal *g = goal;

    if (r->events[i].thread != g->thread)
        return false;
    g->count += r->events[i].icount;
    return g->count >= g->wanted;
}

static int seek_made_insn(struct vs_reader *r, struct insn_goal *g)
{
    const struct vs_expander *x = r->expander;
    unsigned place = x->place_count - 1;
    int err;

    while (place && x->ops->retired(x, place, g->thread) >= g->wanted)
        place--;
    g->count = x->ops->retired(x, place, g->thread);
    err = go_made(r, place);
    return err < 0 ? failed(r, err) : seek_made(r, g, at_insn);
}

int vs_reader_seek_insn(struct vs_reader *r, unsigned thread, uint64_t n)
{
    struct insn_goal g = {thread, 0, n};
    int64_t chunk;

    if (r->expander) {
        if (thread >= r->index.total_count || r->expander->threads[thread].instructions < n)
            return -VSE_NOTFOUND;
        return seek_made_insn(r, &g);
    }
    chunk = vs_index_find_insn(&r->index, thread, n);
    if (chunk < 0)
        return (int)chunk;
    g.count = vs_index_part(&r->index, (size_t)chunk, thread)->before;
    return seek(r, chunk, &g, at_insn);
}

static bool at_cycle(struct vs_reader *r, unsigned i, void *goal)
{
    return r->cycles[i] >= *(const uint64_t *)goal;
}

int vs_reader_seek_cycle(struct vs_reader *r, uint64_t n)
{
    int64_t chunk = r->cycles ? vs_index_find_cycle(&r->index, n) : -VSE_NOTFOUND;

    return chunk < 0 ? (int)chunk : seek(r, chunk, &n, at_cycle);
}

/* ---- counting ------------------------------------------------------------------------------ */

struct count_goal {
    uint64_t event, *retired;
};

static bool count_to(struct vs_reader *r, unsigned i, void *goal)
{
    const struct count_goal *g = goal;

    if (r->first + i == g->event)
        return true;
    if (r->events[i].thread < r->index.total_count)
        g->retired[r->events[i].thread] += r->events[i].icount;
    return false;
}

static int count_made(struct vs_reader *r, struct count_goal *g)
{
    const struct vs_expander *x = r->expander;
    unsigned place = place_before(r, g->event);
    int err;

    for (unsigned t = 0; t < r->index.total_count; t++)
        g->retired[t] = x->ops->retired(x, place, t);
    err = go_made(r, place);
    if (err == 0)
        err = seek_made(r, g, count_to);
    return err == -VSE_END ? 0 : err;
}

int vs_reader_retired(struct vs_reader *r, uint64_t *retired)
{
    struct count_goal g = {r->position, retired};
    int64_t chunk = vs_index_find_event(&r->index, g.event);
    size_t end = chunk < 0 ? r->index.summary_count : (size_t)chunk;

    for (size_t t = 0; t < r->index.total_count; t++)
        retired[t] = 0;
    if (r->expander)
        return count_made(r, &g);
    for (size_t k = 0; k < end; k++) {
        const struct vs_summary *s = &r->index.summaries[k];

        for (uint32_t i = 0; i < s->threads; i++)
            retired[r->index.threads[s->thread_at + i].thread] +=
                r->index.threads[s->thread_at + i].insns;
    }
    return chunk < 0 ? 0 : seek(r, chunk, &g, count_to);
}

/* ---- checking ------------------------------------------------------------------------------ */

static int check_chunk(struct vs_reader *r, size_t i, struct vs_check_result *result)
{
    const struct vs_index_entry *e = &r->index.entries[i];
    int err;

    if (e->type != VS_CHUNK_EVENTS)
        return vs_loader_chunk(&r->loader, e->offset, (uint32_t)i, &r->diag);
    if ((err = open_chunk(r, e->summary)) < 0)
        return err;
    while ((err = decode(r)) > 0)
        result->events += (uint64_t)err;
    return err;
}

int vs_reader_check(struct vs_reader *r, struct vs_check_result *result,
                    vs_check_progress *progress, void *context)
{
    *result = (struct vs_check_result){.bytes = VS_HEADER_SIZE};
    r->failed = 0;
    for (size_t i = 0; i < r->index.entry_count; i++) {
        int err = check_chunk(r, i, result);

        if (err < 0)
            return failed(r, err);
        result->chunks++;
        result->bytes += VS_CHUNK_HEADER + r->index.entries[i].size;
        if (progress)
            progress(context, result->bytes, r->info.file_size);
    }
    if (r->info.missing.error) {
        r->diag = r->info.missing;
        return r->info.missing.error;
    }
    result->chunks++; /* the index, which was read to get here */
    result->bytes = r->info.file_size;
    return 0;
}
