/* SPDX-License-Identifier: MIT */
/* What the machines of control-flow techniques share that have a stream for each core: those of the
 * RISC-V standards. The encoders walk the code between steps (technique/passage.h). */
#ifndef TECHNIQUE_FLOW_COMMON_H
#define TECHNIQUE_FLOW_COMMON_H

#include "base/likely.h"
#include "technique/machine.h"
#include "technique/passage.h"
#include "technique/technique.h"

/* ---- encoders ---- */

/* An encoder's first member. */
struct vs_flow_encoder {
    struct vs_port_writer *port;
    struct vs_passage passage;
    unsigned cores;
    unsigned core; /* the one at work */
    uint64_t time; /* of its step */
    struct vs_flow_counts counts;
};

/* Returns 0; -VSE_NOMEM; -VSE_INVAL (no code). A zeroed struct needs fini in any case. */
int vs_flow_encoder_init(struct vs_flow_encoder *e, const struct vs_technique_context *context);
void vs_flow_encoder_fini(struct vs_flow_encoder *e);

/* Serves as vs_encoder_ops.counts. */
void vs_flow_encoder_counts(const void *encoder, void *counts);

/* The consume of each technique is this, with its own functions, which are inlined. `row` takes
 * some of the steps of a core, and returns where it stopped; `take` takes the step there. */
static inline __attribute__((always_inline)) int
vs_flow_each(struct vs_flow_encoder *e, const struct vs_slice *slice,
             const struct vs_step *(*row)(struct vs_flow_encoder *e, const struct vs_step *s,
                                          const struct vs_step *end),
             void (*take)(struct vs_flow_encoder *e, const struct vs_step *s))
{
    for (const struct vs_step *s = slice->steps, *end = s + slice->step_count; s < end;) {
        if (unlikely(s->core >= e->cores))
            return -VSE_INVAL;
        const struct vs_step *stop = row(e, s, end);
        if (likely(stop != s)) {
            s = stop;
            continue;
        }
        e->core = s->core;
        e->time = s->time;
        e->counts.instructions += s->icount;
        take(e, s++);
    }
    return 0;
}

/* The core passes a step that is a conditional branch or an indirect one, if nothing is to be said
 * of the way there. Returns that way; NULL: it is another step, or the passage has to be asked. */
static inline const struct vs_way *vs_flow_pass_branch(struct vs_flow_encoder *e,
                                                       const struct vs_step *s)
{
    struct vs_passage_core *c = &e->passage.cores[s->core];
    if (unlikely(s->kind > VS_STEP_INDIRECT || c->begun))
        return NULL;
    const struct vs_way *w = vs_stretches_way(&e->passage.stretches, s->core, &c->place, s->icount);
    /* an only branch may be inferable by what came before the way */
    if (unlikely(!w || w->system_call || (w->alone && c->plain)))
        return NULL;
    c->repeated = w->repeat ? w->last : 0;
    c->plain = 0;
    c->place.executed += s->icount;
    c->place.pc = vs_step_taken(s) ? s->target : s->pc + s->size;
    return w;
}

static inline void vs_flow_counts_add(struct vs_flow_counts *sum, const struct vs_flow_counts *c)
{
    sum->instructions += c->instructions;
    sum->conditional += c->conditional;
    sum->conditional_reported += c->conditional_reported;
    sum->returns += c->returns;
    sum->returns_reported += c->returns_reported;
    sum->indirect += c->indirect;
    sum->indirect_reported += c->indirect_reported;
}

/* Such an encoder's table. */
#define VS_FLOW_ENCODER(opens, consumes, syncs, closes)                                            \
    {                                                                                              \
        .needs = VS_NEEDS_STEPS | VS_NEEDS_CODE, .open = opens, .consume = consumes,               \
        .sync = syncs, .counts = vs_flow_encoder_counts, .rows = vs_flow_count_rows,               \
        .close = closes                                                                            \
    }

/* ---- decoders ---- */

/* Gets the next head from the stream that is being read or, if that has ended, from the first one
 * after it that goes on. `next` gets a core's. Returns as vs_flow_decoder_ops.head. */
int vs_flow_decoder_head(void *decoder, struct vs_port_reader *port, struct vs_flow_head *head,
                         int (*next)(void *decoder, unsigned core, struct vs_flow_head *head));

#endif
