/* SPDX-License-Identifier: MIT */
#include "trace/columns.h"

#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/diag.h"
#include "base/varint.h"

#define PAD 8
/* Below this, a zstd frame's own header costs more than it saves. */
#define COMPRESS_MIN 32

void vs_columns_clear(struct vs_columns *c)
{
    for (int i = 0; i < VS_COL_END; i++)
        c->col[i].len = 0;
}

void vs_columns_fini(struct vs_columns *c)
{
    for (int i = 0; i < VS_COL_END; i++)
        vs_buf_fini(&c->col[i]);
}

size_t vs_columns_size(const struct vs_columns *c)
{
    size_t sum = 0;

    for (int i = 0; i < VS_COL_END; i++)
        sum += c->col[i].len;
    return sum;
}

/* How the compressor treats a column; 0 leaves a parameter to the level. */
struct effort {
    int level, hash_log, min_match;
};

/* Gaps and the like are numbers that repeat by chance: short matches among them cost more than the
 * entropy coder takes, and long ones come from regular programs and are found with a small table.
 * With the levels given here, "how" bytes come out the same as at level 3, values hardly compress
 * anyway, and addresses and wide values are about 2 % larger. */
static struct effort effort_of(int column, int level)
{
    const struct effort least = {1, 10, 7};

    if (level > VS_LEVEL_DEFAULT)
        return (struct effort){.level = level};
    switch (column) {
    case VS_COL_ORDER:
    case VS_COL_SITE_GAP:
    case VS_COL_OUTCOME_GAP:
    case VS_COL_TARGET_GAP:
    case VS_COL_TARGET_HOW:
    case VS_COL_CYCLE:
        return least;
    case VS_COL_HOW:
    case VS_COL_VALUE:
        return (struct effort){.level = 1};
    case VS_COL_ADDR:
    case VS_COL_WIDE:
        return (struct effort){.level = level < 2 ? level : 2};
    default:
        return (struct effort){.level = level};
    }
}

static int set_effort(ZSTD_CCtx *zstd, struct effort e)
{
    return ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, e.level)) ||
                   ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, e.hash_log)) ||
                   ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, e.min_match))
               ? -VSE_INTERNAL
               : 0;
}

/* Appends a column's stored form to out. Returns the codec used; -VSE_x. */
static int store(const struct vs_buf *col, ZSTD_CCtx *zstd, struct effort effort,
                 struct vs_buf *out)
{
    if (col->len >= COMPRESS_MIN) {
        size_t bound = ZSTD_compressBound(col->len), n;

        if (vs_buf_reserve(out, bound) < 0)
            return -VSE_NOMEM;
        if (set_effort(zstd, effort) < 0)
            return -VSE_INTERNAL;
        n = ZSTD_compress2(zstd, out->data + out->len, bound, col->data, col->len);
        if (ZSTD_isError(n))
            return ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation ? -VSE_NOMEM
                                                                        : -VSE_INTERNAL;
        if (n < col->len) {
            out->len += n;
            return VS_CODEC_ZSTD;
        }
    }
    return vs_buf_put(out, col->data, col->len) < 0 ? -VSE_NOMEM : VS_CODEC_RAW;
}

int vs_columns_pack(const struct vs_columns *c, ZSTD_CCtx *zstd, int level, struct vs_buf *out)
{
    /* The directory precedes the data but is known only after it: leave room, then close the
     * gap. */
    const size_t room = 1 + VS_COL_END * (2 + 2 * VS_VARINT_MAX), start = out->len;
    uint8_t dir[1 + VS_COL_END * (2 + 2 * VS_VARINT_MAX)], *p = dir + 1;
    unsigned count = 0;

    if (vs_buf_reserve(out, room) < 0)
        return -VSE_NOMEM;
    out->len += room;
    for (int id = 0; id < VS_COL_END; id++) {
        size_t before = out->len;
        int codec;

        if (c->col[id].len == 0)
            continue;
        codec = store(&c->col[id], zstd, effort_of(id, level), out);
        if (codec < 0)
            return codec;
        *p++ = (uint8_t)id;
        *p++ = (uint8_t)codec;
        p = vs_varint_put(p, c->col[id].len);
        p = vs_varint_put(p, out->len - before);
        count++;
    }
    dir[0] = (uint8_t)count;
    memcpy(out->data + start, dir, (size_t)(p - dir));
    memmove(out->data + start + (p - dir), out->data + start + room, out->len - start - room);
    out->len -= room - (size_t)(p - dir);
    return 0;
}

struct entry {
    uint8_t id, codec;
    uint64_t raw, stored;
};

/* Which columns a chunk type has. */
static bool belongs(unsigned type, unsigned id)
{
    switch (type) {
    case VS_CHUNK_META:
        return id == VS_COL_META;
    case VS_CHUNK_STATIC:
        return id >= VS_COL_IMAGES && id <= VS_COL_SITES;
    case VS_CHUNK_INDEX:
        return id == VS_COL_INDEX;
    default:
        return id >= VS_COL_SUMMARY && id < VS_COL_END;
    }
}

static int read_entry(const uint8_t **p, const uint8_t *end, struct entry *e)
{
    int err;

    if (end - *p < 2)
        return -VSE_TRUNCATED;
    e->id = *(*p)++;
    e->codec = *(*p)++;
    if ((err = vs_varint_get(p, end, &e->raw)) < 0)
        return err;
    return vs_varint_get(p, end, &e->stored);
}

/* Returns the number of entries and advances *p to the data; -VSE_x with *why. */
static int read_directory(const uint8_t **p, const uint8_t *end, unsigned type,
                          struct entry entries[VS_COL_END], const char **why)
{
    const uint64_t limit = type == VS_CHUNK_INDEX ? VS_MAX_INDEX : VS_MAX_COLUMN;
    uint64_t raw = 0, stored = 0;
    unsigned count = *p < end ? *(*p)++ : 0, last = 0;

    *why = "column directory is not valid";
    if (count >= VS_COL_END)
        return -VSE_CORRUPT;
    for (unsigned i = 0; i < count; i++) {
        struct entry *e = &entries[i];
        int err = read_entry(p, end, e);

        if (err < 0)
            return err;
        if (e->id <= last || !belongs(type, e->id) || e->codec > VS_CODEC_ZSTD || e->raw == 0)
            return -VSE_CORRUPT;
        if (e->codec == VS_CODEC_RAW && e->raw != e->stored)
            return -VSE_CORRUPT;
        last = e->id;
        *why = "columns are larger than the format allows";
        if (e->raw > limit || (raw += e->raw) > (limit > VS_MAX_RAW ? limit : VS_MAX_RAW))
            return -VSE_LIMIT;
        *why = "columns do not fill the chunk";
        if (e->stored > (uint64_t)(end - *p) || (stored += e->stored) > (uint64_t)(end - *p))
            return -VSE_TRUNCATED;
        *why = "column directory is not valid";
    }
    *why = "columns do not fill the chunk";
    return stored == (uint64_t)(end - *p) ? (int)count : -VSE_CORRUPT;
}

static int unpack_one(const struct entry *e, const uint8_t *stored, ZSTD_DCtx *zstd, uint8_t *dst)
{
    size_t n;

    if (e->codec == VS_CODEC_RAW) {
        memcpy(dst, stored, e->raw);
        return 0;
    }
    if (ZSTD_findFrameCompressedSize(stored, e->stored) != e->stored)
        return -VSE_CORRUPT; /* not one frame */
    n = ZSTD_decompressDCtx(zstd, dst, e->raw, stored, e->stored);
    return ZSTD_isError(n) || n != e->raw ? -VSE_CORRUPT : 0;
}

int vs_columns_unpack(const uint8_t *payload, size_t size, unsigned type, ZSTD_DCtx *zstd,
                      struct vs_buf *raw, struct vs_column cols[VS_COL_END], uint64_t offset,
                      int64_t chunk, struct vs_diag *diag)
{
    static const uint8_t nothing[PAD];
    struct entry entries[VS_COL_END];
    const uint8_t *p = payload, *end = payload + size;
    const char *why;
    uint64_t total = PAD;
    int count = read_directory(&p, end, type, entries, &why);

    for (int i = 0; i < VS_COL_END; i++)
        cols[i] = (struct vs_column){nothing, nothing};
    if (count < 0)
        return vs_diag_set(diag, count, (int64_t)offset, chunk, "%s", why);
    for (int i = 0; i < count; i++)
        total += entries[i].raw + PAD;
    raw->len = 0;
    if (vs_buf_reserve(raw, total) < 0)
        return vs_diag_set(diag, -VSE_NOMEM, (int64_t)offset, chunk, "no memory for %llu bytes",
                           (unsigned long long)total);
    for (int i = 0; i < count; i++) {
        uint8_t *dst = raw->data + raw->len;

        if (unpack_one(&entries[i], p, zstd, dst) < 0)
            return vs_diag_set(diag, -VSE_CORRUPT, (int64_t)offset, chunk,
                               "column %u does not decompress", entries[i].id);
        memset(dst + entries[i].raw, 0, PAD);
        cols[entries[i].id] = (struct vs_column){dst, dst + entries[i].raw};
        raw->len += entries[i].raw + PAD;
        p += entries[i].stored;
    }
    return 0;
}
