/* SPDX-License-Identifier: MIT */
/* Opens any run. */
#ifndef RERUN_RUN_OPEN_H
#define RERUN_RUN_OPEN_H

#include "vestige/run.h"

/* Does what vs_reader_open does. If the file has only inputs, the reader delivers all events,
 * which are made by executing the run again while they are read; they are counted first. Returns
 * as vs_reader_open; also as vs_rerun_open and vs_rerun_next. */
int vs_run_open(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                struct vs_diag *diag);

#endif
