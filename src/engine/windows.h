/* SPDX-License-Identifier: MIT */
/* Which of a program's instructions are recorded. */
#ifndef ENGINE_WINDOWS_H
#define ENGINE_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

/* Instructions to record, counted over all threads. */
struct vs_window {
    uint64_t start;
    uint64_t length; /* 0 = to the end */
};

/* Reads windows from a file: lines "START LENGTH", each window after the one before; "#" begins a
 * remark. *count is how many there are.
 * Returns 0; -VSE_NOTFOUND (the file cannot be opened; diag says why); -VSE_IO; -VSE_NOMEM;
 * -VSE_LIMIT (a line is too long); -VSE_INVAL (a line makes no sense, no line has a window, or
 * there are more than `capacity`; diag begins with the line's number). */
int vs_windows_load(const char *path, struct vs_window *windows, size_t capacity, size_t *count,
                    struct vs_diag *diag);

#endif
