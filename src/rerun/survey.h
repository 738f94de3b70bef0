/* SPDX-License-Identifier: MIT */
/* What is known about a short run once it was executed: how many events it has, and snapshots from
 * which they can be made. A long run's survey is kept in a file beside it, PATH.cache, which may be
 * deleted at any time: it only spares executing the run once before its events are read. */
#ifndef RERUN_SURVEY_H
#define RERUN_SURVEY_H

#include "base/buf.h"
#include "rerun/snapshots.h"
#include "vestige/run.h"

struct vs_rerun;

#define VS_SURVEY_SUFFIX ".cache"

/* Executing fewer instructions takes no longer than a user notices. */
#define VS_SURVEY_LONG (UINT64_C(1) << 26)
/* Instructions between the first snapshots, and between two reports of progress. */
#define VS_SURVEY_STRETCH (UINT64_C(1) << 24)

/* A zeroed struct is an empty survey. */
struct vs_survey {
    struct vs_thread_info *threads; /* of each thread of the run */
    uint64_t *flow_events;          /* its events without loads and stores, after that */
    uint64_t digests;               /* of registers that were compared */
    struct vs_packed_snapshots snapshots;
    struct vs_buf packed; /* where these are */
};

void vs_survey_fini(struct vs_survey *s);

/* Says how many of all instructions were executed. */
typedef void vs_survey_progress(void *context, uint64_t done, uint64_t total);

/* Takes the survey of a run, from the file beside it, or otherwise by executing it, and then keeps
 * it in that file if that took long and if it can be written; nothing is said if it cannot. The
 * rerun is at its beginning afterwards. `path` NULL: there is no such file, and none is written.
 * progress may be NULL. Returns 0; as vs_rerun_skip. */
int vs_survey_take(struct vs_survey *s, struct vs_rerun *r, const struct vs_reader *inputs,
                   const char *path, vs_survey_progress *progress, void *context,
                   struct vs_diag *diag);

#endif
