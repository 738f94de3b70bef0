/* SPDX-License-Identifier: MIT */
/* What was measured, as rows and columns of texts and whole numbers. For each point, in the study's
 * order, there is a row for each run that was measured, and then, if there are several runs, the
 * sum and the mean over each group of runs of which all were measured; "all" is the group of all.
 * By runs, all points of the first run come first, and all sums come last. A
 * quotient is in millionths, so that it is a whole number. A row of a unit that failed has its
 * reason; a sum that lacks a run has none of its figures. */
#ifndef SWEEP_TABLE_H
#define SWEEP_TABLE_H

#include "sweep/sweep.h"

enum vs_row_kind { VS_ROW_RUN, VS_ROW_SUM, VS_ROW_MEAN };

struct vs_sweep_row {
    size_t point;
    enum vs_row_kind kind;
    size_t of; /* the run, or the group */
};

struct vs_sweep_cell {
    const char *text; /* NULL: it is a number, or not known */
    bool known;
    uint64_t number;
};

struct vs_sweep_column {
    const char *name; /* in the table */
    bool text;        /* it has texts, and no numbers */

    const char *of; /* what it shows: the name without another one that the study gives it */

    /* private */
    unsigned kind;
    int index; /* of the measure or label, or -1 */
    int over;  /* of a quotient: the measure that it is divided by */
};

struct vs_sweep_table {
    const struct vs_sweep *sweep; /* set by the caller before rows are read */
    struct vs_sweep_column *columns;
    size_t count;
    int objectives[2];     /* numbers of the two columns that are to be small */
    const char **measures; /* the names of what the columns need, for vs_sweep_look */
    size_t measure_count;

    /* private */
    struct vs_words groups;
    bool **members; /* by group and run */
    size_t frontier_group;
    struct vs_arena arena;
};

/* Chooses the columns: those of the study, or the usual ones. They are followed by the two that are
 * to be small, if they are not among them; `shown` says how many are to be printed. Returns 0, or
 * with diag: -VSE_INVAL (no such column); -VSE_NOMEM. fini is needed in any case. */
int vs_sweep_table_init(struct vs_sweep_table *t, const struct vs_sweep_study *study, size_t *shown,
                        struct vs_diag *diag);

/* Learns the groups, once the runs are known. Returns 0, or with diag: -VSE_INVAL (the study's
 * group has no run); -VSE_NOMEM. */
int vs_sweep_table_bind(struct vs_sweep_table *t, const struct vs_sweep *sweep,
                        struct vs_diag *diag);
void vs_sweep_table_fini(struct vs_sweep_table *t);

/* Finds the first row (if `row` was zeroed and `first` is set) or the next, by points or by runs.
 * Returns false after the last. */
bool vs_sweep_table_next(const struct vs_sweep_table *t, struct vs_sweep_row *row, bool by_run,
                         bool first);

enum { VS_CELL_TEXT = 1 << 17 };

/* What is in a column of a row; a text may be in `text`. */
struct vs_sweep_cell vs_sweep_table_cell(const struct vs_sweep_table *t,
                                         const struct vs_sweep_row *row, size_t column,
                                         char text[VS_CELL_TEXT]);

/* Finds the row that the frontier takes of a point: the sum over the study's group. Returns false
 * if a run of the group was not measured yet. */
bool vs_sweep_table_is_complete(const struct vs_sweep_table *t, size_t point,
                                struct vs_sweep_row *row);

/* The row that the frontier takes of a point: the sum over the study's group. Returns false if the
 * point has none, or lacks one of the two numbers, which go to *x and *y. */
bool vs_sweep_table_objectives(const struct vs_sweep_table *t, size_t point,
                               struct vs_sweep_row *row, uint64_t *x, uint64_t *y);

/* The frontier: points of which none has both numbers as small and one smaller, by growing first
 * number; of equal points the first. The array has to be freed. Returns how many; -VSE_NOMEM. */
int64_t vs_sweep_frontier(const struct vs_sweep_table *t, size_t **points);

#endif
