/* SPDX-License-Identifier: MIT */
/* Looking for the frontier without measuring the whole grid. A budget counts units, whether they
 * were in the store or not, so that the same seed tries the same points in any store. Points are
 * tried on all runs. They are drawn at random; or, guided, two fifths are drawn so that they lie
 * far apart, and the others, in rounds, are those of which the most is expected: how much they
 * would add to the area that the frontier dominates, both figures taken as logarithms.
 */
#ifndef SWEEP_SEARCH_H
#define SWEEP_SEARCH_H

#include "sweep/table.h"

/* Measures what is wanted and missing, and loads it. Returns as vs_sweep_measure_all. */
typedef int vs_sweep_measurer(void *context, const struct vs_sweep_wanted *wanted,
                              struct vs_diag *diag);

struct vs_search_result {
    uint64_t units;         /* that were tried */
    uint64_t whole, partly; /* points on all runs, and on some of them */
    uint64_t untried;       /* the others */
};

/* Searches with the study's budget and seed. Units that were not tried are
 * missing afterwards, even if the store has them. Returns 0; as the measurer; -VSE_NOMEM. */
int vs_sweep_search(struct vs_sweep *s, const struct vs_sweep_table *table,
                    vs_sweep_measurer *measure, void *context, struct vs_search_result *result,
                    struct vs_diag *diag);

#endif
