/* SPDX-License-Identifier: MIT */
/* The runs of a recording with --follow: a folder, a run for each process, and the list of them. */
#ifndef CLI_FOLLOWING_H
#define CLI_FOLLOWING_H

#include <limits.h>
#include <pthread.h>

#include "cli/recorded.h"
#include "front/manifest.h"

struct following {
    struct cli *cli;
    const struct record_plan *plan;
    const char *folder;
    char path[PATH_MAX]; /* of the program's run */
    bool made;           /* the folder is ours, and goes if nothing is in it */
    struct vs_follower follower;
    pthread_mutex_t lock; /* for all that follows, and for messages */
    struct manifest list;
    uint64_t instructions, bytes; /* of all runs so far */
    uint64_t events, forks;       /* of those that are over */
    struct vs_progress *progress;
    char written[32]; /* text for the progress line */
    int status;       /* CLI_DONE, or what a child's run came to, after a message */
};

/* Makes the folder, or empties it of runs if the user wants that. Needs following_fini in any case.
 * Returns CLI_DONE, or the status after a message. */
int following_open(struct following *f, struct cli *cli, const struct record_plan *plan,
                   const char *folder);

/* How far a run came since it was told last. */
void following_tick(struct following *f, uint64_t instructions, uint64_t bytes);

/* What is left of a run: nothing, the run, or a part of it, under another name. */
enum run_left { RUN_NONE, RUN_SEALED, RUN_SAVED };

/* Notes what the program's run came to, and writes the list, if there is any run. Returns CLI_DONE,
 * or the status after a message. */
int following_finish(struct following *f, const struct recorded *run,
                     const struct vs_engine_result *result, enum run_left left, uint64_t bytes);

/* Prints lines about all of it. */
void following_tell(const struct following *f, double seconds);

/* For a report: the i-th child, from 0 up. */
bool following_child(const struct following *f, size_t i, struct manifest_process *child);

/* Nothing was recorded, or not what was asked for: removes what there is. */
void following_abort(struct following *f);
void following_fini(struct following *f);

#endif
