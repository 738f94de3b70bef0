/* SPDX-License-Identifier: MIT */
/* BASE_gzip, BASE_bzip2, BASE_xz, BASE_zstd: what general compressors make of the records of
 * streams as BASE has them, with Ti and dCC in a stream of their own (technique/packets.h).
 * Techniques of streams are compared with them, as load values with those of compressed.c: the
 * dissertation's SW-GZIP "compresses the partial stream descriptors only", which these are. */
#include <stdlib.h>

#include "technique/packets.h"
#include "technique/registry.h"
#include "technique/streams.h"

/* ---- parameters ------------------------------------------------------------------------------ */

struct params {
    uint64_t level, dcc, dcc_next;
};

#define AT(field) .name = #field, .offset = offsetof(struct params, field)

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

static struct vs_packets_plan plan_of(enum vs_pack_kind kind, const void *params,
                                      const struct vs_technique_setup *setup)
{
    const struct params *p = params;
    return vs_packets_plan(kind, (unsigned)p->level, true, setup);
}

/* The compressor is software: the chip detects streams. */
static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    (void)params;
    vs_stream_cost(setup, list);
    return 0;
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_packer packer;
    void *base;
};

static int encoder_consume(void *encoder, const struct vs_step *steps, size_t count)
{
    struct encoder *e = encoder;
    int err = vs_stream_consume(e->base, steps, count);
    vs_packer_pass_errors(&e->packer);
    return err;
}

static int encoder_finish(void *encoder)
{
    struct encoder *e = encoder;
    int err = vs_stream_finish(e->base);
    return err ? err : vs_packer_finish(&e->packer);
}

static void encoder_counts(const void *encoder, struct vs_flow_counts *counts)
{
    vs_stream_counts(((const struct encoder *)encoder)->base, counts);
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    vs_stream_encoder_close(e->base);
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
    int err = vs_packer_init(&e->packer, &plan, port);
    if (!err)
        err = vs_stream_encoder_open(&e->base, vs_stream_base(), params, setup,
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

static int decoder_head(void *decoder, struct vs_flow_head *head)
{
    struct decoder *d = decoder;
    vs_unpacker_prepare(&d->unpacker);
    return vs_unpacker_outcome(&d->unpacker, vs_stream_head(d->base, head));
}

static int decoder_branch(void *decoder, unsigned core, const struct vs_flow_site *site,
                          struct vs_flow_answer *answer)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, vs_stream_branch(d->base, core, site, answer));
}

static int decoder_discontinuity(void *decoder, unsigned core, uint64_t *target)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, vs_stream_discontinuity(d->base, core, target));
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    vs_stream_decoder_close(d->base);
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
    int err = vs_unpacker_init(&d->unpacker, &plan, port);
    if (!err)
        err = vs_stream_decoder_open(&d->base, vs_stream_base(), params, setup,
                                     vs_unpacker_heads(&d->unpacker),
                                     vs_unpacker_values(&d->unpacker));
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

/* ---- techniques ------------------------------------------------------------------------------ */

/* A technique of one of the kinds; opening is all that differs. The level is the one that the
 * program of that name takes by itself, as the publication names none. */
#define COMPRESSOR(id, which, title, least, most, usual)                                           \
    static int id##_encoder_open(void **encoder, const void *params,                               \
                                 const struct vs_technique_setup *setup,                           \
                                 struct vs_port_writer *port)                                      \
    {                                                                                              \
        return encoder_open(which, encoder, params, setup, port);                                  \
    }                                                                                              \
    static int id##_decoder_open(void **decoder, const void *params,                               \
                                 const struct vs_technique_setup *setup,                           \
                                 struct vs_port_reader *port)                                      \
    {                                                                                              \
        return decoder_open(which, decoder, params, setup, port);                                  \
    }                                                                                              \
    static const struct vs_flow_encoder_ops id##_encoder = {.open = id##_encoder_open,             \
                                                            .consume = encoder_consume,            \
                                                            .finish = encoder_finish,              \
                                                            .counts = encoder_counts,              \
                                                            .close = encoder_close};               \
    static const struct vs_flow_decoder_ops id##_decoder = {.open = id##_decoder_open,             \
                                                            .head = decoder_head,                  \
                                                            .branch = decoder_branch,              \
                                                            .discontinuity =                       \
                                                                decoder_discontinuity,             \
                                                            .close = decoder_close};               \
    static struct vs_packets_plan id##_packets(const void *params,                                 \
                                               const struct vs_technique_setup *setup)             \
    {                                                                                              \
        return plan_of(which, params, setup);                                                      \
    }                                                                                              \
    static const struct vs_parameter id##_parameters[] = {                                         \
        {AT(level), .min = least, .max = most, .help = "of the compressor"},                       \
        {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},                  \
        {AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"},                   \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_base_##id = {                                           \
        .kind = VS_TECHNIQUE_FLOW,                                                                 \
        .name = "BASE_" title,                                                                     \
        .summary = "streams as in BASE, through " title " (software)",                             \
        .parameters = id##_parameters,                                                             \
        .params_size = sizeof(struct params),                                                      \
        .defaults = "level=" usual " dcc=8 dcc_next=8",                                            \
        .cycles = cycles,                                                                          \
        .cost = cost,                                                                              \
        .packets = id##_packets,                                                                   \
        .encoder = &id##_encoder,                                                                  \
        .decoder = &id##_decoder,                                                                  \
    }

COMPRESSOR(gzip, VS_PACK_GZIP, "gzip", 1, 9, "6");
COMPRESSOR(bzip2, VS_PACK_BZIP2, "bzip2", 1, 9, "9");
COMPRESSOR(xz, VS_PACK_XZ, "xz", 0, 9, "6");
COMPRESSOR(zstd, VS_PACK_ZSTD, "zstd", 1, 19, "3");
