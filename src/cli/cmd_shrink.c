/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/rewriting.h"
#include "rerun/shrink.h"

static int put(void *context, struct vs_writer *writer, const struct vs_batch *batch)
{
    struct vs_batch left;
    int e = vs_shrink_batch(context, batch, &left);
    return e || !left.count ? e : vs_writer_put(writer, &left);
}

static int shrink(struct rewriting *w)
{
    const struct vs_run_info *info = vs_reader_info(w->reader);
    struct vs_shrink s;
    if (!(info->features & VS_RUN_INPUTS)) {
        cli_error(w->cli,
                  "%s: does not have what is needed to execute it again; record it with --inputs",
                  w->input);
        return CLI_USAGE;
    }
    int status = cli_missing(w->cli, w->input, info);
    if (status != CLI_DONE)
        return status;
    int e = vs_shrink_init(&s, info->threads);
    w->features = info->features | VS_RUN_SHORT;
    w->context = &s;
    status = e ? cli_report(w->cli, w->input, e, NULL) : rewrite_run(w);
    vs_shrink_fini(&s);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct rewriting_options o = {0};
    struct rewriting w = {.cli = cli, .o = &o, .label = "shrinking", .put = put};
    int status;
    if (!options_parse(cli, &command_shrink, &o, &argc, argv, &status))
        return status;
    w.input = argv[0];
    if (!o.output) {
        cli_error(cli, "-o says where the run goes; see 'vestige shrink --help'");
        return CLI_USAGE;
    }
    if (!cli_may_write(cli, o.output, w.input))
        return CLI_USAGE;
    if ((status = cli_open_file(cli, &w.reader, w.input, false)) != CLI_DONE)
        return status;
    status = shrink(&w);
    vs_reader_close(w.reader);
    return status;
}

static const struct cli_option options[] = {REWRITING_OPTIONS};

const struct command command_shrink = {
    .name = "shrink",
    .summary = "leave out of a run what executing it again makes",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Writes a run with nothing but the inputs: what system calls returned and wrote,\n"
        "signals, turns of threads, values from outside, and what memory held at first.\n"
        "The run must have them: it was recorded with --inputs --all, or expanded.",
    .example = "vestige shrink whole.vest -o short.vest\n"
               "vestige check --inputs whole.vest && vestige shrink whole.vest -o short.vest",
    .exits = "0  the run was written\n"
             "1  the run is damaged\n"
             "2  bad usage, the run does not have its inputs, or the system refused\n"
             "   something",
};
