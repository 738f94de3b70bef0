/* SPDX-License-Identifier: MIT */
/* The engine layer: what it is to run a program and record it.
 *
 * An engine is a row (struct vs_engine): how it recognizes its programs, whether it can run one,
 * and how it delivers what the program does to a consumer. capture has the one for Valgrind, and
 * target has the simulator. What all of them are told and report is here:
 *
 *   interrupt  signals that the user sends to the program
 *   windows    which instructions are recorded, and files that say so
 *   place      routines and addresses that the user names; finding the program
 *   place_find  where they are in an image
 *   follower   children that are recorded too
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "engine/follower.h"
#include "engine/interrupt.h"
#include "engine/place.h"
#include "engine/renewal.h"
#include "engine/trigger.h"
#include "engine/windows.h"
#include "trace/consumer.h"

/* What is to be recorded. */
struct vs_engine_request {
    char *const *argv; /* program and arguments, ended by NULL; [0] is searched in PATH */
    /* The absolute path of the file that the program takes itself for, as if it had been started
     * from that folder, as ./NAME; NULL: its own. */
    const char *as;
    bool loads, stores;
    /* What is needed to execute the run again, and whether that is all. `whole`: with the bytes of
     * files that are mapped, instead of their names. */
    bool inputs, light, whole;
    uint64_t digests; /* with inputs: of memory, about every so many instructions; 0: none */
    bool main_only;   /* shared libraries are left out */
    bool marks;       /* only what is between the program's marks (vestige/mark.h) */
    /* If there are none, everything is recorded. With marks or places that switch recording, there
     * is at most one, which starts at 0 and counts what is recorded. */
    const struct vs_window *windows;
    size_t window_count;
    struct vs_place *places; /* `found` and `chooser` are filled in */
    size_t place_count;
    const void *settings;           /* of this engine alone, as its header says; may be NULL */
    struct vs_interrupt *interrupt; /* may be NULL */
    const struct vs_consumer *consumer;
    const struct vs_follower *follower; /* NULL: children are not recorded */
    const struct vs_renewal *renewal;   /* NULL: not only the last instructions are recorded */
    /* With a renewal, recording ends when this happens; otherwise it begins. A routine is among the
     * places. */
    struct vs_trigger trigger;
    bool start_off; /* recording waits to be begun, by the trigger or by the user */
    bool paused;    /* the user may begin it and end it */
    /* Called often with the instructions so far; may be NULL. If it does not return 0, nothing more
     * is recorded, and the program runs on. */
    int (*tick)(void *context, uint64_t instructions);
    void *context;
};

struct vs_engine_result {
    uint64_t instructions; /* recorded */
    uint64_t skipped;      /* known not to have been recorded */
    uint64_t events;
    uint64_t cycles; /* if the run is timed */
    unsigned threads, programs;
    unsigned forks;   /* children that were not recorded */
    int status;       /* the program's, as waitpid gives it */
    bool lost;        /* nobody said how it ended: there is no status */
    bool ended;       /* the program came to its end */
    bool halted;      /* the engine stopped the program because of what it did; see details */
    bool interrupted; /* the user ended the program, by a signal or by insisting */
    bool stopped;     /* tick stopped the recording */
    bool triggered;   /* what was waited for has happened */
    /* The engine, and why it could not go on though the program could have; or "". If it is set,
     * `status` is not the program's, and what was delivered is what ran until then. */
    char gave_up[288];
    /* Why children were not recorded that were to be; or "". Those that were killed before they
     * could begin do not count. */
    char unfollowed[288];
    char said[2048];  /* the start of what the engine had to say, in lines */
    char shared[512]; /* the first memory that others may have changed; or "" */
    char unread[512]; /* an image whose symbols could not be read, and why; or "" */
    /* If children are recorded: the words of the process's last program, each ended by a zero byte.
     */
    char *command;
    size_t command_size;
    double seconds; /* until the program ended ... */
    double more;    /* ... and then until everything was delivered */
    void *details;  /* of this engine alone, as its header says; may be NULL */
};

void vs_engine_result_fini(struct vs_engine_result *result);

struct vs_engine {
    const char *name, *isa;
    bool apart;  /* the program is a process of its own */
    bool inputs; /* it can record a run as its inputs */
    /* Whether this is the engine for a program if the user does not name one. */
    bool (*fits)(const char *path);
    /* Says, before anything is written, whether it can do what is asked. *features gets the
     * VS_RUN_* that the run has beside loads and stores.
     * Returns 0; -VSE_NOTFOUND (there is no such program, or a place cannot be there, or the engine
     * is not installed); -VSE_INVAL (it does not run such a program, or cannot do such a thing);
     * -VSE_IO; -VSE_NOMEM. diag says what to do. */
    int (*check)(const struct vs_engine_request *request, uint32_t *features, struct vs_diag *diag);
    /* Runs the program to its end. Whatever was delivered before an error stands. The result needs
     * vs_engine_result_fini in any case.
     * Returns 0; as check; -VSE_LIMIT; -VSE_CORRUPT, -VSE_INTERNAL (the engine failed); the
     * consumer's error, with *theirs set and diag not written (the program is then killed). */
    int (*run)(const struct vs_engine_request *request, struct vs_engine_result *result,
               struct vs_diag *diag, bool *theirs);
};

#endif
