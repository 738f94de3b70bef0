/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/wishing.h"
#include "engine/interrupt.h"

static int run(struct cli *cli, int argc, char **argv)
{
    int status;

    if (!options_parse(cli, &command_pause, NULL, &argc, argv, &status))
        return status;
    return wish(cli, argv[0], VS_SIGNAL_PAUSE);
}

static const struct cli_option options[] = {{0}};

const struct command command_pause = {
    .name = "pause",
    .summary = "pause a recording",
    .run = run,
    .options = options,
    .operands = "PROCESS",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Lets 'vestige record --paused' record nothing until 'vestige resume'; the\n"
                   "program runs on. What is left out appears in the run as a gap.",
    .example = "vestige record --paused --inputs -o run.vest -- ./server &\n"
               "vestige pause $!",
    .exits = "0  the recorder was told\n"
             "2  bad usage, or there is no such recorder",
};
