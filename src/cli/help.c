/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

static int run(struct cli *cli, int argc, char **argv)
{
    int status;
    if (!options_parse(cli, &command_help, NULL, &argc, argv, &status))
        return status;
    if (argc == 0) {
        commands_help(&cli->out);
        return CLI_DONE;
    }
    const struct command *c = commands_find(cli, argv[0]);
    if (!c)
        return CLI_USAGE;
    options_help(&cli->out, c);
    return CLI_DONE;
}

const struct command command_help = {
    .name = "help",
    .summary = "the list of commands, or the help of one",
    .run = run,
    .operands = "[COMMAND]",
    .operands_max = 1,
    .description = "Prints the list of commands, or what 'vestige COMMAND --help' prints.",
    .example = "vestige help dump",
    .exits = "0  done\n"
             "2  no such command",
};
