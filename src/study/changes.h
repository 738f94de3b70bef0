/* SPDX-License-Identifier: MIT */
/* Where a run's code changes. A change affects all cores at once, but its event is one core's, so a
 * walk over a run core by core has to know of the other cores' changes as well. So it does of
 * stores over another core's store to code, before which that core's place may have to be told
 * (technique/writers.h). */
#ifndef STUDY_CHANGES_H
#define STUDY_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "technique/writers.h"
#include "vestige/event.h"
#include "vestige/run.h"

#define VS_CHANGE_ALL UINT32_MAX /* in place of a core */

struct vs_change {
    uint64_t number;  /* the event's, among all events */
    uint64_t cycle;   /* 0 in an untimed run */
    unsigned core;    /* VS_CHANGE_ALL: code changes; else another core stores over this one's */
    uint64_t version; /* if code changes: how often it has, with this change */
    uint64_t place;   /* if a core is told of: how many instructions it has retired */
};

/* A zeroed struct is ready for use, but only for changes of code; vs_changes_init adds the rest. */
struct vs_changes {
    struct vs_change *all; /* in order */
    size_t count, capacity;
    bool known; /* set by the caller: the whole run was taken */

    /* private */
    struct vs_code_pages code;
    struct vs_writers writers;
    uint64_t versions;
    uint64_t *retired; /* by core; NULL: only changes of code are wanted */
    unsigned cores;
};

/* Prepares for taking the reader's run; c must stay where it is until that is over. Returns 0;
 * -VSE_NOMEM; as vs_reader_block. */
int vs_changes_init(struct vs_changes *c, const struct vs_reader *reader);
/* Takes the run's next events, of all cores. Returns 0; -VSE_NOMEM; -VSE_CORRUPT (of a core that
 * the run does not have). */
int vs_changes_take(struct vs_changes *c, const struct vs_batch *batch);
void vs_changes_fini(struct vs_changes *c);

/* Goes on from entry *at to the first that concerns the core, whose stream tells of places or does
 * not. Returns that, or NULL. */
const struct vs_change *vs_changes_next(const struct vs_changes *c, unsigned core, bool places,
                                        size_t *at);

#endif
