/* SPDX-License-Identifier: MIT */
/* Telling a recorded run from other files. */
#ifndef TRACE_RUN_FILE_H
#define TRACE_RUN_FILE_H

#include <stdbool.h>

/* Whether the file at `path` begins as a .vest file does, intact or not. */
bool vs_run_file_is(const char *path);

#endif
