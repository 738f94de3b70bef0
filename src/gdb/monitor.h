/* SPDX-License-Identifier: MIT */
/* What a replayed program answers to `monitor`, beyond what gdb asks by itself.
 *
 * A point of the run is named by its position, the instructions of all cores together in the order
 * of the replay, or as tT:N: where thread T has retired N instructions, which is the same for any
 * technique. Every answer names points so that `goto` takes them. */
#ifndef GDB_MONITOR_H
#define GDB_MONITOR_H

#include "gdb/around.h"
#include "gdb/gdb_machine.h"

#define VS_GDB_BOOKMARKS 64

struct vs_gdb_bookmark {
    char name[32];
    uint64_t position, retired; /* retired: by the thread */
    unsigned thread;
};

/* What the commands keep, whichever debugger comes. */
struct vs_gdb_notes {
    struct vs_gdb_bookmark bookmarks[VS_GDB_BOOKMARKS];
    size_t bookmark_count;
    struct vs_gdb_output output;
};

/* The machine's `monitor` (gdb/gdb_machine.h); it is a struct vs_gdb_replayed. */
int vs_gdb_monitor(void *machine, const char *command, void (*say)(void *context, const char *text),
                   void *context, bool *moved, struct vs_diag *diag);

#endif
