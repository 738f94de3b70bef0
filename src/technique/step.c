/* SPDX-License-Identifier: MIT */
#include "technique/step.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"

/* ---- cores ----------------------------------------------------------------------------------- */

static int know_core(struct vs_stepper *s, unsigned core)
{
    size_t more = core + 1 - s->cores;
    int err = vs_array_room((void **)&s->since, &s->capacity, s->cores, more, sizeof(*s->since));
    if (!err)
        err = vs_array_room((void **)&s->alive, &s->alive_capacity, s->cores, more,
                            sizeof(*s->alive));
    if (err)
        return err;
    for (; s->cores <= core; s->cores++) {
        s->since[s->cores] = (struct vs_step_since){0};
        s->alive[s->cores] = false;
    }
    return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static struct vs_step *add(struct vs_stepper *s, unsigned core, unsigned kind, uint64_t time)
{
    struct vs_step *step = &s->steps[s->count++];
    *step = (struct vs_step){.time = time,
                             .icount = (uint32_t)s->since[core].instructions,
                             .jumps = s->since[core].jumps,
                             .core = (uint16_t)core,
                             .kind = (uint8_t)kind};
    s->since[core] = (struct vs_step_since){0};
    return step;
}

static void go_elsewhere(struct vs_stepper *s, unsigned core, uint64_t target, uint64_t time)
{
    if (!s->alive[core] && target == VS_STEP_NOWHERE)
        return;
    add(s, core, VS_STEP_DISCONTINUITY, time)->target = target;
    s->alive[core] = target != VS_STEP_NOWHERE;
}

static void add_branch(struct vs_stepper *s, const struct vs_event *e, uint64_t time)
{
    unsigned kind;
    if (e->flags & VS_BR_INDIRECT) {
        kind = VS_STEP_INDIRECT;
    } else if (e->flags & VS_BR_COND) {
        kind = VS_STEP_CONDITIONAL;
    } else if (e->flags & VS_BR_CALL) {
        kind = VS_STEP_CALL;
    } else {
        s->since[e->thread].jumps++;
        return;
    }
    struct vs_step *step = add(s, e->thread, kind, time);
    step->pc = e->pc;
    step->target = e->addr;
    step->flags = e->flags;
    step->size = (uint8_t)e->size;
}

static void add_other(struct vs_stepper *s, const struct vs_batch *b, const struct vs_event *e,
                      uint64_t time)
{
    uint64_t pc;
    switch (e->kind) {
    case VS_SYSCALL:
        if (vs_syscall_resumes(b, e, &pc))
            go_elsewhere(s, e->thread, pc, time);
        break;
    case VS_EXCEPTION:
    case VS_EXCEPTION_RET:
        go_elsewhere(s, e->thread, e->addr, time);
        break;
    case VS_GAP:
        go_elsewhere(s, e->thread, VS_STEP_NOWHERE, time);
        go_elsewhere(s, e->thread, e->pc, time);
        break;
    case VS_THREAD_START:
        go_elsewhere(s, e->thread, e->pc, time);
        break;
    case VS_THREAD_EXIT:
        go_elsewhere(s, e->thread, VS_STEP_NOWHERE, time);
        break;
    default:
        break;
    }
}

int vs_stepper_take(struct vs_stepper *s, const struct vs_batch *batch)
{
    s->count = 0;
    /* an event makes two steps at most */
    int err = vs_array_room((void **)&s->steps, &s->step_capacity, 0, 2 * batch->count,
                            sizeof(*s->steps));
    for (size_t i = 0; i < batch->count && !err; i++) {
        const struct vs_event *e = &batch->events[i];
        if (unlikely(e->thread >= s->cores))
            err = know_core(s, e->thread);
        if (unlikely(err))
            break;
        s->since[e->thread].instructions += e->icount;
        s->instructions += e->icount;
        uint64_t time = batch->cycles ? batch->cycles[i] : s->instructions;
        if (e->kind == VS_BRANCH)
            add_branch(s, e, time);
        else if (e->kind > VS_STORE)
            add_other(s, batch, e, time);
    }
    invariant(s->count <= s->step_capacity);
    return err;
}

int vs_stepper_end(struct vs_stepper *s, uint64_t time)
{
    s->count = 0;
    int err = vs_array_room((void **)&s->steps, &s->step_capacity, 0, s->cores, sizeof(*s->steps));
    for (unsigned core = 0; core < s->cores && !err; core++)
        go_elsewhere(s, core, VS_STEP_NOWHERE, time);
    invariant(s->count <= s->step_capacity);
    return err;
}

void vs_stepper_fini(struct vs_stepper *s)
{
    free(s->since);
    free(s->alive);
    free(s->steps);
    *s = (struct vs_stepper){0};
}
