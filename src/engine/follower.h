/* SPDX-License-Identifier: MIT */
/* The children of a program, if they are recorded too, each as a run of its own. */
#ifndef ENGINE_FOLLOWER_H
#define ENGINE_FOLLOWER_H

#include <stdbool.h>

#include "vestige/error.h"

struct vs_engine_request;
struct vs_engine_result;

/* A recording has at most so many processes; any more run unobserved. */
#define VS_PROCESSES_MAX 65536

struct vs_followed {
    unsigned number;   /* from 1 up, in the order in which they began; 1 is the program */
    unsigned parent;   /* the number of the process that made it; 0 for the program */
    int id, parent_id; /* the system's, as the process sees them */
    double started;    /* seconds after the recording's start */
};

/* Who is told of children. For different processes these are called at the same time, by different
 * threads. */
struct vs_follower {
    void *context;
    /* The program, or a child, begins. For a child, *request is a copy of the program's, and gets a
     * consumer, tick and context of its own. Returns 0; an error, with diag, which ends the
     * recording: all processes are killed. */
    int (*begin)(void *context, const struct vs_followed *process,
                 struct vs_engine_request *request, struct vs_diag *diag);
    /* A child that has begun is over, with a result as an engine's `run` gives it, and an error if
     * that returns one: the recording ends then, too. Returns 0; an error that ends it. */
    int (*end)(void *context, const struct vs_followed *process,
               const struct vs_engine_request *request, const struct vs_engine_result *result,
               int error, const struct vs_diag *diag, bool theirs);
    /* Somebody learned how a process ended, as waitpid gives it. */
    void (*reaped)(void *context, unsigned number, int status);
};

#endif
