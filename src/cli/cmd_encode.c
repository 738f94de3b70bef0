/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/plugin.h"
#include "front/report.h"
#include "cli/raw_files.h"
#include "cli/specs.h"
#include "cli/vport_open.h"
#include "front/region.h"
#include "study/bandwidth.h"

struct encode_options {
    struct option_list plugins;
    struct region_options region;
    struct option_list techniques;
    const char *output, *raw; /* one of them is set */
    bool overwrite, json;
};

/* What was written. */
struct written {
    const char *file, *technique;
    uint64_t bits, messages;
};

static const struct report_column columns[] = {
    REPORT_TEXT(written, file),
    REPORT_WORD(written, technique),
    REPORT_COUNT(written, bits),
    REPORT_COUNT(written, messages),
    {0},
};

static void print(struct out *out, const struct encode_options *o,
                  const struct vs_bandwidth_row *row)
{
    const struct written w = {o->output ? o->output : o->raw, row->spec.technique->name, row->bits,
                              row->counts.messages};
    if (o->json)
        report_json_line(out, columns, &w);
    else
        report_say(out, columns, &w, "{file}: {technique}: {bits} bits in {messages} messages\n");
}

/* The file or files that are written: one of them is set. */
struct target {
    struct vs_vport_writer *port;
    struct raw_files *raw;
};

static int create(struct cli *cli, struct target *to, const struct encode_options *o,
                  const struct vs_reader *reader, const struct vs_technique_spec *spec,
                  const struct vs_technique_setup *setup)
{
    return o->raw ? raw_create(cli, &to->raw, o->raw, o->overwrite, spec, setup)
                  : vport_create(cli, &to->port, o->output, o->overwrite, reader, spec, setup);
}

static int encode(struct cli *cli, const struct encode_options *o, const char *path,
                  struct vs_reader *reader, struct vs_bandwidth *b, const struct target *to)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "encoding", vs_bandwidth_work(b, reader), "events");
    int e = vs_bandwidth_run(b, reader, &progress, &diag);
    vs_progress_finish(&progress);
    const struct vs_diag *wrote = to->raw ? raw_diag(to->raw) : vs_vport_writer_diag(to->port);
    if (e && wrote->error)
        return cli_report(cli, o->raw ? o->raw : o->output, e, wrote);
    return e ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

/* Ends what is written, which gets its name only if all went well. */
static int finish(struct cli *cli, const struct encode_options *o, const struct target *to,
                  struct vs_reader *reader, const struct vs_bandwidth_row *row, int status)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    if (status != CLI_DONE) {
        raw_abort(to->raw);
        vs_vport_abort(to->port);
        return status;
    }
    if (to->raw) {
        status = raw_seal(cli, to->raw, reader);
    } else {
        int e = vs_vport_seal(to->port, &diag);
        status = e ? cli_report(cli, o->output, e, &diag) : CLI_DONE;
    }
    if (status == CLI_DONE)
        print(&cli->out, o, row);
    return status;
}

static int encode_run(struct cli *cli, const struct encode_options *o, struct region *region,
                      const char *path, const struct vs_technique_spec *given)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_technique_spec spec = *given;
    struct target to = {0};
    struct vs_reader *reader;
    struct vs_bandwidth b;
    bool lacks;
    int status = region_open(region, cli, &reader, path);
    if (status != CLI_DONE)
        return status;
    status =
        specs_lack(cli, &(struct vs_spec_item){.spec = spec}, path, vs_reader_info(reader), &lacks);
    if (lacks) {
        vs_reader_close(reader);
        return status;
    }
    int64_t row = vs_bandwidth_init(&b, reader, NULL, &diag);
    vs_technique_settle(&spec, b.setup.timed);
    if (row == -VSE_END && cli_missing(cli, path, vs_reader_info(reader)) != CLI_DONE)
        status = CLI_BAD_DATA; /* what there is of the run has no thread */
    else if (row < 0)
        status = cli_report(cli, path, (int)row, &diag);
    else
        status = create(cli, &to, o, reader, &spec, &b.setup);
    if (status == CLI_DONE) {
        row = to.raw ? vs_bandwidth_add(&b, &spec, raw_append, to.raw, &diag)
                     : vs_bandwidth_add(&b, &spec, vs_vport_append, to.port, &diag);
        status = row < 0 ? cli_report(cli, path, (int)row, &diag)
                         : encode(cli, o, path, reader, &b, &to);
        status = finish(cli, o, &to, reader, row < 0 ? NULL : &b.rows[row], status);
        if (status == CLI_DONE)
            status = cli_missing(cli, path, vs_reader_info(reader));
    }
    vs_bandwidth_fini(&b);
    vs_reader_close(reader);
    return status;
}

/* Whether the options say what is to be written; else a line says what is wrong. */
static bool check_options(struct cli *cli, const struct encode_options *o)
{
    const char *wrong = NULL;
    if (o->techniques.count != 1)
        wrong = "one -t says what encodes it";
    else if (!o->output && !o->raw)
        wrong = "-o says where the stream goes";
    else if (o->output && o->raw)
        wrong = "-o and --raw are two ways to write a stream; give one of them";
    if (wrong)
        cli_error(cli, "%s; see 'vestige encode --help'", wrong);
    return !wrong;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct encode_options o = {0};
    struct vs_technique_spec spec;
    struct region region;
    int status;
    if (!options_parse(cli, &command_encode, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    if (!check_options(cli, &o))
        return CLI_USAGE;
    status = specs_parse_one(cli, &spec, o.techniques.items[0]);
    if (status != CLI_DONE || !cli_may_write(cli, o.raw ? o.raw : o.output, argv[0]))
        return CLI_USAGE;
    if (o.raw && !spec.technique->raw) {
        cli_error(cli, "%s has no streams that other decoders read; -o writes them for 'vestige'",
                  spec.technique->name);
        return CLI_USAGE;
    }
    status = region_init(&region, cli, &o.region);
    if (status == CLI_DONE)
        status = encode_run(cli, &o, &region, argv[0], &spec);
    region_fini(&region);
    return status;
}

#define FIELD(member) offsetof(struct encode_options, member)

static const struct cli_option options[] = {
    SPECS_OPTION_ONE(FIELD(techniques)),
    PLUGIN_OPTION(FIELD(plugins)),
    REGION_OPTIONS(FIELD(region)),
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the stream to FILE",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "raw",
     .argument = "FILE",
     .help = "write each core's bytes to FILE, for other decoders",
     .type = OPTION_STRING,
     .offset = FIELD(raw)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = FIELD(overwrite)},
    {.name = "json", .help = "print what was written as a JSON object", .offset = FIELD(json)},
    {0},
};

const struct command command_encode = {
    .name = "encode",
    .summary = "write the bits that leave the chip",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Writes the exact bits that a trace module puts out and, before them, the\n"
                   "technique, its parameters and the names of the program's images.\n"
                   "\n"
                   "With --raw, the streams are plain files as a trace standard has them: FILE,\n"
                   "or FILE.0, FILE.1 and so on if there are several threads. FILE.json says\n"
                   "what decoders have to know, and FILE.code has the code that ran.\n"
                   "\n"
                   "" SPECS_HELP_ONE,
    .example = "vestige encode run.vest -t mcfTR_e:small -o run.vport",
    .exits = COMMAND_EXITS,
};
