/* SPDX-License-Identifier: MIT */
#include "study/flow_run.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/likely.h"
#include "replay/walk.h"

enum { EVENTS = 4096, STRETCHES = 1 << 14 };

/* Straight code that was executed, and is in a block of the run. */
struct flow_stretch {
    uint64_t pc, next;
    uint64_t last; /* its last instruction */
    uint32_t count;
    uint32_t systems; /* how many of its instructions ask the system */
    bool system;      /* the last one does */
};

struct flow_thread {
    uint64_t pc;
    uint32_t pending; /* instructions before the gap or end that is to be told */
    uint16_t number;  /* in the run */
    bool known;       /* it has a number */
    bool alive, ended;
    bool begun; /* the instruction at pc, which repeats itself, was told before */
};

struct flow_run {
    const struct vs_flow_run_config *config;
    struct vs_flow_run_result *result;
    struct flow_thread *threads;
    struct flow_stretch *stretches; /* direct-mapped by pc and count */
    uint8_t *bytes;                 /* of a block */
    struct vs_event *events;
    size_t count;
    bool theirs; /* the writer failed */
};

/* What events have that a stream does not tell. */
static const struct {
    struct vs_syscall_head call;
    uint8_t
        iterations[12]; /* the registers of an event at an instruction that has begun: at least 1 */
} unknown = {.iterations = {VS_REG_ITERATIONS & 255, VS_REG_ITERATIONS >> 8, 8, 0, 1}};

static int write_events(struct flow_run *r)
{
    const struct vs_batch batch = {.events = r->events,
                                   .count = r->count,
                                   .wide = (const uint8_t *)&unknown,
                                   .wide_size = sizeof(unknown)};
    r->count = 0;
    if (!batch.count)
        return 0;
    int err = vs_writer_put(r->config->writer, &batch);
    r->theirs = err;
    return err;
}

static int put(struct flow_run *r, const struct flow_thread *t, struct vs_event event,
               uint32_t instructions)
{
    int err = 0;
    while (instructions > UINT16_MAX && !err) {
        err = put(r, t, (struct vs_event){.kind = VS_COUNT}, UINT16_MAX);
        instructions -= UINT16_MAX;
    }
    event.thread = t->number;
    event.icount = (uint16_t)instructions;
    r->events[r->count++] = event;
    return !err && r->count == EVENTS ? write_events(r) : err;
}

/* ---- code ------------------------------------------------------------------------------------ */

static int add_block(struct flow_run *r, uint64_t pc, uint64_t size, uint32_t instructions)
{
    if (vs_text_fetch(r->config->code, 0, pc, r->bytes, size) != size)
        return -VSE_INTERNAL;
    int64_t id = vs_writer_block(r->config->writer, &(struct vs_block){.addr = pc,
                                                                       .bytes = r->bytes,
                                                                       .size = (uint32_t)size,
                                                                       .insns = instructions});
    r->theirs = id < 0;
    return id < 0 ? (int)id : 0;
}

/* Follows `count` instructions from s->pc on, which the walk has decoded before, and adds them to
 * the run's code. */
static int follow_stretch(struct flow_run *r, struct flow_stretch *s)
{
    const struct vs_isa *isa = r->config->isa;
    uint64_t begin = s->pc;
    uint32_t since = 0;
    int err = 0;
    s->next = s->pc;
    for (uint32_t i = 0; i < s->count && !err; i++) {
        uint8_t bytes[VS_ISA_LENGTH_MAX];
        struct vs_insn insn;
        size_t size = vs_text_fetch(r->config->code, 0, s->next, bytes, isa->length_max);
        if (!size || isa->decode(bytes, size, s->next, &insn) < 0)
            return -VSE_INTERNAL;
        if (s->next + insn.length - begin > VS_SIZE_MAX) {
            err = add_block(r, begin, s->next - begin, since);
            begin = s->next;
            since = 0;
        }
        s->last = s->next;
        s->system = insn.kind == VS_INSN_SYSCALL;
        s->systems += s->system;
        s->next += insn.length;
        since++;
    }
    return err || !since ? err : add_block(r, begin, s->next - begin, since);
}

/* Finds where a thread is after so many instructions of straight code. Returns NULL and sets *err
 * if that fails. */
static const struct flow_stretch *stretch_at(struct flow_run *r, uint64_t pc, uint32_t count,
                                             int *err)
{
    struct flow_stretch *s = &r->stretches[(pc ^ pc >> 14 ^ (uint64_t)count * 31) % STRETCHES];
    if (likely(s->pc == pc && s->count == count && count))
        return s;
    *s = (struct flow_stretch){.pc = pc, .count = count};
    *err = follow_stretch(r, s);
    if (!*err)
        return s;
    *s = (struct flow_stretch){0};
    return NULL;
}

/* ---- system calls -----------------------------------------------------------------------------
 */

/* Tells of the system calls among the instructions of a stretch, but for `ends` as its last
 * instruction. Sets *left to how many instructions come after the last one. */
static int put_systems(struct flow_run *r, const struct flow_thread *t,
                       const struct flow_stretch *s, bool ends, uint32_t *left)
{
    const struct vs_isa *isa = r->config->isa;
    uint64_t pc = s->pc;
    int err = 0;
    *left = s->count;
    if (likely(s->systems == (ends && s->system)))
        return 0;
    *left = 0;
    for (uint32_t i = 0; i < s->count && !err; i++) {
        uint8_t bytes[VS_ISA_LENGTH_MAX];
        struct vs_insn insn = {0};
        size_t size = vs_text_fetch(r->config->code, 0, pc, bytes, isa->length_max);
        isa->decode(bytes, size, pc, &insn);
        ++*left;
        if (insn.kind == VS_INSN_SYSCALL && !(ends && i + 1 == s->count)) {
            err = put(r, t,
                      (struct vs_event){.pc = pc,
                                        .addr = VS_FLOW_RUN_CALL,
                                        .size = sizeof(struct vs_syscall_head),
                                        .kind = VS_SYSCALL},
                      *left);
            *left = 0;
        }
        pc += insn.length;
    }
    return err;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int begin(struct flow_run *r, struct flow_thread *t, const struct vs_step *s)
{
    const uint64_t *tids = r->config->tids;
    struct vs_event event = {.pc = s->target, .kind = t->known ? VS_GAP : VS_THREAD_START};
    uint32_t before = t->pending;
    if (!t->known) {
        t->number = (uint16_t)r->result->threads++;
        event.addr = tids ? tids[s->core] : 0;
    }
    r->result->gaps += t->known;
    t->known = t->alive = true;
    t->ended = false;
    t->pending = 0;
    t->pc = s->target;
    t->begun = false;
    return put(r, t, event, before);
}

/* Finds the straight code before a step. */
static const struct flow_stretch *stretch_before(struct flow_run *r, const struct flow_thread *t,
                                                 const struct vs_step *s, int *err)
{
    uint64_t pc = t->pc;
    if (unlikely(t->begun) && (s->icount || !s->within)) {
        const struct flow_stretch *over = stretch_at(r, pc, 1, err);
        if (!over)
            return NULL;
        pc = over->next;
    }
    return stretch_at(r, pc, s->icount, err);
}

static void add_iterations(struct vs_event *event)
{
    event->size = sizeof(unknown.iterations);
    event->value = (uint64_t)((const uint8_t *)unknown.iterations - (const uint8_t *)&unknown);
}

static int go_elsewhere(struct flow_run *r, struct flow_thread *t, const struct vs_step *s)
{
    int err = 0;
    if (!t->alive)
        return s->target == VS_STEP_NOWHERE ? 0 : begin(r, t, s);
    const struct flow_stretch *before = stretch_before(r, t, s, &err);
    if (!before)
        return err;
    bool leaves = s->target == VS_STEP_NOWHERE;     /* a gap, or the end: what comes next tells */
    bool restores = before->system && !s->returned; /* it does not come back */
    uint32_t left;
    if ((err = put_systems(r, t, before, !leaves && restores, &left)))
        return err;
    if (leaves) {
        t->pending = left;
        t->alive = false;
        t->ended = true;
        return 0;
    }
    struct vs_event event = {.pc = before->next, .addr = s->target, .kind = VS_EXCEPTION};
    if (restores) {
        event.kind = VS_EXCEPTION_RET;
        event.pc = before->last;
    } else if (s->within && s->icount) {
        event.pc = before->last;
    }
    if (restores ? s->begun : s->within)
        add_iterations(&event);
    t->pc = s->target;
    t->begun = s->begun;
    return put(r, t, event, left);
}

static int take_steps(void *context, const struct vs_step *steps, size_t count)
{
    struct flow_run *r = context;
    int err = 0;
    for (const struct vs_step *s = steps; s < steps + count && !err; s++) {
        struct flow_thread *t = &r->threads[s->core];
        r->result->instructions += s->icount;
        if (s->kind == VS_STEP_DISCONTINUITY) {
            err = go_elsewhere(r, t, s);
            continue;
        }
        const struct flow_stretch *before = stretch_before(r, t, s, &err);
        uint32_t left;
        if (!before || (err = put_systems(r, t, before, false, &left)))
            break;
        r->result->branches++;
        err = put(r, t,
                  (struct vs_event){.pc = s->pc,
                                    .addr = s->target,
                                    .size = s->size,
                                    .kind = VS_BRANCH,
                                    .flags = s->flags},
                  left);
        t->pc = vs_step_next(s);
        t->begun = false;
    }
    return err;
}

/* ---- the run --------------------------------------------------------------------------------- */

static int end_threads(struct flow_run *r)
{
    int err = 0;
    for (unsigned i = 0; i < r->config->setup.cores && !err; i++)
        if (r->threads[i].ended)
            err = put(r, &r->threads[i], (struct vs_event){.kind = VS_THREAD_EXIT},
                      r->threads[i].pending);
    return err ? err : write_events(r);
}

static int walk(struct flow_run *r, struct vs_port_reader *port, void *decoder,
                struct vs_diag *diag)
{
    const struct vs_flow_run_config *c = r->config;
    const struct vs_walk_config config = {.isa = c->isa,
                                          .code = c->code,
                                          .ops = c->spec->technique->flow_decoder,
                                          .decoder = decoder,
                                          .port = port,
                                          .cores = c->setup.cores,
                                          .limit = c->limit,
                                          .jumps = true,
                                          .sink = take_steps,
                                          .context = r};
    struct vs_walk w;
    int err = vs_walk_init(&w, &config);
    if (!err && (err = vs_walk_all(&w))) {
        r->result->stream = w.stream;
        if (!r->theirs && w.diag.error == err)
            *diag = w.diag;
    }
    vs_walk_fini(&w);
    return err ? err : end_threads(r);
}

int vs_flow_run_make(const struct vs_flow_run_config *config, struct vs_flow_run_result *result,
                     struct vs_diag *diag)
{
    const struct vs_flow_decoder_ops *ops = config->spec->technique->flow_decoder;
    struct flow_run r = {.config = config, .result = result};
    struct vs_port_shape shape;
    struct vs_port_reader port = {0};
    void *decoder = NULL;
    *result = (struct vs_flow_run_result){0};
    vs_technique_shape(config->spec, &config->setup, &shape);
    r.threads = calloc(config->setup.cores, sizeof(*r.threads));
    r.stretches = calloc(STRETCHES, sizeof(*r.stretches));
    r.events = malloc(EVENTS * sizeof(*r.events));
    r.bytes = malloc(VS_SIZE_MAX);
    int err = r.threads && r.stretches && r.events && r.bytes ? 0 : -VSE_NOMEM;
    if (!err && !(err = vs_port_reader_init(&port, &shape, config->streams))) {
        if (!(err = ops->open(&decoder, config->spec->params, &config->setup, &port)))
            err = walk(&r, &port, decoder, diag);
        ops->close(decoder);
        vs_port_reader_fini(&port);
    }
    free(r.threads);
    free(r.stretches);
    free(r.events);
    free(r.bytes);
    if (err && !r.theirs && diag->error != err)
        vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    return err;
}
