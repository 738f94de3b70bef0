/* SPDX-License-Identifier: MIT */
#include "technique/passage.h"

#include <stdlib.h>

#include "base/likely.h"

int vs_passage_init(struct vs_passage *p, const struct vs_address_code *code, unsigned cores)
{
    *p = (struct vs_passage){0};
    int err = vs_stretches_init(&p->stretches, code);
    p->cores = calloc(cores, sizeof(*p->cores));
    return err || !p->cores ? -VSE_NOMEM : 0;
}

void vs_passage_fini(struct vs_passage *p)
{
    vs_stretches_fini(&p->stretches);
    free(p->cores);
    p->cores = NULL;
}

/* A repeated instruction that was counted before the core left ends, and is not counted again. */
static int finish_begun(struct vs_passage *p, struct vs_passage_core *c)
{
    struct vs_stretch_place place = c->place;
    const struct vs_stretch *r =
        vs_stretches_at(&p->stretches, (unsigned)(c - p->cores), &place, 1);
    if (!r)
        return -VSE_INVAL;
    c->repeated = c->place.pc;
    c->place.pc = r->next;
    c->begun = false;
    return 0;
}

/* Where the last instruction goes is told by the one before it, of another stretch. */
static void infer_across(const struct vs_passage *p, const struct vs_passage_core *c,
                         const struct vs_stretch *r, struct vs_passed *passed)
{
    if (r->count == 1 && c->plain && r->branch && r->flags & VS_BR_INDIRECT)
        passed->inferable = vs_stretches_infer(&p->stretches, c->place.version, c->plain,
                                               r->last_pc, &passed->target);
}

void vs_passage_search(struct vs_passage *p, unsigned core, uint64_t *left,
                       struct vs_passed *passed)
{
    struct vs_passage_core *c = &p->cores[core];
    *passed = (struct vs_passed){0};
    do {
        if (unlikely(c->begun))
            finish_begun(p, c);
        const struct vs_stretch *r = vs_stretches_at(&p->stretches, core, &c->place, *left);
        if (unlikely(!r)) {
            c->place.executed += *left;
            passed->last = passed->next = c->place.pc;
            *left = 0;
            return;
        }
        if (p->sink)
            p->sink(p->context, core, r);
        passed->bytes += r->next - r->pc;
        passed->prefetches += r->prefetches;
        passed->last = r->last_pc;
        passed->system = r->system_call;
        passed->inferable = r->inferable;
        passed->target = r->target;
        infer_across(p, c, r, passed);
        c->repeated = r->repeat ? r->last_pc : 0;
        c->plain = r->branch ? 0 : r->last_pc;
        c->place.executed += r->count;
        c->place.pc = passed->next = vs_stretch_jumps(r) ? r->target : r->next;
        *left -= r->count;
    } while (*left && !passed->system);
}

static void leave(struct vs_passage *p, struct vs_passage_core *c)
{
    uint64_t begun = c->begun ? c->place.pc : c->repeated;
    bool known = !c->begun || finish_begun(p, c) == 0;
    vs_interrupted_leave(&c->left, begun, known ? c->place.pc : 0);
}

void vs_passage_go(struct vs_passage *p, unsigned core, uint64_t target)
{
    struct vs_passage_core *c = &p->cores[core];
    bool back = false;
    if (target == VS_STEP_NOWHERE || !c->alive)
        c->left.depth = 0;
    else if (!(back = vs_interrupted_return(&c->left, target, &c->begun)))
        leave(p, c);
    if (!back)
        c->begun = false;
    c->repeated = c->plain = 0;
    c->place.pc = target;
    c->alive = target != VS_STEP_NOWHERE;
}

static void go_on(struct vs_passage *p, const struct vs_step *s)
{
    if (s->kind == VS_STEP_DISCONTINUITY)
        vs_passage_go(p, s->core, s->target);
    else
        vs_passage_branch(p, s->core, vs_step_next(s));
}

void vs_passage_step(struct vs_passage *p, const struct vs_step *s)
{
    struct vs_passed ignored;
    for (uint64_t left = s->icount; left;)
        vs_passage_search(p, s->core, &left, &ignored);
    go_on(p, s);
}

uint64_t vs_passage_prefetches(struct vs_passage *p, const struct vs_step *s)
{
    uint64_t prefetches = 0;
    for (uint64_t left = s->icount; left;) {
        struct vs_passed passed;
        vs_passage_take(p, s->core, &left, &passed);
        prefetches += passed.prefetches;
    }
    go_on(p, s);
    return prefetches;
}
