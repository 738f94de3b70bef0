/* SPDX-License-Identifier: MIT */
/* A study of runs, one after the other: each one's figures, and their sum if there are several. */
#ifndef CLI_STUDY_RUNS_H
#define CLI_STUDY_RUNS_H

#include "front/cli.h"
#include "front/report.h"

struct study_runs;

/* What a study is. A row has a run's figures or, if `run` is NULL, their sum so far. */
struct study_kind {
    const struct report_column *columns; /* a row's, for JSON */
    const void *(*row)(struct study_runs *s, const char *run);

    /* Finds out a run's figures. Returns CLI_DONE, or the status after a message. */
    int (*study)(struct study_runs *s, const char *run, struct vs_reader *reader);

    /* Adds the figures that were found to the sum. */
    void (*add)(struct study_runs *s);

    /* Print a row; in CSV, the first has the table's head before it. */
    void (*print_csv)(struct out *out, const void *row, bool head);
    void (*print_text)(struct out *out, const void *row);
};

struct study_runs {
    struct cli *cli;
    const struct study_kind *kind;
    bool json, csv;
    unsigned runs; /* how many were studied so far */
};

/* Studies the runs and prints their figures. Returns the exit status. */
int study_runs(struct study_runs *s, int count, char **paths);

/* Says that there is nothing to study in a run or, if a part of the run is missing, says that
 * instead. Returns the exit status. */
int study_runs_nothing(const struct study_runs *s, const char *run, const struct vs_run_info *info,
                       const char *why);

#endif
