/* SPDX-License-Identifier: MIT */
/* A study of runs, one after the other: the figures of each, and of several their sum. */
#ifndef CLI_STUDY_RUNS_H
#define CLI_STUDY_RUNS_H

#include "front/cli.h"
#include "front/report.h"

struct study_runs;

/* What a study is. A row has the figures of a run, or if that is NULL of their sum so far. */
struct study_kind {
    const struct report_column *columns; /* of a row, for JSON */
    const void *(*row)(struct study_runs *s, const char *run);

    /* Finds the figures of a run out. Returns CLI_DONE, or the status after a message. */
    int (*study)(struct study_runs *s, const char *run, struct vs_reader *reader);

    /* Adds the figures that were found to the sum. */
    void (*add)(struct study_runs *s);

    /* Prints a row; the first in CSV has the head of the table before it. */
    void (*print_csv)(struct out *out, const void *row, bool head);
    void (*print_text)(struct out *out, const void *row);
};

struct study_runs {
    struct cli *cli;
    const struct study_kind *kind;
    bool json, csv;
    unsigned runs; /* that were studied so far */
};

/* Studies the runs and prints them. Returns the exit status. */
int study_runs(struct study_runs *s, int count, char **paths);

/* Says that there is nothing to study in a run, unless it is its missing part that says so. Returns
 * the exit status. */
int study_runs_nothing(const struct study_runs *s, const char *run, const struct vs_run_info *info,
                       const char *why);

#endif
