/* SPDX-License-Identifier: MIT */
/* Compression in pieces of any size by one of four libraries. The result is what their programs
 * would write into a file (gzip without a name, zstd with its checksum).
 *
 * Packing pushes bytes to a sink. Unpacking is pulled by its caller, so that a few hostile bytes
 * never grow to more than the caller has room for; the levels below bound the memory that a library
 * needs. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

enum vs_pack_kind { VS_PACK_GZIP, VS_PACK_BZIP2, VS_PACK_XZ, VS_PACK_ZSTD, VS_PACK_KINDS };

/* "gzip", "bzip2", "xz", "zstd". Static storage. */
const char *vs_pack_name(enum vs_pack_kind kind);

/* The range of valid levels. A level of bzip2 is the size of its blocks, in units of 100 kB. */
void vs_pack_levels(enum vs_pack_kind kind, unsigned *least, unsigned *most);

/* ---- packing ---- */

/* Takes packed bytes. Returns 0 or an error, which ends the packing. */
typedef int vs_pack_sink(void *context, const uint8_t *bytes, size_t size);

struct vs_pack;

/* Returns 0; -VSE_INVAL (no such kind or level); -VSE_NOMEM. */
int vs_pack_open(struct vs_pack **pack, enum vs_pack_kind kind, unsigned level, vs_pack_sink *sink,
                 void *context);

/* Returns 0; -VSE_INVAL (after the end); -VSE_NOMEM; what the sink returned. After an
 * error every call returns it. */
int vs_pack_put(struct vs_pack *pack, const void *bytes, size_t size);

/* Ends the packing: the sink gets the rest. Returns as vs_pack_put. */
int vs_pack_finish(struct vs_pack *pack);
void vs_pack_close(struct vs_pack *pack); /* NULL is fine */

/* ---- unpacking ---- */

struct vs_unpack;

/* Returns 0; -VSE_INVAL (no such kind); -VSE_NOMEM. */
int vs_unpack_open(struct vs_unpack **unpack, enum vs_pack_kind kind);

/* Feeds the next packed bytes, which must stay valid until vs_unpack_get returns 0 or -VSE_END;
 * only then may more be fed. */
void vs_unpack_feed(struct vs_unpack *unpack, const uint8_t *bytes, size_t size);

/* Says that no more packed bytes will come. */
void vs_unpack_end(struct vs_unpack *unpack);

/* Unpacks up to `room` bytes; room is at least 1. Returns how many; 0 if it needs more packed
 * bytes; -VSE_END (that was all); -VSE_TRUNCATED (the packed bytes end too early); -VSE_CORRUPT (no
 * packer wrote this, or something follows the end); -VSE_NOMEM. After an error every call returns
 * it. diag has the offset in the packed bytes. */
int64_t vs_unpack_get(struct vs_unpack *unpack, uint8_t *bytes, size_t room, struct vs_diag *diag);
void vs_unpack_close(struct vs_unpack *unpack); /* NULL is fine */

#endif
