/* SPDX-License-Identifier: MIT */
/* A debugger's visit: takes the bytes that came from it and makes those to send to it. It joins the
 * frames and the stub. Whoever has the connection does
 *
 *     event = vs_gdb_reader_take(&session.reader, bytes, size, &used);
 *     send(vs_gdb_session_acknowledge(&session, event));
 *     wish = vs_gdb_session_handle(&session, event);
 *     send(session.send);
 *
 * until the bytes are used up. */
#ifndef GDB_SESSION_H
#define GDB_SESSION_H

#include "gdb/packet.h"
#include "gdb/stub.h"

struct vs_gdb_session {
    struct vs_gdb_reader reader;
    struct vs_gdb_stub stub;
    struct vs_gdb_writer writer;
    const uint8_t *send; /* bytes to send after an event; valid until the next one */
    size_t send_size;
};

/* The machine stays the caller's and where it is; poll is as in stub.h. */
void vs_gdb_session_init(struct vs_gdb_session *s, const struct vs_gdb_machine *machine,
                         bool (*poll)(void *context), void *context);

/* Makes the machine forget the debugger's points. */
void vs_gdb_session_fini(struct vs_gdb_session *s);

/* Returns what to send before the event is handled, since that may take its time: a text, perhaps
 * "". */
const char *vs_gdb_session_acknowledge(const struct vs_gdb_session *s, enum vs_gdb_event event);

/* Returns an enum vs_gdb_wish; -VSE_NOMEM (the answer could not be built). */
int vs_gdb_session_handle(struct vs_gdb_session *s, enum vs_gdb_event event);

#endif
