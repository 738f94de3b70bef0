/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/manpage.h"

enum format { FORMAT_TEXT, FORMAT_MAN, FORMAT_BASH, FORMAT_ZSH, FORMATS };

static const char *format_name(unsigned format)
{
    static const char *const names[FORMATS] = {"text", "man", "bash", "zsh"};
    return names[format];
}

struct help_options {
    unsigned format;
};

static int of_all(struct cli *cli, unsigned format)
{
    switch (format) {
    case FORMAT_MAN:
        manpage(&cli->out, &commands_program);
        break;
    case FORMAT_BASH:
        completion_bash(&cli->out);
        break;
    case FORMAT_ZSH:
        completion_zsh(&cli->out);
        break;
    default:
        commands_help(&cli->out);
    }
    return CLI_DONE;
}

static int of_one(struct cli *cli, unsigned format, const char *name)
{
    if (format == FORMAT_BASH || format == FORMAT_ZSH) {
        cli_error(cli, "--format %s is for all commands together: '%s' is one too many",
                  format_name(format), name);
        return CLI_USAGE;
    }
    const struct command *c = commands_find(cli, name);
    if (!c)
        return CLI_USAGE;
    if (format == FORMAT_MAN)
        manpage(&cli->out, c);
    else
        options_help(&cli->out, c);
    return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct help_options o = {.format = FORMAT_TEXT};
    int status;
    if (!options_parse(cli, &command_help, &o, &argc, argv, &status))
        return status;
    return argc ? of_one(cli, o.format, argv[0]) : of_all(cli, o.format);
}

static const struct cli_option options[] = {
    {.name = "format",
     .argument = "NAME",
     .help = "print text (the default), a manual page, or a script\n"
             "for completion in a shell:",
     .type = OPTION_ENUM,
     .offset = offsetof(struct help_options, format),
     .number_name = format_name,
     .first = FORMAT_TEXT,
     .end = FORMATS},
    {0},
};

const struct command command_help = {
    .name = "help",
    .summary = "list the commands, or show the help of one",
    .run = run,
    .options = options,
    .operands = "[COMMAND]",
    .operands_max = 1,
    .description =
        "Prints the list of commands, or what 'vestige COMMAND --help' prints. The other\n"
        "formats have the same text, for all commands; man can also be given one command.",
    .example = "vestige help dump\n"
               "vestige help --format man record | man -l -\n"
               "source <(vestige help --format bash)",
    .exits = "0  done\n"
             "2  bad usage, or no such command",
};
