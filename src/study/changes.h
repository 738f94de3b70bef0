/* SPDX-License-Identifier: MIT */
/* Where a run's code changes. A change affects all cores at once, but its event is one core's, so a
 * walk over a run core by core has to know of the other cores' changes as well. */
#ifndef STUDY_CHANGES_H
#define STUDY_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

struct vs_change {
    uint64_t number; /* the event's, among all events */
    uint64_t cycle;  /* 0 in an untimed run */
};

/* A zeroed struct is ready for use. */
struct vs_changes {
    struct vs_change *all; /* in order */
    size_t count, capacity;
    bool known; /* set by the caller: the whole run was taken */
};

/* Takes the run's next events, of all cores. Returns 0; -VSE_NOMEM. */
int vs_changes_take(struct vs_changes *c, const struct vs_batch *batch);
void vs_changes_fini(struct vs_changes *c);

#endif
