/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/commands.h"
#include "front/report.h"
#include "cli/specs.h"
#include "cli/vport_open.h"
#include "study/bandwidth.h"

struct encode_options {
    struct option_list techniques;
    const char *output;
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
    const struct written w = {o->output, row->spec.technique->name, row->bits,
                              row->counts.messages};
    if (o->json)
        report_json_line(out, columns, &w);
    else
        report_say(out, columns, &w, "{file}: {technique}: {bits} bits in {messages} messages\n");
}

static int encode(struct cli *cli, const struct encode_options *o, const char *path,
                  struct vs_reader *reader, struct vs_bandwidth *b, const struct vs_vport_writer *w)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "encoding", vs_bandwidth_work(b, reader), "events");
    int e = vs_bandwidth_run(b, reader, &progress, &diag);
    vs_progress_finish(&progress);
    if (e && vs_vport_writer_diag(w)->error)
        return cli_report(cli, o->output, e, vs_vport_writer_diag(w));
    return e ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

/* Ends the file, which gets its name only if all went well. */
static int finish(struct cli *cli, const struct encode_options *o, struct vs_vport_writer *w,
                  const struct vs_bandwidth_row *row, int status)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    if (status != CLI_DONE) {
        vs_vport_abort(w);
        return status;
    }
    int e = vs_vport_seal(w, &diag);
    if (e)
        return cli_report(cli, o->output, e, &diag);
    print(&cli->out, o, row);
    return CLI_DONE;
}

static int encode_run(struct cli *cli, const struct encode_options *o, const char *path,
                      const struct vs_technique_spec *given)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_technique_spec spec = *given;
    struct vs_vport_writer *w;
    struct vs_reader *reader;
    struct vs_bandwidth b;
    bool lacks;
    int status = cli_open(cli, &reader, path, false);
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
        status = vport_create(cli, &w, o->output, o->overwrite, reader, &spec, &b.setup);
    if (status == CLI_DONE) {
        row = vs_bandwidth_add(&b, &spec, vs_vport_append, w, &diag);
        status =
            row < 0 ? cli_report(cli, path, (int)row, &diag) : encode(cli, o, path, reader, &b, w);
        status = finish(cli, o, w, row < 0 ? NULL : &b.rows[row], status);
        if (status == CLI_DONE)
            status = cli_missing(cli, path, vs_reader_info(reader));
    }
    vs_bandwidth_fini(&b);
    vs_reader_close(reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct encode_options o = {0};
    struct vs_technique_spec spec;
    int status;
    if (!options_parse(cli, &command_encode, &o, &argc, argv, &status))
        return status;
    if (o.techniques.count != 1 || !o.output) {
        cli_error(cli, o.output ? "one -t says what encodes it; see 'vestige encode --help'"
                                : "-o says where the stream goes; see 'vestige encode --help'");
        return CLI_USAGE;
    }
    status = specs_parse_one(cli, &spec, o.techniques.items[0]);
    if (status != CLI_DONE || !cli_may_write(cli, o.output, argv[0]))
        return CLI_USAGE;
    return encode_run(cli, &o, argv[0], &spec);
}

#define FIELD(member) offsetof(struct encode_options, member)

static const struct cli_option options[] = {
    SPECS_OPTION_ONE(FIELD(techniques)),
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the stream to FILE",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
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
                   "" SPECS_HELP_ONE,
    .example = "vestige encode run.vest -t mcfTR_e:small -o run.vport",
    .exits = COMMAND_EXITS,
};
