/* SPDX-License-Identifier: MIT */
/* The debugger's walk through the code: a technique's decoder says what the code does not, and the
 * outcome is each core's sequence of steps, as the trace module saw it.
 *
 * The steps of one core are in order; between cores, their order is that of the messages. In a
 * timed stream, `time` of the step that ends a message is the message's cycle, unless the stream
 * tells when the step itself committed, which `timed` says; of all others it is 0.
 *
 * A walk that has failed, or is to begin in the middle, goes on at a synchronisation point if the
 * technique has such points. What lies between is a gap, as in a run: a discontinuity to
 * VS_STEP_NOWHERE, and another where the core goes on. */
#ifndef REPLAY_WALK_H
#define REPLAY_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "isa/set.h"
#include "isa/text.h"
#include "technique/address.h"
#include "technique/technique.h"

/* Takes steps. Returns 0, or an error, which ends the walk. */
typedef int vs_walk_sink(void *context, const struct vs_step *steps, size_t count);

struct vs_walk_config {
    const struct vs_isa *isa;
    const struct vs_text *code; /* indexed; must outlive the walk */
    const struct vs_flow_decoder_ops *ops;
    void *decoder;               /* open; stays the caller's */
    struct vs_port_reader *port; /* what the decoder reads; tells where it is */
    unsigned cores;
    uint64_t limit;     /* the most instructions of all cores together; 0: any number */
    bool jumps;         /* direct jumps are steps */
    vs_walk_sink *sink; /* NULL: nobody is told */
    void *context;
};

struct vs_walk_core;
struct vs_walk_run;

struct vs_walk {
    struct vs_walk_config config;
    uint64_t instructions, steps, branches; /* so far; branches: conditional and indirect */
    struct vs_diag diag;

    /* private */
    struct vs_address_code source; /* the code, for a decoder that asks */
    unsigned stream;               /* the current head's */
    struct vs_walk_core *cores;
    struct vs_walk_run *runs; /* straight code, by the address of its first instruction */
    struct vs_step *pending;  /* steps that the sink has not got yet */
    size_t pending_count;
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_walk_init(struct vs_walk *w, const struct vs_walk_config *config);
void vs_walk_fini(struct vs_walk *w);

/* Follows the decoder to the end of the stream and hands all steps to the sink, even before an
 * error. Returns 0 (every core has ended); -VSE_TRUNCATED (the stream ends within a message, or
 * while a core still runs); -VSE_CORRUPT (the stream does not fit the code, or no encoder would
 * write it); -VSE_LIMIT; an error of the sink. The diag says at which bit it failed and where the
 * core was, which has walked as far as the stream told. */
int vs_walk_all(struct vs_walk *w);

/* Goes to the first synchronisation point of a stream at or after a bit, from which vs_walk_all
 * goes on. All cores of that stream are lost until they come to a point of their own; those of
 * other streams are not. If code changes, a core that was lost sees it as it was where it got lost,
 * unless the point tells how many instructions it has retired. Returns 0; -VSE_END (no point
 * follows, and only the other streams go on); -VSE_INVAL (the technique has no such points); an
 * error of the sink. */
int vs_walk_sync(struct vs_walk *w, unsigned stream, uint64_t bit, struct vs_flow_point *point);

/* Does the same after vs_walk_all has failed because of what a stream says, from after the
 * beginning of the message that it failed with. */
int vs_walk_resume(struct vs_walk *w, struct vs_flow_point *point);

#endif
