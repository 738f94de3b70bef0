/* SPDX-License-Identifier: MIT */
/* Whether a run can be made again from its inputs: it is executed, its threads' registers are
 * compared wherever a digest of them was noted, and all events that are made are compared with
 * those that were recorded, if they were. */
#ifndef STUDY_VERIFY_INPUTS_H
#define STUDY_VERIFY_INPUTS_H

#include "vestige/run.h"

struct vs_inputs_check {
    uint64_t made;         /* events */
    uint64_t instructions; /* executed */
    uint64_t digests;      /* of registers, compared */
    uint64_t memory_times; /* memory was compared so often ... */
    uint64_t memory_pages; /* ... and so many pages of it in all */
    uint64_t compared;     /* events that the run has, too; 0 if it has only inputs */
    uint64_t differences;  /* 0, or 1: nothing is compared after the first */
    struct {
        uint64_t event;
        struct vs_event expected, got;
    } first; /* kind 0: there is none */
};

/* Returns 0; -VSE_INVAL (the run does not have all inputs); as vs_reader_open, vs_rerun_open and
 * vs_rerun_next: that registers differ is -VSE_CORRUPT. progress may be NULL; it counts
 * instructions. */
int vs_inputs_check(struct vs_inputs_check *c, const char *path, vs_check_progress *progress,
                    void *context, struct vs_diag *diag);

#endif
