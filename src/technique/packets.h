/* SPDX-License-Identifier: MIT */
/* One or two streams of messages through a general compressor; two are the messages' heads (Ti and
 * dCC) and the rest. What a technique would send goes to the streams instead; their packed bytes go
 * to the port, in packets that leave when they are full, long after what is in them.
 *
 * A packet: [stream] | length (8,8 chunks) | so many packed bytes. The bit `stream` is there if
 * there are two: 0 means the heads, 1 the rest. Length 0 marks the last packet. The length of each
 * stream in bits before it was packed (8,8 chunks) follows it, since packed streams end with a
 * whole byte. */
#ifndef TECHNIQUE_PACKETS_H
#define TECHNIQUE_PACKETS_H

#include "base/pack.h"
#include "port/framing.h"
#include "technique/technique.h"

enum {
    VS_PACKETS_STREAMS = 2,
    VS_PACKET_MAX = 4096, /* packed bytes of a packet */
};

struct vs_packets_plan {
    enum vs_pack_kind kind;
    unsigned level, streams;
    unsigned heads, values; /* which streams carry them */
};

/* Plans one stream, or two if `split`. */
struct vs_packets_plan vs_packets_plan(enum vs_pack_kind kind, unsigned level, bool split,
                                       const struct vs_technique_setup *setup);

/* ---- packing ---- */

struct vs_packer;

struct vs_packing {
    struct vs_packer *packer;
    struct vs_port_writer bits; /* what goes to the packer */
    struct vs_pack *pack;       /* what goes to the packet */
    size_t size;
    uint8_t packet[VS_PACKET_MAX];
};

/* It must not move. */
struct vs_packer {
    struct vs_packets_plan plan;
    struct vs_port_writer *port;
    struct vs_packing streams[VS_PACKETS_STREAMS];
};

/* Returns 0; -VSE_NOMEM. A packer that was zeroed before needs fini in any case. */
int vs_packer_init(struct vs_packer *p, const struct vs_packets_plan *plan,
                   struct vs_port_writer *port);
void vs_packer_fini(struct vs_packer *p);

static inline struct vs_port_writer *vs_packer_heads(struct vs_packer *p)
{
    return &p->streams[p->plan.heads].bits;
}

static inline struct vs_port_writer *vs_packer_values(struct vs_packer *p)
{
    return &p->streams[p->plan.values].bits;
}

/* Makes the streams' errors the port's. */
void vs_packer_pass_errors(struct vs_packer *p);

/* After the last message: writes the rest, and the last packet. Returns 0; -VSE_NOMEM; the port's
 * error. */
int vs_packer_finish(struct vs_packer *p);

/* ---- unpacking ---- */

/* A stream is unpacked as far as a window reaches, from packets that it finds by itself, since the
 * other stream may be far ahead or behind. */
struct vs_unpacking {
    struct vs_port_reader packets;
    struct vs_unpack *unpack;
    struct vs_port_reader bits;     /* the window's */
    struct vs_port_witness witness; /* the port's, for `bits`; the packets note the fields */
    uint8_t *window;
    size_t size;      /* bytes in it */
    uint64_t before;  /* bytes that have left it */
    bool last, ended; /* the last packet was read; the window has the last bit */
    uint64_t length;  /* the stream's, known after the last packet */
    int error;        /* why no more comes once the window is empty; the diag is the packets' */
    uint8_t packet[VS_PACKET_MAX];
};

struct vs_unpacker {
    struct vs_packets_plan plan;
    struct vs_port_reader *port;
    struct vs_unpacking streams[VS_PACKETS_STREAMS];
};

/* Returns 0; -VSE_NOMEM. An unpacker that was zeroed before needs fini in any case. */
int vs_unpacker_init(struct vs_unpacker *u, const struct vs_packets_plan *plan,
                     struct vs_port_reader *port);
void vs_unpacker_fini(struct vs_unpacker *u);

static inline struct vs_port_reader *vs_unpacker_heads(struct vs_unpacker *u)
{
    return &u->streams[u->plan.heads].bits;
}

static inline struct vs_port_reader *vs_unpacker_values(struct vs_unpacker *u)
{
    return &u->streams[u->plan.values].bits;
}

/* Sees to it that the next message is there, if there is one. To be called before anything is read
 * from the streams. */
void vs_unpacker_prepare(struct vs_unpacker *u);

/* Unpacks everything at once: what the port's packets hold, by stream, with its length in bits.
 * Returns 0; -VSE_TRUNCATED, -VSE_CORRUPT, -VSE_NOMEM. The caller frees the buffers. */
int vs_packets_unpack(const struct vs_packets_plan *plan, struct vs_port_reader *port,
                      struct vs_buf bytes[VS_PACKETS_STREAMS], uint64_t bits[VS_PACKETS_STREAMS]);

/* Translates err, the result of reading, into the port's terms, with its diag. Returns err if it is
 * no error or the streams have nothing to add; -VSE_TRUNCATED, -VSE_CORRUPT, -VSE_NOMEM. */
int vs_unpacker_failed(struct vs_unpacker *u, int err);

static inline int vs_unpacker_outcome(struct vs_unpacker *u, int err)
{
    return likely(err >= 0) ? err : vs_unpacker_failed(u, err);
}

#endif
