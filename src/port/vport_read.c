/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/byte_source.h"
#include "base/crc32c.h"
#include "base/diag.h"
#include "port/store.h"
#include "port/vport_layout.h"

/* An open file, with the public part first. */
struct opened {
    struct vs_vport v;
    struct vs_byte_source source;
    struct vs_arena arena;
    struct vs_port_store store;
    uint64_t at;     /* how far the file has been read */
    uint32_t blocks; /* so far */
    bool ragged; /* if there is one stream: the last block was not full, and no other may follow */
    uint8_t block[VS_VPORT_BLOCK];
};

static uint64_t left(const struct opened *o)
{
    return o->source.size - o->at;
}

static int read_front(struct opened *o, struct vs_diag *diag)
{
    uint8_t header[VS_VPORT_HEADER], *about;
    struct vs_vport_header h;
    int err;

    if (o->source.size < sizeof(header))
        return vs_diag_set(diag, -VSE_TRUNCATED, 0, -1,
                           "the file header is cut off, %llu of %d bytes are there",
                           (unsigned long long)o->source.size, VS_VPORT_HEADER);
    if ((err = vs_byte_source_read(&o->source, 0, header, sizeof(header), diag)) < 0 ||
        (err = vs_vport_header_parse(header, &h, diag)) < 0)
        return err;
    o->at = sizeof(header);
    if (h.about_size > left(o))
        return vs_diag_set(diag, -VSE_TRUNCATED, (int64_t)o->at, -1,
                           "the description is cut off, %llu of %u bytes are there",
                           (unsigned long long)left(o), (unsigned)h.about_size);
    about = vs_arena_alloc(&o->arena, h.about_size, 1);
    if (!about)
        return vs_diag_set(diag, -VSE_NOMEM, (int64_t)o->at, -1, "out of memory");
    if ((err = vs_byte_source_read(&o->source, o->at, about, h.about_size, diag)) < 0)
        return err;
    if (vs_crc32c(0, about, h.about_size) != h.about_crc)
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)o->at, -1,
                           "the description: checksum differs");
    if ((err = vs_vport_about_unpack(about, h.about_size, o->at, &o->arena, &o->v.about, diag)) < 0)
        return err;
    o->v.about.timed = h.features & VS_VPORT_TIMED;
    o->v.about.per_core = h.features & VS_VPORT_PER_CORE;
    o->at += h.about_size;
    const struct vs_port_shape shape = {
        .cores = o->v.about.cores, .packets = true, .per_core = o->v.about.per_core};
    if (vs_port_store_init(&o->store, &shape) < 0)
        return vs_diag_set(diag, -VSE_NOMEM, (int64_t)o->at, -1, "out of memory");
    return 0;
}

/* The file ends here. Returns 0, since what came before is good. */
static int cut(struct opened *o, const char *what)
{
    o->v.truncated = true;
    vs_diag_set(&o->v.missing, -VSE_TRUNCATED, (int64_t)o->source.size, o->blocks,
                "the file is cut: %s; %llu bits are there", what, (unsigned long long)o->v.nbits);
    return 0;
}

/* Refuses a block for a stream that can have no more. */
static int check_order(const struct opened *o, const struct vs_vport_block *b, uint64_t at,
                       struct vs_diag *diag)
{
    if (o->ragged)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)at, o->blocks,
                           "a block after one that is not full");
    if (o->store.streams[b->stream].nbits % 8)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)at, o->blocks,
                           "a block of stream %u, which has ended", (unsigned)b->stream);
    return 0;
}

/* Takes as many of the block's bytes as are there. */
static int read_payload(struct opened *o, unsigned stream, size_t size, uint64_t nbits,
                        struct vs_diag *diag)
{
    int err = vs_byte_source_read(&o->source, o->at, o->block, size, diag);

    if (!err && vs_port_to_store(&o->store, stream, o->block, nbits) < 0)
        err = vs_diag_set(diag, -VSE_NOMEM, (int64_t)o->at, o->blocks, "out of memory");
    o->at += size;
    o->v.nbits += nbits;
    return err;
}

/* Returns 1 to go on; 0 if the file is cut here; an error. */
static int read_block(struct opened *o, struct vs_diag *diag)
{
    uint8_t header[VS_VPORT_BLOCK_HEADER_MAX];
    size_t header_size = vs_vport_block_header(o->v.about.per_core), size, there;
    uint64_t at = o->at;
    struct vs_vport_block b;
    int err;

    if (left(o) < header_size)
        return cut(o, "a block header is not complete");
    if ((err = vs_byte_source_read(&o->source, at, header, header_size, diag)) < 0 ||
        (err = vs_vport_block_parse(header, o->v.about.per_core, o->store.count, o->blocks, at, &b,
                                    diag)) < 0 ||
        (err = check_order(o, &b, at, diag)) < 0)
        return err;
    o->at += header_size;
    size = (b.bits + 7) / 8;
    there = left(o) < size ? (size_t)left(o) : size;
    if ((err = read_payload(o, b.stream, there, there < size ? 8 * there : b.bits, diag)) < 0)
        return err;
    if (there < size)
        return cut(o, "its last block is not complete");
    if (vs_crc32c(0, o->block, size) != b.crc)
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)at, o->blocks, "block: checksum differs");
    if (b.bits % 8 && o->block[size - 1] >> b.bits % 8)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)o->at - 1, o->blocks,
                           "bits after the last are not zero");
    o->v.verified = o->v.nbits;
    o->ragged = !o->v.about.per_core && b.bits != 8 * VS_VPORT_BLOCK;
    o->blocks++;
    return 1;
}

static int read_end(struct opened *o, struct vs_diag *diag)
{
    uint8_t bytes[VS_VPORT_END];
    struct vs_vport_end e;
    int err;

    if (left(o) < sizeof(bytes))
        return cut(o, "the end record is not complete");
    if ((err = vs_byte_source_read(&o->source, o->at, bytes, sizeof(bytes), diag)) < 0 ||
        (err = vs_vport_end_parse(bytes, o->at, &e, diag)) < 0)
        return err;
    if (e.nbits != o->v.nbits || e.blocks != o->blocks || e.file_size != o->at + sizeof(bytes))
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)o->at, -1,
                           "the end record is not of this file: %llu bits in %u blocks",
                           (unsigned long long)e.nbits, (unsigned)e.blocks);
    o->at += sizeof(bytes);
    if (left(o))
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)o->at, -1,
                           "%llu bytes follow the end of the stream", (unsigned long long)left(o));
    return 0;
}

/* Returns as read_block, and 0 also after the end record. */
static int read_next(struct opened *o, struct vs_diag *diag)
{
    uint8_t magic[4];
    int err;

    if (!left(o))
        return cut(o, "it has no end record");
    if (left(o) < VS_VPORT_BLOCK_HEADER)
        return cut(o, "a block header or the end record is not complete");
    if ((err = vs_byte_source_read(&o->source, o->at, magic, sizeof(magic), diag)) < 0)
        return err;
    if (vs_vport_is_block(magic))
        return read_block(o, diag);
    if (vs_vport_is_end(magic))
        return read_end(o, diag);
    return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)o->at, o->blocks,
                       "neither a block nor the end of the stream");
}

static int read_all(struct opened *o, struct vs_diag *diag)
{
    int err = read_front(o, diag);

    while (err == 0 && (err = read_next(o, diag)) > 0)
        err = 0;
    o->v.streams = o->store.streams;
    return err;
}

static int open_source(struct vs_vport **v, const struct vs_byte_source *source,
                       struct vs_diag *diag)
{
    struct vs_byte_source s = *source;
    struct opened *o = calloc(1, sizeof(*o));
    int err;

    if (!o) {
        vs_byte_source_close(&s);
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    }
    o->source = s;
    o->v.missing = (struct vs_diag){.offset = -1, .chunk = -1};
    err = read_all(o, diag);
    vs_byte_source_close(&o->source);
    if (err)
        vs_vport_close(&o->v);
    else
        *v = &o->v;
    return err;
}

int vs_vport_open(struct vs_vport **v, const char *path, struct vs_diag *diag)
{
    struct vs_byte_source s;
    int err;

    *v = NULL;
    err = vs_byte_source_open(&s, path, diag);
    return err ? err : open_source(v, &s, diag);
}

int vs_vport_open_memory(struct vs_vport **v, const void *data, size_t size, struct vs_diag *diag)
{
    struct vs_byte_source s;

    *v = NULL;
    vs_byte_source_memory(&s, data, size);
    return open_source(v, &s, diag);
}

void vs_vport_close(struct vs_vport *v)
{
    struct opened *o = (struct opened *)(void *)v; /* v is its first member */

    if (!o)
        return;
    vs_arena_fini(&o->arena);
    vs_port_store_fini(&o->store);
    free(o);
}
