/* SPDX-License-Identifier: MIT */
/* The one error enum, and the one way in which an error says where it happened.
 *
 * Functions return int (or int64_t): negative is -VSE_x, zero or positive is the result.
 * Nothing below the command line prints or exits.
 */
#ifndef VESTIGE_ERROR_H
#define VESTIGE_ERROR_H

#include <stdint.h>

#include "vestige/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are pinned: they may be stored and compared. Grouped by tens. */
enum vs_error {
    VSE_OK = 0,

    /* whose fault: ours or the caller's */
    VSE_INVAL = 1,    /* an argument breaks the function's contract */
    VSE_INTERNAL = 2, /* a bug in Vestige */
    VSE_NOMEM = 3,    /* out of memory */

    /* the environment */
    VSE_IO = 10,     /* the operating system refused; the diag's text has its reason */
    VSE_EXISTS = 11, /* would overwrite something that must not be overwritten */

    /* not failures: the ordinary ends of things */
    VSE_END = 20,      /* nothing more to read */
    VSE_NOTFOUND = 21, /* no such thread, key, block, position */

    /* the data: what an outside file or stream did wrong */
    VSE_FORMAT = 30,    /* not this kind of file */
    VSE_VERSION = 31,   /* a version that this build does not read */
    VSE_FEATURE = 32,   /* needs a feature that this build does not know */
    VSE_CHECKSUM = 33,  /* bytes changed since they were written */
    VSE_TRUNCATED = 34, /* ends too early */
    VSE_CORRUPT = 35,   /* intact bytes that break a rule of the format */
    VSE_LIMIT = 36,     /* larger than the format allows */
};

/* The text for an error code of either sign. Never NULL; static storage. */
VS_API const char *vs_errstr(int error);

/* The enumerator's name, such as "VSE_CHECKSUM"; "VSE_UNKNOWN" for any other number. */
VS_API const char *vs_errname(int error);

/* Where and why something failed. The caller provides the storage; every function that takes a
 * `struct vs_diag *` accepts NULL. Written only when an error is returned. */
struct vs_diag {
    int error;      /* -VSE_x, the value returned */
    int64_t offset; /* byte offset in the input, -1 if it has none */
    int64_t chunk;  /* chunk number, -1 if it has none */
    char text[200]; /* what was wrong, one line, no newline at the end */
};

#ifdef __cplusplus
}
#endif

#endif
