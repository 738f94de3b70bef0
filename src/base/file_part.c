/* SPDX-License-Identifier: MIT */
#include "base/file_part.h"

#include <stdlib.h>

#include "base/byte_source.h"
#include "base/crc32c.h"

#define PIECE 65536u

static int read_pieces(const struct vs_byte_source *s, uint64_t offset, uint64_t length,
                       uint8_t *bytes, vs_file_piece *piece, void *context, uint32_t *crc,
                       struct vs_diag *diag)
{
    uint64_t there = offset < s->size ? s->size - offset : 0;
    int err = 0;
    if (length > there)
        length = there;
    for (uint64_t at = 0; at < length && !err; at += PIECE) {
        size_t n = length - at < PIECE ? (size_t)(length - at) : PIECE;
        err = vs_byte_source_read(s, offset + at, bytes, n, diag);
        if (err)
            break;
        *crc = vs_crc32c(*crc, bytes, n);
        err = piece ? piece(context, at, bytes, n) : 0;
    }
    return err;
}

int vs_file_part(const char *path, uint64_t offset, uint64_t length, vs_file_piece *piece,
                 void *context, uint32_t *crc, struct vs_diag *diag)
{
    struct vs_byte_source s;
    *crc = 0;
    int err = vs_byte_source_open(&s, path, diag);
    if (err)
        return err;
    uint8_t *bytes = malloc(PIECE);
    err = bytes ? read_pieces(&s, offset, length, bytes, piece, context, crc, diag) : -VSE_NOMEM;
    free(bytes);
    vs_byte_source_close(&s);
    return err;
}
