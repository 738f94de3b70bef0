/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/specs.h"
#include "export/export.h"
#include "front/region.h"
#include "front/suggest.h"

enum { NO_THREAD = VS_THREADS_MAX, SPECS_MAX = 8 };

struct export_options {
    struct region_options region;
    const char *to, *output;
    uint64_t thread; /* NO_THREAD: all */
    struct option_list techniques;
    struct vs_technique_spec specs[SPECS_MAX];
    bool overwrite;
};

/* Where the bytes go: to a file, or to standard output. */
struct target {
    struct cli *cli;
    struct vs_outfile file;
    bool is_file;
    struct vs_diag diag; /* of the file */
};

static int put(void *context, const void *bytes, size_t size)
{
    struct target *t = context;
    int e;

    if (t->is_file) {
        e = vs_outfile_write(&t->file, bytes, size, &t->diag);
    } else {
        out_mem(&t->cli->out, bytes, size);
        e = t->cli->out.error ? -VSE_END : 0; /* cli_finish says what it is */
    }
    return e;
}

/* Whether what the format needs of the run may only be missing because the run was cut off. */
static bool may_be_cut(const struct vs_reader *r, int e)
{
    return e == -VSE_END || (e == -VSE_INVAL && !vs_reader_meta(r, "isa"));
}

static int write_run(const struct export_options *o, const struct vs_export_format *format,
                     struct vs_reader *r, const char *path, struct target *t)
{
    struct vs_export_options options = {
        .thread = o->thread == NO_THREAD ? -1 : (int)o->thread,
        .specs = o->specs,
        .spec_count = o->techniques.count,
        .write = put,
        .context = t,
    };
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    int e;

    vs_progress_init(&progress, t->is_file || out_is_file(&t->cli->out) ? stderr : NULL,
                     "exporting", vs_reader_info(r)->events, "events");
    e = vs_export_run(format, r, &options, &progress, &diag);
    vs_progress_finish(&progress);
    if (e == -VSE_END && t->cli->out.error)
        return CLI_DONE;
    if (e && t->diag.error == e)
        return cli_report_output(t->cli, o->output, e, &t->diag);
    if (may_be_cut(r, e) && cli_missing(t->cli, path, vs_reader_info(r)) != CLI_DONE)
        return CLI_BAD_DATA;
    return e ? cli_report(t->cli, path, e, &diag) : CLI_DONE;
}

/* A file gets its name only if the run is whole and all of it was written. */
static int write_file(const struct export_options *o, const struct vs_export_format *format,
                      struct vs_reader *r, const char *path, struct target *t)
{
    int e = vs_outfile_open(&t->file, o->output, o->overwrite, &t->diag);
    int status;

    if (e)
        return cli_report_output(t->cli, o->output, e, &t->diag);
    t->is_file = true;
    status = write_run(o, format, r, path, t);
    if (status == CLI_DONE)
        status = cli_missing(t->cli, path, vs_reader_info(r));
    if (status == CLI_DONE && (e = vs_outfile_commit(&t->file, &t->diag)) < 0)
        status = cli_report_output(t->cli, o->output, e, &t->diag);
    if (status != CLI_DONE)
        vs_outfile_abort(&t->file);
    return status;
}

static int export_run(struct cli *cli, const struct export_options *o,
                      const struct vs_export_format *format, struct vs_reader *r, const char *path)
{
    const struct vs_run_info *info = vs_reader_info(r);
    struct target t = {.cli = cli};
    int status;

    if (o->thread != NO_THREAD && o->thread >= info->threads) {
        if (cli_missing(cli, path, info) != CLI_DONE)
            return CLI_BAD_DATA;
        cli_error(cli, "--thread: no thread %llu; the run has %u, from 0 up",
                  (unsigned long long)o->thread, info->threads);
        return CLI_USAGE;
    }
    if (strcmp(o->output, "-"))
        return write_file(o, format, r, path, &t);
    status = write_run(o, format, r, path, &t);
    return status == CLI_DONE ? cli_missing(cli, path, info) : status;
}

static const struct vs_export_format *find(struct cli *cli, const struct export_options *o)
{
    const struct vs_export_format *format = o->to ? vs_export_find(o->to) : NULL;
    struct suggest s;

    if (format && o->output)
        return format;
    if (format)
        cli_error(cli, "-o FILE says where the %s goes, - is standard output", o->to);
    if (format)
        return NULL;
    suggest_init(&s, o->to ? o->to : "");
    for (size_t i = 0; vs_export_at(i); i++)
        suggest_offer(&s, vs_export_name(vs_export_at(i)));
    if (!o->to)
        cli_error(cli, "--to says which format it is; 'vestige export --help' lists them");
    else if (s.best)
        cli_error(cli, "--to: no format '%s'; did you mean '%s'?", o->to, s.best);
    else
        cli_error(cli, "--to: no format '%s'; 'vestige export --help' lists them", o->to);
    return NULL;
}

/* Returns CLI_DONE, or the status after a message. */
static int parse_specs(struct cli *cli, struct export_options *o)
{
    int status = CLI_DONE;

    if (o->techniques.count > SPECS_MAX) {
        cli_error(cli, "-t: at most %d techniques are shown", SPECS_MAX);
        return CLI_USAGE;
    }
    for (size_t i = 0; i < o->techniques.count && status == CLI_DONE; i++)
        status = specs_parse_one(cli, &o->specs[i], o->techniques.items[i]);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct export_options o = {.thread = NO_THREAD, .region.places = "--from-place and --to-place"};
    const struct vs_export_format *format;
    struct vs_reader *r = NULL;
    struct region region;
    int status;

    if (!options_parse(cli, &command_export, &o, &argc, argv, &status))
        return status;
    format = find(cli, &o);
    if (!format || !cli_may_write(cli, o.output, argv[0]))
        return CLI_USAGE;
    status = parse_specs(cli, &o);
    if (status != CLI_DONE)
        return status;
    status = region_init(&region, cli, &o.region);
    if (status == CLI_DONE)
        status = region_open(&region, cli, &r, argv[0]);
    if (status == CLI_DONE)
        status = export_run(cli, &o, format, r, argv[0]);
    vs_reader_close(r);
    region_fini(&region);
    return status;
}

static bool offer_format(unsigned number, char word[OPTION_WORD])
{
    const struct vs_export_format *format = vs_export_at(number);

    if (format)
        snprintf(word, OPTION_WORD, "%s", vs_export_name(format));
    return format;
}

#define FIELD(member) offsetof(struct export_options, member)

static const struct cli_option options[] = {
    {.name = "to",
     .argument = "FORMAT",
     .help = "what to write; see below",
     .type = OPTION_STRING,
     .offset = FIELD(to),
     .offer = offer_format},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write to FILE; - is standard output",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = FIELD(overwrite)},
    {.name = "thread",
     .argument = "N",
     .help = "write only this thread",
     .type = OPTION_U64,
     .offset = FIELD(thread),
     .max = VS_THREADS_MAX - 1},
    SPECS_OPTION(FIELD(techniques), "show these techniques' bits, in perfetto and vcd; may\n"
                                    "be repeated"),
    REGION_WINDOWS(FIELD(region)),
    REGION_PLACES(FIELD(region), "from-place", "to-place"),
    {0},
};

const struct command command_export = {
    .name = "export",
    .summary = "write a run in a format that other programs read",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Writes a run, or a part of it, for other tools. Formats are\n"
                   "\n"
                   "  perfetto    a timeline, for the viewer of Perfetto and chrome://tracing\n"
                   "  folded      paths of calls and their instructions, for flame graphs\n"
                   "  speedscope  the same for speedscope\n"
                   "  pprof       the same for pprof\n"
                   "  champsim    instruction records for ChampSim, of one x86-64 thread\n"
                   "  lackey      instructions and accesses, as Valgrind's lackey prints them\n"
                   "  din         references for the cache simulator Dinero\n"
                   "  csv         a line for each event, a column for each field\n"
                   "  vcd         a trace port's words and where each core is, for waveform\n"
                   "              viewers\n"
                   "\n"
                   "" SPECS_HELP_ONE,
    .example = "vestige export --to folded -o run.folded run.vest\n"
               "vestige export --to csv -o - --thread 0 run.vest | head",
    .exits = COMMAND_EXITS,
};
