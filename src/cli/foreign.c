/* SPDX-License-Identifier: MIT */
#include "cli/foreign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/byte_source.h"
#include "front/raw_about.h"
#include "port/perf_data.h"

enum { PIECE = 32768, PAGE = 4096 }; /* bytes of a block of code, and of memory */

void foreign_fini(struct foreign *f)
{
    for (size_t i = 0; i < f->owned_count; i++)
        free(f->owned[i]);
    free(f->owned);
    free(f->names);
    free(f->streams);
    free(f->images);
    vs_image_code_fini(&f->code);
    *f = (struct foreign){0};
}

/* Takes what was allocated, unless it is NULL, which is returned then, and without memory. */
static void *own(struct foreign *f, void *memory)
{
    void *owned = f->owned;
    int e = memory ? vs_array_room(&owned, &f->owned_capacity, f->owned_count, 1, sizeof(*f->owned))
                   : -VSE_NOMEM;
    f->owned = owned;
    if (e) {
        free(memory);
        return NULL;
    }
    return f->owned[f->owned_count++] = memory;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* Reads a whole file, with a zero behind it. Returns CLI_DONE, or the status after a message. */
static int load(struct cli *cli, const char *path, uint8_t **bytes, size_t *size)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_byte_source s;
    *bytes = NULL;
    int e = vs_byte_source_open(&s, path, &diag);
    if (e)
        return cli_report(cli, path, e, &diag);
    *size = s.size;
    if (!(*bytes = malloc(s.size + 1)))
        e = -VSE_NOMEM;
    else
        e = vs_byte_source_read(&s, 0, *bytes, s.size, &diag);
    vs_byte_source_close(&s);
    if (!e) {
        (*bytes)[*size] = 0;
        return CLI_DONE;
    }
    free(*bytes);
    *bytes = NULL;
    return cli_report(cli, path, e, e == -VSE_NOMEM ? NULL : &diag);
}

int foreign_add_stream(struct cli *cli, struct foreign *f, struct foreign_stream name,
                       uint8_t *bytes, size_t size)
{
    void *names = f->names, *streams = f->streams;
    int e = vs_array_room(&names, &f->capacity, f->count, 1, sizeof(*f->names));
    if (!e)
        e = vs_array_room(&streams, &f->stream_capacity, f->count, 1, sizeof(*f->streams));
    f->names = names;
    f->streams = streams;
    if (!own(f, bytes) || !(name.name = own(f, strdup(name.name))))
        e = -VSE_NOMEM;
    if (e)
        return cli_report(cli, "streams", e, NULL);
    f->names[f->count] = name;
    f->streams[f->count++] =
        (struct vs_port_stream){.data = bytes, .size = size, .nbits = 8 * (uint64_t)size};
    return CLI_DONE;
}

int foreign_add_file(struct cli *cli, struct foreign *f, const char *path, uint64_t tid)
{
    uint8_t *bytes;
    size_t size;
    int status = load(cli, path, &bytes, &size);
    if (status != CLI_DONE)
        return status;
    return foreign_add_stream(cli, f, (struct foreign_stream){.name = path, .tid = tid}, bytes,
                              size);
}

/* ---- code ------------------------------------------------------------------------------------ */

static int add_bytes(struct foreign *f, uint8_t *bytes, uint64_t size, uint64_t address)
{
    struct vs_image_code *c = &f->code;
    void *pieces = c->pieces;
    int e = vs_array_room(&pieces, &c->piece_capacity, c->piece_count, 1, sizeof(*c->pieces));
    c->pieces = pieces;
    if (e) {
        free(bytes);
        return e;
    }
    c->pieces[c->piece_count++] = bytes;
    for (uint64_t at = 0; at < size && !e; at += PIECE) {
        uint64_t n = size - at < PIECE ? size - at : PIECE;
        e = vs_text_add(&c->text, &(struct vs_block){.addr = address + at,
                                                     .bytes = bytes + at,
                                                     .size = (uint32_t)n,
                                                     .insns = 1});
    }
    return e;
}

int foreign_add_part(struct cli *cli, struct foreign *f, const char *path, uint64_t offset,
                     uint64_t size, uint64_t address)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_byte_source s;
    uint8_t *bytes = NULL;
    int e = vs_byte_source_open(&s, path, &diag);
    if (e)
        return cli_report(cli, path, e, &diag);
    /* the last page of a mapping goes beyond the file */
    if (offset <= s.size && size > s.size - offset && size - (s.size - offset) < PAGE)
        size = s.size - offset;
    if (offset > s.size || size > s.size - offset) {
        cli_error(cli, "%s: is shorter than what lies at 0x%llx: another file than it was?", path,
                  (unsigned long long)address);
        vs_byte_source_close(&s);
        return CLI_BAD_DATA;
    }
    e = (bytes = malloc(size + 1)) ? vs_byte_source_read(&s, offset, bytes, size, &diag)
                                   : -VSE_NOMEM;
    vs_byte_source_close(&s);
    if (e)
        free(bytes);
    else
        e = add_bytes(f, bytes, size, address);
    return e ? cli_report(cli, path, e, diag.error == e ? &diag : NULL) : CLI_DONE;
}

int foreign_add_image(struct cli *cli, struct foreign *f, const struct vs_image *image)
{
    void *images = f->images;
    struct vs_image copy = *image;
    uint8_t *id = own(f, malloc(image->build_id_size + 1u));
    int e = vs_array_room(&images, &f->image_capacity, f->image_count, 1, sizeof(*f->images));
    f->images = images;
    copy.path = own(f, strdup(image->path));
    copy.symbols = "";
    copy.build_id = id;
    if (e || !copy.path || !id)
        return cli_report(cli, image->path, -VSE_NOMEM, NULL);
    if (image->build_id_size)
        memcpy(id, image->build_id, image->build_id_size);
    f->images[f->image_count++] = copy;
    return CLI_DONE;
}

/* What an image occupies, as its file says. */
static void measure(struct foreign *f, size_t index)
{
    struct vs_image *image = &f->images[index];
    uint64_t start = UINT64_MAX, end = 0;
    for (size_t i = 0; i < f->code.loaded.count; i++) {
        const struct vs_loaded_part *p = &f->code.loaded.parts[i];
        if (p->image != index)
            continue;
        start = p->addr < start ? p->addr : start;
        end = p->addr + p->size > end ? p->addr + p->size : end;
    }
    if (start < end) {
        image->start = start;
        image->length = end - start;
    }
}

int foreign_load_images(struct cli *cli, struct foreign *f, size_t first)
{
    const struct vs_vport_about about = {.images = f->images, .image_count = f->image_count};
    for (size_t i = first; i < f->image_count; i++) {
        struct vs_diag diag = {.offset = -1, .chunk = -1};
        int e = vs_image_code_add(&f->code, &about, i, &diag);
        if (e) {
            int status = cli_report(cli, f->images[i].path, e, diag.text[0] ? &diag : NULL);
            return e == -VSE_NOTFOUND ? CLI_BAD_DATA : status;
        }
        if (!f->images[i].length)
            measure(f, i);
    }
    return CLI_DONE;
}

int foreign_finish(struct cli *cli, struct foreign *f)
{
    f->setup.cores = (unsigned)f->count;
    if (!f->setup.address_bits)
        f->setup.address_bits = f->isa->address_bits;
    f->setup.alignment = f->isa->alignment;
    vs_technique_settle(&f->spec, f->setup.timed);
    if (!f->code.piece_count) {
        cli_error(cli,
                  "--image FILE[@ADDRESS] says where the code is; see 'vestige import --help'");
        return CLI_USAGE;
    }
    int e = vs_image_code_finish(&f->code, f->isa->abi ? f->isa->abi->fixed : NULL);
    return e ? cli_report(cli, "code", e, NULL) : CLI_DONE;
}

/* ---- what the streams are -------------------------------------------------------------------- */

int foreign_find_spec(struct cli *cli, struct foreign *f, const char *from, bool described)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    char text[VS_TECHNIQUE_TEXT];
    size_t name = strcspn(from, ":");
    snprintf(text, sizeof(text), "%.*s:foreign%s%s", (int)(name < 64 ? name : 64), from,
             from[name] ? "," : "", from[name] ? from + name + 1 : "");
    int e = described ? -VSE_NOTFOUND : vs_technique_parse(&f->spec, text, NULL);
    if (e)
        e = vs_technique_parse(&f->spec, from, &diag);
    if (e) {
        cli_error(cli, "%s", diag.text);
        return described ? CLI_BAD_DATA : CLI_USAGE;
    }
    if (!f->spec.technique->raw || !f->spec.technique->flow_decoder) {
        cli_error(cli, "%s has no streams that are written elsewhere", f->spec.technique->name);
        return CLI_USAGE;
    }
    return CLI_DONE;
}

/* Returns the path of a file in the folder of another one; NULL without memory. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0, size = folder + strlen(name) + 1;
    char *out = malloc(size);
    if (out)
        snprintf(out, size, "%.*s%s", (int)folder, path, name);
    return out;
}

static int add_described_streams(struct cli *cli, struct foreign *f, const char *path,
                                 const struct raw_about *a, char *const *given, size_t given_count)
{
    int status = CLI_DONE;
    if (given && given_count != a->core_count) {
        cli_error(cli, "%s: describes %zu streams, and %zu are given", path, a->core_count,
                  given_count);
        return CLI_USAGE;
    }
    for (size_t i = 0; i < a->core_count && status == CLI_DONE; i++) {
        char *name = given ? strdup(given[i]) : beside(path, a->cores[i].file);
        status = name ? foreign_add_file(cli, f, name, a->cores[i].tid)
                      : cli_report(cli, path, -VSE_NOMEM, NULL);
        if (status == CLI_DONE && f->streams[i].size != a->cores[i].bytes) {
            cli_error(cli, "%s: has %zu bytes, and %s says %llu", name, f->streams[i].size, path,
                      (unsigned long long)a->cores[i].bytes);
            status = CLI_BAD_DATA;
        }
        free(name);
    }
    return status;
}

static int add_described_code(struct cli *cli, struct foreign *f, const char *path,
                              const struct raw_about *a)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < a->image_count && status == CLI_DONE; i++) {
        const struct raw_about_image *r = &a->images[i];
        status = foreign_add_image(cli, f,
                                   &(struct vs_image){.path = r->path,
                                                      .build_id = r->build_id,
                                                      .build_id_size = r->build_id_size,
                                                      .base = r->base,
                                                      .start = r->start,
                                                      .length = r->length});
    }
    if (status != CLI_DONE || !a->code)
        return status != CLI_DONE ? status : foreign_load_images(cli, f, 0);
    char *name = beside(path, a->code);
    if (!name)
        return cli_report(cli, path, -VSE_NOMEM, NULL);
    uint8_t *bytes;
    size_t size;
    status = load(cli, name, &bytes, &size);
    for (size_t i = 0; i < a->range_count && status == CLI_DONE; i++) {
        const struct raw_about_range *r = &a->ranges[i];
        uint8_t *part = NULL;
        if (r->offset > size || r->size > size - r->offset) {
            cli_error(cli, "%s: is shorter than %s says", name, path);
            status = CLI_BAD_DATA;
        } else if (!(part = malloc(r->size))) {
            status = cli_report(cli, name, -VSE_NOMEM, NULL);
        } else {
            memcpy(part, bytes + r->offset, r->size);
            int e = add_bytes(f, part, r->size, r->address);
            status = e ? cli_report(cli, name, e, NULL) : CLI_DONE;
        }
    }
    free(bytes);
    free(name);
    return status;
}

static int take_about(struct cli *cli, struct foreign *f, const char *path, const char *from,
                      const struct raw_about *a, char *const *given, size_t given_count)
{
    size_t name = strcspn(a->technique, ":");
    if (from && (strlen(from) != name || strncmp(from, a->technique, name) != 0)) {
        cli_error(cli, "%s: describes streams of %.*s; give '--from %.*s'", path, (int)name,
                  a->technique, (int)name, a->technique);
        return CLI_USAGE;
    }
    int status = foreign_find_spec(cli, f, a->technique, true);
    if (status != CLI_DONE)
        return status;
    if (!(f->isa = vs_isa_find(a->isa))) {
        cli_error(cli, "%s: no instruction set '%s' is known", path, a->isa);
        return CLI_BAD_DATA;
    }
    f->setup.address_bits = (unsigned)a->address_bits;
    f->setup.timed = a->timed;
    status = add_described_streams(cli, f, path, a, given, given_count);
    return status == CLI_DONE ? add_described_code(cli, f, path, a) : status;
}

int foreign_from_about(struct cli *cli, struct foreign *f, const char *path, const char *from,
                       char *const *given, size_t given_count)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct raw_about a;
    uint8_t *bytes;
    size_t size;
    int status = load(cli, path, &bytes, &size);
    if (status != CLI_DONE)
        return status;
    int e = raw_about_parse(&a, (const char *)bytes, size, &diag);
    status = e ? cli_report(cli, path, e, &diag)
               : take_about(cli, f, path, from, &a, given, given_count);
    raw_about_fini(&a);
    free(bytes);
    return status;
}

/* ---- perf ------------------------------------------------------------------------------------ */

static int add_perf_streams(struct cli *cli, struct foreign *f, const char *path,
                            struct vs_perf_data *p)
{
    int status = CLI_DONE;
    if (p->truncated)
        cli_error(cli,
                  "%s: trace is missing where perf's buffer was full, and the run has gaps there; "
                  "record with a larger -m ,PAGES",
                  path);
    for (size_t i = 0; i < p->stream_count && status == CLI_DONE; i++) {
        struct vs_perf_stream *s = &p->streams[i];
        bool thread = s->tid != UINT32_MAX;
        size_t size = strlen(path) + 64;
        char *name = malloc(size);
        if (!name)
            return cli_report(cli, path, -VSE_NOMEM, NULL);
        snprintf(name, size, "%s, AUX area of %s %u", path, thread ? "thread" : "processor",
                 thread ? s->tid : s->cpu);
        if (s->lost)
            cli_error(cli,
                      "%s: a part of it is missing, and the run has a gap there; record with a "
                      "larger -m ,PAGES",
                      name);
        status = foreign_add_stream(
            cli, f, (struct foreign_stream){.name = name, .tid = thread ? s->tid : p->tid},
            s->bytes, s->size);
        s->bytes = NULL;
        free(name);
    }
    return status;
}

/* What is missing matters only if it was executed. */
static int add_perf_maps(struct cli *cli, struct foreign *f, const struct vs_perf_data *p)
{
    for (size_t i = 0; i < p->map_count; i++) {
        const struct vs_perf_map *m = &p->maps[i];
        int status = foreign_add_image(cli, f,
                                       &(struct vs_image){.path = m->path,
                                                          .base = m->address - m->offset,
                                                          .start = m->address,
                                                          .length = m->size});
        if (status != CLI_DONE)
            return status;
        foreign_add_part(cli, f, m->path, m->offset, m->size, m->address);
    }
    return CLI_DONE;
}

int foreign_from_perf(struct cli *cli, struct foreign *f, const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_perf_data p;
    uint8_t *bytes;
    size_t size;
    int status = load(cli, path, &bytes, &size);
    if (status != CLI_DONE)
        return status;
    int e = vs_perf_data_parse(&p, bytes, size, &diag);
    free(bytes);
    status = e ? cli_report(cli, path, e, &diag) : foreign_find_spec(cli, f, "pt", false);
    f->isa = vs_isa_find(FOREIGN_ISA);
    if (status == CLI_DONE)
        status = add_perf_streams(cli, f, path, &p);
    if (status == CLI_DONE)
        status = add_perf_maps(cli, f, &p);
    vs_perf_data_fini(&p);
    return status;
}
