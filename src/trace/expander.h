/* SPDX-License-Identifier: MIT */
/* What makes the events of a run that does not have them (VS_RUN_SHORT). A reader that was given
 * one delivers its events, and finds its way in them by counting. */
#ifndef TRACE_EXPANDER_H
#define TRACE_EXPANDER_H

#include "vestige/run.h"

struct vs_expander;

struct vs_expander_ops {
    /* Delivers the next events. Returns and fills the diag as vs_reader_next does. */
    int (*next)(struct vs_expander *x, struct vs_batch *batch, struct vs_diag *diag);
    /* Goes to a place; the events after it are delivered next. Returns 0, or an error. */
    int (*go)(struct vs_expander *x, unsigned place, struct vs_diag *diag);
    /* Instructions that a thread has retired there. */
    uint64_t (*retired)(const struct vs_expander *x, unsigned place, unsigned thread);
    void (*close)(struct vs_expander *x);
};

/* Embedded as the first member. */
struct vs_expander {
    const struct vs_expander_ops *ops;
    uint64_t events;                /* of all threads */
    uint64_t instructions;          /* likewise */
    bool selected;                  /* they are not all of the run's, and turns and contents are
                                     * not among them */
    bool flow_only;                 /* loads and stores are not among them */
    unsigned thread_count;          /* that have any */
    struct vs_thread_info *threads; /* as many as the run has */
    /* Places from which events can be made: how many events are before each, in ascending order.
     * The first is the beginning. */
    const uint64_t *places;
    unsigned place_count;
};

/* Lets the reader deliver the expander's events, from the first on; the reader closes it. What the
 * reader says about events and features is then true for these. */
void vs_reader_expand(struct vs_reader *r, struct vs_expander *x);

#endif
