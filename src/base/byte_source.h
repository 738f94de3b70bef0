/* SPDX-License-Identifier: MIT */
/* Where a run or a port stream is read from, at any offset: a file or memory. */
#ifndef BASE_BYTE_SOURCE_H
#define BASE_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

struct vs_byte_source {
    int fd; /* -1: memory */
    const uint8_t *memory;
    uint64_t size;
};

/* Returns 0; -VSE_IO; -VSE_INVAL (not a regular file). */
int vs_byte_source_open(struct vs_byte_source *s, const char *path, struct vs_diag *diag);
void vs_byte_source_memory(struct vs_byte_source *s, const void *data, size_t size);
void vs_byte_source_close(struct vs_byte_source *s);

/* Reads exactly `size` bytes. Returns 0; -VSE_IO; -VSE_TRUNCATED (also when a file shrank since).
 */
int vs_byte_source_read(const struct vs_byte_source *s, uint64_t offset, void *out, size_t size,
                        struct vs_diag *diag);

#endif
