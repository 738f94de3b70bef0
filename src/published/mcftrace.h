/* SPDX-License-Identifier: MIT */
/* Descriptors of every control transfer. docs/descriptors.md has their bytes. */
#ifndef PUBLISHED_MCFTRACE_H
#define PUBLISHED_MCFTRACE_H

#include "published/mtrace.h"

/* Returns the exit status, after messages. */
int mcftrace_run(struct cli *cli, const struct mtrace_options *o);

#endif
