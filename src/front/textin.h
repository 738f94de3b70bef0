/* SPDX-License-Identifier: MIT */
/* A file that is read from front to back, as it is or through the program that decompresses it. The
 * file's first bytes decide which. */
#ifndef FRONT_TEXTIN_H
#define FRONT_TEXTIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/infile.h"
#include "vestige/error.h"

struct textin {
    struct vs_infile file;
    pid_t child; /* the decompressor's; 0: none */
    const char *program;
    uint64_t line;    /* number of the last line read, from 1 up */
    const char *text; /* that line's */
};

/* "-" is standard input, which is read as it is. Returns 0; -VSE_IO. */
int textin_open(struct textin *in, const char *path, struct vs_diag *diag);

/* Whether the next byte is a digit. Descriptors in text begin with a thread's number; in binary
 * ones this byte would be a thread of 48 or more. Returns 0 or 1; -VSE_IO. */
int textin_is_text(struct textin *in, struct vs_diag *diag);

/* Reads the next line, without its end, into in->text. Returns its length; -VSE_END; -VSE_IO;
 * -VSE_NOMEM; -VSE_LIMIT (it is longer than 64 KiB). */
int64_t textin_line(struct textin *in, struct vs_diag *diag);

/* Reads exactly `size` bytes. Returns 0; -VSE_END (there are none); -VSE_TRUNCATED (there are
 * fewer); -VSE_IO. */
int textin_bytes(struct textin *in, void *bytes, size_t size, struct vs_diag *diag);

/* Waits for the decompressor. Returns 0; -VSE_IO if it failed, unless `early` says that the file
 * was not read to its end. */
int textin_close(struct textin *in, bool early, struct vs_diag *diag);

#endif
