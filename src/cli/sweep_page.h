/* SPDX-License-Identifier: MIT */
/* A sweep as a page that a browser shows. */
#ifndef CLI_SWEEP_PAGE_H
#define CLI_SWEEP_PAGE_H

#include "cli/sweep_print.h"
#include "front/cli.h"

/* Writes an HTML file with the points of which all runs were measured, or failed, their figures,
 * and which of them are the frontier. It gets its name when it is complete. Returns CLI_DONE, or
 * the status after a message. */
int sweep_write_page(struct cli *cli, const char *path, bool overwrite, const char *study,
                     const struct sweep_rows *rows, const size_t *frontier, size_t frontier_count);

#endif
