/* SPDX-License-Identifier: MIT */
/* The engines that record a program, as `vestige record` sees them: one file each, and a row in
 * record.c. */
#ifndef CLI_ENGINE_ROW_H
#define CLI_ENGINE_ROW_H

#include "capture/engine.h"
#include "capture/images.h"
#include "front/cli.h"
#include "front/simulation.h"
#include "target/machine.h"
#include "trace/consumer.h"

/* A recording: what is asked for, and what came of it. */
struct recording {
    char *const *argv; /* the program; ended by NULL */
    bool loads, stores, main_only, marks;
    const struct vs_window *windows; /* as in capture/valgrind.h */
    size_t window_count;
    struct vs_place *places; /* `found` and `chooser` are filled in */
    size_t place_count;
    const struct simulation_options *simulation;
    struct vs_interrupt *interrupt;
    const struct vs_consumer *consumer;
    /* Called often with the instructions so far. Not 0: record no more. */
    int (*tick)(void *context, uint64_t instructions);
    void *context;

    uint64_t instructions, skipped, events;
    unsigned threads, forks, programs;
    int status;                /* as by waitpid */
    int exit;                  /* the exit status that tells it */
    bool halted;               /* the simulator stopped it: the program did not end */
    bool stopped;              /* by tick */
    const char *incomplete;    /* why the end of the program is missing, or NULL */
    char why[SIMULATION_TEXT]; /* room for that */
    char gave_up[288];    /* the engine, and why, though the program could have gone on; or "" */
    double seconds, more; /* until the program ended, and from then on */
    char said[2048];      /* what Valgrind had to say, in lines */
    char unread[512];     /* an image without its symbols and why, or "" */
    bool simulated;
    struct vs_machine_result machine; /* if simulated */
};

struct engine {
    const char *name, *isa;
    bool apart; /* the program is a process of its own */
    /* Whether it is the one for this program, if the user does not say. */
    bool (*fits)(const char *path);
    /* Before anything is written. *features: VS_RUN_* beside loads and stores. Returns 0; an error
     * with diag. */
    int (*check)(struct recording *r, uint32_t *features, struct vs_diag *diag);
    /* As vs_valgrind_run. */
    int (*run)(struct recording *r, struct vs_diag *diag, bool *theirs);
};

extern const struct engine engine_valgrind, engine_sim;

#endif
