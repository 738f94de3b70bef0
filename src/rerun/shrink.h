/* SPDX-License-Identifier: MIT */
/* Leaves out of a run what executing it again makes: branches, loads and stores. */
#ifndef RERUN_SHRINK_H
#define RERUN_SHRINK_H

#include "vestige/run.h"

struct vs_shrink {
    uint64_t *since; /* by thread: instructions that no event accounts for since they were left
                      * out */
    unsigned threads;
    struct vs_event *events;
    size_t count, capacity;
};

/* Prepares for a run with that many threads. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_shrink_init(struct vs_shrink *s, unsigned threads);
void vs_shrink_fini(struct vs_shrink *s);

/* Makes of a batch the one that is left, which may be empty, and is valid until the next call and
 * as long as `in`. Returns 0; -VSE_NOMEM; -VSE_CORRUPT (an event of a thread that there is not). */
int vs_shrink_batch(struct vs_shrink *s, const struct vs_batch *in, struct vs_batch *out);

#endif
