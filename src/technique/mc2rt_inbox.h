/* SPDX-License-Identifier: MIT */
/* Messages of a stream that orders the cores, parsed before their core asks for them: cores run
 * ahead until they need a message, and messages are taken in the stream's order. */
#ifndef TECHNIQUE_MC2RT_INBOX_H
#define TECHNIQUE_MC2RT_INBOX_H

#include "port/demux.h"
#include "technique/data_common.h"

struct vs_mc2rt_message {
    uint64_t number; /* from 0, in the stream's order */
    uint64_t cycle, count;
    uint64_t pos;                        /* where what follows begins, in bits */
    uint64_t addr, size, notices, place; /* for an outside write; size: also of a value */
    struct vs_data_head head;            /* of registers or an end */
    unsigned kind;                       /* the technique's */
};

/* Parses the next message and tells whose it is. Returns 0; 1: it only told that a counter is full;
 * -VSE_END (there is none), or another error. */
typedef int vs_mc2rt_parse(void *decoder, unsigned *core, struct vs_mc2rt_message *m);

struct vs_mc2rt_first {
    struct vs_mc2rt_message message; /* a copy of the core's first one, if there is one */
    bool have;
};

struct vs_mc2rt_inbox {
    struct vs_port_reader *port;
    vs_mc2rt_parse *parse;
    void *decoder; /* for parse */
    struct vs_demux queues;
    uint64_t parsed, taken; /* messages */
    int error;              /* of parsing: no message follows those in the queues */
    unsigned *who;          /* by number, in a ring: whose message it is */
    size_t who_size;
    unsigned cores;
    struct vs_mc2rt_first *first; /* by core */
};

/* Return 0; -VSE_NOMEM. The inbox, which is zeroed before, needs fini in any case. A clone is
 * another decoder's, with another reader at the same position. */
int vs_mc2rt_inbox_init(struct vs_mc2rt_inbox *b, unsigned cores, struct vs_port_reader *port,
                        vs_mc2rt_parse *parse, void *decoder);
int vs_mc2rt_inbox_clone(struct vs_mc2rt_inbox *to, const struct vs_mc2rt_inbox *from,
                         struct vs_port_reader *port, void *decoder);
void vs_mc2rt_inbox_fini(struct vs_mc2rt_inbox *b);

/* What vs_mc2rt_next does not do in line. */
int vs_mc2rt_fetch(struct vs_mc2rt_inbox *b, unsigned core);

/* Gets the core's next message, which stays valid until it is popped. Returns 0, or why there is
 * none. */
static inline int vs_mc2rt_next(struct vs_mc2rt_inbox *b, unsigned core,
                                const struct vs_mc2rt_message **m)
{
    *m = &b->first[core].message;
    return likely(b->first[core].have) ? 0 : vs_mc2rt_fetch(b, core);
}

/* Whether it is this message's turn: all before it were taken. */
static inline bool vs_mc2rt_is_due(const struct vs_mc2rt_inbox *b, const struct vs_mc2rt_message *m)
{
    return m->number == b->taken;
}

/* The core takes its next message, which is the next of all. */
void vs_mc2rt_pop(struct vs_mc2rt_inbox *b, unsigned core);

/* Tells whose message is the next of all. Returns as vs_data_decoder_ops.turn. */
int vs_mc2rt_turn(struct vs_mc2rt_inbox *b, unsigned *core);

/* Refuses what the core does at this message. Returns -VSE_CORRUPT. */
int vs_mc2rt_refuse(struct vs_mc2rt_inbox *b, unsigned core, const struct vs_mc2rt_message *m,
                    const char *why);

#endif
