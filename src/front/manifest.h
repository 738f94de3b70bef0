/* SPDX-License-Identifier: MIT */
/* A folder of runs, one for each process of a recording whose children were followed, and the file
 * in it that lists them. docs/recording.md describes both. */
#ifndef FRONT_MANIFEST_H
#define FRONT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/report.h"
#include "vestige/error.h"

#define MANIFEST_NAME "manifest.json"

/* The name of a process's run in the folder, which a number and what follows is. */
#define MANIFEST_RUN         "%u.vest"
#define MANIFEST_RUN_SAVED   "%u.vest.partial"
#define MANIFEST_RUN_NAME    32
#define MANIFEST_COMMAND_MAX 4096 /* characters of a command; longer ones are cut */

struct manifest_process {
    uint64_t process; /* from 1 up, in the order in which they began */
    uint64_t parent;  /* the number of the one that made it; 0: it is the program */
    uint64_t pid, parent_pid;
    char *file;            /* in the folder; NULL: there is none */
    char *command;         /* of its last program; NULL: not known */
    char *incomplete;      /* why the run is not whole; NULL: it is */
    double started, ended; /* seconds after the recording's start; `ended` is negative if unknown */
    uint64_t exit;         /* as in a shell */
    bool exit_known;
    uint64_t instructions, events, bytes;
};

struct manifest {
    struct manifest_process *list; /* by number */
    size_t count, capacity;
};

/* The columns of a struct manifest_process. */
extern const struct report_column manifest_columns[];

/* Adds processes, of which nothing is known, up to this number. Returns 0; -VSE_NOMEM. */
int manifest_grow(struct manifest *m, size_t number);

void manifest_fini(struct manifest *m);

/* Writes the folder's list; one that is there is replaced. Returns 0; -VSE_IO; -VSE_INVAL;
 * -VSE_NOMEM. */
int manifest_write(const struct manifest *m, const char *folder, struct vs_diag *diag);

/* Reads it. If there is none, because the recorder was killed, the runs in the folder are listed by
 * their names. Processes without a run may be among them. Nothing in the file is trusted. The
 * manifest needs manifest_fini in any case. Returns 0; -VSE_NOTFOUND (the folder has no runs);
 * -VSE_CORRUPT; -VSE_LIMIT; -VSE_IO; -VSE_NOMEM. */
int manifest_read(struct manifest *m, const char *folder, struct vs_diag *diag);

/* Reads a list from memory. Returns 0; -VSE_CORRUPT; -VSE_NOMEM. */
int manifest_parse(struct manifest *m, const char *bytes, size_t size, struct vs_diag *diag);

/* Removes from the folder the list and all runs, by their names. Returns 0; -VSE_IO. */
int manifest_clear(const char *folder, struct vs_diag *diag);

/* Whether the folder has a list or runs. Returns 0 or 1; -VSE_IO. */
int manifest_there(const char *folder, struct vs_diag *diag);

#endif
