/* SPDX-License-Identifier: MIT */
/* Manual pages, made from the commands' rows. */
#ifndef CLI_MANPAGE_H
#define CLI_MANPAGE_H

#include "cli/commands.h"

/* Prints the page of a command, or of commands_program, as roff. It depends on nothing but the rows
 * and the version. The page of a command that is a program of its own has that program's name; the
 * others are called vestige-NAME. */
void manpage(struct out *out, const struct command *command);

#endif
