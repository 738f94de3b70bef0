/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/diag.h"
#include "isa/cpu_load.h"
#include "isa/noted.h"
#include "rerun/rerun_state.h"

/* Instructions, or iterations of one, between looks at how many events there are, about. */
#define SLICE 4096

/* ---- running --------------------------------------------------------------------------------- */

static int differs(struct vs_rerun *r, const struct vs_cpu *cpu, const char *what)
{
    return vs_diag_set(&r->diag, -VSE_CORRUPT, -1, -1,
                       "executed again, thread %u is not where it was after %llu instructions, at "
                       "0x%llx: %s; something that was not recorded must have changed its memory",
                       cpu->id, (unsigned long long)cpu->retired, (unsigned long long)cpu->pc,
                       what);
}

static const char *stop_text(int stop)
{
    switch (stop) {
    case VS_STOP_FETCH_FAULT:
        return "there is no code";
    case VS_STOP_LOAD_FAULT:
    case VS_STOP_STORE_FAULT:
        return "it makes an access that cannot be made";
    case VS_STOP_ARITHMETIC:
        return "it divides by zero";
    default:
        return "there is an instruction that cannot be executed";
    }
}

/* Runs the core to where its thread has to be: after its goal's instructions and, if the last of
 * them repeats itself and is not complete, after that many iterations of it. Returns 0; 1 if there
 * are many events already; an error. */
static int run_on(struct vs_rerun *r, struct vs_rerun_thread *t, uint64_t iterations)
{
    struct vs_cpu *cpu = t->cpu;
    while (cpu->retired != t->goal || cpu->iterations != iterations) {
        uint64_t left = t->goal - cpu->retired, until = cpu->iterations + SLICE;
        if (r->count >= VS_RERUN_BATCH)
            return 1;
        if (cpu->retired > t->goal || (!left && !cpu->iterations))
            return differs(r, cpu, "it went too far");
        if (!left && iterations) {
            if (cpu->iterations > iterations)
                return differs(r, cpu, "an instruction repeated itself too often");
            if (until > iterations)
                until = iterations;
        }
        cpu->iterate_until = until;
        cpu->pause_after = SLICE;
        int stop = r->selecting ? vs_selecting_run(r, t, left) : vs_cpu_run(cpu, left);
        if (r->failed)
            return r->failed;
        if (stop < 0)
            return stop;
        if (stop != VS_STOP_LIMIT && stop != VS_STOP_CALL)
            return differs(r, cpu, stop_text(stop));
    }
    return 0;
}

/* The iterations that a thread has done of the instruction that it is in when the event happens. */
static uint64_t iterations_at(const struct vs_rerun_thread *t, const struct vs_event *e,
                              const uint8_t *payload)
{
    const uint8_t *bytes;
    size_t size = e->size;
    unsigned number, width;
    uint64_t iterations = 0;
    if (e->kind == VS_TURN && e->size == sizeof(struct vs_turn))
        memcpy(&iterations, payload + offsetof(struct vs_turn, iterations), sizeof(iterations));
    if (e->kind != VS_EXCEPTION)
        return e->kind == VS_TURN ? iterations : t->held;
    while (vs_regs_next(&payload, &size, &number, &width, &bytes) > 0)
        if (number == VS_REG_ITERATIONS && width == sizeof(iterations))
            memcpy(&iterations, bytes, sizeof(iterations));
    return iterations;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static int start_thread(struct vs_rerun *r, struct vs_rerun_thread *t, const struct vs_event *e,
                        const uint8_t *payload)
{
    free(t->cpu);
    t->cpu = vs_cpu_new(r->ops, 1, r->code, &r->seen);
    if (!t->cpu)
        return -VSE_NOMEM;
    t->cpu->id = e->thread;
    t->cpu->retired = t->goal;
    int err = vs_cpu_set_registers(t->cpu, payload, e->size);
    t->cpu->pc = e->pc;
    return err;
}

/* Memory is told anew: no thread is where it was. Returns 0; -VSE_CORRUPT (one has still to go
 * somewhere with what memory held before). */
static int begin_part(struct vs_rerun *r)
{
    for (unsigned i = 0; i < r->thread_count; i++) {
        struct vs_rerun_thread *t = &r->threads[i];
        if (t->cpu && t->goal != t->cpu->retired)
            return -VSE_CORRUPT;
        t->stale = t->cpu != NULL;
    }
    return 0;
}

/* A thread goes on after a gap. */
static int end_gap(struct vs_rerun *r, struct vs_rerun_thread *t, const struct vs_event *e,
                   const uint8_t *payload)
{
    if (!t->cpu || t->goal != t->cpu->retired)
        return -VSE_CORRUPT;
    t->stale = false;
    return start_thread(r, t, e, payload);
}

static int check_digest(struct vs_rerun *r, const struct vs_cpu *cpu, uint64_t wanted)
{
    uint64_t digest = 0;
    r->digests += wanted != 0;
    for (unsigned i = 0; i < r->isa->digest_count; i++) {
        uint64_t words[VS_REGISTER_BYTES / 8] = {0};
        int n = cpu->ops->get(cpu, r->isa->digest[i], words);
        if (n > 0)
            digest = vs_turn_digest(digest, words, ((unsigned)n + 7) / 8);
    }
    return !wanted || vs_turn_digest_end(digest) == wanted
               ? 0
               : differs(r, cpu, "its registers are not what they were");
}

static int put_outside(struct vs_rerun *r, uint64_t addr, const void *bytes, size_t size)
{
    bool code = false;
    int err = vs_whole_put(&r->memory, addr, bytes, size, &code);
    if (code)
        vs_rerun_memory_changed(r, addr, size);
    return err;
}

/* Whether memory is zero, as it is where nothing ever was. */
static int is_empty(struct vs_rerun *r, uint64_t addr, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte;
        int err = vs_whole_get(&r->memory, addr + i, &byte, 1);
        if (err || byte)
            return err;
    }
    return 1;
}

/* Code that lies where nothing is mapped is Valgrind's in place of the kernel's. */
static int place_code(struct vs_rerun *r, uint64_t id)
{
    struct vs_block b;
    if (vs_reader_block(r->inputs, id, &b))
        return 0;
    int empty = is_empty(r, b.addr, b.size);
    return empty > 0 ? put_outside(r, b.addr, b.bytes, b.size) : empty;
}

/* Does what the input does, now that its thread is there. */
static int apply(struct vs_rerun *r, struct vs_rerun_thread *t, const struct vs_event *e,
                 const uint8_t *payload)
{
    const size_t head = e->kind == VS_SYSCALL ? sizeof(struct vs_syscall_head) : 0;
    uint64_t digest;
    int err;
    switch (e->kind) {
    case VS_THREAD_START:
        return start_thread(r, t, e, payload);
    case VS_THREAD_EXIT:
        free(t->cpu);
        t->cpu = NULL;
        return 0;
    case VS_EXTERNAL:
        return put_outside(r, e->addr, payload, e->size);
    case VS_CONTENT:
        if (e->flags & VS_CONTENT_DIGESTS)
            return vs_rerun_compare_memory(r, e, payload);
        err = e->flags & VS_CONTENT_ANEW ? begin_part(r) : 0;
        if (!err)
            err = vs_whole_content(&r->memory, e, payload, &r->diag);
        vs_rerun_memory_changed(r, e->addr, e->flags & VS_CONTENT_ANEW ? e->value : e->size);
        return err;
    case VS_GAP:
        return end_gap(r, t, e, payload);
    case VS_MAP:
        vs_whole_clear(&r->memory, e->addr, e->value);
        vs_rerun_memory_changed(r, e->addr, e->value);
        return 0;
    case VS_CODE:
        return place_code(r, e->value);
    case VS_TURN:
        memcpy(&digest, payload, sizeof(digest));
        return t->cpu ? check_digest(r, t->cpu, digest) : 0;
    case VS_NONDET:
        return r->outside != r->outside_end && t->cpu
                   ? differs(r, t->cpu, "it takes no value from outside where it did")
                   : 0;
    case VS_SYSCALL:
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        if (!t->cpu)
            return -VSE_CORRUPT;
        if (e->kind == VS_EXCEPTION && t->cpu->pc != e->pc)
            return differs(r, t->cpu, "a signal came somewhere else");
        if ((err = vs_cpu_set_registers(t->cpu, payload + head, e->size - head)))
            return err;
        if (e->kind != VS_SYSCALL)
            t->cpu->pc = e->addr;
        if (e->kind == VS_EXCEPTION)
            t->cpu->iterations = 0;
        return 0;
    default:
        return 0;
    }
}

/* Whether the event is made anew. */
static bool is_made(const struct vs_event *e)
{
    return e->kind <= VS_STORE || e->kind == VS_COUNT;
}

/* The input's thread is there: it happens. */
static int happen(struct vs_rerun *r, struct vs_rerun_thread *t, const struct vs_event *e,
                  const uint8_t *payload)
{
    int err = r->selecting ? vs_selecting_before(r, t, e, payload) : 0;
    if (!err)
        err = apply(r, t, e, payload);
    if (!err && (!r->selecting || vs_selecting_keeps(r->selecting, e)))
        vs_rerun_append(r, e, payload, t->goal);
    return err || !r->selecting ? err : vs_selecting_after(r, e);
}

/* Takes the input at r->at, with all that its thread does before. Returns 0; 1 if it is not there
 * yet; an error. */
static int take_input(struct vs_rerun *r)
{
    if (!r->begun && r->at >= r->outside_end && r->in.events[r->at].kind == VS_NONDET) {
        int failed = vs_rerun_find_values(r);
        if (failed)
            return failed;
    }
    const struct vs_event *e = &r->in.events[r->at];
    struct vs_rerun_thread *t = &r->threads[e->thread];
    const uint8_t *payload = e->kind == VS_BRANCH ? NULL : vs_event_bytes(&r->in, e);
    int err = 0;
    if (!r->begun) {
        t->goal += e->icount;
        r->executed += e->icount;
        if (e->icount) {
            t->held = 0;
            r->ran = e->thread;
        }
        r->begun = true;
    }
    if (r->selecting && r->selecting->done) {
        if (!is_made(e) && vs_selecting_keeps(r->selecting, e))
            vs_rerun_append(r, e, payload, t->last);
    } else if (!is_made(e)) {
        err = t->cpu && !t->stale ? run_on(r, t, iterations_at(t, e, payload)) : 0;
        if (!err)
            err = happen(r, t, e, payload);
        if (!err)
            t->held = t->cpu ? t->cpu->iterations : 0;
    }
    if (!err) {
        r->begun = false;
        r->at++;
    }
    return err;
}

/* Says why there are no more events. */
static int explain(const struct vs_rerun *r, int err, struct vs_diag *diag)
{
    if (err == -VSE_NOMEM)
        return vs_diag_set(diag, err, -1, -1, "out of memory");
    if (err != -VSE_END && !r->diag.error)
        return vs_diag_set(diag, err, -1, -1, "the run's inputs make no sense");
    if (err != -VSE_END && diag)
        *diag = r->diag;
    return err;
}

/* Whether a thread is on the way to an input, or has got values whose inputs are not taken yet. */
static bool is_amid_input(const struct vs_rerun *r)
{
    return r->begun || r->at < r->outside_end;
}

int vs_rerun_next(struct vs_rerun *r, struct vs_batch *batch, struct vs_diag *diag)
{
    int err = r->failed;
    uint64_t first = vs_rerun_events(r);
    r->count = 0;
    r->made.wide.len = 0;
    while (!err && r->count < VS_RERUN_BATCH) {
        if (r->selecting && !is_amid_input(r))
            err = vs_selecting_hasten(r);
        if (!err)
            err = vs_rerun_get_inputs(r);
        if (!err)
            err = take_input(r);
        if (!err)
            err = r->failed;
    }
    r->failed = err < 0 ? err : 0;
    if (!r->count && err < 0)
        return explain(r, err, diag);
    *batch = (struct vs_batch){.events = r->made.events,
                               .wide = r->made.wide.data,
                               .wide_size = r->made.wide.len,
                               .count = r->count,
                               .first = first};
    return (int)r->count;
}

int vs_rerun_skip(struct vs_rerun *r, uint64_t instructions, struct vs_diag *diag)
{
    uint64_t from = r->executed;
    int err = r->failed;
    r->count = 0; /* nothing is left to be delivered */
    r->counting = true;
    vs_rerun_use(r, true);
    while (!err && (r->executed - from < instructions || is_amid_input(r))) {
        if (r->selecting && !is_amid_input(r))
            err = vs_selecting_hasten(r);
        if (!err)
            err = vs_rerun_get_inputs(r);
        if (!err)
            err = take_input(r);
    }
    r->counting = false;
    vs_rerun_use(r, true);
    r->failed = err;
    return err ? explain(r, err, diag) : 0;
}

unsigned vs_rerun_begun(const struct vs_rerun *r)
{
    return r->selecting ? r->selecting->begun : r->thread_count;
}

const struct vs_cpu_ops *vs_rerun_cpu(const struct vs_rerun *r)
{
    return r->ops;
}

uint64_t vs_rerun_executed(const struct vs_rerun *r)
{
    return r->executed;
}

uint64_t vs_rerun_digests(const struct vs_rerun *r)
{
    return r->digests;
}

uint64_t vs_rerun_pages(const struct vs_rerun *r, uint64_t *times)
{
    *times = r->digested.times;
    return r->digested.pages;
}

struct vs_thread_info vs_rerun_thread(const struct vs_rerun *r, unsigned thread)
{
    uint64_t left_out = r->selecting ? r->selecting->threads[thread].left_out : 0;
    return (struct vs_thread_info){r->threads[thread].events, r->threads[thread].last - left_out};
}

uint64_t vs_rerun_flow_events(const struct vs_rerun *r, unsigned thread)
{
    return r->threads[thread].flow_events;
}

void vs_rerun_flow_only(struct vs_rerun *r)
{
    r->flow_only = true;
    vs_rerun_use(r, true);
}

/* ---- going somewhere else -------------------------------------------------------------------- */

void vs_rerun_forget(struct vs_rerun *r)
{
    for (unsigned i = 0; i < r->thread_count; i++) {
        free(r->threads[i].cpu);
        r->threads[i] = (struct vs_rerun_thread){0};
    }
    vs_whole_fini(&r->memory);
    vs_cpu_flush_all(r->code);
    vs_rerun_code_changed(r);
    r->at = r->outside = r->outside_end = 0;
    r->in = (struct vs_batch){0};
    r->begun = false;
    r->executed = r->digests = 0;
    r->ran = 0;
    memset(&r->digested, 0, sizeof(r->digested));
    r->failed = 0;
    r->diag = (struct vs_diag){0};
}

int vs_rerun_rewind(struct vs_rerun *r, struct vs_diag *diag)
{
    vs_rerun_forget(r);
    if (r->selecting)
        vs_selecting_reset(r);
    return vs_rerun_seek_input(r, 0, diag);
}

int vs_rerun_select(struct vs_rerun *r, const struct vs_selection *what,
                    const struct vs_packed_snapshots *snapshots)
{
    int err = r->isa->gap ? vs_selecting_open(&r->selecting, r, what) : -VSE_INVAL;
    if (!err)
        r->selecting->snapshots = what->find ? NULL : snapshots;
    return err;
}

/* ---- opening and closing --------------------------------------------------------------------- */

static int prepare(struct vs_rerun *r, const char *folder, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(r->inputs);
    r->isa = vs_isa_find(vs_reader_meta(r->inputs, "isa"));
    if (!(info->features & VS_RUN_INPUTS))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "the run does not have what is needed to execute it again; record it "
                           "with --inputs");
    if (!r->isa)
        return vs_diag_set(diag, -VSE_NOTFOUND, -1, -1, "the run's instruction set is unknown");
    int err = vs_cpu_load(r->isa, folder, &r->ops, NULL, diag);
    if (err)
        return err;
    r->threads = calloc(info->threads + 1u, sizeof(*r->threads));
    r->code = r->threads ? r->ops->code_new() : NULL;
    if (!r->code)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    r->thread_count = info->threads;
    r->code->branched = vs_rerun_branched;
    r->code->describe = r->isa->decode;
    return 0;
}

/* A run that touches more than there is ends with a message. */
static size_t pages_to_spare(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (size_t)pages / 4 * 3 : 0;
}

int vs_rerun_open(struct vs_rerun **out, struct vs_reader *inputs, const char *folder,
                  struct vs_diag *diag)
{
    struct vs_rerun *r = calloc(1, sizeof(*r));
    *out = r;
    if (!r)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    vs_rerun_use(r, true);
    r->memory.limit = pages_to_spare();
    r->inputs = inputs;
    int err = prepare(r, folder, diag);
    if (err) {
        vs_rerun_close(r);
        *out = NULL;
    }
    return err;
}

void vs_rerun_close(struct vs_rerun *r)
{
    if (!r)
        return;
    if (r->code)
        vs_rerun_forget(r);
    vs_selecting_close(r->selecting);
    vs_cpu_code_free(r->code);
    free(r->threads);
    vs_made_fini(&r->made);
    vs_made_fini(&r->joined);
    free(r);
}
