/* SPDX-License-Identifier: MIT */
#include "study/callstack.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "vestige/error.h"

enum {
    STACKS_MAX = 1024, /* of a thread: further coroutines share the last one */
};

/* Slots that are farther apart lie on different stacks, as far as nothing else is known. */
#define FAR (UINT64_C(1) << 20)

struct vs_callstack_thread {
    struct vs_calls *stacks; /* the latest one last */
    size_t count, capacity, current;
    uint64_t serial;
    struct vs_map
        owners; /* by return address: 1 + the serial of the call that made a call from there */
    uint64_t operand_pc, operand; /* the last load or store */
};

/* ---- threads and stacks ---------------------------------------------------------------------- */

static int find_thread(struct vs_callstack *s, unsigned thread, struct vs_callstack_thread **found)
{
    if (thread >= s->count) {
        size_t more = thread + 1 - s->count;

        if (vs_array_room((void **)&s->threads, &s->capacity, s->count, more, sizeof(*s->threads)))
            return -VSE_NOMEM;
        memset(s->threads + s->count, 0, more * sizeof(*s->threads));
        s->count += more;
    }
    *found = &s->threads[thread];
    return 0;
}

static struct vs_calls *current(const struct vs_callstack_thread *t)
{
    return t->count ? &t->stacks[t->current] : NULL;
}

/* Makes another stack the current one. */
static int add_stack(struct vs_callstack_thread *t)
{
    if (t->count == STACKS_MAX) {
        t->current = t->count - 1;
        t->stacks[t->current].depth = 0;
        return 0;
    }
    if (vs_array_room((void **)&t->stacks, &t->capacity, t->count, 1, sizeof(*t->stacks)))
        return -VSE_NOMEM;
    t->stacks[t->count] = (struct vs_calls){0};
    t->current = t->count++;
    return 0;
}

static void forget(struct vs_callstack_thread *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->stacks[i].depth = 0;
    t->current = 0;
    vs_map_clear(&t->owners);
}

struct vs_calls *vs_callstack_calls(struct vs_callstack *s, unsigned thread)
{
    return thread < s->count ? current(&s->threads[thread]) : NULL;
}

void vs_callstack_fini(struct vs_callstack *s)
{
    for (size_t i = 0; i < s->count; i++) {
        struct vs_callstack_thread *t = &s->threads[i];

        for (size_t k = 0; k < t->count; k++)
            free(t->stacks[k].calls);
        free(t->stacks);
        vs_map_fini(&t->owners);
    }
    free(s->threads);
    *s = (struct vs_callstack){0};
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Leaves the calls whose slots are free when the stack ends at `slot`. */
static void drop_dead(struct vs_calls *c, uint64_t slot)
{
    while (c->depth && c->calls[c->depth - 1].slot && c->calls[c->depth - 1].slot <= slot &&
           slot - c->calls[c->depth - 1].slot < FAR)
        c->depth--;
}

static int push(struct vs_callstack_thread *t, struct vs_stack_call call)
{
    int e = t->count ? 0 : add_stack(t);
    struct vs_calls *c = current(t);

    if (e)
        return e;
    if (call.slot)
        drop_dead(c, call.slot);
    if (c->depth == VS_CALLS_MAX)
        return 0;
    if (vs_array_room((void **)&c->calls, &c->capacity, c->depth, 1, sizeof(call)))
        return -VSE_NOMEM;
    call.serial = ++t->serial;
    c->calls[c->depth++] = call;
    return 0;
}

/* The slot of the return address that the branch put or took, or 0. */
static uint64_t slot_of(const struct vs_callstack_thread *t, const struct vs_event *e)
{
    return t->operand_pc == e->pc ? t->operand : 0;
}

static int take_call(struct vs_callstack_thread *t, const struct vs_event *e)
{
    const struct vs_calls *c = current(t);
    uint64_t back = e->pc + e->size;
    int err = push(t, (struct vs_stack_call){
                          .site = e->pc, .back = back, .entry = e->addr, .slot = slot_of(t, e)});

    c = current(t);
    if (err || !c->depth)
        return err;
    return vs_map_set(&t->owners, back, 1 + (c->depth > 1 ? c->calls[c->depth - 2].serial : 0));
}

/* Finds the latest call of a stack with that slot. Returns its depth; 0 if there is none. */
static size_t find_slot(const struct vs_calls *c, uint64_t slot)
{
    size_t depth = c->depth;

    while (depth && c->calls[depth - 1].slot != slot)
        depth--;
    return depth;
}

/* The latest call that returns there, or that does so as far as is known. */
static size_t find_back(const struct vs_calls *c, uint64_t back)
{
    size_t depth = c->depth;

    if (depth && !c->calls[depth - 1].back)
        return depth;
    while (depth && c->calls[depth - 1].back != back)
        depth--;
    return depth;
}

/* Goes to where a call returned, if whoever made it is still there. Another call of that routine
 * that jumps there is none of it: it jumps about within itself. Returns whether it goes. */
static bool go_back(struct vs_callstack_thread *t, uint64_t to)
{
    struct vs_calls *c = current(t);
    uint64_t owner = vs_map_value(&t->owners, to);
    size_t depth = c ? c->depth : 0;

    if (!owner || !c)
        return false;
    while (depth && c->calls[depth - 1].serial != owner - 1)
        depth--;
    if (!depth && owner > 1)
        return false;
    if (depth && c->calls[depth - 1].entry == c->calls[c->depth - 1].entry)
        return false;
    c->depth = depth;
    return true;
}

/* Goes to another stack that has a call with that slot, and leaves the call. */
static bool switch_stack(struct vs_callstack_thread *t, uint64_t slot)
{
    for (size_t i = t->count; i-- > 0;) {
        size_t depth = i == t->current ? 0 : find_slot(&t->stacks[i], slot);

        if (depth) {
            t->current = i;
            t->stacks[i].depth = depth - 1;
            return true;
        }
    }
    return false;
}

static int take_return(struct vs_callstack_thread *t, const struct vs_event *e)
{
    struct vs_calls *c = current(t);
    uint64_t slot = slot_of(t, e), last;
    size_t depth;

    if (!c)
        return 0;
    depth = slot ? find_slot(c, slot) : 0;
    if (!depth && slot && switch_stack(t, slot))
        return 0;
    if (!depth)
        depth = find_back(c, e->addr);
    if (depth) {
        c->depth = depth - 1;
        return 0;
    }
    if (go_back(t, e->addr) || !slot || !c->depth)
        return 0;
    last = c->calls[c->depth - 1].slot;
    if (last && (slot > last ? slot - last : last - slot) >= FAR)
        return add_stack(t);
    drop_dead(c, slot);
    return 0;
}

static int take_branch(struct vs_callstack_thread *t, const struct vs_event *e)
{
    const struct vs_calls *c = current(t);

    if (!(e->flags & VS_BR_TAKEN))
        return 0;
    if (e->flags & VS_BR_RETURN && (!(e->flags & VS_BR_CALL) || (c && find_back(c, e->addr))))
        return take_return(t, e);
    if (e->flags & VS_BR_CALL)
        return take_call(t, e);
    if (e->flags & VS_BR_INDIRECT)
        go_back(t, e->addr);
    return 0;
}

/* ---- signals --------------------------------------------------------------------------------- */

static int take_signal(struct vs_callstack_thread *t, const struct vs_event *e)
{
    struct vs_stack_call call = {
        .site = e->pc, .back = e->pc, .entry = e->addr, .kind = VS_CALL_INTERRUPTED};
    int err = push(t, call);

    call.back = 0;
    call.kind = VS_CALL_HANDLER;
    return err ? err : push(t, call);
}

static void end_signal(struct vs_callstack_thread *t)
{
    struct vs_calls *c = current(t);
    size_t depth = c ? c->depth : 0;

    while (depth && c->calls[depth - 1].kind != VS_CALL_INTERRUPTED)
        depth--;
    if (depth)
        c->depth = depth - 1;
}

/* ---- events ---------------------------------------------------------------------------------- */

int vs_callstack_take(struct vs_callstack *s, const struct vs_batch *batch, size_t i)
{
    const struct vs_event *e = &batch->events[i];
    struct vs_callstack_thread *t;
    uint64_t pc;
    int err = find_thread(s, e->thread, &t);

    if (err)
        return err;
    switch (e->kind) {
    case VS_LOAD:
    case VS_STORE:
        t->operand_pc = e->pc;
        t->operand = e->addr;
        return 0;
    case VS_BRANCH:
        err = take_branch(t, e);
        break;
    case VS_EXCEPTION:
        err = take_signal(t, e);
        break;
    case VS_EXCEPTION_RET:
        end_signal(t);
        break;
    case VS_SYSCALL: /* one that goes elsewhere than to itself is another program's beginning */
        if (vs_syscall_resumes(batch, e, &pc) && pc != e->pc)
            forget(t);
        break;
    case VS_THREAD_START:
    case VS_GAP:
        forget(t);
        break;
    default:
        break;
    }
    return err;
}
