/* SPDX-License-Identifier: MIT */
/* mlvNX_b: the Nexus-like baseline. It sends every operand that is read: Ti | [dCC] | its bytes.
 *
 * With prefetch=reported each prefetch is a message, too, as if it read 64 bytes. Published tables
 * count that. The bytes are not known here, so zeros stand for them, and no decoder reads this. */
#include "technique/nexus_data.h"

#include <stdlib.h>

#include "technique/data_common.h"
#include "technique/machine.h"
#include "technique/message_each.h"
#include "technique/passage.h"

/* ---- encoder --------------------------------------------------------------------------------- */

enum { PREFETCHED = 64 }; /* bytes */

struct encoder {
    struct vs_data_encoder common;
    struct vs_port_writer *heads; /* the common part's port, or one for the heads alone */
    bool prefetches;              /* are reported */
    struct vs_passage passage;    /* if they are */
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
    if (heads != e->port) /* the message has bits in both */
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

/* The prefetches on the way to a step; they count as committed at the last event so far. */
static void put_prefetches(struct encoder *e, const struct vs_step *s)
{
    static const uint8_t bytes[PREFETCHED];
    for (uint64_t n = vs_passage_prefetches(&e->passage, s); n; n--) {
        vs_port_begin(e->heads, s->core, e->common.time);
        vs_port_put_bytes(e->common.port, VS_FIELD_VALUE, bytes, sizeof(bytes));
        vs_port_end(e->common.port);
        e->common.counts.prefetches++;
    }
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct encoder *e = encoder;
    int err = vs_data_each(encoder, slice->events, load, vs_data_store_nothing);
    for (size_t i = 0; e->prefetches && i < slice->step_count && !err; i++) {
        const struct vs_step *s = &slice->steps[i];
        if (unlikely(s->core >= e->common.cores))
            return -VSE_INVAL;
        put_prefetches(e, s);
    }
    return err;
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    vs_data_encoder_fini(&e->common);
    vs_passage_fini(&e->passage);
    free(e);
}

int vs_nexus_data_encoder_open(void **encoder, const struct vs_technique_context *context,
                               struct vs_port_writer *heads)
{
    int err = vs_machine_new(encoder, sizeof(struct encoder), 0, 0);
    struct encoder *e = *encoder;
    if (err)
        return err;
    e->heads = heads;
    err = vs_data_encoder_init(&e->common, &rare, context);
    return vs_machine_opened(encoder, err, encoder_close);
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    const struct vs_data_params *p = context->params;
    int err = vs_nexus_data_encoder_open(encoder, context, context->port);
    struct encoder *e = *encoder;
    if (err || !p->prefetch)
        return err;
    e->prefetches = true;
    err = context->code ? vs_passage_init(&e->passage, context->code, context->setup->cores)
                        : -VSE_INVAL;
    return vs_machine_opened(encoder, err, encoder_close);
}

static const struct vs_encoder_ops encoder_ops =
    VS_DATA_ENCODER(encoder_open, encoder_consume, vs_data_finish, encoder_close);

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_message_each each;
    struct vs_port_reader *heads; /* the same port, or one for the heads alone: each.heads */
};

static int parse(struct vs_message_each *m)
{
    struct vs_port_reader *heads = ((struct decoder *)m)->heads;
    int err = vs_port_next(heads, &m->core, NULL);
    if (err)
        return err;
    if (heads != m->port) { /* for error messages */
        m->port->messages = heads->messages;
        m->port->start = m->port->bits.pos;
        m->port->core = m->core;
    }
    return vs_data_get_head(m->port, &m->passed, m->core, &m->head);
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    (void)addr;
    return vs_message_each_nondet(decoder, core, size, bytes);
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (d)
        vs_message_each_fini(&d->each);
    free(d);
}

static int decoder_clone(void *decoder, struct vs_port_reader *port, void **clone)
{
    const struct decoder *from = decoder;
    struct decoder *d = *clone = malloc(sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->heads = port;
    int err = vs_message_each_clone(&d->each, &from->each, port);
    return vs_machine_opened(clone, err, decoder_close);
}

int vs_nexus_data_decoder_open(void **decoder, const struct vs_data_params *params,
                               const struct vs_technique_setup *setup, struct vs_port_reader *heads,
                               struct vs_port_reader *values, void (*prepare)(void *context),
                               void *context)
{
    int err = vs_machine_new(decoder, sizeof(struct decoder), 0, 0);
    struct decoder *d = *decoder;
    if (err)
        return err;
    d->heads = heads;
    err = vs_message_each_init(&d->each, parse, params, setup->cores, values);
    d->each.heads = heads;
    d->each.prepare = prepare;
    d->each.context = context;
    return vs_machine_opened(decoder, err, decoder_close);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    return vs_nexus_data_decoder_open(decoder, params, setup, port, port, NULL, NULL);
}

static const struct vs_data_decoder_ops decoder_ops = {
    VS_MESSAGE_EACH(decoder_open, decoder_read, vs_message_each_write, decoder_clone,
                    decoder_close),
    .nondet = vs_message_each_nondet,
};

/* ---- technique ------------------------------------------------------------------------------- */

static const char *const prefetch_words[] = {"unseen", "reported", NULL};

static const struct vs_parameter parameters[] = {
    VS_DATA_CYCLE_ROWS,
    VS_DATA_ICNT_ROW,
    VS_DATA_WORD(prefetch, prefetch_words, "reported: as reads of 64 bytes, not decodable"),
    {.name = NULL},
};

static const char *undecodable(const void *params)
{
    return ((const struct vs_data_params *)params)->prefetch
               ? "no load has the bytes that a prefetch is taken to read"
               : NULL;
}

static unsigned needs(const void *params)
{
    return ((const struct vs_data_params *)params)->prefetch ? VS_NEEDS_STEPS | VS_NEEDS_CODE : 0;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    vs_data_cost_common(list, params, setup);
    return 0;
}

static const char *const aliases[] = {"NX_b", "tmlvNX_b", NULL};

const struct vs_technique vs_technique_mlvnx_b = {
    .serves = VS_TECHNIQUE_DATA,
    .name = "mlvNX_b",
    .aliases = aliases,
    .summary = "every operand that is read, as it is",
    .parameters = parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "dcc=8 dcc_next=8 icnt_bits=32",
    .unnamed = "icnt_bits=64",
    .cycles = vs_data_cycle_chunks,
    .undecodable = undecodable,
    .cost = cost,
    .needs = needs,
    .encoder = &encoder_ops,
    .data_decoder = &decoder_ops,
};
