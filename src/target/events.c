/* SPDX-License-Identifier: MIT */
#include "target/events.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "target/config.h"

#define PARCEL_EVENTS 16384

int vs_events_open(struct vs_events *e, const struct vs_events_options *options)
{
    const struct vs_operations *operations = options->isa->operations;
    *e = (struct vs_events){
        .options = *options, .image = -1, .on = true, .links = operations->links};
    for (unsigned i = 0; i < operations->count; i++)
        e->operations[i] = operations->describe(i);
    e->queues = calloc(options->cores + 1, sizeof(*e->queues));
    if (!e->queues || vs_relay_open(&e->relay, options->consumer, PARCEL_EVENTS, options->timed)) {
        vs_events_close(e);
        return -VSE_NOMEM;
    }
    e->parcel = vs_relay_take(e->relay);
    return 0;
}

void vs_events_close(struct vs_events *e)
{
    for (unsigned i = 0; e->queues && i <= e->options.cores; i++) {
        free(e->queues[i].events);
        free(e->queues[i].cycles);
        vs_buf_fini(&e->queues[i].wide);
    }
    free(e->queues);
    free(e->tasks);
    vs_codemap_fini(&e->code);
    vs_relay_close(e->relay);
    *e = (struct vs_events){0};
}

/* ---- queues ---------------------------------------------------------------------------------- */

static int send_parcel(struct vs_events *e)
{
    const struct vs_parcel *p = e->parcel;
    if (p->cycles && p->count)
        invariant(p->cycles[0] <= e->gone && e->gone == p->cycles[p->count - 1]);
    int err = vs_relay_send(e->relay);
    e->parcel = vs_relay_take(e->relay);
    e->parcel->first = e->count;
    return err;
}

/* Sends the parcel if it is full. */
static int make_room(struct vs_events *e)
{
    return likely(e->parcel->count < PARCEL_EVENTS) ? 0 : send_parcel(e);
}

/* Puts an event into the parcel; a wide value is copied from `wide`. */
static int deliver(struct vs_events *e, const struct vs_event *event, uint64_t cycle,
                   const uint8_t *wide)
{
    int err = make_room(e);
    struct vs_parcel *p = e->parcel;
    struct vs_event *to = &p->events[p->count];
    *to = *event;
    if (unlikely(vs_event_is_wide(event))) {
        to->value = p->wide.len;
        if (vs_buf_put(&p->wide, wide + event->value, event->size) && !err)
            err = -VSE_NOMEM;
    }
    if (p->cycles)
        p->cycles[p->count] = cycle;
    p->count++;
    e->count++;
    return err;
}

static int queue_room(struct vs_queue *q, size_t extra)
{
    int err = vs_array_room((void **)&q->events, &q->capacity, q->count, extra, sizeof(*q->events));
    return err ? err
               : vs_array_room((void **)&q->cycles, &q->cycle_capacity, q->count, extra,
                               sizeof(*q->cycles));
}

static int enqueue(struct vs_events *e, unsigned core, const struct vs_event *event, uint64_t cycle,
                   const uint8_t *wide)
{
    struct vs_queue *q = &e->queues[core];
    int err = queue_room(q, 1);
    if (err)
        return err;
    /* What happens between instructions has no cycle of its own, but must not be earlier than what
     * is queued or has gone out. */
    if (cycle < q->last)
        cycle = q->last;
    if (cycle < e->gone)
        cycle = e->gone;
    q->last = cycle;
    q->events[q->count] = *event;
    q->cycles[q->count] = cycle;
    if (vs_event_is_wide(event)) {
        q->events[q->count].value = q->wide.len;
        if (vs_buf_put(&q->wide, wide + event->value, event->size))
            return -VSE_NOMEM;
    }
    q->count++;
    e->queued++;
    return 0;
}

static int put(struct vs_events *e, unsigned core, const struct vs_event *event, uint64_t cycle,
               const uint8_t *wide)
{
    return e->options.timed ? enqueue(e, core, event, cycle, wide) : deliver(e, event, cycle, wide);
}

/* An empty queue begins at its start again. */
static void compact(struct vs_queue *q)
{
    if (q->head < q->count)
        return;
    q->head = q->count = 0;
    q->wide.len = 0;
}

/* Moves the queue's events that are not later than (cycle, core) to the parcel, as many as fit. */
static int move_events(struct vs_events *e, unsigned from, uint64_t cycle, unsigned core)
{
    struct vs_queue *q = &e->queues[from];
    int err = make_room(e);
    struct vs_parcel *p = e->parcel;
    size_t head = q->head, to = p->count, room = PARCEL_EVENTS - to;
    if (from > core) /* its events of the same cycle come later */
        cycle--;
    for (; head < q->count && room && q->cycles[head] <= cycle; head++, to++, room--) {
        struct vs_event *event = &p->events[to];
        *event = q->events[head];
        p->cycles[to] = q->cycles[head];
        if (unlikely(vs_event_is_wide(event))) {
            event->value = p->wide.len;
            if (vs_buf_put(&p->wide, q->wide.data + q->events[head].value, event->size))
                err = -VSE_NOMEM;
        }
    }
    if (head != q->head)
        e->gone = q->cycles[head - 1];
    e->count += head - q->head;
    e->queued -= head - q->head;
    q->head = head;
    p->count = to;
    return err;
}

/* The cycles of the queues' first events; UINT64_MAX where there is none. */
struct heads {
    uint64_t cycles[VS_CORES_MAX + 1];
    unsigned count;
};

static void note_head(struct heads *h, const struct vs_events *e, unsigned queue)
{
    const struct vs_queue *q = &e->queues[queue];
    h->cycles[queue] = q->head < q->count ? q->cycles[q->head] : UINT64_MAX;
}

/* Returns the queue with the earliest event before (*cycle, *core), or -1. If the next queue's
 * first event is before them, too, they become its. Of equal cycles the lower queue is earlier,
 * which a strict comparison finds. */
static int earliest(const struct heads *h, uint64_t *cycle, unsigned *core)
{
    uint64_t best = UINT64_MAX, next = UINT64_MAX;
    unsigned first = 0, second = 0;
    for (unsigned i = 0; i < h->count; i++) {
        uint64_t at = h->cycles[i];
        if (at < best) {
            next = best;
            second = first;
            best = at;
            first = i;
        } else if (at < next) {
            next = at;
            second = i;
        }
    }
    if (best == UINT64_MAX || best > *cycle || (best == *cycle && first >= *core))
        return -1;
    if (next < *cycle || (next == *cycle && second < *core)) {
        *cycle = next;
        *core = second;
    }
    return (int)first;
}

int vs_events_advance(struct vs_events *e, uint64_t cycle, unsigned core)
{
    struct heads h = {.count = e->options.cores + 1};
    int err = 0;
    for (unsigned i = 0; i < h.count; i++)
        note_head(&h, e, i);
    while (!err) {
        uint64_t until = cycle;
        unsigned before = core;
        int from = earliest(&h, &until, &before);
        if (from < 0)
            break;
        err = move_events(e, (unsigned)from, until, before);
        note_head(&h, e, (unsigned)from);
    }
    for (unsigned i = 0; i < h.count; i++)
        compact(&e->queues[i]);
    return err;
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
    int err = vs_events_advance(e, UINT64_MAX, UINT32_MAX);
    int sent = e->parcel->count ? vs_relay_send(e->relay) : 0;
    int drained = vs_relay_drain(e->relay);
    e->parcel = vs_relay_take(e->relay);
    e->parcel->first = e->count;
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

static struct vs_event branch_event(const struct vs_events *e, const struct vs_cpu_record *r)
{
    unsigned taken = r->kind & VS_RECORD_DONE ? VS_BR_TAKEN : 0u;
    return (struct vs_event){
        .kind = VS_BRANCH,
        .pc = r->pc,
        .addr = r->addr,
        .size = r->kind & VS_RECORD_SHORT ? 2 : 4,
        .flags = (uint8_t)(taken | vs_record_branch(r, &e->operations[r->op], e->links)),
    };
}

static struct vs_event operand_event(const struct vs_cpu_record *r, unsigned kind, unsigned flags)
{
    return (struct vs_event){.kind = (uint8_t)kind,
                             .flags = (uint8_t)flags,
                             .pc = r->pc,
                             .addr = r->addr,
                             .size = r->size,
                             .value = r->value};
}

static struct vs_event nondet_event(const struct vs_cpu_record *r, uint64_t value)
{
    return (struct vs_event){.kind = VS_NONDET, .pc = r->pc, .size = 8, .value = value};
}

/* So many records are looked at together: room for their events is made once. */
#define PIECE 2048

/* Where events are written, with room for two for each record of a piece. */
struct place {
    struct vs_event *events;
    uint64_t *cycles; /* NULL: untimed */
    size_t count;
};

/* Adds an event, which counts *since instructions; *since becomes 0. */
static inline void place(struct place *to, struct vs_event event, const struct vs_task *t,
                         uint64_t *since, uint64_t cycle)
{
    event.thread = (uint16_t)t->number;
    event.icount = (uint16_t)*since;
    *since = 0;
    if (to->cycles)
        to->cycles[to->count] = cycle;
    to->events[to->count++] = event;
}

/* Adds the events of one record. A second one of the same instruction counts no instructions. */
static inline void place_record(const struct vs_events *e, struct place *to,
                                const struct vs_cpu_record *r, const struct vs_task *t,
                                uint64_t *since, uint64_t cycle)
{
    const struct vs_events_options *o = &e->options;
    switch (r->kind & VS_RECORD_KIND) {
    case VS_RECORD_BRANCH:
        place(to, branch_event(e, r), t, since, cycle);
        break;
    case VS_RECORD_LOAD:
        if (o->loads)
            place(to, operand_event(r, VS_LOAD, 0), t, since, cycle);
        break;
    case VS_RECORD_LR:
    case VS_RECORD_AMO_LOAD:
        if (o->loads)
            place(to, operand_event(r, VS_LOAD, VS_MEM_ATOMIC), t, since, cycle);
        break;
    case VS_RECORD_STORE:
        if (o->stores)
            place(to, operand_event(r, VS_STORE, 0), t, since, cycle);
        break;
    case VS_RECORD_AMO_STORE:
        if (o->stores)
            place(to, operand_event(r, VS_STORE, VS_MEM_ATOMIC), t, since, cycle);
        break;
    case VS_RECORD_SC:
        place(to, nondet_event(r, !(r->kind & VS_RECORD_DONE)), t, since, cycle);
        if (r->kind & VS_RECORD_DONE && o->stores)
            place(to, operand_event(r, VS_STORE, VS_MEM_ATOMIC), t, since, cycle);
        break;
    case VS_RECORD_COUNTER:
        place(to, nondet_event(r, r->value), t, since, cycle);
        break;
    default:
        if (o->every)
            place(to, (struct vs_event){.kind = VS_COUNT, .pc = r->pc}, t, since, cycle);
    }
}

/* Makes room for the events of so many records. */
static int find_place(struct vs_events *e, unsigned core, size_t records, struct place *to)
{
    if (e->options.timed) {
        struct vs_queue *q = &e->queues[core];
        int err = queue_room(q, 2 * records);
        *to = (struct place){q->events, q->cycles, q->count};
        return err;
    }
    int err = e->parcel->count + 2 * records > PARCEL_EVENTS ? send_parcel(e) : 0;
    *to = (struct place){e->parcel->events, NULL, e->parcel->count};
    return err;
}

static void keep_place(struct vs_events *e, unsigned core, const struct place *to)
{
    if (e->options.timed) {
        struct vs_queue *q = &e->queues[core];
        e->queued += to->count - q->count;
        q->count = to->count;
        if (q->count)
            q->last = q->cycles[q->count - 1];
    } else {
        e->count += to->count - e->parcel->count;
        e->parcel->count = to->count;
    }
}

static int put_piece(struct vs_events *e, const struct vs_task *t, unsigned core,
                     const struct vs_cpu_record *records, const uint64_t *cycles, size_t count)
{
    struct vs_events_task *s = task_of(e, t);
    const struct vs_events_options *o = &e->options;
    uint64_t since = s->since, retired = 0;
    struct place to;
    int err = find_place(e, core, count, &to);
    if (err)
        return err;
    for (size_t i = 0; i < count; i++) {
        const struct vs_cpu_record *r = &records[i];
        unsigned kind = r->kind & VS_RECORD_KIND;
        if (unlikely(kind == VS_RECORD_ECALL))
            continue; /* it counts when the call ends */
        since += kind != VS_RECORD_AMO_STORE;
        retired += kind != VS_RECORD_AMO_STORE;
        if (kind != VS_RECORD_PLAIN || o->every)
            place_record(e, &to, r, t, &since, cycles ? cycles[i] : 0);
    }
    keep_place(e, core, &to);
    s->since = since;
    e->instructions += retired;
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
    /* So the consumer gets each block at the same place among parcels in every run. */
    int drained = vs_relay_drain(e->relay);
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
