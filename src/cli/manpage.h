/* SPDX-License-Identifier: MIT */
/* Manual pages, from the rows of the commands. */
#ifndef CLI_MANPAGE_H
#define CLI_MANPAGE_H

#include "cli/commands.h"

/* Prints the page of a command, or of commands_program, as roff: nothing in it but the rows and the
 * version. The page of a command that is a program of its own has its name, the others
 * vestige-NAME. */
void manpage(struct out *out, const struct command *command);

#endif
