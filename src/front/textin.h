/* SPDX-License-Identifier: MIT */
/* A file to be read from front to back: as it is, or through the program that decompresses it,
 * which its first bytes choose. */
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
    const char *text; /* of that line */
};

/* "-" is standard input, as it is. Returns 0; -VSE_IO. */
int textin_open(struct textin *in, const char *path, struct vs_diag *diag);

/* Whether the next byte is a digit. Descriptors in text begin with the number of a thread; in
 * binary ones it would be a thread of 48 or more. Returns 0 or 1; -VSE_IO. */
int textin_is_text(struct textin *in, struct vs_diag *diag);

/* The next line, without its end, in in->text. Returns its length; -VSE_END; -VSE_IO; -VSE_NOMEM;
 * -VSE_LIMIT (longer than 64 KiB). */
int64_t textin_line(struct textin *in, struct vs_diag *diag);

/* Exactly `size` bytes. Returns 0; -VSE_END (there is no more); -VSE_TRUNCATED (fewer); -VSE_IO. */
int textin_bytes(struct textin *in, void *bytes, size_t size, struct vs_diag *diag);

/* Waits for the decompressor. Returns 0; -VSE_IO if it failed, unless `early`: then nobody waited
 * for its end. */
int textin_close(struct textin *in, bool early, struct vs_diag *diag);

#endif
