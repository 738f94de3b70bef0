/* SPDX-License-Identifier: MIT */
/* etrace_lv: the data trace of RISC-V Efficient Trace with data only, of loads. Every operand that
 * is read is a packet (technique/etrace_data.h), or several if it is not moved at once:
 *
 *   Ti | [dCC] | { length | format | size | diff | data }
 *
 * The data are sign-extended to the widest transfer, and whole, or their exclusive or with the last
 * ones of the same size. What the standard has no packet for has messages as in mlvNX_b: registers
 * and ends of cores, and values from outside, which a byte that begins no packet announces. The
 * first data of each size after registers are whole. */
#include <stdlib.h>

#include "technique/data_common.h"
#include "technique/etrace_data.h"
#include "technique/machine.h"
#include "technique/message_each.h"

enum { SIZES = 4, OUTSIDE = 0xe0 };

struct core {
    uint64_t last[SIZES]; /* by size, as it was sent */
    bool known[SIZES];
};

/* Each side has its own. */
struct values {
    struct vs_etrace_data_layout layout;
    enum vs_etrace_data_mode mode;
    unsigned count;
    struct core *cores;
};

static int values_init(struct values *v, const struct vs_data_params *params, unsigned cores)
{
    v->layout =
        vs_etrace_data_layout(params->data_bytes, VS_FIELD_VALUE, 8 * (unsigned)params->data_bytes);
    v->mode = (enum vs_etrace_data_mode)params->values;
    v->count = cores;
    v->cores = calloc(cores, sizeof(*v->cores));
    return v->cores ? 0 : -VSE_NOMEM;
}

static void synchronise(struct values *v, unsigned core)
{
    v->cores[core] = (struct core){0};
}

/* Makes the packet of a transfer. */
static struct vs_etrace_data_packet describe(const struct values *v, uint64_t addr, size_t size,
                                             uint64_t value)
{
    unsigned log = vs_etrace_data_size(&v->layout, size), unused = 64 - (8u << log);
    uint64_t wide = (uint64_t)((int64_t)(value << unused) >> unused);
    return (struct vs_etrace_data_packet){.unaligned = addr & vs_etrace_ones(log),
                                          .size = (uint8_t)log,
                                          .content = wide & vs_etrace_ones(v->layout.bits)};
}

/* Makes it one of what differs if that is to be sent, and notes the data. */
static void choose(struct values *v, unsigned core, struct vs_etrace_data_packet *p,
                   struct vs_etrace_bits *bits)
{
    struct core *c = &v->cores[core];
    uint64_t whole = p->content;
    vs_etrace_data_choose(&v->layout, c->known[p->size] ? v->mode : VS_ETRACE_DATA_FULL,
                          whole ^ c->last[p->size], p, bits);
    c->last[p->size] = whole;
    c->known[p->size] = true;
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_data_encoder common;
    struct values values;
};

static void rare_head(struct vs_data_encoder *e, unsigned core, enum vs_data_what what, size_t size)
{
    (void)size;
    vs_port_begin(e->port, core, e->time);
    if (what == VS_DATA_NONDET)
        vs_port_put(e->port, VS_FIELD_HEADER, OUTSIDE, 8);
    else if (what != VS_DATA_FULL)
        synchronise(&((struct encoder *)e)->values, core);
}

static const struct vs_data_rare rare = {.head = rare_head};

static int load(struct vs_data_encoder *e, unsigned core, uint64_t addr, size_t size,
                const uint8_t *bytes)
{
    struct values *v = &((struct encoder *)e)->values;
    vs_port_begin(e->port, core, e->time);
    for (size_t at = 0, n; at < size; at += n) {
        struct vs_etrace_bits bits;
        uint64_t value = 0;
        n = (size_t)1 << vs_etrace_data_size(&v->layout, size - at);
        for (size_t i = 0; i < n; i++)
            value |= (uint64_t)bytes[at + i] << 8 * i;
        struct vs_etrace_data_packet p = describe(v, addr + at, n, value);
        choose(v, core, &p, &bits);
        vs_etrace_data_put(e->port, &bits);
    }
    vs_port_end(e->port);
    vs_data_note_load(e, size, false);
    return 0;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    return vs_data_each(encoder, slice->events, load, vs_data_store_nothing);
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    vs_data_encoder_fini(&e->common);
    free(e->values.cores);
    free(e);
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    int err = vs_machine_new(encoder, sizeof(struct encoder), 0, 0);
    struct encoder *e = *encoder;
    if (!err)
        err = vs_data_encoder_init(&e->common, &rare, context);
    if (!err)
        err = values_init(&e->values, context->params, context->setup->cores);
    return vs_machine_opened(encoder, err, encoder_close);
}

static const struct vs_encoder_ops encoder_ops =
    VS_DATA_ENCODER(encoder_open, encoder_consume, vs_data_finish, encoder_close);

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_message_each each;
    struct values values;
    unsigned bytes; /* of the next message's first packet; 0: it is a value from outside */
};

static int parse(struct vs_message_each *m)
{
    struct decoder *d = (struct decoder *)m;
    int err = vs_port_next(m->port, &m->core, NULL);
    if (!err)
        err = vs_data_get_head(m->port, &m->passed, m->core, &m->head);
    if (err)
        return err;
    if (m->head.state) {
        if (!m->head.full)
            synchronise(&d->values, m->core);
        return 0;
    }
    uint64_t pos = m->port->bits.pos, first;
    d->bytes = 0;
    if ((err = vs_port_get(m->port, VS_FIELD_HEADER, 8, &first)) || first == OUTSIDE)
        return err;
    m->port->bits.pos = pos;
    err = vs_etrace_data_head(m->port, &d->bytes);
    return err || d->bytes ? err : vs_port_refuse(m->port, VS_FIELD_HEADER, "a packet of no bytes");
}

static int get_transfer(struct decoder *d, unsigned core, uint64_t addr, size_t n, uint8_t *out)
{
    struct vs_port_reader *port = d->each.port;
    struct values *v = &d->values;
    struct core *c = &v->cores[core];
    struct vs_etrace_data_packet p;
    struct vs_etrace_bits bits;
    int err = vs_etrace_data_get(port, &v->layout, d->bytes, &p);
    if (err)
        return err;
    if (p.store || (size_t)1 << p.size != n)
        return vs_port_refuse(port, VS_FIELD_HEADER, "the instruction makes another access");
    uint64_t value = p.content ^ (p.differs ? c->last[p.size] : 0);
    struct vs_etrace_data_packet should = describe(v, addr, n, value);
    bool extended = should.content == value;
    choose(v, core, &should, &bits);
    if (!extended || should.unaligned != p.unaligned || should.differs != p.differs)
        return vs_port_refuse(port, VS_FIELD_VALUE, "data that are sent otherwise");
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(value >> 8 * i);
    return 0;
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    struct vs_message_each *m = &d->each;
    int err = vs_message_each_look(m, core);
    if (err)
        return err;
    if (m->head.state || !d->bytes)
        return vs_port_refuse(m->port, VS_FIELD_VALUE, "no load where one should be");
    for (size_t at = 0, n; at < size && !err; at += n) {
        n = (size_t)1 << vs_etrace_data_size(&d->values.layout, size - at);
        if (at)
            err = vs_etrace_data_head(m->port, &d->bytes);
        if (!err)
            err = get_transfer(d, core, addr + at, n, bytes + at);
    }
    if (!err)
        vs_message_each_take(m);
    return err;
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    struct vs_message_each *m = &d->each;
    int err = vs_message_each_look(m, core);
    if (err)
        return err;
    if (!m->head.state && d->bytes)
        return vs_port_refuse(m->port, VS_FIELD_VALUE, "a load where a value should be");
    return vs_message_each_nondet(decoder, core, size, bytes);
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_message_each_fini(&d->each);
    free(d->values.cores);
    free(d);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    int err = vs_machine_new(decoder, sizeof(struct decoder), 0, 0);
    struct decoder *d = *decoder;
    if (!err)
        err = vs_message_each_init(&d->each, parse, params, setup->cores, port);
    if (!err)
        err = values_init(&d->values, params, setup->cores);
    return vs_machine_opened(decoder, err, decoder_close);
}

static int decoder_clone(void *decoder, struct vs_port_reader *port, void **clone)
{
    const struct decoder *from = decoder;
    struct decoder *d = *clone = malloc(sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    *d = *from;
    size_t size = from->values.count * sizeof(*d->values.cores);
    d->values.cores = malloc(size);
    int err = vs_message_each_clone(&d->each, &from->each, port);
    if (!err && !d->values.cores)
        err = -VSE_NOMEM;
    for (unsigned i = 0; i < from->values.count && !err; i++)
        d->values.cores[i] = from->values.cores[i];
    return vs_machine_opened(clone, err, decoder_close);
}

static const struct vs_data_decoder_ops decoder_ops = {
    VS_MESSAGE_EACH(decoder_open, decoder_read, vs_message_each_write, decoder_clone,
                    decoder_close),
    .nondet = decoder_nondet,
};

/* ---- technique ------------------------------------------------------------------------------- */

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_data_params *p = params;
    unsigned sizes = vs_etrace_data_layout(p->data_bytes, VS_FIELD_VALUE, 8).size_max + 1;
    vs_data_cost_common(list, p, setup);
    if (p->values != VS_ETRACE_DATA_FULL) /* data for each size, and whether there are any */
        vs_cost_list_add(list, "last data",
                         (struct vs_cost){.registers = sizes * (8 * p->data_bytes + 1)},
                         setup->cores);
    return 0;
}

static const char *const value_words[] = {"xor", "full", "shorter", NULL}; /* the modes */

static const struct vs_parameter parameters[] = {
    VS_DATA_POWER(data_bytes, 1, 8, "bytes of the widest transfer"),
    VS_DATA_WORD(values, value_words,
                 "what differs from the last of the same size; all; or either"),
    VS_DATA_CYCLE_ROWS,
    VS_DATA_ICNT_ROW,
    {.name = NULL}};

static const struct vs_technique_config configs[] = {
    {"full", "values=full"}, {"xor", "values=xor"}, {0}};

const struct vs_technique vs_technique_etrace_lv = {
    .serves = VS_TECHNIQUE_DATA,
    .name = "etrace_lv",
    .summary = "RISC-V Efficient Trace 2.0: data packets of loads with data only",
    .parameters = parameters,
    .params_size = sizeof(struct vs_data_params),
    .defaults = "data_bytes=8 values=shorter dcc=8 dcc_next=8 icnt_bits=32",
    .configs = configs,
    .cycles = vs_data_cycle_chunks,
    .cost = cost,
    .encoder = &encoder_ops,
    .data_decoder = &decoder_ops,
};
