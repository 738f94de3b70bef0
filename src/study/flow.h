/* SPDX-License-Identifier: MIT */
/* Whether a run's control flow is that of its code. Each thread's instructions are walked from one
 * event to the next. As many as the event counts lie in a row from where the thread went last; none
 * of those passed over is a branch or a system call; and the event's own instruction stands at its
 * pc and is what the event says it is (a branch's length, kind and static target).
 *
 * An event that differs is counted once and then believed: its thread goes on from there. The code
 * is taken from the run's table of blocks, and from VS_CODE events as they come.
 */
#ifndef STUDY_FLOW_H
#define STUDY_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "isa/set.h"
#include "isa/codemap.h"
#include "vestige/event.h"
#include "vestige/run.h"

/* An event that does not follow from the code. */
struct vs_flow_difference {
    uint64_t event;    /* its number in the run */
    uint64_t pc;       /* the instruction at which the walk stands */
    uint64_t event_pc; /* what the event has; 0 if it has none */
    uint16_t thread;
    uint8_t kind;
    const char *why; /* one phrase; static storage */
};

struct vs_flow_thread;
struct vs_flow_insn;

/* Is told of an instruction that retires with the event under way, in order. The bytes are valid
 * until it returns. */
typedef int vs_flow_retired(void *context, unsigned thread, uint64_t pc, const uint8_t *bytes,
                            unsigned size);

struct vs_flow_check {
    /* the result so far */
    uint64_t instructions; /* walked */
    uint64_t branches;     /* compared with the code */
    uint64_t differences;  /* events that differ */
    struct vs_flow_difference first;

    vs_flow_retired *retired; /* the caller's, set after init; NULL: nobody is told. An error of it
                               * is what vs_flow_check_batch returns */
    void *context;

    /* private */
    int error; /* of `retired` */
    const struct vs_reader *blocks;
    const struct vs_isa *isa;
    struct vs_codemap code;
    struct vs_flow_insn *insns; /* decoded, by address */
    struct vs_flow_thread *threads;
    size_t thread_capacity;
};

/* The code comes from the reader's table of blocks; the reader must outlive the check. Returns 0;
 * -VSE_NOMEM; -VSE_LIMIT (code is scattered over more memory than a codemap holds). fini is needed
 * in any case. */
int vs_flow_check_init(struct vs_flow_check *c, const struct vs_reader *blocks,
                       const struct vs_isa *isa);

/* Takes the run's next events, of all threads or of one; batch->first must be right. The events
 * must keep the rules of vs_event_check. Returns 0; -VSE_NOMEM; -VSE_LIMIT; -VSE_CORRUPT (an event
 * names a block that does not exist). After an error only fini may follow. */
int vs_flow_check_batch(struct vs_flow_check *c, const struct vs_batch *batch);

/* Frees what the check holds; the result stays. */
void vs_flow_check_fini(struct vs_flow_check *c);

#endif
