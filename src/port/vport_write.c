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
    uint64_t appended; /* bytes of the stream */
    uint32_t blocks;
    size_t used; /* of `block`, which is written when it is full and more comes */
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
    struct vs_vport_header h = {.features = about->timed ? VS_VPORT_TIMED : 0,
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
    if ((err = vs_vport_about_pack(&packed, about, diag)) == 0 &&
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

static int put_block(struct vs_vport_writer *w, uint32_t bits, struct vs_diag *diag)
{
    struct vs_vport_block b = {w->blocks, bits, vs_crc32c(0, w->block, w->used)};
    uint8_t header[VS_VPORT_BLOCK_HEADER];
    int err;

    vs_vport_block_pack(header, &b);
    if ((err = put(w, header, sizeof(header), diag)) < 0 ||
        (err = put(w, w->block, w->used, diag)) < 0)
        return err;
    w->blocks++;
    w->used = 0;
    return 0;
}

const struct vs_diag *vs_vport_writer_diag(const struct vs_vport_writer *w)
{
    return &w->diag;
}

int vs_vport_append(void *writer, const uint8_t *bytes, size_t size)
{
    struct vs_vport_writer *w = writer;

    while (size) {
        size_t n = VS_VPORT_BLOCK - w->used;
        int err;

        if (!n) {
            if ((err = put_block(w, 8 * VS_VPORT_BLOCK, &w->diag)) < 0)
                return err;
            continue;
        }
        n = n < size ? n : size;
        memcpy(w->block + w->used, bytes, n);
        w->used += n;
        w->appended += n;
        bytes += n;
        size -= n;
    }
    return 0;
}

static int put_end(struct vs_vport_writer *w, uint64_t nbits, struct vs_diag *diag)
{
    uint8_t end[VS_VPORT_END];
    uint64_t before = w->appended - w->used;
    int err;

    if (nbits / 8 + (nbits % 8 != 0) != w->appended ||
        (nbits % 8 && w->block[w->used - 1] >> nbits % 8))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "%llu bits are not what was appended, %llu bytes",
                           (unsigned long long)nbits, (unsigned long long)w->appended);
    if (w->used && (err = put_block(w, (uint32_t)(nbits - 8 * before), diag)) < 0)
        return err;
    vs_vport_end_pack(end, &(struct vs_vport_end){nbits, w->size + sizeof(end), w->blocks});
    return put(w, end, sizeof(end), diag);
}

int vs_vport_seal(struct vs_vport_writer *w, uint64_t nbits, struct vs_diag *diag)
{
    int err = w->diag.error;

    if (err && diag) /* an append failed: its reason is the one to tell */
        *diag = w->diag;
    if (!err)
        err = put_end(w, nbits, diag);
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
    free(w);
}
