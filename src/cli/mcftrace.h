/* SPDX-License-Identifier: MIT */
/* Descriptors of every control transfer. docs/descriptors.md has their bytes. */
#ifndef CLI_MCFTRACE_H
#define CLI_MCFTRACE_H

#include "cli/mtrace.h"

/* Returns the exit status, after messages. */
int mcftrace_run(struct cli *cli, const struct mtrace_options *o);

#endif
