/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/outfile.h"
#include "cli/commands.h"
#include "cli/specs.h"
#include "front/region.h"
#include "front/runs.h"
#include "page/document.h"
#include "page/gather.h"

struct report_options {
    struct option_list techniques;
    struct region_options region;
    const char *output;
    bool overwrite;
};

/* More would make a page that nobody can read, of many megabytes. */
enum { RUNS_MAX = 16 };

struct reporting {
    struct cli *cli;
    const struct report_options *o;
    struct region region;
    struct vs_spec_list specs;
    struct vs_outfile file;
    struct out out;
    struct json json;
};

/* ---- a run ----------------------------------------------------------------------------------- */

/* Whether the run has something for the techniques that were named. */
static int check_specs(struct reporting *r, const char *path, const struct vs_run_info *info)
{
    bool lacks;
    int status = CLI_DONE;
    for (size_t i = 0; i < r->specs.count && status == CLI_DONE; i++)
        status = specs_lack(r->cli, &r->specs.items[i], path, info, &lacks);
    return status;
}

static int gather(struct reporting *r, const char *path, struct vs_reader *reader)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    struct page_run run;
    int e = page_run_init(&run, path, reader, &r->specs, &diag);
    if (!e) {
        vs_progress_init(&progress, stderr, "reading", vs_bandwidth_work(&run.study, reader),
                         "events");
        e = page_run_gather(&run, &progress, &diag);
        vs_progress_finish(&progress);
    }
    int status = CLI_DONE;
    if (e == -VSE_END && cli_missing(r->cli, path, vs_reader_info(reader)) != CLI_DONE)
        status = CLI_BAD_DATA; /* what there is of the run has no thread */
    else if (e)
        status = cli_report(r->cli, path, e, &diag);
    else if ((e = page_put(&r->json, &run)) != 0)
        status = cli_report(r->cli, path, e, NULL);
    page_run_fini(&run);
    return status;
}

static int add_run(struct reporting *r, const char *path)
{
    struct vs_reader *reader;
    int status = region_open(&r->region, r->cli, &reader, path);
    if (status != CLI_DONE)
        return status;
    status = check_specs(r, path, vs_reader_info(reader));
    if (status == CLI_DONE)
        status = gather(r, path, reader);
    vs_reader_close(reader);
    return status;
}

/* Says where two runs part, if they can be compared: `vestige diff` says why if they cannot. */
static int compare(struct reporting *r, char **paths)
{
    const uint32_t kinds = VS_RUN_LOADS | VS_RUN_STORES;
    struct vs_reader *readers[2] = {NULL, NULL};
    struct vs_diff diff;
    unsigned failed = 0;
    int status = CLI_DONE;
    for (unsigned i = 0; i < 2 && status == CLI_DONE; i++)
        status = region_open(&r->region, r->cli, &readers[i], paths[i]);
    if (status == CLI_DONE &&
        !((vs_reader_info(readers[0])->features ^ vs_reader_info(readers[1])->features) & kinds)) {
        int e = vs_diff_init(&diff, readers[0], readers[1], false, &failed);
        const struct vs_diag *diag = e && e != -VSE_NOMEM ? vs_reader_diag(readers[failed]) : NULL;
        if (!e)
            e = page_put_parting(&r->json, &diff);
        if (e)
            status = cli_report(r->cli, paths[failed], e, diag);
        vs_diff_fini(&diff);
    }
    vs_reader_close(readers[0]);
    vs_reader_close(readers[1]);
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* What is missing of an incomplete run is said once more, after the page is there. */
static int finish(struct reporting *r, int count, char **paths)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_reader *reader;
    int status = CLI_DONE;
    page_end(&r->json, &r->out);
    errno = out_flush(&r->out);
    int e = errno ? vs_diag_io(&diag, "write", r->o->output) : vs_outfile_commit(&r->file, &diag);
    if (e)
        return cli_report(r->cli, r->o->output, e, &diag);
    for (int i = 0; i < count; i++)
        if (cli_open_file(r->cli, &reader, paths[i], false) == CLI_DONE) {
            status = cli_worse(status, cli_missing(r->cli, paths[i], vs_reader_info(reader)));
            vs_reader_close(reader);
        }
    return status;
}

static int write_page(struct reporting *r, int count, char **paths)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_outfile_open(&r->file, r->o->output, r->o->overwrite, &diag);
    if (e)
        return cli_report_output(r->cli, r->o->output, e, &diag);
    out_init(&r->out, r->file.fd);
    out_enlarge(&r->out);
    page_begin(&r->json, &r->out);
    int status = CLI_DONE;
    for (int i = 0; i < count && status == CLI_DONE; i++)
        status = add_run(r, paths[i]);
    if (status == CLI_DONE && count == 2)
        status = compare(r, paths);
    if (status == CLI_DONE)
        status = finish(r, count, paths);
    out_fini(&r->out);
    vs_outfile_abort(&r->file);
    return status;
}

static int check_options(struct reporting *r, int count, char **paths)
{
    if (!r->o->output) {
        cli_error(r->cli, "-o FILE says where the page goes, as in -o report.html");
        return CLI_USAGE;
    }
    if (count > RUNS_MAX) {
        cli_error(r->cli, "%d runs are too many for a page, which has at most %d", count, RUNS_MAX);
        return CLI_USAGE;
    }
    for (int i = 0; i < count; i++)
        if (!cli_may_write(r->cli, r->o->output, paths[i]))
            return CLI_USAGE;
    return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct report_options o = {0};
    struct reporting r = {.cli = cli, .o = &o};
    struct runs runs;
    int status;
    if (!options_parse(cli, &command_report, &o, &argc, argv, &status))
        return status;
    status = runs_open(cli, &runs, argc, argv);
    if (status == CLI_DONE)
        status = check_options(&r, runs.count, runs.paths);
    if (status == CLI_DONE)
        status = specs_parse(cli, &r.specs, &o.techniques);
    if (status == CLI_DONE) {
        status = region_init(&r.region, cli, &o.region);
        if (status == CLI_DONE)
            status = write_page(&r, runs.count, runs.paths);
        region_fini(&r.region);
    }
    vs_spec_list_fini(&r.specs);
    runs_fini(&runs);
    return status;
}

#define FIELD(member) offsetof(struct report_options, member)

static const struct cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the page to FILE",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = FIELD(overwrite)},
    SPECS_OPTION(FIELD(techniques), "show this technique, or all; may be repeated\n"
                                    "(default: a dozen techniques)"),
    REGION_OPTIONS(FIELD(region)),
    {0},
};

const struct command command_report = {
    .name = "report",
    .summary = "write a page on runs that a browser shows",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Writes one HTML file, which needs neither a network nor other files: what ran, a\n"
        "timeline of threads, the bits of each technique over time with the ports and\n"
        "buffers that they need, techniques by bits and gates, where bits come from, hot\n"
        "routines with a flame graph, mispredicted branches with their code, and how\n"
        "memory is used and shared. Of two runs it also says how they differ. Figures are\n"
        "aggregated, so that the file has some megabytes however long the runs are.\n"
        "\n"
        "" SPECS_HELP,
    .example = "vestige report run.vest -o report.html\n"
               "vestige report before.vest after.vest -t mcfTR_e -t mc2RT -o report.html\n"
               "vestige report run.vest --routine main -o main.html",
    .exits = COMMAND_EXITS,
};
