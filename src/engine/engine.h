/* SPDX-License-Identifier: MIT */
/* The engine layer: what it is to run a program and record it.
 *
 * An engine is a row (struct vs_engine): how it recognizes its programs, whether it can run one,
 * and how it delivers what the program does to a consumer. capture has the one for Valgrind, target
 * the simulator. What all of them are told and report is here:
 *
 *   interrupt  signals that the user sends to the program
 *   windows    which instructions are recorded, and files that say so
 *   place      routines and addresses that the user names; finding the program
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "engine/interrupt.h"
#include "engine/place.h"
#include "engine/windows.h"
#include "trace/consumer.h"

/* What is to be recorded. */
struct vs_engine_request {
    char *const *argv; /* program and arguments, ended by NULL; [0] is searched in PATH */
    bool loads, stores;
    bool main_only; /* no shared libraries */
    bool marks;     /* only between marks of the program (vestige/mark.h) */
    /* None: everything. With marks or places that switch recording, at most one, which starts at 0
     * and counts what is recorded. */
    const struct vs_window *windows;
    size_t window_count;
    struct vs_place *places; /* `found` and `chooser` are filled in */
    size_t place_count;
    const void *settings;           /* of this engine alone, as its header says; may be NULL */
    struct vs_interrupt *interrupt; /* may be NULL */
    const struct vs_consumer *consumer;
    /* Called often with the instructions so far. Not 0: record no more; the program runs on. May be
     * NULL. */
    int (*tick)(void *context, uint64_t instructions);
    void *context;
};

struct vs_engine_result {
    uint64_t instructions; /* recorded */
    uint64_t skipped;      /* known not to be */
    uint64_t events;
    uint64_t cycles; /* if the run is timed */
    unsigned threads, forks, programs;
    int status;       /* of the program, as by waitpid */
    bool ended;       /* the program came to its end */
    bool halted;      /* the engine stopped the program, for what the program did; see details */
    bool interrupted; /* the user ended it, by a signal or by insisting */
    bool stopped;     /* by tick */
    /* The engine and why it could not go on, though the program could have; or "". Then `status` is
     * not the program's, and what was delivered is what ran until then. */
    char gave_up[288];
    char said[2048];  /* the start of what the engine had to say, in lines */
    char unread[512]; /* an image without its symbols and why, or "" */
    double seconds;   /* until the program ended ... */
    double more;      /* ... and then until everything was delivered */
    void *details;    /* of this engine alone, as its header says; may be NULL */
};

void vs_engine_result_fini(struct vs_engine_result *result);

struct vs_engine {
    const char *name, *isa;
    bool apart; /* the program is a process of its own */
    /* Whether this is the engine for a program, if the user does not say. */
    bool (*fits)(const char *path);
    /* Whether it can do what is asked, before anything is written. *features gets the VS_RUN_* that
     * the run has beside loads and stores.
     * Returns 0; -VSE_NOTFOUND (no such program, or a place that cannot be there; the engine is not
     * installed); -VSE_INVAL (not a program that it runs, or not a thing that it can do); -VSE_IO;
     * -VSE_NOMEM. diag says what to do. */
    int (*check)(const struct vs_engine_request *request, uint32_t *features, struct vs_diag *diag);
    /* Runs the program to its end. Whatever was delivered before an error stands. The result needs
     * vs_engine_result_fini in either case.
     * Returns 0; as check; -VSE_LIMIT; -VSE_CORRUPT, -VSE_INTERNAL (the engine failed); an error of
     * the consumer, with *theirs set and diag not written (the program is then killed). */
    int (*run)(const struct vs_engine_request *request, struct vs_engine_result *result,
               struct vs_diag *diag, bool *theirs);
};

#endif
