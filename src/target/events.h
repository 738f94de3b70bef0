/* SPDX-License-Identifier: MIT */
/* From what cores did to the events of a run, in global order.
 *
 * Untimed, events go out in the order in which they are made. Timed, each core has a queue, because
 * a core may be ahead of others: queues are merged by cycle, then by number of the core, which is
 * also the order in which memory was accessed. What no core did (a timer's signal) has a queue of
 * its own, the last.
 */
#ifndef TARGET_EVENTS_H
#define TARGET_EVENTS_H

#include "trace/relay.h"
#include "isa/isa.h"
#include "target/process.h"
#include "isa/codemap.h"

struct vs_events_options {
    const struct vs_isa *isa;
    const struct vs_consumer *consumer;
    unsigned cores;
    bool timed;
    bool loads, stores;
    /* An instruction without an event gets a VS_COUNT of its own, with its pc, which a .vest file
     * does not take. */
    bool every;
};

struct vs_queue {
    struct vs_event *events;
    uint64_t *cycles;
    size_t head, count, capacity, cycle_capacity;
    uint64_t last; /* cycle of the event that came last */
    struct vs_buf wide;
};

/* What has to be known of a task, by its number. */
struct vs_events_task {
    uint64_t since;   /* instructions retired after its last event */
    uint64_t skipped; /* and not recorded, in the gap it is in */
    bool gap;
};

struct vs_events {
    struct vs_events_options options;
    struct vs_relay *relay;
    struct vs_parcel *parcel;
    struct vs_queue *queues; /* a core's; that of nobody; untimed only the first is used */
    size_t queued;           /* events in all queues */
    uint64_t gone;           /* cycle of the last event that went out */
    struct vs_events_task *tasks;
    size_t task_capacity, task_count;
    struct vs_codemap code;
    int64_t image; /* the program's, at the consumer */
    bool on; /* the owner's: instructions are recorded now; new tasks begin with a gap if not */

    uint64_t count; /* events, so far */
    uint64_t instructions, skipped;

    struct vs_operation operations[VS_OPERATIONS_MAX]; /* of records */
    uint32_t links;
};

/* Nobody's queue. */
#define VS_NOBODY(events) ((events)->options.cores)

/* Returns 0; -VSE_NOMEM. */
int vs_events_open(struct vs_events *e, const struct vs_events_options *options);
/* Frees; a zeroed struct is fine. */
void vs_events_close(struct vs_events *e);

/* The functions below return 0; -VSE_NOMEM; -VSE_LIMIT (more threads than a run can have, or code
 * in more places); an error of the consumer. `core` is the queue, `cycle` ignored if untimed. */

/* A task that retired the instructions in the records, at these cycles. */
int vs_events_records(struct vs_events *e, const struct vs_task *t, unsigned core,
                      const struct vs_cpu_record *records, const uint64_t *cycles, size_t count);

/* A task retired instructions that nobody looked at. */
void vs_events_unseen(struct vs_events *e, const struct vs_task *t, uint64_t count);

/* Before a task runs while recording is on: what it had to skip becomes a gap. */
int vs_events_resume(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle);

/* What the process did. */
int vs_events_effect(struct vs_events *e, struct vs_process *p, const struct vs_effect *effect,
                     unsigned core, uint64_t cycle);

/* Instructions that have no event yet get one. Needed of all tasks before code changes, which is
 * for all of them at once. */
int vs_events_count(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle);

/* Whether the block is other code than what was executed there before. */
bool vs_events_changes_code(const struct vs_events *e, const struct vs_block *block);

/* Code is about to be executed for the first time since it was decoded. If it changed, or if the
 * program wrote where it lies, that is an event. */
int vs_events_code(struct vs_events *e, const struct vs_task *t, const struct vs_block *block,
                   bool changed, unsigned core, uint64_t cycle);

/* Recording was switched off: what the task does from now on is a gap. */
int vs_events_leave(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle);

/* Timed: no event that comes later will be before (cycle, core): those that are may go. */
int vs_events_advance(struct vs_events *e, uint64_t cycle, unsigned core);

/* All that is left goes, and is consumed. */
int vs_events_finish(struct vs_events *e);

/* Whether enough is queued that vs_events_advance is worth its while. */
static inline bool vs_events_many(const struct vs_events *e)
{
    return e->queued >= 8192;
}

#endif
