/* SPDX-License-Identifier: MIT */
#include "cli/replaying.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd_encode.h"
#include "cli/specs.h"
#include "isa/cpu_load.h"
#include "target/config.h"
#include "target/linux_abi.h"
#include "trace/run_file.h"

/* ---- a recorded run -------------------------------------------------------------------------- */

/* The technique whose streams order everything that cores do to each other's memory. */
#define TECHNIQUE "mc2RT"

static int check_isa(struct cli *cli, const char *path, const char *isa)
{
    const struct vs_isa *found = vs_isa_find(isa);
    if (found && (found->cpu || found->cpu_object))
        return CLI_DONE;
    cli_error(cli, "%s: is of %s, which nothing here executes", path, isa ? isa : "?");
    return CLI_USAGE;
}

/* Notes the first image that is a file. */
static void note_program(char *program, size_t capacity, const struct vs_image *image)
{
    if (!*program && image->path[0] == '/')
        snprintf(program, capacity, "%s", image->path);
}

static int look_at_run(struct cli *cli, const char *path, char *program, size_t capacity)
{
    struct vs_reader *reader;
    struct vs_image image;
    int status = cli_open(cli, &reader, path, false);
    if (status != CLI_DONE)
        return status;
    status = check_isa(cli, path, vs_reader_meta(reader, "isa"));
    for (uint32_t i = 0; i < vs_reader_info(reader)->images; i++)
        if (!vs_reader_image(reader, i, &image))
            note_program(program, capacity, &image);
    vs_reader_close(reader);
    return status;
}

/* Encodes the run to a file in the folder, and opens that. */
static int encode_within(struct cli *cli, struct replaying *r, const char *path, const char *folder,
                         struct vs_replay_config *config)
{
    char output[512];
    const struct encode_options o = {.output = output, .quiet = true};
    struct vs_technique_spec spec;
    snprintf(output, sizeof(output), "%s/stream.vport", folder);
    int status = specs_parse_one(cli, &spec, TECHNIQUE);
    if (status == CLI_DONE)
        status = encode_run(cli, &o, path, &spec);
    if (status == CLI_DONE)
        status = vport_open(cli, &r->port, output, &config->spec, &config->setup);
    unlink(output);
    if (status == CLI_DONE)
        cli_error(cli,
                  "%s: a recorded run: encoded with %s for this, %" PRIu64
                  " bits; 'vestige encode' keeps a stream",
                  path, TECHNIQUE, r->port->nbits);
    return status;
}

static int open_run(struct cli *cli, struct replaying *r, const char *path,
                    struct vs_replay_config *config)
{
    const char *where = getenv("TMPDIR");
    char folder[256];
    int n = snprintf(folder, sizeof(folder), "%s/vestige.XXXXXX", where && *where ? where : "/tmp");
    char program[1] = "";
    int status = look_at_run(cli, path, program, sizeof(program));
    if (status != CLI_DONE)
        return status;
    if ((size_t)n >= sizeof(folder) || !mkdtemp(folder)) {
        cli_error(cli, "%s: no room for a stream: cannot make a folder in TMPDIR or /tmp", path);
        return CLI_USAGE;
    }
    status = encode_within(cli, r, path, folder, config);
    rmdir(folder);
    return status;
}

/* ---- a stream -------------------------------------------------------------------------------- */

static int check_stream(struct cli *cli, const char *path, const struct vs_technique_spec *spec,
                        const char *isa)
{
    if (spec->technique->serves & VS_TECHNIQUE_DATA)
        return check_isa(cli, path, isa);
    cli_error(cli, "%s: %s has no load values; 'vestige decode' follows its control flow", path,
              spec->technique->name);
    return CLI_USAGE;
}

int replaying_look(struct cli *cli, const char *path, char *program, size_t capacity)
{
    struct vs_technique_spec spec;
    struct vs_technique_setup setup;
    struct vs_vport *port;
    program[0] = 0;
    if (vs_run_file_is(path))
        return look_at_run(cli, path, program, capacity);
    int status = vport_open(cli, &port, path, &spec, &setup);
    if (status != CLI_DONE)
        return status;
    status = check_stream(cli, path, &spec, port->about.isa);
    for (size_t i = 0; i < port->about.image_count; i++)
        note_program(program, capacity, &port->about.images[i]);
    vs_vport_close(port);
    return status;
}

/* If the file of a run's program is gone, the code is taken from the run. */
static int open_code(struct cli *cli, struct replaying *r, const char *path, bool run,
                     const struct replaying_options *o)
{
    const struct vs_vport_about *about = &r->port->about;
    const char *code = o->code;
    if (run && !code && !o->images->count && !vs_image_code_there(about))
        code = path;
    return code ? code_from_run(cli, &r->code, code, about->isa)
                : code_from_images(cli, &r->code, o->images, about);
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
    int status = run ? open_run(cli, r, path, &config)
                     : vport_open(cli, &r->port, path, &config.spec, &config.setup);
    if (status != CLI_DONE)
        return status;
    status = check_stream(cli, path, &config.spec, r->port->about.isa);
    if (status == CLI_DONE)
        status = open_code(cli, r, path, run, o);
    if (status != CLI_DONE)
        return status;
    config.isa = vs_isa_find(r->port->about.isa);
    int e = vs_cpu_load(config.isa, NULL, &config.cpu, NULL, &diag);
    if (e) {
        cli_error(cli, "%s: %s", path, diag.text);
        return CLI_USAGE;
    }
    if (!strcmp(config.isa->name, VS_TARGET_ISA)) {
        config.stack = VS_LINUX_STACK_TOP - VS_LINUX_STACK_SIZE;
        config.stack_size = VS_LINUX_STACK_SIZE;
    }
    config.streams = r->port->streams;
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
    code_free(&r->code);
    vs_vport_close(r->port);
    *r = (struct replaying){0};
}

int replaying_cut(struct cli *cli, const char *path, const struct replaying *r)
{
    cli_error(cli,
              "%s: the stream ends at bit %" PRIu64 ", after message %" PRIu64
              ", and the program goes on: it was replayed to there",
              path, r->replay.reader.bits.pos, r->replay.reader.messages);
    return CLI_BAD_DATA;
}
