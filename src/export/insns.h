/* SPDX-License-Identifier: MIT */
/* The instructions that a run's threads retire, one after the other. For each event:
 *
 *     struct vs_insns_walk walk;
 *     const struct vs_insns_entry *insn;
 *     e = vs_insns_begin(w, batch, i, &walk);
 *     while (!e && (insn = vs_insns_next(w, &walk)))
 *         ... it retires; its own accesses are this event and those after it with icount 0 ...
 *     e = e ? e : vs_insns_end(w, batch, i, &walk);
 *
 * An instruction that repeats itself retires once, with its first iteration. */
#ifndef EXPORT_INSNS_H
#define EXPORT_INSNS_H

#include "base/likely.h"
#include "export/format.h"
#include "isa/codemap.h"

enum { VS_INSNS_CACHE = 1 << 16, VS_INSNS_NESTED = 16 };

struct vs_insns_entry {
    uint64_t pc;
    uint64_t target; /* of a direct branch */
    uint8_t length;  /* 0: nothing is decoded here */
    uint8_t kind;    /* VS_INSN_* */
    uint8_t branch;  /* VS_BR_* */
    bool repeat;
};

/* Is told of an instruction when it is put into an entry, for what a format keeps of each entry. */
typedef void vs_insns_met(void *context, size_t entry, const uint8_t *bytes, size_t size,
                          uint64_t pc);

/* Where a thread is; private. */
struct vs_insns_thread {
    uint64_t next; /* 0: not known */
    uint64_t last; /* 0: none since it went elsewhere */
    bool repeats;  /* the last one is a repeated instruction */
    unsigned depth;
    /* Where signals interrupted it, and whether in a repeated instruction that had begun. Older
     * ones are overwritten, since handlers may never return. */
    struct {
        uint64_t pc;
        bool begun;
    } left[VS_INSNS_NESTED];
};

struct vs_insns {
    struct vs_insns_entry *cache; /* by the address's low bits */
    const struct vs_isa *isa;
    vs_insns_met *met; /* NULL: nobody wants to know */
    void *context;

    /* private */
    const struct vs_reader *reader;
    struct vs_diag *diag;
    int thread; /* whose instructions are wanted; -1: all */
    struct vs_codemap code;
    struct vs_insns_thread *threads;
};

struct vs_insns_walk {
    uint64_t next; /* the instruction that retires next */
    uint64_t last; /* and the one that retired last; 0: none */
    unsigned left;
    bool repeats;    /* the last one does */
    uint64_t number; /* the event's */
    int error;
};

/* `met` may be NULL. Returns 0; -VSE_NOMEM; -VSE_LIMIT. fini is needed in any case; it may also
 * follow without init if the struct was zeroed. */
int vs_insns_init(struct vs_insns *w, const struct vs_exporting *x, vs_insns_met *met,
                  void *context);
void vs_insns_fini(struct vs_insns *w);

/* Decodes the instruction at an address into its entry. Returns NULL if none is known there. */
const struct vs_insns_entry *vs_insns_decode(struct vs_insns *w, uint64_t pc);

static inline const struct vs_insns_entry *vs_insns_at(struct vs_insns *w, uint64_t pc)
{
    const struct vs_insns_entry *e = &w->cache[pc % VS_INSNS_CACHE];

    return likely(e->pc == pc && e->length) ? e : vs_insns_decode(w, pc);
}

static inline size_t vs_insns_place(const struct vs_insns *w, const struct vs_insns_entry *e)
{
    return (size_t)(e - w->cache);
}

static inline void vs_insns_go(struct vs_insns_thread *t, uint64_t pc)
{
    t->next = pc;
    t->last = 0;
    t->repeats = false;
}

/* What vs_insns_begin and vs_insns_end do not do in line. */
int vs_insns_begin_unknown(struct vs_insns *w, const struct vs_event *e,
                           struct vs_insns_walk *walk);
int vs_insns_end_other(struct vs_insns *w, const struct vs_batch *b, size_t i,
                       const struct vs_insns_walk *walk);

/* Takes the run's next event, of which there may be left out those that vs_export_follows does not
 * want. Returns 0; -VSE_CORRUPT (control flow is not that of the code). */
static inline int vs_insns_begin(struct vs_insns *w, const struct vs_batch *b, size_t i,
                                 struct vs_insns_walk *walk)
{
    const struct vs_event *e = &b->events[i];
    const struct vs_insns_thread *t = &w->threads[e->thread];

    *walk = (struct vs_insns_walk){.next = t->next,
                                   .last = t->last,
                                   .repeats = t->repeats,
                                   .left = e->icount,
                                   .number = b->first + i};
    if (unlikely(w->thread >= 0 && e->thread != w->thread))
        walk->left = 0;
    return unlikely(walk->left && !t->next) ? vs_insns_begin_unknown(w, e, walk) : 0;
}

/* Returns NULL after the last instruction, or if walk->error is set, which `end` returns. */
static inline const struct vs_insns_entry *vs_insns_next(struct vs_insns *w,
                                                         struct vs_insns_walk *walk)
{
    const struct vs_insns_entry *e;

    if (!walk->left)
        return NULL;
    e = vs_insns_at(w, walk->next);
    if (unlikely(!e)) {
        walk->error = -VSE_CORRUPT;
        return NULL;
    }
    walk->left--;
    walk->last = walk->next;
    walk->repeats = e->repeat;
    walk->next += e->length;
    return e;
}

/* Returns 0; -VSE_CORRUPT; -VSE_NOMEM; -VSE_LIMIT. */
static inline int vs_insns_end(struct vs_insns *w, const struct vs_batch *b, size_t i,
                               const struct vs_insns_walk *walk)
{
    const struct vs_event *e = &b->events[i];
    struct vs_insns_thread *t = &w->threads[e->thread];

    if (unlikely(e->kind > VS_STORE || walk->last != e->pc || walk->error))
        return vs_insns_end_other(w, b, i, walk);
    t->next = walk->next;
    t->last = walk->last;
    t->repeats = walk->repeats;
    if (e->kind == VS_BRANCH)
        vs_insns_go(t, e->flags & VS_BR_TAKEN ? e->addr : e->pc + e->size);
    return 0;
}

#endif
