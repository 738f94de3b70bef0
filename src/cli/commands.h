/* SPDX-License-Identifier: MIT */
/* The table of commands. A command is one file, which defines its row, and one line in commands.c;
 * dispatch, help, the list, manual pages and completion derive from it. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"
#include "cli/options.h"

struct command {
    const char *name;
    const char *summary; /* one line, for the list */

    /* The arguments after the command's name. Returns the exit status. */
    int (*run)(struct cli *cli, int argc, char **argv);

    const struct cli_option *options; /* ended by a row without a name; may be NULL */
    bool one_dash;                    /* they are -name */
    bool tool;                        /* it is also a program of its own */
    bool takes_program; /* the first operand ends the options: the rest is a program's own */
    /* As in the usage line. Completion goes by it: run.EXT, COMMAND, SPEC; else files. */
    const char *operands;
    int operands_min, operands_max;
    const char *description; /* lines of at most 80 columns, as the next two */
    const char *example;
    const char *exits;
    const char *environment; /* lines "NAME  what it is for"; may be NULL */
};

extern const struct command command_bandwidth;
extern const struct command command_check;
extern const struct command command_chunks;
extern const struct command command_compressors;
extern const struct command command_decode;
extern const struct command command_dump;
extern const struct command command_encode;
extern const struct command command_entropy;
extern const struct command command_locality;
extern const struct command command_help;
extern const struct command command_info;
extern const struct command command_mcftrace;
extern const struct command command_mcftraptor;
extern const struct command command_mlstrace;
extern const struct command command_mlvcfiat;
extern const struct command command_record;
extern const struct command command_salvage;
extern const struct command command_simulate;
extern const struct command command_techniques;
extern const struct command command_tmcftraptor;
extern const struct command command_tmlvcfiat;
extern const struct command command_tmtrace;
extern const struct command command_replay;
extern const struct command command_debug;
extern const struct command command_verify;

/* The row of that number, in the order of the list. NULL past the last. */
const struct command *commands_at(size_t number);

/* "vestige" itself: what holds for all commands. It has no `run`. */
extern const struct command commands_program;

/* The row of that name. NULL, after a message with the nearest name, if there is none. */
const struct command *commands_find(struct cli *cli, const char *name);

/* The row of a command that is run under its own name, as in the path `program`. NULL if there is
 * none. */
const struct command *commands_by_program(const char *program);

/* Prints the usage of the program and the list. */
void commands_help(struct out *out);

/* Exit statuses of a command that reads runs, for its row. */
#define COMMAND_EXITS                                                                              \
    "0  done\n"                                                                                    \
    "1  a run is damaged or incomplete\n"                                                          \
    "2  bad usage, or the system refused something"

#endif
