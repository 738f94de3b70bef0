/* SPDX-License-Identifier: MIT */
/* What points that were not measured may bring. The logarithm of a figure is taken for the sum of
 * what each setting of each axis of the template adds to it, fitted to the points that were
 * measured, and of what nearby ones are off by. */
#ifndef SWEEP_GUESS_H
#define SWEEP_GUESS_H

#include <stdbool.h>

#include "sweep/points.h"

/* How far two points are apart: settings that are as far apart as can be count 1; points of
 * different templates are farther than any others. */
double vs_guess_distance(const struct vs_sweep_study *study, const struct vs_sweep_point *a,
                         const struct vs_sweep_point *b);

/* Sets figure[i] of all points of which `known` is not set from those of which it is; NAN if no
 * point of its template is known. Of the points in `recent` those that are known count for what
 * nearby ones are off by. Returns 0; -VSE_NOMEM. */
int vs_guess(const struct vs_sweep_study *study, const struct vs_sweep_points *points,
             const bool *known, const size_t *recent, size_t recent_count, double *figure);

#endif
