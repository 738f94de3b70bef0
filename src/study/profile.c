/* SPDX-License-Identifier: MIT */
#include "study/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"
#include "vestige/error.h"

struct vs_profile_thread {
    uint64_t at;            /* the next instruction, or one just before it; 0 if not known */
    uint64_t pc;            /* the last operand's */
    uint32_t operands;      /* in the first iteration at pc */
    uint32_t more_operands; /* in the further iteration that is under way */
};

int vs_profile_init(struct vs_profile *p)
{
    *p = (struct vs_profile){0};
    /* its untouched pages cost nothing */
    p->threads = calloc(VS_THREADS_MAX, sizeof(*p->threads));
    return p->threads ? 0 : -VSE_NOMEM;
}

void vs_profile_fini(struct vs_profile *p)
{
    vs_map_fini(&p->places);
    free(p->old);
    vs_mapped_fini(&p->mapped);
    free(p->threads);
    *p = (struct vs_profile){0};
}

static int add_new(struct vs_profile *p, uint64_t pc, unsigned icount, bool entry)
{
    if (!pc || p->places.count == VS_PROFILE_PLACES_MAX) {
        p->unknown += icount;
        return 0;
    }
    return vs_map_set(&p->places, pc, (uint64_t)icount << 2 | (uint64_t)entry << 1 | 1);
}

static inline int add(struct vs_profile *p, uint64_t pc, unsigned icount)
{
    if (!icount)
        return 0;
    struct vs_map_entry *e = vs_map_find(&p->places, pc);
    if (unlikely(!e))
        return add_new(p, pc, icount, false);
    e->value += (uint64_t)icount << 2;
    return 0;
}

static inline int enter(struct vs_profile *p, uint64_t pc)
{
    struct vs_map_entry *e = vs_map_find(&p->places, pc);

    if (unlikely(!e))
        return add_new(p, pc, 0, true);
    e->value |= 2;
    return 0;
}

/* Further iterations, which are marked, have as many operands as the first, which is not. */
static inline void add_operand(struct vs_profile *p, struct vs_profile_thread *t,
                               const struct vs_event *e)
{
    if (likely(!(e->flags & VS_MEM_REPEAT))) {
        t->operands = e->icount || e->pc != t->pc ? 1 : t->operands + 1;
        t->more_operands = 0;
    } else {
        if (e->pc != t->pc)
            t->operands = 1;
        if (++t->more_operands >= t->operands) {
            p->iterations++;
            t->more_operands = 0;
        }
    }
    t->pc = e->pc;
}

/* ---- images that come and go ---------------------------------------------------------------- */

static int set_aside(struct vs_profile *p, struct vs_map_entry *e)
{
    struct vs_profile_place place = vs_profile_place(e);

    if (p->old_count == VS_PROFILE_PLACES_MAX) {
        p->unknown += place.instructions;
    } else {
        if (vs_array_room((void **)&p->old, &p->old_capacity, p->old_count, 1, sizeof(*p->old)))
            return -VSE_NOMEM;
        p->old[p->old_count++] = (struct vs_profile_old){
            .place = place, .image = vs_mapped_image(&p->mapped, place.pc), .epoch = p->epochs};
    }
    e->value = 1;
    return 0;
}

static int retire(struct vs_profile *p, uint64_t first, uint64_t last)
{
    int error = 0;

    for (struct vs_map_entry *e = NULL; !error && (e = vs_map_next(&p->places, e));)
        if (first <= e->key && e->key <= last && e->value > 1)
            error = set_aside(p, e);
    p->epochs++;
    return error;
}

static int take_map(struct vs_profile *p, const struct vs_event *e)
{
    struct vs_mapped_change change;

    if (!vs_mapped_change(e, &change))
        return 0;
    if (vs_mapped_replaces(&p->mapped, &change)) {
        bool full = p->epochs == VS_PROFILE_EPOCHS_MAX;

        if (full && change.image == VS_NO_IMAGE)
            return 0;
        if (!full && retire(p, change.first, change.last))
            return -VSE_NOMEM;
    }
    return vs_mapped_apply(&p->mapped, &change);
}

/* ---- events --------------------------------------------------------------------------------- */

static inline int add_event(struct vs_profile *p, const struct vs_event *e)
{
    struct vs_profile_thread *t = &p->threads[e->thread];
    uint64_t where = t->at, entry = 0;

    switch (e->kind) {
    case VS_LOAD:
    case VS_STORE:
        add_operand(p, t, e);
        where = t->at = e->pc;
        break;
    case VS_BRANCH:
        where = e->pc;
        t->at = e->flags & VS_BR_TAKEN ? e->addr : e->pc;
        if ((e->flags & (VS_BR_CALL | VS_BR_TAKEN)) == (VS_BR_CALL | VS_BR_TAKEN))
            entry = e->addr;
        break;
    case VS_SYSCALL:
    case VS_NONDET:
        where = t->at = e->pc;
        break;
    case VS_EXCEPTION:
        where = e->pc;
        t->at = entry = e->addr;
        break;
    case VS_EXCEPTION_RET:
        where = e->pc;
        t->at = e->addr;
        break;
    case VS_THREAD_START:
        t->at = entry = e->pc;
        break;
    case VS_GAP:
        t->at = e->pc;
        break;
    default:
        break;
    }
    int error = add(p, where, e->icount);
    if (unlikely(e->kind == VS_MAP) && !error)
        error = take_map(p, e);
    return likely(!entry) || error ? error : enter(p, entry);
}

int vs_profile_batch(struct vs_profile *p, const struct vs_batch *batch)
{
    int error = 0;

    for (size_t i = 0; i < batch->count && !error; i++)
        error = add_event(p, &batch->events[i]);
    return error;
}
