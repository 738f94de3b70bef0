/* SPDX-License-Identifier: MIT */
#include "study/bandwidth.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/invariant.h"
#include "isa/set.h"
#include "study/codeview.h"
#include "study/explain.h"
#include "technique/seen.h"

int vs_bandwidth_lacks(const struct vs_technique *t, const struct vs_run_info *info,
                       struct vs_diag *diag)
{
    uint32_t needs = (t->encoder->needs & VS_NEEDS_LOADS ? VS_RUN_LOADS : 0) |
                     (t->encoder->needs & VS_NEEDS_STORES ? VS_RUN_STORES : 0);
    if ((info->features & needs) != needs)
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1, "it was recorded without %s",
                           info->features & VS_RUN_LOADS ? "stores" : "loads and stores");
    if (t->cores_max && info->threads > t->cores_max)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "it has %u threads, more than %u",
                           info->threads, t->cores_max);
    return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

int vs_bandwidth_init(struct vs_bandwidth *b, const struct vs_reader *reader,
                      const struct vs_bandwidth_options *options, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    const struct vs_isa *isa = vs_isa_find(vs_reader_meta(reader, "isa"));
    struct vs_drain drain;
    *b = (struct vs_bandwidth){.setup = {.cores = info->threads,
                                         .address_bits = isa ? isa->address_bits : 64,
                                         .timed = info->features & VS_RUN_TIMED,
                                         .alignment = isa ? isa->alignment : 0},
                               .isa = isa};
    if (options)
        b->options = *options;
    if (!info->threads)
        return vs_diag_set(diag, -VSE_END, -1, -1, "the run has no thread");
    if (b->options.drain.bits && vs_drain_init(&drain, &b->options.drain) < 0)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "no port drains at that rate");
    return 0;
}

static void row_fini(const struct vs_bandwidth *b, struct vs_bandwidth_row *row)
{
    if (row->encoder)
        row->spec.technique->encoder->close(row->encoder);
    vs_pace_fini(&row->pace);
    vs_port_writer_fini(&row->port);
    if (b->options.window)
        vs_windows_fini(&row->windows);
    vs_attribution_fini(&row->sent);
    vs_buffers_fini(&row->buffers);
}

/* Whether rows tell where their bits are sent. */
static bool has_places(const struct vs_bandwidth *b)
{
    return b->options.by || b->options.placer;
}

void vs_bandwidth_fini(struct vs_bandwidth *b)
{
    for (size_t i = 0; i < b->count; i++)
        row_fini(b, &b->rows[i]);
    vs_parts_fini(&b->parts);
    vs_prior_close(b->prior);
    vs_text_fini(&b->text);
    vs_code_pages_fini(&b->code_pages);
    vs_event_sites_fini(&b->sites);
    free(b->rows);
    *b = (struct vs_bandwidth){0};
}

int64_t vs_bandwidth_add(struct vs_bandwidth *b, const struct vs_technique_spec *spec,
                         vs_port_sink *sink, void *context, struct vs_diag *diag)
{
    void *rows = b->rows;
    int err = vs_array_room(&rows, &b->capacity, b->count, 1, sizeof(*b->rows));
    b->rows = rows;
    if (err)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    b->rows[b->count] = (struct vs_bandwidth_row){
        .spec = *spec, .sink = sink, .context = context, .at_once = b->options.at_once};
    vs_technique_settle(&b->rows[b->count].spec, b->setup.timed);
    b->needs |= vs_technique_needs(spec) & (b->isa ? ~0u : ~(unsigned)VS_NEEDS_CODE) &
                (b->options.at_once ? ~(unsigned)VS_NEEDS_PRIOR : ~0u);
    return (int64_t)b->count++;
}

/* Whether the rows' encoders may share parts of them: they take each slice one after the other, and
 * as it is. */
static bool shares_parts(const struct vs_bandwidth *b)
{
    return b->options.alone && !b->options.sync && !has_places(b);
}

static int open_encoder(struct vs_bandwidth *b, struct vs_bandwidth_row *row)
{
    const struct vs_technique_context context = {.params = row->spec.params,
                                                 .setup = &b->setup,
                                                 .port = &row->port,
                                                 .prior = b->prior,
                                                 .code = b->code.isa ? &b->code : NULL,
                                                 .code_pages = &b->code_pages,
                                                 .parts = shares_parts(b) ? &b->parts : NULL};
    return row->spec.technique->encoder->open(&row->encoder, &context);
}

static int row_open(struct vs_bandwidth *b, struct vs_bandwidth_row *row, struct vs_diag *diag)
{
    struct vs_port_shape shape;
    struct vs_cost_list costs;
    vs_technique_shape(&row->spec, &b->setup, &shape);
    int err = vs_port_writer_init(&row->port, &shape, row->sink, row->context);
    if (!err && b->options.window) {
        err = vs_windows_init(&row->windows, b->setup.cores, b->options.window);
        row->port.windows = &row->windows;
    }
    if (!err && b->options.drain.bits) {
        err = vs_drain_init(&row->drain, &b->options.drain);
        row->port.drain = &row->drain;
    }
    if (!err && b->options.buffers) {
        err = vs_buffers_init(&row->buffers, b->options.buffers);
        row->port.buffers = &row->buffers;
    }
    if (!err && has_places(b)) {
        err = vs_attribution_init(&row->sent, b->setup.cores);
        row->port.meter = &row->sent.meter;
    }
    if (!err && !(err = vs_technique_cost(&row->spec, &b->setup, &costs)))
        row->cost = vs_cost_list_sum(&costs);
    if (!err)
        err =
            vs_pace_init(&row->pace, b->options.sync, b->setup.cores, row->spec.technique->encoder);
    if (!err)
        err = open_encoder(b, row);
    if (err == -VSE_LIMIT)
        return vs_diag_set(diag, err, -1, -1, "%s cannot have %u cores", row->spec.technique->name,
                           b->setup.cores);
    return err ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : 0;
}

static uint64_t sent_bits(const struct vs_attribution *a)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < a->capacity; i++)
        sum += a->sent[i].bits;
    return sum;
}

static int row_finish(struct vs_bandwidth_row *row, uint64_t end)
{
    const struct vs_encoder_ops *ops = row->spec.technique->encoder;
    int err = row->error ? row->error : vs_encoder_finish(ops, row->encoder);
    int64_t bits = err ? err : vs_port_finish(&row->port);
    if (bits < 0)
        return (int)bits;
    row->bits = (uint64_t)bits;
    if (row->port.buffers)
        vs_buffers_end(&row->buffers, end);
    invariant(!row->port.meter || sent_bits(&row->sent) == row->bits);
    vs_port_totals(&row->port, &row->counts);
    vs_counts_take(&row->encoded, ops, row->encoder);
    memcpy(row->lengths, row->port.lengths, sizeof(row->lengths));
    return 0;
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Steps and events go to all rows a slot at a time, while the next slot is filled. Without threads
 * there is one slot, which is small, so that it stays in the host's cache until all have had it. */
enum { SLOTS = 3, SLOT_FULL = 1 << 14, SLOT_FULL_ALONE = 1 << 12 };

struct slot;

struct task {
    struct vs_job job;
    struct vs_bandwidth_row *row;
    const struct slot *slot;
    int error; /* the row's at that time; by now another task may be setting the row's own */
};

/* Where an event is, and how many of the slot's steps there are up to it. */
struct place {
    uint32_t site, steps;
};

struct slot {
    struct vs_buf steps;          /* of struct vs_step */
    struct vs_buf events, cycles; /* of struct vs_event, and of uint64_t if the run is timed */
    struct vs_buf wide;
    struct vs_buf
        places;         /* if it is asked where bits are sent: of struct place, one for an event */
    struct task *tasks; /* one for each row */
    size_t sites;       /* the events' places are below that */
    bool submitted;
    bool edge;        /* of a sample: here begins, or ends, what counts */
    bool counts;      /* what is in the slot does */
    bool closes;      /* a window is over */
    uint64_t counted; /* instructions in it */
};

struct pass {
    struct vs_bandwidth *b;
    struct vs_workers *workers;
    struct slot *slots;
    unsigned filling;
    struct vs_progress *progress;
    uint64_t done; /* events that passes before this one have read */
    size_t sites;  /* numbers of places so far */
    /* If only windows of a sample count: */
    bool counts;              /* what was taken last does */
    size_t window;            /* that it is of */
    uint64_t counted, closed; /* instructions that do so far, and in windows that are over */
};

/* Hands over one event after the other, with its steps; last, those of cores that end without an
 * event. */
static int take_places(struct vs_bandwidth_row *row, const struct slot *slot,
                       const struct vs_slice *all)
{
    const struct vs_encoder_ops *ops = row->spec.technique->encoder;
    const struct vs_event *events = (const struct vs_event *)slot->events.data;
    const struct place *places = (const struct place *)slot->places.data;
    size_t count = slot->places.len / sizeof(*places), done = 0;
    struct vs_batch one = all->events ? *all->events : (struct vs_batch){0};
    struct vs_slice slice = {.steps = all->steps, .events = all->events ? &one : NULL};
    int err = 0;
    one.count = 1;
    for (size_t i = 0; i < count && !err; i++, one.events++, one.cycles += one.cycles ? 1 : 0) {
        vs_attribution_at(&row->sent, events[i].thread, places[i].site);
        slice.step_count = all->steps ? places[i].steps - done : 0;
        if (slice.events || slice.step_count)
            err = vs_pace_consume(&row->pace, ops, row->encoder, &slice);
        slice.steps += slice.step_count;
        done = places[i].steps;
    }
    one.count = 0;
    for (slice.step_count = 1; done < all->step_count && !err; done++, slice.steps++) {
        row->sent.core = slice.steps->core;
        err = vs_pace_consume(&row->pace, ops, row->encoder, &slice);
    }
    return err;
}

static int take_slot(struct vs_bandwidth_row *row, const struct slot *slot)
{
    const struct vs_encoder_ops *ops = row->spec.technique->encoder;
    const struct vs_batch batch = {.events = (const struct vs_event *)slot->events.data,
                                   .cycles = slot->cycles.len ? (const uint64_t *)slot->cycles.data
                                                              : NULL,
                                   .wide = slot->wide.data,
                                   .wide_size = slot->wide.len,
                                   .count = slot->events.len / sizeof(struct vs_event)};
    const unsigned needs = vs_technique_needs(&row->spec);
    bool steps = needs & VS_NEEDS_STEPS, events = needs & VS_NEEDS_EVENTS;
    const struct vs_slice slice = {.steps = steps ? (const struct vs_step *)slot->steps.data : NULL,
                                   .step_count =
                                       steps ? slot->steps.len / sizeof(struct vs_step) : 0,
                                   .events = events ? &batch : NULL};
    if (row->port.meter) {
        int err = vs_attribution_room(&row->sent, slot->sites);
        return err ? err : take_places(row, slot, &slice);
    }
    return vs_pace_consume(&row->pace, ops, row->encoder, &slice);
}

/* Notes the bits before what counts, or those of it. */
static void note_edge(struct vs_bandwidth_row *row, const struct slot *slot)
{
    struct vs_port_counts counts;
    vs_port_totals(&row->port, &counts);
    uint64_t bits = vs_port_counts_bits(&counts);
    if (slot->counts)
        row->sample_bits += bits - row->sample_from;
    row->sample_from = bits;
    if (!slot->closes)
        return;
    vs_sample_add(&row->samples, slot->counted, row->sample_bits);
    row->sample_bits = 0;
}

static void encode_slot(void *arg)
{
    struct task *task = arg;
    struct vs_bandwidth_row *row = task->row;
    if (!row->error)
        row->error = take_slot(row, task->slot);
    if (task->slot->edge)
        note_edge(row, task->slot);
    if (row->at_once)
        vs_port_flush(&row->port);
    if (!row->error)
        row->error = row->port.error;
    task->error = row->error;
}

/* Waits until a slot is done, and returns the first error among its tasks. */
static int await_slot(struct pass *p, struct slot *slot)
{
    int err = 0;
    for (size_t i = 0; slot->submitted && i < p->b->count; i++) {
        vs_workers_help(p->workers, &slot->tasks[i].job);
        if (!err)
            err = slot->tasks[i].error;
    }
    slot->submitted = false;
    slot->edge = slot->counts = slot->closes = false;
    slot->steps.len = slot->events.len = slot->cycles.len = slot->wide.len = slot->places.len = 0;
    return err;
}

static int submit_slot(struct pass *p)
{
    struct slot *slot = &p->slots[p->filling];
    invariant(!slot->submitted);
    vs_parts_next(&p->b->parts);
    for (size_t i = 0; i < p->b->count; i++)
        vs_workers_submit_to(p->workers, &p->b->rows[i].strand, &slot->tasks[i].job);
    slot->submitted = true;
    p->filling = (p->filling + 1) % (p->b->options.alone ? 1 : SLOTS);
    return await_slot(p, &p->slots[p->filling]);
}

static int submit_if_full(struct pass *p)
{
    const struct slot *slot = &p->slots[p->filling];
    size_t full = p->b->options.alone ? SLOT_FULL_ALONE : SLOT_FULL;
    return slot->steps.len >= full * sizeof(struct vs_step) ||
                   slot->events.len >= full * sizeof(struct vs_event)
               ? submit_slot(p)
               : 0;
}

static int take_steps(struct pass *p, const struct vs_stepper *stepper)
{
    return p->b->needs & VS_NEEDS_STEPS ? vs_buf_put(&p->slots[p->filling].steps, stepper->steps,
                                                     stepper->count * sizeof(*stepper->steps))
                                        : 0;
}

/* The wide values are put behind those of earlier batches. */
static int take_events(struct pass *p, const struct vs_batch *batch)
{
    struct slot *slot = &p->slots[p->filling];
    size_t first = slot->events.len, wide = slot->wide.len;
    if (!(p->b->needs & VS_NEEDS_EVENTS) && !has_places(p->b))
        return 0;
    int err = vs_buf_put(&slot->events, batch->events, batch->count * sizeof(*batch->events));
    if (!err && batch->cycles)
        err = vs_buf_put(&slot->cycles, batch->cycles, batch->count * sizeof(*batch->cycles));
    if (!err && batch->wide_size)
        err = vs_buf_put(&slot->wide, batch->wide, batch->wide_size);
    struct vs_event *events = (struct vs_event *)(slot->events.data + first);
    for (size_t i = 0; !err && wide && batch->wide_size && i < batch->count; i++)
        if (vs_event_is_wide(&events[i]))
            events[i].value += wide;
    return err;
}

static int check_cores(const struct vs_bandwidth *b, const struct vs_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].thread >= b->setup.cores)
            return -VSE_CORRUPT;
    return 0;
}

static int rewind_run(const struct vs_bandwidth *b, struct vs_reader *reader)
{
    if (b->options.sampling)
        vs_sampling_rewind(b->options.sampling);
    int err = vs_reader_select(reader, -1);
    if (err)
        return err;
    return vs_reader_info(reader)->events ? vs_reader_seek_event(reader, 0) : -VSE_END;
}

static int64_t place_event(struct pass *p, const struct vs_batch *one)
{
    const struct vs_placer *placer = p->b->options.placer;
    int64_t site = placer ? placer->take(placer->context, one)
                          : vs_event_sites_take(&p->b->sites, one->events);
    if (site >= (int64_t)p->sites)
        p->sites = (size_t)site + 1;
    return site;
}

/* Takes events one by one, so that it is known which steps are whose. */
static int take_batch_places(struct pass *p, struct vs_stepper *stepper,
                             const struct vs_batch *batch)
{
    struct slot *slot = &p->slots[p->filling];
    struct vs_batch one = *batch;
    int err = take_events(p, batch);
    one.count = 1;
    for (size_t i = 0; i < batch->count && !err;
         i++, one.events++, one.cycles += one.cycles ? 1 : 0) {
        int64_t site = place_event(p, &one);
        struct place place = {.site = (uint32_t)site};
        err = site < 0 ? (int)site : vs_stepper_take(stepper, &one);
        if (!err)
            err = take_steps(p, stepper);
        place.steps = (uint32_t)(slot->steps.len / sizeof(struct vs_step));
        if (!err)
            err = vs_buf_put(&slot->places, &place, sizeof(place));
    }
    slot->sites = p->sites;
    return err ? err : submit_if_full(p);
}

static int take_batch(struct pass *p, struct vs_stepper *stepper, const struct vs_batch *batch)
{
    const struct vs_watcher *watcher = p->b->options.watcher;
    int err = check_cores(p->b, batch);
    if (!err && watcher)
        err = watcher->take(watcher->context, batch);
    if (!err && has_places(p->b))
        return take_batch_places(p, stepper, batch);
    if (!err)
        err = vs_stepper_take(stepper, batch);
    if (!err)
        err = take_steps(p, stepper);
    if (!err)
        err = take_events(p, batch);
    return err ? err : submit_if_full(p);
}

static int read_next(const struct vs_bandwidth *b, struct vs_reader *reader, struct vs_batch *batch)
{
    struct vs_sampling *s = b->options.sampling;
    return s ? vs_sampling_next(s, reader, batch) : vs_reader_next(reader, batch);
}

/* If something else counts from now on, or nothing, hands over what was before that. A window is
 * over when the next one begins to count, or the run ends. */
static int meet_edge(struct pass *p, bool counts, size_t window)
{
    struct slot *slot = &p->slots[p->filling];
    bool closes = counts && p->counted > p->closed && window != p->window;
    if (counts == p->counts && !closes)
        return 0;
    slot->edge = true;
    slot->counts = p->counts;
    slot->closes = closes;
    slot->counted = p->counted - p->closed;
    if (closes)
        p->closed = p->counted;
    p->counts = counts;
    if (counts)
        p->window = window;
    return submit_slot(p);
}

/* Returns 0 after all rows have had everything. */
static int read_run(struct pass *p, struct vs_reader *reader)
{
    struct vs_bandwidth *b = p->b;
    struct vs_stepper stepper = {0};
    struct vs_batch batch;
    uint64_t first = 0, last = 0;
    bool any = false;
    int n = rewind_run(b, reader);
    while (!n && (n = read_next(b, reader, &batch)) > 0) {
        if (b->options.stop && atomic_load(b->options.stop)) {
            n = -VSE_END;
            break;
        }
        n = b->options.sampling
                ? meet_edge(p, b->options.sampling->counted, b->options.sampling->of)
                : 0;
        if (!n)
            n = take_batch(p, &stepper, &batch);
        if (b->options.sampling)
            p->counted = b->options.sampling->counting;
        if (batch.cycles) {
            first = any ? first : batch.cycles[0];
            last = batch.cycles[batch.count - 1];
            any = true;
        }
        vs_progress_update(p->progress, p->done + batch.first + batch.count);
    }
    if (n == -VSE_END && p->counted > p->closed) {
        int err = meet_edge(p, !p->counts, SIZE_MAX); /* what counts is handed over ... */
        if (!err && !p->counts)
            err = meet_edge(p, true, SIZE_MAX); /* ... and the window closed */
        n = err ? err : n;
    }
    b->instructions = stepper.instructions;
    b->cycles = any ? last - first + 1 : 0;
    b->end = b->setup.timed ? last + 1 : stepper.instructions;
    if (n == -VSE_END && !(n = vs_stepper_end(&stepper, any ? last : stepper.instructions)))
        n = take_steps(p, &stepper);
    if (!n)
        n = submit_slot(p);
    vs_stepper_fini(&stepper);
    return n;
}

/* Whether something has to be known of the whole run before it is encoded. */
static bool needs_before(const struct vs_bandwidth *b)
{
    return b->needs & (VS_NEEDS_PRIOR | VS_NEEDS_CODE);
}

uint64_t vs_bandwidth_work(const struct vs_bandwidth *b, const struct vs_reader *reader)
{
    return vs_reader_info(reader)->events * (needs_before(b) ? 2 : 1);
}

/* Learns, before the encoders are opened, what memory held and how the code changes. */
static int read_before(struct vs_bandwidth *b, struct vs_reader *reader,
                       struct vs_progress *progress, uint64_t *done)
{
    bool prior = b->needs & VS_NEEDS_PRIOR, code = b->needs & VS_NEEDS_CODE;
    struct vs_batch batch;
    int n = prior ? vs_prior_open(&b->prior) : 0;
    if (!n && code)
        n = vs_codeview_add(&b->text, reader);
    if (!n)
        n = rewind_run(b, reader);
    while (!n && (n = read_next(b, reader, &batch)) > 0) {
        n = prior ? vs_prior_consume(b->prior, &batch) : 0;
        if (!n && code)
            n = vs_codeview_take(&b->text, reader, &batch);
        vs_progress_update(progress, batch.first + batch.count);
        *done = batch.first + batch.count;
    }
    n = n == -VSE_END ? 0 : n;
    if (!n && code && !(n = vs_text_index(&b->text)))
        b->code = vs_code_of_text(&b->text, b->isa);
    return n;
}

static int pass_init(struct pass *p, struct vs_bandwidth *b)
{
    *p = (struct pass){.b = b, .slots = calloc(SLOTS, sizeof(*p->slots))};
    if (!p->slots)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot *slot = &p->slots[i];
        slot->tasks = calloc(b->count ? b->count : 1, sizeof(*slot->tasks));
        if (!slot->tasks)
            return -VSE_NOMEM;
        for (size_t k = 0; k < b->count; k++) {
            struct task *task = &slot->tasks[k];
            *task = (struct task){.row = &b->rows[k], .slot = slot};
            task->job = (struct vs_job){.run = encode_slot, .arg = task};
        }
    }
    return vs_workers_open(&p->workers, b->options.alone ? 0 : vs_workers_beside());
}

static void pass_fini(struct pass *p)
{
    vs_workers_close(p->workers);
    for (unsigned i = 0; p->slots && i < SLOTS; i++) {
        struct slot *slot = &p->slots[i];
        vs_buf_fini(&slot->steps);
        vs_buf_fini(&slot->events);
        vs_buf_fini(&slot->cycles);
        vs_buf_fini(&slot->wide);
        vs_buf_fini(&slot->places);
        free(slot->tasks);
    }
    free(p->slots);
}

/* `limit` says which limit it is, if the error is one that the run itself does not break. */
static int failed(const struct vs_reader *reader, int err, const char *limit, struct vs_diag *diag)
{
    if (err == -VSE_LIMIT && vs_reader_diag(reader)->error != err)
        return vs_diag_set(diag, err, -1, -1, "%s", limit);
    return vs_study_explain(reader, err, diag);
}

int vs_bandwidth_run(struct vs_bandwidth *b, struct vs_reader *reader, struct vs_progress *progress,
                     struct vs_diag *diag)
{
    struct pass p;
    uint64_t done = 0;
    int err = 0;
    if (needs_before(b) && (err = read_before(b, reader, progress, &done)))
        return failed(reader, err,
                      "its code is scattered over too much memory, or changes too often", diag);
    if (b->needs & VS_NEEDS_STORES && b->setup.cores > 1 &&
        (err = vs_codeview_pages(&b->code_pages, reader)))
        return vs_study_explain(reader, err, diag);
    for (size_t i = 0; i < b->count; i++)
        if ((err = row_open(b, &b->rows[i], diag)))
            return err;
    err = pass_init(&p, b);
    if (!err && b->options.by && !b->options.placer)
        err = vs_event_sites_init(&b->sites, b->options.by, reader);
    p.progress = progress;
    p.done = done;
    if (!err)
        err = read_run(&p, reader);
    pass_fini(&p); /* this waits until the rows are done */
    for (size_t i = 0; i < b->count && !err; i++)
        err = row_finish(&b->rows[i], b->end);
    return err ? failed(reader, err, "too many windows; take wider ones", diag) : 0;
}
