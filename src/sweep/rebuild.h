/* SPDX-License-Identifier: MIT */
/* The line for a shell that measures a point again. */
#ifndef SWEEP_REBUILD_H
#define SWEEP_REBUILD_H

#include "sweep/sweep.h"

/* Writes the line for one run, or, if `run` is -1, for the members of a group. A run that the sweep
 * records is recorded by the line for that run, as NAME.vest in the current folder. The line is cut
 * where there is no more room. */
void vs_rebuild_line(const struct vs_sweep *s, const struct vs_sweep_point *point, int64_t run,
                     const bool *members, char *out, size_t capacity);

/* Writes a word as a shell takes it. Returns how many characters it has, as snprintf does. */
int vs_shell_word(char *out, size_t capacity, const char *word);

#endif
