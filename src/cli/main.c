/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "front/cli.h"
#include "cli/commands.h"
#include "cli/plugin.h"
#include "vestige/version.h"

static int no_arguments(void)
{
    struct out err;
    out_init(&err, STDERR_FILENO);
    commands_help(&err);
    out_flush(&err);
    return CLI_USAGE;
}

static int run_command(struct cli *cli, const struct command *command, int argc, char **argv)
{
    cli->command = command->name;
    return command->run(cli, argc, argv);
}

static int dispatch(struct cli *cli, int argc, char **argv)
{
    if (argc == 0)
        return no_arguments();
    if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")) {
        commands_help(&cli->out);
        return CLI_DONE;
    }
    if (!strcmp(argv[0], "--version") || !strcmp(argv[0], "-V")) {
        out_printf(&cli->out, "vestige %s\n", vs_version());
        return CLI_DONE;
    }
    if (argv[0][0] == '-') {
        cli_error(cli, "unknown option '%s'; see 'vestige --help'", argv[0]);
        return CLI_USAGE;
    }
    const struct command *command = commands_find(cli, argv[0]);
    return command ? run_command(cli, command, argc - 1, argv + 1) : CLI_USAGE;
}

static void let_fail(int signal)
{
    (void)signal;
}

/* A file that grows beyond the limit makes the write fail, and does not end us. The signal is not
 * ignored, because programs that we run would inherit that. */
static void survive_limits(void)
{
    struct sigaction action = {.sa_handler = let_fail, .sa_flags = SA_RESTART}, before;
    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
    struct cli cli;
    survive_limits();
    cli_init(&cli);
    /* execve allows an empty argv. */
    const struct command *tool = argc > 0 ? commands_by_program(argv[0]) : NULL;
    int status = tool ? run_command(&cli, tool, argc - 1, argv + 1)
                      : dispatch(&cli, argc > 0 ? argc - 1 : 0, argv + 1);
    plugin_unload(&cli);
    return cli_finish(&cli, status);
}
