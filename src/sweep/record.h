/* SPDX-License-Identifier: MIT */
/* Recording what a study names, once: a recording is kept in the store under a name that follows
 * from the program's file, its arguments and how it is recorded. */
#ifndef SWEEP_RECORD_H
#define SWEEP_RECORD_H

#include <stdatomic.h>

#include "base/progress.h"
#include "sweep/sweep.h"

/* Records what is not there yet, with so many programs at a time, by running `vestige`, the path of
 * the program that does so. It sets the runs' paths. If `vestige` is NULL, nothing is recorded, and
 * runs that are not there yet have no path. A run that cannot be recorded ends it: what it
 * had to say went to standard error. Once `stop` is set, no more are begun, and
 * those that run are told to end, with SIGTERM. Returns 0; -VSE_END
 * (stopped); or with diag, which names the study's line: -VSE_NOTFOUND (no such program); -VSE_IO
 * (it could not be recorded); -VSE_NOMEM. */
int vs_sweep_record(struct vs_sweep *s, const char *vestige, unsigned jobs, const atomic_bool *stop,
                    struct vs_progress *progress, struct vs_diag *diag);

#endif
