/* SPDX-License-Identifier: MIT */
#include "study/pace.h"

#include <stdlib.h>

int vs_pace_init(struct vs_pace *p, uint64_t period, unsigned cores,
                 const struct vs_encoder_ops *ops)
{
    *p = (struct vs_pace){.period = period, .cores = cores};
    if (!period || !ops->sync)
        return 0;
    p->since = calloc(cores, sizeof(*p->since));
    return p->since ? 0 : -VSE_NOMEM;
}

void vs_pace_fini(struct vs_pace *p)
{
    free(p->since);
    *p = (struct vs_pace){0};
}

/* Whether the core is due for a point after the step. */
static bool is_due(struct vs_pace *p, const struct vs_step *s)
{
    uint64_t *since = &p->since[s->core];
    *since += s->icount;
    if (*since < p->period || s->kind == VS_STEP_DISCONTINUITY)
        return false;
    *since = 0;
    return true;
}

static int consume_steps(struct vs_pace *p, const struct vs_encoder_ops *ops, void *encoder,
                         const struct vs_slice *slice)
{
    const struct vs_step *steps = slice->steps;
    size_t done = 0;
    int err = 0;
    for (size_t i = 0; i < slice->step_count && !err; i++) {
        if (steps[i].core >= p->cores)
            return -VSE_INVAL;
        if (!is_due(p, &steps[i]))
            continue;
        err = ops->consume(encoder,
                           &(struct vs_slice){.steps = steps + done, .step_count = i + 1 - done});
        if (!err)
            err = ops->sync(encoder, steps[i].core);
        done = i + 1;
    }
    if (!err && done < slice->step_count)
        err = ops->consume(encoder, &(struct vs_slice){.steps = steps + done,
                                                       .step_count = slice->step_count - done});
    return err;
}

static int sync_after(struct vs_pace *p, const struct vs_encoder_ops *ops, void *encoder,
                      const struct vs_batch *events)
{
    int err = 0;
    for (size_t i = 0; events && i < events->count; i++)
        if (events->events[i].thread < p->cores)
            p->since[events->events[i].thread] += events->events[i].icount;
    for (unsigned core = 0; core < p->cores && !err; core++)
        if (p->since[core] >= p->period) {
            p->since[core] = 0;
            err = ops->sync(encoder, core);
        }
    return err;
}

int vs_pace_consume(struct vs_pace *p, const struct vs_encoder_ops *ops, void *encoder,
                    const struct vs_slice *slice)
{
    if (!p->since)
        return ops->consume(encoder, slice);
    if (!(ops->needs & VS_NEEDS_EVENTS))
        return consume_steps(p, ops, encoder, slice);
    int err = ops->consume(encoder, slice);
    return err ? err : sync_after(p, ops, encoder, slice->events);
}
