/* SPDX-License-Identifier: MIT */
#include "port/vport_layout.h"

#include <string.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/diag.h"

/* As in .vest files: a high bit, CR LF and ^Z show damage by text-mode transfers. */
static const uint8_t header_magic[8] = {0x89, 'V', 'P', 'R', 'T', '\r', '\n', 0x1a};
static const uint8_t block_magic[4] = {'V', 'P', 'B', 'K'};
static const uint8_t end_magic[8] = {'V', 'P', 'R', 'T', 'E', 'N', 'D', '\n'};

/* Every structure ends with the CRC of the bytes before it. */
static void seal(uint8_t *out, size_t size)
{
    vs_put32(out + size - 4, vs_crc32c(0, out, size - 4));
}

static bool sealed(const uint8_t *in, size_t size)
{
    return vs_get32(in + size - 4) == vs_crc32c(0, in, size - 4);
}

void vs_vport_header_pack(uint8_t out[VS_VPORT_HEADER], const struct vs_vport_header *h)
{
    memset(out, 0, VS_VPORT_HEADER);
    memcpy(out, header_magic, 8);
    vs_put16(out + 8, VS_VPORT_VERSION);
    vs_put16(out + 10, VS_VPORT_VERSION); /* the oldest reader that understands it */
    vs_put32(out + 12, h->features);
    vs_put32(out + 16, h->about_size);
    vs_put32(out + 20, h->about_crc);
    seal(out, VS_VPORT_HEADER);
}

int vs_vport_header_parse(const uint8_t in[VS_VPORT_HEADER], struct vs_vport_header *h,
                          struct vs_diag *diag)
{
    unsigned version, needs;

    if (memcmp(in, header_magic, 8) != 0)
        return vs_diag_set(diag, -VSE_FORMAT, 0, -1, "not a .vport file: wrong magic number");
    if (!sealed(in, VS_VPORT_HEADER))
        return vs_diag_set(diag, -VSE_CHECKSUM, 0, -1, "file header: checksum differs");
    version = vs_get16(in + 8);
    needs = vs_get16(in + 10);
    if (version < VS_VPORT_VERSION_OLDEST || needs > VS_VPORT_VERSION)
        return vs_diag_set(diag, -VSE_VERSION, 8, -1,
                           "format version %u (needs a reader of %u); this build reads %d to %d",
                           version, needs, VS_VPORT_VERSION_OLDEST, VS_VPORT_VERSION);
    *h = (struct vs_vport_header){vs_get32(in + 12), vs_get32(in + 16), vs_get32(in + 20)};
    if (h->features & ~(uint32_t)VS_VPORT_KNOWN)
        return vs_diag_set(diag, -VSE_FEATURE, 12, -1,
                           "needs features 0x%x that this build does not know",
                           (unsigned)(h->features & ~(uint32_t)VS_VPORT_KNOWN));
    if (h->about_size > VS_VPORT_ABOUT_MAX)
        return vs_diag_set(diag, -VSE_LIMIT, 16, -1, "a description of %u bytes, over the limit",
                           (unsigned)h->about_size);
    if (vs_get32(in + 24))
        return vs_diag_set(diag, -VSE_CORRUPT, 24, -1, "file header: reserved bytes are not zero");
    return 0;
}

void vs_vport_block_pack(uint8_t out[VS_VPORT_BLOCK_HEADER_MAX], const struct vs_vport_block *b,
                         bool per_core)
{
    memcpy(out, block_magic, 4);
    vs_put32(out + 4, b->number);
    vs_put32(out + 8, b->bits);
    vs_put32(out + 12, b->crc);
    vs_put32(out + 16, b->stream);
    seal(out, vs_vport_block_header(per_core));
}

bool vs_vport_is_block(const uint8_t *in)
{
    return memcmp(in, block_magic, 4) == 0;
}

bool vs_vport_is_end(const uint8_t *in)
{
    return memcmp(in, end_magic, 4) == 0;
}

int vs_vport_block_parse(const uint8_t *in, bool per_core, unsigned streams, uint32_t number,
                         uint64_t at, struct vs_vport_block *b, struct vs_diag *diag)
{
    if (!sealed(in, vs_vport_block_header(per_core)))
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)at, number,
                           "block header: checksum differs");
    *b = (struct vs_vport_block){vs_get32(in + 4), vs_get32(in + 8), vs_get32(in + 12),
                                 per_core ? vs_get32(in + 16) : 0};
    if (b->stream >= streams)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)at + 16, number,
                           "block of stream %u, and there are %u", (unsigned)b->stream, streams);
    if (b->number != number)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)at + 4, number,
                           "block says it is number %u", (unsigned)b->number);
    if (!b->bits || b->bits > 8 * VS_VPORT_BLOCK)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)at + 8, number,
                           "block of %u bits, not 1 to %d", (unsigned)b->bits, 8 * VS_VPORT_BLOCK);
    return 0;
}

void vs_vport_end_pack(uint8_t out[VS_VPORT_END], const struct vs_vport_end *e)
{
    memcpy(out, end_magic, 8);
    vs_put64(out + 8, e->nbits);
    vs_put64(out + 16, e->file_size);
    vs_put32(out + 24, e->blocks);
    seal(out, VS_VPORT_END);
}

int vs_vport_end_parse(const uint8_t in[VS_VPORT_END], uint64_t at, struct vs_vport_end *e,
                       struct vs_diag *diag)
{
    if (memcmp(in, end_magic, 8) != 0 || !sealed(in, VS_VPORT_END))
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)at, -1,
                           "end of the stream: checksum differs");
    *e = (struct vs_vport_end){vs_get64(in + 8), vs_get64(in + 16), vs_get32(in + 24)};
    return 0;
}
