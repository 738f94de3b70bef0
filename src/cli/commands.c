/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

#include <string.h>

#include "front/suggest.h"
#include "published/published.h"

static const struct command *const commands[] = {
    &command_record,     &command_resume,   &command_pause,       &command_simulate,
    &command_info,       &command_dump,     &command_check,       &command_diff,
    &command_salvage,    &command_expand,   &command_shrink,      &command_techniques,
    &command_bandwidth,  &command_sweep,    &command_compressors, &command_chunks,
    &command_entropy,    &command_locality, &command_report,      &command_encode,
    &command_import,     &command_decode,   &command_export,      &command_verify,
    &command_replay,     &command_debug,    &command_mcftrace,    &command_mlstrace,
    &command_mcftraptor, &command_mlvcfiat, &command_tmtrace,     &command_tmcftraptor,
    &command_tmlvcfiat,  &command_help,
};

enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static const struct cli_option program_options[] = {
    {.name = "version", .letter = 'V', .help = "the version"},
    {0},
};

const struct command commands_program = {
    .name = "vestige",
    .summary = "record programs, model on-chip trace modules, and replay from their bits",
    .options = program_options,
    .operands = "COMMAND [ARGUMENT...]",
    .description =
        "Records what a multithreaded program does, encodes it as the trace modules of a\n"
        "chip could, measures the bits that leave the trace port, and proves that they\n"
        "suffice by decoding them and running the program again.\n"
        "\n"
        "Options of a command may stand before or after its operands, as --limit 5 or\n"
        "--limit=5, and -- ends them. Numbers are decimal or 0x...; K, M and G (or Ki, Mi,\n"
        "Gi) are powers of 1024. Ranges are LO-HI and include both\n"
        "ends.",
    .example = "vestige record -o run.vest -- ./program\n"
               "vestige info run.vest\n"
               "vestige bandwidth run.vest",
    .exits = "0  done\n"
             "1  what was read is damaged or incomplete, or disagrees\n"
             "2  bad usage, or the system refused something\n"
             "else for a command that runs a program, the program's own status",
    .environment = "TERM  if it is dumb, there is no progress line. Otherwise there is one while\n"
                   "      standard error is a terminal that no other program uses. Nothing else\n"
                   "      depends on the terminal, and nothing is coloured.",
};

const struct command *commands_at(size_t number)
{
    return number < COMMANDS ? commands[number] : NULL;
}

const struct command *commands_find(struct cli *cli, const char *name)
{
    struct suggest s;
    suggest_init(&s, name);
    for (int i = 0; i < COMMANDS; i++) {
        if (!strcmp(commands[i]->name, name))
            return commands[i];
        suggest_offer(&s, commands[i]->name);
    }
    if (s.best)
        cli_error(cli, "no command '%s'; did you mean '%s'?", name, s.best);
    else
        cli_error(cli, "no command '%s'; 'vestige help' lists them", name);
    return NULL;
}

const struct command *commands_by_program(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    for (int i = 0; i < COMMANDS; i++)
        if (commands[i]->tool && !strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

void commands_help(struct out *out)
{
    out_str(out, "usage: vestige COMMAND [options] [operands]\n"
                 "       vestige help [COMMAND]\n"
                 "       vestige --version\n"
                 "\n"
                 "commands:\n");
    for (int i = 0; i < COMMANDS; i++)
        out_printf(out, "  %-11s %s\n", commands[i]->name, commands[i]->summary);
    out_str(out,
            "\n'vestige COMMAND --help' shows the options, an example and the exit statuses.\n");
}
