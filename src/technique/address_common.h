/* SPDX-License-Identifier: MIT */
/* What the machines of all data-address techniques share: they bracket messages and order cores,
 * and leave the address to a code. */
#ifndef TECHNIQUE_ADDRESS_COMMON_H
#define TECHNIQUE_ADDRESS_COMMON_H

#include "technique/address.h"
#include "technique/registry.h"

/* ---- parameters ---- */

/* Rows of parameter tables. */
#define VS_ADDRESS_NUMBER(field, lo, hi, text)                                                     \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_address_params, field), .min = (lo),          \
        .max = (hi), .help = (text)                                                                \
    }
#define VS_ADDRESS_POWER(field, lo, hi, text)                                                      \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_address_params, field), .min = (lo),          \
        .max = (hi), .power = true, .help = (text)                                                 \
    }
#define VS_ADDRESS_CYCLE_ROWS                                                                      \
    VS_ADDRESS_NUMBER(dcc, 1, 64, "bits of dCC's first chunk"),                                    \
        VS_ADDRESS_NUMBER(dcc_next, 1, 64, "bits of its other chunks")
#define VS_ADDRESS_TABLE_ROWS                                                                      \
    VS_ADDRESS_POWER(sets, 1, 65536, "sets of the table"),                                         \
        VS_ADDRESS_POWER(ways, 1, 16, "ways of a set"),                                            \
        VS_ADDRESS_NUMBER(low, 0, 15, "low bits of the pc that do not count")
#define VS_ADDRESS_TRAINING_ROWS                                                                   \
    VS_ADDRESS_NUMBER(window, 1, 8, "values of j that are tried"),                                 \
        VS_ADDRESS_NUMBER(max, 0, 24, "largest SHIFT"),                                            \
        VS_ADDRESS_NUMBER(min, 0, 24, "smallest SHIFT"),                                           \
        VS_ADDRESS_NUMBER(tmax, 1, 255, "where TCNT saturates"),                                   \
        VS_ADDRESS_NUMBER(inc, 1, 255, "what j > 0 adds to TCNT"),                                 \
        VS_ADDRESS_NUMBER(dec, 1, 255, "what j = 0 takes off TCNT")

struct vs_chunks vs_address_cycle_chunks(const void *params);

/* ---- codes ---- */

typedef void vs_address_put(void *state, struct vs_port_writer *port,
                            const struct vs_address_operand *operand, uint64_t addr,
                            struct vs_address_counts *counts);

/* How an address is written. Each side has a state of its own. */
struct vs_address_coder {
    /* Returns 0; -VSE_NOMEM; -VSE_INVAL. */
    int (*open)(void **state, const struct vs_address_params *params,
                const struct vs_technique_setup *setup);
    vs_address_put *put;
    /* Returns as vs_port_get. */
    int (*get)(void *state, struct vs_port_reader *port, const struct vs_address_operand *operand,
               uint64_t *addr);
    void (*close)(void *state); /* NULL is fine */
    void (*cost)(const struct vs_address_params *params, const struct vs_technique_setup *setup,
                 struct vs_cost_list *list);
};

extern const struct vs_address_coder vs_address_nexus; /* nexus_address.c */
extern const struct vs_address_coder vs_address_dac;   /* address_table.c */
extern const struct vs_address_coder vs_address_adac;

/* Checks that a table's min and max fit. Returns as vs_technique.check. */
int vs_address_check_table(const void *params, struct vs_diag *diag); /* address_table.c */

/* Clears the bits above an address's width, which do not count. */
static inline uint64_t vs_address_cut(uint64_t addr, unsigned width)
{
    return width < 64 ? addr & ((UINT64_C(1) << width) - 1) : addr;
}

/* ---- encoders ---- */

/* An encoder's first member. */
struct vs_address_encoder {
    struct vs_port_writer *port;
    const struct vs_address_coder *coder;
    void *state; /* the coder's */
    unsigned cores, width;
    uint64_t time; /* the event's, in cycles or instructions */
    struct vs_address_counts counts;
};

/* Returns 0; -VSE_NOMEM; -VSE_INVAL. e needs fini in any case. */
int vs_address_encoder_init(struct vs_address_encoder *e, const struct vs_address_coder *coder,
                            const struct vs_technique_context *context);
void vs_address_encoder_fini(struct vs_address_encoder *e);

/* Counts an operand, and whether it is sent. */
static inline void vs_address_count(struct vs_address_counts *c, bool store, bool sent)
{
    c->loads += !store;
    c->stores += store;
    c->loads_sent += !store && sent;
    c->stores_sent += store && sent;
}

/* Sends a message with the coder's put, or with one that is inlined. */
static inline void vs_address_send_by(struct vs_address_encoder *e, const struct vs_event *event,
                                      vs_address_put *put)
{
    const struct vs_address_operand operand = vs_address_operand(event);
    vs_port_begin(e->port, event->thread, e->time);
    put(e->state, e->port, &operand, vs_address_cut(event->addr, e->width), &e->counts);
    vs_port_end(e->port);
}

static inline void vs_address_send(struct vs_address_encoder *e, const struct vs_event *event)
{
    vs_address_send_by(e, event, e->coder->put);
}

/* Returns 0 or an error. */
typedef int vs_address_take(struct vs_address_encoder *e, const struct vs_batch *batch,
                            const struct vs_event *event);

/* Every technique's consume is this, with its own function for each event, which is inlined. */
static inline __attribute__((always_inline)) int
vs_address_each(struct vs_address_encoder *e, const struct vs_batch *b, vs_address_take *take)
{
    bool timed = e->port->shape.timed;
    if (timed && !b->cycles && b->count)
        return -VSE_INVAL;
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *event = &b->events[i];
        if (unlikely(event->thread >= e->cores))
            return -VSE_INVAL;
        e->counts.instructions += event->icount;
        e->time = timed ? b->cycles[i] : e->counts.instructions;
        int err = take(e, b, event);
        if (unlikely(err))
            return err;
    }
    return 0;
}

/* ---- decoders ---- */

/* A decoder's first member. */
struct vs_address_decoder {
    struct vs_port_reader *port;
    const struct vs_address_coder *coder;
    void *state;
    unsigned cores;
    int error;     /* the first one, which stays */
    bool have;     /* the next message has begun */
    unsigned core; /* whose it is, if so */
};

/* Returns 0; -VSE_NOMEM; -VSE_INVAL. d needs fini in any case. */
int vs_address_decoder_init(struct vs_address_decoder *d, const struct vs_address_coder *coder,
                            const struct vs_address_params *params,
                            const struct vs_technique_setup *setup, struct vs_port_reader *port);
void vs_address_decoder_fini(struct vs_address_decoder *d);

/* Gets an address that was sent. Returns as vs_address_decoder_ops.address. */
int vs_address_receive(struct vs_address_decoder *d, const struct vs_address_operand *operand,
                       uint64_t *addr);

/* Serves as vs_address_decoder_ops.turn. */
int vs_address_turn(void *decoder, unsigned *core);

/* ---- techniques that send every address ---- */

/* The operations, for any coder. */
int vs_address_all_encoder_open(void **encoder, const struct vs_address_coder *coder,
                                const struct vs_technique_context *context);
void vs_address_all_counts(const void *encoder, void *counts);
void vs_address_all_encoder_close(void *encoder);
int vs_address_all_decoder_open(void **decoder, const struct vs_address_coder *coder,
                                const void *params, const struct vs_technique_setup *setup,
                                struct vs_port_reader *port);
int vs_address_all_address(void *decoder, const struct vs_address_operand *operand, uint64_t *addr);
void vs_address_all_decoder_close(void *decoder);

/* Defines NAME_encoder, NAME_decoder and NAME_cost over the coder vs_address_NAME, whose put is
 * given so that it is inlined. */
#define VS_ADDRESS_MACHINES(name, put)                                                             \
    static inline int name##_take(struct vs_address_encoder *e, const struct vs_batch *batch,      \
                                  const struct vs_event *event)                                    \
    {                                                                                              \
        (void)batch;                                                                               \
        if (event->kind != VS_LOAD && event->kind != VS_STORE)                                     \
            return 0;                                                                              \
        vs_address_count(&e->counts, event->kind == VS_STORE, true);                               \
        vs_address_send_by(e, event, put);                                                         \
        return 0;                                                                                  \
    }                                                                                              \
    static int name##_consume(void *encoder, const struct vs_slice *slice)                         \
    {                                                                                              \
        return vs_address_each(encoder, slice->events, name##_take);                               \
    }                                                                                              \
    static int name##_encoder_open(void **encoder, const struct vs_technique_context *context)     \
    {                                                                                              \
        return vs_address_all_encoder_open(encoder, &vs_address_##name, context);                  \
    }                                                                                              \
    static int name##_decoder_open(                                                                \
        void **decoder, const void *params, const struct vs_technique_setup *setup,                \
        const struct vs_address_code *code, struct vs_port_reader *port)                           \
    {                                                                                              \
        (void)code;                                                                                \
        return vs_address_all_decoder_open(decoder, &vs_address_##name, params, setup, port);      \
    }                                                                                              \
    static const struct vs_encoder_ops name##_encoder = {.needs = VS_NEEDS_ACCESSES,               \
                                                         .open = name##_encoder_open,              \
                                                         .consume = name##_consume,                \
                                                         .counts = vs_address_all_counts,          \
                                                         .rows = vs_address_count_rows,            \
                                                         .close = vs_address_all_encoder_close};   \
    static const struct vs_address_decoder_ops name##_decoder = {                                  \
        .open = name##_decoder_open,                                                               \
        .address = vs_address_all_address,                                                         \
        .turn = vs_address_turn,                                                                   \
        .close = vs_address_all_decoder_close};                                                    \
    static int name##_cost(const void *params, const struct vs_technique_setup *setup,             \
                           struct vs_cost_list *list)                                              \
    {                                                                                              \
        vs_address_##name.cost(params, setup, list);                                               \
        return 0;                                                                                  \
    }

#endif
