/* SPDX-License-Identifier: MIT */
#include "trace/layout.h"

#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/diag.h"

/* As in PNG: a high bit, CR LF and ^Z show damage by text-mode transfers. */
static const uint8_t header_magic[8] = {0x89, 'V', 'E', 'S', 'T', '\r', '\n', 0x1a};
static const uint8_t trailer_magic[8] = {'V', 'E', 'S', 'T', 'E', 'N', 'D', '\n'};
static const uint8_t chunk_magic[4] = {'V', 'S', 'C', 'K'};

/* All three structures have 32 bytes and end with the CRC of the 28 bytes before it. */
static void seal(uint8_t *out)
{
    vs_put32(out + 28, vs_crc32c(0, out, 28));
}

static bool sealed(const uint8_t *in)
{
    return vs_get32(in + 28) == vs_crc32c(0, in, 28);
}

static bool zero(const uint8_t *in, size_t n)
{
    while (n)
        if (in[--n])
            return false;
    return true;
}

void vs_header_pack(uint8_t out[VS_HEADER_SIZE], uint32_t features)
{
    memset(out, 0, VS_HEADER_SIZE);
    memcpy(out, header_magic, 8);
    vs_put16(out + 8, VS_RUN_VERSION);
    vs_put16(out + 10, VS_RUN_VERSION_NEEDED);
    vs_put32(out + 12, features);
    seal(out);
}

int vs_header_parse(const uint8_t in[VS_HEADER_SIZE], uint32_t *version, uint32_t *features,
                    struct vs_diag *diag)
{
    unsigned needs;

    if (memcmp(in, header_magic, 8) != 0)
        return vs_diag_set(diag, -VSE_FORMAT, 0, -1, "not a .vest file: wrong magic number");
    if (!sealed(in))
        return vs_diag_set(diag, -VSE_CHECKSUM, 0, -1, "file header: checksum differs");
    *version = vs_get16(in + 8);
    needs = vs_get16(in + 10);
    if (*version < VS_RUN_VERSION_OLDEST || needs > VS_RUN_VERSION)
        return vs_diag_set(diag, -VSE_VERSION, 8, -1,
                           "format version %u (needs a reader of %u); this build reads %d to %d",
                           (unsigned)*version, needs, VS_RUN_VERSION_OLDEST, VS_RUN_VERSION);
    if (!zero(in + 16, 12))
        return vs_diag_set(diag, -VSE_CORRUPT, 16, -1, "file header: reserved bytes are not zero");
    *features = vs_get32(in + 12);
    if (*features & ~(uint32_t)VS_RUN_KNOWN)
        return vs_diag_set(diag, -VSE_FEATURE, 12, -1,
                           "needs features 0x%x that this build does not know",
                           (unsigned)(*features & ~(uint32_t)VS_RUN_KNOWN));
    return 0;
}

void vs_chunk_pack(uint8_t out[VS_CHUNK_HEADER], const struct vs_chunk *chunk)
{
    memset(out, 0, VS_CHUNK_HEADER);
    memcpy(out, chunk_magic, 4);
    out[4] = chunk->type;
    vs_put32(out + 8, chunk->number);
    vs_put32(out + 12, chunk->crc);
    vs_put64(out + 16, chunk->size);
    seal(out);
}

int vs_chunk_parse(const uint8_t in[VS_CHUNK_HEADER], struct vs_chunk *chunk, uint32_t number,
                   uint64_t offset, struct vs_diag *diag)
{
    if (memcmp(in, chunk_magic, 4) != 0 || !sealed(in))
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)offset, number,
                           "chunk header: checksum differs");
    chunk->type = in[4];
    chunk->number = vs_get32(in + 8);
    chunk->crc = vs_get32(in + 12);
    chunk->size = vs_get64(in + 16);
    if (chunk->type == 0 || chunk->type >= VS_CHUNK_TYPE_END)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, number, "chunk of unknown type %u",
                           chunk->type);
    if (!zero(in + 5, 3) || !zero(in + 24, 4))
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, number,
                           "chunk header: reserved bytes are not zero");
    if (chunk->size == 0)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, number, "chunk without content");
    if (chunk->number != number)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, number,
                           "chunk says it is number %u", chunk->number);
    if (chunk->size > VS_MAX_PAYLOAD)
        return vs_diag_set(diag, -VSE_LIMIT, (int64_t)offset, number,
                           "chunk of %llu bytes, over the limit", (unsigned long long)chunk->size);
    return 0;
}

void vs_trailer_pack(uint8_t out[VS_TRAILER_SIZE], uint64_t index_offset, uint64_t file_size)
{
    memset(out, 0, VS_TRAILER_SIZE);
    memcpy(out, trailer_magic, 8);
    vs_put64(out + 8, index_offset);
    vs_put64(out + 16, file_size);
    seal(out);
}

int vs_trailer_parse(const uint8_t in[VS_TRAILER_SIZE], uint64_t file_size, uint64_t *index_offset)
{
    if (memcmp(in, trailer_magic, 8) != 0 || !sealed(in) || vs_get64(in + 16) != file_size ||
        !zero(in + 24, 4))
        return -VSE_FORMAT;
    *index_offset = vs_get64(in + 8);
    return 0;
}

const char *vs_chunk_name(unsigned type)
{
    static const char *const names[VS_CHUNK_TYPE_END] = {"?", "meta", "static", "events", "index"};

    return type < VS_CHUNK_TYPE_END ? names[type] : "?";
}
