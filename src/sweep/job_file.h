/* SPDX-License-Identifier: MIT */
/* What the tasks of a job are to measure. A file of lines:
 *
 *   vestige tasks 1
 *   store FOLDER
 *   window 0
 *   buffer none
 *   task 0
 *   run DIGEST PATH            begins a batch
 *   unit SPEC                  or: proof SPEC
 *   ... */
#ifndef SWEEP_JOB_FILE_H
#define SWEEP_JOB_FILE_H

#include "base/buf.h"
#include "sweep/sweep.h"

/* Cuts what is wanted and missing into tasks of about so much work each, which is instructions
 * times units, and no more tasks than `most`; the file's text goes to `text`. Returns how many
 * tasks there are, 0 if nothing is missing; -VSE_NOMEM. */
int64_t vs_job_print(const struct vs_sweep *s, const struct vs_sweep_wanted *wanted, double work,
                     uint64_t most, struct vs_buf *text);

/* Is given each batch of a task. Returns 0 to go on. */
typedef int vs_job_batch(void *context, const struct vs_store *store,
                         const struct vs_sweep_how *how, const char *digest, const char *path,
                         const struct vs_sweep_unit *units, size_t count, struct vs_diag *diag);

/* Reads a task's batches out of a file's text, which is changed. Returns 0; -VSE_CORRUPT;
 * -VSE_NOTFOUND (there is no such task); as vs_store_open; what `batch` returns. */
int vs_job_read(char *text, uint64_t task, vs_job_batch *batch, void *context,
                struct vs_diag *diag);

#endif
