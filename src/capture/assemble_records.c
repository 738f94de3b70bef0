/* SPDX-License-Identifier: MIT */
/* What the tool tells beside blocks that ran: code, threads, calls, signals, mappings. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "base/file_part.h"
#include "capture/assembler.h"
#include "isa/noted.h"

/* Valgrind's thread numbers are indices into a table that has far fewer entries. */
#define THREAD_NUMBERS 65536

/* Any thread to which events about the whole program may be attributed. */
static struct vs_capture_thread *someone(struct vs_assembler *a)
{
    a->nobody = (struct vs_capture_thread){0};
    return a->current ? a->current : &a->nobody;
}

/* ---- code ---------------------------------------------------------------------------------- */

/* Whether all of the block's bytes are known as code. */
static bool is_known(const struct vs_assembler *a, const struct vs_block *block)
{
    uint8_t bytes[256];
    size_t at = 0, n = 1;

    while (at < block->size && n) {
        size_t rest = block->size - at;

        n = vs_codemap_fetch(&a->code, block->addr + at, bytes,
                             rest < sizeof(bytes) ? rest : sizeof(bytes));
        at += n;
    }
    return at == block->size;
}

/* Notes that a block's code, which the consumer knows, is in place now. Tells the consumer if other
 * code was there, or if the program made the code: which bytes that is, nothing but its place among
 * the events says. */
static int place_code(struct vs_assembler *a, const struct vs_code_block *b, struct vs_diag *diag)
{
    const struct vs_block block = {b->addr, b->code, b->code_size, b->decoded};
    bool changes = vs_codemap_differs(&a->code, &block);
    bool differs = changes || (!vs_images_have(a->o.images, b->addr) && !is_known(a, &block));
    int e = changes ? vs_codemap_replace(&a->code, &block) : vs_codemap_add(&a->code, &block);

    if (e == -VSE_LIMIT)
        return vs_diag_set(diag, e, -1, -1, "the program has code in too many places");
    if (e < 0 || !differs)
        return e;
    return vs_assembler_put(a, someone(a), (struct vs_event){.kind = VS_CODE, .value = b->id}, NULL,
                            0, 0);
}

/* Tells the consumer about a block's code. */
static int put_code(struct vs_assembler *a, struct vs_code_block *b, struct vs_diag *diag)
{
    const struct vs_block block = {b->addr, b->code, b->code_size, b->decoded};
    int64_t e = vs_assembler_theirs(a, vs_relay_block(a->o.relay, &block));

    if (e < 0)
        return (int)e;
    b->id = (uint32_t)e;
    return place_code(a, b, diag);
}

static int define_block(struct vs_assembler *a, const void *record, size_t size,
                        struct vs_diag *diag)
{
    struct vs_code_block *b;
    int e;

    if (vs_array_room((void **)&a->blocks, &a->block_capacity, a->block_count, 1, sizeof(*b)) < 0)
        return -VSE_NOMEM;
    b = &a->blocks[a->block_count];
    e = vs_code_block_make(b, &a->arena, a->isa, record, size);
    if (e == -VSE_CORRUPT ||
        (e == 0 && (((const struct wire_block *)record)->number != a->block_count ||
                    b->step_count > VS_BLOCK_EVENTS - 8)))
        return vs_assembler_nonsense(diag, "a block");
    if (e < 0)
        return e;
    a->block_count++;
    return b->decoded ? put_code(a, b, diag) : 0;
}

int vs_assembler_take_over(struct vs_assembler *a, const struct vs_code_block *from, bool in_place,
                           struct vs_diag *diag)
{
    const struct vs_block block = {from->addr, from->code, from->code_size, from->decoded};
    struct vs_code_block b = {.length = sizeof(struct wire_slot),
                              .addr = from->addr,
                              .code_size = from->code_size,
                              .decoded = from->decoded};
    int64_t id = 0;

    if (vs_array_room((void **)&a->blocks, &a->block_capacity, a->block_count, 1, sizeof(b)) < 0)
        return -VSE_NOMEM;
    if (b.decoded) {
        uint8_t *code = vs_arena_alloc(&a->arena, b.code_size, 1);

        if (!code)
            return -VSE_NOMEM;
        memcpy(code, from->code, b.code_size);
        b.code = code;
        if ((id = vs_assembler_theirs(a, vs_relay_block(a->o.relay, &block))) < 0)
            return (int)id;
    }
    b.id = (uint32_t)id;
    a->blocks[a->block_count++] = b;
    return b.decoded && in_place ? place_code(a, &b, diag) : 0;
}

/* A block that was defined earlier was translated again: its code is back in place, if other code
 * lay there meanwhile. */
static int meet_again(struct vs_assembler *a, uint64_t number, struct vs_diag *diag)
{
    if (number - 1 >= a->block_count - 1)
        return vs_assembler_nonsense(diag, "a block that was not announced");
    return a->blocks[number].decoded ? place_code(a, &a->blocks[number], diag) : 0;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* How many instructions a thread runs before it is said how far it came, even if nothing else
 * happens: so much is executed again before a difference is noticed. */
#define STRETCH (1u << 20)

/* Something happens to a thread: where the one that runs has come to is said before. */
static int put_others_turn(struct vs_assembler *a, const struct vs_capture_thread *t)
{
    return a->current && a->current != t ? vs_assembler_put_turn(a, a->current, false) : 0;
}

int vs_assembler_put_turn(struct vs_assembler *a, struct vs_capture_thread *t, bool always)
{
    struct vs_turn turn = {t->digest, t->repeats.pc ? t->repeats.iterations : 0};
    int e;

    if (!always && !t->unsaid)
        return 0; /* its last event says all */
    t->stretch = 0;
    t->digest = 0;
    /* The registers are those after an instruction that is not done yet. */
    if (t->call_pc || t->request_pc)
        turn.digest = 0;
    e = vs_assembler_put(a, t, (struct vs_event){.kind = VS_TURN}, &turn,
                         turn.iterations ? sizeof(turn) : sizeof(turn.digest), 0);
    t->said = turn.iterations;
    return e;
}

/* ---- threads ------------------------------------------------------------------------------- */

static int end_thread(struct vs_assembler *a, struct vs_capture_thread *t, uint64_t status)
{
    if (!t->live)
        return 0;
    t->live = false;
    return vs_assembler_put(a, t, (struct vs_event){.kind = VS_THREAD_EXIT, .value = status}, NULL,
                            0, 0);
}

/* The place of a thread's state, which may still be NULL. Returns NULL if there is no memory. */
static struct vs_capture_thread **thread_place(struct vs_assembler *a, uint32_t tid)
{
    size_t had = a->thread_capacity;

    if (tid >= had) {
        if (vs_array_room((void **)&a->threads, &a->thread_capacity, had, tid + 1 - had,
                          sizeof(*a->threads)) < 0)
            return NULL;
        memset(a->threads + had, 0, (a->thread_capacity - had) * sizeof(*a->threads));
    }
    return &a->threads[tid];
}

static int start_thread(struct vs_assembler *a, uint32_t tid, const struct wire_start *start,
                        struct vs_diag *diag)
{
    struct vs_capture_thread **place, *t;
    size_t n;
    int e;

    if (tid >= THREAD_NUMBERS)
        return vs_assembler_nonsense(diag, "a thread's number");
    if (a->thread_count == VS_THREADS_MAX)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "the program started more than %u threads",
                           VS_THREADS_MAX);
    place = thread_place(a, tid);
    if (!place || (!*place && !(*place = calloc(1, sizeof(*t)))))
        return -VSE_NOMEM;
    t = *place;
    if ((e = end_thread(a, t, 0)) < 0 || (e = put_others_turn(a, t)) < 0)
        return e;
    *t = (struct vs_capture_thread){.live = true,
                                    .number = (uint16_t)a->thread_count++,
                                    .bases = {start->regs.fs_base, start->regs.gs_base}};
    n = vs_wire_registers_put(&a->numbers, a->payload, 0, &start->regs, NULL, VS_WIRE_NEW);
    return vs_assembler_put(
        a, t,
        (struct vs_event){.kind = VS_THREAD_START, .pc = start->regs.rip, .addr = start->system_id},
        a->payload, n, 0);
}

/* A thread is there, in the midst of what it does. */
static int meet_thread(struct vs_assembler *a, uint32_t tid, const struct wire_thread *w,
                       struct vs_diag *diag)
{
    const struct wire_start start = {w->system_id, w->regs};
    struct vs_event gap = {.kind = VS_GAP, .pc = w->regs.rip, .addr = w->skipped};
    int e = start_thread(a, tid, &start, diag);

    if (e < 0)
        return e;
    a->threads[tid]->call_pc = w->call_pc;
    return vs_assembler_put(
        a, a->threads[tid], gap, a->payload,
        vs_wire_registers_put(&a->numbers, a->payload, 0, &w->regs, NULL, VS_WIRE_NEW), 0);
}

int vs_assembler_end_threads(struct vs_assembler *a)
{
    int e = 0;

    for (size_t i = 0; e == 0 && i < a->thread_capacity; i++)
        if (a->threads[i])
            e = end_thread(a, a->threads[i], 0);
    return e;
}

/* The exec itself, and the calls that other threads were in, ran as far as they ever will. */
static void settle_calls(struct vs_assembler *a)
{
    for (size_t i = 0; i < a->thread_capacity; i++)
        if (a->threads[i] && a->threads[i]->live)
            vs_assembler_settle_call(a->threads[i], 0);
}

/* ---- programs, calls, signals -------------------------------------------------------------- */

static int put_facts(struct vs_assembler *a, const struct wire_hello *h)
{
    char processor[VS_ISA_HOST_MAX];
    const struct {
        const char *key, *text;
        size_t capacity;
    } facts[] = {
        {"valgrind", h->valgrind, sizeof(h->valgrind)},
        {"recorder", h->tool, sizeof(h->tool)},
        {"processor", processor, sizeof(processor)},
        {"offered", h->offered, sizeof(h->offered)},
        {VS_NOTED_FACT, VS_NOTED_NOW, sizeof(VS_NOTED_NOW)},
    };
    char text[sizeof(*h)];
    int e = 0;

    a->isa->host(processor);
    for (size_t i = 0; e == 0 && i < sizeof(facts) / sizeof(*facts); i++) {
        snprintf(text, sizeof(text), "%.*s", (int)facts[i].capacity, facts[i].text);
        e = (int)vs_assembler_theirs(a, vs_relay_meta(a->o.relay, facts[i].key, text));
    }
    return e;
}

/* A program begins. If it is not the first, it replaced the one before. */
static int hello(struct vs_assembler *a, const struct wire_hello *h)
{
    struct vs_event gone = {
        .kind = VS_MAP, .pc = VS_NO_IMAGE, .value = a->isa->user_end, .flags = VS_MAP_GONE};
    int e = 0;

    if (a->stats.programs++) {
        settle_calls(a);
        e = vs_assembler_end_threads(a);
        if (e == 0)
            e = vs_assembler_put(a, someone(a), gone, NULL, 0, 0);
        a->current = NULL;
        a->block_count = 1;
        vs_map_fini(&a->recipes);
        vs_arena_fini(&a->arena);
        vs_images_forget(a->o.images);
    } else {
        e = put_facts(a, h);
    }
    return e;
}

static int take_command(struct vs_assembler *a, const uint64_t *bytes, size_t size)
{
    const char *words = (const char *)(bytes + 1);

    a->command.len = 0;
    if (!*bytes || *bytes > size - sizeof(*bytes) || words[*bytes - 1])
        return -VSE_CORRUPT;
    return vs_buf_put(&a->command, words, *bytes);
}

static int take_syscall(struct vs_assembler *a, struct vs_capture_thread *t,
                        const struct wire_syscall *c)
{
    struct vs_syscall_head head = {.result = c->result};
    size_t n = sizeof(head);
    struct vs_event e = {.kind = VS_SYSCALL, .pc = t->call_pc, .addr = c->number};
    unsigned own = t->call_pc != 0;

    memcpy(head.args, c->args, sizeof(head.args));
    memcpy(a->payload, &head, sizeof(head));
    n = vs_wire_registers_put_call(&a->numbers, a->payload, n, c, t->bases);
    t->call_pc = 0;
    t->digest = 0;
    return vs_assembler_put(a, t, e, a->payload, n, own);
}

static int take_external(struct vs_assembler *a, struct vs_capture_thread *t,
                         const struct wire_external *x)
{
    struct vs_event e = {.kind = VS_EXTERNAL, .pc = t->call_pc, .addr = x->addr};

    return x->size ? vs_assembler_put(a, t, e, x + 1, x->size, 0) : 0;
}

static int take_request(struct vs_assembler *a, struct vs_capture_thread *t, uint64_t result)
{
    struct vs_event e = {.kind = VS_NONDET, .pc = t->request_pc};

    t->request_pc = 0;
    t->digest = 0;
    return e.pc ? vs_assembler_put(a, t, e, &result, sizeof(result), 1) : -VSE_CORRUPT;
}

static void take_signal(struct vs_capture_thread *t, const struct wire_signal *s,
                        enum vs_pending pending)
{
    if (pending == VS_PENDING_SIGNAL) {
        t->torn |= t->call_pc != 0;
        vs_assembler_settle_call(t, s->regs.rip);
        t->interrupted[t->depth++ % VS_CAPTURE_NESTED] = t->repeats;
    }
    t->pending = pending;
    t->signal = s->number;
    t->before = s->regs;
}

/* Says that the instruction at pc was counted and goes on, if that is so. */
static size_t put_repetition(struct vs_assembler *a, size_t used, const struct vs_repetition *r,
                             uint64_t pc)
{
    return r->pc && r->pc == pc
               ? vs_wire_registers_put_one(a->payload, used, VS_REG_ITERATIONS, r->iterations)
               : used;
}

static int take_resume(struct vs_assembler *a, struct vs_capture_thread *t,
                       const struct wire_regs *now)
{
    struct vs_event e = {.addr = now->rip};
    enum vs_pending pending = t->pending;
    unsigned own = 0;
    size_t n = 0;
    int err;

    t->pending = VS_PENDING_NONE;
    if (pending == VS_PENDING_NONE)
        return 0;
    if (pending == VS_PENDING_SIGNAL) {
        e.kind = VS_EXCEPTION;
        e.pc = t->before.rip;
        n = vs_wire_registers_put_one(a->payload, n, VS_REG_CAUSE, t->signal);
        n = put_repetition(a, n, &t->repeats, e.pc);
        t->repeats.pc = 0;
    } else {
        e.kind = VS_EXCEPTION_RET;
        e.pc = t->call_pc;
        own = t->call_pc != 0;
        t->call_pc = 0;
        t->repeats = t->interrupted[--t->depth % VS_CAPTURE_NESTED];
        if (t->repeats.pc != now->rip)
            t->repeats.pc = 0;
        n = put_repetition(a, n, &t->repeats, now->rip);
    }
    t->bases[0] = now->fs_base;
    t->bases[1] = now->gs_base;
    n = vs_wire_registers_put(&a->numbers, a->payload, n, now, &t->before,
                              t->torn ? VS_WIRE_ALL : VS_WIRE_CHANGED);
    t->torn = false;
    t->digest = 0;
    err = vs_assembler_put(a, t, e, a->payload, n, own);
    t->said = t->repeats.pc ? t->repeats.iterations : 0;
    return err;
}

/* Gives events to all instructions that have none, so that they count in the window that they ran
 * in. */
static int put_all_since(struct vs_assembler *a)
{
    int e = 0;

    for (size_t i = 0; e == 0 && i < a->thread_capacity; i++)
        if (a->threads[i] && a->threads[i]->live && a->threads[i]->since)
            e = vs_assembler_put_since(a, a->threads[i]);
    return e;
}

/* Recording goes on in this window. */
static int enter_window(struct vs_assembler *a, uint64_t window)
{
    int e;

    if (window == a->window)
        return 0;
    e = put_all_since(a);
    return e < 0 ? e : vs_assembler_next_window(a, window);
}

static int take_gap(struct vs_assembler *a, struct vs_capture_thread *t, const struct wire_gap *g)
{
    struct vs_event e = {.kind = VS_GAP, .pc = g->regs.rip, .addr = g->skipped};
    size_t n = vs_wire_registers_put(&a->numbers, a->payload, 0, &g->regs, NULL, VS_WIRE_NEW);
    int err = enter_window(a, g->window);

    if (err < 0)
        return err;
    /* The end of the call that it was in is not recorded either. */
    e.addr += t->call_pc && t->call_pc != g->regs.rip;
    t->call_pc = 0;
    t->repeats.pc = 0;
    t->depth = 0;
    t->bases[0] = g->regs.fs_base;
    t->bases[1] = g->regs.gs_base;
    return vs_assembler_put(a, t, e, a->payload, n, 0);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* The repeated instruction that the thread is in, after what it did. */
static struct vs_repetition repetition_after(const struct vs_capture_thread *t,
                                             const struct wire_ran *r)
{
    struct vs_repetition after = {r->rip, r->iterations};

    if (!r->insns && t->repeats.pc && t->repeats.pc == r->rip)
        after.iterations += t->repeats.iterations;
    return after.iterations ? after : (struct vs_repetition){0};
}

/* Counts what the tool told as blocks do. */
static void count_ran(struct vs_capture_thread *t, const struct wire_ran *r)
{
    struct vs_repetition after = repetition_after(t, r);
    uint64_t n = r->insns + (after.pc != 0) - (t->repeats.pc != 0);

    if (t->call_pc)
        vs_assembler_settle_call(t, r->from);
    t->since += n;
    t->repeats = after;
    t->torn = r->left == WIRE_TO_FAULT;
    vs_assembler_request(t, r->left == WIRE_TO_REQUEST ? r->at : 0);
    if (r->left == WIRE_TO_SYSCALL) {
        t->since--;
        t->call_pc = r->at;
    }
}

static int take_ran(struct vs_assembler *a, struct vs_capture_thread *t, const struct wire_ran *r)
{
    if (r->insns > VS_CAPTURE_SINCE_MAX || r->iterations > VS_CAPTURE_SINCE_MAX)
        return -VSE_CORRUPT;
    if (a->o.light && r->rip)
        count_ran(t, r);
    else if (a->o.light)
        t->since += r->insns; /* the rest of its block is still to come */
    t->digest = r->digest;
    t->stretch += r->insns + r->iterations;
    t->unsaid |= r->insns || r->iterations;
    return t->stretch >= STRETCH && r->rip && !r->left ? vs_assembler_put_turn(a, t, false) : 0;
}

static int take_value(struct vs_assembler *a, struct vs_capture_thread *t,
                      const struct wire_value *v, size_t size)
{
    struct vs_event e = {.kind = VS_NONDET, .pc = v->pc};
    int err;

    if (!v->size || v->size > size)
        return -VSE_CORRUPT;
    err = vs_assembler_put(a, t, e, v + 1, v->size, v->more);
    t->since -= v->more;
    return err;
}

/* What all memory holds follows. How far threads came before is said first: they came there with
 * what memory held then. */
static int take_anew(struct vs_assembler *a, struct vs_capture_thread *t, const struct wire_anew *w)
{
    struct vs_event e = {.kind = VS_CONTENT, .flags = VS_CONTENT_ANEW};
    int err;

    if (!a->o.inputs)
        return -VSE_CORRUPT;
    err = vs_assembler_put_turn(a, t, false);
    if (err == 0)
        err = enter_window(a, w->window);
    if (err < 0)
        return err;
    a->nobody = (struct vs_capture_thread){.number = t->number};
    return vs_assembler_put(a, &a->nobody, e, &a->isa->user_end, sizeof(a->isa->user_end), 0);
}

/* Where the thread is that ran last is said before: it may be within an instruction that repeats
 * itself, and memory is as it is then. */
static int take_digests(struct vs_assembler *a, const struct wire_content *c, size_t size)
{
    struct vs_event e = {.kind = VS_CONTENT, .flags = VS_CONTENT_DIGESTS, .addr = c->addr};
    uint64_t bytes = c->length / VS_DIGEST_PAGE * sizeof(uint32_t);

    if (!bytes || bytes > size || bytes > VS_SIZE_MAX || c->addr % VS_DIGEST_PAGE ||
        c->length % VS_DIGEST_PAGE)
        return -VSE_CORRUPT;
    int err = a->current ? vs_assembler_put_turn(a, a->current, false) : 0;
    return err < 0 ? err : vs_assembler_put(a, someone(a), e, c + 1, (uint16_t)bytes, 0);
}

static int take_content(struct vs_assembler *a, const struct wire_content *c, size_t size)
{
    struct vs_event e = {.kind = VS_CONTENT, .addr = c->addr};
    struct vs_content_moved moved = {c->from, c->length};
    uint8_t payload[sizeof(struct vs_content_file) + PATH_MAX];
    struct vs_content_file file = {.offset = c->from, .length = c->length};
    size -= sizeof(*c);

    switch (c->kind) {
    case WIRE_CONTENT_BYTES:
        return c->length && c->length <= size
                   ? vs_assembler_put(a, someone(a), e, c + 1, c->length, 0)
                   : -VSE_CORRUPT;
    case WIRE_CONTENT_MOVED:
        e.flags = VS_CONTENT_MOVED;
        return vs_assembler_put(a, someone(a), e, &moved, sizeof(moved), 0);
    case WIRE_CONTENT_FILE:
        if (!c->path || c->path > size || c->path >= PATH_MAX)
            return -VSE_CORRUPT;
        memcpy(payload + sizeof(file), c + 1, c->path);
        payload[sizeof(file) + c->path] = 0;
        /* If it cannot be read now, it cannot be found later, which is said then. */
        vs_file_part((const char *)payload + sizeof(file), file.offset, file.length, NULL, NULL,
                     &file.crc, NULL);
        memcpy(payload, &file, sizeof(file));
        e.flags = VS_CONTENT_FILE;
        return vs_assembler_put(a, someone(a), e, payload, sizeof(file) + c->path, 0);
    case WIRE_CONTENT_DIGESTS:
        return take_digests(a, c, size);
    default:
        return -VSE_CORRUPT;
    }
}

/* ---- mappings -------------------------------------------------------------------------------- */

static int take_map(struct vs_assembler *a, const struct wire_map *m, size_t size)
{
    struct vs_event e = {.kind = VS_MAP,
                         .pc = VS_NO_IMAGE,
                         .addr = m->addr,
                         .value = m->length,
                         .flags = (uint8_t)(m->flags & VS_MAP_ALL)};
    char path[4096];
    int64_t image;

    vs_images_replaced(a->o.images, m->addr, m->length);
    if (m->path && m->path < sizeof(path) && size >= sizeof(*m) + m->path &&
        (m->flags & WIRE_MAP_EXEC)) {
        memcpy(path, m + 1, m->path);
        path[m->path] = 0;
        image = vs_images_map(a->o.images, path, m->addr, m->length, m->offset,
                              m->flags & WIRE_MAP_MAIN);
        if (image >= 0)
            e.pc = (uint64_t)image;
        else if (image != -VSE_NOTFOUND)
            return image == -VSE_NOMEM ? -VSE_NOMEM : (int)vs_assembler_theirs(a, image);
    }
    return vs_assembler_put(a, someone(a), e, NULL, 0, 0);
}

static int take_shared(struct vs_assembler *a, const struct wire_shared *s, size_t size)
{
    const uint32_t path = s->path, kind = s->kind;

    if (path > size - sizeof(*s) || kind < WIRE_SHARED_FILE || kind > WIRE_SHARED_SEGMENT)
        return -VSE_CORRUPT;
    if (!*a->shared && path)
        snprintf(a->shared, sizeof(a->shared), "%.*s", (int)path, (const char *)(s + 1));
    else if (!*a->shared)
        strcpy(a->shared, kind == WIRE_SHARED_FILE   ? "a file without a name"
                          : kind == WIRE_SHARED_FORK ? "memory kept over a fork"
                                                     : "System V shared memory");
    return 0;
}

/* ---- any record ---------------------------------------------------------------------------- */

/* The least size that a record's data must have. */
static size_t record_size(uint32_t kind)
{
    switch (kind) {
    case WIRE_BLOCK:
        return sizeof(struct wire_block);
    case WIRE_START:
        return sizeof(struct wire_start);
    case WIRE_HELLO:
        return sizeof(struct wire_hello);
    case WIRE_THREAD:
        return sizeof(struct wire_thread);
    case WIRE_EXIT:
    case WIRE_AGAIN:
    case WIRE_REQUEST:
    case WIRE_COMMAND:
        return 8;
    case WIRE_SYSCALL:
        return sizeof(struct wire_syscall);
    case WIRE_EXTERNAL:
        return sizeof(struct wire_external);
    case WIRE_SIGNAL:
    case WIRE_RETURN:
        return sizeof(struct wire_signal);
    case WIRE_RESUME:
        return sizeof(struct wire_regs);
    case WIRE_GAP:
        return sizeof(struct wire_gap);
    case WIRE_ANEW:
        return sizeof(struct wire_anew);
    case WIRE_MAP:
        return sizeof(struct wire_map);
    case WIRE_RAN:
        return sizeof(struct wire_ran);
    case WIRE_VALUE:
        return sizeof(struct wire_value);
    case WIRE_CONTENT:
        return sizeof(struct wire_content);
    case WIRE_REAPED:
        return sizeof(struct wire_reaped);
    case WIRE_SHARED:
        return sizeof(struct wire_shared);
    default:
        return 0;
    }
}

static int take_thread_record(struct vs_assembler *a, uint32_t kind, struct vs_capture_thread *t,
                              const void *data, size_t size)
{
    switch (kind) {
    case WIRE_RUN:
        a->current = t;
        return 0;
    case WIRE_RAN:
        return take_ran(a, t, data);
    case WIRE_VALUE:
        return take_value(a, t, data, size - sizeof(struct wire_value));
    case WIRE_EXIT:
        return end_thread(a, t, *(const uint64_t *)data);
    case WIRE_SYSCALL:
        return take_syscall(a, t, data);
    case WIRE_EXTERNAL:
        if (((const struct wire_external *)data)->size > size - sizeof(struct wire_external))
            return -VSE_CORRUPT;
        return take_external(a, t, data);
    case WIRE_SIGNAL:
        take_signal(t, data, VS_PENDING_SIGNAL);
        return 0;
    case WIRE_RETURN:
        take_signal(t, data, VS_PENDING_RETURN);
        return 0;
    case WIRE_RESUME:
        return take_resume(a, t, data);
    case WIRE_GAP:
        return take_gap(a, t, data);
    case WIRE_ANEW:
        return take_anew(a, t, data);
    case WIRE_REQUEST:
        return take_request(a, t, *(const uint64_t *)data);
    default:
        return -VSE_CORRUPT;
    }
}

int vs_assembler_record(struct vs_assembler *a, uint32_t kind, const struct wire_head *head,
                        struct vs_diag *diag)
{
    const void *data = head + 1;
    size_t size = head->size - sizeof(*head);
    struct vs_capture_thread *t =
        head->thread < a->thread_capacity ? a->threads[head->thread] : NULL;
    int e;

    if (size < record_size(kind))
        return vs_assembler_nonsense(diag, "a short record");
    switch (kind) {
    case WIRE_HELLO:
        return hello(a, data);
    case WIRE_BLOCK:
        return define_block(a, data, size, diag);
    case WIRE_AGAIN:
        return meet_again(a, *(const uint64_t *)data, diag);
    case WIRE_START:
        return start_thread(a, head->thread, data, diag);
    case WIRE_THREAD:
        return meet_thread(a, head->thread, data, diag);
    case WIRE_MAP:
        return take_map(a, data, size);
    case WIRE_CONTENT:
        e = take_content(a, data, size);
        return e == -VSE_CORRUPT && !a->theirs ? vs_assembler_nonsense(diag, "content") : e;
    case WIRE_COMMAND:
        e = take_command(a, data, size);
        return e == -VSE_CORRUPT ? vs_assembler_nonsense(diag, "a command") : e;
    case WIRE_SHARED:
        e = take_shared(a, data, size);
        return e == -VSE_CORRUPT ? vs_assembler_nonsense(diag, "shared memory") : e;
    case WIRE_REAPED:
        if (a->o.reaped)
            a->o.reaped(a->o.context, ((const struct wire_reaped *)data)->process,
                        (int)((const struct wire_reaped *)data)->status);
        return 0;
    case WIRE_FORK:
        a->stats.forks++;
        return 0;
    case WIRE_MADE:
        a->stats.made++;
        return 0;
    case WIRE_TRIGGERED:
        a->stats.triggered = true;
        return 0;
    case WIRE_BYE:
        a->stats.ended = true;
        return 0;
    default:
        e = t ? put_others_turn(a, t) : -VSE_CORRUPT;
        if (e == 0)
            e = take_thread_record(a, kind, t, data, size);
        return e == -VSE_CORRUPT && !a->theirs ? vs_assembler_nonsense(diag, "a record") : e;
    }
}
