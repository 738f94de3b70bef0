/* SPDX-License-Identifier: MIT */
/* Messages of a stream that orders the cores, parsed before their core asks for them: cores run
 * ahead until they need a message, and messages are taken in the stream's order. And how far each
 * core has come since its last message, by which it is known when it needs the next one: mc2RT and
 * mc2RT_k count accesses to lines. */
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

struct vs_mc2rt_core {
    struct vs_mc2rt_message message; /* a copy of its first one, if there is one */
    bool have;
    bool pending;        /* an access waits */
    unsigned lines;      /* how many of its lines are done */
    uint64_t count;      /* accesses since its last message */
    uint64_t full_count; /* what full counters told of; the next message's count includes it */
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
    unsigned cores, end; /* end: the kind of message that ends a core */
    struct vs_mc2rt_core *core;
};

/* Return 0; -VSE_NOMEM. The inbox, which is zeroed before, needs fini in any case. A clone is
 * another decoder's, with another reader at the same position. */
int vs_mc2rt_inbox_init(struct vs_mc2rt_inbox *b, unsigned cores, struct vs_port_reader *port,
                        vs_mc2rt_parse *parse, unsigned end, void *decoder);
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
    *m = &b->core[core].message;
    return likely(b->core[core].have) ? 0 : vs_mc2rt_fetch(b, core);
}

/* Whether it is this message's turn: all before it were taken. */
static inline bool vs_mc2rt_is_due(const struct vs_mc2rt_inbox *b, const struct vs_mc2rt_message *m)
{
    return m->number == b->taken;
}

/* The core takes its next message, which is the next of all, and counts anew. */
void vs_mc2rt_pop(struct vs_mc2rt_inbox *b, unsigned core);

/* Tells whose message is the next of all. Returns as vs_data_decoder_ops.turn. */
int vs_mc2rt_turn(struct vs_mc2rt_inbox *b, unsigned *core);

/* Refuses what the core does at this message. Returns -VSE_CORRUPT. */
int vs_mc2rt_refuse(struct vs_mc2rt_inbox *b, unsigned core, const struct vs_mc2rt_message *m,
                    const char *why);

/* Whether this message ends the core before the access that it is about to make: a run that was cut
 * off may end between two accesses of an instruction. */
bool vs_mc2rt_ends_within(const struct vs_mc2rt_inbox *b, unsigned core,
                          const struct vs_mc2rt_message *m);

/* Gets the message of that kind which the core needs now. Returns 0; VS_DECODER_WAIT; -VSE_INVAL
 * (no such core); or an error. */
int vs_mc2rt_expect(struct vs_mc2rt_inbox *b, unsigned core, unsigned kind,
                    const struct vs_mc2rt_message **m);

/* Parses where registers or an end come in their core's instructions. Returns 0; 1: the message
 * only told that the counter of instructions is full; an error. */
int vs_mc2rt_get_place(struct vs_mc2rt_inbox *b, struct vs_data_passed *passed, unsigned core,
                       struct vs_mc2rt_message *m);

/* Takes the core's end. Returns as vs_data_decoder_ops.end. */
int vs_mc2rt_take_end(struct vs_mc2rt_inbox *b, unsigned core, uint64_t instructions);

/* As vs_data_decoder_ops.takes, with lines of that size: each line of an access counts. */
bool vs_mc2rt_takes(struct vs_mc2rt_inbox *b, unsigned core, uint64_t addr, size_t size,
                    uint64_t line);

/* The part of an operand that lies in its first byte's line. */
static inline size_t vs_mc2rt_part(uint64_t line, uint64_t addr, size_t size)
{
    size_t rest = line - (addr & (line - 1));
    return size < rest ? size : rest;
}

/* Whether the core's next access takes no message and lies in one line. */
static inline bool vs_mc2rt_is_quiet(const struct vs_mc2rt_inbox *b, unsigned core, uint64_t line,
                                     uint64_t addr, size_t size)
{
    if (unlikely(core >= b->cores))
        return false;
    const struct vs_mc2rt_core *c = &b->core[core];
    return c->have && !c->pending && c->message.count > c->count &&
           (addr & (line - 1)) + size <= line;
}

#endif
