/* SPDX-License-Identifier: MIT */
/* What is recorded of a simulation, and when: records of cores and effects of the process become
 * events, while recording is on. */
#include <stdlib.h>

#include "base/diag.h"
#include "target/machine_state.h"
#include "vestige/mark.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* Tells an error of the consumer from one of the events themselves. */
static int event_error(struct vs_machine *m, int err)
{
    if (err == 0 || err == -VSE_NOMEM)
        return err;
    if (err == -VSE_LIMIT)
        return vs_diag_set(m->diag, err, -1, -1,
                           "more threads, or code in more places, than a run can have");
    m->theirs = true;
    return err;
}

/* Turns the core's records so far into events. */
static int emit(struct vs_machine *m, struct vs_core *c)
{
    size_t from = c->emitted, count = c->past.log.count - from;
    if (m->config.timed)
        vs_past_settle(&c->past);
    c->emitted = c->past.log.count;
    return event_error(m,
                       vs_events_records(&m->events, c->task, vs_machine_core_number(m, c),
                                         c->past.log.records + from,
                                         m->config.timed ? c->past.commits + from : NULL, count));
}

static void clear_log(struct vs_core *c)
{
    vs_past_clear(&c->past);
    c->emitted = 0;
}

int vs_machine_flush(struct vs_machine *m, struct vs_core *c)
{
    int err = m->recorded && m->events.on && c->past.log.count ? emit(m, c) : 0;
    clear_log(c);
    return err;
}

int vs_machine_flush_all(struct vs_machine *m)
{
    int err = 0;
    for (unsigned i = 0; i < m->core_count && !err; i++)
        err = vs_machine_flush(m, &m->cores[i]);
    return err;
}

/* Returns a task's queue, and sets *cycle to that of an event added to it now. */
static unsigned queue_of(struct vs_machine *m, const struct vs_task *t, uint64_t *cycle)
{
    int core = vs_machine_place_of(m, t)->core;
    if (core < 0) {
        *cycle = vs_machine_nobody_at(m, vs_machine_present(m));
        return VS_NOBODY(&m->events);
    }
    *cycle = m->config.timed ? m->cores[core].past.pipeline.last : 0;
    return (unsigned)core;
}

/* Changed code has changed for all threads, which may be ahead in the code as it was. So all cores
 * wait for the one that is farthest ahead; *cycle becomes when the code changes, which is after
 * every event so far. Events of the same cycle are in the order of cores, whichever came first, so
 * the others go on a cycle later. */
static int let_others_come(struct vs_machine *m, struct vs_core *c, uint64_t *cycle)
{
    int err = 0;
    for (unsigned i = 0; i < m->core_count && !err; i++)
        if (&m->cores[i] != c && m->cores[i].task)
            err = vs_machine_flush(m, &m->cores[i]);
    for (size_t i = 0; i < m->p->task_count && !err; i++) {
        const struct vs_task *t = m->p->tasks[i];
        uint64_t at;
        if (t->state == VS_TASK_ENDED)
            continue;
        unsigned queue = queue_of(m, t, &at);
        err = event_error(m, vs_events_count(&m->events, t, queue, at));
        *cycle = vs_later(*cycle, at + 1);
    }
    if (!m->config.timed || err)
        return err;
    *cycle = vs_later(*cycle, vs_events_latest(&m->events) + 1);
    vs_pipeline_restart(&c->past.pipeline, *cycle);
    m->disturbed = true;
    for (unsigned i = 0; i < m->core_count; i++) {
        struct vs_core *other = &m->cores[i];
        if (!other->task || other == c)
            continue;
        vs_pipeline_restart(&other->past.pipeline, *cycle + 1);
        other->clock = vs_later(other->clock, *cycle + 1);
    }
    return 0;
}

/* Hands new code to the recorder at its place among the events. */
static int decoded(void *context, struct vs_cpu *cpu, uint64_t addr, unsigned size, unsigned insns)
{
    struct vs_machine *m = context;
    uint8_t bytes[VS_CPU_DECODED_MAX];
    struct vs_block code = {.addr = addr, .bytes = bytes, .size = size, .insns = insns};
    (void)cpu;
    if (vs_ram_get(&m->p->memory, addr, bytes, size))
        return -VSE_INTERNAL;
    if (!m->running)
        return 0;
    struct vs_core *c = m->running;
    int err = m->events.on ? emit(m, c) : 0;
    uint64_t cycle = m->config.timed ? c->past.pipeline.last : 0;
    /* Written code counts as changed even if it is new or the same as before: whoever replays the
     * run has to know when it was written. */
    bool changed = vs_ram_take_written(&m->p->memory, code.addr, size) ||
                   vs_events_changes_code(&m->events, &code);
    if (!err && changed)
        err = let_others_come(m, c, &cycle);
    return err ? err
               : event_error(m, vs_events_code(&m->events, c->task, &code, changed,
                                               vs_machine_core_number(m, c), cycle));
}

/* ---- on and off ------------------------------------------------------------------------------ */

int vs_machine_switch(struct vs_machine *m, bool on)
{
    if (!m->recorded || m->events.on == on)
        return 0;
    int err = vs_machine_flush_all(m);
    m->events.on = on;
    for (size_t i = 0; i < m->p->task_count && !on && !err; i++) {
        const struct vs_task *t = m->p->tasks[i];
        uint64_t cycle;
        if (t->state == VS_TASK_ENDED)
            continue;
        unsigned queue = queue_of(m, t, &cycle);
        err = vs_events_leave(&m->events, t, queue, cycle);
    }
    return event_error(m, err);
}

int vs_machine_pass_edge(struct vs_machine *m)
{
    const struct vs_machine_options *o = m->o;
    const struct vs_window *w = &o->windows[m->window];
    int err = 0;
    while (!err && m->total == m->edge) {
        if (!m->events.on) {
            err = vs_machine_switch(m, true);
            m->edge = w->length ? w->start + w->length : UINT64_MAX;
        } else {
            err = vs_machine_switch(m, false);
            w = &o->windows[++m->window];
            m->edge = m->window < o->window_count ? w->start : UINT64_MAX;
        }
    }
    return err;
}

int vs_machine_reach_mark(struct vs_machine *m, uint64_t number)
{
    if (number == (VESTIGE_MARK_START & 0xfffff) && m->room)
        return vs_machine_switch(m, true);
    if (number == (VESTIGE_MARK_STOP & 0xfffff))
        return vs_machine_switch(m, false);
    return 0;
}

static uint64_t address_of(const struct vs_machine *m, const struct vs_machine_place *place)
{
    return place->addr + (place->link ? m->p->image.base : 0);
}

int vs_machine_reach_place(struct vs_machine *m, struct vs_task *t)
{
    int err = 0;
    for (size_t i = 0; i < m->o->place_count && !err; i++)
        if (address_of(m, &m->o->places[i]) == t->cpu->pc)
            err = vs_machine_switch(m, m->o->places[i].kind == VS_PLACE_FROM && m->room);
    t->cpu->passing = t->cpu->pc;
    return err;
}

/* ---- while the platform runs ----------------------------------------------------------------- */

int vs_machine_begin_run(struct vs_machine *m, struct vs_core *c)
{
    if (!m->recorded || !m->events.on)
        return 0;
    return event_error(
        m, vs_events_resume(&m->events, c->task, vs_machine_core_number(m, c), c->clock));
}

/* An effect on a task that runs on another core, which may be ahead, comes after what that core
 * did. */
int vs_machine_note_effect(struct vs_machine *m, const struct vs_effect *effect, unsigned core,
                           uint64_t cycle)
{
    int other = vs_machine_place_of(m, effect->task)->core;
    if (m->config.timed && other >= 0 && (unsigned)other != core) {
        struct vs_core *c = &m->cores[other];
        int err = vs_machine_flush(m, c);
        if (err)
            return err;
        core = (unsigned)other;
        cycle = vs_later(cycle, c->past.pipeline.last);
    }
    return event_error(m, vs_events_effect(&m->events, m->p, effect, core, cycle));
}

/* In a timed run, events before the first core's time are complete if no ready task can still get a
 * core before then. */
int vs_machine_hand_on(struct vs_machine *m, const struct vs_core *first)
{
    int err = vs_machine_flush_all(m);
    return err ? err
               : event_error(m, vs_events_advance(&m->events, first->clock,
                                                  vs_machine_core_number(m, first)));
}

/* ---- the ends -------------------------------------------------------------------------------- */

/* Threads that are alive when the simulation ends, end with it. */
static int end_threads(struct vs_machine *m)
{
    int err = 0;
    for (size_t i = 0; i < m->p->task_count && !err; i++) {
        struct vs_task *t = m->p->tasks[i];
        struct vs_effect effect = {.kind = VS_EFFECT_ENDED, .task = t};
        uint64_t cycle;
        if (t->state == VS_TASK_ENDED)
            continue;
        unsigned queue = queue_of(m, t, &cycle);
        err = event_error(m, vs_events_effect(&m->events, m->p, &effect, queue, cycle));
    }
    return err;
}

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int set_breaks(struct vs_machine *m)
{
    const struct vs_machine_options *o = m->o;
    m->p->code->marks = o->marks && o->consumer;
    if (!o->place_count || !o->consumer)
        return 0;
    m->breaks = calloc(o->place_count, sizeof(*m->breaks));
    if (!m->breaks)
        return -VSE_NOMEM;
    for (size_t i = 0; i < o->place_count; i++)
        m->breaks[i] = address_of(m, &o->places[i]);
    qsort(m->breaks, o->place_count, sizeof(*m->breaks), compare_addresses);
    m->p->code->breaks = m->breaks;
    m->p->code->break_count = o->place_count;
    return 0;
}

static void begin_recording(struct vs_machine *m)
{
    const struct vs_machine_options *o = m->o;
    m->edge = m->room = UINT64_MAX;
    if (o->marks || o->place_count) {
        bool starts = o->marks;
        for (size_t i = 0; i < o->place_count; i++)
            starts |= o->places[i].kind == VS_PLACE_FROM;
        m->events.on = !starts;
        if (o->window_count && o->windows[0].length)
            m->room = o->windows[0].length;
    } else if (o->window_count) {
        m->events.on = false;
        m->edge = o->windows[0].start;
    }
}

int vs_machine_open_recording(struct vs_machine *m)
{
    const struct vs_machine_options *o = m->o;
    struct vs_events_options options = {.isa = m->p->isa,
                                        .consumer = o->consumer,
                                        .cores = m->core_count,
                                        .timed = m->config.timed,
                                        .loads = o->loads,
                                        .stores = o->stores,
                                        .every = o->every};
    m->events.options.cores = m->core_count;
    m->edge = m->room = UINT64_MAX;
    m->recorded = o->consumer != NULL;
    if (!m->recorded)
        return 0;
    int err = vs_events_open(&m->events, &options);
    if (err)
        return err;
    m->p->code->decoded = decoded;
    m->p->code->context = m;
    begin_recording(m);
    return set_breaks(m);
}

int vs_machine_end_recording(struct vs_machine *m)
{
    int err = end_threads(m);
    return err ? err : event_error(m, vs_events_finish(&m->events));
}
