/* SPDX-License-Identifier: MIT */
/* What a debugger's packets ask of a machine. Packets in, packets out: no connection, no frames.
 *
 * All-stop: a packet that resumes the machine is answered when it stands still again. Threads have
 * the ids core + 1. What would change the past is refused with an error; what is not known here
 * gets an empty answer, which tells a debugger to do without. */
#ifndef GDB_STUB_H
#define GDB_STUB_H

#include "gdb/describe.h"
#include "gdb/gdb_machine.h"
#include "gdb/packet.h"

/* What a debugger wants to happen after the answer. */
enum vs_gdb_wish {
    VS_GDB_GO_ON,
    VS_GDB_DETACH, /* to leave the machine where it is */
    VS_GDB_KILL,   /* to end it; there may be no answer */
};

struct vs_gdb_stub {
    const struct vs_gdb_machine *machine;
    struct vs_gdb_writer *w; /* where answers go */
    bool (*poll)(void *context);
    void *context;
    unsigned general; /* the thread whose registers and memory are asked for */
    int64_t control;  /* the thread that steps, or one of the VS_GDB_x_THREADs */
    unsigned listed;  /* of a list of threads in several packets: those already considered */
    struct vs_gdb_stop stop;
    enum vs_gdb_wish wish;
    bool no_acks;                         /* asked for, and agreed to */
    bool swbreak, hwbreak, error_message; /* that the debugger understands */
    struct vs_gdb_seen seen;              /* threads that it was told of */
};

/* A stub for a debugger that has just come. The machine and the writer stay the caller's. While the
 * machine runs, `poll` (NULL: nobody) is asked whether the debugger wants it to stop. */
void vs_gdb_stub_init(struct vs_gdb_stub *s, const struct vs_gdb_machine *machine,
                      struct vs_gdb_writer *w, bool (*poll)(void *context), void *context);

/* Answers a packet: its text up to a NUL, since what follows one is binary data, all of which is
 * refused. Returns what the debugger wishes; after anything but VS_GDB_GO_ON the stub is done. */
enum vs_gdb_wish vs_gdb_stub_packet(struct vs_gdb_stub *s, const char *text);

/* Answers with an error, and this text where debuggers show it. */
void vs_gdb_stub_error(struct vs_gdb_stub *s, const char *text);

#endif
