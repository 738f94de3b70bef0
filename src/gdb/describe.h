/* SPDX-License-Identifier: MIT */
/* What a debugger is told about the machine: its registers, in XML and in the order in which
 * packets carry them, its threads, and why it stopped. */
#ifndef GDB_DESCRIBE_H
#define GDB_DESCRIBE_H

#include "base/buf.h"
#include "gdb/gdb_machine.h"
#include "gdb/packet.h"
#include "vestige/event.h"

/* Puts a piece of a packet: the bytes of the register at this place in the machine's list, or that
 * they are unknown. */
void vs_gdb_put_register(struct vs_gdb_writer *w, const struct vs_gdb_machine *m, unsigned thread,
                         unsigned place);

/* The threads that a debugger has been told about, a bit for each. */
struct vs_gdb_seen {
    uint8_t bits[VS_THREADS_MAX / 8];
};

/* Returns whether to show the thread to a debugger, and notes it as seen if so: it is alive, it
 * stopped last, or it was seen before. A debugger gives a thread that comes back another number and
 * drops what was set for it, so a thread once seen stays, even where it has ended or not begun. */
bool vs_gdb_is_shown(const struct vs_gdb_machine *m, unsigned thread, struct vs_gdb_seen *seen);

/* Returns why the thread does not run ("not started", "ended"), or "" if it does. */
const char *vs_gdb_thread_state(const struct vs_gdb_machine *m, unsigned thread);

/* Append a document to xml: the target's description, its threads, or the libraries that are
 * loaded. They return 0; -VSE_NOMEM. */
int vs_gdb_describe_target(struct vs_buf *xml, const struct vs_register_set *registers);
int vs_gdb_describe_threads(struct vs_buf *xml, const struct vs_gdb_machine *m,
                            struct vs_gdb_seen *seen);
int vs_gdb_describe_libraries(struct vs_buf *xml, const struct vs_gdb_process *process);

/* Appends what a debugger needs of the vector that the system hands to a program: where the program
 * and its loader lie. Returns 0; -VSE_NOMEM. */
int vs_gdb_describe_vector(struct vs_buf *bytes, const struct vs_gdb_process *process);

/* Writes about a thread what is not its name: its system id, and why it does not run. */
void vs_gdb_thread_text(const struct vs_gdb_machine *m, unsigned thread, uint64_t id, char *text,
                        size_t capacity);

/* Returns gdb's number for a Linux signal, or its number for "unknown" if there is no such
 * signal. */
unsigned vs_gdb_signal(int signal);

/* What reasons for a stop a debugger understands. */
struct vs_gdb_reasons {
    bool swbreak, hwbreak, exec;
};

/* Puts the pieces of a packet that say why the machine stopped, as far as a debugger understands
 * it. */
void vs_gdb_put_stop(struct vs_gdb_writer *w, const struct vs_gdb_machine *m,
                     const struct vs_gdb_stop *stop, const struct vs_gdb_reasons *reasons);

#endif
