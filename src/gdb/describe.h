/* SPDX-License-Identifier: MIT */
/* What a debugger is told of the machine: its registers, in XML and in the order in which packets
 * have them, its threads, and why it stopped. */
#ifndef GDB_DESCRIBE_H
#define GDB_DESCRIBE_H

#include "base/buf.h"
#include "gdb/gdb_machine.h"
#include "gdb/packet.h"
#include "vestige/event.h"

/* A piece of a packet: the bytes of the machine's register in this place of its list, or that they
 * are not known. */
void vs_gdb_put_register(struct vs_gdb_writer *w, const struct vs_gdb_machine *m, unsigned thread,
                         unsigned place);

/* Threads that a debugger has been told of: a bit for each. */
struct vs_gdb_seen {
    uint8_t bits[VS_THREADS_MAX / 8];
};

/* Whether a debugger shall see the thread, which it then has: it is alive, stopped last, or was
 * seen before. A debugger gives a thread that comes again another number, and drops what was set
 * for it: so a thread stays, also where it has ended or not yet begun. */
bool vs_gdb_is_shown(const struct vs_gdb_machine *m, unsigned thread, struct vs_gdb_seen *seen);

/* What there is to say of a thread that does not run, or "". */
const char *vs_gdb_thread_state(const struct vs_gdb_machine *m, unsigned thread);

/* Append a document: the target's description; the threads. 0 or -VSE_NOMEM. */
int vs_gdb_describe_target(struct vs_buf *xml, const struct vs_register_set *registers);
int vs_gdb_describe_threads(struct vs_buf *xml, const struct vs_gdb_machine *m,
                            struct vs_gdb_seen *seen);

/* gdb's number for a signal of Linux; that of "unknown" for what is none. */
unsigned vs_gdb_signal(int signal);

/* Pieces of a packet: why the machine stopped. Reasons that are breakpoints are told only to a
 * debugger that knows of them. */
void vs_gdb_put_stop(struct vs_gdb_writer *w, const struct vs_gdb_stop *stop, bool swbreak,
                     bool hwbreak);

#endif
