/* SPDX-License-Identifier: MIT */
#include "technique/branches.h"

#include <stdlib.h>
#include <string.h>

static int open_branches(void *part, const void *key, const struct vs_technique_setup *setup)
{
    struct vs_branches *b = part;
    b->counted = 1 << VS_STEP_CONDITIONAL | 1 << VS_STEP_INDIRECT |
                 (((const struct vs_branches_key *)key)->calls ? 1 << VS_STEP_CALL : 0);
    b->cores = setup->cores;
    b->block =
        64 * (size_t)((b->cores + 63) / 64); /* so that the ends are no more than the steps */
    b->now = calloc(b->cores, sizeof(*b->now));
    return b->now ? 0 : -VSE_NOMEM;
}

static void forget(struct vs_branches *b)
{
    free(b->at);
    free(b->told);
    free(b->outcomes);
    free(b->others);
    free(b->ends);
    b->at = b->ends = NULL;
    b->told = NULL;
    b->outcomes = NULL;
    b->others = NULL;
    b->room = b->end_room = 0;
}

static void close_branches(void *part)
{
    struct vs_branches *b = part;
    forget(b);
    free(b->now);
}

static int make_room(struct vs_branches *b, size_t count)
{
    size_t ends = (count + b->block - 1) / b->block * b->cores;
    if (count <= b->room && ends <= b->end_room)
        return 0;
    forget(b);
    b->at = malloc(count * sizeof(*b->at));
    b->told = malloc((count + 63) / 64 * sizeof(*b->told));
    b->outcomes = malloc((count + 1) * sizeof(*b->outcomes));
    b->others = malloc((count + 1) * sizeof(*b->others));
    b->ends = malloc(ends * sizeof(*b->ends));
    if (!b->at || !b->told || !b->outcomes || !b->others || !b->ends)
        return -VSE_NOMEM;
    b->room = count;
    b->end_room = ends;
    return 0;
}

/* Takes the steps of a block. Nothing branches on what kind a step is: the host could not predict
 * it. */
static int take_block(struct vs_branches *b, size_t from, size_t to)
{
    const uint32_t counted = b->counted;
    size_t outcomes = b->outcome_count, others = b->other_count;
    for (size_t i = from; i < to; i++) {
        const struct vs_step *s = &b->steps[i];
        if (unlikely(s->core >= b->cores))
            return -VSE_INVAL;
        struct vs_branch_totals *t = &b->now[s->core];
        t->instructions += s->icount;
        t->branches += counted >> s->kind & 1;
        b->at[i] = *t;
        b->instructions += s->icount;
        b->outcomes[outcomes] = (struct vs_branch_outcome){
            .pc = s->pc, .step = (uint32_t)i, .core = s->core, .taken = vs_step_taken(s)};
        outcomes += s->kind == VS_STEP_CONDITIONAL;
        b->others[others] = (uint32_t)i;
        others += s->kind != VS_STEP_CONDITIONAL;
    }
    b->outcome_count = outcomes;
    b->other_count = others;
    return 0;
}

/* Tells steps apart that are no conditional direct branches. */
static void take_others(struct vs_branches *b)
{
    for (size_t k = 0; k < b->other_count; k++) {
        uint32_t i = b->others[k];
        const struct vs_step *s = &b->steps[i];
        bool indirect = s->kind == VS_STEP_INDIRECT, returns = s->flags & VS_BR_RETURN;
        b->returns += indirect && returns;
        b->indirect += indirect && !returns;
        if (s->kind == VS_STEP_DISCONTINUITY || (indirect && !vs_step_taken(s)))
            b->told[i / 64] |= UINT64_C(1) << i % 64;
    }
}

static int take_branches(void *part, const struct vs_slice *slice)
{
    struct vs_branches *b = part;
    int err = make_room(b, slice->step_count);
    b->steps = slice->steps;
    b->count = slice->step_count;
    b->outcome_count = b->other_count = b->blocks = 0;
    for (size_t from = 0, to; from < b->count && !err; from = to) {
        to = b->count - from < b->block ? b->count : from + b->block;
        err = take_block(b, from, to);
        memcpy(b->ends + b->blocks++ * b->cores, b->now, b->cores * sizeof(*b->now));
    }
    if (err)
        return err;
    b->conditional += b->count - b->other_count;
    if (b->count)
        memset(b->told, 0, (b->count + 63) / 64 * sizeof(*b->told));
    take_others(b);
    return 0;
}

static const struct vs_part_kind branches_kind = {.size = sizeof(struct vs_branches),
                                                  .key_size = sizeof(struct vs_branches_key),
                                                  .open = open_branches,
                                                  .take = take_branches,
                                                  .close = close_branches};

int vs_branches_get(struct vs_parts *parts, const struct vs_branches_key *key,
                    const struct vs_technique_setup *setup, struct vs_branches **out)
{
    void *part;
    int err = vs_parts_get(parts, &branches_kind, key, setup, &part);
    *out = part;
    return err;
}
