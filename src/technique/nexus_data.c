/* SPDX-License-Identifier: MIT */
/* mlvNX_b: the Nexus-like baseline. Every operand that is read: Ti | [dCC] | its bytes. */
#include "technique/nexus_data.h"

#include <stdlib.h>

#include "technique/data_common.h"

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_data_encoder common;
    struct vs_port_writer *heads; /* the common part's port, or one of their own */
};

static struct vs_port_writer *heads_of(struct vs_data_encoder *e)
{
    return ((struct encoder *)e)->heads;
}

static void rare_head(struct vs_data_encoder *e, unsigned core, enum vs_data_what what, size_t size)
{
    struct vs_port_writer *heads = heads_of(e);
    (void)what, (void)size;
    vs_port_begin(heads, core, e->time);
    if (heads != e->port) /* the message's bits are those of both */
        e->port->start = vs_port_bits(e->port) - (vs_port_bits(heads) - heads->start);
}

static const struct vs_data_rare rare = {.head = rare_head};

static inline int load(struct vs_data_encoder *e, unsigned core, uint64_t addr, size_t size,
                       const uint8_t *bytes)
{
    (void)addr;
    vs_port_begin(heads_of(e), core, e->time);
    vs_data_put_value(e, bytes, size);
    vs_port_end(e->port);
    vs_data_note_load(e, size, false);
    return 0;
}

static inline int store(struct vs_data_encoder *e, unsigned core, uint64_t addr, size_t size,
                        const uint8_t *bytes)
{
    (void)e, (void)core, (void)addr, (void)size, (void)bytes;
    return 0;
}

static int encoder_consume(void *encoder, const struct vs_batch *batch)
{
    return vs_data_each(encoder, batch, load, store);
}

static int encoder_finish(void *encoder)
{
    vs_data_put_ends(encoder);
    return 0;
}

static void encoder_counts(const void *encoder, struct vs_data_counts *counts)
{
    *counts = ((const struct vs_data_encoder *)encoder)->counts;
}

static void encoder_close(void *encoder)
{
    if (encoder)
        vs_data_encoder_fini(encoder);
    free(encoder);
}

int vs_nexus_data_encoder_open(void **encoder, const struct vs_technique_setup *setup,
                               const struct vs_prior *prior, struct vs_port_writer *heads,
                               struct vs_port_writer *values)
{
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    e->heads = heads;
    int err = vs_data_encoder_init(&e->common, &rare, setup, prior, values);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static int encoder_open(void **encoder, const void *params, const struct vs_technique_setup *setup,
                        const struct vs_prior *prior, struct vs_port_writer *port)
{
    (void)params;
    return vs_nexus_data_encoder_open(encoder, setup, prior, port, port);
}

static const struct vs_data_encoder_ops encoder_ops = {
    encoder_open, encoder_consume, encoder_finish, encoder_counts, encoder_close};

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_port_reader *heads, *port; /* the same, or the heads have one of their own */
    unsigned cores;
    int error; /* of reading a head: it stays */
    bool have; /* the next message's: */
    unsigned core;
    struct vs_data_head head;
    struct vs_buf state;
};

static int parse_head(struct decoder *d)
{
    int err = vs_port_next(d->heads, &d->core, NULL);
    if (err)
        return err;
    if (d->heads != d->port) { /* for what it says of errors */
        d->port->messages = d->heads->messages;
        d->port->start = d->port->bits.pos;
        d->port->core = d->core;
    }
    return vs_data_get_head(d->port, &d->head);
}

static int look(struct decoder *d, unsigned core)
{
    if (core >= d->cores)
        return -VSE_INVAL;
    if (!d->have && !d->error)
        d->error = parse_head(d);
    if (d->error)
        return d->error == -VSE_END ? vs_data_ended(d->port, core) : d->error;
    d->have = true;
    return d->core == core ? 0 : VS_DATA_WAIT;
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    int err = look(d, core);
    if (err || (err = vs_data_get_value(d->port, &d->head, bytes, size)))
        return err;
    d->have = false;
    return 0;
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    (void)addr;
    return decoder_nondet(decoder, core, size, bytes);
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    (void)addr, (void)size, (void)bytes;
    return core < ((struct decoder *)decoder)->cores ? 0 : -VSE_INVAL;
}

static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    (void)since;
    int err = look(d, core);
    vs_data_due(!err ? &d->head : NULL, instructions, ends);
    return err < 0 ? err : 0;
}

static bool decoder_takes(void *decoder, unsigned core, bool store)
{
    (void)decoder, (void)core;
    return !store;
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    int err = look(d, core);
    if (err ||
        (err = vs_data_get_state(d->port, &d->head, core, instructions, &d->state, bytes, size)))
        return err;
    d->have = false;
    return 0;
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    int err = look(d, core);
    if (err || (err = vs_data_get_end(d->port, &d->head, core, instructions)))
        return err;
    d->have = false;
    return 0;
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    int err = look(d, 0);
    if (err >= 0)
        *core = d->core;
    return err < 0 ? err : 0;
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (d)
        vs_buf_fini(&d->state);
    free(d);
}

static int decoder_clone(void *decoder, struct vs_port_reader *port, void **clone)
{
    struct decoder *d = *clone = malloc(sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    *d = *(const struct decoder *)decoder;
    d->heads = d->port = port;
    d->state = (struct vs_buf){0};
    return 0;
}

int vs_nexus_data_decoder_open(void **decoder, const struct vs_technique_setup *setup,
                               struct vs_port_reader *heads, struct vs_port_reader *values)
{
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->heads = heads;
    d->port = values;
    d->cores = setup->cores;
    return 0;
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    (void)params;
    return vs_nexus_data_decoder_open(decoder, setup, port, port);
}

static const struct vs_data_decoder_ops decoder_ops = {.open = decoder_open,
                                                       .read = decoder_read,
                                                       .write = decoder_write,
                                                       .nondet = decoder_nondet,
                                                       .due = decoder_due,
                                                       .takes = decoder_takes,
                                                       .state = decoder_state,
                                                       .end = decoder_end,
                                                       .turn = decoder_turn,
                                                       .clone = decoder_clone,
                                                       .close = decoder_close};

/* ---- technique ------------------------------------------------------------------------------- */

static const struct vs_parameter parameters[] = {VS_DATA_CYCLE_ROWS, {.name = NULL}};

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    (void)params;
    vs_data_cost_common(list, setup);
    return 0;
}

static const char *const aliases[] = {"NX_b", "tmlvNX_b", NULL};

const struct vs_technique vs_technique_mlvnx_b = {
    .kind = VS_TECHNIQUE_DATA,
    .name = "mlvNX_b",
    .aliases = aliases,
    .summary = "every operand that is read, as it is",
    .parameters = parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "dcc=8 dcc_next=8",
    .cycles = vs_data_cycle_chunks,
    .cost = cost,
    .data_encoder = &encoder_ops,
    .data_decoder = &decoder_ops,
};
