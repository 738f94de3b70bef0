/* SPDX-License-Identifier: MIT */
/* The points of a study's grid: techniques with all their parameters. */
#ifndef SWEEP_POINTS_H
#define SWEEP_POINTS_H

#include "base/map.h"
#include "sweep/runs.h"
#include "sweep/study_file.h"

/* Groups of runs, as a list. */
struct vs_sweep_groups {
    const char *name;
    const struct vs_sweep_groups *next;
};

struct vs_sweep_point {
    const char *technique, *config; /* as they are written after -t, before and after the colon */
    const char *spec; /* with all parameters: equal points have equal ones. If the parameters do not
                       * fit together: as it was written */
    const char *wrong; /* why they do not fit together, or NULL */
    bool verified;     /* the study asks for a proof of it */
    uint64_t gates;    /* for the run that needs the most; known to constraints and searches */
    uint32_t template, place;             /* which template's, and where in its grid */
    const struct vs_sweep_groups *groups; /* of runs that it is for; NULL: all runs */
};

struct vs_sweep_points {
    struct vs_sweep_point *items;
    size_t count, capacity;
    uint64_t doubles;  /* points that were left out since there is an equal one before */
    uint64_t excluded; /* points that break a constraint */

    /* private */
    struct vs_arena arena;
    struct vs_map by_spec; /* from a hash to the first such point's number plus one */
    uint32_t *next;        /* the next one of the same hash, likewise */
    size_t next_capacity;
};

/* Lists the points of a study that keep its constraints, in its order. Storage and gates are those
 * for the run that needs the most; if no run could be opened, for one core. fini is needed in any
 * case. Returns 0, or with diag: -VSE_INVAL (no point keeps a constraint, or a template has no
 * point whose parameters fit together); -VSE_LIMIT (too many points); -VSE_NOMEM. */
int vs_sweep_points_list(struct vs_sweep_points *p, const struct vs_sweep_study *study,
                         const struct vs_sweep_runs *runs, struct vs_diag *diag);
void vs_sweep_points_fini(struct vs_sweep_points *p);

/* Whether the study wants the point on that run. */
bool vs_sweep_point_is_for(const struct vs_sweep_point *p, const struct vs_sweep_run *run);

/* The number of the point with that spec, or -1. */
int64_t vs_sweep_points_find(const struct vs_sweep_points *p, const char *spec);

#endif
