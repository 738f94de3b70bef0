/* SPDX-License-Identifier: MIT */
#include "cli/raw_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/outfile.h"
#include "front/json.h"

struct raw_stream {
    struct vs_outfile file;
    uint64_t bytes;
};

struct raw_files {
    char *path;
    bool overwrite;
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_diag diag;
    struct vs_outfile code, about;
    struct raw_stream *streams; /* one for each core */
};

/* Code that lies in one piece. */
struct raw_range {
    uint64_t addr, size, offset;
};

struct raw_code {
    struct raw_range *ranges;
    size_t count;
    uint8_t *bytes;
    uint64_t size;
    bool changes; /* some address has had several contents; the first one is here */
};

/* ---- files ----------------------------------------------------------------------------------- */

void raw_abort(struct raw_files *r)
{
    if (!r)
        return;
    for (unsigned i = 0; r->streams && i < r->setup.cores; i++)
        vs_outfile_abort(&r->streams[i].file);
    vs_outfile_abort(&r->code);
    vs_outfile_abort(&r->about);
    free(r->streams);
    free(r->path);
    free(r);
}

/* Returns a new string, or NULL. */
static char *name_of(const struct raw_files *r, const char *end)
{
    size_t size = strlen(r->path) + strlen(end) + 1;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s%s", r->path, end);
    return name;
}

static int open_file(struct cli *cli, const struct raw_files *r, struct vs_outfile *f,
                     const char *end)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    char *name = name_of(r, end);
    int e = name ? vs_outfile_open(f, name, r->overwrite, &diag) : -VSE_NOMEM;
    int status =
        e ? cli_report_output(cli, name ? name : r->path, e, name ? &diag : NULL) : CLI_DONE;
    free(name);
    return status;
}

static void stream_end(const struct raw_files *r, unsigned core, char out[16])
{
    out[0] = 0;
    if (r->setup.cores > 1)
        snprintf(out, 16, ".%u", core);
}

int raw_create(struct cli *cli, struct raw_files **to, const char *path, bool overwrite,
               const struct vs_technique_spec *spec, const struct vs_technique_setup *setup)
{
    struct raw_files *r = *to = calloc(1, sizeof(*r));
    int status = CLI_DONE;
    char end[16];
    if (r) {
        *r = (struct raw_files){.path = strdup(path),
                                .overwrite = overwrite,
                                .spec = *spec,
                                .setup = *setup,
                                .code = {.fd = -1},
                                .about = {.fd = -1},
                                .streams = calloc(setup->cores, sizeof(*r->streams))};
        for (unsigned i = 0; r->streams && i < setup->cores; i++)
            r->streams[i].file.fd = -1;
    }
    if (!r || !r->path || !r->streams)
        status = cli_report(cli, path, -VSE_NOMEM, NULL);
    for (unsigned i = 0; status == CLI_DONE && i < setup->cores; i++) {
        stream_end(r, i, end);
        status = open_file(cli, r, &r->streams[i].file, end);
    }
    if (status == CLI_DONE)
        status = open_file(cli, r, &r->code, ".code");
    if (status == CLI_DONE)
        status = open_file(cli, r, &r->about, ".json");
    if (status != CLI_DONE) {
        raw_abort(r);
        *to = NULL;
    }
    return status;
}

int raw_append(void *files, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    struct raw_files *r = files;
    struct raw_stream *s = &r->streams[stream];
    uint64_t size = (nbits + 7) / 8;
    s->bytes += size;
    return vs_outfile_write(&s->file, bytes, size, &r->diag);
}

const struct vs_diag *raw_diag(const struct raw_files *r)
{
    return &r->diag;
}

/* ---- code ------------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b)
{
    const struct raw_range *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Makes one range of those that touch each other, and gives them places. */
static void join_ranges(struct raw_code *c)
{
    size_t count = 0;
    if (c->count)
        qsort(c->ranges, c->count, sizeof(*c->ranges), by_address);
    for (size_t i = 0; i < c->count; i++) {
        struct raw_range *last = count ? &c->ranges[count - 1] : NULL, *r = &c->ranges[i];
        if (last && r->addr - last->addr <= last->size) {
            uint64_t size = r->addr - last->addr + r->size;
            last->size = size > last->size ? size : last->size;
        } else {
            c->ranges[count++] = *r;
        }
    }
    c->count = count;
    for (size_t i = 0; i < count; c->size += c->ranges[i++].size)
        c->ranges[i].offset = c->size;
}

static uint64_t place_of(const struct raw_code *c, uint64_t addr)
{
    size_t low = 0, high = c->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->ranges[middle].addr <= addr)
            low = middle;
        else
            high = middle;
    }
    return c->ranges[low].offset + (addr - c->ranges[low].addr);
}

/* Where blocks have different bytes, those of the first count, as in isa/text.h. */
static void paint(struct raw_code *c, const struct vs_block *b, uint8_t *painted)
{
    uint64_t at = place_of(c, b->addr);
    for (uint32_t i = 0; i < b->size; i++) {
        if (painted[at + i])
            c->changes |= c->bytes[at + i] != b->bytes[i];
        else
            c->bytes[at + i] = b->bytes[i];
        painted[at + i] = 1;
    }
}

/* Returns 0; -VSE_NOMEM. */
static int code_of_run(struct raw_code *c, const struct vs_reader *run)
{
    uint32_t blocks = vs_reader_info(run)->blocks;
    struct vs_block b;
    *c = (struct raw_code){.ranges = calloc(blocks + 1u, sizeof(*c->ranges))};
    if (!c->ranges)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < blocks; i++)
        if (!vs_reader_block(run, i, &b))
            c->ranges[c->count++] = (struct raw_range){.addr = b.addr, .size = b.size};
    join_ranges(c);
    uint8_t *painted = calloc(c->size + 1, 1);
    c->bytes = malloc(c->size + 1);
    for (uint32_t i = 0; painted && c->bytes && i < blocks; i++)
        if (!vs_reader_block(run, i, &b))
            paint(c, &b, painted);
    int err = painted && c->bytes ? 0 : -VSE_NOMEM;
    free(painted);
    return err;
}

static void code_fini(struct raw_code *c)
{
    free(c->ranges);
    free(c->bytes);
}

/* ---- what a decoder has to know -------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Finds a thread's first instruction. Returns 1; 0 (it has none); as vs_reader_next. */
static int find_start(struct vs_reader *run, unsigned thread, struct vs_event *start)
{
    struct vs_batch batch;
    int n = vs_reader_select(run, -1);
    if (!n)
        n = vs_reader_seek_event(run, 0);
    if (!n)
        n = vs_reader_select(run, (int)thread);
    while (!n && (n = vs_reader_next(run, &batch)) > 0) {
        for (size_t i = 0; i < batch.count; i++)
            if (batch.events[i].kind == VS_THREAD_START || batch.events[i].kind == VS_GAP) {
                *start = batch.events[i];
                return 1;
            }
        n = 0;
    }
    return n == -VSE_END ? 0 : n;
}

/* Returns 0; as vs_reader_next. */
static int put_core(struct json *j, const struct raw_files *r, struct vs_reader *run, unsigned core)
{
    char name[4096], end[16];
    struct vs_event start = {0};
    int n = find_start(run, core, &start);
    if (n < 0)
        return n;
    stream_end(r, core, end);
    snprintf(name, sizeof(name), "%s%s", base_name(r->path), end);
    json_object(j, NULL);
    json_str(j, "file", name);
    json_u64(j, "bytes", r->streams[core].bytes);
    json_u64(j, "thread", core);
    if (n && start.kind == VS_THREAD_START)
        json_u64(j, "tid", start.addr);
    if (n)
        json_hex(j, "first_pc", start.pc);
    json_end(j);
    return 0;
}

static void put_images(struct json *j, const struct vs_reader *run)
{
    struct vs_image image;
    json_array(j, "images");
    for (uint32_t i = 0; i < vs_reader_info(run)->images; i++) {
        vs_reader_image(run, i, &image);
        json_object(j, NULL);
        json_str(j, "path", image.path);
        json_hex(j, "start", image.start);
        json_hex(j, "length", image.length);
        json_hex(j, "base", image.base);
        json_bytes(j, "build_id", image.build_id, image.build_id_size);
        json_end(j);
    }
    json_end(j);
}

static void put_code(struct json *j, const struct raw_files *r, const struct raw_code *c)
{
    char name[4096];
    snprintf(name, sizeof(name), "%s.code", base_name(r->path));
    json_object(j, "code");
    json_str(j, "file", name);
    json_bool(j, "changes", c->changes);
    json_array(j, "ranges");
    for (size_t i = 0; i < c->count; i++) {
        json_object(j, NULL);
        json_hex(j, "address", c->ranges[i].addr);
        json_u64(j, "offset", c->ranges[i].offset);
        json_u64(j, "size", c->ranges[i].size);
        json_end(j);
    }
    json_end(j);
    json_end(j);
}

/* Returns 0; as vs_reader_next. */
static int put_about(struct out *out, const struct raw_files *r, struct vs_reader *run,
                     const struct raw_code *code)
{
    const char *isa = vs_reader_meta(run, "isa");
    char spec[VS_TECHNIQUE_TEXT];
    struct json j;
    int err = 0;
    vs_technique_text(&r->spec, spec, sizeof(spec));
    json_init(&j, out, 2);
    json_object(&j, NULL);
    json_u64(&j, "version", 1);
    json_str(&j, "format", r->spec.technique->raw);
    json_str(&j, "technique", spec);
    json_str(&j, "isa", isa && *isa ? isa : "unknown");
    json_u64(&j, "address_bits", r->setup.address_bits);
    json_bool(&j, "timed", r->setup.timed);
    json_array(&j, "cores");
    for (unsigned i = 0; i < r->setup.cores && !err; i++)
        err = put_core(&j, r, run, i);
    json_end(&j);
    put_images(&j, run);
    put_code(&j, r, code);
    json_end(&j);
    return err;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Gives all files their names, that of the description last; takes them back after an error. */
static int commit(struct raw_files *r, struct vs_diag *diag)
{
    unsigned count = r->setup.cores + 2, done = 0;
    char end[16], *name;
    int err = 0;
    while (done < count && !err) {
        struct vs_outfile *f = done < r->setup.cores    ? &r->streams[done].file
                               : done == r->setup.cores ? &r->code
                                                        : &r->about;
        err = vs_outfile_commit(f, diag);
        done += !err;
    }
    for (unsigned i = 0; err && i < done; i++) {
        stream_end(r, i, end);
        if ((name = name_of(r, i < r->setup.cores ? end : ".code")))
            unlink(name);
        free(name);
    }
    return err;
}

static int write_about(struct raw_files *r, struct vs_reader *run, const struct raw_code *code,
                       struct vs_diag *diag)
{
    struct out out;
    out_init(&out, r->about.fd);
    int err = put_about(&out, r, run, code);
    if (err) {
        *diag = *vs_reader_diag(run);
        return err;
    }
    errno = out_flush(&out);
    return errno ? vs_diag_io(diag, "write", r->path) : 0;
}

int raw_seal(struct cli *cli, struct raw_files *r, struct vs_reader *run)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct raw_code code;
    int e = code_of_run(&code, run);
    if (!e)
        e = vs_outfile_write(&r->code, code.bytes, code.size, &diag);
    if (!e)
        e = write_about(r, run, &code, &diag);
    if (!e)
        e = commit(r, &diag);
    int status = e ? cli_report(cli, r->path, e, diag.error ? &diag : NULL) : CLI_DONE;
    code_fini(&code);
    raw_abort(r);
    return status;
}
