/* SPDX-License-Identifier: MIT */
/* A replayed program as the machine that a stub drives. */
#ifndef GDB_REPLAYED_H
#define GDB_REPLAYED_H

#include "gdb/gdb_machine.h"
#include "gdb/monitor.h"
#include "gdb/loaded_files.h"
#include "replay/history.h"

#define VS_GDB_POINTS_MAX 1024

struct vs_gdb_break {
    uint64_t addr;
    unsigned count; /* how often the debugger set it */
    bool start;     /* a program begins there, other than the first one */
};

/* Tells where the events of a recorded run are, and nothing else of it: just before the event's
 * instruction, the thread had retired so many. Returns 0; an error, with diag. */
struct vs_gdb_events {
    int (*find)(void *context, uint64_t event, unsigned *thread, uint64_t *retired,
                struct vs_diag *diag);
    void *context;
};

struct vs_gdb_replayed_options {
    size_t most;                       /* bytes for checkpoints (replay/history.h) */
    size_t heap_most;                  /* also there, */
    struct vs_scratch *pages, *stream; /* and these */
    const struct vs_image *images;     /* the stream's; may be NULL */
    size_t image_count;
    const char *const *files; /* in the place of images (gdb/loaded_files.h) */
    size_t file_count;
    bool cores; /* threads are the cores of a simulated platform, and are called so */
    const struct vs_gdb_events *events; /* NULL: there is no recorded run */
};

struct vs_gdb_replayed {
    struct vs_replay *replay;
    struct vs_history history;
    struct vs_gdb_machine machine; /* for the stub */
    unsigned current;              /* the thread that stopped last */
    int told;                      /* which way it went if it stopped at an access; 0: it did not */
    bool signalled;                /* `current` is shown as it was before it entered a handler, */
    struct vs_cpu *before;         /* which is here */
    int ending;                    /* at the end of the run: what was told about it */
    struct vs_gdb_files files;     /* what the program loads */
    bool cores;                    /* as in the options */
    unsigned execs;                /* how many came before the program that the debugger knows */
    bool postponed;                /* where it stands was not told, since another program was: */
    struct vs_gdb_stop next;       /* this is what to tell next */
    const struct vs_gdb_events *events; /* as in the options */
    struct vs_gdb_notes notes;          /* for `monitor` */
    uint64_t pass;                      /* signals that do not stop it */
    uint64_t moves; /* how often it was sent elsewhere, other than by resuming it */
    bool attended;  /* the debugger's script asks for `moves` by itself */

    struct vs_gdb_break breaks[VS_GDB_POINTS_MAX]; /* ascending */
    uint64_t addrs[VS_GDB_POINTS_MAX];             /* their addresses, for the replay */
    size_t break_count;
    struct vs_replay_watch watches[VS_GDB_POINTS_MAX]; /* owner: enum vs_gdb_point */
    size_t watch_count;
};

/* Makes a machine from a replay that stands at its beginning. What the options point to must
 * outlive it. The machine then stands before the program's first instruction. Returns 0;
 * -VSE_NOMEM; -VSE_FEATURE; as vs_replay_run. fini is needed in any case. */
int vs_gdb_replayed_init(struct vs_gdb_replayed *m, struct vs_replay *replay,
                         const struct vs_gdb_replayed_options *options);
void vs_gdb_replayed_fini(struct vs_gdb_replayed *m);

/* ---- for what else moves the machine (gdb/monitor.h) ---- */

/* Gives the replay the debugger's points, after others were set. */
void vs_gdb_replayed_points(struct vs_gdb_replayed *m);

/* The replay was sent elsewhere: the debugger is to look at the core, or at another if that has not
 * started. */
void vs_gdb_replayed_moved(struct vs_gdb_replayed *m, unsigned core);

/* Returns whether another program is there than the debugger knows. It is told when it resumes the
 * machine, which then stays where it is. */
bool vs_gdb_replayed_is_other(const struct vs_gdb_replayed *m);

/* Returns the replay's error, with its text in diag. */
int vs_gdb_replayed_failed(const struct vs_gdb_replayed *m, int err, struct vs_diag *diag);

#endif
