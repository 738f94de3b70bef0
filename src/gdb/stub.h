/* SPDX-License-Identifier: MIT */
/* Does with a machine what a debugger's packets ask for. It takes packets and answers with packets,
 * and knows neither the connection nor the frames.
 *
 * Execution is all-stop: a packet that resumes the machine is answered when the machine stands
 * still again. A thread's id is its core + 1. A packet that would change the past is refused with
 * an error; one that is unknown here gets an empty answer, which tells a debugger to do without. */
#ifndef GDB_STUB_H
#define GDB_STUB_H

#include "gdb/describe.h"
#include "gdb/gdb_machine.h"
#include "gdb/packet.h"

/* What a debugger wants to happen after the answer. */
enum vs_gdb_wish {
    VS_GDB_GO_ON,
    VS_GDB_DETACH, /* leave the machine where it is */
    VS_GDB_KILL,   /* end it; there may be no answer */
};

struct vs_gdb_stub {
    const struct vs_gdb_machine *machine;
    struct vs_gdb_writer *w; /* where answers go */
    bool (*poll)(void *context);
    void *context;
    unsigned general; /* the thread whose registers and memory are asked for */
    int64_t control;  /* the thread that steps, VS_GDB_ALL_THREADS or VS_GDB_ANY_THREAD */
    unsigned listed;  /* how many threads a list that takes several packets has got through */
    struct vs_gdb_stop stop;
    enum vs_gdb_wish wish;
    bool no_acks;                  /* the debugger asked for this, and it was agreed to */
    bool error_message;            /* the debugger understands errors with a text, */
    struct vs_gdb_reasons reasons; /* and these */
    struct vs_gdb_seen seen;       /* the threads that it was told about */
};

/* Makes a stub for a debugger that has just come. The machine and the writer stay the caller's.
 * While the machine runs, `poll`, unless it is NULL, is asked whether the debugger wants it to
 * stop. */
void vs_gdb_stub_init(struct vs_gdb_stub *s, const struct vs_gdb_machine *machine,
                      struct vs_gdb_writer *w, bool (*poll)(void *context), void *context);

/* Answers a packet. Its text ends at the first NUL: what follows one would be binary data, which is
 * always refused. Returns what the debugger wishes; after anything but VS_GDB_GO_ON the stub is
 * done. */
enum vs_gdb_wish vs_gdb_stub_packet(struct vs_gdb_stub *s, const char *text);

/* Answers with an error and this text, for debuggers that show it. */
void vs_gdb_stub_error(struct vs_gdb_stub *s, const char *text);

#endif
