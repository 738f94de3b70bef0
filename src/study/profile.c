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
    free(p->mapped);
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

uint64_t vs_profile_image(const struct vs_profile *p, uint64_t pc)
{
    for (size_t i = p->mapped_count; i-- > 0;) {
        const struct vs_profile_mapped *m = &p->mapped[i];

        if (!m->gone && m->first <= pc && pc <= m->last)
            return m->image;
    }
    return VS_NO_IMAGE;
}

/* Whether an image other than `image` is somewhere in [first, last]. */
static bool is_mapped(const struct vs_profile *p, uint64_t first, uint64_t last, uint64_t image)
{
    for (size_t i = 0; i < p->mapped_count; i++) {
        const struct vs_profile_mapped *m = &p->mapped[i];

        if (!m->gone && m->image != image && m->first <= last && first <= m->last)
            return true;
    }
    return false;
}

static int put_mapped(struct vs_profile *p, uint64_t first, uint64_t last, uint64_t image)
{
    for (size_t i = 0; i < p->mapped_count; i++) {
        struct vs_profile_mapped *m = &p->mapped[i];

        if (m->image == image && m->first == first && m->last == last) {
            m->gone = false;
            return 0;
        }
    }
    if (p->mapped_count == VS_PROFILE_MAPPED_MAX)
        return 0;
    if (vs_array_room((void **)&p->mapped, &p->mapped_capacity, p->mapped_count, 1,
                      sizeof(*p->mapped)))
        return -VSE_NOMEM;
    p->mapped[p->mapped_count++] =
        (struct vs_profile_mapped){.first = first, .last = last, .image = image};
    return 0;
}

/* Takes [first, last] away from the images; parts of an image before and behind it stay. */
static int unmap(struct vs_profile *p, uint64_t first, uint64_t last)
{
    int error = 0;

    for (size_t i = 0, n = p->mapped_count; i < n && !error; i++) {
        struct vs_profile_mapped m = p->mapped[i];

        if (m.gone || m.first > last || first > m.last)
            continue;
        p->mapped[i].gone = true;
        if (m.first < first)
            error = put_mapped(p, m.first, first - 1, m.image);
        if (m.last > last && !error)
            error = put_mapped(p, last + 1, m.last, m.image);
    }
    return error;
}

static int set_aside(struct vs_profile *p, struct vs_map_entry *e)
{
    struct vs_profile_place place = vs_profile_place(e);

    if (p->old_count == VS_PROFILE_PLACES_MAX) {
        p->unknown += place.instructions;
    } else {
        if (vs_array_room((void **)&p->old, &p->old_capacity, p->old_count, 1, sizeof(*p->old)))
            return -VSE_NOMEM;
        p->old[p->old_count++] = (struct vs_profile_old){
            .place = place, .image = vs_profile_image(p, place.pc), .epoch = p->epochs};
    }
    e->value = 1;
    return 0;
}

static int retire(struct vs_profile *p, uint64_t first, uint64_t last)
{
    int error = 0;

    if (p->epochs == VS_PROFILE_EPOCHS_MAX)
        return 0;
    for (struct vs_map_entry *e = NULL; !error && (e = vs_map_next(&p->places, e));)
        if (first <= e->key && e->key <= last && e->value > 1)
            error = set_aside(p, e);
    p->epochs++;
    return error ? error : unmap(p, first, last);
}

static int take_map(struct vs_profile *p, const struct vs_event *e)
{
    uint64_t first = e->addr, length = e->value;
    uint64_t last = length - 1 > UINT64_MAX - first ? UINT64_MAX : first + (length - 1);
    uint64_t image = e->flags & VS_MAP_GONE ? VS_NO_IMAGE : e->pc;
    int error = 0;

    if (!length || (image == VS_NO_IMAGE && !(e->flags & VS_MAP_GONE)))
        return 0;
    if (is_mapped(p, first, last, image))
        error = retire(p, first, last);
    return error || image == VS_NO_IMAGE ? error : put_mapped(p, first, last, image);
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
