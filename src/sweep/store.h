/* SPDX-License-Identifier: MIT */
/* What was measured, in a folder. A file there has the results of a batch: one run with some
 * techniques. It appears under its name when it is complete, so that whoever is killed leaves
 * nothing half; and its name follows from what was to be measured, so that a batch that is measured
 * twice is the same file with the same bytes. Files are text:
 *
 *   vestige results 1
 *   version 0.1.0
 *   run 5be7...                       the digest of the run's content
 *   with window=0 buffer=none         how it was measured
 *   unit SPEC                         a technique with all its parameters; or: proof SPEC
 *   = bits 123 messages 4 ...         what came out; or: ! why nothing came out
 *   ...
 *   end 0a1b2c3d                      CRC-32C of all that precedes this line
 *
 * Results of another version of Vestige, of another run, or measured in another way are passed
 * over. */
#ifndef SWEEP_STORE_H
#define SWEEP_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "vestige/error.h"

struct vs_store {
    char *folder;
    const char *how; /* as in the files; the caller's */
    bool read_only;
    char host[65]; /* on a file system of several machines, files under way differ by it */
};

/* A unit of work on a run. */
struct vs_sweep_unit {
    const char *spec; /* with all parameters */
    bool proof;       /* it is to be proved, too */
};

/* A unit of work, as it is read or written. */
struct vs_store_unit {
    const char *spec;
    bool proof;         /* it was proved, too */
    const char *wrong;  /* why nothing came out, or NULL */
    const char *values; /* "name number name number ..." */
    int64_t when;       /* read from a file: its time of change, in nanoseconds */
};

/* Makes the folder if it is not there, unless the store is only to be read: then nothing in it is
 * changed, and one that is not there has nothing. Returns 0; -VSE_IO; -VSE_NOMEM. fini is needed
 * after 0 only. */
int vs_store_open(struct vs_store *s, const char *folder, const char *how, bool read_only,
                  struct vs_diag *diag);
void vs_store_fini(struct vs_store *s);

/* Is given each unit. Returns 0 to go on; an error ends the reading, with diag. */
typedef int vs_store_take(void *context, const char *run, const struct vs_store_unit *unit,
                          struct vs_diag *diag);

/* Reads all that is there. `damaged` counts files that are not as they were written; they are
 * removed, since what they had can be measured again, unless the store is only to be read. Returns
 * 0; -VSE_IO; -VSE_NOMEM; what `take` returns. */
int vs_store_read(const struct vs_store *s, vs_store_take *take, void *context, unsigned *damaged,
                  struct vs_diag *diag);

/* Reads one file's text. Returns 0; -VSE_CORRUPT; what `take` returns. For tests. */
int vs_store_parse(const char *text, size_t size, const char *how, vs_store_take *take,
                   void *context, struct vs_diag *diag);

/* Writes a batch. Returns 0; -VSE_IO; -VSE_NOMEM. May be called by several threads and processes at
 * once, even for the same batch. */
int vs_store_write(const struct vs_store *s, const char *run, const struct vs_store_unit *units,
                   size_t count, struct vs_diag *diag);

/* Whether the batch is there. Its results are not looked at. */
bool vs_store_has(const struct vs_store *s, const char *run, const struct vs_sweep_unit *units,
                  size_t count);

/* Appends formatted text to a buffer. Returns 0; -VSE_NOMEM. */
int vs_buf_print(struct vs_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The path of something in the folder, to be freed; NULL: no memory. */
char *vs_store_path(const struct vs_store *s, const char *name);

/* Makes a folder unless it is there. Returns 0; -VSE_IO. */
int vs_store_folder(const char *path, struct vs_diag *diag);

#endif
