/* SPDX-License-Identifier: MIT */
/* All figures of a run that its page shows, gathered while techniques encode it: what happened is
 * looked at where the study of bandwidth asks for the place of each event. */
#ifndef PAGE_GATHER_H
#define PAGE_GATHER_H

#include "base/progress.h"
#include "page/branches.h"
#include "page/memory.h"
#include "page/places.h"
#include "page/timeline.h"
#include "study/bandwidth.h"
#include "study/event_counts.h"
#include "technique/spec_list.h"

/* Windows of time in which techniques' bits are counted. */
enum { PAGE_WINDOWS = 400, PAGE_WINDOW_CELLS = 1 << 20 };

struct page_run {
    const char *path;
    struct vs_reader *reader;
    const struct vs_isa *isa; /* NULL: not known */
    struct vs_event_counts counts;
    struct page_places places;
    struct page_timeline timeline;
    struct page_branches branches;
    struct page_memory memory;
    struct vs_bandwidth study;
    struct vs_buffers_plan buffers;
    const struct vs_spec_item *
        *specs; /* for each row, what it was asked for as; NULL: a baseline */

    /* private */
    struct vs_placer placer;
};

/* Prepares to gather figures of the run with those of the techniques that it has anything for, and
 * with the baselines of their kinds. The run stays where it is until fini, which is needed in any
 * case. Returns 0; -VSE_NOMEM; as vs_bandwidth_init. */
int page_run_init(struct page_run *run, const char *path, struct vs_reader *reader,
                  const struct vs_spec_list *specs, struct vs_diag *diag);
void page_run_fini(struct page_run *run);

/* Reads the run, which may be done once. progress counts up to vs_bandwidth_work of the study.
 * Returns as vs_bandwidth_run. */
int page_run_gather(struct page_run *run, struct vs_progress *progress, struct vs_diag *diag);

#endif
