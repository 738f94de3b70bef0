/* SPDX-License-Identifier: MIT */
/* The table of commands. Each has a line in commands.c, beside the file that defines its row. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "front/command.h"

extern const struct command command_bandwidth;
extern const struct command command_sweep;
extern const struct command command_check;
extern const struct command command_chunks;
extern const struct command command_compressors;
extern const struct command command_decode;
extern const struct command command_diff;
extern const struct command command_dump;
extern const struct command command_encode;
extern const struct command command_entropy;
extern const struct command command_locality;
extern const struct command command_report; /* cmd_report.c */
extern const struct command command_help;
extern const struct command command_import;
extern const struct command command_info;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_salvage;
extern const struct command command_expand;
extern const struct command command_export;
extern const struct command command_shrink;
extern const struct command command_resume;
extern const struct command command_pause;
extern const struct command command_simulate;
extern const struct command command_techniques;
extern const struct command command_replay;
extern const struct command command_debug;
extern const struct command command_verify;

/* The row of that number, in the list's order; NULL past the last. */
const struct command *commands_at(size_t number);

/* "vestige" itself: what holds for all commands. It has no `run`. */
extern const struct command commands_program;

/* The row of that name; NULL, after a message with the nearest name, if there is none. */
const struct command *commands_find(struct cli *cli, const char *name);

/* The row of the command that is run under its own name, as in the path `program`; NULL if there is
 * none. */
const struct command *commands_by_program(const char *program);

/* Prints the program's usage and the list of commands. */
void commands_help(struct out *out);

#endif
