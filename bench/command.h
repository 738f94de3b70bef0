/* SPDX-License-Identifier: MIT */
/* Measuring commands. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stddef.h>

/* Runs a command with its output going to a file. Returns the seconds it took; negative if it
 * failed, of command_run never: it ends the program then. */
double command_try(const char *const argv[], const char *out);
double command_run(const char *const argv[], const char *out);

/* What a file holds, as text, cut to fit. */
void command_output(const char *path, char *text, size_t capacity);

/* The bytes of a file, which must be there. */
double command_size(const char *path);

/* The number behind "key": in a JSON text, which must have it. */
double command_figure(const char *text, const char *key);

/* The folder that the project was built in. */
void command_build(char *path, size_t capacity);

#endif
