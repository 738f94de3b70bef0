/* SPDX-License-Identifier: MIT */
#include "target/events.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "target/line.h"
#include "target/merge.h"

#define PARCEL_EVENTS 16384

int vs_events_open(struct vs_events *e, const struct vs_events_options *options)
{
    const struct vs_operations *operations = options->isa->operations;
    const struct vs_consumer *consumer = options->consumer;
    *e = (struct vs_events){
        .options = *options, .image = -1, .on = true, .links = operations->links};
    for (unsigned i = 0; i < operations->count; i++)
        e->operations[i] = operations->describe(i);
    e->queues = calloc(options->cores + 1, sizeof(*e->queues));
    int err = e->queues ? 0 : -VSE_NOMEM;
    if (!err && options->timed) {
        err = vs_merge_open(&e->merge, consumer, options->cores + 1, PARCEL_EVENTS);
        consumer = err ? NULL : vs_merge_consumer(e->merge);
    }
    if (!err)
        err = vs_relay_open(&e->relay, consumer, PARCEL_EVENTS, options->timed);
    if (err) {
        vs_events_close(e);
        return err;
    }
    e->parcel = vs_relay_take(e->relay);
    return 0;
}

void vs_events_close(struct vs_events *e)
{
    for (unsigned i = 0; e->queues && i <= e->options.cores; i++)
        free(e->queues[i].cycles);
    free(e->queues);
    free(e->tasks);
    vs_codemap_fini(&e->code);
    vs_relay_close(e->relay);
    vs_merge_close(e->merge);
    *e = (struct vs_events){0};
}

/* ---- queues ---------------------------------------------------------------------------------- */

static int send_parcel(struct vs_events *e)
{
    int err = vs_relay_send(e->relay);
    e->parcel = vs_relay_take(e->relay);
    e->parcel->first = e->count;
    return err;
}

/* Sends the parcel if it has no room for so many events. */
static int make_room(struct vs_events *e, size_t events)
{
    return likely(e->parcel->count + events <= PARCEL_EVENTS) ? 0 : send_parcel(e);
}

/* Puts an event into the parcel, which has room; a wide value is copied from `wide`. */
static int deliver(struct vs_events *e, const struct vs_event *event, uint64_t cycle,
                   const uint8_t *wide)
{
    struct vs_parcel *p = e->parcel;
    struct vs_event *to = &p->events[p->count];
    *to = *event;
    if (p->cycles)
        p->cycles[p->count] = cycle;
    p->count++;
    if (likely(!vs_event_is_wide(event)))
        return 0;
    to->value = p->wide.len;
    return vs_buf_put(&p->wide, wide + event->value, event->size) ? -VSE_NOMEM : 0;
}

static int queue_room(struct vs_queue *q, size_t extra)
{
    return vs_array_room((void **)&q->cycles, &q->capacity, q->count, extra, sizeof(*q->cycles));
}

static int enqueue(struct vs_events *e, unsigned core, const struct vs_event *event, uint64_t cycle,
                   const uint8_t *wide)
{
    struct vs_queue *q = &e->queues[core];
    struct vs_event sign = {.kind = VS_SIGN_SOURCE,
                            .addr = core,
                            .value = 1,
                            .flags = vs_event_is_wide(event) ? VS_SIGN_WIDE : 0};
    int err = queue_room(q, 1);
    if (err)
        return err;
    err = make_room(e, 2);
    /* What happens between instructions has no cycle of its own, but must not be earlier than what
     * is queued or has gone out. */
    if (cycle < q->last)
        cycle = q->last;
    if (cycle < e->gone)
        cycle = e->gone;
    q->last = q->cycles[q->count++] = cycle;
    e->queued++;
    e->count++;
    deliver(e, &sign, cycle, NULL);
    int failed = deliver(e, event, cycle, wide);
    return err ? err : failed;
}

static int put(struct vs_events *e, unsigned core, const struct vs_event *event, uint64_t cycle,
               const uint8_t *wide)
{
    if (e->options.timed)
        return enqueue(e, core, event, cycle, wide);
    int err = make_room(e, 1);
    int failed = deliver(e, event, cycle, wide);
    e->count++;
    return err ? err : failed;
}

/* Forgets the queue's events before the moment, and returns the last one's cycle; 0 if there are
 * none. */
static uint64_t leave_queue(struct vs_events *e, unsigned queue, struct vs_moment end)
{
    struct vs_queue *q = &e->queues[queue];
    size_t low = 0, high = q->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (vs_is_before((struct vs_moment){q->cycles[middle], queue}, end))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return 0;
    uint64_t last = q->cycles[low - 1];
    q->count -= low;
    e->queued -= low;
    memmove(q->cycles, q->cycles + low, q->count * sizeof(*q->cycles));
    return last;
}

static int advance(struct vs_events *e, struct vs_moment end, unsigned flags)
{
    struct vs_event sign = {
        .kind = VS_SIGN_UNTIL, .addr = end.cycle, .value = end.core, .flags = (uint8_t)flags};
    int err = make_room(e, 1);
    for (unsigned i = 0; i <= e->options.cores; i++) {
        uint64_t last = leave_queue(e, i, end);
        if (e->gone < last)
            e->gone = last;
    }
    deliver(e, &sign, end.cycle, NULL);
    return err;
}

int vs_events_advance(struct vs_events *e, uint64_t cycle, unsigned core)
{
    return advance(e, (struct vs_moment){cycle, core}, 0);
}

uint64_t vs_events_latest(const struct vs_events *e)
{
    uint64_t latest = 0;
    for (unsigned i = 0; i <= e->options.cores; i++)
        if (latest < e->queues[i].last)
            latest = e->queues[i].last;
    return latest;
}

int vs_events_finish(struct vs_events *e)
{
    const struct vs_moment end = {UINT64_MAX, UINT32_MAX};
    int err = e->options.timed ? advance(e, end, VS_SIGN_LAST) : 0;
    int sent = e->parcel->count ? send_parcel(e) : 0;
    int drained = vs_relay_drain(e->relay);
    return err ? err : sent ? sent : drained;
}

/* ---- instructions ---------------------------------------------------------------------------- */

static struct vs_events_task *task_of(struct vs_events *e, const struct vs_task *t)
{
    return &e->tasks[t->number];
}

/* The instructions since the task's last event become an event of their own, or several. */
static int put_count(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle)
{
    struct vs_events_task *s = task_of(e, t);
    int err = 0;
    while (s->since && !err) {
        uint16_t part = s->since < UINT16_MAX ? (uint16_t)s->since : UINT16_MAX;
        struct vs_event count = {.kind = VS_COUNT, .thread = (uint16_t)t->number, .icount = part};
        err = put(e, core, &count, cycle, NULL);
        s->since -= part;
    }
    return err;
}

static int put_counted(struct vs_events *e, const struct vs_task *t, unsigned core,
                       struct vs_event *event, uint64_t cycle, const uint8_t *wide)
{
    struct vs_events_task *s = task_of(e, t);
    int err = s->since > UINT16_MAX ? put_count(e, t, core, cycle) : 0;
    event->thread = (uint16_t)t->number;
    event->icount = (uint16_t)s->since;
    s->since = 0;
    return err ? err : put(e, core, event, cycle, wide);
}

static unsigned branch_flags(const struct vs_events *e, const struct vs_cpu_record *r)
{
    return vs_record_branch(r, &e->operations[r->op], e->links) |
           (r->kind & VS_RECORD_DONE ? VS_BR_TAKEN : 0u);
}

/* So many records are looked at together: room for their events is made once. */
#define PIECE 2048

/* Where events are written, with room for two for each record of a piece. */
struct place {
    struct vs_event *events;
    uint64_t *cycles; /* NULL: untimed */
    size_t count;
    uint16_t thread;
    uint64_t since; /* instructions after the last event */
};

_Static_assert(offsetof(struct vs_event, pc) == offsetof(struct vs_cpu_record, pc) &&
                   offsetof(struct vs_event, addr) == offsetof(struct vs_cpu_record, addr) &&
                   offsetof(struct vs_event, value) == offsetof(struct vs_cpu_record, value) &&
                   offsetof(struct vs_event, thread) == sizeof(struct vs_event) - 8,
               "an event begins as a record does");

/* Adds an event that has the record's pc, addr and value. */
static inline struct vs_event *place(struct place *to, const struct vs_cpu_record *r, unsigned kind,
                                     unsigned flags, unsigned size, uint64_t cycle)
{
    struct vs_event *event = &to->events[to->count];
    memcpy(event, r, offsetof(struct vs_event, thread));
    event->thread = to->thread;
    event->size = (uint16_t)size;
    event->icount = (uint16_t)to->since;
    event->kind = (uint8_t)kind;
    event->flags = (uint8_t)flags;
    if (to->cycles)
        to->cycles[to->count] = cycle;
    to->since = 0;
    to->count++;
    return event;
}

static void place_conditional(struct place *to, const struct vs_cpu_record *r, bool stores,
                              uint64_t cycle)
{
    bool done = r->kind & VS_RECORD_DONE;
    struct vs_event *outcome = place(to, r, VS_NONDET, 0, 8, cycle);
    outcome->addr = 0;
    outcome->value = !done;
    if (done && stores)
        place(to, r, VS_STORE, VS_MEM_ATOMIC, r->size, cycle);
}

/* Adds the events of one record. A second one of the same instruction counts no instructions. */
static inline void place_record(const struct vs_events *e, struct place *to,
                                const struct vs_cpu_record *r, unsigned kind, uint64_t cycle)
{
    const struct vs_events_options *o = &e->options;
    switch (kind) {
    case VS_RECORD_BRANCH:
        place(to, r, VS_BRANCH, branch_flags(e, r), r->kind & VS_RECORD_SHORT ? 2 : 4, cycle);
        break;
    case VS_RECORD_LOAD:
        if (o->loads)
            place(to, r, VS_LOAD, 0, r->size, cycle);
        break;
    case VS_RECORD_STORE:
        if (o->stores)
            place(to, r, VS_STORE, 0, r->size, cycle);
        break;
    case VS_RECORD_LR:
    case VS_RECORD_AMO_LOAD:
        if (o->loads)
            place(to, r, VS_LOAD, VS_MEM_ATOMIC, r->size, cycle);
        break;
    case VS_RECORD_AMO_STORE:
        if (o->stores)
            place(to, r, VS_STORE, VS_MEM_ATOMIC, r->size, cycle);
        break;
    case VS_RECORD_SC:
        place_conditional(to, r, o->stores, cycle);
        break;
    case VS_RECORD_COUNTER:
        place(to, r, VS_NONDET, 0, 8, cycle);
        break;
    default:
        place(to, r, VS_COUNT, 0, 0, cycle);
    }
}

/* Makes room for the events of so many records. */
static int find_place(struct vs_events *e, const struct vs_task *t, unsigned core, size_t records,
                      struct place *to)
{
    int err = e->options.timed ? queue_room(&e->queues[core], 2 * records) : 0;
    if (!err)
        err = make_room(e, e->options.timed + 2 * records);
    *to = (struct place){.events = e->parcel->events,
                         .cycles = e->parcel->cycles,
                         .count = e->parcel->count + e->options.timed, /* after the sign */
                         .thread = (uint16_t)t->number,
                         .since = task_of(e, t)->since};
    return err;
}

static void keep_queued(struct vs_events *e, unsigned core, const struct place *to, size_t count)
{
    struct vs_queue *q = &e->queues[core];
    if (!count)
        return;
    memcpy(q->cycles + q->count, to->cycles + to->count - count, count * sizeof(*q->cycles));
    q->count += count;
    q->last = q->cycles[q->count - 1];
    e->queued += count;
    to->events[e->parcel->count] =
        (struct vs_event){.kind = VS_SIGN_SOURCE, .addr = core, .value = count};
}

static void keep_place(struct vs_events *e, const struct vs_task *t, unsigned core,
                       const struct place *to)
{
    size_t count = to->count - e->parcel->count - e->options.timed;
    task_of(e, t)->since = to->since;
    if (e->options.timed)
        keep_queued(e, core, to, count);
    e->count += count;
    if (count)
        e->parcel->count = to->count;
}

static int put_piece(struct vs_events *e, const struct vs_task *t, unsigned core,
                     const struct vs_cpu_record *records, const uint64_t *cycles, size_t count)
{
    const bool every = e->options.every;
    uint64_t uncounted = 0;
    struct place to;
    int err = find_place(e, t, core, count, &to);
    if (err)
        return err;
    for (size_t i = 0; i < count; i++) {
        const struct vs_cpu_record *r = &records[i];
        unsigned kind = r->kind & VS_RECORD_KIND;
        to.since++;
        if (kind == VS_RECORD_PLAIN && !every)
            continue;
        if (unlikely(kind == VS_RECORD_ECALL || kind == VS_RECORD_AMO_STORE)) {
            to.since--;
            uncounted++;
        }
        if (likely(kind != VS_RECORD_ECALL)) /* which counts when the call ends */
            place_record(e, &to, r, kind, cycles ? cycles[i] : 0);
    }
    keep_place(e, t, core, &to);
    e->instructions += count - uncounted;
    return 0;
}

int vs_events_records(struct vs_events *e, const struct vs_task *t, unsigned core,
                      const struct vs_cpu_record *records, const uint64_t *cycles, size_t count)
{
    struct vs_events_task *s = task_of(e, t);
    int err = 0;
    for (size_t done = 0; done < count && !err; done += PIECE) {
        size_t part = count - done < PIECE ? count - done : PIECE;
        /* within a piece no count may get too large for an event */
        if (unlikely(s->since + part > UINT16_MAX))
            err = put_count(e, t, core, cycles ? cycles[done] : 0);
        if (!err)
            err = put_piece(e, t, core, records + done, cycles ? cycles + done : NULL, part);
    }
    return err;
}

void vs_events_unseen(struct vs_events *e, const struct vs_task *t, uint64_t count)
{
    task_of(e, t)->skipped += count;
    e->skipped += count;
}

/* ---- registers ------------------------------------------------------------------------------- */

/* More bytes than all registers and a call's head take. */
#define PAYLOAD_MAX 1024

struct payload {
    uint8_t bytes[PAYLOAD_MAX];
    size_t size;
};

static void add_register(struct payload *p, unsigned number, uint64_t value)
{
    p->size = (size_t)vs_regs_put(p->bytes, sizeof(p->bytes), p->size, number, &value, 8);
}

static void add_all(const struct vs_events *e, struct payload *p, const struct vs_cpu *cpu)
{
    const struct vs_abi *abi = e->options.isa->abi;
    for (unsigned i = 0; i < abi->state_count; i++)
        add_register(p, abi->state[i], vs_cpu_get(cpu, abi->state[i]));
}

static int put_payload(struct vs_events *e, const struct vs_task *t, unsigned core,
                       struct vs_event event, uint64_t cycle, const struct payload *p)
{
    event.size = (uint16_t)p->size;
    return put_counted(e, t, core, &event, cycle, p->bytes);
}

static int put_gap(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle)
{
    struct vs_events_task *s = task_of(e, t);
    struct payload p = {.size = 0};
    struct vs_event event = {.kind = VS_GAP, .pc = t->cpu->pc, .addr = s->skipped};
    add_all(e, &p, t->cpu);
    s->gap = false;
    s->skipped = 0;
    return put_payload(e, t, core, event, cycle, &p);
}

int vs_events_resume(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle)
{
    struct vs_events_task *s = task_of(e, t);
    s->gap = s->gap && s->skipped; /* if nothing was missed there is no gap */
    return s->gap ? put_gap(e, t, core, cycle) : 0;
}

/* ---- what the process did -------------------------------------------------------------------- */

static int put_call(struct vs_events *e, const struct vs_effect *effect, unsigned core,
                    uint64_t cycle)
{
    const struct vs_task *t = effect->task;
    struct vs_syscall_head head = {.result = effect->value};
    struct payload p = {.size = sizeof(head)};
    struct vs_event event = {.kind = VS_SYSCALL, .pc = t->call.pc, .addr = t->call.number};
    enum { RESTARTED = -512 }; /* ERESTARTSYS, as inside the kernel */
    memcpy(head.args, t->call.args, sizeof(head.args));
    if (effect->restart)
        head.result = (uint64_t)(int64_t)RESTARTED;
    memcpy(p.bytes, &head, sizeof(head));
    add_register(&p, e->options.isa->abi->result, effect->value);
    if (effect->restart)
        add_register(&p, VS_REG_PC, t->call.pc);
    task_of(e, t)->since++;
    e->instructions++;
    return put_payload(e, t, core, event, cycle, &p);
}

static int put_signal(struct vs_events *e, const struct vs_effect *effect, unsigned core,
                      uint64_t cycle)
{
    const struct vs_abi_signals *abi = e->options.isa->abi->signals;
    struct payload p = {.size = 0};
    struct vs_event event = {.kind = VS_EXCEPTION, .pc = effect->pc, .addr = effect->addr};
    for (unsigned i = 0; i < abi->entered_count; i++)
        add_register(&p, abi->entered[i], effect->regs[i]);
    add_register(&p, VS_REG_PC, effect->addr);
    add_register(&p, VS_REG_CAUSE, effect->value);
    return put_payload(e, effect->task, core, event, cycle, &p);
}

static int put_sigreturn(struct vs_events *e, const struct vs_effect *effect, unsigned core,
                         uint64_t cycle)
{
    const struct vs_task *t = effect->task;
    struct payload p = {.size = 0};
    struct vs_event event = {.kind = VS_EXCEPTION_RET, .pc = t->call.pc, .addr = effect->addr};
    add_all(e, &p, t->cpu);
    task_of(e, t)->since++;
    e->instructions++;
    return put_payload(e, t, core, event, cycle, &p);
}

static int put_written(struct vs_events *e, struct vs_process *p, const struct vs_effect *effect,
                       unsigned core, uint64_t cycle)
{
    uint8_t bytes[4096];
    uint64_t addr = effect->addr, left = effect->size;
    int err = 0;
    while (left && !err) {
        size_t part = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
        struct vs_event event = {
            .kind = VS_EXTERNAL, .pc = effect->pc, .addr = addr, .size = (uint16_t)part};
        /* What the same call unmapped can no longer be seen. */
        if (vs_ram_get(&p->memory, addr, bytes, part))
            return 0;
        if (part <= 8)
            memcpy(&event.value, bytes, part);
        err = put_counted(e, effect->task, core, &event, cycle, bytes);
        addr += part;
        left -= part;
    }
    return err;
}

static int put_map(struct vs_events *e, struct vs_process *p, const struct vs_effect *effect,
                   unsigned core, uint64_t cycle)
{
    struct vs_event event = {
        .kind = VS_MAP,
        .addr = effect->addr,
        .value = effect->size,
        .pc = VS_NO_IMAGE,
        .flags = (uint8_t)(effect->kind == VS_EFFECT_UNMAPPED ? VS_MAP_GONE : effect->flags)};
    if (effect->image && e->image < 0) {
        e->image = vs_relay_image(e->relay, &p->image);
        if (e->image < 0)
            return (int)e->image;
    }
    if (effect->image)
        event.pc = (uint64_t)e->image;
    return put_counted(e, effect->task, core, &event, cycle, NULL);
}

static int put_start(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle)
{
    struct payload p = {.size = 0};
    struct vs_event event = {.kind = VS_THREAD_START, .pc = t->cpu->pc, .addr = t->tid};
    add_all(e, &p, t->cpu);
    return put_payload(e, t, core, event, cycle, &p);
}

static int put_end(struct vs_events *e, const struct vs_effect *effect, unsigned core,
                   uint64_t cycle)
{
    struct vs_event event = {.kind = VS_THREAD_EXIT, .value = effect->value};
    int err = task_of(e, effect->task)->gap ? put_gap(e, effect->task, core, cycle) : 0;
    return err ? err : put_counted(e, effect->task, core, &event, cycle, NULL);
}

/* Makes room for a task that is new. */
static int know_task(struct vs_events *e, const struct vs_task *t)
{
    if (t->number >= VS_THREADS_MAX)
        return -VSE_LIMIT;
    if (t->number < e->task_count)
        return 0;
    int err = vs_array_room((void **)&e->tasks, &e->task_capacity, e->task_count,
                            t->number + 1 - e->task_count, sizeof(*e->tasks));
    while (!err && e->task_count <= t->number)
        e->tasks[e->task_count++] = (struct vs_events_task){.gap = !e->on};
    return err;
}

/* A call that ended while its task is in a gap is part of the gap. */
static bool is_in_gap(struct vs_events *e, const struct vs_effect *effect)
{
    struct vs_events_task *s = task_of(e, effect->task);
    switch (effect->kind) {
    case VS_EFFECT_CALL:
    case VS_EFFECT_SIGRETURN:
        s->skipped += s->gap;
        e->skipped += s->gap;
        return s->gap;
    case VS_EFFECT_WROTE:
    case VS_EFFECT_SIGNAL:
        return s->gap;
    default:
        return false;
    }
}

int vs_events_effect(struct vs_events *e, struct vs_process *p, const struct vs_effect *effect,
                     unsigned core, uint64_t cycle)
{
    int err = know_task(e, effect->task);
    if (err)
        return err;
    if (is_in_gap(e, effect))
        return 0;
    switch (effect->kind) {
    case VS_EFFECT_CALL:
        return put_call(e, effect, core, cycle);
    case VS_EFFECT_WROTE:
        return put_written(e, p, effect, core, cycle);
    case VS_EFFECT_MAPPED:
    case VS_EFFECT_PROTECTED:
    case VS_EFFECT_UNMAPPED:
        return put_map(e, p, effect, core, cycle);
    case VS_EFFECT_STARTED:
        return put_start(e, effect->task, core, cycle);
    case VS_EFFECT_ENDED:
        return put_end(e, effect, core, cycle);
    case VS_EFFECT_SIGNAL:
        return put_signal(e, effect, core, cycle);
    case VS_EFFECT_SIGRETURN:
        return put_sigreturn(e, effect, core, cycle);
    }
    return 0;
}

/* ---- code and regions ------------------------------------------------------------------------ */

int vs_events_count(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle)
{
    return task_of(e, t)->gap ? 0 : put_count(e, t, core, cycle);
}

bool vs_events_changes_code(const struct vs_events *e, const struct vs_block *block)
{
    return vs_codemap_differs(&e->code, block);
}

int vs_events_code(struct vs_events *e, const struct vs_task *t, const struct vs_block *block,
                   bool changed, unsigned core, uint64_t cycle)
{
    /* So the consumer gets each block at the same place among batches in every run. */
    int sent = e->options.timed && e->parcel->count ? send_parcel(e) : 0;
    int drained = sent ? sent : vs_relay_drain(e->relay);
    int64_t id = drained ? drained : vs_relay_block(e->relay, block);
    struct vs_event event = {.kind = VS_CODE, .value = (uint64_t)id};
    if (id < 0)
        return (int)id;
    int err = changed ? vs_codemap_replace(&e->code, block) : vs_codemap_add(&e->code, block);
    return err || !changed ? err : put_counted(e, t, core, &event, cycle, NULL);
}

int vs_events_leave(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle)
{
    struct vs_events_task *s = task_of(e, t);
    bool counts = !s->gap;
    s->gap = true;
    return counts ? put_count(e, t, core, cycle) : 0;
}
