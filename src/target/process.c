/* SPDX-License-Identifier: MIT */
#include "target/process.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/random.h"
#include "target/config.h"
#include "target/linux.h"

/* ---- effects --------------------------------------------------------------------------------- */

struct vs_effect *vs_effect_add(struct vs_process *p, enum vs_effect_kind kind, struct vs_task *t)
{
    if (vs_array_room((void **)&p->effects, &p->effect_capacity, p->effect_count, 1,
                      sizeof(p->effects[0]))) {
        p->linux_state->nomem = true;
        p->effect_count--; /* there is at least one: vs_process_open made room for it */
    }
    struct vs_effect *e = &p->effects[p->effect_count++];
    *e = (struct vs_effect){.kind = kind, .task = t};
    return e;
}

static void remove_effect(struct vs_process *p, size_t at)
{
    p->effect_count--;
    memmove(p->effects + at, p->effects + at + 1, (p->effect_count - at) * sizeof(p->effects[0]));
}

static int outcome(const struct vs_process *p)
{
    return p->linux_state->nomem ? -VSE_NOMEM : 0;
}

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Returns a slot that is free, or a new one; NULL without memory. */
static struct vs_task *take_slot(struct vs_process *p)
{
    for (size_t i = 0; i < p->task_count; i++)
        if (p->tasks[i]->state == VS_TASK_ENDED)
            return p->tasks[i];
    struct vs_task **tasks = realloc(p->tasks, (p->task_count + 1) * sizeof(*tasks));
    if (!tasks)
        return NULL;
    p->tasks = tasks;
    struct vs_task *t = calloc(1, sizeof(*t));
    if (t) {
        t->linux_state = calloc(1, sizeof(*t->linux_state));
        t->cpu = vs_cpu_new(p->isa->cpu, 1, p->code, &p->memory.seen);
    }
    if (!t || !t->linux_state || !t->cpu) {
        free(t ? t->cpu : NULL);
        free(t ? t->linux_state : NULL);
        free(t);
        return NULL;
    }
    t->state = VS_TASK_ENDED;
    t->cpu->id = (uint32_t)p->task_count;
    if (vs_ram_attach(&p->memory, t->cpu)) {
        free(t->cpu);
        free(t->linux_state);
        free(t);
        return NULL;
    }
    p->tasks[p->task_count++] = t;
    return t;
}

struct vs_task *vs_task_new(struct vs_process *p)
{
    struct vs_task *t = take_slot(p);
    if (!t) {
        p->linux_state->nomem = true;
        return NULL;
    }
    vs_ram_break(&p->memory, t->cpu);
    p->isa->cpu->init(t->cpu, t->cpu->id, p->code, &p->memory.seen);
    memset(t->linux_state, 0, sizeof(*t->linux_state));
    t->tid = p->linux_state->next_tid++;
    t->number = p->started++;
    t->state = VS_TASK_READY;
    t->attention = false;
    t->call = (struct vs_call){0};
    p->alive++;
    return t;
}

struct vs_task *vs_task_find(const struct vs_process *p, uint32_t tid)
{
    for (size_t i = 0; i < p->task_count; i++)
        if (p->tasks[i]->state != VS_TASK_ENDED && p->tasks[i]->tid == tid)
            return p->tasks[i];
    return NULL;
}

void vs_task_end(struct vs_process *p, struct vs_task *t, int status)
{
    invariant(t->state != VS_TASK_ENDED && p->alive);
    t->state = VS_TASK_ENDED;
    t->attention = false;
    vs_signals_fini(&t->linux_state->pending);
    vs_ram_break(&p->memory, t->cpu);
    p->linux_state->ended_time += t->cpu->retired;
    p->alive--;
    vs_effect_add(p, VS_EFFECT_ENDED, t)->value = (uint64_t)status;
}

void vs_process_end(struct vs_process *p, int status)
{
    for (size_t i = 0; i < p->task_count; i++)
        if (p->tasks[i]->state != VS_TASK_ENDED)
            vs_task_end(p, p->tasks[i], status);
    p->ended = true;
    p->status = status;
}

uint64_t vs_process_random(struct vs_process *p)
{
    return vs_random(&p->linux_state->random);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int start(struct vs_process *p, const struct vs_process_options *options,
                 struct vs_diag *diag)
{
    struct vs_linux *s = p->linux_state;
    s->cores = options->cores ? options->cores : 1;
    s->random = options->seed;
    s->interrupt = options->interrupt;
    s->space.limit = options->memory_limit ? options->memory_limit : UINT64_C(4) << 30;
    s->next_tid = VS_LINUX_PID;
    for (size_t i = 0; i < 3; i++)
        s->intervals[i] = (struct vs_timer){.due = VS_NEVER, .id = -1};
    p->code = p->isa->cpu->code_new();
    if (!p->code ||
        vs_array_room((void **)&p->effects, &p->effect_capacity, 0, 64, sizeof(p->effects[0])))
        return -VSE_NOMEM;
    struct vs_task *t = vs_task_new(p);
    if (!t)
        return -VSE_NOMEM;
    int err = vs_files_init(p);
    if (!err)
        err = vs_load(p, t, options, diag);
    if (err)
        return err;
    vs_effect_add(p, VS_EFFECT_STARTED, t);
    return outcome(p);
}

int vs_process_open(struct vs_process **process, const struct vs_process_options *options,
                    struct vs_diag *diag)
{
    struct vs_process *p = calloc(1, sizeof(*p));
    *process = NULL;
    if (p)
        p->linux_state = calloc(1, sizeof(*p->linux_state));
    if (!p || !p->linux_state) {
        free(p);
        return -VSE_NOMEM;
    }
    vs_ram_init(&p->memory);
    p->isa = vs_isa_find(VS_TARGET_ISA);
    p->linux_state->cwd = -1;
    int err = start(p, options, diag);
    if (err) {
        vs_process_close(p);
        return err;
    }
    *process = p;
    return 0;
}

void vs_process_close(struct vs_process *p)
{
    if (!p)
        return;
    vs_files_fini(p);
    for (size_t i = 0; i < p->task_count; i++) {
        vs_signals_fini(&p->tasks[i]->linux_state->pending);
        free(p->tasks[i]->linux_state);
        free(p->tasks[i]->cpu);
        free(p->tasks[i]);
    }
    free(p->tasks);
    free(p->effects);
    vs_ram_fini(&p->memory);
    vs_cpu_code_free(p->code);
    vs_signals_fini(&p->linux_state->pending);
    vs_space_fini(&p->linux_state->space);
    free(p->linux_state->path);
    free(p->linux_state);
    free(p);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Runs the handler of the task's call, for the first time or again. The call's effect goes before
 * those that the handler adds. */
static void do_call(struct vs_process *p, struct vs_task *t)
{
    vs_handler *handler = vs_call_handler(t->call.what);
    size_t at = p->effect_count;
    vs_effect_add(p, VS_EFFECT_CALL, t)->pc = t->call.pc;
    int64_t result = handler ? handler(p, t, t->call.args) : vs_call_unsupported(p, t);
    if (result == VS_CALL_BLOCKED || result == VS_CALL_GONE) {
        remove_effect(p, at);
        if (result == VS_CALL_BLOCKED) {
            t->state = VS_TASK_BLOCKED;
            t->linux_state->wait.again = true;
        }
        return;
    }
    if (result == VS_CALL_LAST) {
        p->effects[at].value = t->call.args[0];
        return;
    }
    t->state = VS_TASK_READY;
    t->linux_state->wait.again = false;
    vs_cpu_put(t->cpu, p->isa->abi->result, (uint64_t)result);
    p->effects[at].value = (uint64_t)result;
    vs_signal_mask_back(p, t);
}

int64_t vs_wait_begin(struct vs_process *p, struct vs_task *t, enum vs_wait_kind kind,
                      enum vs_restart restart, uint64_t deadline)
{
    struct vs_wait *w = &t->linux_state->wait;
    if (!w->again)
        *w = (struct vs_wait){.kind = kind,
                              .restart = restart,
                              .deadline = deadline,
                              .order = p->linux_state->waits++};
    return VS_CALL_BLOCKED;
}

void vs_wait_end(struct vs_process *p, struct vs_task *t, int64_t result)
{
    struct vs_effect *e = vs_effect_add(p, VS_EFFECT_CALL, t);
    e->pc = t->call.pc;
    e->value = (uint64_t)result;
    t->state = VS_TASK_READY;
    t->linux_state->wait.again = false;
    vs_cpu_put(t->cpu, p->isa->abi->result, (uint64_t)result);
    vs_signal_mask_back(p, t);
}

/* Returns the task that waits for a file and was the first to begin that after `order`, or NULL. */
static struct vs_task *next_retry(const struct vs_process *p, uint64_t order)
{
    struct vs_task *best = NULL;
    for (size_t i = 0; i < p->task_count; i++) {
        struct vs_task *t = p->tasks[i];
        const struct vs_wait *w = &t->linux_state->wait;
        if (t->state == VS_TASK_BLOCKED && w->kind == VS_WAIT_RETRY && w->order >= order &&
            (!best || w->order < best->linux_state->wait.order))
            best = t;
    }
    return best;
}

static void retry(struct vs_process *p)
{
    struct vs_task *t;
    for (uint64_t order = 0; !p->ended && (t = next_retry(p, order));) {
        order = t->linux_state->wait.order + 1;
        do_call(p, t);
    }
}

/* What a call did to pipes may end the waits of other tasks, whose calls may end further ones. */
static void settle(struct vs_process *p)
{
    while (p->linux_state->files_changed && !p->ended) {
        p->linux_state->files_changed = false;
        retry(p);
    }
    for (size_t i = 0; i < p->task_count && !p->ended; i++)
        if (p->tasks[i]->state == VS_TASK_BLOCKED)
            vs_signal_wake(p, p->tasks[i]);
}

int vs_process_call(struct vs_process *p, struct vs_task *t)
{
    const struct vs_abi *abi = p->isa->abi;
    t->call.pc = t->cpu->pc - abi->call_length;
    t->call.number = vs_cpu_get(t->cpu, abi->call);
    t->call.what = vs_abi_call(abi, t->call.number);
    for (size_t i = 0; i < sizeof(t->call.args) / sizeof(t->call.args[0]); i++)
        t->call.args[i] = vs_cpu_get(t->cpu, abi->args[i]);
    t->linux_state->wait.again = false;
    do_call(p, t);
    settle(p);
    return outcome(p);
}

/* ---- faults ---------------------------------------------------------------------------------- */

static struct vs_signal fault_signal(int number, int code, uint64_t addr)
{
    return vs_signal_plain(number, code, (uint32_t)addr, (uint32_t)(addr >> 32));
}

static struct vs_signal access_signal(const struct vs_process *p, uint64_t addr)
{
    const struct vs_area *a = vs_space_at(p, addr);
    return fault_signal(SIGSEGV, a && a->start <= addr ? SEGV_ACCERR : SEGV_MAPERR, addr);
}

int vs_process_fault(struct vs_process *p, struct vs_task *t, int stop)
{
    static const unsigned needs[] = {
        [VS_STOP_FETCH_FAULT] = VS_MAP_EXEC,
        [VS_STOP_LOAD_FAULT] = VS_MAP_READ,
        [VS_STOP_STORE_FAULT] = VS_MAP_WRITE,
    };
    struct vs_signal signal;
    switch (stop) {
    case VS_STOP_FETCH_FAULT:
    case VS_STOP_LOAD_FAULT:
    case VS_STOP_STORE_FAULT:
        if (vs_space_touch(p, t->cpu->fault, needs[stop]))
            return outcome(p);
        signal = access_signal(p, t->cpu->fault);
        break;
    case VS_STOP_LOAD_ALIGN:
    case VS_STOP_STORE_ALIGN:
        signal = fault_signal(SIGBUS, BUS_ADRALN, t->cpu->pc);
        break;
    case VS_STOP_TRAP:
        signal = fault_signal(SIGTRAP, TRAP_BRKPT, t->cpu->pc);
        break;
    default:
        signal = fault_signal(SIGILL, ILL_ILLOPC, t->cpu->pc);
        break;
    }
    vs_signal_force(p, t, &signal);
    return outcome(p);
}

/* ---- the passing of time --------------------------------------------------------------------- */

/* Returns the blocked task whose wait times out first, or NULL. */
static struct vs_task *next_timeout(const struct vs_process *p)
{
    struct vs_task *best = NULL;
    for (size_t i = 0; i < p->task_count; i++) {
        struct vs_task *t = p->tasks[i];
        const struct vs_wait *w = &t->linux_state->wait, *b = best ? &best->linux_state->wait : 0;
        if (t->state == VS_TASK_BLOCKED && w->deadline != VS_NEVER &&
            (!b || w->deadline < b->deadline ||
             (w->deadline == b->deadline && w->order < b->order)))
            best = t;
    }
    return best;
}

static void time_out(struct vs_process *p, struct vs_task *t)
{
    switch (t->linux_state->wait.kind) {
    case VS_WAIT_RETRY:
        do_call(p, t); /* the handler sees for itself that it is late */
        return;
    case VS_WAIT_FUTEX:
        vs_wait_end(p, t, -ETIMEDOUT);
        return;
    case VS_WAIT_SIGNALS:
        vs_wait_end(p, t, -EAGAIN);
        return;
    default:
        vs_wait_end(p, t, 0);
        return;
    }
}

int vs_process_advance(struct vs_process *p)
{
    while (!p->ended) {
        struct vs_timer *timer = vs_timer_next(p);
        struct vs_task *t = next_timeout(p);
        uint64_t due = timer ? timer->due : VS_NEVER;
        uint64_t deadline = t ? t->linux_state->wait.deadline : VS_NEVER;
        if ((due <= deadline ? due : deadline) > p->now || (!timer && !t))
            break;
        if (timer && due <= deadline)
            vs_timer_expire(p, timer);
        else
            time_out(p, t);
        settle(p);
    }
    if (vs_process_waits(p)) {
        retry(p);
        settle(p);
    }
    return outcome(p);
}

uint64_t vs_process_deadline(const struct vs_process *p)
{
    const struct vs_timer *timer = vs_timer_next(p);
    const struct vs_task *t = next_timeout(p);
    uint64_t due = timer ? timer->due : VS_NEVER;
    uint64_t deadline = t ? t->linux_state->wait.deadline : VS_NEVER;
    return due < deadline ? due : deadline;
}

bool vs_process_waits(const struct vs_process *p)
{
    for (size_t i = 0; i < p->task_count; i++)
        if (p->tasks[i]->state == VS_TASK_BLOCKED && p->tasks[i]->linux_state->wait.host)
            return true;
    return false;
}

int vs_process_wait(struct vs_process *p)
{
    enum { TICK = 50 }; /* milliseconds until the interrupt is looked at again */
    const struct vs_interrupt *interrupt = p->linux_state->interrupt;
    struct pollfd list[VS_FDS];
    size_t count = 0;
    for (size_t i = 0; i < p->task_count; i++)
        if (p->tasks[i]->state == VS_TASK_BLOCKED && p->tasks[i]->linux_state->wait.host)
            count += vs_poll_host(p, p->tasks[i], list + count, VS_FDS - count);
    while (count && !vs_interrupted(interrupt)) {
        int ready = poll(list, count, TICK);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            break;
    }
    return 0;
}
