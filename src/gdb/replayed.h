/* SPDX-License-Identifier: MIT */
/* A replayed program as the machine that a stub drives. */
#ifndef GDB_REPLAYED_H
#define GDB_REPLAYED_H

#include "gdb/gdb_machine.h"
#include "replay/history.h"

#define VS_GDB_POINTS_MAX 1024

struct vs_gdb_break {
    uint64_t addr;
    unsigned count; /* how often it is set */
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
    uint64_t pass;                 /* signals that do not stop it */
    uint64_t moves;                /* how often it was sent elsewhere, other than by resuming it */
    bool attended;                 /* the debugger's script asks for `moves` by itself */

    struct vs_gdb_break breaks[VS_GDB_POINTS_MAX]; /* ascending */
    uint64_t addrs[VS_GDB_POINTS_MAX];             /* their addresses, for the replay */
    size_t break_count;
    struct vs_replay_watch watches[VS_GDB_POINTS_MAX]; /* owner: enum vs_gdb_point */
    size_t watch_count;
};

/* Makes a machine from a replay that stands at its beginning, with at most `most` bytes for
 * checkpoints; the program's path may be NULL, and base is as in gdb/gdb_machine.h. The machine
 * then stands before the program's first instruction. Returns 0; -VSE_NOMEM; -VSE_FEATURE; as
 * vs_replay_run. fini is needed in any case. */
int vs_gdb_replayed_init(struct vs_gdb_replayed *m, struct vs_replay *replay, size_t most,
                         const char *program, uint64_t base);
void vs_gdb_replayed_fini(struct vs_gdb_replayed *m);

/* ---- for what else moves the machine (gdb/monitor.h) ---- */

/* Gives the replay the debugger's points, after others were set. */
void vs_gdb_replayed_points(struct vs_gdb_replayed *m);

/* The replay was sent elsewhere: the debugger is to look at the core, or at another if that has not
 * started. */
void vs_gdb_replayed_moved(struct vs_gdb_replayed *m, unsigned core);

/* Returns the replay's error, with its text in diag. */
int vs_gdb_replayed_failed(const struct vs_gdb_replayed *m, int err, struct vs_diag *diag);

#endif
