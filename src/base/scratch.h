/* SPDX-License-Identifier: MIT */
/* A stretch of address space that is filled from its beginning on and never moves: in memory, or in
 * a file without a name, which the system may write out and which is gone with its owner. */
#ifndef BASE_SCRATCH_H
#define BASE_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

struct vs_scratch {
    uint8_t *data;
    size_t room;       /* bytes of address space */
    _Atomic int error; /* the errno because of which a file could not grow last, or 0 */

    _Atomic size_t reached; /* bytes that may be used */

    /* private */
    int fd; /* -1: it is in memory */
};

/* Opens an empty one; `folder` is where its file is to be, or NULL for memory. Returns 0; with
 * diag, which may be NULL: -VSE_NOMEM (too little address space), -VSE_IO (there can be no such
 * file). close is needed after 0 only. */
int vs_scratch_open(struct vs_scratch *s, const char *folder, struct vs_diag *diag);
void vs_scratch_close(struct vs_scratch *s);

static inline bool vs_scratch_is_file(const struct vs_scratch *s)
{
    return s->fd >= 0;
}

/* Lets the first `size` bytes be used; new ones are 0. One thread at a time may call it. Returns 0;
 * -VSE_NOMEM (the address space is used up); -VSE_IO, with s->error (the disk is full). */
int vs_scratch_reach(struct vs_scratch *s, size_t size);

/* Says that nothing of it is needed soon: what is in a file need not be in memory as well. The
 * bytes stay, and other threads may use them meanwhile. */
void vs_scratch_rest(struct vs_scratch *s);

/* Says that the bytes from `from` up to `to` are not needed: their memory may be freed, and then
 * they are 0. What is in a file stays. */
void vs_scratch_free(struct vs_scratch *s, size_t from, size_t to);

#endif
