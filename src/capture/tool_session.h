/* SPDX-License-Identifier: MIT */
/* One process under Valgrind that is recorded: takes what its tool says until there is no more. */
#ifndef CAPTURE_TOOL_SESSION_H
#define CAPTURE_TOOL_SESSION_H

#include <stdatomic.h>

#include "capture/assemble.h"
#include "capture/launch.h"

/* What a session tells about the processes that its own makes, and asks about the others. */
struct vs_session_family {
    void *context;
    /* A child is about to be made. *theirs gets the descriptors for its tool, which the session
     * closes. Returns 0; an error: the child is not followed. */
    int (*child)(void *context, unsigned parent, int theirs[WIRE_DESCRIPTORS]);
    /* The process is over, and has made so many children that were to be followed, and so many that
     * were not. */
    void (*made)(void *context, unsigned children, unsigned forks);
    /* The process has waited for a child of its own, which ended so. */
    void (*reaped)(void *context, unsigned parent, int process, int status);
    /* Whether all processes are to be killed. */
    bool (*failed)(void *context);
    /* Whether a process that ended so was ended by the user, as the program was told to. */
    bool (*interrupted)(void *context, int status);
    /* Of the user: a signal to all others that are there; stopping and continuing them. */
    void (*signal)(void *context, int number);
    void (*pause)(void *context, bool pause);
};

/* Makes events for a consumer. */
struct vs_taker {
    struct vs_relay *relay;
    struct vs_images images;
    struct vs_assembler *assembler;
};

struct vs_session {
    const struct vs_engine_request *o;
    struct vs_engine_result *result;
    struct vs_diag *diag;
    bool *theirs;
    const struct vs_session_family *family; /* NULL: children are not followed */
    unsigned number;                        /* the process's, in the family */
    struct vs_launch launch;

    struct vs_taker *taker;          /* what becomes the run */
    struct vs_taker *newer;          /* what would, if the program went on; or NULL */
    struct vs_assembler_stats stats; /* at the end */
    struct vs_buf ranges;
    uint64_t *lengths;   /* the windows' */
    int64_t last_buffer; /* the last that was announced; -1 = none */
    struct wire_note note;
    size_t note_bytes; /* the note's that have come so far */
    pid_t sender;      /* of the last note, if that is asked for */
    bool triggered;    /* the time has come
                        * that was waited for */
    bool stop_said;    /* this program's tool was told to stop */
    unsigned programs;
    /* The user's signals that the program got; bit N is signal N. */
    _Atomic uint32_t passed;
    _Atomic bool killed; /* by the user, who insisted */
    double began;        /* when the program was started */
    double stops;        /* when program and recorder stop; 0 = they do not */
};

/* Seconds, from some time on. */
double vs_session_now(void);

/* Prepares for events. The first members, up to `number`, are set. Returns 0; -VSE_NOMEM. */
int vs_session_open(struct vs_session *s);

/* Waits for a child's introduction. Returns 1, with what it says of itself; 0 if there is no such
 * child, after all; -VSE_IO. */
int vs_session_await(struct vs_session *s, int *id, int *parent_id);

/* Lets a child go on that was introduced. Returns 0; -VSE_IO. */
int vs_session_greet(struct vs_session *s);

/* Takes everything up to the process's end, and fills in the result. `launch` is started, or is a
 * child that was introduced. Returns as an engine's `run`. */
int vs_session_run(struct vs_session *s, double start);

/* Passes on what the user wants, to the program or, when that is over, to all others that are
 * there. */
void vs_session_heed(struct vs_session *s);

/* Frees everything but `launch`, and does nothing when called again. */
void vs_session_close(struct vs_session *s);

#endif
