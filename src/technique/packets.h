/* SPDX-License-Identifier: MIT */
/* Streams of messages through a general compressor, one, or two: the heads of messages, Ti and dCC,
 * and the rest. What a technique would send goes to the streams instead; their packed bytes go to
 * the port, a packet when it is full, long after what is in it.
 *
 * A packet: [stream] | length (8,8 chunks) | so many packed bytes; stream, a bit, is there if there
 * are two: 0 the heads, 1 the rest. Length 0: the last one. Then the length of each stream in bits
 * (8,8 chunks) before it was packed, as the packed ones end with a whole byte. */
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
    unsigned heads, values; /* which streams they are */
};

/* One stream, or two if `split`. */
struct vs_packets_plan vs_packets_plan(enum vs_pack_kind kind, unsigned level, bool split,
                                       const struct vs_technique_setup *setup);

/* ---- packing ---- */

struct vs_packer;

struct vs_packing {
    struct vs_packer *packer;
    struct vs_port_writer bits; /* to the packer */
    struct vs_pack *pack;       /* to the packet */
    size_t size;
    uint8_t packet[VS_PACKET_MAX];
};

/* It must not move. */
struct vs_packer {
    struct vs_packets_plan plan;
    struct vs_port_writer *port;
    struct vs_packing streams[VS_PACKETS_STREAMS];
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case, of a struct that was zero before. */
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

/* What went wrong with a stream goes wrong with the port. */
void vs_packer_pass_errors(struct vs_packer *p);

/* After the last message: the rest, and the last packet. Returns 0; -VSE_NOMEM; the port's error.
 */
int vs_packer_finish(struct vs_packer *p);

/* ---- unpacking ---- */

/* A stream is unpacked as far as a window reaches, from packets that it finds by itself: the other
 * may be far ahead or behind. */
struct vs_unpacking {
    struct vs_port_reader packets;
    struct vs_unpack *unpack;
    struct vs_port_reader bits;     /* of the window */
    struct vs_port_witness witness; /* of these: fields are the packets' */
    uint8_t *window;
    size_t size;      /* bytes in it */
    uint64_t before;  /* bytes that have left it */
    bool last, ended; /* the last packet was read; the window has the last bit */
    uint64_t length;  /* of the stream, then */
    int error;        /* why no more comes, once the window is empty; the packets' diag */
    uint8_t packet[VS_PACKET_MAX];
};

struct vs_unpacker {
    struct vs_packets_plan plan;
    struct vs_port_reader *port;
    struct vs_unpacking streams[VS_PACKETS_STREAMS];
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case, of a struct that was zero before. */
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

/* Before anything is read of the streams: sees to it that the next message is there, if there is
 * one. */
void vs_unpacker_prepare(struct vs_unpacker *u);

/* Everything at once: what the packets of the port hold, by stream, with its length in bits.
 * Returns 0; -VSE_TRUNCATED, -VSE_CORRUPT, -VSE_NOMEM. The buffers are the caller's to free. */
int vs_packets_unpack(const struct vs_packets_plan *plan, struct vs_port_reader *port,
                      struct vs_buf bytes[VS_PACKETS_STREAMS], uint64_t bits[VS_PACKETS_STREAMS]);

/* The result of reading, err, in terms of the port, with its diag. Returns err if it is none or the
 * streams have nothing to say to it; -VSE_TRUNCATED, -VSE_CORRUPT, -VSE_NOMEM. */
int vs_unpacker_failed(struct vs_unpacker *u, int err);

static inline int vs_unpacker_outcome(struct vs_unpacker *u, int err)
{
    return likely(err >= 0) ? err : vs_unpacker_failed(u, err);
}

#endif
