/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/rewriting.h"

static int expand(struct cli *cli, const struct rewriting_options *o, const char *input)
{
    struct rewriting w = {.cli = cli, .o = o, .input = input, .label = "executing"};
    int status = cli_open(cli, &w.reader, input, false);
    if (status != CLI_DONE)
        return status;
    w.features = vs_reader_info(w.reader)->features;
    status = cli_missing(cli, input, vs_reader_info(w.reader));
    if (status == CLI_DONE)
        status = rewrite_run(&w);
    vs_reader_close(w.reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct rewriting_options o = {0};
    int status;
    if (!options_parse(cli, &command_expand, &o, &argc, argv, &status))
        return status;
    if (!o.output) {
        cli_error(cli, "-o says where the run goes; see 'vestige expand --help'");
        return CLI_USAGE;
    }
    return cli_may_write(cli, o.output, argv[0]) ? expand(cli, &o, argv[0]) : CLI_USAGE;
}

static const struct cli_option options[] = {REWRITING_OPTIONS};

const struct command command_expand = {
    .name = "expand",
    .summary = "write all events of a run that has only its inputs",
    .run = run,
    .options = options,
    .operands = "run.vest",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Executes a run that was recorded with --inputs again, and writes everything that\n"
        "it does to another run, which needs neither the program's files nor Valgrind's\n"
        "CPU any more. Other commands read the shorter run as it is, and execute it again\n"
        "each time.",
    .example = "vestige record --inputs -o short.vest -- sort words.txt\n"
               "vestige expand short.vest -o whole.vest",
    .exits = "0  the run was written\n"
             "1  the run is damaged, or cannot be executed again as it was\n"
             "2  bad usage, or the system refused something",
};
