/* SPDX-License-Identifier: MIT */
/* The run that `vestige record` makes or, if only the last instructions are kept (--last), the two
 * that are on the way: the older is the one that counts. */
#ifndef CLI_KEPT_RUNS_H
#define CLI_KEPT_RUNS_H

#include "cli/recorded.h"

struct kept_runs {
    const struct record_plan *plan;
    const char *path;
    char *other;   /* a name for every other run, until it is known to be the one */
    char *command; /* the program's, once it is set; it is freed with the rest */
    struct recorded runs[2];
    struct recorded *run;   /* the one that counts */
    struct recorded *newer; /* the one that has begun later; or NULL */
    struct vs_renewal renewal;
};

/* Begins with one run, which is not open yet. Returns whether there is memory. */
bool kept_runs_init(struct kept_runs *k, const struct record_plan *plan, const char *path);
/* A zeroed struct is fine. */
void kept_runs_fini(struct kept_runs *k);

/* Whether the other run can be written, when its time comes: it must not be there, unless the user
 * wants it to be replaced. Returns 0; an error of vs_writer_open, with diag. */
int kept_runs_try(const struct kept_runs *k, struct vs_diag *diag);

/* What the writer that failed says. */
const struct vs_diag *kept_runs_diag(const struct kept_runs *k);

/* Gives up the newer run, if there is one. */
void kept_runs_settle(struct kept_runs *k);

/* Gives the sealed run its name, if it has another one. Returns 0; -VSE_IO, with diag. */
int kept_runs_name(const struct kept_runs *k, struct vs_diag *diag);

#endif
