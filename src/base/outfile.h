/* SPDX-License-Identifier: MIT */
/* A file that gets its name only when it is complete. Until then its bytes are in "<path>.partial",
 * locked with flock while it is being written, so that a writer can tell a file in use from one
 * left over. A left-over one is replaced.
 *
 * Every open file ends with exactly one of a commit that succeeds, abort and keep; after that, or
 * after a failed open, further calls of abort and keep do nothing. */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "vestige/error.h"

struct vs_outfile {
    int fd; /* -1: not open */
    bool overwrite;
    bool failed; /* a write failed: the bytes are not what was asked for */
    char *path, *partial;
};

/* Creates the partial file, mode 0666 less the umask. With `overwrite` a regular file at `path` may
 * be replaced, when the new one is committed. 0, or
 *   -VSE_INVAL   path is empty, or it or the partial is something other than a regular file; a
 *                symbolic link counts as such, since committing would replace the link
 *   -VSE_EXISTS  path exists and `overwrite` is false, or the partial is in use
 *   -VSE_IO, -VSE_NOMEM */
int vs_outfile_open(struct vs_outfile *f, const char *path, bool overwrite, struct vs_diag *diag);

/* Appends all `size` bytes. 0 or -VSE_IO; after that the file cannot be committed. */
int vs_outfile_write(struct vs_outfile *f, const void *data, size_t size, struct vs_diag *diag);

/* Makes the bytes durable, gives the file its name and closes it. Returns 0; or, with the partial
 * in place and open, to be aborted or kept: -VSE_EXISTS (`overwrite` is false and a file has
 * appeared at path since the open); -VSE_IO (the operating system refused, or an earlier write had
 * failed). */
int vs_outfile_commit(struct vs_outfile *f, struct vs_diag *diag);

/* Closes and deletes the partial file. */
void vs_outfile_abort(struct vs_outfile *f);

/* Closes the partial file and leaves it in place. */
void vs_outfile_keep(struct vs_outfile *f);

/* Whether a process is writing this partial file. False if there is no such file, or if that cannot
 * be told. */
bool vs_outfile_busy(const char *partial);

/* Moves a descriptor out of the range of the standard streams, which may have been closed;
 * otherwise what is printed would land in the file. Returns the descriptor to use; -1, with errno
 * set and `fd` closed. */
int vs_outfile_lift(int fd);

#endif
