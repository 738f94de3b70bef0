/* SPDX-License-Identifier: MIT */
/* What a sweep found, as CSV, JSON and text. */
#ifndef CLI_SWEEP_PRINT_H
#define CLI_SWEEP_PRINT_H

#include "front/out.h"
#include "sweep/table.h"

/* Which rows are printed: all, or those of the points in the list. */
struct sweep_rows {
    const struct vs_sweep_table *table;
    size_t shown;         /* columns */
    const size_t *points; /* NULL: all */
    size_t point_count;
};

/* Calls `row` for each row, with a buffer for cells. Ends and returns what it returns, if not 0. */
int sweep_each_row(const struct sweep_rows *r,
                   int (*row)(void *context, const struct vs_sweep_row *row, char *text),
                   void *context);

/* Return 0; -VSE_NOMEM. */
int sweep_print_csv(struct out *out, const struct sweep_rows *r);
int sweep_print_json(struct out *out, const struct sweep_rows *r);

/* Prints the frontier as a table; r->points are it. */
void sweep_print_frontier(struct out *out, const struct sweep_rows *r);

#endif
