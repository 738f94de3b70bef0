/* SPDX-License-Identifier: MIT */
#include "study/verify_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "study/codeview.h"
#include "study/recall.h"
#include "study/run_memory.h"
#include "vestige/run.h"
#include "rerun/run_open.h"

/* A message that a core took. */
struct taken {
    uint64_t cycle;
    bool outside;
    struct vs_port_outside what; /* if it tells of an outside write */
};

/* A core as the run has it. */
struct truth {
    struct vs_cpu *cpu;
    struct vs_core_events events;
    uint64_t counted; /* instructions up to and including the next event */
    uint64_t met;     /* instructions up to the last event that was met */
    uint64_t base;    /* instructions up to the last registers, or the last change of code */
    uint64_t states;
    uint64_t called;     /* number of its last system call, if nothing came since; else 0 */
    uint64_t notices;    /* outside writes without a message, since its last access or message */
    uint64_t load, last; /* numbers of its last load, and of its last event that matters */
    uint64_t cycle;      /* of that one */
    bool ready;          /* the next event is counted */
    bool live;           /* it has begun */
    size_t change;       /* the next change of code that it passes, of all */
    uint64_t changes;    /* how many the replayed core has passed, as far as they were met */
    uint64_t places;     /* the same of its places that were told */
    struct vs_run_memory memory; /* as it knows it */
    struct vs_buf taken;         /* of struct taken: messages whose events were not met yet */
    struct vs_buf lines;         /* what came with them: each a struct line and its bytes */
    bool fresh;                  /* the last message of all cores is its own */
    struct vs_buf
        output;       /* what the replayed core wrote to files: each a struct output and bytes */
    size_t output_at; /* how much of that was compared */
};

/* Bytes that a replayed core wrote; those that it does not know are '?'. */
struct output {
    uint64_t fd;
    size_t size, known;
};

struct line {
    uint64_t addr;
    size_t size;
};

struct checker {
    struct vs_replay *replay;
    struct vs_verify_replay *v;
    struct vs_cpu_memory memory;
    struct vs_cpu_code *decoded;
    struct vs_cpu *cpus; /* the cores', side by side */
    struct vs_text text; /* the run's code: what was fetched when */
    uint32_t version;    /* the version of the text that is decoded */
    struct truth *cores;

    struct vs_reader *reader;
    struct vs_pieces pieces;
    struct vs_pieces_feed feed;
    struct vs_prior *prior;
    struct vs_recall recall;
    struct vs_port_witness witness;
    struct vs_port_outside outside; /* what the message about to be taken tells */
    bool tells;                     /* that message tells of an outside write */
    uint64_t last;                  /* number of the event that took the last message */
    int error;                      /* of a witness, which cannot return it */
    vs_replay_output *output;       /* the replay's own */
    void *context;
};

/* ---- messages -------------------------------------------------------------------------------- */

static void see_outside(void *context, unsigned core, const struct vs_port_outside *o)
{
    struct checker *k = context;
    (void)core;
    k->outside = *o;
    k->tells = true;
}

static void see_message(void *context, unsigned core, uint64_t cycle)
{
    struct checker *k = context;
    const struct taken taken = {.cycle = cycle, .outside = k->tells, .what = k->outside};
    for (unsigned i = 0; i < k->replay->count; i++)
        k->cores[i].fresh = i == core;
    if (vs_buf_put(&k->cores[core].taken, &taken, sizeof(taken)))
        k->error = -VSE_NOMEM;
    k->tells = false;
}

static void see_memory(void *context, unsigned core, const struct vs_port_memory *m)
{
    struct checker *k = context;
    const struct line line = {.addr = m->addr, .size = m->size};
    struct vs_buf *lines = &k->cores[core].lines;
    if (vs_buf_put(lines, &line, sizeof(line)) || vs_buf_put(lines, m->bytes, m->size))
        k->error = -VSE_NOMEM;
}

static const struct taken *first_taken(const struct truth *t)
{
    return t->taken.len ? (const struct taken *)t->taken.data : NULL;
}

static void pop_taken(struct truth *t)
{
    t->taken.len -= sizeof(struct taken);
    memmove(t->taken.data, t->taken.data + sizeof(struct taken), t->taken.len);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Whether something outside the cores wrote, and nothing else happened. */
static bool is_outside(const struct vs_event *e)
{
    return e->kind == VS_EXTERNAL || (e->kind == VS_MAP && e->value);
}

static bool gives_registers(const struct vs_event *e)
{
    return e->kind == VS_SYSCALL || e->kind == VS_EXCEPTION || e->kind == VS_EXCEPTION_RET ||
           e->kind == VS_THREAD_START || e->kind == VS_GAP;
}

static bool matters(const struct vs_event *e)
{
    return e->kind == VS_LOAD || e->kind == VS_STORE || e->kind == VS_NONDET ||
           gives_registers(e) || is_outside(e);
}

static int run_failed(struct checker *k, const struct vs_reader *reader, int err)
{
    const struct vs_diag *d = reader ? vs_reader_diag(reader) : NULL;
    return vs_diag_set(&k->v->diag, err, d && d->error == err ? d->offset : -1, -1, "%s",
                       d && d->error == err ? d->text : vs_errstr(err));
}

/* The next event, if look() found one. */
static const struct vs_event *event_of(const struct truth *t)
{
    return t->events.done ? NULL : vs_core_events_next(&t->events);
}

/* Makes the next event that matters known, unless there is none. */
static int look(struct checker *k, struct truth *t)
{
    while (!t->events.done && !t->ready) {
        int err =
            vs_core_events_fill(&t->events, (unsigned)(t - k->cores), vs_pieces_feed, &k->feed);
        if (err)
            return run_failed(k, k->reader, err);
        const struct vs_event *e = event_of(t);
        if (!e)
            break;
        if ((err = vs_run_memory_outside(&t->memory, k->replay->config.isa->abi,
                                         &t->events.now.batch, e, t->called)))
            return vs_diag_set(&k->v->diag, err, -1, -1, "%s", vs_errstr(err));
        t->counted += e->icount;
        t->ready = matters(e);
        if (!t->ready) {
            t->met += e->icount;
            t->events.at++;
        }
    }
    return 0;
}

/* Whether that message tells of what this event did outside. */
static bool tells_of(const struct truth *t, const struct taken *taken, const struct vs_event *e)
{
    uint64_t addr = e->addr, size = e->size;
    if (!taken->outside || (!is_outside(e) && e->kind != VS_LOAD && e->kind != VS_GAP))
        return false;
    if (e->kind == VS_MAP)
        vs_data_mapped(e, &addr, &size);
    else if (e->kind == VS_GAP)
        addr = size = 0;
    return taken->what.addr == addr && taken->what.size == size &&
           taken->what.notices == t->notices &&
           taken->what.instructions == t->met - t->base + e->icount;
}

/* Goes past the next event. The messages that it took are those that have its cycle. */
static void next(struct truth *t)
{
    const struct vs_event *e = event_of(t);
    const struct vs_standing at = vs_core_events_standing(&t->events);
    const struct taken *taken;
    bool told = false;
    while ((taken = first_taken(t)) && (!at.timed || taken->cycle == at.cycle) &&
           (taken->outside ? tells_of(t, taken, e) : !is_outside(e))) {
        t->notices = taken->outside ? 0 : t->notices;
        told |= taken->outside;
        pop_taken(t);
    }
    t->met += e->icount;
    t->base = gives_registers(e) ? t->met : t->base;
    t->notices = is_outside(e) && !told ? t->notices + 1 : 0;
    t->load = e->kind == VS_LOAD ? at.number : t->load;
    t->last = at.number;
    t->cycle = at.cycle;
    t->ready = false;
    t->events.at++;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static struct checker *checker_of(struct vs_cpu_memory *memory)
{
    return (struct checker *)((uint8_t *)memory - offsetof(struct checker, memory));
}

static int differ(struct checker *k, unsigned core, const char *what, uint64_t is, uint64_t should)
{
    const struct vs_cpu *cpu = k->cores[core].cpu;
    return vs_diag_set(&k->v->diag, -VSE_CORRUPT, -1, -1,
                       "core %u, pc 0x%llx, after %llu instructions: %s is 0x%llx, and was 0x%llx",
                       core, (unsigned long long)cpu->pc, (unsigned long long)cpu->retired, what,
                       (unsigned long long)is, (unsigned long long)should);
}

/* Takes the access that the core makes, which must be the recorded one, *e. */
static int take_access(struct checker *k, struct vs_cpu *cpu, unsigned kind, uint64_t addr,
                       unsigned size, const struct vs_event **e)
{
    struct truth *t = &k->cores[cpu->id];
    int err = look(k, t);
    while (!err && (*e = event_of(t)) && is_outside(*e)) {
        next(t);
        err = look(k, t);
    }
    if (err)
        return err;
    if (!*e || (*e)->kind != kind)
        return differ(k, cpu->id, "kind of event", kind, *e ? (*e)->kind : 0);
    if (kind != VS_NONDET && (*e)->addr != addr)
        return differ(k, cpu->id, "address", addr, (*e)->addr);
    if ((*e)->size != size)
        return differ(k, cpu->id, "size", size, (*e)->size);
    k->v->accesses++;
    next(t);
    return 0;
}

static int truth_fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                       size_t size)
{
    struct checker *k = checker_of(memory);
    size_t n = vs_text_fetch(&k->text, k->version, addr, bytes, size);
    if (!n)
        cpu->fault = addr;
    return (int)n;
}

static int truth_read(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                      unsigned size, enum vs_access access, void *bytes)
{
    struct checker *k = checker_of(memory);
    const struct vs_event *e;
    (void)access;
    int err = take_access(k, cpu, VS_LOAD, addr, size, &e);
    if (err)
        return err;
    const struct vs_core_events *events = &k->cores[cpu->id].events;
    memcpy(bytes, vs_event_bytes(&events->now.batch, e), size);
    return vs_run_memory_inside(&k->cores[cpu->id].memory, addr, bytes, size);
}

/* The first bytes, at most 8, as a number. */
static uint64_t number_of(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof(value) ? size : sizeof(value));
    return value;
}

static int truth_write(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, enum vs_access access, const void *bytes)
{
    struct checker *k = checker_of(memory);
    const struct vs_event *e;
    (void)access;
    int err = take_access(k, cpu, VS_STORE, addr, size, &e);
    if (err)
        return err;
    const uint8_t *should = vs_event_bytes(&k->cores[cpu->id].events.now.batch, e);
    if (memcmp(bytes, should, size) != 0)
        return differ(k, cpu->id, "stored value", number_of(bytes, size), number_of(should, size));
    return vs_run_memory_inside(&k->cores[cpu->id].memory, addr, bytes, size);
}

static int truth_conditional(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                             unsigned size, const void *bytes, int *stored)
{
    struct checker *k = checker_of(memory);
    const struct vs_event *e;
    int err = take_access(k, cpu, VS_NONDET, 0, 8, &e);
    if (err)
        return err;
    *stored = !e->value;
    return *stored ? truth_write(memory, cpu, addr, size, VS_ACCESS_PLAIN, bytes) : 0;
}

static int truth_outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what,
                         unsigned size, void *bytes)
{
    struct checker *k = checker_of(memory);
    const struct vs_event *e;
    (void)what;
    int err = take_access(k, cpu, VS_NONDET, 0, size, &e);
    if (!err)
        memcpy(bytes, vs_event_bytes(&k->cores[cpu->id].events.now.batch, e), size);
    return err;
}

static const struct vs_cpu_memory_ops truth_ops = {.fetch = truth_fetch,
                                                   .read = truth_read,
                                                   .write = truth_write,
                                                   .conditional = truth_conditional,
                                                   .outside = truth_outside};

/* ---- a core ---------------------------------------------------------------------------------- */

/* The core begins at the event of that number, after the changes of code before it. */
static void begin_changes(struct checker *k, unsigned core, uint64_t number)
{
    const struct vs_changes *all = &k->pieces.changes;
    struct truth *t = &k->cores[core];
    t->live = true;
    t->changes = k->replay->cores[core].changes;
    while (t->change < all->count && all->all[t->change].number < number)
        t->change++;
}

static int apply_state(struct checker *k, unsigned core, const struct vs_event *e)
{
    struct truth *t = &k->cores[core];
    size_t head = e->kind == VS_SYSCALL ? sizeof(struct vs_syscall_head) : 0;
    if (e->size < head)
        return differ(k, core, "size of registers", e->size, head);
    const struct vs_batch *batch = &t->events.now.batch;
    if (e->kind == VS_GAP)
        vs_cpu_clear(t->cpu);
    if (vs_cpu_set_registers(t->cpu, vs_event_bytes(batch, e) + head, e->size - head))
        return differ(k, core, "kind of registers", 0, 0);
    t->called = e->kind == VS_SYSCALL ? e->addr : 0;
    t->states++;
    if (!t->live)
        begin_changes(k, core, vs_core_events_standing(&t->events).number);
    next(t);
    return 0;
}

/* Selects the code's version that the core executes where it is. Returns how many instructions it
 * may execute of it, at most `most`. */
static uint64_t see_version(struct checker *k, unsigned core, uint64_t most)
{
    const struct vs_address_code code = vs_code_of_text(&k->text, NULL);
    uint64_t until, at = k->cores[core].cpu->retired;
    uint32_t version = code.version(code.context, core, at, &until);
    uint32_t lesser = version < k->version ? version : k->version;
    for (uint32_t i = lesser; i < version || i < k->version; i++)
        vs_cpu_flush(k->decoded, k->text.changes[i].addr, k->text.changes[i].size);
    k->version = version;
    return until - at < most ? until - at : most;
}

/* With `until`, an instruction that repeats itself stops after so many iterations. */
static int execute(struct checker *k, unsigned core, uint64_t most, uint64_t until)
{
    struct truth *t = &k->cores[core];
    if (k->pieces.changes.count)
        most = see_version(k, core, most);
    t->cpu->iterate_until = until;
    int stop = vs_cpu_run(t->cpu, most);
    if (stop == VS_STOP_CALL && vs_replay_flushes(k->replay->config.isa, t->cpu))
        vs_cpu_flush_all(k->decoded);
    if (stop == VS_STOP_LIMIT || stop == VS_STOP_CALL)
        return 0;
    return stop < 0 ? stop : differ(k, core, "stop", (uint64_t)stop, VS_STOP_LIMIT);
}

/* Whether the replayed core has passed the outside write that comes here, or was told of it. */
static bool goes_past(const struct truth *t, const struct vs_replay_core *c)
{
    const struct taken *taken = first_taken(t);
    return t->cpu->retired < c->cpu->retired || t->states < c->states || (taken && taken->outside);
}

/* Returns after how many iterations of the core's last instruction the event gave registers; 0:
 * after all of them. */
static uint64_t iterations_before(const struct truth *t, const struct vs_event *e)
{
    const uint8_t *bytes = vs_event_bytes(&t->events.now.batch, e), *value;
    size_t size = e->size;
    unsigned number, width;
    uint64_t iterations = 0;
    while (vs_regs_next(&bytes, &size, &number, &width, &value) > 0)
        if (number == VS_REG_ITERATIONS)
            iterations = number_of(value, width);
    return iterations;
}

/* Lets the core's last instruction, which repeats itself, do iterations: up to where the replayed
 * core is or, if registers came meanwhile, one or as many as came before those. */
static int iterate(struct checker *k, unsigned core, const struct vs_event *e, bool here)
{
    struct truth *t = &k->cores[core];
    const struct vs_replay_core *c = &k->replay->cores[core];
    uint64_t until = 0;
    if (t->states < c->states)
        until = here && e->kind == VS_EXCEPTION ? iterations_before(t, e) : t->cpu->iterations + 1;
    else if (t->cpu->retired == c->cpu->retired)
        until = c->cpu->iterations;
    return execute(k, core, 0, until);
}

/* Returns whether the core's last instruction has iterations to do before anything else. */
static bool has_iterations(const struct truth *t, const struct vs_replay_core *c,
                           const struct vs_event *e, bool here)
{
    bool before = t->states < c->states;
    if (!t->cpu->iterations)
        return false;
    if (before && here && gives_registers(e))
        return e->kind == VS_EXCEPTION && iterations_before(t, e) != t->cpu->iterations;
    return before || t->cpu->retired < c->cpu->retired || t->cpu->iterations != c->cpu->iterations;
}

/* Brings the core to where the replayed core is. */
static int advance(struct checker *k, unsigned core)
{
    struct truth *t = &k->cores[core];
    const struct vs_replay_core *c = &k->replay->cores[core];
    for (;;) {
        int err = look(k, t);
        if (err)
            return err;
        const struct vs_event *e = event_of(t);
        bool here = e && t->counted == t->cpu->retired;
        if (here && is_outside(e) && goes_past(t, c)) {
            next(t);
            continue;
        }
        if (has_iterations(t, c, e, here)) {
            if ((err = iterate(k, core, e, here)))
                return err;
            continue;
        }
        if (here && gives_registers(e) && t->states < c->states) {
            if ((err = apply_state(k, core, e)))
                return err;
            continue;
        }
        if (t->cpu->retired >= c->cpu->retired)
            return t->states == c->states ? 0
                                          : differ(k, core, "number of times that registers came",
                                                   c->states, t->states);
        uint64_t left = c->cpu->retired - t->cpu->retired;
        if (e && t->counted - t->cpu->retired < left)
            left = t->counted - t->cpu->retired;
        if (!left)
            return differ(k, core, "kind of event", 0, e->kind);
        if ((err = execute(k, core, left, 0)))
            return err;
    }
}

static int compare_registers(struct checker *k, unsigned core)
{
    const struct vs_cpu *is = k->replay->cores[core].cpu, *was = k->cores[core].cpu;
    const struct vs_register_set *set = k->replay->config.isa->registers;
    if (is->retired != was->retired)
        return differ(k, core, "number of instructions", is->retired, was->retired);
    if (is->pc != was->pc)
        return differ(k, core, "pc", is->pc, was->pc);
    if (is->iterations != was->iterations)
        return differ(k, core, "number of iterations", is->iterations, was->iterations);
    for (unsigned i = 0; i < set->count; i++) {
        const struct vs_register *reg = &set->list[i];
        uint8_t a[VS_REGISTER_BYTES], b[VS_REGISTER_BYTES];
        bool first = reg->number != VS_REGISTER_NONE && !reg->from; /* others are parts of one */
        int size = first ? is->ops->get(is, reg->number, a) : 0;
        if (size > 0 && (was->ops->get(was, reg->number, b) != size || memcmp(a, b, (size_t)size)))
            return differ(k, core, reg->name, number_of(a, (size_t)size),
                          number_of(b, (size_t)size));
    }
    k->v->registers++;
    return 0;
}

static int compare_line(struct checker *k, unsigned core, const struct line *line,
                        const uint8_t *bytes)
{
    uint8_t should;
    for (size_t i = 0; i < line->size; i++)
        if (vs_recall_knows(&k->recall, line->addr + i, &should) && bytes[i] != should)
            return differ(k, core, "a byte that is sent with others", bytes[i], should);
    return 0;
}

/* Compares the bytes that came with a load. */
static int compare_lines(struct checker *k, unsigned core)
{
    struct truth *t = &k->cores[core];
    const uint8_t *at = t->lines.data, *end = at + t->lines.len;
    int err = t->lines.len ? vs_recall_go(&k->recall, t->load) : 0;
    if (err)
        return run_failed(k, k->reader, err);
    while (at < end && !err) {
        struct line line;
        memcpy(&line, at, sizeof(line));
        err = compare_line(k, core, &line, at + sizeof(line));
        at += sizeof(line) + line.size;
    }
    t->lines.len = 0;
    return err;
}

/* All messages so far must have met their events, except those of the core's end, whose cycle is
 * that of the run's end. */
static int compare_messages(struct checker *k, unsigned core)
{
    struct truth *t = &k->cores[core];
    const struct vs_run_info *info = vs_reader_info(k->reader);
    bool timed = info->features & VS_RUN_TIMED;
    const struct taken *taken = first_taken(t);
    if (k->error)
        return run_failed(k, NULL, k->error);
    bool fresh = t->fresh && !taken;
    for (; taken && k->replay->cores[core].ended && !taken->outside; taken = first_taken(t)) {
        if (timed && taken->cycle != info->cycle_last)
            return differ(k, core, "cycle of its end", taken->cycle, info->cycle_last);
        pop_taken(t);
    }
    if (taken) {
        return taken->outside
                   ? differ(k, core, "an outside write, which the run does not have here,",
                            taken->what.addr, 0)
                   : differ(k, core, "cycle of a message", taken->cycle, t->cycle);
    }
    if (fresh) {
        uint64_t number = k->replay->cores[core].ended ? info->events : t->last;
        if (number < k->last)
            return differ(k, core, "number of the event of a message", number, k->last);
        k->last = number;
        t->fresh = false;
    }
    return compare_lines(k, core);
}

/* ---- changes of code ------------------------------------------------------------------------- */

/* After how many of the core's instructions its code is of that version or a later one. */
static uint64_t place_of_version(const struct checker *k, unsigned core, size_t version)
{
    const struct vs_text_core *c = &k->text.cores[core];
    size_t i = 0;
    while (i < c->view_count && c->views[i].version < version)
        i++;
    return i < c->view_count ? c->views[i].count : c->count;
}

/* Compares the last message that the core took, which tells that code changes, or only its
 * place. */
static int compare_change(struct checker *k, unsigned core, const struct taken *taken)
{
    struct truth *t = &k->cores[core];
    const struct vs_changes *all = &k->pieces.changes;
    const struct vs_change *change = vs_changes_next(all, core, !k->replay->ops->ahead, &t->change);
    bool placed = t->places != k->replay->cores[core].places;
    int err = 0;
    if (!change || (change->core != VS_CHANGE_ALL) != placed)
        return differ(k, core, "number of changes of code", t->change + 1, t->change);
    while (!err && !(err = look(k, t)) && event_of(t) && is_outside(event_of(t)) &&
           vs_core_events_standing(&t->events).number < change->number)
        next(t);
    if (err)
        return err;
    bool timed = vs_reader_info(k->reader)->features & VS_RUN_TIMED;
    const struct taken *turn; /* a message that may have come before it */
    while ((turn = first_taken(t)) && !turn->outside && (!timed || turn->cycle == change->cycle))
        pop_taken(t);
    uint64_t place = placed ? change->place : 0;
    if (!placed && core < k->text.core_count)
        place = place_of_version(k, core, change->version);
    if (t->cpu->retired != place)
        return differ(k, core, "place of a change of code", t->cpu->retired, place);
    if (timed && taken->cycle != change->cycle)
        return differ(k, core, "cycle of a change of code", taken->cycle, change->cycle);
    t->base = t->cpu->retired; /* events after the change may have been met */
    t->notices = 0;
    t->last = change->number;
    t->cycle = change->cycle;
    t->change++;
    t->changes += !placed;
    t->places += placed;
    return 0;
}

static int check_core(void *context, unsigned core)
{
    struct checker *k = context;
    struct truth *t = &k->cores[core];
    struct taken change;
    const struct vs_replay_core *c = &k->replay->cores[core];
    bool changes = t->live && (c->changes != t->changes || c->places != t->places) && t->taken.len;
    if (changes) {
        t->taken.len -= sizeof(change);
        memcpy(&change, t->taken.data + t->taken.len, sizeof(change));
    }
    int err = advance(k, core);
    if (!err && changes)
        err = compare_change(k, core, &change);
    if (!err)
        err = compare_messages(k, core);
    return err ? err : compare_registers(k, core);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* The number of each thread's last system call; 0 if something came since. */
struct calls {
    uint64_t *last;
    size_t count, capacity;
};

static int note_call(struct calls *c, const struct vs_event *e)
{
    if (e->thread >= c->count) {
        size_t more = e->thread + 1u - c->count;
        int err = vs_array_room((void **)&c->last, &c->capacity, c->count, more, sizeof(*c->last));
        if (err)
            return err;
        memset(c->last + c->count, 0, more * sizeof(*c->last));
        c->count += more;
    }
    if (matters(e) && !is_outside(e))
        c->last[e->thread] = e->kind == VS_SYSCALL ? e->addr : 0;
    return 0;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void see_output(void *context, unsigned core, uint64_t fd, const uint8_t *bytes, size_t size,
                       size_t known)
{
    struct checker *k = context;
    const struct output output = {fd, size, known};
    struct vs_buf *b = &k->cores[core].output;
    if (vs_buf_put(b, &output, sizeof(output)) || vs_buf_put(b, bytes, size))
        k->error = -VSE_NOMEM;
    if (k->output)
        k->output(k->context, core, fd, bytes, size, known);
}

/* Compares bytes at an address, which the core wrote to a file, with what the replayed core wrote
 * next. What a stream that is cut did not come to is not compared. */
static int compare_output(struct checker *k, unsigned core, struct vs_run_memory *m, uint64_t fd,
                          uint64_t addr, uint64_t size)
{
    struct truth *t = &k->cores[core];
    while (size && t->output_at < t->output.len) {
        struct output output;
        const uint8_t *bytes = t->output.data + t->output_at + sizeof(output);
        memcpy(&output, t->output.data + t->output_at, sizeof(output));
        if (output.fd != fd || output.size > size)
            return differ(k, core, "size of what is written to a file", output.size, size);
        for (size_t i = 0; i < output.size; i++) {
            uint8_t should;
            if ((bytes[i] == '?' && output.known < output.size) ||
                vs_copy_read(&m->is, addr + i, &should, 1))
                continue;
            if (bytes[i] != should)
                return differ(k, core, "a byte that is written to a file", bytes[i], should);
            k->v->output_bytes++;
        }
        t->output_at += sizeof(output) + output.size;
        addr += output.size;
        size -= output.size;
    }
    return 0;
}

static int compare_parts(struct checker *k, unsigned core, struct vs_run_memory *m,
                         const struct vs_syscall_head *call)
{
    enum { PARTS_MOST = 1024 };
    uint64_t size = call->result;
    int err = 0;
    for (uint64_t i = 0; i < call->args[2] && i < PARTS_MOST && size && !err; i++) {
        struct vs_abi_iovec part;
        if (vs_copy_read(&m->is, call->args[1] + i * sizeof(part), (uint8_t *)&part, sizeof(part)))
            return 0; /* the replay does not know it either */
        uint64_t n = part.size < size ? part.size : size;
        err = compare_output(k, core, m, call->args[0], part.base, n);
        size -= n;
    }
    return err;
}

static int compare_call(struct checker *k, struct vs_run_memory *m, const struct vs_batch *b,
                        const struct vs_event *e)
{
    struct vs_syscall_head call;
    uint64_t pc;
    if (e->size < sizeof(call) || vs_syscall_resumes(b, e, &pc))
        return 0;
    memcpy(&call, vs_event_bytes(b, e), sizeof(call));
    if ((int64_t)call.result <= 0)
        return 0;
    switch (vs_abi_call(k->replay->config.isa->abi, e->addr)) {
    case VS_SYS_write:
    case VS_SYS_pwrite64:
        return compare_output(k, e->thread, m, call.args[0], call.args[1],
                              call.result < call.args[2] ? call.result : call.args[2]);
    case VS_SYS_writev:
        return compare_parts(k, e->thread, m, &call);
    default:
        return 0;
    }
}

/* ---- all events ------------------------------------------------------------------------------ */

static int take_event(struct checker *k, struct calls *calls, struct vs_run_memory *m,
                      const struct vs_batch *b, const struct vs_event *e)
{
    int err = note_call(calls, e);
    if (err)
        return err;
    if (e->kind == VS_LOAD || e->kind == VS_STORE)
        return vs_run_memory_inside(m, e->addr, vs_event_bytes(b, e), e->size);
    return e->kind == VS_SYSCALL
               ? compare_call(k, m, b, e)
               : vs_run_memory_outside(m, k->replay->config.isa->abi, b, e, calls->last[e->thread]);
}

/* Makes all of the run's accesses in their order, and compares output. */
static int read_memory(struct checker *k, const char *path, struct vs_run_memory *memory)
{
    struct calls calls = {0};
    struct vs_reader *reader;
    struct vs_batch b;
    int n = vs_run_open(&reader, path, VS_OPEN_DEFAULT, &k->v->diag);
    if (n)
        return n;
    while (!n && (n = vs_reader_next(reader, &b)) > 0) {
        n = 0;
        for (size_t i = 0; i < b.count && !n; i++)
            n = take_event(k, &calls, memory, &b, &b.events[i]);
    }
    if (n != -VSE_END && !k->v->diag.error)
        run_failed(k, reader, n);
    free(calls.last);
    vs_reader_close(reader);
    return n == -VSE_END ? 0 : n;
}

static int compare_memory(struct checker *k, const struct vs_copy *is,
                          const struct vs_run_memory *was)
{
    return vs_run_memory_compare(was, is, k->replay->outside.cautious, &k->v->memory_bytes,
                                 &k->v->diag);
}

static int check_memory(struct checker *k, const char *path, bool over)
{
    struct vs_replay *r = k->replay;
    struct vs_run_memory memory;
    int err = 0;
    if (r->count == 1 || r->view_count > 1)
        for (unsigned i = 0; i < r->view_count && !err; i++)
            if (r->cores[i].program + 1 == r->outside.present.program_count) /* exec took others' */
                err = compare_memory(k, &r->views[i], &k->cores[i].memory);
    vs_run_memory_init(&memory);
    if (!err)
        err = read_memory(k, path, &memory);
    /* If it is not over, nothing says what the other cores had done by then. */
    if (!err && r->count > 1 && r->view_count == 1 && over)
        err = compare_memory(k, &r->views[0], &memory);
    vs_run_memory_fini(&memory);
    return err;
}

/* ---- everything ------------------------------------------------------------------------------ */

/* Code that does not change has no versions. */
static int read_text(struct checker *k)
{
    struct vs_pieces_cursor cursor = {.pieces = &k->pieces};
    struct vs_batch batch;
    const struct vs_event *e;
    int err = vs_codeview_add(&k->text, k->reader);
    if (!err && !k->pieces.changes.count)
        err = -VSE_END;
    while (!err && !(err = vs_pieces_next(&cursor, &batch, &e)))
        err = vs_codeview_take(&k->text, k->reader, &(struct vs_batch){.events = e, .count = 1});
    vs_pieces_cursor_fini(&cursor);
    return err == -VSE_END ? vs_text_index(&k->text) : err;
}

static int open_run(struct checker *k, const char *path)
{
    int err = vs_run_open(&k->reader, path, VS_OPEN_DEFAULT, &k->v->diag);
    if (err)
        return err;
    const struct vs_run_info *info = vs_reader_info(k->reader);
    if (info->threads != k->replay->count)
        return vs_diag_set(&k->v->diag, -VSE_CORRUPT, -1, -1,
                           "it has %u threads, and the stream %u cores", info->threads,
                           k->replay->count);
    if ((err = vs_pieces_init(&k->pieces, k->reader, VS_PIECES_ROOM)) ||
        (err = vs_pieces_feed_init(&k->feed, &k->pieces, k->replay->count)) ||
        (err = vs_prior_open(&k->prior)) || (err = vs_pieces_read(&k->pieces, k->prior)))
        return run_failed(k, k->reader, err);
    if ((err = read_text(k)))
        return run_failed(k, k->reader, err);
    return 0;
}

static int open_truth(struct checker *k, const char *path)
{
    const struct vs_cpu_ops *cpu = k->replay->config.cpu;
    k->decoded = cpu->code_new();
    k->cpus = vs_cpu_new(cpu, k->replay->count, k->decoded, &k->memory);
    k->cores = calloc(k->replay->count, sizeof(*k->cores));
    if (!k->decoded || !k->cpus || !k->cores)
        return vs_diag_set(&k->v->diag, -VSE_NOMEM, -1, -1, "%s", vs_errstr(-VSE_NOMEM));
    for (unsigned i = 0; i < k->replay->count; i++) {
        k->cores[i].cpu = vs_cpu_at(k->cpus, i);
        vs_run_memory_init(&k->cores[i].memory);
    }
    int err = open_run(k, path);
    vs_recall_init(&k->recall, &k->pieces, k->prior);
    return err;
}

static void close_truth(struct checker *k)
{
    for (unsigned i = 0; k->cores && i < k->replay->count; i++) {
        vs_run_memory_fini(&k->cores[i].memory);
        vs_buf_fini(&k->cores[i].taken);
        vs_buf_fini(&k->cores[i].lines);
        vs_buf_fini(&k->cores[i].output);
    }
    if (k->cores && k->cpus && k->decoded)
        vs_recall_fini(&k->recall);
    vs_pieces_feed_fini(&k->feed);
    vs_pieces_fini(&k->pieces);
    vs_text_fini(&k->text);
    vs_prior_close(k->prior);
    vs_reader_close(k->reader);
    free(k->cores);
    free(k->cpus);
    vs_cpu_code_free(k->decoded);
}

/* Whether the core has an event left that it should have come to. If it ended while an instruction
 * repeated itself, a stream need not tell how many more iterations there were. */
static int is_left(struct checker *k, struct truth *t, bool *left)
{
    unsigned core = (unsigned)(t - k->cores);
    int err = look(k, t);
    while (!err && event_of(t)) {
        if (is_outside(event_of(t)))
            next(t);
        else if (t->cpu->iterations && event_of(t)->kind == VS_STORE && !event_of(t)->icount)
            err = execute(k, core, 0, t->cpu->iterations + 1);
        else
            break;
        err = err ? err : look(k, t);
    }
    *left = event_of(t);
    return err;
}

/* Checks the cores' last instructions, which took no message. */
static int check_ends(struct checker *k, bool over)
{
    int err = 0;
    for (unsigned i = 0; i < k->replay->count && !err; i++) {
        struct truth *t = &k->cores[i];
        bool left;
        if (!over) /* a core may have taken only some of an instruction's messages */
            t->taken.len = t->lines.len = 0;
        if ((err = check_core(k, i)) || !over || (err = is_left(k, t, &left)))
            return err;
        if (left)
            err = differ(k, i, "kind of event", 0, event_of(t)->kind);
    }
    return err;
}

static int replay_all(struct checker *k, struct vs_progress *progress)
{
    struct vs_replay *r = k->replay;
    int stop = VS_REPLAY_REACHED;
    while (stop == VS_REPLAY_REACHED) {
        const struct vs_replay_goal goal = {
            .position = r->position + (1 << 20), .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
        stop = vs_replay_run(r, &goal);
        vs_progress_update(progress, vs_port_reader_done(&r->reader));
    }
    return stop;
}

int vs_verify_replay(struct vs_replay *r, const char *path, struct vs_verify_replay *v,
                     struct vs_progress *progress)
{
    struct checker k = {
        .replay = r,
        .v = v,
        .memory = {.ops = &truth_ops},
        .witness = {.message = see_message, .memory = see_memory, .outside = see_outside}};
    struct vs_replay_hook hook = r->hook;
    k.output = r->config.output;
    k.context = r->config.context;
    r->config.output = see_output;
    r->config.context = &k;
    *v = (struct vs_verify_replay){0};
    k.witness.context = &k;
    r->hook = (struct vs_replay_hook){.message = check_core, .context = &k, .witness = &k.witness};
    int err = open_truth(&k, path), stop = VS_REPLAY_OVER;
    if (!err && (stop = replay_all(&k, progress)) < 0)
        err = stop;
    if (!err)
        err = check_ends(&k, stop == VS_REPLAY_OVER);
    if (!err)
        err = check_memory(&k, path, stop == VS_REPLAY_OVER);
    if (!err && !v->registers)
        err = vs_diag_set(&v->diag, -VSE_NOTFOUND, -1, -1, "nothing was compared");
    r->hook = hook;
    r->config.output = k.output;
    r->config.context = k.context;
    close_truth(&k);
    return err ? err : stop;
}
