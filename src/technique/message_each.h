/* SPDX-License-Identifier: MIT */
/* What decoders of techniques that send a message for every load do besides the load itself. Each
 * function is the one of the same name in vs_data_decoder_ops, for a decoder whose first member is
 * struct vs_message_each. */
#ifndef TECHNIQUE_MESSAGE_EACH_H
#define TECHNIQUE_MESSAGE_EACH_H

#include "base/buf.h"
#include "technique/data_common.h"

struct vs_message_each {
    struct vs_port_reader *port;
    const struct vs_port_reader *heads; /* the same, or the one that has Ti and dCC alone */
    unsigned cores;
    /* Reads the next message up to its value, and sets core, known and head. Returns as
     * vs_port_next. */
    int (*parse)(struct vs_message_each *m);
    void (*prepare)(void *context); /* called before that; NULL: nothing has to be done */
    void *context;
    int error; /* of parsing, which stays */
    bool have; /* the next message was parsed, and these are its: */
    unsigned core;
    bool known;               /* it only says that the debugger knows what is loaded */
    struct vs_data_head head; /* if not known */
    struct vs_data_passed passed;
    struct vs_buf state;
};

/* Makes sure that the next message is parsed. Returns 0 if it is the core's; VS_DECODER_WAIT; as
 * vs_data_decoder_ops. */
int vs_message_each_look(struct vs_message_each *m, unsigned core);

/* Takes that message. */
static inline void vs_message_each_take(struct vs_message_each *m)
{
    m->have = false;
    vs_port_took(m->heads, m->core);
}

/* `heads` is the port, unless it is set afterwards. Returns 0; -VSE_NOMEM. m needs fini in any
 * case. */
int vs_message_each_init(struct vs_message_each *m, int (*parse)(struct vs_message_each *m),
                         const struct vs_data_params *params, unsigned cores,
                         struct vs_port_reader *port);
int vs_message_each_clone(struct vs_message_each *to, const struct vs_message_each *from,
                          struct vs_port_reader *port);
void vs_message_each_fini(struct vs_message_each *m);

/* Serves as write and write_quietly if the decoder keeps no memory. */
int vs_message_each_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                          const uint8_t *bytes);
int vs_message_each_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes);
int vs_message_each_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                        bool *ends);
bool vs_message_each_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store);
int vs_message_each_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                 uint8_t *bytes);
int vs_message_each_state(void *decoder, unsigned core, uint64_t instructions,
                          const uint8_t **bytes, size_t *size);
int vs_message_each_end(void *decoder, unsigned core, uint64_t instructions);
int vs_message_each_turn(void *decoder, unsigned *core);

/* Such a decoder's table, with what it does itself. Others may follow. */
#define VS_MESSAGE_EACH(opens, reads, writes, clones, closes)                                      \
    .open = (opens), .read = (reads), .write = (writes), .write_quietly = (writes),                \
    .due = vs_message_each_due, .takes = vs_message_each_takes,                                    \
    .read_quietly = vs_message_each_read_quietly, .state = vs_message_each_state,                  \
    .end = vs_message_each_end, .turn = vs_message_each_turn, .clone = (clones), .close = (closes)

#endif
