/* SPDX-License-Identifier: MIT */
/* The .vport file as bytes: a transcription of docs/vport.md, shared by its writer and reader.
 *
 *   header | about | block | block | ... | end
 */
#ifndef PORT_VPORT_LAYOUT_H
#define PORT_VPORT_LAYOUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "port/vport.h"

enum {
    VS_VPORT_HEADER = 32,
    VS_VPORT_BLOCK_HEADER = 20, /* and 4 more if each core has a stream */
    VS_VPORT_BLOCK_HEADER_MAX = 24,
    VS_VPORT_END = 32,
    VS_VPORT_BLOCK =
        1 << 16, /* a block's most bytes; with one stream, every block but the last has as many */

    VS_VPORT_TIMED = 1, /* feature bits */
    VS_VPORT_PER_CORE = 2,
    VS_VPORT_KNOWN = 3,
};

struct vs_vport_header {
    uint32_t features;
    uint32_t about_size, about_crc;
};

void vs_vport_header_pack(uint8_t out[VS_VPORT_HEADER], const struct vs_vport_header *h);

/* Returns 0; -VSE_FORMAT; -VSE_CHECKSUM; -VSE_VERSION; -VSE_FEATURE; -VSE_CORRUPT; -VSE_LIMIT. */
int vs_vport_header_parse(const uint8_t in[VS_VPORT_HEADER], struct vs_vport_header *h,
                          struct vs_diag *diag);

struct vs_vport_block {
    uint32_t number, bits, crc;
    uint32_t stream; /* 0 if there is only one */
};

/* Returns the bytes of a block header. per_core says that each core has a stream. */
static inline size_t vs_vport_block_header(bool per_core)
{
    return per_core ? VS_VPORT_BLOCK_HEADER_MAX : VS_VPORT_BLOCK_HEADER;
}

void vs_vport_block_pack(uint8_t out[VS_VPORT_BLOCK_HEADER_MAX], const struct vs_vport_block *b,
                         bool per_core);

/* Whether the bytes begin a block or the end record. They look at 4 bytes. */
bool vs_vport_is_block(const uint8_t *in);
bool vs_vport_is_end(const uint8_t *in);

/* Parses the header of block `number`, which belongs to one of so many streams. `at` is for the
 * diag.
 * Returns 0; -VSE_CHECKSUM; -VSE_CORRUPT. */
int vs_vport_block_parse(const uint8_t *in, bool per_core, unsigned streams, uint32_t number,
                         uint64_t at, struct vs_vport_block *b, struct vs_diag *diag);

struct vs_vport_end {
    uint64_t nbits, file_size;
    uint32_t blocks;
};

void vs_vport_end_pack(uint8_t out[VS_VPORT_END], const struct vs_vport_end *e);

/* Returns 0; -VSE_CHECKSUM. */
int vs_vport_end_parse(const uint8_t in[VS_VPORT_END], uint64_t at, struct vs_vport_end *e,
                       struct vs_diag *diag);

/* Appends what the file says about its streams. Returns 0; -VSE_INVAL; -VSE_LIMIT; -VSE_NOMEM. */
int vs_vport_about_pack(struct vs_buf *out, const struct vs_vport_about *about,
                        struct vs_diag *diag);

/* The inverse, with the strings in the arena; `timed` and `per_core` are not part of it. The diag's
 * offsets begin at `at`. Returns 0; -VSE_CORRUPT; -VSE_LIMIT; -VSE_NOMEM. */
int vs_vport_about_unpack(const uint8_t *data, size_t size, uint64_t at, struct vs_arena *arena,
                          struct vs_vport_about *about, struct vs_diag *diag);

#endif
