/* SPDX-License-Identifier: MIT */
/* The rerun layer: a run executed again from its inputs, which makes all of its events.
 *
 *   run_open      opens any run, so that it delivers all of its events
 *   rerun         executes a run again
 *   selection     which instructions become events
 *   selecting     makes only these, and gaps of the rest
 *   shrink        leaves out of a run what that makes
 *   snapshots     states from which it can be executed on
 *   survey        how many events it has, and its snapshots, kept beside it
 *   whole_memory  what its memory holds
 *
 * A run with VS_RUN_INPUTS has everything that the program cannot have computed: registers that
 * were set from outside, what system calls wrote, values such as the time, when threads took turns,
 * and what memory held at first. Between two such events a thread computes, and a CPU (isa/cpu.h)
 * does the same again. Unlike a replay, which knows what a port stream told, this knows all. */
#ifndef RERUN_RERUN_H
#define RERUN_RERUN_H

#include <stdbool.h>

#include "base/buf.h"
#include "rerun/run_open.h"
#include "rerun/selection.h"
#include "rerun/shrink.h"
#include "rerun/snapshots.h"
#include "rerun/survey.h"
#include "vestige/run.h"

struct vs_cpu_ops;
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

/* Where made events are kept. A zeroed struct is empty. */
struct vs_made {
    struct vs_event *events;
    size_t capacity;
    struct vs_buf wide;
};

/* Gives the events that were made last to *made, which belong to the caller then, and stay as they
 * are when more are made; what it had before is used for these. */
void vs_rerun_swap(struct vs_rerun *r, struct vs_made *made);
void vs_made_fini(struct vs_made *made);

/* Executes about so many instructions without making their events, and stops between two inputs.
 * Returns 0; -VSE_END (the run is over); as vs_rerun_next. */
int vs_rerun_skip(struct vs_rerun *r, uint64_t instructions, struct vs_diag *diag);

/* What executes it. */
const struct vs_cpu_ops *vs_rerun_cpu(const struct vs_rerun *r);

/* What was executed so far: instructions of all threads, comparisons of registers, and what a
 * thread did. */
uint64_t vs_rerun_executed(const struct vs_rerun *r);
uint64_t vs_rerun_digests(const struct vs_rerun *r);
/* How many pages of memory were compared with digests of them, and how often that was done. */
uint64_t vs_rerun_pages(const struct vs_rerun *r, uint64_t *times);
struct vs_thread_info vs_rerun_thread(const struct vs_rerun *r, unsigned thread);
/* Events that the thread has without loads and stores, as far as vs_rerun_skip executed it. */
uint64_t vs_rerun_flow_events(const struct vs_rerun *r, unsigned thread);

/* From now on makes no events of loads and stores, which takes less time. To be called before
 * anything was executed; snapshots are of no use then. */
void vs_rerun_flow_only(struct vs_rerun *r);

/* Begins again. Returns 0; as vs_reader_next. */
int vs_rerun_rewind(struct vs_rerun *r, struct vs_diag *diag);

/* From now on makes events of what is selected only, and gaps of the rest, without turns and
 * contents. To be called before anything was executed, and once; `what` has to outlive this, as do
 * the snapshots, from which it goes on where nothing is selected for long; these may be NULL.
 * Returns 0; -VSE_NOMEM; -VSE_INVAL (gaps are unknown on this ISA). */
int vs_rerun_select(struct vs_rerun *r, const struct vs_selection *what,
                    const struct vs_packed_snapshots *snapshots);
/* How many threads had begun when the selection ended. */
unsigned vs_rerun_begun(const struct vs_rerun *r);

/* Lets snapshots be taken, before anything was executed. */
void vs_rerun_track(struct vs_rerun *r);
/* Adds a snapshot to the list, right after vs_rerun_track, vs_rerun_skip or vs_rerun_save. Returns
 * 0; -VSE_NOMEM. */
int vs_rerun_save(struct vs_rerun *r, struct vs_snapshot_list *to);

/* Goes to a snapshot of the same run. Returns 0; -VSE_NOMEM; -VSE_CORRUPT (the snapshots are
 * damaged; nothing can be made until vs_rerun_rewind); with diag, as vs_reader_seek_event. */
int vs_rerun_restore(struct vs_rerun *r, const struct vs_packed_snapshots *s, unsigned number,
                     struct vs_diag *diag);

#endif
