/* SPDX-License-Identifier: MIT */
/* A batch: one run, read once, and some techniques. Its results go to the store. */
#ifndef SWEEP_EVALUATE_H
#define SWEEP_EVALUATE_H

#include <stdatomic.h>

#include "port/drain.h"
#include "sweep/runs.h"
#include "sweep/store.h"

/* How all batches of a study are measured. */
struct vs_sweep_how {
    uint64_t window;              /* 0: no windows */
    struct vs_drain_config drain; /* bits 0: no buffer */
};

/* Measures the units and stores what comes out, also why nothing does. The run was looked at. Units
 * that failed for want of memory, since a file could not be read, or since it changed meanwhile are
 * not stored: they are set in passing[count], and diag has the first one's reason. Once `stop` is
 * set, which may be NULL, it ends early and stores nothing. Returns 0; -VSE_END
 * (stopped); -VSE_IO (the store refused), -VSE_NOMEM, with diag. */
int vs_sweep_evaluate(const struct vs_sweep_run *run, const struct vs_sweep_how *how,
                      const struct vs_sweep_unit *units, size_t count, const struct vs_store *store,
                      const atomic_bool *stop, bool *passing, struct vs_diag *diag);

/* BITS[/CYCLES][:CAPACITY[:stall]], as bandwidth --buffer takes it. */
bool vs_sweep_buffer(const char *text, struct vs_drain_config *drain);

#endif
