/* SPDX-License-Identifier: MIT */
#include "technique/packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"

enum {
    MESSAGE = VS_SIZE_MAX + 512, /* bytes: more than any message */
    WINDOW = 4 * MESSAGE,
};

#define LENGTH ((struct vs_chunks){8, 8})

struct vs_packets_plan vs_packets_plan(enum vs_pack_kind kind, unsigned level, bool split,
                                       const struct vs_technique_setup *setup)
{
    struct vs_packets_plan plan = {
        .kind = kind, .level = level, .streams = split ? 2 : 1, .heads = 0, .values = split};
    /* One core without time has no heads: their stream stays empty, and cannot delimit messages. */
    if (!setup->timed && !vs_port_core_bits(setup->cores))
        plan.heads = plan.values;
    return plan;
}

/* What is packed are messages. */
static struct vs_port_shape packed_shape(const struct vs_port_shape *packets)
{
    struct vs_port_shape shape = *packets;
    shape.packets = false;
    return shape;
}

/* ---- packing --------------------------------------------------------------------------------- */

static void begin_packet(struct vs_packer *e, size_t stream, size_t size)
{
    vs_port_begin_packet(e->port, VS_PORT_SHARED, e->streams[e->plan.heads].bits.time);
    vs_port_put(e->port, VS_FIELD_HEADER, stream, e->plan.streams - 1);
    vs_port_put_chunks(e->port, VS_FIELD_HEADER, LENGTH, size);
}

static void put_packet(struct vs_packing *p)
{
    struct vs_packer *e = p->packer;
    if (!p->size)
        return;
    begin_packet(e, (size_t)(p - e->streams), p->size);
    vs_port_put_bytes(e->port, VS_FIELD_PACKED, p->packet, p->size);
    vs_port_end(e->port);
    p->size = 0;
}

static int take_packed(void *context, const uint8_t *bytes, size_t size)
{
    struct vs_packing *p = context;
    while (size) {
        size_t n = size < VS_PACKET_MAX - p->size ? size : VS_PACKET_MAX - p->size;
        memcpy(p->packet + p->size, bytes, n);
        p->size += n;
        bytes += n;
        size -= n;
        if (p->size == VS_PACKET_MAX)
            put_packet(p);
    }
    return 0;
}

static int take_bits(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    (void)stream;
    return vs_pack_put(((struct vs_packing *)context)->pack, bytes, (size_t)((nbits + 7) / 8));
}

/* Returns the stream's length in bits, or an error. */
static int64_t finish_stream(struct vs_packing *p)
{
    int64_t bits = vs_port_finish(&p->bits);
    int err = bits < 0 ? (int)bits : vs_pack_finish(p->pack);
    put_packet(p);
    return err ? err : bits;
}

int vs_packer_finish(struct vs_packer *p)
{
    int64_t bits[VS_PACKETS_STREAMS] = {0};
    for (unsigned i = 0; i < p->plan.streams; i++)
        if ((bits[i] = finish_stream(&p->streams[i])) < 0)
            return (int)bits[i];
    begin_packet(p, 0, 0);
    for (unsigned i = 0; i < p->plan.streams; i++)
        vs_port_put_chunks(p->port, VS_FIELD_HEADER, LENGTH, (uint64_t)bits[i]);
    vs_port_end(p->port);
    return 0;
}

void vs_packer_pass_errors(struct vs_packer *p)
{
    for (unsigned i = 0; i < p->plan.streams; i++)
        if (!p->port->error)
            p->port->error = p->streams[i].bits.error;
}

static int packing_open(struct vs_packer *e, struct vs_packing *p)
{
    const struct vs_packets_plan *m = &e->plan;
    const struct vs_port_shape shape = packed_shape(&e->port->shape);
    p->packer = e;
    int err = vs_port_writer_init(&p->bits, &shape, take_bits, p);
    return err ? err : vs_pack_open(&p->pack, m->kind, m->level, take_packed, p);
}

int vs_packer_init(struct vs_packer *p, const struct vs_packets_plan *plan,
                   struct vs_port_writer *port)
{
    invariant(plan->streams <= VS_PACKETS_STREAMS && plan->values < plan->streams);
    int err = 0;
    p->plan = *plan;
    p->port = port;
    for (unsigned i = 0; i < plan->streams && !err; i++)
        err = packing_open(p, &p->streams[i]);
    return err;
}

void vs_packer_fini(struct vs_packer *p)
{
    for (unsigned i = 0; i < p->plan.streams; i++) {
        vs_port_writer_fini(&p->streams[i].bits);
        vs_pack_close(p->streams[i].pack);
    }
}

/* ---- unpacking ------------------------------------------------------------------------------- */

static int get_last(const struct vs_packets_plan *m, struct vs_unpacking *u, unsigned stream)
{
    uint64_t length;
    int err = 0;
    for (unsigned i = 0; i < m->streams && !err; i++) {
        err = vs_port_get_chunks(&u->packets, VS_FIELD_HEADER, LENGTH, &length);
        if (i == stream)
            u->length = length;
    }
    if (!err && vs_port_goes_on(&u->packets))
        err = vs_port_refuse(&u->packets, VS_FIELD_HEADER, "something follows the last packet");
    u->last = true;
    vs_unpack_end(u->unpack);
    return err;
}

/* Gets the next packet, which may be the other stream's. */
static int get_packet(const struct vs_packets_plan *m, struct vs_unpacking *u, unsigned stream)
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
    if (size > VS_PACKET_MAX)
        return vs_port_refuse(&u->packets, VS_FIELD_HEADER, "too long a packet");
    err = vs_port_get_bytes(&u->packets, VS_FIELD_PACKED, u->packet, (size_t)size);
    if (!err && which == stream)
        vs_unpack_feed(u->unpack, u->packet, (size_t)size);
    return err;
}

/* Checks, when all is unpacked, that it is as much as it should be. */
static int check_length(struct vs_unpacking *u)
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

static int unpack_more(const struct vs_packets_plan *m, struct vs_unpacking *u, unsigned stream)
{
    int64_t n = vs_unpack_get(u->unpack, u->window + u->size, WINDOW - u->size, &u->packets.diag);
    if (n == 0 || (n == -VSE_END && !u->last))
        return get_packet(m, u, stream);
    if (n == -VSE_END)
        return check_length(u);
    u->size += n > 0 ? (size_t)n : 0;
    return n < 0 ? (int)n : 0;
}

static void refill(struct vs_unpacker *d, unsigned stream)
{
    struct vs_unpacking *u = &d->streams[stream];
    size_t done = (size_t)(u->bits.bits.pos / 8);
    invariant(done <= u->size && u->size <= WINDOW);
    memmove(u->window, u->window + done, u->size - done);
    u->size -= done;
    u->before += done;
    u->bits.bits.pos -= 8 * done;
    u->bits.start = 0;
    while (u->size < WINDOW && !u->ended && !u->error)
        u->error = unpack_more(&d->plan, u, stream);
    u->bits.bits.bytes = u->size;
    u->bits.bits.nbits = u->ended ? u->length - 8 * u->before : 8 * (uint64_t)u->size;
    if (u->packets.bits.pos > d->port->bits.pos)
        d->port->bits = u->packets.bits; /* there may be more of them */
}

void vs_unpacker_prepare(struct vs_unpacker *d)
{
    for (unsigned i = 0; i < d->plan.streams; i++) {
        const struct vs_unpacking *u = &d->streams[i];
        if (unlikely(vs_bitr_left(&u->bits.bits) < 8 * MESSAGE) && !u->ended && !u->error)
            refill(d, i);
    }
}

/* Returns the stream from which more should have come, or NULL. */
static const struct vs_unpacking *broken(const struct vs_unpacker *d)
{
    for (unsigned i = 0; i < d->plan.streams; i++)
        if (d->streams[i].error)
            return &d->streams[i];
    return NULL;
}

/* Puts what a decoder says about the unpacked streams into the port's terms. */
static int explain(struct vs_unpacker *d, int err)
{
    for (unsigned i = 0; i < d->plan.streams; i++) {
        const struct vs_unpacking *u = &d->streams[i];
        if (u->bits.diag.error == err)
            return vs_diag_set(&d->port->diag, err, (int64_t)(d->port->bits.pos / 8), -1,
                               "unpacked stream %u, from byte %llu: %s", i,
                               (unsigned long long)u->before, u->bits.diag.text);
    }
    return err;
}

/* Refuses values that are left after the last head. */
static int refuse_values(struct vs_unpacker *d, const struct vs_unpacking *values)
{
    return vs_diag_set(&d->port->diag, -VSE_CORRUPT, (int64_t)(d->port->bits.pos / 8), -1,
                       "unpacked stream %u, byte %llu: values are left, and no message",
                       d->plan.values,
                       (unsigned long long)(values->before + values->bits.bits.pos / 8));
}

int vs_unpacker_failed(struct vs_unpacker *d, int err)
{
    const struct vs_unpacking *values = &d->streams[d->plan.values], *u = broken(d);
    if (u && (err == -VSE_END || err == -VSE_TRUNCATED)) {
        d->port->diag = u->packets.diag;
        return u->error;
    }
    if (err == -VSE_END && vs_bitr_left(&values->bits.bits))
        return refuse_values(d, values);
    return explain(d, err);
}

static int unpacking_open(const struct vs_unpacker *d, struct vs_unpacking *u)
{
    const struct vs_bitr *all = &d->port->bits;
    u->window = malloc(WINDOW);
    if (!u->window)
        return -VSE_NOMEM;
    const struct vs_port_shape shape = packed_shape(&d->port->shape);
    int err = vs_port_reader_init(&u->packets, &d->port->shape,
                                  &(struct vs_port_stream){all->data, all->bytes, all->nbits});
    u->packets.bits.pos = all->pos;
    u->packets.witness = d->port->witness;
    u->packets.more = d->port->more;
    if (!err)
        err = vs_port_reader_init(&u->bits, &shape, &(struct vs_port_stream){u->window, 0, 0});
    if (!err && d->port->witness) {
        u->witness = *d->port->witness;
        u->witness.fields = NULL;
        u->bits.witness = &u->witness;
    }
    return err ? err : vs_unpack_open(&u->unpack, d->plan.kind);
}

int vs_unpacker_init(struct vs_unpacker *d, const struct vs_packets_plan *plan,
                     struct vs_port_reader *port)
{
    invariant(plan->streams <= VS_PACKETS_STREAMS && plan->values < plan->streams);
    int err = 0;
    d->plan = *plan;
    d->port = port;
    for (unsigned i = 0; i < plan->streams && !err; i++)
        err = unpacking_open(d, &d->streams[i]);
    return err;
}

void vs_unpacker_fini(struct vs_unpacker *d)
{
    for (unsigned i = 0; i < d->plan.streams; i++) {
        struct vs_unpacking *u = &d->streams[i];
        vs_port_reader_fini(&u->packets);
        vs_port_reader_fini(&u->bits);
        vs_unpack_close(u->unpack);
        free(u->window);
    }
}

static int unpack_stream(struct vs_unpacker *d, unsigned stream, struct vs_buf *bytes)
{
    struct vs_unpacking *u = &d->streams[stream];
    int err = 0;
    while (!err && !u->ended && !u->error) {
        refill(d, stream);
        err = vs_buf_put(bytes, u->window, u->size);
        u->bits.bits.pos = 8 * (uint64_t)u->size;
    }
    return err ? err : u->error;
}

int vs_packets_unpack(const struct vs_packets_plan *plan, struct vs_port_reader *port,
                      struct vs_buf bytes[VS_PACKETS_STREAMS], uint64_t bits[VS_PACKETS_STREAMS])
{
    struct vs_unpacker d = {0};
    int err = vs_unpacker_init(&d, plan, port);
    for (unsigned i = 0; i < plan->streams && !err; i++) {
        err = unpack_stream(&d, i, &bytes[i]);
        bits[i] = d.streams[i].length;
    }
    vs_unpacker_fini(&d);
    return err;
}
