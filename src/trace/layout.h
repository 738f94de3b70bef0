/* SPDX-License-Identifier: MIT */
/* The .vest container as bytes: fixed structures, numbers, limits. docs/format.md is the
 * specification; this header is its transcription and holds nothing else.
 *
 *   header | chunk | chunk | ... | index chunk | trailer
 */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include <stdint.h>

#include "vestige/error.h"
#include "vestige/run.h"

#define VS_HEADER_SIZE  32
#define VS_CHUNK_HEADER 32
#define VS_TRAILER_SIZE 32

enum vs_chunk_type {
    VS_CHUNK_META = 1,   /* facts about the run */
    VS_CHUNK_STATIC = 2, /* additions to the static tables */
    VS_CHUNK_EVENTS = 3,
    VS_CHUNK_INDEX = 4,
    VS_CHUNK_TYPE_END
};

/* Columns. Ids are unique over all chunk types. */
enum vs_column_id {
    /* meta */
    VS_COL_META = 1,
    /* static */
    VS_COL_IMAGES = 2,
    VS_COL_BLOCKS = 3, /* addresses, lengths */
    VS_COL_CODE = 4,   /* the blocks' bytes */
    VS_COL_SITES = 5,
    /* index */
    VS_COL_INDEX = 6,
    /* events */
    VS_COL_SUMMARY = 8,
    VS_COL_ORDER = 9,
    VS_COL_SITE_GAP = 10,
    VS_COL_SITE = 11,
    VS_COL_OUTCOME_GAP = 12,
    VS_COL_TARGET_GAP = 13,
    VS_COL_TARGET_HOW = 14,
    VS_COL_TARGET = 15,
    VS_COL_HOW = 16, /* how addresses and values follow from their predictions */
    VS_COL_ADDR = 17,
    VS_COL_VALUE = 18,
    VS_COL_WIDE = 19,
    VS_COL_OTHER = 20,
    VS_COL_LITERAL = 21,
    VS_COL_CYCLE = 22,
    VS_COL_END
};

enum vs_codec { VS_CODEC_RAW = 0, VS_CODEC_ZSTD = 1 };

/* Limits, which a reader enforces before it allocates. */
#define VS_MAX_CHUNK_EVENTS (1u << 22)
#define VS_MAX_CHUNKS       (1u << 21)
#define VS_MAX_PARTS        (1u << 22) /* threads of a chunk, summed over the chunks */
#define VS_MAX_SITES        (1u << 22)
#define VS_MAX_COLUMN       (64u << 20)
#define VS_MAX_RAW          (128u << 20) /* all columns of a chunk together */
#define VS_MAX_INDEX        (256u << 20)
#define VS_MAX_PAYLOAD      (260u << 20)
#define VS_MAX_BLOCKS       (1u << 24)
#define VS_MAX_CODE         (512u << 20) /* bytes of all blocks */
#define VS_MAX_IMAGES       (1u << 16)
#define VS_MAX_FACTS        (1u << 10)
#define VS_MAX_SET          (1u << 14) /* times that facts are set, replacements included */
#define VS_MAX_STRING       (1u << 20)
#define VS_MAX_TEXT         (64u << 20) /* bytes of all facts and images, replaced ones included */

struct vs_chunk {
    uint8_t type;
    uint32_t number; /* 0, 1, 2, ... */
    uint32_t crc;    /* of the payload */
    uint64_t size;   /* of the payload */
};

void vs_header_pack(uint8_t out[VS_HEADER_SIZE], uint32_t features);

/* Returns 0 and *version, *features; -VSE_FORMAT; -VSE_CHECKSUM; -VSE_VERSION; -VSE_FEATURE. */
int vs_header_parse(const uint8_t in[VS_HEADER_SIZE], uint32_t *version, uint32_t *features,
                    struct vs_diag *diag);

void vs_chunk_pack(uint8_t out[VS_CHUNK_HEADER], const struct vs_chunk *chunk);

/* `number` is the one that the chunk must have; offset is for the diag.
 * Returns 0; -VSE_CHECKSUM; -VSE_CORRUPT; -VSE_LIMIT. */
int vs_chunk_parse(const uint8_t in[VS_CHUNK_HEADER], struct vs_chunk *chunk, uint32_t number,
                   uint64_t offset, struct vs_diag *diag);

void vs_trailer_pack(uint8_t out[VS_TRAILER_SIZE], uint64_t index_offset, uint64_t file_size);

/* Returns 0 and *index_offset, or -VSE_FORMAT if these bytes are not the trailer of a file of that
 * size: a file without one is not sealed. */
int vs_trailer_parse(const uint8_t in[VS_TRAILER_SIZE], uint64_t file_size, uint64_t *index_offset);

/* "meta", "static", "events", "index"; "?". Static storage. */
const char *vs_chunk_name(unsigned type);

#endif
