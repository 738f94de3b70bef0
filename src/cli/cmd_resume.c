/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/wishing.h"
#include "engine/interrupt.h"

static int run(struct cli *cli, int argc, char **argv)
{
    int status;

    if (!options_parse(cli, &command_resume, NULL, &argc, argv, &status))
        return status;
    return wish(cli, argv[0], VS_SIGNAL_RESUME);
}

static const struct cli_option options[] = {{0}};

const struct command command_resume = {
    .name = "resume",
    .summary = "let a paused recording go on",
    .run = run,
    .options = options,
    .operands = "PROCESS",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Lets 'vestige record --paused' record from now on; the program does not notice.\nThe "
        "process is the recorder's or the program's. It takes effect when a thread of\n"
        "the program "
        "starts to run, within a fraction of a second while it computes.",
    .example = "vestige record --paused --inputs -o run.vest -- ./server &\n"
               "vestige resume $!",
    .exits = "0  the recorder was told\n"
             "2  bad usage, or there is no such recorder",
};
