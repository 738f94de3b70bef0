/* SPDX-License-Identifier: MIT */
/* A part of a file, as a program that maps the file sees it. */
#ifndef BASE_FILE_PART_H
#define BASE_FILE_PART_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

/* Takes `size` bytes that are `at` bytes behind the part's beginning. Returns 0, or an error, which
 * ends the reading. */
typedef int vs_file_piece(void *context, uint64_t at, const uint8_t *bytes, size_t size);

/* Reads the part from front to back, as far as the file has it, and hands it over in pieces; piece
 * may be NULL. *crc becomes its CRC-32C. Returns 0; -VSE_IO; -VSE_INVAL (not a regular file);
 * -VSE_TRUNCATED (the file shrank meanwhile); -VSE_NOMEM; an error of `piece`. */
int vs_file_part(const char *path, uint64_t offset, uint64_t length, vs_file_piece *piece,
                 void *context, uint32_t *crc, struct vs_diag *diag);

#endif
