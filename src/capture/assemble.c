/* SPDX-License-Identifier: MIT */
#include "capture/assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/valgrind.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/likely.h"
#include "capture/blocks.h"
#include "capture/wire_registers.h"
#include "isa/noted.h"

/* How many events are delivered together: few enough to stay in a cache on the way, and many enough
 * to be worth waking a thread. */
#define BATCH 16384
/* One of VEX's blocks has no more operands than this, with a branch. */
#define BLOCK_EVENTS (VS_PARCEL_EVENTS - BATCH)
#define WIDE_BATCH   (1u << 20)
/* How many instructions may come without an event before they are given one; icount has 16 bits. */
#define SINCE_MAX 32768
#define NESTED    16
/* Valgrind's thread numbers are indices into a table that has far fewer entries. */
#define THREAD_NUMBERS 65536

enum pending { PENDING_NONE, PENDING_SIGNAL, PENDING_RETURN };

/* A repeated instruction that was counted but goes on. */
struct repetition {
    uint64_t pc;         /* 0 = there is none */
    uint64_t iterations; /* that it has done */
};

struct thread {
    bool live;
    uint16_t number;
    uint64_t since;      /* instructions retired after its last event */
    uint64_t call_pc;    /* of the system call that it is in; 0 = none */
    uint64_t request_pc; /* of the client request whose result is due; 0 = none */
    struct repetition repeats;
    enum pending pending;
    uint64_t signal;
    struct wire_regs before;
    bool torn; /* it was interrupted within an instruction, which may have set registers already */
    uint64_t bases[2];                     /* of fs and gs, as far as is known */
    struct repetition interrupted[NESTED]; /* when signal handlers were entered */
    unsigned depth;
};

struct vs_assembler {
    struct vs_assembler_options o;
    struct vs_codemap code;
    struct vs_arena arena; /* the blocks' */
    struct vs_code_block *blocks;
    size_t block_count, block_capacity; /* blocks are numbered from 1; [0] is not used */
    struct thread **threads;            /* by Valgrind's number */
    size_t thread_capacity;
    unsigned thread_count; /* numbered so far */
    struct thread *current;
    struct thread nobody; /* stands in for a thread when events about the whole program are made */
    struct vs_parcel *parcel; /* being filled */
    struct vs_event *events;  /* the parcel's */
    size_t count;
    uint64_t window, left; /* the current window, and what is left of it */
    bool cut;              /* the window is over */
    unsigned begun;        /* threads that have begun before that */
    uint64_t cut_pc;       /* the window's last instruction, if that has events; 0 = none */
    uint16_t cut_thread;
    bool theirs; /* the error that is returned is the consumer's */
    struct vs_assembler_stats stats;
    const struct vs_isa *isa;
    struct vs_wire_numbers numbers;
    uint8_t payload[VS_REGS_MAX + sizeof(struct vs_syscall_head)];
    /* of the block that is taken apart, by step */
    uint64_t addrs[BLOCK_EVENTS], values[BLOCK_EVENTS];
    /* A copy of the record that is no block, since the program may write over the original between
     * the check and the use. */
    uint64_t record[WIRE_RECORD_MAX / 8];
};

static int nonsense(struct vs_diag *diag, const char *what)
{
    return vs_diag_set(diag, -VSE_CORRUPT, -1, -1,
                       "the tool's record makes no sense (%s): the program may have written over "
                       "Valgrind's memory",
                       what);
}

/* Passes on what the consumer returned. */
static int64_t theirs(struct vs_assembler *a, int64_t e)
{
    a->theirs |= e < 0;
    return e;
}

/* ---- opening, closing ---------------------------------------------------------------------- */

static uint64_t window_length(const struct vs_assembler *a, uint64_t window)
{
    return window < a->o.window_count && a->o.windows[window] ? a->o.windows[window] : UINT64_MAX;
}

/* Gets the next parcel to fill, with room for a block's wide values. Returns 0; -VSE_NOMEM. */
static int next_parcel(struct vs_assembler *a)
{
    a->parcel = vs_relay_take(a->o.relay);
    a->events = a->parcel->events;
    a->count = 0;
    a->parcel->wide.len = 0;
    return vs_buf_reserve(&a->parcel->wide, WIDE_BATCH + WIRE_RECORD_MAX);
}

int vs_assembler_open(struct vs_assembler **out, const struct vs_assembler_options *options)
{
    struct vs_assembler *a = calloc(1, sizeof(*a));

    *out = a;
    if (!a)
        return -VSE_NOMEM;
    a->o = *options;
    a->isa = vs_isa_find(VS_VALGRIND_ISA);
    vs_wire_numbers_init(&a->numbers, a->isa);
    a->left = window_length(a, 0);
    if (next_parcel(a) < 0 ||
        vs_array_room((void **)&a->blocks, &a->block_capacity, 0, 1, sizeof(*a->blocks)) < 0) {
        vs_assembler_close(a);
        *out = NULL;
        return -VSE_NOMEM;
    }
    a->block_count = 1;
    return 0;
}

void vs_assembler_close(struct vs_assembler *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->thread_capacity; i++)
        free(a->threads[i]);
    free(a->threads);
    free(a->blocks);
    vs_arena_fini(&a->arena);
    vs_codemap_fini(&a->code);
    free(a);
}

struct vs_assembler_stats vs_assembler_stats(const struct vs_assembler *a)
{
    return a->stats;
}

/* ---- delivering events --------------------------------------------------------------------- */

/* Whether an event is kept outside of a window too, because later ones rely on it. After the last
 * window nothing does: a mapping there would be taken for one that the recorded part made. Only the
 * threads that have begun still end. */
static bool is_structure(const struct vs_assembler *a, const struct vs_event *e)
{
    if (a->window + 1 >= a->o.window_count)
        return e->kind == VS_THREAD_EXIT && e->thread < a->begun;
    return e->kind == VS_THREAD_START || e->kind == VS_THREAD_EXIT || e->kind == VS_MAP ||
           e->kind == VS_CODE;
}

/* Further events of the window's last instruction belong to the window. */
static bool completes_window(const struct vs_assembler *a, const struct vs_event *e)
{
    return e->icount == 0 && e->pc && e->pc == a->cut_pc && e->thread == a->cut_thread &&
           (e->kind == VS_BRANCH || e->kind == VS_LOAD || e->kind == VS_STORE ||
            e->kind == VS_NONDET);
}

/* Leaves out what lies behind the end of the window. */
static void apply_window(struct vs_assembler *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->count; i++) {
        struct vs_event e = a->events[i];

        if (a->cut) {
            bool completes = completes_window(a, &e);

            if (e.icount && e.thread == a->cut_thread)
                a->cut_pc = 0;
            e.icount = 0;
            if (completes || is_structure(a, &e))
                a->events[kept++] = e;
            continue;
        }
        if (e.kind == VS_THREAD_START)
            a->begun = e.thread + 1u;
        if (e.icount >= a->left) {
            a->cut = true;
            a->cut_pc = e.icount == a->left ? e.pc : 0;
            a->cut_thread = e.thread;
            if (e.icount > a->left)
                e = (struct vs_event){
                    .kind = VS_COUNT, .thread = e.thread, .icount = (uint16_t)a->left};
        }
        a->left -= e.icount;
        a->events[kept++] = e;
    }
    a->count = kept;
    a->stats.full = a->cut && a->window + 1 >= a->o.window_count;
}

static int deliver(struct vs_assembler *a)
{
    int e;

    if (a->left != UINT64_MAX || a->cut)
        apply_window(a);
    for (size_t i = 0; i < a->count; i++) {
        a->stats.instructions += a->events[i].icount;
        a->stats.threads += a->events[i].kind == VS_THREAD_START;
        if (a->events[i].kind == VS_GAP)
            a->stats.skipped += a->events[i].addr;
    }
    a->parcel->count = a->count;
    a->parcel->first = a->stats.events;
    a->stats.events += a->count;
    e = (int)theirs(a, vs_relay_send(a->o.relay));
    return e < 0 ? e : next_parcel(a);
}

static inline bool batch_full(const struct vs_assembler *a)
{
    return a->count >= BATCH || a->parcel->wide.len >= WIDE_BATCH;
}

/* Appends an event that no instruction of a block makes; `payload` becomes its value if it has more
 * than 8 bytes. The event counts the instructions since the thread's last one, and `more`. */
static int put_other(struct vs_assembler *a, struct thread *t, struct vs_event e,
                     const void *payload, size_t size, unsigned more)
{
    e.thread = t->number;
    e.icount = (uint16_t)(t->since + more);
    t->since = 0;
    if (size) {
        e.size = (uint16_t)size;
        if (size > 8) {
            e.value = a->parcel->wide.len;
            if (vs_buf_put(&a->parcel->wide, payload, size) < 0)
                return -VSE_NOMEM;
        } else {
            e.value = 0;
            memcpy(&e.value, payload, size);
        }
    }
    a->events[a->count++] = e;
    return batch_full(a) ? deliver(a) : 0;
}

static int put_since(struct vs_assembler *a, struct thread *t)
{
    return put_other(a, t, (struct vs_event){.kind = VS_COUNT}, NULL, 0, 0);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Settles a system call that the tool did not report as done: it was interrupted and tried again,
 * or was not observed. */
static void settle_call(struct thread *t, uint64_t next_pc)
{
    if (t->call_pc && next_pc != t->call_pc)
        t->since++;
    t->call_pc = 0;
}

static inline uint64_t word_at(const uint8_t *record, unsigned at)
{
    uint64_t v;

    memcpy(&v, record + at, 8);
    return v;
}

static uint64_t keep_wide(struct vs_assembler *a, const uint8_t *bytes, size_t size)
{
    uint64_t at = a->parcel->wide.len;

    /* Room was made for a whole record. */
    memcpy(a->parcel->wide.data + at, bytes, size);
    a->parcel->wide.len += size;
    return at;
}

static inline uint64_t step_addr(const struct vs_block_step *s, const uint8_t *record,
                                 const struct vs_event *events)
{
    if (s->addr == VS_BLOCK_RECORDED)
        return word_at(record, s->addr_at);
    return s->addr == VS_BLOCK_FIXED ? s->event.addr : events[s->addr_of].addr + s->event.addr;
}

/* Puts the first n steps, all of which happened, from `events` on. */
static inline void put_steps(struct vs_assembler *a, unsigned thread, const struct vs_code_block *b,
                             const uint8_t *record, struct vs_event *events, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct vs_block_step *s = &b->steps[i];
        struct vs_event *e = &events[i];

        /* Copied whole, then changed in place: 32 bytes are two moves. */
        *e = s->event;
        e->thread = (uint16_t)thread;
        e->addr = step_addr(s, record, events);
        if (unlikely(s->wide))
            e->value = s->value == VS_BLOCK_RECORDED
                           ? keep_wide(a, record + s->value_at, s->event.size)
                           : events[s->value_of].value;
        else if (s->value == VS_BLOCK_RECORDED)
            e->value = word_at(record, s->value_at) & s->mask;
        else if (s->value == VS_BLOCK_OF_STEP)
            e->value = events[s->value_of].value;
    }
}

/* Reads part of a slot once, so that what was checked is what is used, whoever writes to the
 * memory. */
static inline uint32_t half_at(const uint8_t *bytes, size_t at)
{
    return __atomic_load_n((const uint32_t *)(const void *)(bytes + at), __ATOMIC_RELAXED);
}

/* Takes blocks that ran and were left as most are, up to something special or the batch's end.
 * Returns where that is. Everything used is in registers, as there are tens of millions of blocks a
 * second. */
static size_t take_plain(struct vs_assembler *a, const uint8_t *bytes, size_t pos, size_t size)
{
    const struct vs_code_block *blocks = a->blocks;
    const struct vs_parcel *parcel = a->parcel;
    const size_t last = size - sizeof(struct wire_slot), block_count = a->block_count;
    struct vs_event *events = a->events + a->count, *end = a->events + BATCH;
    struct thread *t = a->current;
    uint64_t since;

    if (!t || t->call_pc || t->repeats.pc)
        return pos;
    since = t->since;
    while (events < end && since <= SINCE_MAX && parcel->wide.len < WIDE_BATCH) {
        uint32_t what = half_at(bytes, pos + offsetof(struct wire_slot, what)), left;
        const struct vs_code_block *b = &blocks[what];
        const struct vs_block_leave *l;
        size_t next;

        if (what - 1u >= block_count - 1)
            break;
        next = pos + b->length;
        if (next > last || (left = half_at(bytes, next) - 1) >= b->leave_count)
            break;
        l = &b->leaves[left];
        if (!l->plain)
            break;
        put_steps(a, t->number, b, bytes + pos, events, l->steps);
        if (l->branch) {
            struct vs_event *e = &events[l->steps];

            *e = l->event;
            e->thread = t->number;
            if (l->target_at)
                e->addr = word_at(bytes + pos, l->target_at);
            events->icount = (uint16_t)(events->icount + since);
            events = e + 1;
            since = 0;
        } else if (l->steps) {
            events->icount = (uint16_t)(events->icount + since);
            events += l->steps;
            since = l->after;
        } else {
            since += l->after;
        }
        pos = next;
    }
    t->since = since;
    a->count = (size_t)(events - a->events);
    return pos;
}

/* Puts steps of blocks whose operands may not happen, and of repetitions. `counted` is how many of
 * the block's instructions are counted already. Returns how many are counted now. */
static unsigned put_some_steps(struct vs_assembler *a, struct thread *t,
                               const struct vs_code_block *b, const uint8_t *record, unsigned n,
                               unsigned counted)
{
    bool repeated = counted > 0;

    for (unsigned i = 0; i < n; i++) {
        const struct vs_block_step *s = &b->steps[i];
        struct vs_event e = s->event;

        if (s->guarded && !word_at(record, s->guard_at))
            continue;
        e.thread = t->number;
        e.addr = s->addr == VS_BLOCK_RECORDED ? word_at(record, s->addr_at)
                 : s->addr == VS_BLOCK_FIXED  ? e.addr
                                              : a->addrs[s->addr_of] + e.addr;
        e.value = s->value == VS_BLOCK_FIXED     ? e.value
                  : s->value == VS_BLOCK_OF_STEP ? a->values[s->value_of]
                  : s->wide                      ? keep_wide(a, record + s->value_at, e.size)
                                                 : word_at(record, s->value_at) & s->mask;
        a->addrs[i] = e.addr;
        a->values[i] = e.value;
        e.icount = (uint16_t)t->since;
        if (s->insn + 1u > counted) {
            e.icount = (uint16_t)(e.icount + s->insn + 1u - counted);
            counted = s->insn + 1u;
        }
        t->since = 0;
        if (repeated && s->insn == 0 && (e.kind == VS_LOAD || e.kind == VS_STORE))
            e.flags |= VS_MEM_REPEAT;
        a->events[a->count++] = e;
    }
    return counted;
}

static void put_branch(struct vs_assembler *a, struct thread *t, const struct vs_block_leave *l,
                       const uint8_t *record, unsigned counted)
{
    struct vs_event e = l->event;

    e.thread = t->number;
    e.icount = (uint16_t)(t->since + l->insns - counted);
    t->since = 0;
    if (l->target_at)
        e.addr = word_at(record, l->target_at);
    a->events[a->count++] = e;
}

/* How many steps come before the instruction that faulted. */
static unsigned steps_before(const struct vs_code_block *b, unsigned insn)
{
    unsigned n = 0;

    while (n < b->step_count && b->steps[n].insn < insn)
        n++;
    return n;
}

/* Takes a block that ran, if something about it or its thread may be special. */
static int take_special(struct vs_assembler *a, struct thread *t, const struct vs_code_block *b,
                        const uint8_t *record, uint32_t left)
{
    struct vs_block_leave fault = {0};
    const struct vs_block_leave *l = &fault;
    unsigned counted, retired;
    bool goes_on;

    if (left & WIRE_LEFT_FAULT) {
        if ((left & ~WIRE_LEFT_FAULT) > b->insns)
            return -VSE_CORRUPT;
        fault.insns = (uint16_t)(left & ~WIRE_LEFT_FAULT);
        fault.steps = (uint16_t)steps_before(b, fault.insns);
        fault.leave = WIRE_TO_FAULT;
    } else {
        if (left == 0 || left > b->leave_count)
            return -VSE_CORRUPT;
        l = &b->leaves[left - 1];
    }
    if (t->call_pc)
        settle_call(t, b->addr);
    goes_on = t->repeats.pc == b->addr;
    counted = put_some_steps(a, t, b, record, l->steps, goes_on);
    retired = l->insns + (l->again ? 1u : 0);
    if (l->branch)
        put_branch(a, t, l, record, counted);
    else if (retired > counted)
        t->since += retired - counted;
    if (l->again) {
        goes_on = goes_on && l->insns == 0;
        t->repeats = (struct repetition){vs_code_block_pc(b, l->insns),
                                         goes_on ? t->repeats.iterations + 1 : 1};
    } else if (!goes_on || l->leave != WIRE_TO_FAULT || l->insns) {
        /* If an iteration of a repeated instruction faults, the instruction stays counted. */
        t->repeats.pc = 0;
    }
    t->torn = l->leave == WIRE_TO_FAULT;
    if (l->leave == WIRE_TO_SYSCALL)
        t->call_pc = b->last_pc;
    t->request_pc = l->leave == WIRE_TO_REQUEST ? b->last_pc : 0;
    return 0;
}

/* Any thread to which events about the whole program may be attributed. */
static struct thread *someone(struct vs_assembler *a)
{
    a->nobody = (struct thread){0};
    return a->current ? a->current : &a->nobody;
}

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
    return put_other(a, someone(a), (struct vs_event){.kind = VS_CODE, .value = b->id}, NULL, 0, 0);
}

/* Tells the consumer about a block's code. */
static int put_code(struct vs_assembler *a, struct vs_code_block *b, struct vs_diag *diag)
{
    const struct vs_block block = {b->addr, b->code, b->code_size, b->decoded};
    int64_t e = theirs(a, vs_relay_block(a->o.relay, &block));

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
                    b->step_count > BLOCK_EVENTS - 8)))
        return nonsense(diag, "a block");
    if (e < 0)
        return e;
    a->block_count++;
    return b->decoded ? put_code(a, b, diag) : 0;
}

/* A block that was defined earlier was translated again: its code is back in place, if other code
 * lay there meanwhile. */
static int meet_again(struct vs_assembler *a, uint64_t number, struct vs_diag *diag)
{
    if (number - 1 >= a->block_count - 1)
        return nonsense(diag, "a block that was not announced");
    return a->blocks[number].decoded ? place_code(a, &a->blocks[number], diag) : 0;
}

/* ---- other records ------------------------------------------------------------------------- */

static int end_thread(struct vs_assembler *a, struct thread *t, uint64_t status)
{
    if (!t->live)
        return 0;
    t->live = false;
    return put_other(a, t, (struct vs_event){.kind = VS_THREAD_EXIT, .value = status}, NULL, 0, 0);
}

/* The place of a thread's state, which may still be NULL. Returns NULL if there is no memory. */
static struct thread **thread_place(struct vs_assembler *a, uint32_t tid)
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
    struct thread **place, *t;
    size_t n;
    int e;

    if (tid >= THREAD_NUMBERS)
        return nonsense(diag, "a thread's number");
    if (a->thread_count == VS_THREADS_MAX)
        return vs_diag_set(diag, -VSE_LIMIT, -1, -1, "the program started more than %u threads",
                           VS_THREADS_MAX);
    place = thread_place(a, tid);
    if (!place || (!*place && !(*place = calloc(1, sizeof(*t)))))
        return -VSE_NOMEM;
    t = *place;
    if ((e = end_thread(a, t, 0)) < 0)
        return e;
    *t = (struct thread){.live = true,
                         .number = (uint16_t)a->thread_count++,
                         .bases = {start->regs.fs_base, start->regs.gs_base}};
    n = vs_wire_registers_put(&a->numbers, a->payload, 0, &start->regs, NULL, VS_WIRE_NEW);
    return put_other(
        a, t,
        (struct vs_event){.kind = VS_THREAD_START, .pc = start->regs.rip, .addr = start->system_id},
        a->payload, n, 0);
}

static int end_threads(struct vs_assembler *a)
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
            settle_call(a->threads[i], 0);
}

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
        e = (int)theirs(a, vs_relay_meta(a->o.relay, facts[i].key, text));
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
        e = end_threads(a);
        if (e == 0)
            e = put_other(a, someone(a), gone, NULL, 0, 0);
        a->current = NULL;
        a->block_count = 1;
        vs_arena_fini(&a->arena);
        vs_images_forget(a->o.images);
    } else {
        e = put_facts(a, h);
    }
    return e;
}

static int take_syscall(struct vs_assembler *a, struct thread *t, const struct wire_syscall *c)
{
    struct vs_syscall_head head = {.result = c->result};
    size_t n = sizeof(head);
    struct vs_event e = {.kind = VS_SYSCALL, .pc = t->call_pc, .addr = c->number};
    unsigned own = t->call_pc != 0;

    memcpy(head.args, c->args, sizeof(head.args));
    memcpy(a->payload, &head, sizeof(head));
    n = vs_wire_registers_put_call(&a->numbers, a->payload, n, c, t->bases);
    t->call_pc = 0;
    return put_other(a, t, e, a->payload, n, own);
}

static int take_external(struct vs_assembler *a, struct thread *t, const struct wire_external *x)
{
    struct vs_event e = {.kind = VS_EXTERNAL, .pc = t->call_pc, .addr = x->addr};

    return x->size ? put_other(a, t, e, x + 1, x->size, 0) : 0;
}

/* The instruction that asked is counted. */
static int take_request(struct vs_assembler *a, struct thread *t, uint64_t result)
{
    struct vs_event e = {.kind = VS_NONDET, .pc = t->request_pc};

    t->request_pc = 0;
    return e.pc ? put_other(a, t, e, &result, sizeof(result), 0) : -VSE_CORRUPT;
}

static void take_signal(struct thread *t, const struct wire_signal *s, enum pending pending)
{
    if (pending == PENDING_SIGNAL) {
        t->torn |= t->call_pc != 0;
        settle_call(t, s->regs.rip);
        t->interrupted[t->depth++ % NESTED] = t->repeats;
        t->repeats.pc = 0;
    }
    t->pending = pending;
    t->signal = s->number;
    t->before = s->regs;
}

/* Says that the instruction at pc was counted and goes on, if that is so. */
static size_t put_repetition(struct vs_assembler *a, size_t used, const struct repetition *r,
                             uint64_t pc)
{
    return r->pc && r->pc == pc
               ? vs_wire_registers_put_one(a->payload, used, VS_REG_ITERATIONS, r->iterations)
               : used;
}

static int take_resume(struct vs_assembler *a, struct thread *t, const struct wire_regs *now)
{
    struct vs_event e = {.addr = now->rip};
    enum pending pending = t->pending;
    unsigned own = 0;
    size_t n = 0;

    t->pending = PENDING_NONE;
    if (pending == PENDING_NONE)
        return 0;
    if (pending == PENDING_SIGNAL) {
        e.kind = VS_EXCEPTION;
        e.pc = t->before.rip;
        n = vs_wire_registers_put_one(a->payload, n, VS_REG_CAUSE, t->signal);
        n = put_repetition(a, n, &t->interrupted[(t->depth - 1) % NESTED], e.pc);
    } else {
        e.kind = VS_EXCEPTION_RET;
        e.pc = t->call_pc;
        own = t->call_pc != 0;
        t->call_pc = 0;
        t->repeats = t->interrupted[--t->depth % NESTED];
        if (t->repeats.pc != now->rip)
            t->repeats.pc = 0;
        n = put_repetition(a, n, &t->repeats, now->rip);
    }
    t->bases[0] = now->fs_base;
    t->bases[1] = now->gs_base;
    n = vs_wire_registers_put(&a->numbers, a->payload, n, now, &t->before,
                              t->torn ? VS_WIRE_ALL : VS_WIRE_CHANGED);
    t->torn = false;
    return put_other(a, t, e, a->payload, n, own);
}

/* Gives events to all instructions that have none, so that they count in the window that they ran
 * in. */
static int put_all_since(struct vs_assembler *a)
{
    int e = 0;

    for (size_t i = 0; e == 0 && i < a->thread_capacity; i++)
        if (a->threads[i] && a->threads[i]->live && a->threads[i]->since)
            e = put_since(a, a->threads[i]);
    return e;
}

static int take_gap(struct vs_assembler *a, struct thread *t, const struct wire_gap *g)
{
    struct vs_event e = {.kind = VS_GAP, .pc = g->regs.rip, .addr = g->skipped};
    size_t n = vs_wire_registers_put(&a->numbers, a->payload, 0, &g->regs, NULL, VS_WIRE_NEW);

    settle_call(t, g->regs.rip);
    if (g->window != a->window) {
        int err = put_all_since(a);

        if (err == 0)
            err = deliver(a);
        if (err < 0)
            return err;
        a->window = g->window;
        a->left = window_length(a, g->window);
        a->cut = false;
    }
    t->repeats.pc = 0;
    t->depth = 0;
    t->bases[0] = g->regs.fs_base;
    t->bases[1] = g->regs.gs_base;
    return put_other(a, t, e, a->payload, n, 0);
}

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
            return image == -VSE_NOMEM ? -VSE_NOMEM : (int)theirs(a, image);
    }
    return put_other(a, someone(a), e, NULL, 0, 0);
}

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
    case WIRE_EXIT:
    case WIRE_AGAIN:
    case WIRE_REQUEST:
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
    case WIRE_MAP:
        return sizeof(struct wire_map);
    default:
        return 0;
    }
}

static int take_thread_record(struct vs_assembler *a, uint32_t kind, struct thread *t,
                              const void *data, size_t size)
{
    switch (kind) {
    case WIRE_RUN:
        a->current = t;
        return 0;
    case WIRE_EXIT:
        return end_thread(a, t, *(const uint64_t *)data);
    case WIRE_SYSCALL:
        return take_syscall(a, t, data);
    case WIRE_EXTERNAL:
        if (((const struct wire_external *)data)->size > size - sizeof(struct wire_external))
            return -VSE_CORRUPT;
        return take_external(a, t, data);
    case WIRE_SIGNAL:
        take_signal(t, data, PENDING_SIGNAL);
        return 0;
    case WIRE_RETURN:
        take_signal(t, data, PENDING_RETURN);
        return 0;
    case WIRE_RESUME:
        return take_resume(a, t, data);
    case WIRE_GAP:
        return take_gap(a, t, data);
    case WIRE_REQUEST:
        return take_request(a, t, *(const uint64_t *)data);
    default:
        return -VSE_CORRUPT;
    }
}

static int take_record(struct vs_assembler *a, uint32_t kind, const struct wire_head *head,
                       struct vs_diag *diag)
{
    const void *data = head + 1;
    size_t size = head->size - sizeof(*head);
    struct thread *t = head->thread < a->thread_capacity ? a->threads[head->thread] : NULL;
    int e;

    if (size < record_size(kind))
        return nonsense(diag, "a short record");
    switch (kind) {
    case WIRE_HELLO:
        return hello(a, data);
    case WIRE_BLOCK:
        return define_block(a, data, size, diag);
    case WIRE_AGAIN:
        return meet_again(a, *(const uint64_t *)data, diag);
    case WIRE_START:
        return start_thread(a, head->thread, data, diag);
    case WIRE_MAP:
        return take_map(a, data, size);
    case WIRE_FORK:
        a->stats.forks++;
        return 0;
    case WIRE_BYE:
        a->stats.ended = true;
        return 0;
    default:
        e = t ? take_thread_record(a, kind, t, data, size) : -VSE_CORRUPT;
        return e == -VSE_CORRUPT && !a->theirs ? nonsense(diag, "a record") : e;
    }
}

/* Takes a block's record at pos, of any kind. Returns where the next slot is; -VSE_CORRUPT;
 * -VSE_NOMEM; the consumer's error. */
static int64_t take_block(struct vs_assembler *a, uint32_t number, const uint8_t *bytes, size_t pos,
                          size_t size)
{
    const struct vs_code_block *b = &a->blocks[number];
    size_t next = pos + b->length;
    int e;

    if (next + sizeof(struct wire_slot) > size || !a->current)
        return -VSE_CORRUPT;
    e = take_special(a, a->current, b, bytes + pos, half_at(bytes, next));
    if (e == 0 && a->current->since > SINCE_MAX)
        e = put_since(a, a->current);
    if (e == 0 && batch_full(a))
        e = deliver(a);
    return e < 0 ? e : (int64_t)next;
}

/* Takes a record that is no block. Returns as take_block. */
static int64_t take_other(struct vs_assembler *a, uint32_t what, const uint8_t *bytes, size_t pos,
                          size_t size, struct vs_diag *diag)
{
    size_t at = pos + sizeof(struct wire_slot), left = size - at, length;
    struct wire_head *head = (void *)a->record;
    int e;

    if (what < WIRE_FIRST)
        return nonsense(diag, "a block that was not announced");
    if (left < sizeof(*head))
        return nonsense(diag, "a record's size");
    length = half_at(bytes, at);
    if (length < sizeof(*head) || length % 8 || length > left || length > WIRE_RECORD_MAX)
        return nonsense(diag, "a record's size");
    memcpy(a->record, bytes + at, length);
    head->size = (uint32_t)length;
    e = take_record(a, what, head, diag);
    return e < 0 ? e : (int64_t)(at + length);
}

/* Takes everything up to the last slot, which only says how the block before it was left: until the
 * buffer is handed over, the tool notes there what runs next. */
static int take_all(struct vs_assembler *a, const uint8_t *bytes, size_t size, struct vs_diag *diag)
{
    int64_t pos = 0, last = (int64_t)(size - sizeof(struct wire_slot));
    uint32_t what;
    int e;

    while (pos >= 0 && pos < last) {
        pos = (int64_t)take_plain(a, bytes, (size_t)pos, size);
        if (batch_full(a)) {
            if ((e = deliver(a)) < 0)
                return e;
            continue;
        }
        if (pos == last)
            break;
        what = half_at(bytes, (size_t)pos + offsetof(struct wire_slot, what));
        if (what == 0)
            return nonsense(diag, "an early end");
        if (what < a->block_count) {
            pos = take_block(a, what, bytes, (size_t)pos, size);
            if (pos == -VSE_CORRUPT && !a->theirs)
                return nonsense(diag, "a block's record");
        } else {
            pos = take_other(a, what, bytes, (size_t)pos, size, diag);
        }
    }
    if (pos < 0)
        return (int)pos;
    return pos == last ? 0 : nonsense(diag, "a buffer without an end");
}

static int finish(struct vs_assembler *a)
{
    int e = end_threads(a);

    if (e == 0)
        e = deliver(a);
    return e == 0 ? (int)theirs(a, vs_relay_drain(a->o.relay)) : e;
}

/* Describes all errors of our own in the diag. */
static int settle(struct vs_assembler *a, int e, struct vs_diag *diag, bool *was_theirs)
{
    *was_theirs = e < 0 && a->theirs;
    return e == -VSE_NOMEM && !*was_theirs ? vs_diag_set(diag, e, -1, -1, "out of memory") : e;
}

int vs_assembler_take(struct vs_assembler *a, const uint8_t *bytes, size_t size,
                      struct vs_diag *diag, bool *was_theirs)
{
    bool odd = size < sizeof(struct wire_slot) || size % 8 || (uintptr_t)bytes % 8;

    return settle(a, odd ? nonsense(diag, "a buffer's size") : take_all(a, bytes, size, diag), diag,
                  was_theirs);
}

int vs_assembler_finish(struct vs_assembler *a, struct vs_diag *diag, bool *was_theirs)
{
    return settle(a, finish(a), diag, was_theirs);
}
