/* SPDX-License-Identifier: MIT */
/* A debugger that talks to a stub whose machine is made up (tests/gen/gdb_machine.h). */
#ifndef UNIT_GDBSTUB_H
#define UNIT_GDBSTUB_H

#include <stdlib.h>

#include "gdb/session.h"
#include "gen/gdb_machine.h"
#include "unit/gdbtalk.h"

struct talk {
    struct fake_machine fake;
    struct vs_gdb_machine machine;
    struct vs_gdb_session session;
    bool acks;
    unsigned polls;         /* after which the machine shall stop; 0: never */
    int wish;               /* after the last packet */
    char answer[TALK_MAX];  /* to it */
    char console[TALK_MAX]; /* what was said before that */
    unsigned console_packets;
};

static inline bool poll_now(void *context)
{
    struct talk *t = context;

    return t->polls && --t->polls == 0;
}

static inline struct talk *begin(void)
{
    struct talk *t = calloc(1, sizeof(*t));

    CHECK(t);
    t->machine = fake_machine(&t->fake);
    t->acks = true;
    vs_gdb_session_init(&t->session, &t->machine, poll_now, t);
    return t;
}

static inline void end(struct talk *t)
{
    vs_gdb_session_fini(&t->session);
    free(t);
}

static inline void take_answers(struct talk *t)
{
    const uint8_t *p = t->session.send, *last;

    t->console[0] = t->answer[0] = 0;
    t->console_packets = 0;
    if (!p)
        return;
    last = p + t->session.send_size;
    while (talk_take(&p, last, t->answer, TALK_MAX) && t->answer[0] == 'O' && p < last) {
        size_t n = strlen(t->console);

        talk_unhex(t->answer + 1, t->console + n, TALK_MAX - n);
        t->console_packets++;
    }
    CHECK(p == last);
}

static inline const char *ask(struct talk *t, const char *packet)
{
    char frame[4096];
    size_t size = talk_frame(packet, frame, sizeof(frame)), used;
    enum vs_gdb_event e =
        vs_gdb_reader_take(&t->session.reader, (const uint8_t *)frame, size, &used);

    CHECK_EQ(e, VS_GDB_PACKET);
    CHECK_STR(vs_gdb_session_acknowledge(&t->session, e), t->acks ? "+" : "");
    t->wish = vs_gdb_session_handle(&t->session, e);
    CHECK(t->wish >= 0);
    take_answers(t);
    return t->answer;
}

static inline const char *ask_monitor(struct talk *t, const char *command)
{
    char packet[4096] = "qRcmd,";

    talk_hex(command, packet + 6, sizeof(packet) - 6);
    return ask(t, packet);
}

#endif
