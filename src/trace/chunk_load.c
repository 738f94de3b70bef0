/* SPDX-License-Identifier: MIT */
#include "trace/chunk_load.h"

#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/diag.h"

int vs_loader_init(struct vs_loader *l, const struct vs_byte_source *source)
{
    memset(l, 0, sizeof(*l));
    l->source = *source;
    l->zstd = ZSTD_createDCtx();
    return l->zstd ? 0 : -VSE_NOMEM;
}

void vs_loader_fini(struct vs_loader *l)
{
    vs_byte_source_close(&l->source);
    ZSTD_freeDCtx(l->zstd);
    vs_buf_fini(&l->payload);
    vs_buf_fini(&l->raw);
}

int vs_loader_chunk(struct vs_loader *l, uint64_t offset, uint32_t number, struct vs_diag *diag)
{
    uint8_t header[VS_CHUNK_HEADER];
    uint64_t left = l->source.size > offset ? l->source.size - offset : 0;
    int err;

    if (left < sizeof(header))
        return vs_diag_set(diag, -VSE_TRUNCATED, (int64_t)offset, number,
                           "chunk header is cut off, %llu of %d bytes are there",
                           (unsigned long long)left, VS_CHUNK_HEADER);
    if ((err = vs_byte_source_read(&l->source, offset, header, sizeof(header), diag)) < 0 ||
        (err = vs_chunk_parse(header, &l->chunk, number, offset, diag)) < 0)
        return err;
    if (l->chunk.size > left - sizeof(header))
        return vs_diag_set(
            diag, -VSE_TRUNCATED, (int64_t)offset, number,
            "%s chunk is cut off, %llu of %llu bytes are there", vs_chunk_name(l->chunk.type),
            (unsigned long long)(left - sizeof(header)), (unsigned long long)l->chunk.size);
    l->payload.len = 0;
    if (vs_buf_reserve(&l->payload, l->chunk.size) < 0)
        return vs_diag_set(diag, -VSE_NOMEM, (int64_t)offset, number, "out of memory");
    if ((err = vs_byte_source_read(&l->source, offset + sizeof(header), l->payload.data,
                                   l->chunk.size, diag)) < 0)
        return err;
    l->payload.len = l->chunk.size;
    if (vs_crc32c(0, l->payload.data, l->payload.len) != l->chunk.crc)
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)offset, number,
                           "%s chunk: checksum differs", vs_chunk_name(l->chunk.type));
    return vs_columns_unpack(l->payload.data, l->payload.len, l->chunk.type, l->zstd, &l->raw,
                             l->cols, offset, number, diag);
}

/* Puts the content of the meta or static chunk that is loaded into the tables. */
static int fill_tables(const struct vs_loader *l, struct vs_tables *tables, uint64_t offset,
                       struct vs_diag *diag)
{
    const char *why;
    int err = l->chunk.type == VS_CHUNK_META ? vs_tables_unpack_meta(tables, l->cols, &why)
                                             : vs_tables_unpack_static(tables, l->cols, &why);

    return err < 0 ? vs_diag_set(diag, err, (int64_t)offset, l->chunk.number, "%s", why) : 0;
}

/* ---- sealed files -------------------------------------------------------------------------- */

/* Finds the index chunk, which must be the last before the trailer. */
static int find_index(struct vs_loader *l, uint64_t *offset, struct vs_diag *diag)
{
    uint64_t size = l->source.size;
    uint8_t trailer[VS_TRAILER_SIZE];
    int err;

    if (size < VS_HEADER_SIZE + VS_CHUNK_HEADER + VS_TRAILER_SIZE)
        return -VSE_NOTFOUND;
    if ((err = vs_byte_source_read(&l->source, size - sizeof(trailer), trailer, sizeof(trailer),
                                   diag)) < 0)
        return err;
    if (vs_trailer_parse(trailer, size, offset) < 0)
        return -VSE_NOTFOUND;
    if (*offset < VS_HEADER_SIZE || *offset > size - VS_TRAILER_SIZE - VS_CHUNK_HEADER)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)(size - sizeof(trailer)), -1,
                           "trailer: the index cannot be at offset %llu",
                           (unsigned long long)*offset);
    return 0;
}

static int load_index(struct vs_loader *l, struct vs_index *index, uint64_t offset,
                      struct vs_diag *diag)
{
    uint8_t header[VS_CHUNK_HEADER];
    uint32_t number;
    int err;

    /* the index chunk's number is the count of chunks before it, which only the index tells */
    if ((err = vs_byte_source_read(&l->source, offset, header, sizeof(header), diag)) < 0)
        return err;
    number = vs_get32(header + 8);
    if ((err = vs_loader_chunk(l, offset, number, diag)) < 0)
        return err;
    if (l->chunk.type != VS_CHUNK_INDEX ||
        offset + VS_CHUNK_HEADER + l->chunk.size + VS_TRAILER_SIZE != l->source.size)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, number,
                           "the chunk before the trailer is not the index");
    if ((err = vs_index_unpack(index, l->cols[VS_COL_INDEX], offset)) < 0)
        return vs_diag_set(diag, err, (int64_t)offset, number,
                           "the index is not valid, or not of the chunks before it");
    if (index->entry_count != number)
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, number,
                           "the index does not describe all chunks before it");
    return 0;
}

/* Whether everything that an events chunk refers to came before it. */
static bool tables_suffice(const struct vs_summary *s, const struct vs_tables *t)
{
    return s->sites <= t->sites.count && s->blocks <= t->block_count && s->images <= t->image_count;
}

int vs_load_sealed(struct vs_loader *l, struct vs_index *index, struct vs_tables *tables,
                   struct vs_diag *diag)
{
    uint64_t offset;
    int err;

    if ((err = find_index(l, &offset, diag)) < 0 || (err = load_index(l, index, offset, diag)) < 0)
        return err;
    for (size_t i = 0; i < index->entry_count; i++) {
        const struct vs_index_entry *e = &index->entries[i];

        if (e->type == VS_CHUNK_EVENTS) {
            if (!tables_suffice(&index->summaries[e->summary], tables))
                return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)e->offset, (int64_t)i,
                                   "the chunk needs table entries that come after it");
            continue;
        }
        if ((err = vs_loader_chunk(l, e->offset, (uint32_t)i, diag)) < 0)
            return err;
        if (l->chunk.type != e->type || l->chunk.size != e->size)
            return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)e->offset, (int64_t)i,
                               "not the chunk that the index has here");
        if ((err = fill_tables(l, tables, e->offset, diag)) < 0)
            return err;
    }
    return 0;
}

/* ---- scanning ------------------------------------------------------------------------------ */

static int scan_events(struct vs_loader *l, struct vs_index *index, const struct vs_tables *tables,
                       struct vs_diag *diag)
{
    struct vs_column col = l->cols[VS_COL_SUMMARY];
    struct vs_buf threads = {0};
    struct vs_summary s;
    int err = vs_summary_unpack(&col, &s, &threads);

    if (err == 0 && !tables_suffice(&s, tables))
        err = -VSE_CORRUPT;
    if (err == 0)
        err = vs_index_add(index, VS_CHUNK_EVENTS, l->chunk.size, &s,
                           (const struct vs_chunk_thread *)(void *)threads.data);
    vs_buf_fini(&threads);
    return err < 0 ? vs_diag_set(diag, err, (int64_t)vs_index_end(index), l->chunk.number,
                                 "the chunk's summary is not valid")
                   : 0;
}

/* Checks that the index is the one that results from the chunks. */
static int scan_index(struct vs_loader *l, const struct vs_index *index, uint64_t offset,
                      struct vs_diag *diag)
{
    struct vs_column col = l->cols[VS_COL_INDEX];
    size_t size = (size_t)(col.end - col.p);
    struct vs_buf ours = {0};
    int err = vs_index_pack(index, &ours);

    if (err == 0 && (ours.len != size || (size && memcmp(ours.data, col.p, size) != 0)))
        err = -VSE_CORRUPT;
    vs_buf_fini(&ours);
    return err < 0 ? vs_diag_set(diag, err, (int64_t)offset, l->chunk.number,
                                 "the index does not describe the chunks before it")
                   : 0;
}

/* Checks that the trailer and nothing else follows the index. */
static int scan_end(struct vs_loader *l, uint64_t index_offset, struct vs_diag *diag)
{
    uint64_t after = index_offset + VS_CHUNK_HEADER + l->chunk.size, found;
    uint8_t trailer[VS_TRAILER_SIZE];
    int err;

    if (l->source.size < after + sizeof(trailer))
        return vs_diag_set(diag, -VSE_TRUNCATED, (int64_t)after, -1, "the trailer is cut off");
    if ((err = vs_byte_source_read(&l->source, after, trailer, sizeof(trailer), diag)) < 0)
        return err;
    if (vs_trailer_parse(trailer, after + sizeof(trailer), &found) < 0 || found != index_offset)
        return vs_diag_set(diag, -VSE_CHECKSUM, (int64_t)after, -1, "the trailer is damaged");
    if (l->source.size != after + sizeof(trailer))
        return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)(after + sizeof(trailer)), -1,
                           "%llu bytes follow the end of the run",
                           (unsigned long long)(l->source.size - after - sizeof(trailer)));
    return 0;
}

/* Scans one chunk. Returns 1 to go on; 0 at a proper end; else an error. */
static int scan_one(struct vs_loader *l, struct vs_index *index, struct vs_tables *tables,
                    struct vs_diag *diag)
{
    uint64_t offset = vs_index_end(index);
    uint32_t number = (uint32_t)index->entry_count;
    int err;

    if (offset == l->source.size)
        return vs_diag_set(diag, -VSE_TRUNCATED, (int64_t)offset, number,
                           "no index: the run was not sealed, or its end is cut off");
    if ((err = vs_loader_chunk(l, offset, number, diag)) < 0)
        return err;
    switch (l->chunk.type) {
    case VS_CHUNK_INDEX:
        err = scan_index(l, index, offset, diag);
        return err < 0 ? err : scan_end(l, offset, diag);
    case VS_CHUNK_EVENTS:
        err = scan_events(l, index, tables, diag);
        break;
    default:
        err = fill_tables(l, tables, offset, diag);
        if (err == 0)
            err = vs_index_add(index, l->chunk.type, l->chunk.size, NULL, NULL);
    }
    return err < 0 ? err : 1;
}

int vs_load_scan(struct vs_loader *l, struct vs_index *index, struct vs_tables *tables,
                 struct vs_diag *missing)
{
    int err;

    *missing = (struct vs_diag){.offset = -1, .chunk = -1};
    do
        err = scan_one(l, index, tables, missing);
    while (err > 0);
    return err == -VSE_IO || err == -VSE_NOMEM ? err : 0;
}
