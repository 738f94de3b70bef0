/* SPDX-License-Identifier: MIT */
/* Memory as a run has it, to be compared with what a replay knows. */
#ifndef STUDY_RUN_MEMORY_H
#define STUDY_RUN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/copy.h"
#include "isa/abi.h"
#include "vestige/error.h"
#include "vestige/event.h"

struct vs_run_memory {
    struct vs_copy is;      /* what was loaded, stored, or written from outside */
    struct vs_copy outside; /* its known bytes were written from outside, and not accessed since */
};

void vs_run_memory_init(struct vs_run_memory *m);
void vs_run_memory_fini(struct vs_run_memory *m);

/* What an instruction accessed is known to the replay. Returns 0; -VSE_NOMEM. */
int vs_run_memory_inside(struct vs_run_memory *m, uint64_t addr, const void *bytes, size_t size);

/* Takes any event: bytes that no instruction wrote need not be known to the replay before they are
 * loaded. `call` is the number of the thread's last system call if nothing came since, or 0.
 * Returns 0; -VSE_NOMEM. */
int vs_run_memory_outside(struct vs_run_memory *m, const struct vs_abi *abi,
                          const struct vs_batch *batch, const struct vs_event *e, uint64_t call);

/* Compares what a replay knows at the end, and counts the bytes that both know. The replay may know
 * less where something else wrote, or anywhere if it is `cautious`, but nothing wrong. Returns 0;
 * -VSE_CORRUPT, with diag. */
int vs_run_memory_compare(const struct vs_run_memory *was, const struct vs_copy *is, bool cautious,
                          uint64_t *bytes, struct vs_diag *diag);

#endif
