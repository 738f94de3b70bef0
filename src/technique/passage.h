/* SPDX-License-Identifier: MIT */
/* How cores pass through their code, for encoders that need more of it than steps have: the bytes
 * of the instructions, where the last of them lies, and which of them ask the system. */
#ifndef TECHNIQUE_PASSAGE_H
#define TECHNIQUE_PASSAGE_H

#include "technique/interrupted.h"
#include "technique/stretches.h"

struct vs_passage_core {
    struct vs_stretch_place place;
    uint64_t repeated; /* the last instruction, if it is a repeated one */
    uint64_t plain;    /* the last instruction, if it is no branch; 0: it is, or there is none */
    bool begun;        /* the instruction at the place was counted */
    bool alive;
    struct vs_interrupted left;
};

/* Is told of the code that a core executes, stretch by stretch, by vs_passage_search. */
typedef void vs_passage_sink(void *context, unsigned core, const struct vs_stretch *stretch);

struct vs_passage {
    struct vs_stretches stretches;
    struct vs_passage_core *cores;
    vs_passage_sink *sink; /* NULL, or the owner's, set after init */
    void *context;
};

/* What a core executed. */
struct vs_passed {
    uint64_t bytes;
    uint64_t last;   /* the address of the last instruction */
    uint64_t next;   /* the address after it, or where a direct jump goes */
    uint64_t target; /* where it goes if it is inferable */
    uint32_t prefetches;
    bool inferable; /* it is an indirect branch, and the instruction before tells where it goes */
    bool system;    /* it asks the operating system */
};

/* The code must outlive it. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_passage_init(struct vs_passage *p, const struct vs_address_code *code, unsigned cores);
void vs_passage_fini(struct vs_passage *p);

/* Does what vs_passage_take does, stretch by stretch, of which the sink is told. */
void vs_passage_search(struct vs_passage *p, unsigned core, uint64_t *left,
                       struct vs_passed *passed);

/* The core executes *left instructions, at least one, or only as far as the first that asks the
 * system; *left is what remains. If no code is known there, the core stays where it is, and what is
 * made of that does not agree with the run. */
static inline void vs_passage_take(struct vs_passage *p, unsigned core, uint64_t *left,
                                   struct vs_passed *passed)
{
    struct vs_passage_core *c = &p->cores[core];
    const struct vs_way *w =
        likely(!c->begun) ? vs_stretches_way(&p->stretches, core, &c->place, *left) : NULL;
    /* an only branch may be inferable by what came before the way */
    if (unlikely(!w || (w->alone && c->plain))) {
        vs_passage_search(p, core, left, passed);
        return;
    }
    *passed = (struct vs_passed){.bytes = w->bytes,
                                 .last = w->last,
                                 .next = w->next,
                                 .target = w->target,
                                 .prefetches = w->prefetches,
                                 .inferable = w->inferable,
                                 .system = w->system_call};
    c->repeated = w->repeat ? w->last : 0;
    c->plain = w->branch ? 0 : w->last;
    c->place.pc = w->next;
    c->place.executed += *left;
    *left = 0;
}

/* The core goes on behind a branch. */
static inline void vs_passage_branch(struct vs_passage *p, unsigned core, uint64_t pc)
{
    p->cores[core].place.pc = pc;
    p->cores[core].plain = 0;
}

/* The core goes elsewhere, or nowhere. */
void vs_passage_go(struct vs_passage *p, unsigned core, uint64_t target);

/* The core executes a step's instructions, of which the sink is told, and goes on as the step says.
 */
void vs_passage_step(struct vs_passage *p, const struct vs_step *s);

/* Does the same without the sink. Returns how many of them are prefetches. */
uint64_t vs_passage_prefetches(struct vs_passage *p, const struct vs_step *s);

#endif
