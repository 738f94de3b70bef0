/* SPDX-License-Identifier: MIT */
/* The rerun layer: a run executed again from its inputs, which makes all of its events.
 *
 *   run_open      opens any run, so that it delivers all of its events
 *   rerun         executes a run again
 *   shrink        leaves out of a run what that makes
 *   whole_memory  what its memory holds
 *
 * A run with VS_RUN_INPUTS has everything that the program cannot have computed: registers that
 * were set from outside, what system calls wrote, values such as the time, when threads took turns,
 * and what memory held at first. Between two such events a thread computes, and a CPU (isa/cpu.h)
 * does the same again. Unlike a replay, which knows what a port stream told, this knows all. */
#ifndef RERUN_RERUN_H
#define RERUN_RERUN_H

#include <stdbool.h>

#include "rerun/run_open.h"
#include "rerun/shrink.h"
#include "vestige/run.h"

struct vs_rerun;

/* Prepares to execute the run again whose inputs the reader has, which must outlive this; it is at
 * its first event. `folder` is where the CPU is, as for vs_cpu_load. Returns 0; -VSE_NOMEM; with
 * diag -VSE_INVAL (the run does not have all inputs), -VSE_NOTFOUND (its ISA is unknown, or as
 * vs_cpu_load). */
int vs_rerun_open(struct vs_rerun **out, struct vs_reader *inputs, const char *folder,
                  struct vs_diag *diag);
/* NULL is fine. */
void vs_rerun_close(struct vs_rerun *r);

/* Makes the next events: those of the inputs, in their places, and all branches, loads and stores.
 * Returns and is valid as vs_reader_next; also -VSE_CHECKSUM (a file is not what it was),
 * -VSE_CORRUPT (what is executed is not what the inputs belong to; the diag says where). */
int vs_rerun_next(struct vs_rerun *r, struct vs_batch *batch, struct vs_diag *diag);

/* Executes the whole run without making its events, counts them for each thread, and begins again.
 * Returns 0; as vs_rerun_next. */
int vs_rerun_count(struct vs_rerun *r, struct vs_thread_info *counts, struct vs_diag *diag);

/* Begins again. Returns 0; as vs_reader_next. */
int vs_rerun_rewind(struct vs_rerun *r, struct vs_diag *diag);

#endif
