/* SPDX-License-Identifier: MIT */
/* Recording a native x86-64 program: runs it under Valgrind with the tool of capture/valgrind and
 * delivers what happened to a consumer. */
#ifndef CAPTURE_VALGRIND_H
#define CAPTURE_VALGRIND_H

#include "capture/assemble.h"
#include "capture/engine.h"
#include "capture/images.h"
#include "trace/consumer.h"

struct vs_valgrind_options {
    char *const *argv; /* program and arguments; [0] is searched in PATH */
    const char *tool;  /* folder of the tool, or NULL to look beside the executable */
    bool loads, stores;
    /* None: everything. With marks or places that switch recording, at most one, which starts at 0
     * and counts what is recorded. */
    const struct vs_window *windows;
    size_t window_count;
    struct vs_place *places; /* `found` and `chooser` are filled in */
    size_t place_count;
    bool main_only;                 /* no shared libraries */
    bool marks;                     /* only between marks of the program (vestige/mark.h) */
    struct vs_interrupt *interrupt; /* may be NULL */
    /* Called often with how far it is. Not 0: record no more; the program runs on. May be NULL. */
    int (*tick)(void *context, const struct vs_assembler_stats *stats);
    void *context;
};

struct vs_valgrind_result {
    struct vs_assembler_stats stats;
    int status;       /* of the program, as by waitpid */
    bool interrupted; /* the user ended it, by a signal or by insisting */
    bool stopped;     /* by tick */
    char said[2048];  /* the start of what Valgrind had to say, in lines */
    /* Why Valgrind could not go on, though the program could have; or "". Then `status` is not the
     * program's, and what was delivered is what ran until then. */
    char gave_up[256];
    char unread[512]; /* an image without its symbols, as in capture/images.h; or "" */
    double seconds;   /* until the program ended ... */
    double more;      /* ... and then until everything was delivered */
};

/* The file that a command's name means: as it is if it has a slash, else from PATH.
 * Returns 0; -VSE_NOTFOUND; -VSE_LIMIT. */
int vs_find_program(const char *name, char *path, size_t capacity);

/* Whether the engine can run a program, before anything is written.
 * Returns 0; -VSE_NOTFOUND (no such program; Valgrind or the tool is not installed; a place that
 * cannot be there); -VSE_INVAL
 * (not executable, not an x86-64 program); -VSE_IO. diag says which and what to do. */
int vs_valgrind_check(const struct vs_valgrind_options *o, struct vs_diag *diag);

/* Runs the program to its end. Whatever was delivered before an error stands.
 * Returns 0; as vs_valgrind_check; -VSE_NOMEM; -VSE_IO; -VSE_CORRUPT; an error of the consumer,
 * with *theirs set and diag not written (the program is then killed). */
int vs_valgrind_run(const struct vs_valgrind_options *o, const struct vs_consumer *consumer,
                    struct vs_valgrind_result *result, struct vs_diag *diag, bool *theirs);

#endif
