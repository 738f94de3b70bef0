/* SPDX-License-Identifier: MIT */
/* The table as a database. */
#ifndef CLI_SWEEP_SQLITE_H
#define CLI_SWEEP_SQLITE_H

#include "cli/sweep_print.h"
#include "front/cli.h"

/* Writes an SQLite database with the table "results", whose columns are those of CSV, and the table
 * "frontier": the numbers of its points, from the best in the first figure on, with both figures.
 * It gets its name when it is complete. Returns CLI_DONE, or the status after a message. */
int sweep_write_sqlite(struct cli *cli, const char *path, bool overwrite,
                       const struct sweep_rows *rows, const size_t *frontier,
                       size_t frontier_count);

#endif
