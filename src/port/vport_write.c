/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/diag.h"
#include "base/outfile.h"
#include "port/vport_layout.h"

struct vs_vport_writer {
    struct vs_outfile file;
    uint64_t size;     /* of the file so far */
    uint64_t appended; /* bits in all streams */
    uint32_t blocks;
    bool per_core;
    unsigned streams;
    bool *ended; /* for each stream: no bit may follow */
    /* If there is one stream, this is the block under way. It is written when it is full and more
     * comes. */
    uint32_t used; /* bits */
    struct vs_diag diag;
    uint8_t block[VS_VPORT_BLOCK];
};

static int put(struct vs_vport_writer *w, const void *data, size_t size, struct vs_diag *diag)
{
    w->size += size;
    return vs_outfile_write(&w->file, data, size, diag);
}

static int put_front(struct vs_vport_writer *w, const struct vs_vport_about *about,
                     const struct vs_buf *packed, struct vs_diag *diag)
{
    struct vs_vport_header h = {.features = (about->timed ? VS_VPORT_TIMED : 0u) |
                                            (about->per_core ? VS_VPORT_PER_CORE : 0u),
                                .about_size = (uint32_t)packed->len,
                                .about_crc = vs_crc32c(0, packed->data, packed->len)};
    uint8_t header[VS_VPORT_HEADER];
    int err;

    vs_vport_header_pack(header, &h);
    err = put(w, header, sizeof(header), diag);
    return err ? err : put(w, packed->data, packed->len, diag);
}

int vs_vport_create(struct vs_vport_writer **out, const char *path,
                    const struct vs_vport_about *about, bool overwrite, struct vs_diag *diag)
{
    struct vs_vport_writer *w = calloc(1, sizeof(*w));
    struct vs_buf packed = {0};
    int err;

    *out = NULL;
    if (!w)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    w->file.fd = -1;
    w->per_core = about->per_core;
    w->streams = about->per_core ? about->cores : 1;
    w->ended = calloc(w->streams ? w->streams : 1, sizeof(*w->ended));
    err = w->ended ? 0 : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (!err && (err = vs_vport_about_pack(&packed, about, diag)) == 0 &&
        (err = vs_outfile_open(&w->file, path, overwrite, diag)) == 0)
        err = put_front(w, about, &packed, diag);
    vs_buf_fini(&packed);
    if (err) {
        vs_vport_abort(w);
        return err;
    }
    *out = w;
    return 0;
}

static int put_block(struct vs_vport_writer *w, unsigned stream, const uint8_t *bytes,
                     uint32_t nbits, struct vs_diag *diag)
{
    size_t size = (nbits + 7) / 8;
    struct vs_vport_block b = {w->blocks, nbits, vs_crc32c(0, bytes, size), stream};
    uint8_t header[VS_VPORT_BLOCK_HEADER_MAX];
    int err;

    vs_vport_block_pack(header, &b, w->per_core);
    if ((err = put(w, header, vs_vport_block_header(w->per_core), diag)) < 0 ||
        (err = put(w, bytes, size, diag)) < 0)
        return err;
    w->blocks++;
    return 0;
}

const struct vs_diag *vs_vport_writer_diag(const struct vs_vport_writer *w)
{
    return &w->diag;
}

static int put_used(struct vs_vport_writer *w, struct vs_diag *diag)
{
    uint32_t used = w->used;

    w->used = 0;
    return used ? put_block(w, 0, w->block, used, diag) : 0;
}

/* If there is one stream, all its blocks but the last are full, so a piece waits for more. If there
 * are several, each piece is a block. Only whole bytes precede a piece. */
static int append_piece(struct vs_vport_writer *w, unsigned stream, const uint8_t *bytes,
                        uint32_t nbits)
{
    if (w->per_core)
        return put_block(w, stream, bytes, nbits, &w->diag);
    memcpy(w->block + w->used / 8, bytes, (nbits + 7) / 8);
    w->used += nbits;
    return 0;
}

int vs_vport_append(void *writer, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    struct vs_vport_writer *w = writer;
    int err = 0;

    if (!nbits)
        return 0;
    if (stream >= w->streams || w->ended[stream] || (nbits % 8 && bytes[nbits / 8] >> nbits % 8))
        return vs_diag_set(&w->diag, -VSE_INVAL, -1, -1,
                           "bits that cannot be appended to stream %u", stream);
    w->ended[stream] = nbits % 8;
    w->appended += nbits;
    while (nbits && !err) {
        uint32_t room = 8 * VS_VPORT_BLOCK - w->used, n = nbits < room ? (uint32_t)nbits : room;

        err = n ? append_piece(w, stream, bytes, n) : put_used(w, &w->diag);
        bytes += n / 8;
        nbits -= n;
    }
    return err;
}

static int put_end(struct vs_vport_writer *w, struct vs_diag *diag)
{
    uint8_t end[VS_VPORT_END];
    int err = put_used(w, diag);

    if (err)
        return err;
    vs_vport_end_pack(end, &(struct vs_vport_end){w->appended, w->size + sizeof(end), w->blocks});
    return put(w, end, sizeof(end), diag);
}

int vs_vport_seal(struct vs_vport_writer *w, struct vs_diag *diag)
{
    int err = w->diag.error;

    if (err && diag) /* an append failed, and its reason is the one to tell */
        *diag = w->diag;
    if (!err)
        err = put_end(w, diag);
    if (!err)
        err = vs_outfile_commit(&w->file, diag);
    vs_vport_abort(w); /* what was committed stays */
    return err;
}

void vs_vport_abort(struct vs_vport_writer *w)
{
    if (!w)
        return;
    vs_outfile_abort(&w->file);
    free(w->ended);
    free(w);
}
