/* SPDX-License-Identifier: MIT */
#include "study/bandwidth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/diag.h"
#include "isa/set.h"

const struct vs_technique *vs_bandwidth_baseline(enum vs_technique_kind kind)
{
    for (size_t i = 0; vs_techniques[i]; i++)
        if (vs_techniques[i]->kind == kind)
            return vs_techniques[i];
    return NULL;
}

bool vs_bandwidth_knows(const struct vs_technique *t)
{
    return t->kind == VS_TECHNIQUE_FLOW;
}

unsigned vs_bandwidth_threads(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 64 ? 63 : n > 1 ? (unsigned)n - 1 : 0;
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
                                         .timed = info->features & VS_RUN_TIMED}};
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
    vs_port_writer_fini(&row->port);
    if (b->options.window)
        vs_windows_fini(&row->windows);
}

void vs_bandwidth_fini(struct vs_bandwidth *b)
{
    for (size_t i = 0; i < b->count; i++)
        row_fini(b, &b->rows[i]);
    free(b->rows);
    *b = (struct vs_bandwidth){0};
}

int64_t vs_bandwidth_add(struct vs_bandwidth *b, const struct vs_technique_spec *spec,
                         vs_port_sink *sink, void *context, struct vs_diag *diag)
{
    void *rows = b->rows;
    if (!vs_bandwidth_knows(spec->technique))
        return vs_diag_set(diag, -VSE_FEATURE, -1, -1, "%s: its kind cannot be measured",
                           spec->technique->name);
    int err = vs_array_room(&rows, &b->capacity, b->count, 1, sizeof(*b->rows));
    b->rows = rows;
    if (err)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    b->rows[b->count] = (struct vs_bandwidth_row){.spec = *spec, .sink = sink, .context = context};
    vs_technique_settle(&b->rows[b->count].spec, b->setup.timed);
    return (int64_t)b->count++;
}

static int row_open(const struct vs_bandwidth *b, struct vs_bandwidth_row *row)
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
    if (!err && !(err = vs_technique_cost(&row->spec, &b->setup, &costs)))
        row->cost = vs_cost_list_sum(&costs);
    if (!err)
        err = row->spec.technique->encoder->open(&row->encoder, row->spec.params, &b->setup,
                                                 &row->port);
    return err;
}

static int row_finish(struct vs_bandwidth_row *row)
{
    const struct vs_flow_encoder_ops *ops = row->spec.technique->encoder;
    int err = row->error;
    if (!err && ops->finish)
        err = ops->finish(row->encoder);
    int64_t bits = err ? err : vs_port_finish(&row->port);
    if (bits < 0)
        return (int)bits;
    row->bits = (uint64_t)bits;
    vs_port_totals(&row->port, &row->counts);
    ops->counts(row->encoder, &row->flow);
    memcpy(row->lengths, row->port.lengths, sizeof(row->lengths));
    return 0;
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Steps go to all rows a slot at a time, while the next slot is filled. */
enum { SLOTS = 3, SLOT_STEPS = 1 << 14 };

struct slot;

struct task {
    struct vs_job job;
    struct vs_bandwidth_row *row;
    const struct slot *slot;
    int error; /* of the row then; by now another task may be setting the row's */
};

struct slot {
    struct vs_step steps[SLOT_STEPS];
    size_t count;
    struct task *tasks; /* of each row */
    bool submitted;
};

struct pass {
    struct vs_bandwidth *b;
    struct vs_workers *workers;
    struct slot *slots;
    unsigned filling;
};

static void encode_slot(void *arg)
{
    struct task *task = arg;
    struct vs_bandwidth_row *row = task->row;
    if (!row->error)
        row->error = row->spec.technique->encoder->consume(row->encoder, task->slot->steps,
                                                           task->slot->count);
    if (!row->error)
        row->error = row->port.error;
    task->error = row->error;
}

/* Returns the first error of a row among the tasks of a slot that is done. */
static int await_slot(struct pass *p, struct slot *slot)
{
    int err = 0;
    for (size_t i = 0; slot->submitted && i < p->b->count; i++) {
        vs_workers_help(p->workers, &slot->tasks[i].job);
        if (!err)
            err = slot->tasks[i].error;
    }
    slot->submitted = false;
    slot->count = 0;
    return err;
}

static int submit_slot(struct pass *p)
{
    struct slot *slot = &p->slots[p->filling];
    for (size_t i = 0; i < p->b->count; i++)
        vs_workers_submit_to(p->workers, &p->b->rows[i].strand, &slot->tasks[i].job);
    slot->submitted = true;
    p->filling = (p->filling + 1) % SLOTS;
    return await_slot(p, &p->slots[p->filling]);
}

static int take_steps(struct pass *p, const struct vs_step *steps, size_t count)
{
    int err = 0;
    while (count && !err) {
        struct slot *slot = &p->slots[p->filling];
        size_t room = SLOT_STEPS - slot->count, n = count < room ? count : room;
        memcpy(&slot->steps[slot->count], steps, n * sizeof(*steps));
        slot->count += n;
        steps += n;
        count -= n;
        if (slot->count == SLOT_STEPS)
            err = submit_slot(p);
    }
    return err;
}

static int check_cores(const struct vs_bandwidth *b, const struct vs_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        if (batch->events[i].thread >= b->setup.cores)
            return -VSE_CORRUPT;
    return 0;
}

/* Returns 0 after all rows have had everything. */
static int read_steps(struct pass *p, struct vs_reader *reader, struct vs_progress *progress)
{
    struct vs_bandwidth *b = p->b;
    struct vs_stepper stepper = {0};
    struct vs_batch batch;
    uint64_t first = 0, last = 0;
    bool any = false;
    int n = vs_reader_select(reader, -1);
    if (!n)
        n = vs_reader_info(reader)->events ? vs_reader_seek_event(reader, 0) : -VSE_END;
    while (!n && (n = vs_reader_next(reader, &batch)) > 0) {
        int err = check_cores(b, &batch);
        if (!err)
            err = vs_stepper_take(&stepper, &batch);
        if (!err)
            err = take_steps(p, stepper.steps, stepper.count);
        if (batch.cycles) {
            first = any ? first : batch.cycles[0];
            last = batch.cycles[batch.count - 1];
            any = true;
        }
        vs_progress_update(progress, batch.first + batch.count);
        n = err;
    }
    b->instructions = stepper.instructions;
    b->cycles = any ? last - first + 1 : 0;
    b->end = b->setup.timed ? last + 1 : stepper.instructions;
    if (n == -VSE_END && !(n = vs_stepper_end(&stepper, any ? last : stepper.instructions)))
        n = take_steps(p, stepper.steps, stepper.count);
    if (!n)
        n = submit_slot(p);
    vs_stepper_fini(&stepper);
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
    return vs_workers_open(&p->workers, vs_bandwidth_threads());
}

static void pass_fini(struct pass *p)
{
    vs_workers_close(p->workers);
    for (unsigned i = 0; p->slots && i < SLOTS; i++)
        free(p->slots[i].tasks);
    free(p->slots);
}

static int failed(const struct vs_reader *reader, int err, struct vs_diag *diag)
{
    const struct vs_diag *d = vs_reader_diag(reader);
    if (d && d->error == err)
        return vs_diag_set(diag, err, d->offset, d->chunk, "%s", d->text);
    if (err == -VSE_LIMIT)
        return vs_diag_set(diag, err, -1, -1, "too many windows; take wider ones");
    return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
}

int vs_bandwidth_run(struct vs_bandwidth *b, struct vs_reader *reader, struct vs_progress *progress,
                     struct vs_diag *diag)
{
    struct pass p;
    int err = 0;
    for (size_t i = 0; i < b->count && !err; i++)
        err = row_open(b, &b->rows[i]);
    if (err)
        return failed(reader, err, diag);
    if (!(err = pass_init(&p, b)))
        err = read_steps(&p, reader, progress);
    pass_fini(&p); /* the rows are done then */
    for (size_t i = 0; i < b->count && !err; i++)
        err = row_finish(&b->rows[i]);
    return err ? failed(reader, err, diag) : 0;
}
