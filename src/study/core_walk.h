/* SPDX-License-Identifier: MIT */
/* The events of a core, for walks over a run core by core: what a stream's order is compared with.
 */
#ifndef STUDY_CORE_WALK_H
#define STUDY_CORE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

/* Events of one core. */
struct vs_core_batch {
    struct vs_batch batch;
    /* The global number of each, minus batch.first. NULL: they follow each other in the run. */
    const uint32_t *offsets;
};

/* A core's next events, which stay until it is called for that core again. As vs_reader_next. */
typedef int vs_core_feed(void *context, unsigned core, struct vs_core_batch *batch);

/* Where a core is in its events. It begins zeroed. */
struct vs_core_events {
    struct vs_core_batch now;
    size_t at;       /* in the batch */
    uint64_t number; /* of its next event, among its own */
    bool done;       /* it has no more */
};

/* Makes sure that the core's next event is there, unless it has no more. Returns 0, or an error of
 * the feed. */
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
