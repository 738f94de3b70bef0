/* SPDX-License-Identifier: MIT */
/* mlvNX_gzip, mlvNX_bzip2, mlvNX_xz, mlvNX_zstd: what general compressors make of the baseline's
 * stream, whole (unified), or of its Ti and dCC and of the rest by themselves (split). They are
 * what a trace module is compared with, and none themselves: they keep megabytes and send a packet
 * (technique/packets.h) when it is full, long after what is in it. */
#include <stdlib.h>

#include "technique/data_common.h"
#include "technique/nexus_data.h"
#include "technique/packets.h"

static struct vs_packets_plan plan_of(enum vs_pack_kind kind, const void *params,
                                      const struct vs_technique_setup *setup)
{
    const struct vs_data_params *p = params;
    return vs_packets_plan(kind, (unsigned)p->level, p->streams == VS_DATA_SPLIT, setup);
}

static const struct vs_data_encoder_ops *base_encoder(void)
{
    return vs_technique_mlvnx_b.data_encoder;
}

static const struct vs_data_decoder_ops *base_decoder(void)
{
    return vs_technique_mlvnx_b.data_decoder;
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_packer packer;
    void *base;
};

static int encoder_consume(void *encoder, const struct vs_batch *batch)
{
    struct encoder *e = encoder;
    int err = base_encoder()->consume(e->base, batch);
    vs_packer_pass_errors(&e->packer);
    return err;
}

static int encoder_finish(void *encoder)
{
    struct encoder *e = encoder;
    int err = base_encoder()->finish(e->base);
    return err ? err : vs_packer_finish(&e->packer);
}

static void encoder_counts(const void *encoder, struct vs_data_counts *counts)
{
    base_encoder()->counts(((const struct encoder *)encoder)->base, counts);
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    base_encoder()->close(e->base);
    vs_packer_fini(&e->packer);
    free(e);
}

static int encoder_open(enum vs_pack_kind kind, void **encoder, const void *params,
                        const struct vs_technique_setup *setup, const struct vs_prior *prior,
                        struct vs_port_writer *port)
{
    const struct vs_packets_plan plan = plan_of(kind, params, setup);
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_packer_init(&e->packer, &plan, port);
    if (!err)
        err = vs_nexus_data_encoder_open(&e->base, params, setup, prior,
                                         vs_packer_heads(&e->packer), vs_packer_values(&e->packer));
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_unpacker unpacker;
    void *base;
};

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker,
                               base_decoder()->read(d->base, core, addr, size, bytes));
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    return base_decoder()->write(((struct decoder *)decoder)->base, core, addr, size, bytes);
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, base_decoder()->nondet(d->base, core, size, bytes));
}

static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker,
                               base_decoder()->due(d->base, core, since, instructions, ends));
}

static bool decoder_takes(void *decoder, unsigned core, bool store)
{
    return base_decoder()->takes(((struct decoder *)decoder)->base, core, store);
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker,
                               base_decoder()->state(d->base, core, instructions, bytes, size));
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, base_decoder()->end(d->base, core, instructions));
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, base_decoder()->turn(d->base, core));
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    base_decoder()->close(d->base);
    vs_unpacker_fini(&d->unpacker);
    free(d);
}

static void prepare(void *unpacker)
{
    vs_unpacker_prepare(unpacker);
}

static int decoder_open(enum vs_pack_kind kind, void **decoder, const void *params,
                        const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    const struct vs_packets_plan plan = plan_of(kind, params, setup);
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    int err = vs_unpacker_init(&d->unpacker, &plan, port);
    if (!err)
        err = vs_nexus_data_decoder_open(&d->base, params, setup, vs_unpacker_heads(&d->unpacker),
                                         vs_unpacker_values(&d->unpacker), prepare, &d->unpacker);
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

/* ---- techniques ------------------------------------------------------------------------------ */

/* Of the chip: what makes the stream. The compressor is software. */
static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    return vs_technique_mlvnx_b.cost(params, setup, list);
}

static const struct vs_technique_config configs[] = {
    {"unified", "streams=unified"}, {"split", "streams=split"}, {.name = NULL}};

/* A technique of one of the kinds; opening is all that differs. */
#define COMPRESSOR(id, which, least, most, usual)                                                  \
    static int id##_encoder_open(void **encoder, const void *params,                               \
                                 const struct vs_technique_setup *setup,                           \
                                 const struct vs_prior *prior, struct vs_port_writer *port)        \
    {                                                                                              \
        return encoder_open(which, encoder, params, setup, prior, port);                           \
    }                                                                                              \
    static int id##_decoder_open(void **decoder, const void *params,                               \
                                 const struct vs_technique_setup *setup,                           \
                                 struct vs_port_reader *port)                                      \
    {                                                                                              \
        return decoder_open(which, decoder, params, setup, port);                                  \
    }                                                                                              \
    static const struct vs_data_encoder_ops id##_encoder = {                                       \
        id##_encoder_open, encoder_consume, encoder_finish, encoder_counts, encoder_close};        \
    static const struct vs_data_decoder_ops id##_decoder = {.open = id##_decoder_open,             \
                                                            .read = decoder_read,                  \
                                                            .write = decoder_write,                \
                                                            .nondet = decoder_nondet,              \
                                                            .due = decoder_due,                    \
                                                            .takes = decoder_takes,                \
                                                            .state = decoder_state,                \
                                                            .end = decoder_end,                    \
                                                            .turn = decoder_turn,                  \
                                                            .close = decoder_close};               \
    static struct vs_packets_plan id##_packets(const void *params,                                 \
                                               const struct vs_technique_setup *setup)             \
    {                                                                                              \
        return plan_of(which, params, setup);                                                      \
    }                                                                                              \
    static const struct vs_parameter id##_parameters[] = {                                         \
        VS_DATA_WORD(streams, vs_data_streams_words, "Ti and dCC with the rest, or apart"),        \
        VS_DATA_NUMBER(level, least, most, "of the compressor"),                                   \
        VS_DATA_CYCLE_ROWS,                                                                        \
        VS_DATA_ICNT_ROW,                                                                          \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_mlvnx_##id = {                                          \
        .kind = VS_TECHNIQUE_DATA,                                                                 \
        .name = "mlvNX_" #id,                                                                      \
        .summary = "mlvNX_b through " #id " (software)",                                           \
        .parameters = id##_parameters,                                                             \
        .params_size = sizeof(struct vs_data_params),                                              \
        .defaults = "streams=unified level=" usual " dcc=8 dcc_next=8 icnt_bits=32",               \
        .unnamed = "icnt_bits=64",                                                                 \
        .configs = configs,                                                                        \
        .cycles = vs_data_cycle_chunks,                                                            \
        .cost = cost,                                                                              \
        .packets = id##_packets,                                                                   \
        .data_encoder = &id##_encoder,                                                             \
        .data_decoder = &id##_decoder,                                                             \
    }

VS_PACKETS_COMPRESSORS(COMPRESSOR);
