/* SPDX-License-Identifier: MIT */
/* A command: one file, which defines its row. Dispatch, help, the list, manual pages and completion
 * derive from it. */
#ifndef FRONT_COMMAND_H
#define FRONT_COMMAND_H

#include "front/cli.h"
#include "front/options.h"

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

/* Exit statuses of a command that reads runs, for its row. */
#define COMMAND_EXITS                                                                              \
    "0  done\n"                                                                                    \
    "1  a run is damaged or incomplete\n"                                                          \
    "2  bad usage, or the system refused something"

#endif
