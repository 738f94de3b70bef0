/* SPDX-License-Identifier: MIT */
/* Descriptors of every memory operand. docs/descriptors.md has their bytes. */
#ifndef PUBLISHED_MLSTRACE_H
#define PUBLISHED_MLSTRACE_H

#include "published/mtrace.h"

/* Returns the exit status, after messages. */
int mlstrace_run(struct cli *cli, const struct mtrace_options *o);

#endif
