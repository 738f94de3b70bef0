/* SPDX-License-Identifier: MIT */
/* A command is one file, which defines its row. Dispatch, help, the list, manual pages and
 * completion derive from the row. */
#ifndef FRONT_COMMAND_H
#define FRONT_COMMAND_H

#include "front/cli.h"
#include "front/options.h"

struct command {
    const char *name;
    const char *summary; /* one line, for the list */

    /* Gets the arguments after the command's name. Returns the exit status. */
    int (*run)(struct cli *cli, int argc, char **argv);

    const struct cli_option *options; /* ended by a row without a name; may be NULL */
    bool one_dash;                    /* options are written -name */
    bool tool;                        /* it is also a program of its own */
    bool takes_program; /* the first operand ends the options: the rest belongs to a program */
    /* The operands as in the usage line. Completion goes by them: run.EXT, COMMAND or SPEC; else it
     * offers files. */
    const char *operands;
    int operands_min, operands_max;
    const char *description; /* in lines of at most 80 columns, like the next two */
    const char *example;
    const char *exits;
    const char *environment; /* lines "NAME  what it is for"; may be NULL */
};

/* The exit statuses of a command that reads runs, for its row. */
#define COMMAND_EXITS                                                                              \
    "0  done\n"                                                                                    \
    "1  a run is damaged or incomplete\n"                                                          \
    "2  bad usage, or the system refused something"

#endif
