/* SPDX-License-Identifier: MIT */
/* The runs of a study, and what has to be known of them before anything is measured. */
#ifndef SWEEP_RUNS_H
#define SWEEP_RUNS_H

#include <sys/types.h>

#include "base/sha256.h"
#include "sweep/study_file.h"
#include "technique/technique.h"
#include "vestige/run.h"

/* Which file it was when it was looked at. */
struct vs_sweep_identity {
    dev_t device;
    ino_t inode;
    off_t size;
    int64_t seconds, nanoseconds; /* when it was changed */
};

struct vs_sweep_run {
    const char *name; /* the file's path; of what is recorded, its section's name and values */
    const char *path; /* NULL while it is not recorded */
    const struct vs_sweep_source *source;
    const char *labels[VS_SWEEP_VARIABLES]; /* the names of its variables' values */
    const char *command, *options, *as;     /* with the values in place; NULL: a file */
    struct vs_words groups;

    /* After vs_sweep_run_look: */
    struct vs_sweep_identity identity;
    char hash[VS_SHA256_TEXT]; /* of its content; "": it cannot be read, so nothing is stored */
    bool open;                 /* it can be opened, and has threads: the rest is known */
    struct vs_technique_setup setup;
    struct vs_run_info info;
    struct vs_diag why; /* if it cannot */
};

struct vs_sweep_runs {
    struct vs_sweep_run *items;
    size_t count, capacity;

    /* private */
    struct vs_arena arena;
    struct vs_words only[VS_SWEEP_VARIABLES]; /* the values that each `only` of the study wants */
    struct vs_words groups;                   /* of all runs, wanted or not */
};

/* Lists the runs that a study names and wants, in its order; files of a pattern are sorted by name.
 * The study must outlive the list. fini is needed in any case. Returns 0, or with diag:
 * -VSE_NOTFOUND (no file); -VSE_INVAL ({name} stands for nothing, two runs have one name, none is
 * wanted); -VSE_LIMIT; -VSE_NOMEM. */
int vs_sweep_runs_list(struct vs_sweep_runs *r, const struct vs_sweep_study *study,
                       struct vs_diag *diag);
void vs_sweep_runs_fini(struct vs_sweep_runs *r);

/* Finds out what its file holds. Returns 0, also if it is damaged (see `open`); -VSE_NOTFOUND
 * (there is no such file), with diag. */
int vs_sweep_run_look(struct vs_sweep_run *run, struct vs_diag *diag);

/* Whether its file is still the one that was looked at. */
bool vs_sweep_run_is_same(const struct vs_sweep_run *run);

bool vs_sweep_run_in(const struct vs_sweep_run *run, const char *group);

/* Whether the study has such a group, though none of its runs may be wanted. */
bool vs_sweep_group_exists(const struct vs_sweep_runs *r, const char *group);

#endif
