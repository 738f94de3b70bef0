/* SPDX-License-Identifier: MIT */
#include "study/profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/likely.h"
#include "vestige/error.h"

struct vs_profile_thread {
    uint64_t at;            /* the next instruction, or one just before it; 0 if not known */
    uint64_t pc;            /* of the last operand */
    uint32_t operands;      /* of the first iteration at pc */
    uint32_t more_operands; /* of the further iteration that is under way */
};

int vs_profile_init(struct vs_profile *p)
{
    *p = (struct vs_profile){.capacity = 4096};
    p->places = calloc(p->capacity, sizeof(*p->places));
    /* untouched pages of it cost nothing */
    p->threads = calloc(VS_THREADS_MAX, sizeof(*p->threads));
    return p->places && p->threads ? 0 : -VSE_NOMEM;
}

void vs_profile_fini(struct vs_profile *p)
{
    free(p->places);
    free(p->threads);
    *p = (struct vs_profile){0};
}

/* The place of a pc, or the empty one where it would be. The table is at most half full. */
static inline struct vs_profile_place *search(struct vs_profile_place *places, size_t capacity,
                                              uint64_t pc)
{
    size_t i = pc * UINT64_C(0x9e3779b97f4a7c15) >> 32;

    for (;; i++) {
        struct vs_profile_place *place = &places[i & (capacity - 1)];

        if (likely(place->pc == pc) || !place->pc)
            return place;
    }
}

static int grow(struct vs_profile *p)
{
    size_t capacity = p->capacity * 2;
    struct vs_profile_place *places = calloc(capacity, sizeof(*places));

    if (!places)
        return -VSE_NOMEM;
    for (size_t i = 0; i < p->capacity; i++)
        if (p->places[i].pc)
            *search(places, capacity, p->places[i].pc) = p->places[i];
    free(p->places);
    p->places = places;
    p->capacity = capacity;
    return 0;
}

static int add_new(struct vs_profile *p, uint64_t pc, unsigned icount, bool entry)
{
    if (!pc || p->used == VS_PROFILE_PLACES_MAX) {
        p->unknown += icount;
        return 0;
    }
    if (p->used >= p->capacity / 2 && grow(p))
        return -VSE_NOMEM;
    *search(p->places, p->capacity, pc) =
        (struct vs_profile_place){.pc = pc, .instructions = icount, .entry = entry};
    p->used++;
    return 0;
}

static inline int add(struct vs_profile *p, uint64_t pc, unsigned icount)
{
    if (!icount)
        return 0;
    struct vs_profile_place *place = search(p->places, p->capacity, pc);
    if (unlikely(!place->pc))
        return add_new(p, pc, icount, false);
    place->instructions += icount;
    return 0;
}

static inline int enter(struct vs_profile *p, uint64_t pc)
{
    struct vs_profile_place *place = search(p->places, p->capacity, pc);

    if (unlikely(!place->pc))
        return add_new(p, pc, 0, true);
    place->entry = 1;
    return 0;
}

/* Iterations have as many operands as the first, which is not marked. */
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
    return likely(!entry) || error ? error : enter(p, entry);
}

int vs_profile_batch(struct vs_profile *p, const struct vs_batch *batch)
{
    int error = 0;

    for (size_t i = 0; i < batch->count && !error; i++)
        error = add_event(p, &batch->events[i]);
    return error;
}
