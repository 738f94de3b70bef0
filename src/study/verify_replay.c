/* SPDX-License-Identifier: MIT */
#include "study/verify_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "vestige/run.h"

/* A core as the run has it. */
struct truth {
    struct vs_hart hart;
    struct vs_reader *reader; /* of its events */
    struct vs_batch batch;
    size_t at;
    uint64_t counted; /* instructions up to and including the event at `at` */
    uint64_t states;
    uint64_t called;       /* number of the system call that it made last, if nothing came since */
    bool done;             /* it has no more events */
    bool ready;            /* the event at `at` is counted */
    struct vs_copy memory; /* what it loaded and stored */
};

struct checker {
    struct vs_replay *replay;
    struct vs_verify_replay *v;
    struct vs_port port;
    struct vs_code *decoded;
    struct truth *cores;
};

/* ---- events ---------------------------------------------------------------------------------- */

static bool matters(const struct vs_event *e)
{
    switch (e->kind) {
    case VS_LOAD:
    case VS_STORE:
    case VS_NONDET:
    case VS_SYSCALL:
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
    case VS_THREAD_START:
    case VS_GAP:
        return true;
    default:
        return false;
    }
}

static int run_failed(struct checker *k, const struct vs_reader *reader, int err)
{
    const struct vs_diag *d = vs_reader_diag(reader);
    return vs_diag_set(&k->v->diag, err, d && d->error == err ? d->offset : -1, -1, "%s",
                       d && d->error == err ? d->text : vs_errstr(err));
}

/* Bytes that no instruction wrote are not known before they are loaded. They come behind the system
 * call that brought them. One that only protects memory leaves it as it is. */
static int forget_outside(struct vs_copy *memory, const struct vs_event *e, uint64_t call)
{
    enum { MPROTECT = 226 };
    if (e->kind == VS_EXTERNAL)
        return vs_copy_forget(memory, e->addr, e->size);
    return e->kind == VS_MAP && call != MPROTECT ? vs_copy_forget(memory, e->addr, e->value) : 0;
}

/* Makes the next event that matters known, unless there is none. */
static int look(struct checker *k, struct truth *t)
{
    while (!t->done && !t->ready) {
        if (t->at == t->batch.count) {
            int n = vs_reader_next(t->reader, &t->batch);
            if (n < 0 && n != -VSE_END)
                return run_failed(k, t->reader, n);
            t->done = n == -VSE_END;
            t->batch.count = t->done ? 0 : t->batch.count;
            t->at = 0;
            continue;
        }
        const struct vs_event *e = &t->batch.events[t->at];
        int err = forget_outside(&t->memory, e, t->called);
        if (err)
            return vs_diag_set(&k->v->diag, err, -1, -1, "%s", vs_errstr(err));
        t->counted += e->icount;
        t->ready = matters(e);
        t->at += !t->ready;
    }
    return 0;
}

static void next(struct truth *t)
{
    t->ready = false;
    t->at++;
}

/* ---- accesses -------------------------------------------------------------------------------- */

static struct checker *checker_of(struct vs_port *port)
{
    return (struct checker *)((uint8_t *)port - offsetof(struct checker, port));
}

static int differ(struct checker *k, unsigned core, const char *what, uint64_t is, uint64_t should)
{
    const struct vs_hart *hart = &k->cores[core].hart;
    return vs_diag_set(&k->v->diag, -VSE_CORRUPT, -1, -1,
                       "core %u, pc 0x%llx, after %llu instructions: %s is 0x%llx, and was 0x%llx",
                       core, (unsigned long long)hart->pc, (unsigned long long)hart->instret, what,
                       (unsigned long long)is, (unsigned long long)should);
}

/* The access that the hart makes, which must be the recorded one; *e then. */
static int take_access(struct checker *k, struct vs_hart *hart, unsigned kind, uint64_t addr,
                       unsigned size, const struct vs_event **e)
{
    struct truth *t = &k->cores[hart->id];
    int err = look(k, t);
    if (err)
        return err;
    *e = &t->batch.events[t->at];
    if (t->done || (*e)->kind != kind)
        return differ(k, hart->id, "kind of event", kind, t->done ? 0 : (*e)->kind);
    if (kind != VS_NONDET && (*e)->addr != addr)
        return differ(k, hart->id, "address", addr, (*e)->addr);
    if ((*e)->size != size)
        return differ(k, hart->id, "size", size, (*e)->size);
    k->v->accesses++;
    next(t);
    return 0;
}

static int truth_fetch(struct vs_port *port, struct vs_hart *hart, uint64_t addr, uint16_t *parcel)
{
    struct checker *k = checker_of(port);
    uint8_t bytes[2];
    if (vs_copy_read(&k->cores[hart->id].memory, addr, bytes, 2) &&
        vs_replay_read(k->replay, hart->id, addr, bytes, 2) !=
            2) /* another core may have made it */
        return VS_PORT_FAULT;
    *parcel = (uint16_t)(bytes[0] | bytes[1] << 8);
    return 0;
}

static int truth_read(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                      enum vs_access access, uint64_t *value)
{
    struct checker *k = checker_of(port);
    const struct vs_event *e;
    (void)access;
    int err = take_access(k, hart, VS_LOAD, addr, size, &e);
    if (err)
        return err;
    *value = e->value;
    return vs_copy_write(&k->cores[hart->id].memory, addr, (const uint8_t *)value, size);
}

static int truth_write(struct vs_port *port, struct vs_hart *hart, uint64_t addr, unsigned size,
                       enum vs_access access, uint64_t value)
{
    struct checker *k = checker_of(port);
    const struct vs_event *e;
    (void)access;
    int err = take_access(k, hart, VS_STORE, addr, size, &e);
    if (err)
        return err;
    value &= UINT64_MAX >> (64 - 8 * size);
    if (e->value != value)
        return differ(k, hart->id, "stored value", value, e->value);
    return vs_copy_write(&k->cores[hart->id].memory, addr, (const uint8_t *)&value, size);
}

static int truth_conditional(struct vs_port *port, struct vs_hart *hart, uint64_t addr,
                             unsigned size, uint64_t value, int *stored)
{
    struct checker *k = checker_of(port);
    const struct vs_event *e;
    int err = take_access(k, hart, VS_NONDET, 0, 8, &e);
    if (err)
        return err;
    *stored = !e->value;
    return *stored ? truth_write(port, hart, addr, size, VS_ACCESS_PLAIN, value) : 0;
}

static int truth_counter(struct vs_port *port, struct vs_hart *hart, unsigned csr, uint64_t *value)
{
    const struct vs_event *e;
    (void)csr;
    int err = take_access(checker_of(port), hart, VS_NONDET, 0, 8, &e);
    *value = err ? 0 : e->value;
    return err;
}

static const struct vs_port_ops truth_ops = {.fetch = truth_fetch,
                                             .read = truth_read,
                                             .write = truth_write,
                                             .conditional = truth_conditional,
                                             .counter = truth_counter};

/* ---- a core ---------------------------------------------------------------------------------- */

static int apply_state(struct checker *k, unsigned core, const struct vs_event *e)
{
    struct truth *t = &k->cores[core];
    size_t head = e->kind == VS_SYSCALL ? sizeof(struct vs_syscall_head) : 0;
    if (e->size < head)
        return differ(k, core, "size of registers", e->size, head);
    if (vs_replay_set_registers(&t->hart, vs_event_bytes(&t->batch, e) + head, e->size - head))
        return differ(k, core, "kind of registers", 0, 0);
    t->called = e->kind == VS_SYSCALL ? e->addr : 0;
    t->states++;
    next(t);
    return 0;
}

static int execute(struct checker *k, unsigned core, uint64_t most)
{
    struct truth *t = &k->cores[core];
    int stop = vs_iss_run(&t->hart, &k->port, most);
    if (stop == VS_STOP_ECALL && vs_replay_flushes(&t->hart))
        vs_code_flush(k->decoded);
    if (stop == VS_STOP_LIMIT || stop == VS_STOP_ECALL)
        return 0;
    return stop < 0 ? stop : differ(k, core, "stop", (uint64_t)stop, VS_STOP_LIMIT);
}

/* Up to where the replayed core is. */
static int advance(struct checker *k, unsigned core)
{
    struct truth *t = &k->cores[core];
    const struct vs_replay_core *c = &k->replay->cores[core];
    for (;;) {
        int err = look(k, t);
        if (err)
            return err;
        const struct vs_event *e = t->done ? NULL : &t->batch.events[t->at];
        bool state = e && e->kind != VS_LOAD && e->kind != VS_STORE && e->kind != VS_NONDET;
        if (state && t->counted == t->hart.instret && t->states < c->states) {
            if ((err = apply_state(k, core, e)))
                return err;
            continue;
        }
        if (t->hart.instret >= c->hart.instret)
            return t->states == c->states ? 0
                                          : differ(k, core, "number of times that registers came",
                                                   c->states, t->states);
        uint64_t left = c->hart.instret - t->hart.instret;
        if (e && t->counted - t->hart.instret < left)
            left = t->counted - t->hart.instret;
        if (!left)
            return differ(k, core, "kind of event", 0, e->kind);
        if ((err = execute(k, core, left)))
            return err;
    }
}

static int compare_registers(struct checker *k, unsigned core)
{
    const struct vs_hart *is = &k->replay->cores[core].hart, *was = &k->cores[core].hart;
    char name[16];
    if (is->instret != was->instret)
        return differ(k, core, "number of instructions", is->instret, was->instret);
    if (is->pc != was->pc)
        return differ(k, core, "pc", is->pc, was->pc);
    for (unsigned i = 0; i < 32; i++) {
        snprintf(name, sizeof(name), "x%u", i);
        if (is->x[i] != was->x[i])
            return differ(k, core, name, is->x[i], was->x[i]);
        snprintf(name, sizeof(name), "f%u", i);
        if (is->f[i] != was->f[i])
            return differ(k, core, name, is->f[i], was->f[i]);
    }
    if (is->fcsr != was->fcsr)
        return differ(k, core, "fcsr", is->fcsr, was->fcsr);
    k->v->registers++;
    return 0;
}

static int check_core(void *context, unsigned core)
{
    struct checker *k = context;
    int err = advance(k, core);
    return err ? err : compare_registers(k, core);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int compare_page(struct checker *k, const struct vs_copy_page *is,
                        const struct vs_copy_page *was)
{
    uint64_t at = is->number << VS_COPY_BITS;
    for (size_t i = 0; i < VS_COPY_PAGE; i++) {
        bool known = is->known[i / 8] >> i % 8 & 1;
        bool should = was && was->known[i / 8] >> i % 8 & 1;
        if (!known && k->replay->outside.cautious)
            continue;
        if (known != should || (known && is->bytes[i] != was->bytes[i]))
            return vs_diag_set(&k->v->diag, -VSE_CORRUPT, -1, -1,
                               "memory at 0x%llx is 0x%x%s, and was 0x%x%s at the end",
                               (unsigned long long)(at + i), known ? is->bytes[i] : 0,
                               known ? "" : " (unknown)", should ? was->bytes[i] : 0,
                               should ? "" : " (unknown)");
        k->v->memory_bytes += known;
    }
    return 0;
}

static int compare_memory(struct checker *k, const struct vs_copy *is, const struct vs_copy *was)
{
    int err = 0;
    for (size_t i = 0; i < is->slot_count && !err; i++)
        if (is->slots[i])
            err = compare_page(k, is->slots[i], vs_copy_look(was, is->slots[i]->number));
    if (!err && is->count != was->count && !k->replay->outside.cautious)
        err = vs_diag_set(&k->v->diag, -VSE_CORRUPT, -1, -1,
                          "memory has %zu pages, and had %zu at the end", is->count, was->count);
    return err;
}

/* Numbers of the system calls that threads made last. */
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
    if (matters(e))
        c->last[e->thread] = e->kind == VS_SYSCALL ? e->addr : 0;
    return 0;
}

/* All accesses of the run in their order. */
static int read_memory(struct checker *k, const char *path, struct vs_copy *memory)
{
    struct calls calls = {0};
    struct vs_reader *reader;
    struct vs_batch b;
    int n = vs_reader_open(&reader, path, VS_OPEN_DEFAULT, &k->v->diag);
    if (n)
        return n;
    while (!n && (n = vs_reader_next(reader, &b)) > 0) {
        n = 0;
        for (size_t i = 0; i < b.count && !n; i++) {
            const struct vs_event *e = &b.events[i];
            if ((n = note_call(&calls, e)))
                break;
            if (e->kind == VS_LOAD || e->kind == VS_STORE)
                n = vs_copy_write(memory, e->addr, vs_event_bytes(&b, e), e->size);
            else
                n = forget_outside(memory, e, calls.last[e->thread]);
        }
    }
    if (n != -VSE_END)
        run_failed(k, reader, n);
    free(calls.last);
    vs_reader_close(reader);
    return n == -VSE_END ? 0 : n;
}

static int check_memory(struct checker *k, const char *path, bool over)
{
    struct vs_replay *r = k->replay;
    struct vs_copy memory;
    int err = 0;
    if (r->count == 1 || r->view_count > 1) {
        for (unsigned i = 0; i < r->view_count && !err; i++)
            err = compare_memory(k, &r->views[i], &k->cores[i].memory);
        return err;
    }
    if (!over)
        return 0; /* what other cores had done by then is nobody's to say */
    vs_copy_init(&memory);
    if (!(err = read_memory(k, path, &memory)))
        err = compare_memory(k, &r->views[0], &memory);
    vs_copy_fini(&memory);
    return err;
}

/* ---- everything ------------------------------------------------------------------------------ */

static int open_truth(struct checker *k, const char *path)
{
    int err = 0;
    k->decoded = vs_code_new();
    k->cores = calloc(k->replay->count, sizeof(*k->cores));
    if (!k->decoded || !k->cores)
        return vs_diag_set(&k->v->diag, -VSE_NOMEM, -1, -1, "%s", vs_errstr(-VSE_NOMEM));
    for (unsigned i = 0; i < k->replay->count; i++) {
        vs_hart_init(&k->cores[i].hart, i, k->decoded);
        vs_copy_init(&k->cores[i].memory);
    }
    for (unsigned i = 0; i < k->replay->count && !err; i++) {
        struct truth *t = &k->cores[i];
        if ((err = vs_reader_open(&t->reader, path, VS_OPEN_DEFAULT, &k->v->diag)))
            return err;
        const struct vs_run_info *info = vs_reader_info(t->reader);
        if (info->threads != k->replay->count)
            return vs_diag_set(&k->v->diag, -VSE_CORRUPT, -1, -1,
                               "it has %u threads, and the stream %u cores", info->threads,
                               k->replay->count);
        if ((err = vs_reader_select(t->reader, (int)i)))
            return run_failed(k, t->reader, err);
    }
    return 0;
}

static void close_truth(struct checker *k)
{
    for (unsigned i = 0; k->cores && i < k->replay->count; i++) {
        vs_reader_close(k->cores[i].reader);
        vs_copy_fini(&k->cores[i].memory);
    }
    free(k->cores);
    vs_code_free(k->decoded);
}

/* The last instructions of a core took no message. */
static int check_ends(struct checker *k, bool over)
{
    int err = 0;
    for (unsigned i = 0; i < k->replay->count && !err; i++) {
        struct truth *t = &k->cores[i];
        if ((err = check_core(k, i)) || !over || (err = look(k, t)))
            return err;
        if (!t->done)
            err = differ(k, i, "kind of event", 0, t->batch.events[t->at].kind);
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
        vs_progress_update(progress, r->reader.bits.pos);
    }
    return stop;
}

int vs_verify_replay(struct vs_replay *r, const char *path, struct vs_verify_replay *v,
                     struct vs_progress *progress)
{
    struct checker k = {.replay = r, .v = v, .port = {.ops = &truth_ops}};
    struct vs_replay_hook hook = r->hook;
    *v = (struct vs_verify_replay){0};
    r->hook = (struct vs_replay_hook){check_core, &k};
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
    close_truth(&k);
    return err ? err : stop;
}
