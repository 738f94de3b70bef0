/* SPDX-License-Identifier: MIT */
/* A profile for pprof: its profile.proto, compressed by gzip. Each routine is a function and a
 * location, each image a mapping, each path of calls a sample. Numbers are from 1 up, in the order
 * of the routines; the string of number 0 is empty. */
#include <stdlib.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/pack.h"
#include "export/paths.h"

enum { VARINT = 0, BYTES = 2, LEVEL = 6 };

/* Fields of the messages. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRINGS = 6,
    PROFILE_COMMENT = 13,
    TYPE_TYPE = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_FILE = 4,
};

/* Strings that are there before those of images and routines. */
enum { STRING_EMPTY, STRING_INSTRUCTIONS, STRING_COUNT, STRING_COMMAND, STRINGS };

struct pprof {
    struct vs_paths paths; /* first: it is vs_paths_begin's */
    struct vs_pack *pack;
    struct vs_buf message, part; /* the message that is being made, and one within it */
    uint32_t images;
    int error; /* the first one */
};

/* ---- messages -------------------------------------------------------------------------------- */

static void put_varint(struct pprof *p, struct vs_buf *to, uint64_t v)
{
    uint8_t bytes[10];
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        bytes[n++] = (uint8_t)(v | 0x80);
    bytes[n++] = (uint8_t)v;
    if (vs_buf_put(to, bytes, n) && !p->error)
        p->error = -VSE_NOMEM;
}

static void put_number(struct pprof *p, struct vs_buf *to, unsigned field, uint64_t v)
{
    put_varint(p, to, field << 3 | VARINT);
    put_varint(p, to, v);
}

static void put_bytes(struct pprof *p, struct vs_buf *to, unsigned field, const void *bytes,
                      size_t size)
{
    put_varint(p, to, field << 3 | BYTES);
    put_varint(p, to, size);
    if (vs_buf_put(to, bytes, size) && !p->error)
        p->error = -VSE_NOMEM;
}

/* Puts the part into the message that it belongs to. */
static void put_part(struct pprof *p, unsigned field)
{
    put_bytes(p, &p->message, field, p->part.data, p->part.len);
    p->part.len = 0;
}

/* Writes a field of the profile: a string, or the message that was made. */
static void write_field(struct pprof *p, unsigned field, const void *bytes, size_t size)
{
    p->part.len = 0;
    put_bytes(p, &p->part, field, bytes, size);
    if (!p->error)
        p->error = vs_pack_put(p->pack, p->part.data, p->part.len);
    p->part.len = 0;
}

static void write_message(struct pprof *p, unsigned field)
{
    write_field(p, field, p->message.data, p->message.len);
    p->message.len = 0;
}

/* ---- the profile ----------------------------------------------------------------------------- */

/* The number of the first image with that path, from 1 up; 0 if there is none. */
static uint64_t image_of(const struct pprof *p, const struct vs_reader *r, const char *path)
{
    struct vs_image image;

    for (uint64_t i = 0; path && i < p->images; i++)
        if (vs_reader_image(r, i, &image) == 0 && !strcmp(image.path, path))
            return i + 1;
    return 0;
}

static void write_images(struct pprof *p, const struct vs_reader *r)
{
    char id[2 * 64 + 1];
    struct vs_image image;

    for (uint64_t i = 0; i < p->images && vs_reader_image(r, i, &image) == 0; i++) {
        put_number(p, &p->message, MAPPING_ID, i + 1);
        put_number(p, &p->message, MAPPING_START, image.start);
        put_number(p, &p->message, MAPPING_LIMIT, image.start + image.length);
        put_number(p, &p->message, MAPPING_FILE, STRINGS + 2 * i);
        put_number(p, &p->message, MAPPING_BUILD_ID, STRINGS + 2 * i + 1);
        put_number(p, &p->message, MAPPING_HAS_FUNCTIONS, 1);
        write_message(p, PROFILE_MAPPING);
    }
    for (uint64_t i = 0; i < p->images && vs_reader_image(r, i, &image) == 0; i++) {
        write_field(p, PROFILE_STRINGS, image.path, strlen(image.path));
        for (size_t k = 0; k < image.build_id_size; k++) {
            id[2 * k] = "0123456789abcdef"[image.build_id[k] >> 4];
            id[2 * k + 1] = "0123456789abcdef"[image.build_id[k] & 15];
        }
        write_field(p, PROFILE_STRINGS, id, 2 * image.build_id_size);
    }
}

static void write_routines(struct pprof *p, const struct vs_reader *r)
{
    const struct vs_callers *c = &p->paths.callers;
    char name[VS_PATHS_NAME];

    for (size_t i = 0; i < c->routine_count; i++) {
        uint64_t image = image_of(p, r, c->routines[i].image);

        put_number(p, &p->message, FUNCTION_ID, i + 1);
        put_number(p, &p->message, FUNCTION_NAME, STRINGS + 2 * p->images + i);
        put_number(p, &p->message, FUNCTION_FILE, image ? STRINGS + 2 * (image - 1) : 0);
        write_message(p, PROFILE_FUNCTION);
        put_number(p, &p->part, LINE_FUNCTION, i + 1);
        put_number(p, &p->message, LOCATION_ID, i + 1);
        put_number(p, &p->message, LOCATION_MAPPING, image);
        put_part(p, LOCATION_LINE);
        write_message(p, PROFILE_LOCATION);
    }
    for (size_t i = 0; i < c->routine_count; i++) {
        vs_paths_name(&c->routines[i], name);
        write_field(p, PROFILE_STRINGS, name, strlen(name));
    }
}

/* The innermost routine comes first. */
static int write_paths(struct pprof *p)
{
    const struct vs_callers *c = &p->paths.callers;
    struct vs_caller_run *runs = NULL;
    size_t capacity = 0;
    int64_t n = 0;

    for (size_t i = 0; i < p->paths.count && n >= 0 && !p->error; i++) {
        n = vs_callers_path(c, p->paths.hottest[i], &runs, &capacity);
        for (int64_t k = n; k-- > 0;)
            for (uint64_t t = 0; t < runs[k].times; t++)
                put_varint(p, &p->part, (uint64_t)(runs[k].routine - c->routines) + 1);
        if (!n)
            put_varint(p, &p->part, 1);
        put_part(p, SAMPLE_LOCATIONS);
        put_varint(p, &p->part, c->paths[p->paths.hottest[i]].instructions);
        put_part(p, SAMPLE_VALUES);
        write_message(p, PROFILE_SAMPLE);
    }
    free(runs);
    return n < 0 ? (int)n : p->error;
}

static int to_sink(void *sink, const uint8_t *bytes, size_t size)
{
    return vs_sink_put(sink, bytes, size);
}

static int end(struct vs_exporting *x)
{
    const char *command = vs_reader_meta(x->reader, "command");
    struct pprof *p = x->state;
    int e = vs_paths_end(&p->paths);

    p->images = vs_reader_info(x->reader)->images;
    if (e || (e = vs_pack_open(&p->pack, VS_PACK_GZIP, LEVEL, to_sink, &x->sink)) < 0)
        return e;
    write_field(p, PROFILE_STRINGS, "", 0);
    write_field(p, PROFILE_STRINGS, "instructions", strlen("instructions"));
    write_field(p, PROFILE_STRINGS, "count", strlen("count"));
    write_field(p, PROFILE_STRINGS, command ? command : "", command ? strlen(command) : 0);
    put_number(p, &p->message, TYPE_TYPE, STRING_INSTRUCTIONS);
    put_number(p, &p->message, TYPE_UNIT, STRING_COUNT);
    write_message(p, PROFILE_SAMPLE_TYPE);
    write_images(p, x->reader);
    write_routines(p, x->reader);
    e = write_paths(p);
    if (e)
        return e;
    put_number(p, &p->message, PROFILE_COMMENT, STRING_COMMAND);
    if (!p->error)
        p->error = vs_pack_put(p->pack, p->message.data, p->message.len);
    return p->error ? p->error : vs_pack_finish(p->pack);
}

static void finish(struct vs_exporting *x)
{
    struct pprof *p = x->state;

    vs_pack_close(p->pack);
    vs_buf_fini(&p->message);
    vs_buf_fini(&p->part);
    vs_paths_close(x);
}

const struct vs_export_format vs_to_pprof = {
    .name = "pprof",
    .summary = "a profile by path of calls, for pprof",
    .state = sizeof(struct pprof),
    .begin = vs_paths_begin,
    .take = vs_paths_take,
    .end = end,
    .close = finish,
};
