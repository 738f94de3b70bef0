/* SPDX-License-Identifier: MIT */
/* daRaw_gzip, daRaw_bzip2, daRaw_xz, daRaw_zstd: what general compressors make of all addresses as
 * they are, with Ti and dCC in a stream of their own (technique/packets.h). Data-address techniques
 * are compared with them, as load values are with those of compressed.c. */
#include <stdlib.h>

#include "technique/address_common.h"
#include "technique/packets.h"

static struct vs_packets_plan plan_of(enum vs_pack_kind kind, const void *params,
                                      const struct vs_technique_setup *setup)
{
    const struct vs_address_params *p = params;
    return vs_packets_plan(kind, (unsigned)p->level, true, setup);
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_address_encoder base; /* its port is the heads' */
    struct vs_packer packer;
};

static inline int take(struct vs_address_encoder *base, const struct vs_batch *batch,
                       const struct vs_event *event)
{
    struct encoder *e = (struct encoder *)base;
    (void)batch;
    if (event->kind != VS_LOAD && event->kind != VS_STORE)
        return 0;
    vs_address_count(&base->counts, event->kind == VS_STORE, true);
    vs_port_begin(base->port, event->thread, base->time);
    vs_port_put(vs_packer_values(&e->packer), VS_FIELD_ADDRESS, event->addr, base->width);
    vs_port_end(base->port);
    return 0;
}

static int encoder_consume(void *encoder, const struct vs_batch *batch)
{
    struct encoder *e = encoder;
    int err = vs_address_each(&e->base, batch, take);
    vs_packer_pass_errors(&e->packer);
    return err;
}

static int encoder_finish(void *encoder)
{
    return vs_packer_finish(&((struct encoder *)encoder)->packer);
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    vs_packer_fini(&e->packer);
    free(e);
}

static int encoder_open(enum vs_pack_kind kind, void **encoder, const void *params,
                        const struct vs_technique_setup *setup, struct vs_port_writer *port)
{
    const struct vs_packets_plan plan = plan_of(kind, params, setup);
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    e->base = (struct vs_address_encoder){.cores = setup->cores, .width = setup->address_bits};
    int err = vs_packer_init(&e->packer, &plan, port);
    e->base.port = vs_packer_heads(&e->packer);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_address_decoder base; /* its port is the heads' */
    struct vs_unpacker unpacker;
    unsigned width;
};

/* Of a message whose head was read. */
static int get(void *decoder, struct vs_port_reader *heads, unsigned core, uint64_t pc,
               uint64_t *addr)
{
    struct decoder *d = decoder;
    struct vs_port_reader *values = vs_unpacker_values(&d->unpacker);
    (void)pc;
    if (heads != values) { /* for what it says of errors */
        values->messages = heads->messages;
        values->start = values->bits.pos;
        values->core = core;
    }
    return vs_port_get(values, VS_FIELD_ADDRESS, d->width, addr);
}

static const struct vs_address_coder raw = {.get = get};

static int decoder_address(void *decoder, unsigned core, uint64_t pc, bool store, uint64_t *addr)
{
    struct decoder *d = decoder;
    (void)store;
    vs_unpacker_prepare(&d->unpacker);
    return vs_unpacker_outcome(&d->unpacker, vs_address_receive(&d->base, core, pc, addr));
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    vs_unpacker_prepare(&d->unpacker);
    return vs_unpacker_outcome(&d->unpacker, vs_address_turn(&d->base, core));
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_unpacker_fini(&d->unpacker);
    free(d);
}

static int decoder_open(enum vs_pack_kind kind, void **decoder, const void *params,
                        const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    const struct vs_packets_plan plan = plan_of(kind, params, setup);
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    d->width = setup->address_bits;
    int err = vs_unpacker_init(&d->unpacker, &plan, port);
    d->base = (struct vs_address_decoder){
        .port = vs_unpacker_heads(&d->unpacker), .coder = &raw, .state = d, .cores = setup->cores};
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

/* ---- techniques ------------------------------------------------------------------------------ */

/* The compressor is software: the chip sends the addresses. */
static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    (void)params, (void)setup, (void)list;
    return 0;
}

/* A technique of one of the kinds; opening is all that differs. */
#define COMPRESSOR(id, which, least, most, usual)                                                  \
    static int id##_encoder_open(void **encoder, const void *params,                               \
                                 const struct vs_technique_setup *setup,                           \
                                 const struct vs_address_code *code, struct vs_port_writer *port)  \
    {                                                                                              \
        (void)code;                                                                                \
        return encoder_open(which, encoder, params, setup, port);                                  \
    }                                                                                              \
    static int id##_decoder_open(void **decoder, const void *params,                               \
                                 const struct vs_technique_setup *setup,                           \
                                 const struct vs_address_code *code, struct vs_port_reader *port)  \
    {                                                                                              \
        (void)code;                                                                                \
        return decoder_open(which, decoder, params, setup, port);                                  \
    }                                                                                              \
    static const struct vs_address_encoder_ops id##_encoder = {.open = id##_encoder_open,          \
                                                               .consume = encoder_consume,         \
                                                               .finish = encoder_finish,           \
                                                               .counts = vs_address_all_counts,    \
                                                               .close = encoder_close};            \
    static const struct vs_address_decoder_ops id##_decoder = {.open = id##_decoder_open,          \
                                                               .address = decoder_address,         \
                                                               .turn = decoder_turn,               \
                                                               .close = decoder_close};            \
    static struct vs_packets_plan id##_packets(const void *params,                                 \
                                               const struct vs_technique_setup *setup)             \
    {                                                                                              \
        return plan_of(which, params, setup);                                                      \
    }                                                                                              \
    static const struct vs_parameter id##_parameters[] = {                                         \
        VS_ADDRESS_NUMBER(level, least, most, "of the compressor"),                                \
        VS_ADDRESS_CYCLE_ROWS,                                                                     \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_daraw_##id = {                                          \
        .kind = VS_TECHNIQUE_ADDRESS,                                                              \
        .name = "daRaw_" #id,                                                                      \
        .summary = "whole addresses through " #id " (software)",                                   \
        .parameters = id##_parameters,                                                             \
        .params_size = sizeof(struct vs_address_params),                                           \
        .defaults = "level=" usual " dcc=8 dcc_next=8",                                            \
        .cycles = vs_address_cycle_chunks,                                                         \
        .cost = cost,                                                                              \
        .packets = id##_packets,                                                                   \
        .address_encoder = &id##_encoder,                                                          \
        .address_decoder = &id##_decoder,                                                          \
    }

VS_PACKETS_COMPRESSORS(COMPRESSOR);
