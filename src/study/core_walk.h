/* SPDX-License-Identifier: MIT */
/* Walks over a run, event by event or core by core, that compare it with a stream. */
#ifndef STUDY_CORE_WALK_H
#define STUDY_CORE_WALK_H

#include <stdbool.h>

#include "vestige/run.h"

/* A core's next events, which stay until it is called for that core again. As vs_reader_next. */
typedef int vs_core_feed(void *context, unsigned core, struct vs_batch *batch);

/* Where a core is in its events. It begins zeroed. */
struct vs_core_events {
    struct vs_batch batch;
    size_t at;       /* in the batch */
    uint64_t number; /* of its next event */
    bool done;       /* it has no more */
};

/* Makes sure that the core's next event is there, unless it has no more. Returns 0, or an error of
 * the feed. */
int vs_core_events_fill(struct vs_core_events *c, unsigned core, vs_core_feed *feed, void *context);

/* What compares a stream with a run, in either of two orders. */
struct vs_core_walk {
    /* Events in global order, and after the last. */
    int (*batch)(void *walker, const struct vs_batch *batch);
    int (*end)(void *walker);
    /* The whole run, core by core as the stream says. */
    int (*by_turns)(void *walker, vs_core_feed *feed, void *context);
};

/* Up to so many cores a run is walked by turns. */
#define VS_VERIFY_TURNS 16

/* Walks the run at `path`, of which `reader` has all: by turns, or, if it has more cores than
 * VS_VERIFY_TURNS, in global order. Returns as the walk; -VSE_NOMEM; as vs_reader_open. */
int vs_core_walk_run(const struct vs_core_walk *walk, void *walker, const char *path,
                     struct vs_reader *reader, unsigned cores, struct vs_diag *diag);

#endif
