/* SPDX-License-Identifier: MIT */
/* Turns what the cores did into the events of a run, in global order.
 *
 * In an untimed run, events go out in the order in which they are made. In a timed run each core
 * has a queue, because it may be ahead of others: queues are merged by cycle, then by the core's
 * number, which is also the order in which memory was accessed. What no core did (a timer's signal)
 * has a queue of its own, the last. */
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
    /* Each instruction that has no other event gets a VS_COUNT of its own, with its pc. A .vest
     * file does not accept those. */
    bool every;
};

struct vs_merge;

/* What has to be known about a queue, whose events wait where they are consumed. */
struct vs_queue {
    uint64_t *cycles; /* of its events */
    size_t count, capacity;
    uint64_t last; /* cycle of the event that was added last */
};

/* What has to be known about a task, by its number. */
struct vs_events_task {
    uint64_t since;   /* instructions that it retired after its last event */
    uint64_t skipped; /* instructions that were not recorded in the gap it is in */
    bool gap;
};

struct vs_events {
    struct vs_events_options options;
    struct vs_merge *merge; /* timed: what the relay's consumer is */
    struct vs_relay *relay;
    struct vs_parcel *parcel;
    struct vs_queue *queues; /* the cores', then nobody's; untimed, only the first is used */
    size_t queued;           /* events in all queues */
    uint64_t gone;           /* cycle of the last event that may have gone out */
    struct vs_events_task *tasks;
    size_t task_capacity, task_count;
    struct vs_codemap code;
    int64_t image; /* the consumer's number for the program's image */
    bool on; /* set by the owner: instructions are recorded now; if not, tasks begin with a gap */

    uint64_t count; /* events so far */
    uint64_t instructions, skipped;

    struct vs_operation operations[VS_OPERATIONS_MAX]; /* those that records name */
    uint32_t links;
};

/* The queue for what no core did. */
#define VS_NOBODY(events) ((events)->options.cores)

/* Returns 0; -VSE_NOMEM. */
int vs_events_open(struct vs_events *e, const struct vs_events_options *options);
/* Frees what it holds; a zeroed struct is fine. */
void vs_events_close(struct vs_events *e);

/* The functions below return 0; -VSE_NOMEM; -VSE_LIMIT (there are more threads, or code in more
 * places, than a run can have); an error of the consumer. `core` is the number of the queue, and
 * `cycle` is ignored in an untimed run. */

/* A task retired the instructions in the records, at these cycles. */
int vs_events_records(struct vs_events *e, const struct vs_task *t, unsigned core,
                      const struct vs_cpu_record *records, const uint64_t *cycles, size_t count);

/* A task retired `count` instructions of which there are no records. */
void vs_events_unseen(struct vs_events *e, const struct vs_task *t, uint64_t count);

/* To be called before a task runs while recording is on: what it skipped becomes a gap. */
int vs_events_resume(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle);

/* The process had this effect. */
int vs_events_effect(struct vs_events *e, struct vs_process *p, const struct vs_effect *effect,
                     unsigned core, uint64_t cycle);

/* The task's instructions that no event counts yet get one. To be called for all tasks before code
 * changes, since it changes for all of them at once. */
int vs_events_count(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle);

/* Returns whether the block differs from the code that was executed there before. */
bool vs_events_changes_code(const struct vs_events *e, const struct vs_block *block);

/* Code is about to be executed for the first time since it was decoded. If it changed, or if the
 * program wrote where it lies, that is an event. */
int vs_events_code(struct vs_events *e, const struct vs_task *t, const struct vs_block *block,
                   bool changed, unsigned core, uint64_t cycle);

/* Recording was switched off: what the task does from now on is a gap. */
int vs_events_leave(struct vs_events *e, const struct vs_task *t, unsigned core, uint64_t cycle);

/* Timed: no later call will add an event before (cycle, core), so those before it may go out. */
int vs_events_advance(struct vs_events *e, uint64_t cycle, unsigned core);

/* Everything that is left goes out and is consumed. */
int vs_events_finish(struct vs_events *e);

/* Timed: returns the cycle of the latest event so far. */
uint64_t vs_events_latest(const struct vs_events *e);

/* Returns whether enough is queued to make vs_events_advance worthwhile. */
static inline bool vs_events_many(const struct vs_events *e)
{
    return e->queued >= 8192;
}

#endif
