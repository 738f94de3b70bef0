/* SPDX-License-Identifier: MIT */
/* mlvNX_gzip, mlvNX_bzip2, mlvNX_xz, mlvNX_zstd: what general compressors make of the baseline's
 * stream, whole (unified), or of its Ti and dCC and of the rest by themselves (split). They are
 * what a trace module is compared with, and none themselves: they keep megabytes and send a packet
 * when it is full, long after what is in it.
 *
 * A packet: [stream] | length (8,8 chunks) | so many packed bytes; stream, a bit, is there if
 * split: 0 those of Ti and dCC, 1 the rest. Length 0: the last one. Then the length of each stream
 * in bits (8,8 chunks) before it was packed, as the packed ones end with a whole byte. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/pack.h"
#include "technique/data_common.h"
#include "technique/nexus_data.h"

enum {
    STREAMS = 2,
    PACKET = 4096, /* bytes, at most */
};

#define LENGTH ((struct vs_chunks){8, 8})

struct machine {
    enum vs_pack_kind kind;
    unsigned level, streams;
    unsigned heads, values; /* which streams they are */
};

static void machine_init(struct machine *m, enum vs_pack_kind kind, const void *params,
                         const struct vs_technique_setup *setup)
{
    const struct vs_data_params *p = params;
    bool split = p->streams == VS_DATA_SPLIT;
    *m = (struct machine){.kind = kind,
                          .level = (unsigned)p->level,
                          .streams = split ? 2 : 1,
                          .heads = 0,
                          .values = split};
    /* One core without time has no heads: their stream stays empty, and messages cannot be told
     * by it. */
    if (!setup->timed && !vs_port_core_bits(setup->cores))
        m->heads = m->values;
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

struct encoder;

struct packing {
    struct encoder *encoder;
    struct vs_port_writer bits; /* to the packer */
    struct vs_pack *pack;       /* to the packet */
    size_t size;
    uint8_t packet[PACKET];
};

struct encoder {
    struct machine machine;
    struct vs_port_writer *port;
    void *base;
    struct packing streams[STREAMS];
};

static void begin_packet(struct encoder *e, size_t stream, size_t size)
{
    vs_port_begin_packet(e->port, e->streams[e->machine.heads].bits.time);
    vs_port_put(e->port, VS_FIELD_HEADER, stream, e->machine.streams - 1);
    vs_port_put_chunks(e->port, VS_FIELD_HEADER, LENGTH, size);
}

static void put_packet(struct packing *p)
{
    struct encoder *e = p->encoder;
    if (!p->size)
        return;
    begin_packet(e, (size_t)(p - e->streams), p->size);
    vs_port_put_bytes(e->port, VS_FIELD_PACKED, p->packet, p->size);
    vs_port_end(e->port);
    p->size = 0;
}

static int take_packed(void *context, const uint8_t *bytes, size_t size)
{
    struct packing *p = context;
    while (size) {
        size_t n = size < PACKET - p->size ? size : PACKET - p->size;
        memcpy(p->packet + p->size, bytes, n);
        p->size += n;
        bytes += n;
        size -= n;
        if (p->size == PACKET)
            put_packet(p);
    }
    return 0;
}

static int take_bits(void *context, const uint8_t *bytes, size_t size)
{
    return vs_pack_put(((struct packing *)context)->pack, bytes, size);
}

static int encoder_consume(void *encoder, const struct vs_batch *batch)
{
    struct encoder *e = encoder;
    int err = base_encoder()->consume(e->base, batch);
    for (unsigned i = 0; i < e->machine.streams && !err; i++)
        if (!e->port->error)
            e->port->error = e->streams[i].bits.error;
    return err;
}

/* Returns the length of the stream in bits, or an error. */
static int64_t finish_stream(struct packing *p)
{
    int64_t bits = vs_port_finish(&p->bits);
    int err = bits < 0 ? (int)bits : vs_pack_finish(p->pack);
    put_packet(p);
    return err ? err : bits;
}

static int encoder_finish(void *encoder)
{
    struct encoder *e = encoder;
    int64_t bits[STREAMS] = {0};
    int err = base_encoder()->finish(e->base);
    for (unsigned i = 0; i < e->machine.streams && !err; i++)
        err = (bits[i] = finish_stream(&e->streams[i])) < 0 ? (int)bits[i] : 0;
    if (err)
        return err;
    begin_packet(e, 0, 0);
    for (unsigned i = 0; i < e->machine.streams; i++)
        vs_port_put_chunks(e->port, VS_FIELD_HEADER, LENGTH, (uint64_t)bits[i]);
    vs_port_end(e->port);
    return 0;
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
    for (unsigned i = 0; i < e->machine.streams; i++) {
        vs_port_writer_fini(&e->streams[i].bits);
        vs_pack_close(e->streams[i].pack);
    }
    free(e);
}

static int packing_open(struct encoder *e, struct packing *p)
{
    const struct machine *m = &e->machine;
    p->encoder = e;
    int err = vs_port_writer_init(&p->bits, &e->port->shape, take_bits, p);
    return err ? err : vs_pack_open(&p->pack, m->kind, m->level, take_packed, p);
}

static int encoder_open(enum vs_pack_kind kind, void **encoder, const void *params,
                        const struct vs_technique_setup *setup, const struct vs_prior *prior,
                        struct vs_port_writer *port)
{
    struct encoder *e = *encoder = calloc(1, sizeof(*e));
    int err = 0;
    if (!e)
        return -VSE_NOMEM;
    machine_init(&e->machine, kind, params, setup);
    e->port = port;
    for (unsigned i = 0; i < e->machine.streams && !err; i++)
        err = packing_open(e, &e->streams[i]);
    if (!err)
        err = vs_nexus_data_encoder_open(&e->base, setup, prior, &e->streams[e->machine.heads].bits,
                                         &e->streams[e->machine.values].bits);
    if (err) {
        encoder_close(e);
        *encoder = NULL;
    }
    return err;
}

/* ---- decoder --------------------------------------------------------------------------------- */

enum {
    MESSAGE = VS_SIZE_MAX + 512, /* bytes: more than any message */
    WINDOW = 4 * MESSAGE,
};

/* A stream is unpacked as far as a window reaches, from packets that it finds by itself: the other
 * may be far ahead or behind. */
struct unpacking {
    struct vs_port_reader packets;
    struct vs_unpack *unpack;
    struct vs_port_reader bits; /* of the window */
    uint8_t *window;
    size_t size;      /* bytes in it */
    uint64_t before;  /* bytes that have left it */
    bool last, ended; /* the last packet was read; the window has the last bit */
    uint64_t length;  /* of the stream, then */
    int error;        /* why no more comes, once the window is empty; the packets' diag */
    uint8_t packet[PACKET];
};

struct decoder {
    struct machine machine;
    struct vs_port_reader *port;
    void *base;
    struct unpacking streams[STREAMS];
};

static int get_last(const struct machine *m, struct unpacking *u, unsigned stream)
{
    uint64_t length;
    int err = 0;
    for (unsigned i = 0; i < m->streams && !err; i++) {
        err = vs_port_get_chunks(&u->packets, VS_FIELD_HEADER, LENGTH, &length);
        if (i == stream)
            u->length = length;
    }
    if (!err && vs_bitr_left(&u->packets.bits))
        err = vs_port_refuse(&u->packets, VS_FIELD_HEADER, "something follows the last packet");
    u->last = true;
    vs_unpack_end(u->unpack);
    return err;
}

/* The next packet, which may be the other stream's. */
static int get_packet(const struct machine *m, struct unpacking *u, unsigned stream)
{
    uint64_t which = 0, size = 0;
    int err = vs_port_next_packet(&u->packets);
    if (err)
        return vs_diag_set(&u->packets.diag, -VSE_TRUNCATED, (int64_t)(u->packets.bits.pos / 8), -1,
                           "bit %llu: the stream ends, and the last packet is missing",
                           (unsigned long long)u->packets.bits.pos);
    if ((err = vs_port_get(&u->packets, VS_FIELD_HEADER, m->streams - 1, &which)) ||
        (err = vs_port_get_chunks(&u->packets, VS_FIELD_HEADER, LENGTH, &size)))
        return err;
    if (!size)
        return get_last(m, u, stream);
    if (size > PACKET)
        return vs_port_refuse(&u->packets, VS_FIELD_HEADER, "too long a packet");
    err = vs_port_get_bytes(&u->packets, VS_FIELD_PACKED, u->packet, (size_t)size);
    if (!err && which == stream)
        vs_unpack_feed(u->unpack, u->packet, (size_t)size);
    return err;
}

/* All is unpacked, and it is as much as it should be. */
static int check_length(struct unpacking *u)
{
    uint64_t bytes = u->before + u->size;
    if (u->length / 8 + (u->length % 8 != 0) != bytes)
        return vs_diag_set(&u->packets.diag, -VSE_CORRUPT, (int64_t)(u->packets.bits.pos / 8), -1,
                           "bit %llu: unpacked it has %llu bytes, and should have %llu bits",
                           (unsigned long long)u->packets.bits.pos, (unsigned long long)bytes,
                           (unsigned long long)u->length);
    u->ended = true;
    return 0;
}

static int unpack_more(const struct machine *m, struct unpacking *u, unsigned stream)
{
    int64_t n = vs_unpack_get(u->unpack, u->window + u->size, WINDOW - u->size, &u->packets.diag);
    if (n == 0 || (n == -VSE_END && !u->last))
        return get_packet(m, u, stream);
    if (n == -VSE_END)
        return check_length(u);
    u->size += n > 0 ? (size_t)n : 0;
    return n < 0 ? (int)n : 0;
}

static void refill(struct decoder *d, unsigned stream)
{
    struct unpacking *u = &d->streams[stream];
    size_t done = (size_t)(u->bits.bits.pos / 8);
    memmove(u->window, u->window + done, u->size - done);
    u->size -= done;
    u->before += done;
    u->bits.bits.pos -= 8 * done;
    u->bits.start = 0;
    while (u->size < WINDOW && !u->ended && !u->error)
        u->error = unpack_more(&d->machine, u, stream);
    u->bits.bits.bytes = u->size;
    u->bits.bits.nbits = u->ended ? u->length - 8 * u->before : 8 * (uint64_t)u->size;
    if (u->packets.bits.pos > d->port->bits.pos)
        d->port->bits.pos = u->packets.bits.pos;
}

/* Makes sure that the next message is there, if there is one. */
static inline void prepare(struct decoder *d)
{
    for (unsigned i = 0; i < d->machine.streams; i++) {
        const struct unpacking *u = &d->streams[i];
        if (unlikely(vs_bitr_left(&u->bits.bits) < 8 * MESSAGE) && !u->ended && !u->error)
            refill(d, i);
    }
}

/* The stream of which more should have come, or NULL. */
static const struct unpacking *broken(const struct decoder *d)
{
    for (unsigned i = 0; i < d->machine.streams; i++)
        if (d->streams[i].error)
            return &d->streams[i];
    return NULL;
}

/* What the base says of the unpacked streams, in terms of this one. */
static int explain(struct decoder *d, int err)
{
    for (unsigned i = 0; i < d->machine.streams; i++) {
        const struct unpacking *u = &d->streams[i];
        if (u->bits.diag.error == err)
            return vs_diag_set(&d->port->diag, err, (int64_t)(d->port->bits.pos / 8), -1,
                               "unpacked stream %u, from byte %llu: %s", i,
                               (unsigned long long)u->before, u->bits.diag.text);
    }
    return err;
}

/* After the last head. */
static int refuse_values(struct decoder *d, const struct unpacking *values)
{
    return vs_diag_set(&d->port->diag, -VSE_CORRUPT, (int64_t)(d->port->bits.pos / 8), -1,
                       "unpacked stream %u, byte %llu: values are left, and no message",
                       d->machine.values,
                       (unsigned long long)(values->before + values->bits.bits.pos / 8));
}

static int failed(struct decoder *d, int err)
{
    const struct unpacking *values = &d->streams[d->machine.values], *u = broken(d);
    if (u && (err == -VSE_END || err == -VSE_TRUNCATED)) {
        d->port->diag = u->packets.diag;
        return u->error;
    }
    if (err == -VSE_END && vs_bitr_left(&values->bits.bits))
        return refuse_values(d, values);
    return explain(d, err);
}

static inline int outcome(struct decoder *d, int err)
{
    return likely(err >= 0) ? err : failed(d, err);
}

static int decoder_read(void *decoder, unsigned core, uint64_t addr, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    prepare(d);
    return outcome(d, base_decoder()->read(d->base, core, addr, size, bytes));
}

static int decoder_write(void *decoder, unsigned core, uint64_t addr, size_t size,
                         const uint8_t *bytes)
{
    return base_decoder()->write(((struct decoder *)decoder)->base, core, addr, size, bytes);
}

static int decoder_nondet(void *decoder, unsigned core, size_t size, uint8_t *bytes)
{
    struct decoder *d = decoder;
    prepare(d);
    return outcome(d, base_decoder()->nondet(d->base, core, size, bytes));
}

static int decoder_due(void *decoder, unsigned core, uint64_t since, uint64_t *instructions,
                       bool *ends)
{
    struct decoder *d = decoder;
    prepare(d);
    return outcome(d, base_decoder()->due(d->base, core, since, instructions, ends));
}

static bool decoder_takes(void *decoder, unsigned core, bool store)
{
    return base_decoder()->takes(((struct decoder *)decoder)->base, core, store);
}

static int decoder_state(void *decoder, unsigned core, uint64_t instructions, const uint8_t **bytes,
                         size_t *size)
{
    struct decoder *d = decoder;
    prepare(d);
    return outcome(d, base_decoder()->state(d->base, core, instructions, bytes, size));
}

static int decoder_end(void *decoder, unsigned core, uint64_t instructions)
{
    struct decoder *d = decoder;
    prepare(d);
    return outcome(d, base_decoder()->end(d->base, core, instructions));
}

static int decoder_turn(void *decoder, unsigned *core)
{
    struct decoder *d = decoder;
    prepare(d);
    return outcome(d, base_decoder()->turn(d->base, core));
}

static void decoder_close(void *decoder)
{
    struct decoder *d = decoder;
    if (!d)
        return;
    base_decoder()->close(d->base);
    for (unsigned i = 0; i < d->machine.streams; i++) {
        struct unpacking *u = &d->streams[i];
        vs_port_reader_fini(&u->packets);
        vs_port_reader_fini(&u->bits);
        vs_unpack_close(u->unpack);
        free(u->window);
    }
    free(d);
}

static int unpacking_open(const struct decoder *d, struct unpacking *u)
{
    const struct vs_bitr *all = &d->port->bits;
    u->window = malloc(WINDOW);
    if (!u->window)
        return -VSE_NOMEM;
    int err = vs_port_reader_init(&u->packets, &d->port->shape, all->data, all->bytes, all->nbits);
    u->packets.bits.pos = all->pos;
    if (!err)
        err = vs_port_reader_init(&u->bits, &d->port->shape, u->window, 0, 0);
    return err ? err : vs_unpack_open(&u->unpack, d->machine.kind);
}

static int decoder_open(enum vs_pack_kind kind, void **decoder, const void *params,
                        const struct vs_technique_setup *setup, struct vs_port_reader *port)
{
    struct decoder *d = *decoder = calloc(1, sizeof(*d));
    int err = 0;
    if (!d)
        return -VSE_NOMEM;
    machine_init(&d->machine, kind, params, setup);
    d->port = port;
    for (unsigned i = 0; i < d->machine.streams && !err; i++)
        err = unpacking_open(d, &d->streams[i]);
    if (!err)
        err = vs_nexus_data_decoder_open(&d->base, setup, &d->streams[d->machine.heads].bits,
                                         &d->streams[d->machine.values].bits);
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
#define COMPRESSOR(id, which, title, least, most, usual)                                           \
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
    static const struct vs_parameter id##_parameters[] = {                                         \
        VS_DATA_WORD(streams, vs_data_streams_words, "Ti and dCC with the rest, or apart"),        \
        VS_DATA_NUMBER(level, least, most, "of the compressor"),                                   \
        VS_DATA_CYCLE_ROWS,                                                                        \
        {.name = NULL}};                                                                           \
    const struct vs_technique vs_technique_mlvnx_##id = {                                          \
        .kind = VS_TECHNIQUE_DATA,                                                                 \
        .name = "mlvNX_" title,                                                                    \
        .summary = "mlvNX_b through " title " (software)",                                         \
        .parameters = id##_parameters,                                                             \
        .params_size = sizeof(struct vs_data_params),                                              \
        .defaults = "streams=unified level=" usual " dcc=8 dcc_next=8",                            \
        .configs = configs,                                                                        \
        .cycles = vs_data_cycle_chunks,                                                            \
        .cost = cost,                                                                              \
        .data_encoder = &id##_encoder,                                                             \
        .data_decoder = &id##_decoder,                                                             \
    }

COMPRESSOR(gzip, VS_PACK_GZIP, "gzip", 1, 9, "1");
COMPRESSOR(bzip2, VS_PACK_BZIP2, "bzip2", 1, 9, "1");
COMPRESSOR(xz, VS_PACK_XZ, "xz", 0, 9, "6");
COMPRESSOR(zstd, VS_PACK_ZSTD, "zstd", 1, 19, "3");
