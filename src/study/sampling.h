/* SPDX-License-Identifier: MIT */
/* Windows of a run that stand for all of it, and what they say about it.
 *
 * Windows of the same length come at regular distances, from an offset on that a seed decides. Each
 * has instructions before it that warm up structures, and are not counted. What is between them is
 * not read: of a run that can be executed again, a selection leaves it out, with gaps that have all
 * registers; of any other, it is dropped here, and a thread begins again after its first branch,
 * which tells where it is, with a gap that has none. */
#ifndef STUDY_SAMPLING_H
#define STUDY_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "rerun/selection.h"
#include "vestige/run.h"

struct vs_sampling_plan {
    uint64_t period, length, warm, seed;
};

/* The most windows of a run. */
#define VS_SAMPLING_MOST (UINT64_C(1) << 20)

struct vs_sampling {
    struct vs_sampling_plan plan;
    uint64_t total;            /* instructions of the run */
    bool selected;             /* a selection leaves out what is between the windows */
    struct vs_window *windows; /* with what warms up */
    size_t count;

    /* How far it was read. */
    size_t window;      /* the current one, or the next */
    uint64_t passed;    /* instructions of those before it */
    uint64_t at;        /* instructions that were read */
    bool counted;       /* the last batch is of a window's instructions that count ... */
    size_t of;          /* ... of this one's */
    uint64_t counting;  /* those that were read of it */
    struct vs_batch in; /* what is being read; from `next` on it comes next */
    size_t next;
    bool *off;         /* by thread: it is in a gap */
    uint64_t *skipped; /* likewise */
    unsigned threads;
    struct vs_event *events; /* that are left of a batch */
    uint64_t *cycles;
    size_t capacity;
};

/* Chooses the windows of a run that has so many instructions and threads. Returns 0; -VSE_NOMEM;
 * with diag, -VSE_INVAL (none fits, or they are too many). fini is needed in any case. */
int vs_sampling_init(struct vs_sampling *s, const struct vs_sampling_plan *plan,
                     const struct vs_run_info *info, struct vs_diag *diag);
void vs_sampling_fini(struct vs_sampling *s);

/* What a selection for a run that can be executed again leaves. */
struct vs_selection vs_sampling_selection(const struct vs_sampling *s);

/* Begins to read, from the first event of the reader on. */
void vs_sampling_rewind(struct vs_sampling *s);

/* Reads on: a batch all of which counts, or does not. Returns as vs_reader_next. */
int vs_sampling_next(struct vs_sampling *s, struct vs_reader *reader, struct vs_batch *batch);

/* ---- what they say --------------------------------------------------------------------------- */

/* Sums over windows, which are all 0 at first: of x instructions, and of y bits that these took. */
struct vs_sample_sums {
    uint64_t windows, x, y;
    double xx, xy, yy;
};

void vs_sample_add(struct vs_sample_sums *s, uint64_t x, uint64_t y);

struct vs_estimate {
    uint64_t windows, instructions; /* that were counted */
    double rate;                    /* bits per instruction: all bits over all instructions */
    double error;                   /* half the width of its 95 % confidence interval; infinite if
                                     * there are fewer than two windows */
};

/* Estimates the rate over a run of `total` instructions. */
struct vs_estimate vs_sample_estimate(const struct vs_sample_sums *s, uint64_t total);

#endif
