/* SPDX-License-Identifier: MIT */
#include "study/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"
#include "vestige/error.h"

enum { CACHE = 1 << 16, NESTED = 16 };

/* An entry of the cache, which is indexed by the address's low bits. */
struct vs_flow_insn {
    uint64_t pc;
    struct vs_insn insn; /* length 0: nothing is decoded here */
    uint8_t bytes[VS_ISA_LENGTH_MAX];
};

/* Where a signal interrupted a thread. */
struct interrupted {
    uint64_t pc;
    bool begun;
};

struct vs_flow_thread {
    bool known;    /* where it is; if not, the next event that tells is believed */
    bool owes;     /* its last instruction is a branch whose event has not come yet */
    bool begun;    /* the instruction at `next` is a repeated one that was already counted */
    uint64_t last; /* the instruction that retired last; 0 = none since it went elsewhere */
    uint64_t next; /* the instruction that comes next */
    bool repeats;  /* last is a repeated instruction */
    struct interrupted stack[NESTED]; /* overwritten when deeper: handlers may never return */
    unsigned depth;
};

int vs_flow_check_init(struct vs_flow_check *c, const struct vs_reader *blocks,
                       const struct vs_isa *isa)
{
    const struct vs_run_info *info = vs_reader_info(blocks);
    struct vs_block block;
    int e = 0;

    memset(c, 0, sizeof(*c));
    c->blocks = blocks;
    c->isa = isa;
    c->insns = calloc(CACHE, sizeof(*c->insns));
    if (!c->insns)
        return -VSE_NOMEM;
    for (uint32_t i = 0; e == 0 && i < info->blocks; i++)
        if ((e = vs_reader_block(blocks, i, &block)) == 0)
            e = vs_codemap_add(&c->code, &block);
    return e;
}

void vs_flow_check_fini(struct vs_flow_check *c)
{
    vs_codemap_fini(&c->code);
    free(c->insns);
    free(c->threads);
    c->insns = NULL;
    c->threads = NULL;
    c->thread_capacity = 0;
}

static int thread_of(struct vs_flow_check *c, unsigned number, struct vs_flow_thread **t)
{
    size_t had = c->thread_capacity;
    void *array = c->threads;

    if (unlikely(number >= had)) {
        if (vs_array_room(&array, &c->thread_capacity, had, number + 1 - had, sizeof(**t)) < 0)
            return -VSE_NOMEM;
        c->threads = array;
        memset(c->threads + had, 0, (c->thread_capacity - had) * sizeof(**t));
    }
    *t = &c->threads[number];
    return 0;
}

/* Returns NULL if no instruction is known there. */
static const struct vs_insn *insn_at(struct vs_flow_check *c, uint64_t pc)
{
    struct vs_flow_insn *place = &c->insns[pc % CACHE];
    size_t size;

    if (likely(place->pc == pc && place->insn.length))
        return &place->insn;
    size = vs_codemap_fetch(&c->code, pc, place->bytes, c->isa->length_max);
    if (c->isa->decode(place->bytes, size, pc, &place->insn) < 0) {
        place->insn.length = 0;
        return NULL;
    }
    place->pc = pc;
    return &place->insn;
}

/* Forgets what was decoded from, or across the start of, the block's bytes. */
static void forget_decoded(struct vs_flow_check *c, const struct vs_block *block)
{
    uint64_t n = block->size + (uint64_t)VS_ISA_LENGTH_MAX;

    for (uint64_t i = 0; i < n && i < CACHE; i++)
        c->insns[(block->addr - VS_ISA_LENGTH_MAX + i) % CACHE].insn.length = 0;
}

static int replace_code(struct vs_flow_check *c, uint64_t id)
{
    struct vs_block block;

    if (vs_reader_block(c->blocks, id, &block) < 0)
        return -VSE_CORRUPT;
    forget_decoded(c, &block);
    return vs_codemap_replace(&c->code, &block);
}

/* ---- walking ------------------------------------------------------------------------------- */

/* The instruction at `next`, which is in the cache, was passed. */
static void leave(struct vs_flow_thread *t, const struct vs_insn *insn)
{
    t->last = t->next;
    t->repeats = insn->repeat;
    t->next += insn->length;
    t->begun = false;
}

/* It retires. */
static void step(struct vs_flow_check *c, struct vs_flow_thread *t, const struct vs_insn *insn)
{
    if (unlikely(c->retired != NULL) && !c->error)
        c->error = c->retired(c->context, (unsigned)(t - c->threads), t->next,
                              c->insns[t->next % CACHE].bytes, insn->length);
    leave(t, insn);
    c->instructions++;
}

/* A repeated instruction that was counted before a signal ends without another operand. */
static void finish_begun(struct vs_flow_check *c, struct vs_flow_thread *t)
{
    const struct vs_insn *insn = insn_at(c, t->next);

    if (t->begun && insn)
        leave(t, insn);
}

/* Passes over n instructions, which must be plain. Returns NULL, or what is wrong. */
static const char *pass(struct vs_flow_check *c, struct vs_flow_thread *t, unsigned n)
{
    if (!t->known || n == 0)
        return NULL;
    if (t->owes)
        return "the branch before it has no event";
    if (unlikely(t->begun))
        finish_begun(c, t);
    for (; n; n--) {
        const struct vs_insn *insn = insn_at(c, t->next);

        if (unlikely(!insn))
            return "no instruction is known there";
        if (unlikely(insn->kind == VS_INSN_BRANCH))
            return "a branch is passed over";
        if (unlikely(insn->kind == VS_INSN_SYSCALL))
            return "a system call is passed over";
        step(c, t, insn);
    }
    return NULL;
}

/* Retires the event's own instruction, which is at its pc. */
static const char *retire(struct vs_flow_check *c, struct vs_flow_thread *t,
                          const struct vs_event *e, const struct vs_insn *insn)
{
    if (t->known && t->owes)
        return "the branch before it has no event";
    if (unlikely(t->begun) && e->pc != t->next)
        finish_begun(c, t);
    if (t->known && e->pc != t->next)
        return "its instruction is not the next";
    t->known = true;
    t->next = e->pc;
    step(c, t, insn);
    t->owes = insn->kind == VS_INSN_BRANCH;
    return NULL;
}

/* Judges an event of an instruction that has already retired. */
static const char *belong(struct vs_flow_thread *t, const struct vs_event *e,
                          const struct vs_insn *insn)
{
    if (!t->known || e->pc == t->last)
        return NULL;
    if (t->begun && e->pc == t->next && (e->flags & VS_MEM_REPEAT)) {
        t->last = e->pc;
        t->next += insn->length;
        t->repeats = true;
        t->begun = false;
        return NULL;
    }
    return "it belongs to another instruction than the last";
}

/* Goes on to the instruction of an event that has one. */
static const char *reach(struct vs_flow_check *c, struct vs_flow_thread *t,
                         const struct vs_event *e, const struct vs_insn *insn)
{
    const char *why;

    if (!insn)
        return "no instruction is known there";
    if (e->icount == 0)
        return belong(t, e, insn);
    why = pass(c, t, e->icount - 1u);
    return why ? why : retire(c, t, e, insn);
}

/* The thread goes elsewhere. */
static void go(struct vs_flow_thread *t, uint64_t pc)
{
    t->known = true;
    t->owes = t->begun = false;
    t->last = 0;
    t->next = pc;
}

/* ---- kinds of events ----------------------------------------------------------------------- */

static const char *branch(struct vs_flow_check *c, struct vs_flow_thread *t,
                          const struct vs_event *e)
{
    const struct vs_insn *insn = insn_at(c, e->pc);
    const char *why = reach(c, t, e, insn);
    bool owed = t->owes;

    t->owes = false;
    c->branches++;
    if (why)
        return why;
    if (!owed && t->known)
        return "its instruction is no branch, or had its event";
    if (e->size != insn->length)
        return "its instruction has another length";
    if ((e->flags & ~VS_BR_TAKEN) != insn->branch)
        return "its instruction is another kind of branch";
    if (!(insn->branch & VS_BR_INDIRECT) && e->addr != insn->target)
        return "its instruction has another target";
    return NULL;
}

static const char *memory(struct vs_flow_check *c, struct vs_flow_thread *t,
                          const struct vs_event *e)
{
    const struct vs_insn *insn = insn_at(c, e->pc);
    const char *why = reach(c, t, e, insn);

    if (why)
        return why;
    if ((e->flags & VS_MEM_REPEAT) && !insn->repeat)
        return "its instruction is not repeated";
    if ((e->flags & VS_MEM_ATOMIC) && !insn->locked)
        return "its instruction is not atomic";
    return NULL;
}

static const char *system_call(struct vs_flow_check *c, struct vs_flow_thread *t,
                               const struct vs_event *e)
{
    const struct vs_insn *insn = insn_at(c, e->pc);
    const char *why = reach(c, t, e, insn);

    return why ? why : insn->kind != VS_INSN_SYSCALL ? "its instruction is no system call" : NULL;
}

static const char *nondet(struct vs_flow_check *c, struct vs_flow_thread *t,
                          const struct vs_event *e)
{
    const struct vs_insn *insn = insn_at(c, e->pc);
    const char *why = reach(c, t, e, insn);

    return why                            ? why
           : insn->kind != VS_INSN_NONDET ? "its instruction gets nothing from outside"
                                          : NULL;
}

/* Judges an event with which no instruction retires: those before it do, and `pc`, unless it is 0,
 * comes next. */
static const char *before(struct vs_flow_check *c, struct vs_flow_thread *t,
                          const struct vs_event *e, uint64_t pc)
{
    const char *why = pass(c, t, e->icount);

    if (why || !t->known || !pc || pc == t->next || (pc == t->last && t->repeats))
        return why;
    if (t->begun)
        finish_begun(c, t);
    return pc == t->next ? NULL : "its instruction is not the next";
}

static const char *exception(struct vs_flow_check *c, struct vs_flow_thread *t,
                             const struct vs_event *e)
{
    bool begun = t->begun && e->pc == t->next;
    const char *why = before(c, t, e, e->pc);

    if (!why && t->known && t->owes)
        why = "the branch before it has no event";
    begun = begun || (t->known && t->repeats && e->pc == t->last);
    t->stack[t->depth++ % NESTED] = (struct interrupted){e->pc, begun};
    return why;
}

/* A thread may end in a call that does not return: in exec, or when another thread does that. */
static const char *thread_exit(struct vs_flow_check *c, struct vs_flow_thread *t,
                               const struct vs_event *e)
{
    const struct vs_insn *insn;
    const char *why = e->icount ? pass(c, t, e->icount - 1u) : NULL;

    if (why || !e->icount || !t->known)
        return why;
    insn = insn_at(c, t->next);
    if (!insn || insn->kind != VS_INSN_SYSCALL || t->owes)
        return pass(c, t, 1);
    step(c, t, insn);
    return NULL;
}

/* Whether an event follows from the code. Returns NULL, or what is wrong. */
static const char *judge(struct vs_flow_check *c, struct vs_flow_thread *t,
                         const struct vs_event *e)
{
    switch (e->kind) {
    case VS_BRANCH:
        return branch(c, t, e);
    case VS_LOAD:
    case VS_STORE:
        return memory(c, t, e);
    case VS_NONDET:
        return nondet(c, t, e);
    case VS_SYSCALL:
    case VS_EXCEPTION_RET:
        return e->pc ? system_call(c, t, e) : before(c, t, e, 0);
    case VS_EXCEPTION:
        return exception(c, t, e);
    case VS_EXTERNAL:
        /* what a system call wrote may come before or after it */
        return before(c, t, e, e->pc == t->last ? 0 : e->pc);
    case VS_THREAD_START:
        return NULL;
    case VS_THREAD_EXIT:
        return thread_exit(c, t, e);
    default:
        return before(c, t, e, 0);
    }
}

/* Goes where the event says that its thread goes. */
static void follow(struct vs_flow_thread *t, const struct vs_event *e)
{
    const struct interrupted *i;

    switch (e->kind) {
    case VS_BRANCH:
        go(t, e->flags & VS_BR_TAKEN ? e->addr : e->pc + e->size);
        break;
    case VS_EXCEPTION:
        go(t, e->addr);
        break;
    case VS_EXCEPTION_RET:
        i = &t->stack[--t->depth % NESTED];
        go(t, e->addr);
        t->begun = i->begun && i->pc == e->addr;
        break;
    case VS_THREAD_START:
    case VS_GAP:
        *t = (struct vs_flow_thread){0};
        go(t, e->pc);
        break;
    default:
        break;
    }
}

static void keep_difference(struct vs_flow_check *c, const struct vs_event *e, uint64_t number,
                            uint64_t pc, const char *why)
{
    if (c->differences++ == 0)
        c->first = (struct vs_flow_difference){.event = number,
                                               .pc = pc,
                                               .event_pc = e->pc,
                                               .thread = e->thread,
                                               .kind = e->kind,
                                               .why = why};
}

/* Believes an event that differs: its instruction, if it has one, was the last. */
static void believe(struct vs_flow_check *c, struct vs_flow_thread *t, const struct vs_event *e)
{
    const struct vs_insn *insn;

    if (e->kind != VS_LOAD && e->kind != VS_STORE && e->kind != VS_NONDET && e->kind != VS_SYSCALL)
        return;
    insn = insn_at(c, e->pc);
    t->known = insn != NULL;
    t->owes = t->begun = false;
    if (!insn)
        return;
    t->next = e->pc;
    step(c, t, insn);
    t->owes = insn->kind == VS_INSN_BRANCH;
}

int vs_flow_check_batch(struct vs_flow_check *c, const struct vs_batch *batch)
{
    int error = 0;

    for (size_t i = 0; i < batch->count && !error; i++) {
        const struct vs_event *e = &batch->events[i];
        struct vs_flow_thread *t;
        const char *why;
        uint64_t pc;

        if ((error = thread_of(c, e->thread, &t)) < 0)
            break;
        why = judge(c, t, e);
        if (unlikely(why)) {
            keep_difference(c, e, batch->first + i, t->next, why);
            believe(c, t, e);
        }
        follow(t, e);
        if (unlikely(e->kind == VS_SYSCALL) && vs_syscall_resumes(batch, e, &pc))
            go(t, pc);
        if (unlikely(e->kind == VS_CODE))
            error = replace_code(c, e->value);
        if (unlikely(c->error))
            error = c->error;
    }
    return error;
}
