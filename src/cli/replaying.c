/* SPDX-License-Identifier: MIT */
#include "cli/replaying.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/specs.h"
#include "isa/cpu_load.h"
#include "isa/noted.h"
#include "target/config.h"
#include "target/linux_abi.h"
#include "trace/run_file.h"

/* ---- a recorded run -------------------------------------------------------------------------- */

/* The technique whose streams order everything that cores do to each other's memory. */
#define TECHNIQUE "mc2RT"

static int check_isa(struct cli *cli, const char *path, const char *isa, const char *noted)
{
    const struct vs_isa *found = vs_isa_find(isa);
    const char *lacks = vs_noted_lacks(isa, noted);
    if (lacks) {
        cli_error(cli,
                  "%s: was recorded by an older vestige, which did not note %s; record it again",
                  path, lacks);
        return CLI_USAGE;
    }
    if (found && (found->cpu || found->cpu_object))
        return CLI_DONE;
    cli_error(cli, "%s: is of %s, which nothing here executes", path, isa ? isa : "?");
    return CLI_USAGE;
}

/* Notes the first image that is a file, if that can be read and is what it was: a debugger must not
 * take its symbols otherwise. Returns as vs_image_code_add. */
static int note_program(char *program, size_t capacity, const struct vs_vport_about *about,
                        const char **path, struct vs_diag *diag)
{
    struct vs_image_code code = {0};
    size_t i = 0;
    while (i < about->image_count && about->images[i].path[0] != '/')
        i++;
    if (i == about->image_count)
        return 0;
    *path = about->images[i].path;
    int e = vs_image_code_add(&code, about, i, diag);
    if (!e)
        snprintf(program, capacity, "%s", *path);
    vs_image_code_fini(&code);
    return e;
}

static int look_at_run(struct cli *cli, const char *path, const struct vs_isa **isa, char *program,
                       size_t capacity)
{
    struct vs_diag diag;
    struct vs_reader *reader;
    struct vs_image image;
    const char *name;
    int status = cli_open(cli, &reader, path, false);
    if (status != CLI_DONE)
        return status;
    status =
        check_isa(cli, path, vs_reader_meta(reader, "isa"), vs_reader_meta(reader, VS_NOTED_FACT));
    *isa = vs_isa_find(vs_reader_meta(reader, "isa"));
    uint32_t i = 0, count = vs_reader_info(reader)->images;
    while (i < count && (vs_reader_image(reader, i, &image) || image.path[0] != '/'))
        i++;
    const struct vs_vport_about about = {.images = &image, .image_count = i < count};
    note_program(program, capacity, &about, &name, &diag); /* if it fails, the run has the code */
    if (status == CLI_DONE && !vs_reader_info(reader)->threads)
        status = cli_missing(cli, path, vs_reader_info(reader));
    vs_reader_close(reader);
    return status;
}

static int parse_technique(struct cli *cli, const struct replaying_options *o,
                           struct vs_technique_spec *spec)
{
    int status = specs_parse_one(cli, spec, o->technique ? o->technique : TECHNIQUE);
    if (status == CLI_DONE && !(spec->technique->serves & VS_TECHNIQUE_DATA)) {
        cli_error(cli, "-t: %s has no load values to replay from", spec->technique->name);
        status = CLI_USAGE;
    }
    return status;
}

static int open_run(struct cli *cli, struct replaying *r, const char *path,
                    const struct replaying_options *o, struct vs_replay_config *config)
{
    struct vs_technique_spec spec;
    int status = parse_technique(cli, o, &spec);
    if (status == CLI_DONE)
        status = encoding_open(cli, &r->encoding, path, &spec,
                               &(struct encoding_options){o->at_once, o->folder});
    if (status != CLI_DONE)
        return status;
    config->spec = r->encoding->spec;
    config->setup = r->encoding->setup;
    config->streams = &r->encoding->bits.stream;
    config->more = &r->encoding->bits.more;
    r->about = &r->encoding->about;
    return CLI_DONE;
}

/* ---- a stream -------------------------------------------------------------------------------- */

static int check_stream(struct cli *cli, const char *path, const struct vs_technique_spec *spec,
                        const struct vs_vport_about *about)
{
    if (spec->technique->serves & VS_TECHNIQUE_DATA)
        return check_isa(cli, path, about->isa, vs_vport_fact(about, VS_NOTED_FACT));
    cli_error(cli, "%s: %s has no load values; 'vestige decode' follows its control flow", path,
              spec->technique->name);
    return CLI_USAGE;
}

static int check_technique(struct cli *cli, const char *path, const struct replaying_options *o)
{
    if (!o->technique)
        return CLI_DONE;
    cli_error(cli, "%s: is encoded already; -t is for recorded runs", path);
    return CLI_USAGE;
}

static int open_stream(struct cli *cli, struct replaying *r, const char *path,
                       const struct replaying_options *o, struct vs_replay_config *config)
{
    int status = check_technique(cli, path, o);
    if (status == CLI_DONE)
        status = vport_open(cli, &r->port, path, &config->spec, &config->setup);
    if (status != CLI_DONE)
        return status;
    config->streams = r->port->streams;
    r->about = &r->port->about;
    return CLI_DONE;
}

int replaying_one_way(struct cli *cli, const char *path, const struct vs_technique *t)
{
    cli_error(cli, "%s: %s cannot be debugged, since its decoder cannot go back; mc2RT can", path,
              t->name);
    return CLI_USAGE;
}

static int load_cpu(struct cli *cli, const char *path, const struct vs_isa *isa,
                    const struct vs_cpu_ops **cpu)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    if (!vs_cpu_load(isa, NULL, cpu, NULL, &diag))
        return CLI_DONE;
    cli_error(cli, "%s: %s", path, diag.text);
    return CLI_USAGE;
}

/* Says what would be said later. */
static int check_debugger(struct cli *cli, const char *path, const struct vs_technique *t,
                          const struct vs_isa *isa)
{
    const struct vs_cpu_ops *cpu;
    return t->data_decoder->clone ? load_cpu(cli, path, isa, &cpu)
                                  : replaying_one_way(cli, path, t);
}

/* A stream's code must come from somewhere. */
static int look_at_program(struct cli *cli, const struct replaying_options *o,
                           const struct vs_vport_about *about, char *program, size_t capacity)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    const char *name = NULL;
    int e = note_program(program, capacity, about, &name, &diag);
    return e && !o->code && !o->images->count ? code_report(cli, name, e, &diag) : CLI_DONE;
}

int replaying_look(struct cli *cli, const char *path, const struct replaying_options *o,
                   const struct vs_isa **isa, char *program, size_t capacity)
{
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_vport *port;
    program[0] = 0;
    bool run = vs_run_file_is(path);
    int status = run ? parse_technique(cli, o, &spec) : check_technique(cli, path, o);
    if (status == CLI_DONE)
        status = run ? look_at_run(cli, path, isa, program, capacity)
                     : vport_open(cli, &port, path, &spec, &setup);
    if (status == CLI_DONE && !run) {
        status = check_stream(cli, path, &spec, &port->about);
        *isa = vs_isa_find(port->about.isa);
        if (status == CLI_DONE)
            status = look_at_program(cli, o, &port->about, program, capacity);
        vs_vport_close(port);
    }
    return status == CLI_DONE ? check_debugger(cli, path, spec.technique, *isa) : status;
}

static void tell_run(struct cli *cli, struct replaying *r, const char *path,
                     const struct replaying_options *o)
{
    if (!o->at_once)
        cli_error(cli,
                  "%s: a recorded run: encoded with %s for this; 'vestige encode' keeps a stream",
                  path, r->about->technique);
    r->incomplete = cli_missing(cli, path, encoding_info(r->encoding)) != CLI_DONE;
}

/* A run has the code that its files do not have. */
static int open_code(struct cli *cli, struct replaying *r, const char *path, bool run,
                     const struct replaying_options *o)
{
    const struct vs_vport_about *about = r->about;
    return o->code ? code_from_run(cli, &r->code, o->code, about->isa)
                   : code_from_images(cli, &r->code, o->images, about,
                                      run && !o->images->count ? path : NULL);
}

static void tell_host(struct cli *cli, const char *path, const struct vs_vport_about *about)
{
    const struct vs_isa *isa = vs_isa_find(about->isa);
    const char *then = vs_vport_fact(about, "processor");
    char now[VS_ISA_HOST_MAX];
    if (!then || !isa->host)
        return;
    isa->host(now);
    if (*now && strcmp(then, now) != 0)
        cli_error(
            cli,
            "%s: was recorded on '%s', and this is '%s': approximations (rsqrt, rcp) and x87's "
            "functions may differ",
            path, then, now);
}

int replaying_open(struct cli *cli, struct replaying *r, const char *path,
                   const struct replaying_options *o)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_replay_config config = {.output = o->output, .context = o->context};
    *r = (struct replaying){0};
    if (o->code && o->images->count) {
        cli_error(cli, "the code comes from --code or from --image, not from both");
        return CLI_USAGE;
    }
    bool run = vs_run_file_is(path);
    int status = run ? open_run(cli, r, path, o, &config) : open_stream(cli, r, path, o, &config);
    if (status != CLI_DONE)
        return status;
    status = check_stream(cli, path, &config.spec, r->about);
    if (status == CLI_DONE)
        tell_host(cli, path, r->about);
    if (status == CLI_DONE && run)
        tell_run(cli, r, path, o);
    if (status == CLI_DONE)
        status = open_code(cli, r, path, run, o);
    if (status != CLI_DONE)
        return status;
    config.isa = vs_isa_find(r->about->isa);
    status = load_cpu(cli, path, config.isa, &config.cpu);
    if (status != CLI_DONE)
        return status;
    if (!strcmp(config.isa->name, VS_TARGET_ISA)) {
        config.stack = VS_LINUX_STACK_TOP - VS_LINUX_STACK_SIZE;
        config.stack_size = VS_LINUX_STACK_SIZE;
    }
    int e = o->pooled ? vs_copy_pool_init(&r->pool, o->folder, &diag) : 0;
    if (e)
        return cli_report(cli, path, e, &diag);
    r->pooled = o->pooled;
    config.pool = o->pooled ? &r->pool : NULL;
    config.code = &r->code.image.text;
    config.loaded = &r->code.image.loaded;
    r->ready = true;
    e = vs_replay_init(&r->replay, &config, &diag);
    return e ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

void replaying_close(struct replaying *r)
{
    if (r->ready)
        vs_replay_fini(&r->replay);
    if (r->pooled)
        vs_copy_pool_fini(&r->pool);
    code_free(&r->code);
    vs_vport_close(r->port);
    encoding_close(r->encoding);
    *r = (struct replaying){0};
}

int replaying_cut(struct cli *cli, const char *path, const struct replaying *r)
{
    const struct vs_port_more *more = r->replay.reader.more;
    struct vs_diag why;
    if (more && more->why(more->context, &why))
        return cli_report_more(cli, path, why.error, &why, "; it was replayed to there");
    cli_error(cli,
              "%s: the stream ends at bit %" PRIu64 ", after message %" PRIu64
              ", and the program goes on: it was replayed to there",
              path, r->replay.reader.bits.pos, r->replay.reader.messages);
    return CLI_BAD_DATA;
}
