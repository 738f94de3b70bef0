/* SPDX-License-Identifier: MIT */
#include "port/perf_data.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/diag.h"

/* The kernel's records, and perf's own from 64 on. */
enum {
    RECORD_MMAP = 1,
    RECORD_COMM = 3,
    RECORD_MMAP2 = 10,
    RECORD_AUX = 11,
    RECORD_ITRACE_START = 12,
    RECORD_TRACING_DATA = 66,
    RECORD_AUXTRACE_INFO = 70,
    RECORD_AUXTRACE = 71,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
};

enum {
    HEADER = 104,     /* bytes of the file's header */
    PIPE_HEADER = 16, /* of one that was written to a pipe */
    RECORD = 8,       /* of a record's */
    MISC_MODE = 7,    /* who did it: */
    MODE_USER = 2,
    MISC_DATA = 1 << 13,
    PROT_EXECUTE = 4,
    AUX_TRUNCATED = 1,
    AUXTRACE_PT = 1,
    AUX_ALIGNED = 8, /* bytes: what is behind a record is filled up with zeros */
    DATA_AT = 40,    /* where the header has the data's section */
    PSB_SIZE = 16,   /* bytes of a packet of PT, from which a decoder can read */
};

/* A record; `body` is behind its header. */
struct perf_record {
    uint32_t type;
    uint16_t misc;
    const uint8_t *body;
    size_t size;     /* of the body */
    uint64_t offset; /* in the file */
};

struct perf_parser {
    struct vs_perf_data *to;
    struct vs_diag *diag;
    bool has_pt;
    /* where the buffer was full: the AUX area's offsets behind what came before, ascending */
    uint64_t *full;
    size_t full_count, full_capacity;
    bool looking; /* for these, before anything else */
};

static int bad(struct perf_parser *p, int err, uint64_t offset, const char *why)
{
    return vs_diag_set(p->diag, err, (int64_t)offset, -1, "%s", why);
}

static int short_record(struct perf_parser *p, const struct perf_record *r)
{
    return bad(p, -VSE_CORRUPT, r->offset, "a record is shorter than its kind");
}

void vs_perf_data_fini(struct vs_perf_data *p)
{
    for (size_t i = 0; i < p->stream_count; i++)
        free(p->streams[i].bytes);
    for (size_t i = 0; i < p->map_count; i++)
        free(p->maps[i].path);
    free(p->streams);
    free(p->maps);
    *p = (struct vs_perf_data){0};
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns whether the bytes from `at` on have a zero in them. */
static bool has_text(const struct perf_record *r, size_t at)
{
    return r->size > at && memchr(r->body + at, 0, r->size - at);
}

/* Modules of the kernel have paths, too. */
static bool is_users(const struct perf_record *r)
{
    return (r->misc & MISC_MODE) == 0 || (r->misc & MISC_MODE) == MODE_USER;
}

static int add_map(struct perf_parser *p, const struct perf_record *r, size_t name)
{
    struct vs_perf_data *d = p->to;
    const char *path = (const char *)r->body + name;
    struct vs_perf_map m = {.address = vs_get64(r->body + 8),
                            .size = vs_get64(r->body + 16),
                            .offset = vs_get64(r->body + 24)};
    if (!has_text(r, name))
        return short_record(p, r);
    if (path[0] != '/' || path[1] == '/') /* [vdso], //anon and the like */
        return 0;
    if (!m.size || m.size > UINT64_MAX - m.address || m.size > UINT64_MAX - m.offset)
        return bad(p, -VSE_CORRUPT, r->offset, "a mapping that cannot be");
    for (size_t i = 0; i < d->map_count; i++)
        if (d->maps[i].address == m.address && d->maps[i].size == m.size &&
            d->maps[i].offset == m.offset && !strcmp(d->maps[i].path, path))
            return 0;
    if (d->map_count == VS_PERF_MAPS_MAX)
        return bad(p, -VSE_LIMIT, r->offset, "more mappings than there can be");
    void *maps = d->maps;
    int err = vs_array_room(&maps, &d->map_capacity, d->map_count, 1, sizeof(*d->maps));
    d->maps = maps;
    if (!err && !(m.path = strdup(path)))
        err = -VSE_NOMEM;
    if (!err)
        d->maps[d->map_count++] = m;
    return err;
}

static int take_mmap(struct perf_parser *p, const struct perf_record *r)
{
    if (r->misc & MISC_DATA || !is_users(r))
        return 0;
    return r->size < 33 ? short_record(p, r) : add_map(p, r, 32);
}

static int take_mmap2(struct perf_parser *p, const struct perf_record *r)
{
    if (r->size < 65)
        return short_record(p, r);
    return vs_get32(r->body + 56) & PROT_EXECUTE && is_users(r) ? add_map(p, r, 64) : 0;
}

static int take_comm(struct perf_parser *p, const struct perf_record *r)
{
    if (!has_text(r, 8))
        return short_record(p, r);
    strncpy(p->to->command, (const char *)r->body + 8, sizeof(p->to->command) - 1);
    return 0;
}

static int take_start(struct perf_parser *p, const struct perf_record *r)
{
    if (r->size < 8)
        return short_record(p, r);
    uint32_t tid = vs_get32(r->body + 4);
    p->to->several |= p->to->tid && p->to->tid != tid;
    p->to->tid = tid;
    return 0;
}

static int take_aux(struct perf_parser *p, const struct perf_record *r)
{
    if (r->size < 24)
        return short_record(p, r);
    if (!p->looking || !(vs_get64(r->body + 16) & AUX_TRUNCATED))
        return 0;
    void *full = p->full;
    int err = vs_array_room(&full, &p->full_capacity, p->full_count, 1, sizeof(*p->full));
    p->full = full;
    if (!err)
        p->full[p->full_count++] = vs_get64(r->body) + vs_get64(r->body + 8);
    p->to->truncated = true;
    return err;
}

static int take_info(struct perf_parser *p, const struct perf_record *r)
{
    if (r->size < 8)
        return short_record(p, r);
    p->has_pt = vs_get32(r->body) == AUXTRACE_PT;
    return p->has_pt ? 0
                     : bad(p, -VSE_FEATURE, r->offset,
                           "its trace is none of Intel PT; record with -e intel_pt//u");
}

/* ---- streams --------------------------------------------------------------------------------- */

static struct vs_perf_stream *stream_of(struct vs_perf_data *d, uint32_t index, int *err)
{
    for (size_t i = 0; i < d->stream_count; i++)
        if (d->streams[i].index == index)
            return &d->streams[i];
    void *streams = d->streams;
    *err =
        d->stream_count < VS_PERF_STREAMS_MAX
            ? vs_array_room(&streams, &d->stream_capacity, d->stream_count, 1, sizeof(*d->streams))
            : -VSE_LIMIT;
    d->streams = streams;
    if (*err)
        return NULL;
    d->streams[d->stream_count] = (struct vs_perf_stream){.index = index};
    return &d->streams[d->stream_count++];
}

/* Whether the stream goes on at this offset of the AUX area. A piece was filled up with zeros to a
 * multiple of 8 bytes, but the next one begins behind what was traced: the zeros are taken away. */
static bool goes_on(struct vs_perf_stream *s, uint64_t offset)
{
    uint64_t filled = s->end - offset;
    if (offset > s->end || filled >= AUX_ALIGNED)
        return false;
    if (s->lacks) /* the zeros were left out with the rest */
        return true;
    if (filled > s->size)
        return false;
    for (uint64_t i = 1; i <= filled; i++)
        if (s->bytes[s->size - i])
            return false;
    s->size -= filled;
    return true;
}

/* Takes zeros away with which the last piece may have been filled up, where it is not known what
 * follows: they could pass for the rest of a packet that was cut. */
static void drop_filling(struct vs_perf_stream *s)
{
    for (unsigned i = 1; i < AUX_ALIGNED && s->size && !s->bytes[s->size - 1]; i++)
        s->size--;
}

static int compare_offsets(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Whether perf's buffer was full before this offset. It does not say of which stream, but that
 * another one has a piece that begins there, and with a PSB, hardly ever happens. */
static bool was_full(const struct perf_parser *p, uint64_t offset)
{
    return p->full_count &&
           bsearch(&offset, p->full, p->full_count, sizeof(*p->full), compare_offsets);
}

static int append(struct vs_perf_stream *s, const uint8_t *bytes, uint64_t size)
{
    void *to = s->bytes;
    int err = vs_array_room(&to, &s->capacity, s->size, size, 1);
    s->bytes = to;
    if (!err && size)
        memcpy(s->bytes + s->size, bytes, size);
    s->size += err ? 0 : size;
    return err;
}

/* Says in the stream that trace is missing: PSB, PSBEND, OVF. The PSB ends a packet that was cut.
 */
static int append_gap(struct vs_perf_stream *s)
{
    static const uint8_t gap[PSB_SIZE + 4] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02,
                                              0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                              0x02, 0x82, 0x02, 0x23, 0x02, 0xf3};
    return append(s, gap, sizeof(gap));
}

/* Returns where a piece has its first PSB; `size` if it has none. */
static uint64_t find_psb(const uint8_t *piece, uint64_t size)
{
    static const uint8_t psb[PSB_SIZE] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
                                          0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82};
    const uint8_t *found = memmem(piece, size, psb, sizeof(psb));
    return found ? (uint64_t)(found - piece) : size;
}

/* Adds a piece of the AUX area, which lies behind its record. */
static int take_auxtrace(struct perf_parser *p, const struct perf_record *r, const uint8_t *piece,
                         uint64_t size)
{
    int err = 0;
    struct vs_perf_stream *s = stream_of(p->to, vs_get32(r->body + 24), &err);
    if (!s)
        return err == -VSE_LIMIT ? bad(p, err, r->offset, "more streams than there can be") : err;
    uint64_t offset = vs_get64(r->body + 8);
    s->tid = vs_get32(r->body + 28);
    s->cpu = vs_get32(r->body + 32);
    bool missing = s->size && !goes_on(s, offset), full = was_full(p, offset);
    s->lost |= missing;
    s->end = offset + size;
    if (s->size && !s->lacks && (missing || (full && !find_psb(piece, size)))) {
        s->lacks = true;
        if (missing)
            drop_filling(s);
        err = append_gap(s);
    }
    uint64_t from = s->lacks ? find_psb(piece, size) : 0;
    s->lacks = s->lacks && from == size;
    return err ? err : append(s, piece + from, size - from);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int take_record(struct perf_parser *p, const struct perf_record *r)
{
    if (p->looking && r->type != RECORD_AUX)
        return 0;
    switch (r->type) {
    case RECORD_MMAP:
        return take_mmap(p, r);
    case RECORD_MMAP2:
        return take_mmap2(p, r);
    case RECORD_COMM:
        return take_comm(p, r);
    case RECORD_AUX:
        return take_aux(p, r);
    case RECORD_ITRACE_START:
        return take_start(p, r);
    case RECORD_AUXTRACE_INFO:
        return take_info(p, r);
    case RECORD_COMPRESSED:
    case RECORD_COMPRESSED2:
        return bad(p, -VSE_FEATURE, r->offset, "it is compressed; record without -z");
    default:
        return 0;
    }
}

static int take_records(struct perf_parser *p, const uint8_t *bytes, uint64_t at, uint64_t end)
{
    int err = 0;
    while (at < end && !err) {
        if (end - at < RECORD)
            return bad(p, -VSE_TRUNCATED, at, "it ends within a record");
        struct perf_record r = {.type = vs_get32(bytes + at),
                                .misc = vs_get16(bytes + at + 4),
                                .body = bytes + at + RECORD,
                                .offset = at};
        uint64_t size = vs_get16(bytes + at + 6), behind = 0;
        if (size < RECORD)
            return bad(p, -VSE_CORRUPT, at, "a record has no length");
        if (size > end - at)
            return bad(p, -VSE_TRUNCATED, at, "it ends within a record");
        r.size = size - RECORD;
        bool piece = r.type == RECORD_AUXTRACE;
        if (r.size < (piece ? 40 : r.type == RECORD_TRACING_DATA ? 4 : 0))
            return short_record(p, &r);
        if (piece)
            behind = vs_get64(r.body);
        else if (r.type == RECORD_TRACING_DATA)
            behind = vs_get32(r.body);
        if (behind > end - at - size)
            return bad(p, -VSE_TRUNCATED, at, "it ends within what is behind a record");
        if (!piece)
            err = take_record(p, &r);
        else if (!p->looking)
            err = take_auxtrace(p, &r, bytes + at + size, behind);
        at += size + behind;
    }
    return err;
}

/* Finds the records. What was written to a pipe has nothing else behind its short header. */
static int take_header(struct perf_parser *p, const uint8_t *bytes, size_t size, uint64_t *at,
                       uint64_t *end)
{
    if (size >= 8 && !memcmp(bytes, "2ELIFREP", 8))
        return bad(p, -VSE_FEATURE, 0, "it is of a machine of another byte order");
    if (size < PIPE_HEADER || memcmp(bytes, "PERFILE2", 8) != 0)
        return bad(p, -VSE_FORMAT, 0, "is no file of perf");
    *at = PIPE_HEADER;
    *end = size;
    if (vs_get64(bytes + 8) == PIPE_HEADER)
        return 0;
    if (size < HEADER || vs_get64(bytes + 8) < HEADER)
        return bad(p, -VSE_TRUNCATED, 0, "its header is cut");
    *at = vs_get64(bytes + DATA_AT);
    uint64_t length = vs_get64(bytes + DATA_AT + 8);
    if (*at > size || length > size - *at)
        return bad(p, -VSE_TRUNCATED, DATA_AT, "is shorter than its header says");
    if (!length && size > *at)
        return bad(p, -VSE_TRUNCATED, DATA_AT, "perf did not end it");
    *end = *at + length;
    return 0;
}

int vs_perf_data_parse(struct vs_perf_data *to, const uint8_t *bytes, size_t size,
                       struct vs_diag *diag)
{
    struct perf_parser p = {.to = to, .diag = diag, .looking = true};
    *to = (struct vs_perf_data){0};
    uint64_t at = 0, end = 0;
    int err = take_header(&p, bytes, size, &at, &end);
    if (!err)
        err = take_records(&p, bytes, at, end);
    if (p.full_count)
        qsort(p.full, p.full_count, sizeof(*p.full), compare_offsets);
    p.looking = false;
    if (!err)
        err = take_records(&p, bytes, at, end);
    free(p.full);
    if (err == -VSE_NOMEM)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    if (!err && (!p.has_pt || !to->stream_count))
        err = bad(&p, -VSE_FEATURE, at, "it has no trace of Intel PT; record with -e intel_pt//u");
    if (to->several)
        to->tid = 0;
    return err;
}
