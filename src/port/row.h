/* SPDX-License-Identifier: MIT */
/* Packets of one core in a row, for encoders nearly every step of which has one. What each packet
 * changes of the writer is kept in the row, which a compiler can hold in registers. Until the row
 * ends, nothing else may be put. The fields that the bits belong to are counted at its end. */
#ifndef PORT_ROW_H
#define PORT_ROW_H

#include "port/framing.h"

struct vs_port_row {
    struct vs_port_writer *port;
    struct vs_bitw bits; /* the writer's, and from here on these */
    uint64_t packets;
    bool told; /* somebody is told of each packet */
};

static inline struct vs_port_row vs_port_row(struct vs_port_writer *w, unsigned core)
{
    vs_port_begin_packet(w, core, w->time);
    return (struct vs_port_row){
        .port = w, .bits = w->bits, .told = w->windows || w->drain || w->meter || w->buffers};
}

/* Puts the low n bits of v, where those above are 0; n is at most 64. */
static inline void vs_port_row_put(struct vs_port_row *r, uint64_t v, unsigned n)
{
    if (unlikely(r->bits.cap - r->bits.len < VS_PORT_ROOM)) {
        r->port->bits = r->bits;
        vs_port_flush(r->port);
        r->bits = r->port->bits;
    }
    vs_bitw_put_fast(&r->bits, v, n);
}

/* The last n bits were a packet. */
static inline void vs_port_row_end_packet(struct vs_port_row *r, unsigned n, uint64_t time)
{
    r->packets++;
    if (likely(!r->told))
        return;
    r->port->bits = r->bits;
    r->port->time = time;
    r->port->start = vs_port_bits(r->port) - n;
    vs_port_tell(r->port);
}

static inline void vs_port_row_count(const struct vs_port_row *r, enum vs_field f, uint64_t bits)
{
    r->port->core->counts.bits[f] += bits;
}

static inline void vs_port_row_end(const struct vs_port_row *r)
{
    r->port->bits = r->bits;
    r->port->core->counts.messages += r->packets;
}

#endif
