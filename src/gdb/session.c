/* SPDX-License-Identifier: MIT */
#include "gdb/session.h"

void vs_gdb_session_init(struct vs_gdb_session *s, const struct vs_gdb_machine *machine,
                         bool (*poll)(void *context), void *context)
{
    s->reader = (struct vs_gdb_reader){0};
    s->writer = (struct vs_gdb_writer){0};
    s->send = NULL;
    s->send_size = 0;
    vs_gdb_stub_init(&s->stub, machine, &s->writer, poll, context);
}

void vs_gdb_session_fini(struct vs_gdb_session *s)
{
    s->stub.machine->ops->detach(s->stub.machine->machine);
    vs_gdb_writer_fini(&s->writer);
}

static int send_from(struct vs_gdb_session *s, size_t start, enum vs_gdb_wish wish)
{
    if (s->writer.error)
        return s->writer.error;
    s->send_size = s->writer.out.len - start;
    s->send = s->send_size ? s->writer.out.data + start : NULL;
    return (int)wish;
}

const char *vs_gdb_session_acknowledge(const struct vs_gdb_session *s, enum vs_gdb_event event)
{
    return s->stub.no_acks ? "" : vs_gdb_acknowledgement(event);
}

static enum vs_gdb_wish answer(struct vs_gdb_session *s, enum vs_gdb_event event)
{
    vs_gdb_writer_clear(&s->writer);
    if (event == VS_GDB_PACKET)
        return vs_gdb_stub_packet(&s->stub, (const char *)s->reader.data);
    vs_gdb_stub_error(&s->stub, event == VS_GDB_SPOILT ? "the packet was spoilt on its way"
                                                       : "the packet is too long");
    return VS_GDB_GO_ON;
}

int vs_gdb_session_handle(struct vs_gdb_session *s, enum vs_gdb_event event)
{
    bool acks = !s->stub.no_acks;

    s->send_size = 0;
    switch (event) {
    case VS_GDB_MORE:
    case VS_GDB_INTERRUPT: /* the machine stands still already */
        break;
    case VS_GDB_REPEAT:
        if (acks && s->writer.out.len)
            return send_from(s, s->writer.last, VS_GDB_GO_ON);
        break;
    case VS_GDB_SPOILT:
        if (acks) /* the debugger sends it again */
            break;
        return send_from(s, 0, answer(s, event));
    case VS_GDB_TOO_LONG:
    case VS_GDB_PACKET:
        return send_from(s, 0, answer(s, event));
    }
    return VS_GDB_GO_ON;
}
