/* SPDX-License-Identifier: MIT */
/* The sweep layer: many techniques on many runs, on all cores of a machine or of a cluster.
 *
 *   study_file   what is to be measured, as users write it
 *   template     techniques whose settings are left open
 *   runs         the runs of a study
 *   points       the points of its grid
 *   measures     what is measured of each, by name
 *   store        what was measured, in a folder
 *   remaining    how long the rest takes
 *   evaluate     one run with some techniques
 *   record       programs that a study wants recorded
 *   search       the frontier without the whole grid; guess: what points may bring
 *   slurm        units measured on a cluster; job_file: what its tasks are to do
 *   table        rows and columns of what is in the store
 *   rebuild      the line for a shell that measures a point again
 *
 * This is a study with its results as far as they are in the store. Points and runs make units of
 * work; units that are missing are measured in batches, in any order, by anybody; the table does
 * not tell by whom. */
#ifndef SWEEP_SWEEP_H
#define SWEEP_SWEEP_H

#include <stdatomic.h>

#include "base/progress.h"
#include "sweep/evaluate.h"
#include "sweep/points.h"
#include "sweep/remaining.h"
#include "sweep/runs.h"
#include "sweep/store.h"
#include "sweep/study_file.h"

/* What the study does not want is no unit. */
enum vs_unit_state { VS_UNIT_MISSING, VS_UNIT_DONE, VS_UNIT_FAILED, VS_UNIT_NONE };

struct vs_sweep {
    const struct vs_sweep_study *study;
    struct vs_sweep_runs runs;
    struct vs_sweep_points points;
    struct vs_sweep_how how;
    struct vs_store store;

    /* By unit, which is point * runs.count + run: */
    uint8_t *state;           /* enum vs_unit_state */
    const char **wrong;       /* why it failed */
    const char **passing;     /* why it failed this time, which the store does not have; or NULL */
    uint64_t *values;         /* measures.count of them */
    struct vs_words measures; /* the names of what the table needs */
    uint64_t units, done, failed;
    unsigned damaged;               /* files of the store that had to be given up */
    struct vs_done_work *done_work; /* by file of the store */
    size_t done_count, done_capacity;

    /* private */
    struct vs_arena arena;
    char how_text[160];
    bool retry;
};

/* Prepares a study: looks at its runs, lists its points; `read_only` is the store's. `measures` are
 * what the table needs. The runs that are recorded have their paths set by vs_sweep_record between
 * the two steps. The study must outlive the sweep; fini is needed in any case. Returns 0, or with
 * diag, which names the study's file and line: -VSE_NOTFOUND, -VSE_INVAL, -VSE_LIMIT, -VSE_IO,
 * -VSE_NOMEM; and -VSE_END once `stop` is set, without. */
int vs_sweep_init(struct vs_sweep *s, const struct vs_sweep_study *study, const char *folder,
                  bool read_only, struct vs_diag *diag);
int vs_sweep_look(struct vs_sweep *s, const char *const *measures, size_t measure_count,
                  const atomic_bool *stop, struct vs_progress *progress, struct vs_diag *diag);
void vs_sweep_fini(struct vs_sweep *s);

/* Takes what the store has; units that failed are missing if `retry` is set. Returns 0; -VSE_IO;
 * -VSE_CORRUPT (two results of one unit differ); -VSE_NOMEM. */
int vs_sweep_load(struct vs_sweep *s, bool retry, struct vs_diag *diag);

/* How units are measured, as the store has it. Returns 0; -VSE_LIMIT. */
int vs_sweep_how_text(char *out, size_t capacity, const char *window, const char *buffer);

/* Makes all units missing that are not kept. */
void vs_sweep_forget(struct vs_sweep *s, const bool *kept);

/* The unit's number. */
static inline size_t vs_sweep_unit_of(const struct vs_sweep *s, size_t point, size_t run)
{
    return point * s->runs.count + run;
}

/* A measure of a unit that is done. */
static inline uint64_t vs_sweep_value(const struct vs_sweep *s, size_t unit, size_t measure)
{
    return s->values[unit * s->measures.count + measure];
}

/* About how long the rest takes. Returns false if that is not known. */
bool vs_sweep_seconds_left(struct vs_sweep *s, uint64_t *seconds);

/* The number of a measure's name among those that the table needs; -1: none. */
int vs_sweep_measure(const struct vs_sweep *s, const char *name);

/* Units that are wanted: a set, as points and how many of the first runs. NULL stands for all. */
struct vs_sweep_wanted {
    const bool *units; /* by unit */
};

/* Measures what is wanted and missing, with so many threads, and loads it. Ends early once `stop`
 * is set. progress counts units. Returns 0; -VSE_END (stopped); -VSE_IO (the store refused);
 * -VSE_NOMEM. */
int vs_sweep_measure_all(struct vs_sweep *s, const struct vs_sweep_wanted *wanted, unsigned threads,
                         const atomic_bool *stop, struct vs_progress *progress,
                         struct vs_diag *diag);

/* Units of one run that are missing, at most `most`, from a point on. Returns the point after the
 * last one; points.count if there are no more. */
size_t vs_sweep_batch(const struct vs_sweep *s, const struct vs_sweep_wanted *wanted, size_t run,
                      size_t point, struct vs_sweep_unit *units, size_t *numbers, size_t most,
                      size_t *count);

#endif
