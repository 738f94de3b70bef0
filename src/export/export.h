/* SPDX-License-Identifier: MIT */
/* The export layer: runs in the formats that other programs read.
 *
 *   export     the formats' rows, and writing a run in one of them
 *   sink       the bytes that a format writes, in a buffer; private, like all that follows
 *   format     what a format is
 *   insns      a thread's instructions, one after the other, from events and code
 *   paths      a profile by path of calls, for the formats of flame graphs
 *   bits       the bits that trace modules send over time
 *   to_NAME    the format of that name
 *
 * A format is one file and one row of the table in export.c. Everything is written from front to
 * back, in memory that does not grow with the number of events. */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/progress.h"
#include "technique/technique.h"
#include "vestige/run.h"

struct vs_export_format;

/* Returns the format of that number, or name; NULL if there is none. Static storage. */
const struct vs_export_format *vs_export_at(size_t number);
const struct vs_export_format *vs_export_find(const char *name);

/* Its name, and what it is, in a few words. */
const char *vs_export_name(const struct vs_export_format *format);
const char *vs_export_summary(const struct vs_export_format *format);

/* Takes the bytes that are written. Returns 0; a negative error, which ends the writing. */
typedef int vs_export_write(void *context, const void *bytes, size_t size);

struct vs_export_options {
    int thread; /* only this thread; -1: all of them */
    /* The trace modules whose bits are shown; none: those that the format usually has. */
    const struct vs_technique_spec *specs;
    size_t spec_count;
    vs_export_write *write;
    void *context;
};

/* Writes the run, whose reader is at its beginning. Returns 0; an error of `write`; those of
 * vs_reader_next but for its -VSE_END; -VSE_NOMEM; with diag -VSE_END (the format shows the bits
 * of modules, and the run has no thread), -VSE_INVAL (the format cannot hold this run, or needs a
 * single thread, or shows fewer modules), -VSE_FEATURE and -VSE_LIMIT (a module cannot encode the
 * run), -VSE_CORRUPT (the run's control flow is not that of its code). */
int vs_export_run(const struct vs_export_format *format, struct vs_reader *reader,
                  const struct vs_export_options *options, struct vs_progress *progress,
                  struct vs_diag *diag);

#endif
