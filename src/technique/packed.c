/* SPDX-License-Identifier: MIT */
/* What general compressors make of a stream. Techniques are compared with them; they are no trace
 * modules themselves, since they keep megabytes and send a packet (technique/packets.h) when it is
 * full, long after what is in it.
 *
 *   BASE_*    BASE's records of streams, with Ti and dCC in a stream of their own: the
 *             dissertation's SW-GZIP "compresses the partial stream descriptors only"
 *   mlvNX_*   mlvNX_b's messages, whole (unified), or with Ti and dCC by themselves (split)
 *   daRaw_*   all addresses as they are, with Ti and dCC in a stream of their own */
#include <stdlib.h>

#include "technique/address_common.h"
#include "technique/data_common.h"
#include "technique/nexus_data.h"
#include "technique/packets.h"
#include "technique/streams.h"

/* The parameters of all of them are a struct vs_data_params, as mlvNX_b takes it. */
static struct vs_packets_plan plan_of(enum vs_pack_kind kind, bool split, const void *params,
                                      const struct vs_technique_setup *setup)
{
    const struct vs_data_params *p = params;
    return vs_packets_plan(kind, (unsigned)p->level, split || p->streams == VS_DATA_SPLIT, setup);
}

/* ---- encoder --------------------------------------------------------------------------------- */

struct encoder {
    struct vs_packer packer;
    const struct vs_encoder_ops *ops; /* those of the technique that is packed */
    void *base;
};

/* Opens the technique that is packed; the context's port takes the values. Sets ops and base. */
typedef int open_base(struct encoder *e, const struct vs_technique_context *context,
                      struct vs_port_writer *heads);

static int encoder_consume(void *encoder, const struct vs_slice *slice)
{
    struct encoder *e = encoder;
    int err = e->ops->consume(e->base, slice);
    vs_packer_pass_errors(&e->packer);
    return err;
}

static int encoder_finish(void *encoder)
{
    struct encoder *e = encoder;
    int err = vs_encoder_finish(e->ops, e->base);
    return err ? err : vs_packer_finish(&e->packer);
}

static void encoder_counts(const void *encoder, void *counts)
{
    const struct encoder *e = encoder;
    e->ops->counts(e->base, counts);
}

static void encoder_close(void *encoder)
{
    struct encoder *e = encoder;
    if (!e)
        return;
    if (e->ops)
        e->ops->close(e->base);
    vs_packer_fini(&e->packer);
    free(e);
}

static int encoder_open(void **encoder, const struct vs_packets_plan *plan, open_base *open,
                        const struct vs_technique_context *context)
{
    struct vs_technique_context base = *context;
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    if (!e)
        return -VSE_NOMEM;
    int err = vs_packer_init(&e->packer, plan, context->port);
    base.port = vs_packer_values(&e->packer);
    if (!err)
        err = open(e, &base, vs_packer_heads(&e->packer));
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

static int open_streams(struct encoder *e, const struct vs_technique_context *context,
                        struct vs_port_writer *heads)
{
    e->ops = vs_technique_base.encoder;
    return vs_stream_encoder_open(&e->base, vs_stream_base(), context, heads);
}

static int open_values(struct encoder *e, const struct vs_technique_context *context,
                       struct vs_port_writer *heads)
{
    e->ops = vs_technique_mlvnx_b.encoder;
    return vs_nexus_data_encoder_open(&e->base, context, heads);
}

/* ---- addresses as they are ---- */

struct raw_encoder {
    struct vs_address_encoder base; /* its port is the heads' */
    struct vs_port_writer *values;
};

static inline int take_raw(struct vs_address_encoder *base, const struct vs_batch *batch,
                           const struct vs_event *event)
{
    (void)batch;
    if (event->kind != VS_LOAD && event->kind != VS_STORE)
        return 0;
    vs_address_count(&base->counts, event->kind == VS_STORE, true);
    vs_port_begin(base->port, event->thread, base->time);
    vs_port_put(((struct raw_encoder *)base)->values, VS_FIELD_ADDRESS, event->addr, base->width);
    vs_port_end(base->port);
    return 0;
}

static int consume_raw(void *encoder, const struct vs_slice *slice)
{
    return vs_address_each(encoder, slice->events, take_raw);
}

static const struct vs_encoder_ops raw_ops = {
    .consume = consume_raw, .counts = vs_address_all_counts, .close = free};

static int open_raw(struct encoder *e, const struct vs_technique_context *context,
                    struct vs_port_writer *heads)
{
    struct raw_encoder *raw = e->base = calloc(1, sizeof(*raw));
    e->ops = &raw_ops;
    if (!raw)
        return -VSE_NOMEM;
    raw->values = context->port;
    raw->base = (struct vs_address_encoder){
        .port = heads, .cores = context->setup->cores, .width = context->setup->address_bits};
    return 0;
}

/* ---- decoder --------------------------------------------------------------------------------- */

struct decoder {
    struct vs_unpacker unpacker;
    void *base;
    void (*close)(void *base);
};

/* Sets base and close. */
typedef int open_unpacked(struct decoder *d, const void *params,
                          const struct vs_technique_setup *setup);

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    if (d->close)
        d->close(d->base);
    vs_unpacker_fini(&d->unpacker);
    free(d);
}

static int decoder_open(void **decoder, const struct vs_packets_plan *plan, open_unpacked *open,
                        const void *params, const struct vs_technique_setup *setup,
                        struct vs_port_reader *port)
{
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    if (!d)
        return -VSE_NOMEM;
    int err = vs_unpacker_init(&d->unpacker, plan, port);
    if (!err)
        err = open(d, params, setup);
    if (err) {
        decoder_close(d);
        *decoder = NULL;
    }
    return err;
}

/* ---- streams ---- */

static int streams_unpacked(struct decoder *d, const void *params,
                            const struct vs_technique_setup *setup)
{
    d->close = vs_stream_decoder_close;
    return vs_stream_decoder_open(&d->base, vs_stream_base(), params, setup,
                                  vs_unpacker_heads(&d->unpacker),
                                  vs_unpacker_values(&d->unpacker));
}

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

/* ---- load values ---- */

static const struct vs_data_decoder_ops *values_of(void)
{
    return vs_technique_mlvnx_b.data_decoder;
}

static void prepare(void *unpacker)
{
    vs_unpacker_prepare(unpacker);
}

static int values_unpacked(struct decoder *d, const void *params,
                           const struct vs_technique_setup *setup)
{
    d->close = values_of()->close;
    return vs_nexus_data_decoder_open(&d->base, params, setup, vs_unpacker_heads(&d->unpacker),
                                      vs_unpacker_values(&d->unpacker), prepare, &d->unpacker);
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, values_of()->read(d->base, core, addr, size, bytes));
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    return values_of()->write(((struct decoder *)decoder)->base, core, addr, size, bytes);
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, values_of()->nondet(d->base, core, size, bytes));
}

static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker,
                               values_of()->due(d->base, core, since, instructions, ends));
}

static bool decoder_takes(void *decoder, unsigned core, uint64_t addr, size_t size, bool store)
{
    return values_of()->takes(((struct decoder *)decoder)->base, core, addr, size, store);
}

static int decoder_read_quietly(void *decoder, unsigned core, uint64_t addr, size_t size,
                                uint8_t *bytes)
{
    return values_of()->read_quietly(((struct decoder *)decoder)->base, core, addr, size, bytes);
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker,
                               values_of()->state(d->base, core, instructions, bytes, size));
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, values_of()->end(d->base, core, instructions));
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    return vs_unpacker_outcome(&d->unpacker, values_of()->turn(d->base, core));
}

/* ---- addresses ---- */

struct raw_decoder {
    struct vs_address_decoder base; /* its port is the heads' */
    struct vs_port_reader *values;
    unsigned width;
};

/* Gets the address of a message whose head was read. */
static int get_raw(void *decoder, struct vs_port_reader *heads,
                   const struct vs_address_operand *operand, uint64_t *addr)
{
    struct raw_decoder *d = decoder;
    if (heads != d->values) { /* for error messages */
        d->values->messages = heads->messages;
        d->values->start = d->values->bits.pos;
        d->values->core = operand->core;
    }
    return vs_port_get(d->values, VS_FIELD_ADDRESS, d->width, addr);
}

static const struct vs_address_coder raw_coder = {.get = get_raw};

static int raw_unpacked(struct decoder *d, const void *params,
                        const struct vs_technique_setup *setup)
{
    struct raw_decoder *raw = d->base = calloc(1, sizeof(*raw));
    (void)params;
    d->close = free;
    if (!raw)
        return -VSE_NOMEM;
    raw->values = vs_unpacker_values(&d->unpacker);
    raw->width = setup->address_bits;
    raw->base = (struct vs_address_decoder){.port = vs_unpacker_heads(&d->unpacker),
                                            .coder = &raw_coder,
                                            .state = raw,
                                            .cores = setup->cores};
    return 0;
}

static int decoder_address(void *decoder, const struct vs_address_operand *operand, uint64_t *addr)
{
    struct decoder *d = decoder;
    vs_unpacker_prepare(&d->unpacker);
    return vs_unpacker_outcome(&d->unpacker, vs_address_receive(d->base, operand, addr));
}

static int decoder_next(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    vs_unpacker_prepare(&d->unpacker);
    return vs_unpacker_outcome(&d->unpacker, vs_address_turn(d->base, core));
}

/* ---- costs ----------------------------------------------------------------------------------- */

/* These are the chip's costs, for what makes the stream. The compressor is software. */

static int streams_cost(const void *params, const struct vs_technique_setup *setup,
                        struct vs_cost_list *list)
{
    (void)params;
    vs_stream_cost(setup, list);
    return 0;
}

static int values_cost(const void *params, const struct vs_technique_setup *setup,
                       struct vs_cost_list *list)
{
    return vs_technique_mlvnx_b.cost(params, setup, list);
}

static int raw_cost(const void *params, const struct vs_technique_setup *setup,
                    struct vs_cost_list *list)
{
    (void)params, (void)setup, (void)list;
    return 0;
}

/* ---- techniques ------------------------------------------------------------------------------ */

/* Defines the encoder, and how that compressor packs the stream. */
#define PACKED(id, kind, split, base, what, count_rows)                                            \
    static struct vs_packets_plan id##_packets(const void *params,                                 \
                                               const struct vs_technique_setup *setup)             \
    {                                                                                              \
        return plan_of(kind, split, params, setup);                                                \
    }                                                                                              \
    static int id##_encoder_open(void **encoder, const struct vs_technique_context *context)       \
    {                                                                                              \
        const struct vs_packets_plan plan = id##_packets(context->params, context->setup);         \
        return encoder_open(encoder, &plan, base, context);                                        \
    }                                                                                              \
    static const struct vs_encoder_ops id##_encoder = {.needs = what,                              \
                                                       .open = id##_encoder_open,                  \
                                                       .consume = encoder_consume,                 \
                                                       .finish = encoder_finish,                   \
                                                       .counts = encoder_counts,                   \
                                                       .rows = count_rows,                         \
                                                       .close = encoder_close}

#define STREAMS(id, which, least, most, usual)                                                     \
    PACKED(base_##id, which, true, open_streams, VS_NEEDS_STEPS, vs_flow_count_rows);              \
    static int base_##id##_decoder_open(void **decoder, const void *params,                        \
                                        const struct vs_technique_setup *setup,                    \
                                        struct vs_port_reader *port)                               \
    {                                                                                              \
        const struct vs_packets_plan plan = base_##id##_packets(params, setup);                    \
        return decoder_open(decoder, &plan, streams_unpacked, params, setup, port);                \
    }                                                                                              \
    static const struct vs_flow_decoder_ops base_##id##_decoder = {                                \
        .open = base_##id##_decoder_open,                                                          \
        .head = decoder_head,                                                                      \
        .branch = decoder_branch,                                                                  \
        .discontinuity = decoder_discontinuity,                                                    \
        .close = decoder_close};                                                                   \
    static const struct vs_parameter base_##id##_parameters[] = {                                  \
        VS_DATA_NUMBER(level, least, most, "of the compressor"),                                   \
        VS_DATA_NUMBER(dcc, 1, 64, "bits of the first chunk of dCC"),                              \
        VS_DATA_NUMBER(dcc_next, 1, 64, "bits of its other chunks"),                               \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_base_##id = {                                           \
        .serves = VS_TECHNIQUE_FLOW,                                                               \
        .name = "BASE_" #id,                                                                       \
        .summary = "streams as in BASE, through " #id " (software)",                               \
        .parameters = base_##id##_parameters,                                                      \
        .params_size = sizeof(struct vs_data_params),                                              \
        .defaults = "level=" usual " dcc=8 dcc_next=8",                                            \
        .cycles = vs_data_cycle_chunks,                                                            \
        .cost = streams_cost,                                                                      \
        .packets = base_##id##_packets,                                                            \
        .encoder = &base_##id##_encoder,                                                           \
        .flow_decoder = &base_##id##_decoder,                                                      \
    }

/* The levels are those that the programs of these names take by default, as the publication names
 * none. */
STREAMS(gzip, VS_PACK_GZIP, 1, 9, "6");
STREAMS(bzip2, VS_PACK_BZIP2, 1, 9, "9");
STREAMS(xz, VS_PACK_XZ, 0, 9, "6");
STREAMS(zstd, VS_PACK_ZSTD, 1, 19, "3");

static const struct vs_technique_config values_configs[] = {
    {"unified", "streams=unified"}, {"split", "streams=split"}, {.name = NULL}};

#define VALUES(id, which, least, most, usual)                                                      \
    PACKED(mlvnx_##id, which, false, open_values, VS_NEEDS_ACCESSES | VS_NEEDS_PRIOR,              \
           vs_data_count_rows);                                                                    \
    static int mlvnx_##id##_decoder_open(void **decoder, const void *params,                       \
                                         const struct vs_technique_setup *setup,                   \
                                         struct vs_port_reader *port)                              \
    {                                                                                              \
        const struct vs_packets_plan plan = mlvnx_##id##_packets(params, setup);                   \
        return decoder_open(decoder, &plan, values_unpacked, params, setup, port);                 \
    }                                                                                              \
    static const struct vs_data_decoder_ops mlvnx_##id##_decoder = {                               \
        .open = mlvnx_##id##_decoder_open,                                                         \
        .read = decoder_read,                                                                      \
        .write = decoder_write,                                                                    \
        .nondet = decoder_nondet,                                                                  \
        .due = decoder_due,                                                                        \
        .takes = decoder_takes,                                                                    \
        .read_quietly = decoder_read_quietly,                                                      \
        .write_quietly = decoder_write,                                                            \
        .state = decoder_state,                                                                    \
        .end = decoder_end,                                                                        \
        .turn = decoder_turn,                                                                      \
        .close = decoder_close};                                                                   \
    static const struct vs_parameter mlvnx_##id##_parameters[] = {                                 \
        VS_DATA_WORD(streams, vs_data_streams_words, "Ti and dCC with the rest, or apart"),        \
        VS_DATA_NUMBER(level, least, most, "of the compressor"),                                   \
        VS_DATA_CYCLE_ROWS,                                                                        \
        VS_DATA_ICNT_ROW,                                                                          \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_mlvnx_##id = {                                          \
        .serves = VS_TECHNIQUE_DATA,                                                               \
        .name = "mlvNX_" #id,                                                                      \
        .summary = "mlvNX_b through " #id " (software)",                                           \
        .parameters = mlvnx_##id##_parameters,                                                     \
        .params_size = sizeof(struct vs_data_params),                                              \
        .defaults = "streams=unified level=" usual " dcc=8 dcc_next=8 icnt_bits=32",               \
        .unnamed = "icnt_bits=64",                                                                 \
        .configs = values_configs,                                                                 \
        .cycles = vs_data_cycle_chunks,                                                            \
        .cost = values_cost,                                                                       \
        .packets = mlvnx_##id##_packets,                                                           \
        .encoder = &mlvnx_##id##_encoder,                                                          \
        .data_decoder = &mlvnx_##id##_decoder,                                                     \
    }

VALUES(gzip, VS_PACK_GZIP, 1, 9, "1");
VALUES(bzip2, VS_PACK_BZIP2, 1, 9, "1");
VALUES(xz, VS_PACK_XZ, 0, 9, "6");
VALUES(zstd, VS_PACK_ZSTD, 1, 19, "3");

#define ADDRESSES(id, which, least, most, usual)                                                   \
    PACKED(daraw_##id, which, true, open_raw, VS_NEEDS_ACCESSES, vs_address_count_rows);           \
    static int daraw_##id##_decoder_open(                                                          \
        void **decoder, const void *params, const struct vs_technique_setup *setup,                \
        const struct vs_address_code *code, struct vs_port_reader *port)                           \
    {                                                                                              \
        const struct vs_packets_plan plan = daraw_##id##_packets(params, setup);                   \
        (void)code;                                                                                \
        return decoder_open(decoder, &plan, raw_unpacked, params, setup, port);                    \
    }                                                                                              \
    static const struct vs_address_decoder_ops daraw_##id##_decoder = {                            \
        .open = daraw_##id##_decoder_open,                                                         \
        .address = decoder_address,                                                                \
        .turn = decoder_next,                                                                      \
        .close = decoder_close};                                                                   \
    static const struct vs_parameter daraw_##id##_parameters[] = {                                 \
        VS_DATA_NUMBER(level, least, most, "of the compressor"),                                   \
        VS_DATA_CYCLE_ROWS,                                                                        \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_daraw_##id = {                                          \
        .serves = VS_TECHNIQUE_ADDRESS,                                                            \
        .name = "daRaw_" #id,                                                                      \
        .summary = "whole addresses through " #id " (software)",                                   \
        .parameters = daraw_##id##_parameters,                                                     \
        .params_size = sizeof(struct vs_data_params),                                              \
        .defaults = "level=" usual " dcc=8 dcc_next=8",                                            \
        .cycles = vs_data_cycle_chunks,                                                            \
        .cost = raw_cost,                                                                          \
        .packets = daraw_##id##_packets,                                                           \
        .encoder = &daraw_##id##_encoder,                                                          \
        .address_decoder = &daraw_##id##_decoder,                                                  \
    }

ADDRESSES(gzip, VS_PACK_GZIP, 1, 9, "1");
ADDRESSES(bzip2, VS_PACK_BZIP2, 1, 9, "1");
ADDRESSES(xz, VS_PACK_XZ, 0, 9, "6");
ADDRESSES(zstd, VS_PACK_ZSTD, 1, 19, "3");
