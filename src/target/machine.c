/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xmmintrin.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/likely.h"
#include "base/random.h"
#include "target/machine_state.h"

/* How many of a core's records are kept before they become events: few enough for the host's
 * caches. */
#define LOG_SIZE 4096
_Static_assert(LOG_SIZE >= 2 * VS_CPU_LOG_MIN, "a half-empty log takes any block");

#define TICK_EVERY  (1 << 20) /* instructions */
#define TICK_STEPS  (1 << 16) /* or so many turns of the loop, whatever they do */
#define RETRY_EVERY 100000    /* cycles: how often files of the host are tried again */

/* A core's run ends after so many instructions at the latest, so that neither timers nor the user
 * are kept waiting. */
#define RUN_MOST 20000

/* ---- time ------------------------------------------------------------------------------------ */

static uint64_t to_ns(const struct vs_machine *m, uint64_t cycle)
{
    return (uint64_t)((unsigned __int128)cycle * 1000 / m->config.frequency);
}

static uint64_t to_cycle(const struct vs_machine *m, uint64_t ns)
{
    if (ns == UINT64_MAX)
        return UINT64_MAX;
    unsigned __int128 c = ((unsigned __int128)ns * m->config.frequency + 999) / 1000;
    return c > UINT64_MAX - 1 ? UINT64_MAX - 1 : (uint64_t)c;
}

static void set_now(struct vs_machine *m, uint64_t cycle)
{
    uint64_t ns = to_ns(m, cycle);
    if (m->p->now < ns)
        m->p->now = ns;
}

/* Puts the busy cores in line, and returns the first, or NULL. */
static struct vs_core *first_core(struct vs_machine *m)
{
    m->line.count = m->core_count;
    for (unsigned i = 0; i < m->core_count; i++)
        m->line.cycles[i] = m->cores[i].task ? m->cores[i].clock : VS_NOT_IN_LINE;
    struct vs_moment first = vs_line_first(&m->line);
    return first.cycle != VS_NOT_IN_LINE ? &m->cores[first.core] : NULL;
}

uint64_t vs_machine_nobody_at(struct vs_machine *m, uint64_t cycle)
{
    if (m->nobody < cycle)
        m->nobody = cycle;
    return m->nobody;
}

uint64_t vs_machine_present(const struct vs_machine *m)
{
    uint64_t first = UINT64_MAX, last = to_cycle(m, m->p->now);
    for (unsigned i = 0; i < m->core_count; i++) {
        last = vs_later(last, m->cores[i].clock);
        if (m->cores[i].task && m->cores[i].clock < first)
            first = m->cores[i].clock;
    }
    return first != UINT64_MAX ? first : last;
}

/* ---- what the process did -------------------------------------------------------------------- */

static int know_places(struct vs_machine *m)
{
    int err = vs_array_room((void **)&m->places, &m->place_capacity, m->place_count,
                            m->p->task_count - m->place_count, sizeof(*m->places));
    while (!err && m->place_count < m->p->task_count)
        m->places[m->place_count++] = (struct vs_task_place){.core = -1, .last_core = -1};
    return err;
}

static bool is_outside(const struct vs_effect *effect)
{
    return effect->kind == VS_EFFECT_WROTE || effect->kind == VS_EFFECT_MAPPED ||
           effect->kind == VS_EFFECT_UNMAPPED;
}

static void leave_core(struct vs_machine *m, struct vs_task *t, uint64_t cycle)
{
    struct vs_task_place *at = vs_machine_place_of(m, t);
    if (at->core < 0)
        return;
    struct vs_core *c = &m->cores[at->core];
    if (c->clock < cycle)
        c->clock = cycle;
    c->cycles += c->clock - c->started;
    c->task = NULL;
    c->stop = -1;
    at->last_core = at->core;
    at->core = -1;
    vs_ram_break(&m->p->memory, t->cpu);
}

/* Takes note of all effects, which happened at that cycle on the core, or on none. */
static int apply_effects(struct vs_machine *m, unsigned core, uint64_t cycle)
{
    int err = know_places(m);
    for (size_t i = 0; i < m->p->effect_count && !err; i++) {
        const struct vs_effect *effect = &m->p->effects[i];
        if (m->config.timed && is_outside(effect))
            err = vs_hierarchy_outside(&m->timed.caches, effect->addr, effect->size);
        if (m->recorded && !err)
            err = vs_machine_note_effect(m, effect, core, cycle);
    }
    m->p->effect_count = 0;
    return err;
}

/* Tasks that are ready and have no core get in line; those that cannot run leave their core. */
static void sort_tasks(struct vs_machine *m, uint64_t cycle)
{
    m->waiting = 0;
    for (size_t i = 0; i < m->p->task_count; i++) {
        struct vs_task *t = m->p->tasks[i];
        struct vs_task_place *at = &m->places[i];
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
static void note_halt(struct vs_machine *m, const struct vs_task *t, uint64_t pc)
{
    m->halt = (struct vs_machine_halt){.thread = t->number,
                                       .core = vs_machine_place_of(m, t)->core,
                                       .pc = pc,
                                       .in_call = pc == t->call.pc,
                                       .call = t->call.number,
                                       .addr = m->p->full_addr};
}

/* Notes the same if the process itself touched too much: at the call of the task that it wrote
 * for. */
static void note_full(struct vs_machine *m)
{
    for (size_t i = 0; i < m->p->effect_count; i++) {
        const struct vs_effect *e = &m->p->effects[i];
        if (e->kind == VS_EFFECT_WROTE && m->p->full_addr - e->addr < e->size)
            note_halt(m, e->task, e->task->call.pc);
    }
}

/* To be called after each call to the process. */
static int follow_process(struct vs_machine *m, unsigned core, uint64_t cycle)
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

static struct vs_core *idle_core(struct vs_machine *m, const struct vs_task_place *at)
{
    if (at->last_core >= 0 && !m->cores[at->last_core].task)
        return &m->cores[at->last_core];
    for (unsigned i = 0; i < m->core_count; i++)
        if (!m->cores[i].task)
            return &m->cores[i];
    return NULL;
}

static struct vs_task *first_in_line(struct vs_machine *m)
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

static void enter_core(struct vs_machine *m, struct vs_core *c, struct vs_task *t)
{
    struct vs_task_place *at = vs_machine_place_of(m, t);
    if (c->clock <= at->since)
        c->clock = at->since + 1;
    c->task = t;
    c->began = c->started = c->clock;
    c->stop = -1;
    at->core = (int)vs_machine_core_number(m, c);
    at->turn = 0;
    m->waiting--;
    if (m->config.timed)
        vs_pipeline_restart(&c->past.pipeline, c->clock);
}

static void fill_cores(struct vs_machine *m)
{
    while (m->waiting) {
        struct vs_task *t = first_in_line(m);
        struct vs_core *c = idle_core(m, vs_machine_place_of(m, t));
        if (!c)
            return;
        enter_core(m, c, t);
    }
}

/* The thread has had its slice, and another waits. */
static int end_slice(struct vs_machine *m, struct vs_core *c)
{
    struct vs_task *t = c->task;
    int err = vs_machine_flush(m, c);
    leave_core(m, t, c->clock);
    vs_machine_place_of(m, t)->turn = ++m->turns;
    vs_machine_place_of(m, t)->since = c->clock;
    m->waiting++;
    return err;
}

/* ---- running --------------------------------------------------------------------------------- */

static unsigned busy_cores(const struct vs_machine *m)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < m->core_count; i++)
        busy += m->cores[i].task != NULL;
    return busy;
}

/* Returns how many instructions the core's turn has in an untimed run. */
static uint64_t turn_length(struct vs_machine *m, const struct vs_core *c)
{
    uint64_t most = RUN_MOST, quantum = m->config.quantum;
    if (busy_cores(m) > 1) {
        if (m->config.seed)
            quantum = 1 + vs_random(&m->random) % (2 * quantum);
        most = quantum < most ? quantum : most;
    }
    return m->due - c->clock < most ? m->due - c->clock : most;
}

static uint64_t run_length(struct vs_machine *m, const struct vs_core *c)
{
    uint64_t most = m->config.timed ? RUN_MOST : turn_length(m, c);
    if (m->edge != UINT64_MAX && m->edge - m->total < most)
        most = m->edge - m->total;
    if (m->recorded && m->events.on && m->room < most)
        most = m->room;
    return most;
}

static int run_cpu(struct vs_machine *m, struct vs_core *c, uint64_t most)
{
    struct vs_cpu *cpu = c->task->cpu;
    bool observed = m->config.timed || (m->recorded && m->events.on);
    m->running = c;
    m->timed.past = &c->past;
    m->timed.core = vs_machine_core_number(m, c);
    cpu->memory = m->config.timed ? &m->timed.seen : &m->p->memory.seen;
    int stop = observed ? vs_cpu_run_observed(cpu, most, &c->past.log) : vs_cpu_run(cpu, most);
    if (m->config.timed)
        vs_past_settle(&c->past);
    return c->past.pipeline.error ? c->past.pipeline.error : stop;
}

/* Lets the core run until the horizon, a stop, or as long as it may. */
static int run_core(struct vs_machine *m, struct vs_core *c)
{
    const struct vs_cpu *cpu = c->task->cpu;
    uint64_t before = cpu->retired;
    int err = vs_machine_begin_run(m, c);
    if (err)
        return err;
    int stop = run_cpu(m, c, run_length(m, c));
    uint64_t retired = cpu->retired - before;
    c->instructions += retired;
    m->total += retired;
    vs_machine_count_run(m, c, retired, stop == VS_STOP_CALL);
    m->running = NULL;
    /* Untimed, the order of events is that of runs; timed, it is that of cycles. */
    if (!m->config.timed || !m->recorded || c->past.log.count > LOG_SIZE / 2)
        err = vs_machine_flush(m, c);
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
static int deal_with_stop(struct vs_machine *m, struct vs_core *c)
{
    struct vs_task *t = c->task;
    unsigned core = vs_machine_core_number(m, c);
    uint64_t cycle = c->clock, pc = t->cpu->pc;
    int stop = c->stop, err = vs_machine_flush(m, c);
    if (err)
        return err;
    set_now(m, cycle);
    c->stop = -1;
    switch (stop) {
    case VS_STOP_MARK:
        return vs_machine_reach_mark(m, t->cpu->fault);
    case VS_STOP_BREAK:
        return vs_machine_reach_place(m, t);
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

static int attend(struct vs_machine *m, struct vs_core *c)
{
    uint64_t cycle = c->clock, pc = c->task->cpu->pc;
    int err = vs_machine_flush(m, c);
    if (err)
        return err;
    set_now(m, cycle);
    err = vs_process_attend(m->p, c->task);
    if (m->p->full)
        note_halt(m, c->task, pc);
    c->clock += m->config.timed ? m->config.system : 1;
    if (m->config.timed)
        vs_pipeline_restart(&c->past.pipeline, c->clock);
    return err ? err : follow_process(m, vs_machine_core_number(m, c), cycle);
}

/* Time has come to the cycle: timers expire, and files of the host are tried again. */
static int advance(struct vs_machine *m, uint64_t cycle)
{
    set_now(m, cycle);
    m->next_retry = cycle + RETRY_EVERY;
    int err = vs_process_advance(m->p);
    if (m->p->full)
        note_full(m);
    return err ? err : follow_process(m, VS_NOBODY(&m->events), vs_machine_nobody_at(m, cycle));
}

/* ---- the user -------------------------------------------------------------------------------- */

static void fill_stats(const struct vs_machine *m, struct vs_machine_stats *s)
{
    *s = (struct vs_machine_stats){.instructions = m->total,
                                   .recorded = m->events.instructions,
                                   .skipped = m->events.skipped,
                                   .events = m->events.count,
                                   .threads = m->p->started,
                                   .cores = m->core_count};
    for (unsigned i = 0; i < m->core_count; i++) {
        const struct vs_core *c = &m->cores[i];
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
static int heed_user(struct vs_machine *m, bool *enough)
{
    struct vs_interrupt *user = m->o->interrupt;
    int err = 0;
    if (likely(!vs_interrupted(user)))
        return 0;
    uint32_t signals = atomic_exchange(&user->alone, 0) | atomic_exchange(&user->shared, 0);
    uint64_t cycle = vs_machine_present(m);
    m->passed |= signals;
    set_now(m, cycle);
    for (int n = 1; n < 32 && !err && !m->p->ended; n++)
        if (signals >> n & 1 && !(err = vs_process_signal(m->p, n)))
            err = follow_process(m, VS_NOBODY(&m->events), vs_machine_nobody_at(m, cycle));
    *enough = m->killed = user->insists;
    return err;
}

static int tick(struct vs_machine *m, bool *enough)
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
            int err = vs_machine_switch(m, false);
            if (err)
                return err;
        }
    }
    return heed_user(m, enough);
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* No thread can run: time passes, or the host has to do something. Time does not wait for the
 * host. */
static int idle(struct vs_machine *m, enum vs_machine_end *end, bool *enough)
{
    uint64_t now = vs_machine_present(m), deadline = vs_process_deadline(m->p);
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
static bool is_held(const struct vs_machine *m, const struct vs_core *c)
{
    return c->clock >= m->due || c->stop >= 0 || c->task->attention ||
           (m->waiting && c->clock - c->began >= m->config.slice);
}

/* Deals with what holds the core. */
static int release(struct vs_machine *m, struct vs_core *c)
{
    if (c->clock >= m->due)
        return advance(m, c->clock);
    if (c->stop >= 0)
        return deal_with_stop(m, c);
    return c->task->attention ? attend(m, c) : end_slice(m, c);
}

static bool is_tick_due(const struct vs_machine *m)
{
    return m->total >= m->next_tick || m->steps % TICK_STEPS == 0;
}

/* Returns whether only the next core's turn is to come. */
static bool goes_on(const struct vs_machine *m)
{
    return !m->disturbed && m->total != m->edge && m->room && !is_tick_due(m) &&
           !vs_machine_has_many_events(m);
}

/* Returns the first in line, whose accesses are due until the next core's moment, or until time
 * wants to be told. */
static struct vs_core *next_core(struct vs_machine *m)
{
    struct vs_moment next;
    struct vs_moment first = vs_line_two(&m->line, &next);
    bool bounded = next.cycle >= m->due;
    m->timed.horizon.cycle = bounded ? m->due : next.cycle;
    m->timed.horizon.core = bounded ? 0 : next.core;
    return &m->cores[first.core];
}

/* Lets cores run, each time the first in line, until something else has to be done. */
static int take_turns(struct vs_machine *m)
{
    struct vs_core *c = next_core(m);
    m->disturbed = false;
    for (;; m->steps++) {
        int err = run_core(m, c);
        if (err || !goes_on(m))
            return err;
        m->line.cycles[vs_machine_core_number(m, c)] = c->clock;
        c = next_core(m);
        if (is_held(m, c))
            return 0;
    }
}

static int step(struct vs_machine *m, enum vs_machine_end *end, bool *enough)
{
    struct vs_core *c = first_core(m);
    if (!c)
        return idle(m, end, enough);
    return is_held(m, c) ? release(m, c) : take_turns(m);
}

static int run(struct vs_machine *m, enum vs_machine_end *end)
{
    bool enough = false;
    int err = vs_machine_pass_edge(m);
    while (!err && !m->p->ended && !m->p->full && !enough) {
        fill_cores(m);
        const struct vs_core *first = vs_machine_has_many_events(m) ? first_core(m) : NULL;
        if (first)
            err = vs_machine_hand_on(m, first);
        m->steps++;
        if (!err)
            err = step(m, end, &enough);
        if (!err && m->total == m->edge)
            err = vs_machine_pass_edge(m);
        if (!err && !m->room)
            err = vs_machine_switch(m, false);
        if (!err && is_tick_due(m))
            err = tick(m, &enough);
    }
    if (m->p->full && !m->p->ended)
        *end = VS_END_MEMORY;
    else if (enough && *end == VS_END_EXIT)
        *end = VS_END_INTERRUPTED;
    return err;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int open_cores(struct vs_machine *m)
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

static int open_process(struct vs_machine *m)
{
    struct vs_process_options options = m->o->process;
    options.seed = m->config.seed;
    options.cores = (unsigned)m->config.cores;
    options.memory_limit = m->config.memory << 20;
    options.interrupt = m->o->interrupt;
    return vs_process_open(&m->p, &options, m->diag);
}

static int open_machine(struct vs_machine *m, const struct vs_machine_options *o)
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
        err = vs_machine_open_recording(m);
    return err ? err : follow_process(m, VS_NOBODY(&m->events), 0);
}

static void close_machine(struct vs_machine *m)
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

static int run_machine(struct vs_machine *m, struct vs_machine_result *result)
{
    unsigned outside = _mm_getcsr();
    _mm_setcsr(VS_CPU_STATUS);
    int err = run(m, &result->end);
    _mm_setcsr(outside);
    if (!err)
        err = vs_machine_flush_all(m);
    if (!err && m->recorded)
        err = vs_machine_end_recording(m);
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
    struct vs_machine *m = calloc(1, sizeof(*m));
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
