/* SPDX-License-Identifier: MIT */
/* Where the code of a run changes. That is for all cores at once, and the event is one core's: who
 * walks a run core by core has to know of the others'. */
#ifndef STUDY_CHANGES_H
#define STUDY_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

struct vs_change {
    uint64_t number; /* of the event, among all */
    uint64_t cycle;  /* 0 in an untimed run */
};

/* Zeroed, it is ready. */
struct vs_changes {
    struct vs_change *all; /* in order */
    size_t count, capacity;
    bool known; /* the caller's: all of the run was taken */
};

/* The next events of the run, of all cores. Returns 0; -VSE_NOMEM. */
int vs_changes_take(struct vs_changes *c, const struct vs_batch *batch);
void vs_changes_fini(struct vs_changes *c);

#endif
