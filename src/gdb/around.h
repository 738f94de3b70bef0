/* SPDX-License-Identifier: MIT */
/* What happened before and after the point at which a replayed program stands. It is found by
 * executing again, and the replay then stands where it stood. */
#ifndef GDB_AROUND_H
#define GDB_AROUND_H

#include "base/buf.h"
#include "gdb/call_text.h"
#include "replay/history.h"

#define VS_GDB_AROUND_MOST 1000 /* items each way */
/* How far ahead is looked, in instructions of all cores. */
#define VS_GDB_AROUND_AHEAD (UINT64_C(1) << 24)

#define VS_GDB_ANYONE UINT32_MAX /* in place of a core */

/* A core did something: it made a call, or it was its turn. */
struct vs_gdb_happening {
    unsigned core;
    uint64_t retired, position;  /* just before */
    uint64_t retired_end;        /* of a turn: when the next core took over */
    bool begun;                  /* of a turn: it began earlier */
    char text[VS_GDB_CALL_TEXT]; /* of a call */
};

enum vs_gdb_around_kind { VS_GDB_CALLS, VS_GDB_TURNS };

struct vs_gdb_around {
    struct vs_gdb_happening *before, *after; /* ascending */
    size_t before_count, after_count;
    bool more; /* what follows was not looked at to its end */
};

/* Finds up to `most` happenings of that kind before here and as many after, by one core or by
 * anyone. fini is needed in any case. Returns 0; an error of the replay. */
int vs_gdb_around_find(struct vs_history *h, enum vs_gdb_around_kind kind, unsigned core,
                       size_t most, struct vs_gdb_around *around);
void vs_gdb_around_fini(struct vs_gdb_around *around);

/* What a core has written to a file with a call. */
struct vs_gdb_written {
    uint64_t fd, retired; /* retired: by the core, with the call */
    unsigned core;
    size_t at, size; /* where its bytes are */
};

struct vs_gdb_output {
    struct vs_gdb_written *items;
    size_t count, capacity;
    struct vs_buf bytes;
    uint64_t until; /* up to this position everything is here */
};

/* Makes sure that everything up to where the replay stands is there. Returns 0; -VSE_NOMEM; an
 * error of the replay. */
int vs_gdb_output_update(struct vs_gdb_output *o, struct vs_history *h);
void vs_gdb_output_fini(struct vs_gdb_output *o);

#endif
