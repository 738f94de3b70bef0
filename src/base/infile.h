/* SPDX-License-Identifier: MIT */
/* Lines and bytes of a file or pipe, from front to back. An interrupted read is repeated,
 * and a failed one is reported as an error, never as the end of the file; stdio's streams do
 * neither. */
#ifndef BASE_INFILE_H
#define BASE_INFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "vestige/error.h"

enum { VS_INFILE_BUFFER = 16384, VS_INFILE_LINE_MAX = 1 << 16 };

struct vs_infile {
    int fd;             /* -1: not open */
    uint64_t line;      /* number of the last line read, from 1 up */
    struct vs_buf text; /* that line, ended by a zero */
    size_t at, end;
    uint8_t buffer[VS_INFILE_BUFFER];
};

/* Reads from a descriptor, which vs_infile_close closes. */
void vs_infile_init(struct vs_infile *f, int fd);

/* 0, or -VSE_IO. */
int vs_infile_open(struct vs_infile *f, const char *path, struct vs_diag *diag);

/* Reads the next line, without its end, into f->text. Returns its length; -VSE_END; -VSE_IO;
 * -VSE_NOMEM; -VSE_LIMIT (longer than VS_INFILE_LINE_MAX). */
int64_t vs_infile_line(struct vs_infile *f, struct vs_diag *diag);

/* The next bytes: `size`, or fewer at the end. Returns how many; -VSE_IO. */
int64_t vs_infile_bytes(struct vs_infile *f, void *bytes, size_t size, struct vs_diag *diag);

/* The next byte, without consuming it. Returns it; -VSE_END; -VSE_IO. */
int vs_infile_peek(struct vs_infile *f, struct vs_diag *diag);

/* May be called again, and after a failed open. */
void vs_infile_close(struct vs_infile *f);

#endif
