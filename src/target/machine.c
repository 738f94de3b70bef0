/* SPDX-License-Identifier: MIT */
#include "target/machine.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xmmintrin.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/likely.h"
#include "base/random.h"
#include "target/events.h"
#include "target/timed.h"
#include "vestige/mark.h"

/* A core's run ends after so many instructions at the latest, so that neither timers nor the user
 * are kept waiting. */
#define RUN_MOST 20000

/* How many of a core's records are kept before they become events: few enough for the host's
 * caches. */
#define LOG_SIZE 4096
_Static_assert(LOG_SIZE >= 2 * VS_CPU_LOG_MIN, "a half-empty log takes any block");

#define TICK_EVERY  (1 << 20) /* instructions */
#define TICK_STEPS  (1 << 16) /* or so many turns of the loop, whatever they do */
#define RETRY_EVERY 100000    /* cycles: how often files of the host are tried again */

/* What a task is to the machine, by its slot. */
struct place {
    int core;       /* the one it is on, or -1 */
    int last_core;  /* the one it was on last */
    uint64_t since; /* cycle since which it has been ready */
    uint64_t turn;  /* its place in the queue for a core; 0: it is not in it */
};

struct core {
    struct vs_task *task; /* NULL: idle */
    uint64_t clock;       /* the cycle before which it does nothing more */
    uint64_t began;       /* when the task's slice began */
    uint64_t started;     /* when the core was last given a task */
    int stop;             /* a VS_STOP_x to deal with when its time has come, or -1 */
    uint64_t instructions, cycles;
    struct vs_past past;
    size_t emitted; /* records that became events */
};

struct machine {
    const struct vs_machine_options *o;
    struct vs_target_config config;
    struct vs_process *p;
    struct vs_events events;
    bool recorded; /* there is a consumer */

    struct core *cores;
    unsigned core_count;
    struct place *places;
    size_t place_count, place_capacity;
    uint64_t turns; /* how many were given out */
    size_t waiting; /* ready tasks without a core */

    struct vs_timed timed; /* in a timed run */

    struct vs_line line;  /* the busy cores, while they take turns */
    bool disturbed;       /* their moments have changed */
    struct core *running; /* the core whose run is under way, or NULL */

    uint64_t total;   /* instructions of all cores */
    uint64_t edge;    /* value of `total` at which recording is switched, or UINT64_MAX */
    size_t window;    /* the one that is next or under way */
    uint64_t *breaks; /* the addresses of the user's places */
    uint64_t room;    /* with marks or places: instructions that may still be recorded */
    uint64_t due;     /* cycle at which the process wants to be told the time */
    bool waits;       /* some task waits for a file of the host */
    bool tried;       /* that file has been looked at since all cores became idle */
    uint64_t steps;   /* turns of the loop */
    uint64_t nobody;  /* cycle of the last event that no core made */
    uint64_t next_tick, next_retry;
    uint64_t random; /* state */
    bool stopped;    /* no more is recorded */
    uint32_t passed; /* the user's signals that the program got; bit N is signal N */
    bool killed;     /* the user insisted on an end */
    struct vs_machine_halt halt;

    struct vs_diag *diag;
    bool theirs;
};

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t to_ns(const struct machine *m, uint64_t cycle)
{
    return (uint64_t)((unsigned __int128)cycle * 1000 / m->config.frequency);
}

static uint64_t to_cycle(const struct machine *m, uint64_t ns)
{
    if (ns == UINT64_MAX)
        return UINT64_MAX;
    unsigned __int128 c = ((unsigned __int128)ns * m->config.frequency + 999) / 1000;
    return c > UINT64_MAX - 1 ? UINT64_MAX - 1 : (uint64_t)c;
}

static unsigned number_of(const struct machine *m, const struct core *c)
{
    return (unsigned)(c - m->cores);
}

static void set_now(struct machine *m, uint64_t cycle)
{
    uint64_t ns = to_ns(m, cycle);
    if (m->p->now < ns)
        m->p->now = ns;
}

/* ---- recording ------------------------------------------------------------------------------- */

/* Tells an error of the consumer from one of the events themselves. */
static int event_error(struct machine *m, int err)
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
static int emit(struct machine *m, struct core *c)
{
    size_t from = c->emitted, count = c->past.log.count - from;
    if (m->config.timed)
        vs_past_settle(&c->past);
    c->emitted = c->past.log.count;
    return event_error(
        m, vs_events_records(&m->events, c->task, number_of(m, c), c->past.log.records + from,
                             m->config.timed ? c->past.commits + from : NULL, count));
}

static void clear_log(struct core *c)
{
    vs_past_clear(&c->past);
    c->emitted = 0;
}

/* Does the same between runs, and empties the log. */
static int flush(struct machine *m, struct core *c)
{
    int err = m->recorded && m->events.on && c->past.log.count ? emit(m, c) : 0;
    clear_log(c);
    return err;
}

static int flush_all(struct machine *m)
{
    int err = 0;
    for (unsigned i = 0; i < m->core_count && !err; i++)
        err = flush(m, &m->cores[i]);
    return err;
}

static struct place *place_of(struct machine *m, const struct vs_task *t)
{
    return &m->places[t->cpu->id];
}

/* Puts the busy cores in line, and returns the first, or NULL. */
static struct core *first_core(struct machine *m)
{
    m->line.count = m->core_count;
    for (unsigned i = 0; i < m->core_count; i++)
        m->line.cycles[i] = m->cores[i].task ? m->cores[i].clock : VS_NOT_IN_LINE;
    struct vs_moment first = vs_line_first(&m->line);
    return first.cycle != VS_NOT_IN_LINE ? &m->cores[first.core] : NULL;
}

/* The time of events that no core makes must not go back. */
static uint64_t nobody_at(struct machine *m, uint64_t cycle)
{
    if (m->nobody < cycle)
        m->nobody = cycle;
    return m->nobody;
}

/* Returns the cycle that it is now: the first core's, or, if all are idle, that in which the last
 * went idle. */
static uint64_t present(struct machine *m)
{
    uint64_t first = UINT64_MAX, last = to_cycle(m, m->p->now);
    for (unsigned i = 0; i < m->core_count; i++) {
        last = vs_later(last, m->cores[i].clock);
        if (m->cores[i].task && m->cores[i].clock < first)
            first = m->cores[i].clock;
    }
    return first != UINT64_MAX ? first : last;
}

/* Returns a task's queue, and sets *cycle to that of an event added to it now. */
static unsigned queue_of(struct machine *m, const struct vs_task *t, uint64_t *cycle)
{
    int core = place_of(m, t)->core;
    if (core < 0) {
        *cycle = nobody_at(m, present(m));
        return VS_NOBODY(&m->events);
    }
    *cycle = m->config.timed ? m->cores[core].past.pipeline.last : 0;
    return (unsigned)core;
}

/* Changed code has changed for all threads, which may be ahead in the code as it was. So all cores
 * wait for the one that is farthest ahead; *cycle becomes when the code changes, which is after
 * every event so far. Events of the same cycle are in the order of cores, whichever came first, so
 * the others go on a cycle later. */
static int let_others_come(struct machine *m, struct core *c, uint64_t *cycle)
{
    int err = 0;
    for (unsigned i = 0; i < m->core_count && !err; i++)
        if (&m->cores[i] != c && m->cores[i].task)
            err = flush(m, &m->cores[i]);
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
        struct core *other = &m->cores[i];
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
    struct machine *m = context;
    uint8_t bytes[VS_CPU_DECODED_MAX];
    struct vs_block code = {.addr = addr, .bytes = bytes, .size = size, .insns = insns};
    (void)cpu;
    if (vs_ram_get(&m->p->memory, addr, bytes, size))
        return -VSE_INTERNAL;
    if (!m->running)
        return 0;
    struct core *c = m->running;
    int err = m->events.on ? emit(m, c) : 0;
    uint64_t cycle = m->config.timed ? c->past.pipeline.last : 0;
    /* Written code counts as changed even if it is new or the same as before: whoever replays the
     * run has to know when it was written. */
    bool changed = vs_ram_take_written(&m->p->memory, code.addr, size) ||
                   vs_events_changes_code(&m->events, &code);
    if (!err && changed)
        err = let_others_come(m, c, &cycle);
    return err ? err
               : event_error(m, vs_events_code(&m->events, c->task, &code, changed, number_of(m, c),
                                               cycle));
}

static int switch_recording(struct machine *m, bool on)
{
    if (!m->recorded || m->events.on == on)
        return 0;
    int err = flush_all(m);
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

/* Windows are stretches of `total`. */
static int pass_edge(struct machine *m)
{
    const struct vs_machine_options *o = m->o;
    const struct vs_window *w = &o->windows[m->window];
    int err = 0;
    while (!err && m->total == m->edge) {
        if (!m->events.on) {
            err = switch_recording(m, true);
            m->edge = w->length ? w->start + w->length : UINT64_MAX;
        } else {
            err = switch_recording(m, false);
            w = &o->windows[++m->window];
            m->edge = m->window < o->window_count ? w->start : UINT64_MAX;
        }
    }
    return err;
}

static bool has_places(const struct machine *m)
{
    return m->o->marks || m->o->place_count;
}

static void begin_recording(struct machine *m)
{
    const struct vs_machine_options *o = m->o;
    m->edge = m->room = UINT64_MAX;
    if (has_places(m)) {
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

static int reach_mark(struct machine *m, uint64_t number)
{
    if (number == (VESTIGE_MARK_START & 0xfffff) && m->room)
        return switch_recording(m, true);
    if (number == (VESTIGE_MARK_STOP & 0xfffff))
        return switch_recording(m, false);
    return 0;
}

static uint64_t address_of(const struct machine *m, const struct vs_machine_place *place)
{
    return place->addr + (place->link ? m->p->image.base : 0);
}

static int reach_place(struct machine *m, struct vs_task *t)
{
    int err = 0;
    for (size_t i = 0; i < m->o->place_count && !err; i++)
        if (address_of(m, &m->o->places[i]) == t->cpu->pc)
            err = switch_recording(m, m->o->places[i].kind == VS_PLACE_FROM && m->room);
    t->cpu->passing = t->cpu->pc;
    return err;
}

/* ---- what the process did -------------------------------------------------------------------- */

static int know_places(struct machine *m)
{
    int err = vs_array_room((void **)&m->places, &m->place_capacity, m->place_count,
                            m->p->task_count - m->place_count, sizeof(*m->places));
    while (!err && m->place_count < m->p->task_count)
        m->places[m->place_count++] = (struct place){.core = -1, .last_core = -1};
    return err;
}

static bool is_outside(const struct vs_effect *effect)
{
    return effect->kind == VS_EFFECT_WROTE || effect->kind == VS_EFFECT_MAPPED ||
           effect->kind == VS_EFFECT_UNMAPPED;
}

static void leave_core(struct machine *m, struct vs_task *t, uint64_t cycle)
{
    struct place *at = place_of(m, t);
    if (at->core < 0)
        return;
    struct core *c = &m->cores[at->core];
    if (c->clock < cycle)
        c->clock = cycle;
    c->cycles += c->clock - c->started;
    c->task = NULL;
    c->stop = -1;
    at->last_core = at->core;
    at->core = -1;
    vs_ram_break(&m->p->memory, t->cpu);
}

/* An effect on a task that runs on another core, which may be ahead, comes after what that core
 * did. */
static int note_effect(struct machine *m, const struct vs_effect *effect, unsigned core,
                       uint64_t cycle)
{
    int other = place_of(m, effect->task)->core;
    if (m->config.timed && other >= 0 && (unsigned)other != core) {
        struct core *c = &m->cores[other];
        int err = flush(m, c);
        if (err)
            return err;
        core = (unsigned)other;
        cycle = vs_later(cycle, c->past.pipeline.last);
    }
    return event_error(m, vs_events_effect(&m->events, m->p, effect, core, cycle));
}

/* Takes note of all effects, which happened at that cycle on the core, or on none. */
static int apply_effects(struct machine *m, unsigned core, uint64_t cycle)
{
    int err = know_places(m);
    for (size_t i = 0; i < m->p->effect_count && !err; i++) {
        const struct vs_effect *effect = &m->p->effects[i];
        if (m->config.timed && is_outside(effect))
            err = vs_hierarchy_outside(&m->timed.caches, effect->addr, effect->size);
        if (m->recorded && !err)
            err = note_effect(m, effect, core, cycle);
    }
    m->p->effect_count = 0;
    return err;
}

/* Tasks that are ready and have no core get in line; those that cannot run leave their core. */
static void sort_tasks(struct machine *m, uint64_t cycle)
{
    m->waiting = 0;
    for (size_t i = 0; i < m->p->task_count; i++) {
        struct vs_task *t = m->p->tasks[i];
        struct place *at = &m->places[i];
        if (t->state != VS_TASK_READY) {
            leave_core(m, t, cycle);
            at->turn = 0;
        } else if (at->core < 0) {
            if (!at->turn) {
                at->turn = ++m->turns;
                at->since = cycle;
            }
            m->waiting++;
        }
    }
}

/* Notes where the simulation stops: at the task's instruction at pc, or in its call if pc is
 * there. */
static void note_halt(struct machine *m, const struct vs_task *t, uint64_t pc)
{
    m->halt = (struct vs_machine_halt){.thread = t->number,
                                       .core = place_of(m, t)->core,
                                       .pc = pc,
                                       .in_call = pc == t->call.pc,
                                       .call = t->call.number,
                                       .addr = m->p->full_addr};
}

/* Notes the same if the process itself touched too much: at the call of the task that it wrote
 * for. */
static void note_full(struct machine *m)
{
    for (size_t i = 0; i < m->p->effect_count; i++) {
        const struct vs_effect *e = &m->p->effects[i];
        if (e->kind == VS_EFFECT_WROTE && m->p->full_addr - e->addr < e->size)
            note_halt(m, e->task, e->task->call.pc);
    }
}

/* To be called after each call to the process. */
static int follow_process(struct machine *m, unsigned core, uint64_t cycle)
{
    int err = apply_effects(m, core, cycle);
    if (err)
        return err;
    sort_tasks(m, cycle);
    vs_timed_forget(&m->timed);
    m->waits = vs_process_waits(m->p);
    m->due = to_cycle(m, vs_process_deadline(m->p));
    if (m->waits && m->next_retry < m->due)
        m->due = m->next_retry;
    return 0;
}

/* ---- scheduling ------------------------------------------------------------------------------ */

static struct core *idle_core(struct machine *m, const struct place *at)
{
    if (at->last_core >= 0 && !m->cores[at->last_core].task)
        return &m->cores[at->last_core];
    for (unsigned i = 0; i < m->core_count; i++)
        if (!m->cores[i].task)
            return &m->cores[i];
    return NULL;
}

static struct vs_task *first_in_line(struct machine *m)
{
    struct vs_task *first = NULL;
    uint64_t turn = UINT64_MAX;
    for (size_t i = 0; i < m->p->task_count; i++)
        if (m->places[i].turn && m->places[i].core < 0 && m->places[i].turn < turn) {
            first = m->p->tasks[i];
            turn = m->places[i].turn;
        }
    return first;
}

static void enter_core(struct machine *m, struct core *c, struct vs_task *t)
{
    struct place *at = place_of(m, t);
    if (c->clock <= at->since)
        c->clock = at->since + 1;
    c->task = t;
    c->began = c->started = c->clock;
    c->stop = -1;
    at->core = (int)number_of(m, c);
    at->turn = 0;
    m->waiting--;
    if (m->config.timed)
        vs_pipeline_restart(&c->past.pipeline, c->clock);
}

static void fill_cores(struct machine *m)
{
    while (m->waiting) {
        struct vs_task *t = first_in_line(m);
        struct core *c = idle_core(m, place_of(m, t));
        if (!c)
            return;
        enter_core(m, c, t);
    }
}

/* The thread has had its slice, and another waits. */
static int end_slice(struct machine *m, struct core *c)
{
    struct vs_task *t = c->task;
    int err = flush(m, c);
    leave_core(m, t, c->clock);
    place_of(m, t)->turn = ++m->turns;
    place_of(m, t)->since = c->clock;
    m->waiting++;
    return err;
}

/* ---- running --------------------------------------------------------------------------------- */

static unsigned busy_cores(const struct machine *m)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < m->core_count; i++)
        busy += m->cores[i].task != NULL;
    return busy;
}

/* Returns how many instructions the core's turn has in an untimed run. */
static uint64_t turn_length(struct machine *m, const struct core *c)
{
    uint64_t most = RUN_MOST, quantum = m->config.quantum;
    if (busy_cores(m) > 1) {
        if (m->config.seed)
            quantum = 1 + vs_random(&m->random) % (2 * quantum);
        most = quantum < most ? quantum : most;
    }
    return m->due - c->clock < most ? m->due - c->clock : most;
}

static uint64_t run_length(struct machine *m, const struct core *c)
{
    uint64_t most = m->config.timed ? RUN_MOST : turn_length(m, c);
    if (m->edge != UINT64_MAX && m->edge - m->total < most)
        most = m->edge - m->total;
    if (m->recorded && m->events.on && m->room < most)
        most = m->room;
    return most;
}

static int run_cpu(struct machine *m, struct core *c, uint64_t most)
{
    struct vs_cpu *cpu = c->task->cpu;
    bool observed = m->config.timed || (m->recorded && m->events.on);
    m->running = c;
    m->timed.past = &c->past;
    m->timed.core = number_of(m, c);
    cpu->memory = m->config.timed ? &m->timed.seen : &m->p->memory.seen;
    int stop = observed ? vs_cpu_run_observed(cpu, most, &c->past.log) : vs_cpu_run(cpu, most);
    if (m->config.timed)
        vs_past_settle(&c->past);
    return c->past.pipeline.error ? c->past.pipeline.error : stop;
}

/* Lets the core run until the horizon, a stop, or as long as it may. */
static int run_core(struct machine *m, struct core *c)
{
    const struct vs_cpu *cpu = c->task->cpu;
    uint64_t before = cpu->retired;
    int err = 0;
    if (m->recorded && m->events.on)
        err = event_error(m, vs_events_resume(&m->events, c->task, number_of(m, c), c->clock));
    if (err)
        return err;
    int stop = run_cpu(m, c, run_length(m, c));
    uint64_t retired = cpu->retired - before;
    c->instructions += retired;
    m->total += retired;
    if (m->recorded && m->events.on) {
        if (m->room != UINT64_MAX)
            m->room -= retired;
    } else if (m->recorded) {
        /* A system call counts when it ends. */
        vs_events_unseen(&m->events, c->task, retired - (stop == VS_STOP_CALL));
    }
    m->running = NULL;
    /* Untimed, the order of events is that of runs; timed, it is that of cycles. */
    if (!m->config.timed || !m->recorded || c->past.log.count > LOG_SIZE / 2)
        err = flush(m, c);
    if (!m->config.timed)
        c->clock += retired;
    else
        c->clock = stop == VS_NOT_YET ? c->past.next : c->past.pipeline.issue.slots.cycle;
    if (stop < 0 && stop != VS_NOT_YET)
        return stop;
    c->stop = stop == VS_NOT_YET || stop == VS_STOP_LIMIT || stop == VS_STOP_LOG ? -1 : stop;
    return err;
}

/* Deals with what made the core stop, now that its time has come. */
static int deal_with_stop(struct machine *m, struct core *c)
{
    struct vs_task *t = c->task;
    unsigned core = number_of(m, c);
    uint64_t cycle = c->clock, pc = t->cpu->pc;
    int stop = c->stop, err = flush(m, c);
    if (err)
        return err;
    set_now(m, cycle);
    c->stop = -1;
    switch (stop) {
    case VS_STOP_MARK:
        return reach_mark(m, t->cpu->fault);
    case VS_STOP_BREAK:
        return reach_place(m, t);
    case VS_STOP_CALL:
        err = vs_process_call(m->p, t);
        pc = t->call.pc;
        c->clock += m->config.timed ? m->config.system : 1;
        break;
    default:
        err = vs_process_fault(m->p, t, stop);
        break;
    }
    if (m->p->full)
        note_halt(m, t, pc);
    if (m->config.timed)
        vs_pipeline_restart(&c->past.pipeline, c->clock);
    return err ? err : follow_process(m, core, cycle);
}

static int attend(struct machine *m, struct core *c)
{
    uint64_t cycle = c->clock, pc = c->task->cpu->pc;
    int err = flush(m, c);
    if (err)
        return err;
    set_now(m, cycle);
    err = vs_process_attend(m->p, c->task);
    if (m->p->full)
        note_halt(m, c->task, pc);
    c->clock += m->config.timed ? m->config.system : 1;
    if (m->config.timed)
        vs_pipeline_restart(&c->past.pipeline, c->clock);
    return err ? err : follow_process(m, number_of(m, c), cycle);
}

/* Time has come to the cycle: timers expire, and files of the host are tried again. */
static int advance(struct machine *m, uint64_t cycle)
{
    set_now(m, cycle);
    m->next_retry = cycle + RETRY_EVERY;
    int err = vs_process_advance(m->p);
    if (m->p->full)
        note_full(m);
    return err ? err : follow_process(m, VS_NOBODY(&m->events), nobody_at(m, cycle));
}

/* ---- the user -------------------------------------------------------------------------------- */

static void fill_stats(const struct machine *m, struct vs_machine_stats *s)
{
    *s = (struct vs_machine_stats){.instructions = m->total,
                                   .recorded = m->events.instructions,
                                   .skipped = m->events.skipped,
                                   .events = m->events.count,
                                   .threads = m->p->started,
                                   .cores = m->core_count};
    for (unsigned i = 0; i < m->core_count; i++) {
        const struct core *c = &m->cores[i];
        struct vs_machine_core *to = &s->core[i];
        if (s->cycles < c->clock)
            s->cycles = c->clock;
        to->instructions = c->instructions;
        to->cycles = c->cycles + (c->task ? c->clock - c->started : 0);
        to->branches = c->past.pipeline.stats;
        if (m->config.timed)
            to->caches = m->timed.caches.stats[i];
    }
}

/* The user's signals go to the program, which does with them what it likes, unless the user
 * insists. */
static int heed_user(struct machine *m, bool *enough)
{
    struct vs_interrupt *user = m->o->interrupt;
    int err = 0;
    if (likely(!vs_interrupted(user)))
        return 0;
    uint32_t signals = atomic_exchange(&user->alone, 0) | atomic_exchange(&user->shared, 0);
    uint64_t cycle = present(m);
    m->passed |= signals;
    set_now(m, cycle);
    for (int n = 1; n < 32 && !err && !m->p->ended; n++)
        if (signals >> n & 1 && !(err = vs_process_signal(m->p, n)))
            err = follow_process(m, VS_NOBODY(&m->events), nobody_at(m, cycle));
    *enough = m->killed = user->insists;
    return err;
}

static int tick(struct machine *m, bool *enough)
{
    struct vs_machine_stats stats;
    m->next_tick = m->total + TICK_EVERY;
    if (m->o->tick) {
        fill_stats(m, &stats);
        bool stop = m->o->tick(m->o->context, &stats);
        _mm_setcsr(VS_CPU_STATUS); /* tick may have used floating point */
        if (stop && !m->stopped) {
            m->stopped = true;
            m->edge = UINT64_MAX;
            m->room = 0;
            int err = switch_recording(m, false);
            if (err)
                return err;
        }
    }
    return heed_user(m, enough);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* No thread can run: time passes, or the host has to do something. Time does not wait for the
 * host. */
static int idle(struct machine *m, enum vs_machine_end *end, bool *enough)
{
    uint64_t now = present(m), deadline = vs_process_deadline(m->p);
    if (m->waits && !m->tried) {
        m->tried = true;
        return advance(m, now);
    }
    m->tried = false;
    if (deadline != UINT64_MAX)
        return advance(m, vs_later(now, to_cycle(m, deadline)));
    if (m->waits) {
        int err = vs_process_wait(m->p);
        return err ? err : heed_user(m, enough);
    }
    for (size_t i = m->p->task_count; i-- > 0;)
        if (m->p->tasks[i]->state == VS_TASK_BLOCKED)
            note_halt(m, m->p->tasks[i], m->p->tasks[i]->call.pc);
    *end = VS_END_DEADLOCK;
    *enough = true;
    return 0;
}

/* Returns whether something has to be looked at before a core goes on. */
static bool is_held(const struct machine *m, const struct core *c)
{
    return c->clock >= m->due || c->stop >= 0 || c->task->attention ||
           (m->waiting && c->clock - c->began >= m->config.slice);
}

/* Deals with what holds the core. */
static int release(struct machine *m, struct core *c)
{
    if (c->clock >= m->due)
        return advance(m, c->clock);
    if (c->stop >= 0)
        return deal_with_stop(m, c);
    return c->task->attention ? attend(m, c) : end_slice(m, c);
}

static bool is_tick_due(const struct machine *m)
{
    return m->total >= m->next_tick || m->steps % TICK_STEPS == 0;
}

static bool has_many_events(const struct machine *m)
{
    return m->config.timed && m->recorded && vs_events_many(&m->events);
}

/* Returns whether only the next core's turn is to come. */
static bool goes_on(const struct machine *m)
{
    return !m->disturbed && m->total != m->edge && m->room && !is_tick_due(m) &&
           !has_many_events(m);
}

/* Returns the first in line, whose accesses are due until the next core's moment, or until time
 * wants to be told. */
static struct core *next_core(struct machine *m)
{
    struct vs_moment next;
    struct vs_moment first = vs_line_two(&m->line, &next);
    bool bounded = next.cycle >= m->due;
    m->timed.horizon.cycle = bounded ? m->due : next.cycle;
    m->timed.horizon.core = bounded ? 0 : next.core;
    return &m->cores[first.core];
}

/* Lets cores run, each time the first in line, until something else has to be done. */
static int take_turns(struct machine *m)
{
    struct core *c = next_core(m);
    m->disturbed = false;
    for (;; m->steps++) {
        int err = run_core(m, c);
        if (err || !goes_on(m))
            return err;
        m->line.cycles[number_of(m, c)] = c->clock;
        c = next_core(m);
        if (is_held(m, c))
            return 0;
    }
}

static int step(struct machine *m, enum vs_machine_end *end, bool *enough)
{
    struct core *c = first_core(m);
    if (!c)
        return idle(m, end, enough);
    return is_held(m, c) ? release(m, c) : take_turns(m);
}

/* In a timed run, events before the first core's time are complete if no ready task can still get a
 * core before then. */
static int hand_on(struct machine *m)
{
    const struct core *c = first_core(m);
    int err = c ? flush_all(m) : 0;
    return err || !c ? err
                     : event_error(m, vs_events_advance(&m->events, c->clock, number_of(m, c)));
}

static int run(struct machine *m, enum vs_machine_end *end)
{
    bool enough = false;
    int err = pass_edge(m);
    while (!err && !m->p->ended && !m->p->full && !enough) {
        fill_cores(m);
        if (has_many_events(m))
            err = hand_on(m);
        m->steps++;
        if (!err)
            err = step(m, end, &enough);
        if (!err && m->total == m->edge)
            err = pass_edge(m);
        if (!err && !m->room)
            err = switch_recording(m, false);
        if (!err && is_tick_due(m))
            err = tick(m, &enough);
    }
    if (m->p->full && !m->p->ended)
        *end = VS_END_MEMORY;
    else if (enough && *end == VS_END_EXIT)
        *end = VS_END_INTERRUPTED;
    return err;
}

/* Threads that are alive when the simulation ends, end with it. */
static int end_threads(struct machine *m)
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

/* ---- opening and closing --------------------------------------------------------------------- */

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int set_breaks(struct machine *m)
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

static int open_recording(struct machine *m)
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
    return 0;
}

static int open_cores(struct machine *m)
{
    struct vs_timed *timed = m->config.timed ? &m->timed : NULL;
    int err = timed ? vs_timed_init(timed, &m->config, &m->p->memory, m->diag) : 0;
    m->cores = calloc(m->config.cores, sizeof(*m->cores));
    if (err || !m->cores)
        return err ? err : -VSE_NOMEM;
    m->core_count = (unsigned)m->config.cores;
    for (unsigned i = 0; i < m->core_count && !err; i++) {
        m->cores[i].stop = -1;
        err = vs_past_init(&m->cores[i].past, timed, i, LOG_SIZE);
    }
    return err;
}

static int open_process(struct machine *m)
{
    struct vs_process_options options = m->o->process;
    options.seed = m->config.seed;
    options.cores = (unsigned)m->config.cores;
    options.memory_limit = m->config.memory << 20;
    options.interrupt = m->o->interrupt;
    return vs_process_open(&m->p, &options, m->diag);
}

static int open_machine(struct machine *m, const struct vs_machine_options *o)
{
    m->o = o;
    m->config = o->config;
    m->random = o->config.seed;
    m->next_tick = TICK_EVERY;
    int err = vs_target_config_check(&m->config, m->diag);
    if (!err)
        err = open_process(m);
    if (!err)
        err = open_cores(m);
    if (!err)
        err = open_recording(m);
    if (!err)
        err = set_breaks(m);
    return err ? err : follow_process(m, VS_NOBODY(&m->events), 0);
}

static void close_machine(struct machine *m)
{
    vs_events_close(&m->events);
    for (unsigned i = 0; i < m->core_count; i++)
        vs_past_fini(&m->cores[i].past);
    vs_timed_fini(&m->timed);
    vs_process_close(m->p);
    free(m->cores);
    free(m->places);
    free(m->breaks);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static int run_machine(struct machine *m, struct vs_machine_result *result)
{
    unsigned outside = _mm_getcsr();
    _mm_setcsr(VS_CPU_STATUS);
    int err = run(m, &result->end);
    _mm_setcsr(outside);
    if (!err)
        err = flush_all(m);
    if (!err && m->recorded)
        err = end_threads(m);
    if (!err && m->recorded)
        err = event_error(m, vs_events_finish(&m->events));
    if (err == -VSE_INTERNAL && m->config.check)
        err = vs_diag_set(m->diag, err, -1, -1, "%s", m->timed.caches.diag.text);
    fill_stats(m, &result->stats);
    result->halt = m->halt;
    result->memory = m->config.memory;
    result->status = m->p->ended ? m->p->status : SIGKILL;
    result->interrupted = m->killed || vs_ended_by(m->passed, result->status);
    result->stopped = m->stopped;
    result->unsupported_count = m->p->unsupported_count;
    memcpy(result->unsupported, m->p->unsupported, sizeof(result->unsupported));
    return err;
}

int vs_machine_run(const struct vs_machine_options *options, struct vs_machine_result *result,
                   struct vs_diag *diag, bool *theirs)
{
    struct timespec start;
    struct machine *m = calloc(1, sizeof(*m));
    *result = (struct vs_machine_result){.end = VS_END_EXIT};
    *theirs = false;
    if (!m)
        return -VSE_NOMEM;
    clock_gettime(CLOCK_MONOTONIC, &start);
    m->diag = diag;
    int err = open_machine(m, options);
    if (!err)
        err = run_machine(m, result);
    *theirs = m->theirs;
    result->seconds = seconds_since(&start);
    close_machine(m);
    free(m);
    return err;
}
