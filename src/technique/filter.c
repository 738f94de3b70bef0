/* SPDX-License-Identifier: MIT */
/* daFilter sends the addresses that the debugger cannot tell from the registers it knows
 * (technique/validity.h), as they are, or in the code of daNX or ADAC.
 *
 *   Ti | [dCC] | address */
#include <stdlib.h>

#include "technique/address_common.h"
#include "technique/validity.h"

/* ---- whole addresses ------------------------------------------------------------------------- */

struct plain {
    unsigned width;
};

static int plain_open(void **state, const struct vs_address_params *params,
                      const struct vs_technique_setup *setup)
{
    struct plain *p = *state = malloc(sizeof(*p));
    (void)params;
    if (!p)
        return -VSE_NOMEM;
    p->width = setup->address_bits;
    return 0;
}

static void plain_put(void *state, struct vs_port_writer *port,
                      const struct vs_address_operand *operand, uint64_t addr,
                      struct vs_address_counts *counts)
{
    (void)operand, (void)counts;
    vs_port_put(port, VS_FIELD_ADDRESS, addr, ((const struct plain *)state)->width);
}

static int plain_get(void *state, struct vs_port_reader *port,
                     const struct vs_address_operand *operand, uint64_t *addr)
{
    (void)operand;
    return vs_port_get(port, VS_FIELD_ADDRESS, ((const struct plain *)state)->width, addr);
}

static void plain_cost(const struct vs_address_params *params,
                       const struct vs_technique_setup *setup, struct vs_cost_list *list)
{
    (void)params, (void)setup, (void)list;
}

static const struct vs_address_coder plain = {
    .open = plain_open, .put = plain_put, .get = plain_get, .close = free, .cost = plain_cost};

static const struct vs_address_coder *coder_of(const struct vs_address_params *p)
{
    switch (p->code) {
    case VS_ADDRESS_NEXUS:
        return &vs_address_nexus;
    case VS_ADDRESS_ADAC:
        return &vs_address_adac;
    default:
        return &plain;
    }
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_address_encoder base;
    struct vs_validity validity;
};

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    vs_validity_fini(&e->validity);
    vs_address_encoder_fini(&e->base);
    free(e);
}

static int encoder_open(void **encoder, const struct vs_technique_context *context)
{
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_address_encoder_init(&e->base, coder_of(context->params), context);
    if (!err)
        err = vs_validity_init(&e->validity, context->setup->cores, context->code, false);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static void count_form(struct vs_address_counts *c, unsigned form, bool store, bool sent)
{
    if (store) {
        c->form_stores[form]++;
        c->form_stores_sent[form] += sent;
    } else {
        c->form_loads[form]++;
        c->form_loads_sent[form] += sent;
    }
}

static inline int take(struct vs_address_encoder *base, const struct vs_batch *batch,
                       const struct vs_event *event)
{
    struct encoder *e = (struct encoder *)base;
    struct vs_validity *v = &e->validity;
    bool store = event->kind == VS_STORE;
    struct vs_address_move move;
    uint64_t told;
    if (v->code && vs_address_move(batch, event, v->code->isa, &move))
        vs_validity_follow(v, &move);
    if (event->kind != VS_LOAD && !store)
        return 0;
    const struct vs_memory_operand *m = vs_validity_operand(v, event->thread, store);
    bool sent = !vs_validity_tells(v, event->thread, m, store, &told);
    vs_address_count(&base->counts, store, sent);
    count_form(&base->counts, m ? m->form : VS_FORM_OTHER, store, sent);
    if (sent)
        vs_address_send(base, event);
    vs_validity_took(v, event->thread, m, store, event->addr);
    return 0;
}

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    return vs_address_each(encoder, slice->events, take);
}

static void encoder_counts(const void *encoder, void *counts)
{
    const struct encoder *e = encoder;
    struct vs_address_counts *c = counts;
    *c = e->base.counts;
    c->computing = e->validity.computing;
    c->unmodelled = e->validity.unmodelled;
}

static const struct vs_encoder_ops encoder_ops = {.needs = VS_NEEDS_ACCESSES | VS_NEEDS_CODE,
                                                  .open = encoder_open,
                                                  .consume = encoder_consume,
                                                  .counts = encoder_counts,
                                                  .rows = vs_address_count_rows,
                                                  .close = encoder_close};

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_address_decoder base;
    struct vs_validity validity;
};

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_validity_fini(&d->validity);
    vs_address_decoder_fini(&d->base);
    free(d);
}

static int decoder_open(void **decoder, const void *params, const struct vs_technique_setup *setup,
                        const struct vs_address_code *code, struct vs_port_reader *port)
{
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    int err = vs_address_decoder_init(&d->base, coder_of(params), params, setup, port);
    if (!err)
        err = vs_validity_init(&d->validity, setup->cores, code, true);
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

static int decoder_address(void *decoder, const struct vs_address_operand *operand, uint64_t *addr)
{
    struct decoder *d = decoder;
    unsigned core = operand->core;
    bool store = operand->store;
    if (core >= d->base.cores)
        return -VSE_INVAL;
    const struct vs_memory_operand *m = vs_validity_operand(&d->validity, core, store);
    if (!vs_validity_tells(&d->validity, core, m, store, addr)) {
        int err = vs_address_receive(&d->base, operand, addr);
        if (err)
            return err;
    }
    vs_validity_took(&d->validity, core, m, store, *addr);
    return 0;
}

static int decoder_follow(void *decoder, const struct vs_address_move *move)
{
    struct decoder *d = decoder;
    if (move->core >= d->base.cores)
        return -VSE_INVAL;
    vs_validity_follow(&d->validity, move);
    return 0;
}

static const struct vs_address_decoder_ops decoder_ops = {.open = decoder_open,
                                                          .address = decoder_address,
                                                          .follow = decoder_follow,
                                                          .turn = vs_address_turn,
                                                          .close = decoder_close};

/* ---- technique ------------------------------------------------------------------------------- */

static const char *const codes[] = {"plain", "nexus", "adac", NULL};

static const struct vs_parameter parameters[] = {
    {.name = "code",
     .offset = offsetof(struct vs_address_params, code),
     .words = codes,
     .help = "of the addresses that are sent"},
    VS_ADDRESS_NUMBER(group, 1, 64, "bits of a group, of nexus"),
    VS_ADDRESS_TABLE_ROWS,
    VS_ADDRESS_TRAINING_ROWS,
    VS_ADDRESS_CYCLE_ROWS,
    {.name = NULL}};

static const struct vs_technique_config configs[] = {
    {"plain", "code=plain"}, {"nexus", "code=nexus"}, {"adac", "code=adac"}, {0}};

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    /* one for each integer register, of which no ISA here has more than 32 */
    vs_cost_list_add(list, "valid bits", (struct vs_cost){.registers = 32}, setup->cores);
    coder_of(params)->cost(params, setup, list);
    return 0;
}

const struct vs_technique vs_technique_dafilter = {
    .serves = VS_TECHNIQUE_ADDRESS,
    .name = "daFilter",
    .summary = "addresses that do not follow from registers that are known",
    .parameters = parameters,
    .params_size = sizeof(struct vs_address_params),
    .defaults = "code=plain group=6 sets=128 ways=4 low=1 window=4 max=12 min=0 tmax=8 inc=8 dec=1 "
                "dcc=8 dcc_next=8",
    .configs = configs,
    .check = vs_address_check_table,
    .cycles = vs_address_cycle_chunks,
    .cost = cost,
    .encoder = &encoder_ops,
    .address_decoder = &decoder_ops,
};
