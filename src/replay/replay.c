/* SPDX-License-Identifier: MIT */
#include "replay/replay.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "replay/known.h"
#include "replay/threads.h"

/* Errors of the CPUs' memory that only stop a core before its instruction. */
enum {
    NEEDS_SINGLE = -1000, /* it takes a message or is watched, so it has to be done by itself */
    MUST_WAIT = -1001,    /* it has to wait for a message of another core */
};

static int stray(struct vs_replay *r, unsigned core, const char *what)
{
    return vs_diag_set(&r->diag, -VSE_CORRUPT, (int64_t)(r->reader.bits.pos / 8), -1,
                       "core %u, pc 0x%llx, after %llu instructions: %s; is this its code?", core,
                       (unsigned long long)r->cores[core].cpu->pc,
                       (unsigned long long)r->cores[core].cpu->retired, what);
}

/* ---- the host's floating point ----------------------------------------------------------------
 */

/* The caller's floating-point flags must not become a core's. Cores leave the host's status word at
 * its default, so that it is looked at only when others may have changed it. Returns what it was.
 */
static unsigned clear_status(void)
{
    unsigned status = _mm_getcsr();
    if (status != VS_CPU_STATUS)
        _mm_setcsr(VS_CPU_STATUS);
    return status;
}

static void set_status(unsigned status)
{
    if (status != VS_CPU_STATUS)
        _mm_setcsr(status);
}

/* ---- the CPUs' memory ------------------------------------------------------------------------ */

static struct vs_replay *replay_of(struct vs_cpu_memory *memory)
{
    return (struct vs_replay *)((uint8_t *)memory - offsetof(struct vs_replay, memory));
}

static const struct vs_replay_watch *find_watch(const struct vs_replay *r, uint64_t addr,
                                                size_t size, bool writes)
{
    for (size_t i = 0; i < r->watch_count; i++) {
        const struct vs_replay_watch *w = &r->watches[i];
        if ((writes ? w->writes : w->reads) &&
            (addr - w->addr < w->size || w->addr - addr < size)) /* either may wrap around */
            return w;
    }
    return NULL;
}

/* Makes what the decoder returned an error of the CPUs' memory. */
static int outcome(struct vs_replay *r, int err)
{
    if (likely(!err))
        return 0;
    if (err == VS_DECODER_WAIT)
        return MUST_WAIT;
    if (!r->diag.error)
        vs_diag_set(&r->diag, err, r->reader.diag.offset, -1, "%s",
                    r->reader.diag.error == err ? r->reader.diag.text : vs_errstr(err));
    return err;
}

static void note_watch(struct vs_replay *r, uint64_t addr, size_t size, bool writes)
{
    const struct vs_replay_watch *w =
        unlikely(r->watch_count) ? find_watch(r, addr, size, writes) : NULL;
    if (unlikely(w))
        r->hit = w;
}

static inline bool stops_here(struct vs_replay *r, unsigned core, uint64_t addr, size_t size,
                              bool writes)
{
    if (r->single)
        return false;
    r->takes = r->ops->takes(r->decoder, core, addr, size, writes);
    return r->takes || (unlikely(r->watch_count) && find_watch(r, addr, size, writes));
}

static int fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                 size_t size)
{
    size_t known = vs_replay_fetch(replay_of(memory), cpu->id, addr, bytes, size);
    if (!known)
        cpu->fault = addr;
    return (int)known;
}

/* Returns whether other accesses of the same instruction may follow this one. */
static inline bool is_part(enum vs_access access, bool writes)
{
    return access == VS_ACCESS_PART || (access == VS_ACCESS_ATOMIC && !writes);
}

static inline bool repeat(struct vs_replay *r, unsigned core, void *bytes, size_t size)
{
    struct vs_replay_core *c = &r->cores[core];
    if (likely(!r->repeats))
        return false;
    r->repeats = vs_done_repeat(&c->done, c->cpu, bytes, size);
    return r->repeats;
}

static int keep(struct vs_replay *r, unsigned core, const void *bytes, size_t size)
{
    int err = vs_done_keep(&r->cores[core].done, r->cores[core].cpu, bytes, size);
    return err ? vs_diag_set(&r->diag, err, -1, -1, "an instruction has too many accesses") : 0;
}

/* Returns whether all there is to an access is what the decoder makes of it. */
static inline bool may_be_quiet(const struct vs_replay *r, uint64_t addr, size_t size, bool writes)
{
    return !r->single && !r->repeats &&
           (likely(!r->watch_count) || !find_watch(r, addr, size, writes));
}

static inline int after_read(struct vs_replay *r, unsigned core, uint64_t addr, unsigned size,
                             enum vs_access access, const void *bytes)
{
    int err;
    if (is_part(access, false) && (err = keep(r, core, bytes, size)))
        return err;
    return vs_copy_write(vs_replay_view(r, core), addr, bytes, size);
}

static __attribute__((noinline)) int read_loudly(struct vs_replay *r, unsigned core, uint64_t addr,
                                                 unsigned size, enum vs_access access, void *bytes)
{
    if (stops_here(r, core, addr, size, false))
        return NEEDS_SINGLE;
    if (repeat(r, core, bytes, size)) {
        note_watch(r, addr, size, false);
        return 0;
    }
    int err = r->ops->read(r->decoder, core, addr, size, bytes);
    if (err)
        return outcome(r, err);
    note_watch(r, addr, size, false);
    return after_read(r, core, addr, size, access, bytes);
}

static int read_value(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                      unsigned size, enum vs_access access, void *bytes)
{
    struct vs_replay *r = replay_of(memory);
    if (likely(may_be_quiet(r, addr, size, false)) &&
        likely(!r->ops->read_quietly(r->decoder, cpu->id, addr, size, bytes)))
        return after_read(r, cpu->id, addr, size, access, bytes);
    return read_loudly(r, cpu->id, addr, size, access, bytes);
}

static inline int after_write(struct vs_replay *r, unsigned core, uint64_t addr, unsigned size,
                              enum vs_access access, const void *bytes)
{
    uint8_t none;
    int err;
    if (is_part(access, true) && (err = keep(r, core, &none, 0)))
        return err;
    if (unlikely(r->noted) && (err = vs_replay_note(r, core, addr, size)))
        return err;
    if (r->view_count > 1 && (err = vs_copy_write(&r->code.stored, addr, bytes, size)))
        return err;
    return vs_copy_write(vs_replay_view(r, core), addr, bytes, size);
}

static __attribute__((noinline)) int write_loudly(struct vs_replay *r, unsigned core, uint64_t addr,
                                                  unsigned size, enum vs_access access,
                                                  const void *bytes)
{
    uint8_t none;
    if (stops_here(r, core, addr, size, true))
        return NEEDS_SINGLE;
    if (repeat(r, core, &none, 0)) {
        note_watch(r, addr, size, true);
        return 0;
    }
    int err = r->ops->write(r->decoder, core, addr, size, bytes);
    if (err)
        return outcome(r, err);
    note_watch(r, addr, size, true);
    return after_write(r, core, addr, size, access, bytes);
}

static int write_value(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, enum vs_access access, const void *bytes)
{
    struct vs_replay *r = replay_of(memory);
    int err = VS_DECODER_LOUD;
    if (likely(may_be_quiet(r, addr, size, true)))
        err = r->ops->write_quietly(r->decoder, cpu->id, addr, size, bytes);
    if (unlikely(err == VS_DECODER_LOUD))
        return write_loudly(r, cpu->id, addr, size, access, bytes);
    return unlikely(err) ? outcome(r, err) : after_write(r, cpu->id, addr, size, access, bytes);
}

static int read_outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what,
                        unsigned size, void *bytes)
{
    struct vs_replay *r = replay_of(memory);
    (void)what;
    if (!r->single) {
        r->takes = true;
        return NEEDS_SINGLE;
    }
    if (repeat(r, cpu->id, bytes, size))
        return 0;
    int err = outcome(r, r->ops->nondet(r->decoder, cpu->id, size, bytes));
    return err ? err : keep(r, cpu->id, bytes, size);
}

/* Whether a store-conditional stored is a value from outside. */
static int write_conditional(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                             unsigned size, const void *bytes, int *stored)
{
    uint64_t failed;
    int err = read_outside(memory, cpu, VS_COUNTER_OTHER, sizeof(failed), &failed);
    if (err)
        return err;
    *stored = !failed;
    return *stored ? write_value(memory, cpu, addr, size, VS_ACCESS_PLAIN, bytes) : 0;
}

static const struct vs_cpu_memory_ops memory_ops = {.fetch = fetch,
                                                    .read = read_value,
                                                    .write = write_value,
                                                    .conditional = write_conditional,
                                                    .outside = read_outside};

/* ---- what the program writes to files ------------------------------------------------------- */

enum { PIECE = 4096, OUTPUT_MAX = 1 << 30 };

static void put_output(struct vs_replay *r, unsigned core, uint64_t fd, uint64_t addr,
                       uint64_t size)
{
    uint8_t bytes[PIECE];
    for (uint64_t done = 0; done < size && done < OUTPUT_MAX; done += PIECE) {
        size_t part = size - done < PIECE ? (size_t)(size - done) : PIECE, known = 0;
        for (size_t i = 0; i < part; i++) {
            bool is = vs_replay_read(r, core, addr + done + i, &bytes[i], 1);
            bytes[i] = is ? bytes[i] : '?';
            known += is;
        }
        r->config.output(r->config.context, core, fd, bytes, part, known);
    }
}

/* Puts out bytes whose address is not known. */
static void put_unknown(struct vs_replay *r, unsigned core, uint64_t fd, uint64_t size)
{
    uint8_t bytes[PIECE];
    memset(bytes, '?', sizeof(bytes));
    for (uint64_t done = 0; done < size && done < OUTPUT_MAX; done += PIECE)
        r->config.output(r->config.context, core, fd, bytes,
                         size - done < PIECE ? (size_t)(size - done) : PIECE, 0);
}

static void put_vector(struct vs_replay *r, unsigned core, uint64_t fd, uint64_t vector,
                       uint64_t count, uint64_t size)
{
    for (uint64_t i = 0; i < count && i < 1024 && size; i++) {
        uint64_t part[2] = {0};
        size_t known = vs_replay_read(r, core, vector + 16 * i, (uint8_t *)part, 16);
        if (known < 8) {
            put_unknown(r, core, fd, size);
            return;
        }
        uint64_t n = known == 16 && part[1] < size ? part[1] : size;
        put_output(r, core, fd, part[0], n);
        size -= n;
    }
}

/* ---- system calls ---------------------------------------------------------------------------- */

bool vs_replay_flushes(const struct vs_isa *isa, const struct vs_cpu *cpu)
{
    return vs_abi_call(isa->abi, vs_cpu_get(cpu, isa->abi->call)) == VS_SYS_riscv_flush_icache;
}

static void begin_call(struct vs_replay *r, struct vs_replay_core *c)
{
    const struct vs_abi *abi = r->config.isa->abi;
    c->called = true;
    c->call.abi = abi;
    c->call.what = vs_abi_call(abi, vs_cpu_get(c->cpu, abi->call));
    for (unsigned i = 0; i < sizeof(c->call.args) / sizeof(c->call.args[0]); i++)
        c->call.args[i] = vs_cpu_get(c->cpu, abi->args[i]);
    if (vs_replay_flushes(r->config.isa, c->cpu))
        vs_cpu_flush_all(r->decoded);
}

/* The core has the registers that its call returned; a call that is to be made `again` returned
 * none. */
static int end_call(struct vs_replay *r, unsigned core, bool again)
{
    struct vs_replay_core *c = &r->cores[core];
    const uint64_t *args = c->call.args;
    uint64_t result = vs_cpu_get(c->cpu, r->config.isa->abi->result);
    c->call.result = result;
    c->called = false;
    int err = again ? 0 : vs_replay_after_call(r, core);
    if (!err && !again && r->hook.call) {
        r->hook.call(r->hook.context, core);
        clear_status();
    }
    if (err || !r->config.output || again || (int64_t)result <= 0)
        return err;
    if (c->call.what == VS_SYS_write || c->call.what == VS_SYS_pwrite64)
        put_output(r, core, args[0], args[1], result < args[2] ? result : args[2]);
    else if (c->call.what == VS_SYS_writev)
        put_vector(r, core, args[0], args[1], args[2], result);
    clear_status();
    return 0;
}

/* Notes the cycle of the message that the core is about to take. With a decoder that parses ahead
 * it is not known. */
static void note_cycle(struct vs_replay *r, unsigned core)
{
    if (!r->ops->ahead)
        r->cores[core].cycle = r->reader.cycles[core];
}

/* ---- executing ------------------------------------------------------------------------------- */

static int tell_message(struct vs_replay *r, unsigned core)
{
    if (!r->hook.message)
        return 0;
    int err = r->hook.message(r->hook.context, core);
    clear_status();
    return err;
}

/* Executes and counts instructions. Returns what vs_cpu_run does. */
static int execute(struct vs_replay *r, unsigned core, uint64_t most)
{
    struct vs_replay_core *c = &r->cores[core];
    uint64_t before = c->cpu->retired, iterations = c->cpu->iterations;
    if (unlikely(c->program != r->decoded_program)) {
        vs_cpu_flush_all(r->decoded);
        r->decoded_program = c->program;
    }
    vs_done_restart(&c->done);
    r->repeats = vs_replay_is_within(c);
    int stop = vs_cpu_run(c->cpu, most);
    uint64_t done = c->cpu->retired - before;
    c->since += done;
    r->position += done;
    r->progress += done + (c->cpu->iterations != iterations);
    return stop;
}

/* Executes the next instruction or iteration, which may take a message. */
static int execute_single(struct vs_replay *r, unsigned core)
{
    struct vs_cpu *cpu = r->cores[core].cpu;
    uint64_t before = r->progress;
    if (r->takes)
        note_cycle(r, core);
    r->single = true;
    cpu->passing = cpu->pc;
    cpu->iterate_until = cpu->iterations ? cpu->iterations + 1 : 0;
    int stop = execute(r, core, !cpu->iterations);
    cpu->iterate_until = 0;
    cpu->passing = VS_PASSING_NONE;
    r->single = false;
    if (r->progress == before)
        r->hit = NULL; /* an access counts when its instruction is done */
    if (stop < 0 || r->progress == before)
        return stop;
    int err = tell_message(r, core);
    return err ? err : stop;
}

/* Lets an instruction that repeats itself do iterations until it has done so many, or all of them
 * if `until` is 0. The core's next message is taken already, so they take none. */
static int iterate(struct vs_replay *r, unsigned core, uint64_t until)
{
    struct vs_cpu *cpu = r->cores[core].cpu;
    int stop = VS_STOP_LIMIT;
    while (stop == VS_STOP_LIMIT && cpu->iterations && cpu->iterations != until) {
        cpu->iterate_until = until;
        stop = execute(r, core, 0);
        cpu->iterate_until = 0;
        if (stop == NEEDS_SINGLE && !r->takes)
            stop = execute_single(r, core);
    }
    if (stop == VS_STOP_LIMIT && cpu->iterations == until)
        return 0;
    return stop < 0 && stop != NEEDS_SINGLE && stop != MUST_WAIT
               ? stop
               : stray(r, core, "its instruction did not repeat itself so often");
}

/* ---- registers from the stream --------------------------------------------------------------- */

/* What registers came for. */
enum cause {
    CAUSE_START,
    CAUSE_CALL,
    CAUSE_EXCEPTION,
    CAUSE_GAP,
};

/* `iterations` is set to those that came before an exception, or to 0. */
static enum cause note_cause(struct vs_replay_core *c, const uint8_t *bytes, size_t size,
                             uint64_t *iterations)
{
    enum cause cause = !c->started ? CAUSE_START : CAUSE_CALL;
    unsigned number, width;
    const uint8_t *value;
    *iterations = 0;
    while (vs_regs_next(&bytes, &size, &number, &width, &value) > 0) {
        if (number == VS_REG_ITERATIONS)
            memcpy(iterations, value, width < 8 ? width : 8);
        if (number == VS_REG_CAUSE) {
            c->cause = 0;
            memcpy(&c->cause, value, width < 8 ? width : 8);
            c->exceptions++;
            cause = CAUSE_EXCEPTION;
        }
        if (number == VS_REG_PC && cause == CAUSE_CALL && !c->called)
            cause = CAUSE_GAP; /* an exception has its cause after its pc */
    }
    return cause;
}

/* Makes memory unknown that is no longer what it was. */
static int after_state(struct vs_replay *r, unsigned core, enum cause cause, bool again)
{
    struct vs_replay_core *c = &r->cores[core];
    switch (cause) {
    case CAUSE_START:
        c->first_sp = vs_cpu_get(c->cpu, r->config.isa->abi->stack);
        vs_replay_thread_begins(r, core);
        return vs_replay_begin(r, core);
    case CAUSE_EXCEPTION:
        return vs_replay_after_signal(r, core);
    case CAUSE_GAP:
        return vs_replay_forget_all(r, core);
    case CAUSE_CALL:
        break;
    }
    return c->called ? end_call(r, core, again) : 0;
}

/* Returns whether to stop for the signal. */
static bool is_wanted(const struct vs_replay *r, uint64_t signal)
{
    return signal && signal <= 64 && r->signals >> (signal - 1) & 1;
}

/* The core has come to where code changes. The first core that comes to a change begins it. */
static int pass_change(struct vs_replay *r, unsigned core)
{
    struct vs_replay_core *c = &r->cores[core];
    struct vs_replay_code *code = &r->code;
    int err = 0;
    c->since = 0;
    if (c->changes++ < code->changes)
        return tell_message(r, core);
    if (code->due)
        err = vs_replay_change_code(r); /* nobody did anything since the previous change */
    code->changes++;
    code->due = true;
    return err ? err : tell_message(r, core);
}

/* Another core stores where this one stored, and comes there only now. */
static int pass_place(struct vs_replay *r, unsigned core)
{
    r->cores[core].since = 0;
    r->cores[core].places++;
    return tell_message(r, core);
}

static int take_state(struct vs_replay *r, unsigned core)
{
    struct vs_replay_core *c = &r->cores[core];
    const uint8_t *bytes;
    size_t size;
    uint64_t next = c->cpu->pc, iterations;
    note_cycle(r, core);
    int err = outcome(r, r->ops->state(r->decoder, core, c->since, &bytes, &size));
    if (err)
        return err;
    if (!size && c->started)
        return pass_change(r, core);
    if (size == VS_DATA_PLACE && c->started)
        return bytes[0] ? stray(r, core, "it gets half a register") : pass_place(r, core);
    enum cause cause = note_cause(c, bytes, size, &iterations);
    if (c->cpu->iterations && cause == CAUSE_EXCEPTION) {
        r->payload.len = 0;
        if (vs_buf_put(&r->payload, bytes, size))
            return -VSE_NOMEM;
        bytes = r->payload.data;
        if ((err = iterate(r, core, iterations)))
            return err;
    }
    bool wanted = cause == CAUSE_EXCEPTION && is_wanted(r, c->cause);
    if (cause == CAUSE_EXCEPTION) {
        vs_cpu_copy(r->before, c->cpu);
        c->interrupted_sp = vs_cpu_get(c->cpu, r->config.isa->abi->stack);
    }
    if (cause == CAUSE_GAP)
        vs_cpu_clear(c->cpu); /* whatever is not named is as at the beginning */
    if (vs_cpu_set_registers(c->cpu, bytes, size))
        return stray(r, core, "it gets registers that its ISA does not have");
    vs_done_clear(&c->done);
    c->since = 0;
    c->states++;
    if (!c->started)
        c->changes = r->code.changes;
    c->started = true;
    if (wanted) {
        r->signalled = true;
        r->last = core;
    }
    err = after_state(r, core, cause, c->cpu->pc != next);
    return err ? err : tell_message(r, core);
}

static int take_end(struct vs_replay *r, unsigned core)
{
    int err = outcome(r, r->ops->end(r->decoder, core, r->cores[core].since));
    r->cores[core].ended = !err;
    if (!err && r->cores[core].cpu->iterations)
        err = vs_replay_forget_iterations(r, core);
    return err ? err : vs_replay_after_end(r, core);
}

/* ---- one core -------------------------------------------------------------------------------- */

/* Why a core's slice ended, beside errors. */
enum slice {
    SLICE_GOAL,
    SLICE_WAIT,
    SLICE_BREAK,
    SLICE_WATCH,
    SLICE_SIGNAL,
};

static const char *trap_name(int stop)
{
    switch (stop) {
    case VS_STOP_TRAP:
        return "a breakpoint that was not executed";
    case VS_STOP_ILLEGAL:
        return "no instruction";
    case VS_STOP_FETCH_FAULT:
        return "no code is known there";
    default:
        return "an access that cannot be";
    }
}

static uint64_t instructions_left(const struct vs_replay *r, unsigned core,
                                  const struct vs_replay_goal *goal)
{
    const struct vs_cpu *cpu = r->cores[core].cpu;
    uint64_t left = goal->position > r->position ? goal->position - r->position : 0;
    if (core == goal->core && goal->retired < cpu->retired + left)
        left = goal->retired > cpu->retired ? goal->retired - cpu->retired : 0;
    return left;
}

/* Finds whether the core may run now: if cores cannot run ahead, it must be its turn. Returns 0 if
 * it may; 1 if it has to wait; an error. */
static int may_run(struct vs_replay *r, unsigned core)
{
    unsigned turn = core;
    if (r->ops->ahead || r->count == 1)
        return 0;
    int err = r->ops->turn(r->decoder, &turn);
    return err ? outcome(r, err) : turn != core;
}

/* Does what is due before the core's next instruction. Returns 0 if nothing is, with *most set to
 * how many instructions may be executed before something is; 1 if something was done; MUST_WAIT; an
 * error. */
static int do_due(struct vs_replay *r, unsigned core, uint64_t *most)
{
    struct vs_replay_core *c = &r->cores[core];
    uint64_t due;
    bool ends;
    int err = outcome(r, r->ops->due(r->decoder, core, c->since, &due, &ends));
    if (err)
        return err;
    *most = due - c->since;
    /* It may have iterations left before that, whose accesses the stream counts. */
    if (due == c->since && (!c->cpu->iterations || r->ops->takes(r->decoder, core, 0, 1, false))) {
        err = ends ? take_end(r, core) : take_state(r, core);
        r->progress += !err;
        return err ? err : 1;
    }
    if (due < c->since)
        return stray(r, core, "its registers should have changed before");
    if (!c->started)
        return due == UINT64_MAX ? MUST_WAIT : stray(r, core, "it has no registers");
    if (c->called)
        return due == UINT64_MAX ? MUST_WAIT : stray(r, core, "a system call that was not made");
    return 0;
}

/* To be called after instructions were executed. Returns 0 to go on; a negative error; SLICE_x + 1
 * to end the slice. */
static int after_run(struct vs_replay *r, unsigned core, int stop)
{
    switch (stop) {
    case VS_STOP_LIMIT:
        return 0;
    case VS_STOP_CALL:
        begin_call(r, &r->cores[core]);
        return 0;
    case VS_STOP_BREAK:
        return SLICE_BREAK + 1;
    case MUST_WAIT:
        return SLICE_WAIT + 1;
    default:
        return stop > 0 ? stray(r, core, trap_name(stop)) : stop;
    }
}

/* The stream has no more messages for the core. Where cores run ahead there may be some for others,
 * but those may need what this core does before its next one; only a core that has not begun can
 * wait for good. Returns SLICE_WAIT if it does, otherwise the error. */
static int out_of_messages(struct vs_replay *r, unsigned core, int err)
{
    if (!r->ops->ahead || r->cores[core].started || (err != -VSE_END && err != -VSE_TRUNCATED))
        return err;
    r->diag.error = 0;
    return SLICE_WAIT;
}

/* Runs a core until it waits, or the goal is reached. Returns a SLICE_x, or an error. */
static int run_slice(struct vs_replay *r, unsigned core, const struct vs_replay_goal *goal)
{
    struct vs_replay_core *c = &r->cores[core];
    for (;;) {
        uint64_t most, left;
        if (c->ended)
            return SLICE_WAIT;
        int err = may_run(r, core);
        if (!err)
            err = do_due(r, core, &most);
        else if (err == 1)
            err = MUST_WAIT;
        if (err == 1 && r->signalled && !r->hit)
            return SLICE_SIGNAL;
        if (err == 1)
            continue;
        if (err)
            return err == MUST_WAIT ? SLICE_WAIT : out_of_messages(r, core, err);
        if (r->hit)
            return SLICE_WATCH;
        if (!(left = instructions_left(r, core, goal)) && !c->cpu->iterations)
            return SLICE_GOAL;
        if (unlikely(r->code.due) && c->changes == r->code.changes &&
            (err = vs_replay_change_code(r)))
            return err;
        if (unlikely(r->hook.turn) && r->last != core)
            r->hook.turn(r->hook.context, core);
        r->last = core;
        if (c->passed == c->cpu->retired + 1)
            c->cpu->passing = c->cpu->pc;
        int stop = execute(r, core, left < most ? left : most);
        if (stop == NEEDS_SINGLE && !most && r->takes)
            stop = VS_STOP_LIMIT; /* what is due comes before its next iteration */
        if (stop == NEEDS_SINGLE)
            stop = execute_single(r, core);
        c->cpu->passing = VS_PASSING_NONE;
        if ((stop = after_run(r, core, stop)))
            return stop < 0 ? out_of_messages(r, core, stop) : stop - 1;
    }
}

/* ---- all cores ------------------------------------------------------------------------------- */

static bool all_ended(const struct vs_replay *r)
{
    for (unsigned i = 0; i < r->count; i++)
        if (!r->cores[i].ended)
            return false;
    return true;
}

/* Sets r->current to the core whose slice is next. Returns 0; VS_REPLAY_OVER + 1; an error. */
static int choose_core(struct vs_replay *r)
{
    if (r->current != VS_REPLAY_NONE)
        return 0;
    if (r->ops->ahead && r->starting < r->count) {
        r->current = r->starting;
        return 0;
    }
    if (all_ended(r)) {
        r->over = true;
        return VS_REPLAY_OVER + 1;
    }
    return outcome(r, r->ops->turn(r->decoder, &r->current));
}

static int stuck(struct vs_replay *r, unsigned core)
{
    return vs_diag_set(&r->diag, -VSE_CORRUPT, (int64_t)(r->reader.bits.pos / 8), -1,
                       "core %u, pc 0x%llx: it is its turn, and it cannot go on", core,
                       (unsigned long long)r->cores[core].cpu->pc);
}

/* The core waits, and another's slice is next. A core whose turn had just come must have done
 * something, or at least have taken messages that need nothing done. */
static int give_way(struct vs_replay *r, bool chosen, uint64_t progress)
{
    unsigned core = r->current, turn;
    bool began = r->ops->ahead && r->starting < r->count;
    r->current = VS_REPLAY_NONE;
    r->starting += began;
    if (began || !chosen || progress != r->progress)
        return 0;
    int err = outcome(r, r->ops->turn(r->decoder, &turn));
    return err ? err : turn == core ? stuck(r, core) : 0;
}

/* That a stream ends is no error: where it is cut was said when it was opened. A decoder that
 * failed is not asked again, since it may have taken half a message. */
static int ended(struct vs_replay *r, int err)
{
    r->broken = err;
    r->current = VS_REPLAY_NONE;
    return err == -VSE_END || err == -VSE_TRUNCATED ? VS_REPLAY_CUT : err;
}

/* An instruction that repeats itself is completed before, unless it has to wait. */
static bool is_reached(const struct vs_replay *r, const struct vs_replay_goal *goal)
{
    bool within = r->current != VS_REPLAY_NONE && r->cores[r->current].cpu->iterations;
    return !within &&
           (r->position >= goal->position ||
            (goal->core < r->count && r->cores[goal->core].cpu->retired >= goal->retired));
}

/* A core that was let past an address may have to wait there, and must not stop again when it goes
 * on. */
static void let_past(struct vs_replay_core *c, bool past)
{
    c->passed = past ? c->cpu->retired + 1 : 0;
}

/* Runs until there is a reason to stop. Returns a VS_REPLAY_x, or an error. */
static int run(struct vs_replay *r, const struct vs_replay_goal *goal)
{
    if (r->current != VS_REPLAY_NONE)
        let_past(&r->cores[r->current], !goal->fresh);
    for (;;) {
        uint64_t progress = r->progress;
        bool chosen = r->current == VS_REPLAY_NONE;
        if (is_reached(r, goal))
            return VS_REPLAY_REACHED;
        int err = choose_core(r);
        if (err)
            return err > 0 ? err - 1 : ended(r, err);
        int slice = run_slice(r, r->current, goal);
        if (slice < 0)
            return ended(r, slice);
        if (slice == SLICE_WAIT && (err = give_way(r, chosen, progress)))
            return ended(r, err);
        if (r->hit)
            return VS_REPLAY_WATCH;
        if (slice == SLICE_SIGNAL)
            return VS_REPLAY_SIGNAL;
        if (slice == SLICE_BREAK)
            return VS_REPLAY_BREAK;
    }
}

/* The position must be the instructions of all cores together. */
static bool adds_up(const struct vs_replay *r)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < r->count; i++)
        sum += r->cores[i].cpu->retired;
    return sum == r->position;
}

int vs_replay_run(struct vs_replay *r, const struct vs_replay_goal *goal)
{
    invariant(adds_up(r));
    r->hit = NULL;
    r->signalled = false;
    if (!r->broken)
        r->diag.error = 0;
    unsigned status = clear_status();
    int stop = r->broken ? ended(r, r->broken) : run(r, goal);
    set_status(status);
    if (!r->broken)
        return stop;
    return r->hit ? VS_REPLAY_WATCH : is_reached(r, goal) ? VS_REPLAY_REACHED : stop;
}

/* Does what vs_replay_settle does. */
static int settle(struct vs_replay *r)
{
    const struct vs_replay_goal here = {
        .position = r->position, .core = VS_REPLAY_NONE, .retired = UINT64_MAX};
    for (;;) {
        uint64_t progress = r->progress;
        bool chosen = r->current == VS_REPLAY_NONE;
        int err = choose_core(r);
        if (err)
            return err > 0 ? err - 1 : ended(r, err);
        int slice = run_slice(r, r->current, &here);
        if (slice < 0)
            return ended(r, slice);
        if (slice != SLICE_WAIT)
            return VS_REPLAY_REACHED;
        if ((err = give_way(r, chosen, progress)))
            return ended(r, err);
    }
}

int vs_replay_settle(struct vs_replay *r)
{
    r->hit = NULL;
    if (r->broken)
        return ended(r, r->broken);
    unsigned status = clear_status();
    int stop = settle(r);
    set_status(status);
    return stop;
}

void vs_replay_break(struct vs_replay *r, const uint64_t *addrs, size_t count)
{
    vs_replay_note_code(r);
    vs_cpu_break(r->decoded, addrs, count);
    r->flushes = r->decoded->flushes; /* these were not the program's */
}

/* ---- for the hook's witness ------------------------------------------------------------------ */

static void hand_on_message(void *context, unsigned core, uint64_t cycle)
{
    const struct vs_port_witness *w = ((const struct vs_replay *)context)->hook.witness;
    if (w && w->message)
        w->message(w->context, core, cycle);
}

static void hand_on_memory(void *context, unsigned core, const struct vs_port_memory *m)
{
    const struct vs_port_witness *w = ((const struct vs_replay *)context)->hook.witness;
    if (w && w->memory)
        w->memory(w->context, core, m);
}

static void hand_on_outside(void *context, unsigned core, const struct vs_port_outside *o)
{
    const struct vs_port_witness *w = ((const struct vs_replay *)context)->hook.witness;
    if (w && w->outside)
        w->outside(w->context, core, o);
}

/* ---- making ---------------------------------------------------------------------------------- */

int vs_replay_init(struct vs_replay *r, const struct vs_replay_config *config, struct vs_diag *diag)
{
    const struct vs_technique *t = config->spec.technique;
    const char *why = vs_technique_undecodable(&config->spec);
    const struct vs_cpu_ops *cpu = config->cpu ? config->cpu : config->isa->cpu;
    struct vs_port_shape shape;
    *r = (struct vs_replay){.config = *config,
                            .ops = t->data_decoder,
                            .memory = {.ops = &memory_ops, .integer = true},
                            .current = VS_REPLAY_NONE,
                            .count = config->setup.cores};
    r->config.cpu = cpu;
    if (!(t->serves & VS_TECHNIQUE_DATA))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s has no load values to replay from",
                           t->name);
    if (why)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s", why);
    if (!cpu)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s cannot be executed", config->isa->name);
    vs_technique_shape(&config->spec, &config->setup, &shape);
    r->decoded = cpu->code_new();
    r->cpus = vs_cpu_new(cpu, r->count, r->decoded, &r->memory);
    r->before = vs_cpu_new(cpu, 1, NULL, NULL);
    r->cores = calloc(r->count, sizeof(*r->cores));
    r->view_count = r->ops->ahead ? 1 : r->count;
    r->views = malloc(r->view_count * sizeof(*r->views));
    r->outside.threads = calloc(r->count, sizeof(*r->outside.threads));
    vs_copy_init(&r->outside.gone);
    vs_copy_init(&r->ahead.written);
    vs_copy_init(&r->code.stored);
    vs_copy_init(&r->code.image);
    for (unsigned i = 0; r->views && i < r->view_count; i++)
        vs_copy_init(&r->views[i]);
    bool made = r->decoded && r->cpus && r->before && r->cores;
    int err = made && r->views && r->outside.threads ? 0 : -VSE_NOMEM;
    if (!err)
        err = vs_present_init(&r->outside.present, config->loaded ? config->loaded->image_count : 0,
                              r->count);
    for (unsigned i = 0; i < r->count && !err; i++)
        r->cores[i].cpu = vs_cpu_at(r->cpus, i);
    if (!err)
        err = vs_port_reader_init(&r->reader, &shape, config->streams);
    r->reader.more = config->more;
    r->witness = (struct vs_port_witness){.context = r,
                                          .message = hand_on_message,
                                          .memory = hand_on_memory,
                                          .outside = hand_on_outside};
    r->reader.witness = &r->witness;
    if (!err)
        err = r->ops->open(&r->decoder, config->spec.params, &config->setup, &r->reader);
    if (!err)
        vs_replay_use(r, config->pool);
    return err ? vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err)) : 0;
}

void vs_replay_fini(struct vs_replay *r)
{
    if (r->decoder)
        r->ops->close(r->decoder);
    vs_port_reader_fini(&r->reader);
    for (unsigned i = 0; r->views && i < r->view_count; i++)
        vs_copy_fini(&r->views[i]);
    free(r->views);
    vs_cpu_code_free(r->decoded);
    free(r->cpus);
    free(r->before);
    free(r->cores);
    free(r->maps);
    r->maps = NULL;
    vs_replay_outside_fini(&r->outside);
    vs_replay_code_fini(&r->code);
    vs_copy_fini(&r->ahead.written);
    vs_buf_fini(&r->payload);
    r->decoder = NULL;
    r->decoded = NULL;
    r->cpus = r->before = NULL;
    r->views = NULL;
    r->cores = NULL;
}
