/* SPDX-License-Identifier: MIT */
/* Operands that are runs, or folders of runs (front/manifest.h). */
#ifndef FRONT_RUNS_H
#define FRONT_RUNS_H

#include "front/cli.h"

struct runs {
    char **paths; /* ended by NULL */
    int count;
};

/* Lists the runs: a folder stands for those in it, in the order of its processes. If something is
 * wrong with a folder, the others' runs are listed. Needs runs_fini in any case. Returns CLI_DONE,
 * or the status after a message. */
int runs_open(struct cli *cli, struct runs *r, int count, char **operands);
void runs_fini(struct runs *r);

/* Finds the run of one process, by its number in the folder or else by the system's; NULL means the
 * only one that there is. If `operand` is no folder, it is the run. Returns CLI_DONE, with a path
 * to free; or the status after a message. */
int runs_find(struct cli *cli, const char *operand, const char *process, char **path);

#endif
