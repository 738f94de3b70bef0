/* SPDX-License-Identifier: MIT */
/* A core's events, for walks over a run core by core, with which a stream's order is compared. */
#ifndef STUDY_CORE_WALK_H
#define STUDY_CORE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

/* Events of one core. */
struct vs_core_batch {
    struct vs_batch batch;
    /* Each event's global number, minus batch.first. NULL if they follow each other in the run. */
    const uint32_t *offsets;
};

/* Gives a core's next events, which stay valid until it is called for that core again. Returns as
 * vs_reader_next. */
typedef int vs_core_feed(void *context, unsigned core, struct vs_core_batch *batch);

/* Where a core is in its events. It starts out zeroed. */
struct vs_core_events {
    struct vs_core_batch now;
    size_t at;       /* in the batch */
    uint64_t number; /* its next event's, among its own */
    bool done;       /* it has no more events */
};

/* Makes sure that the core's next event is there, unless there is none. Returns 0; the feed's
 * error. */
int vs_core_events_fill(struct vs_core_events *c, unsigned core, vs_core_feed *feed, void *context);

static inline const struct vs_event *vs_core_events_next(const struct vs_core_events *c)
{
    return &c->now.batch.events[c->at];
}

/* Where an event stands in the run. */
struct vs_standing {
    uint64_t number; /* among all events */
    uint64_t cycle;
    bool timed; /* the cycle is known */
};

static inline struct vs_standing vs_core_events_standing(const struct vs_core_events *c)
{
    const struct vs_batch *b = &c->now.batch;
    return (struct vs_standing){.number =
                                    b->first + (c->now.offsets ? c->now.offsets[c->at] : c->at),
                                .cycle = b->cycles ? b->cycles[c->at] : 0,
                                .timed = b->cycles};
}

#endif
