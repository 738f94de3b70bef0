/* SPDX-License-Identifier: MIT */
/* What leaves the chip: one stream for all cores, or one for each core. A stream is a sequence of
 * bits, and each bit belongs to a field and is charged to a core, or to all of them.
 *
 * port/framing.h divides a stream into messages or packets.
 *
 * The writer counts every bit by field and core, whether or not anybody keeps the bits. The reader
 * gives the same fields back; when it cannot, it says which field of which message failed, at which
 * bit of which stream. */
#ifndef PORT_STREAM_H
#define PORT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/buf.h"
#include "base/likely.h"
#include "port/account.h"
#include "port/code.h"
#include "port/buffers.h"
#include "port/drain.h"
#include "port/window.h"
#include "vestige/error.h"

#define VS_PORT_CORES_MAX 65536

/* What both sides have to know. */
struct vs_port_shape {
    unsigned cores;          /* 1 to VS_PORT_CORES_MAX */
    bool timed;              /* the run has cycles, and messages carry dCC */
    struct vs_chunks cycles; /* dCC's code; ignored if no message carries dCC */
    bool packets;            /* the technique frames packets itself; else there are messages */
    bool per_core;           /* a stream of packets for each core; else one stream for all */
};

static inline unsigned vs_port_streams(const struct vs_port_shape *shape)
{
    return shape->per_core ? shape->cores : 1;
}

/* Returns 0; -VSE_INVAL. */
int vs_port_shape_check(const struct vs_port_shape *shape);

/* Returns how many bits Ti has. */
unsigned vs_port_core_bits(unsigned cores);

/* A stream is the first nbits bits at `data`. Where a comment says "streams", there are as many in
 * a row as the shape has. */
struct vs_port_stream {
    const uint8_t *data;
    size_t size; /* bytes */
    uint64_t nbits;
};

/* ---- writing ------------------------------------------------------------------------------- */

/* Takes a stream's bits as bytes become whole: only the last call for a stream may bring a number
 * of bits that is no multiple of 8. Returns 0 or an error, which ends all streams. */
typedef int vs_port_sink(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* A sink whose context is a struct vs_buf, for a port with one stream. Returns 0; -VSE_NOMEM;
 * -VSE_INVAL (another stream). port/store.h has one for any port. */
int vs_port_to_buf(void *buf, unsigned stream, const uint8_t *bytes, uint64_t nbits);

struct vs_port_writer_core {
    struct vs_port_counts counts;
    uint64_t cycle; /* its last message's */
};

/* Is told of every message or packet when it ends: its bits, encapsulation included, and the core
 * that it is charged to, or the number of cores if it is charged to all of them. */
struct vs_port_meter {
    void (*told)(void *context, unsigned core, uint64_t bits);
    void *context;
};

/* What the sink has not yet got of a stream. */
struct vs_port_out {
    struct vs_bitw bits;
    uint64_t flushed; /* the bytes before, which the sink has */
};

struct vs_port_writer {
    struct vs_port_shape shape;
    unsigned core_bits;
    int error; /* the first error; nothing reaches the sink after it */

    struct vs_bitw bits; /* the current stream's, as in vs_port_out */
    uint64_t flushed;
    unsigned stream;          /* the current stream */
    struct vs_port_out *outs; /* NULL if there is one stream; the other streams as they were left */
    vs_port_sink *sink;
    void *context;

    /* The element after the cores has what is charged to all of them. `core` is the element that
     * the message under way is charged to. */
    struct vs_port_writer_core *cores, *core;
    uint64_t time;  /* the time of the message under way */
    uint64_t start; /* its first bit */
    struct vs_lengths lengths[VS_FIELD_END];

    struct vs_windows *windows;        /* NULL, or the owner's, which are told of every message */
    struct vs_drain *drain;            /* NULL, or the owner's, which is told likewise */
    const struct vs_port_meter *meter; /* the same */
    struct vs_buffers *buffers;        /* the same */
};

/* If the sink is NULL the bits are only counted. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_port_writer_init(struct vs_port_writer *w, const struct vs_port_shape *shape,
                        vs_port_sink *sink, void *context);
void vs_port_writer_fini(struct vs_port_writer *w);

/* Hands the rest to the sink, with the last byte of each stream padded with zeros. No message may
 * follow. Returns the exact length of all streams in bits; an error of the sink or the windows;
 * -VSE_INVAL (a cycle before the core's last). */
int64_t vs_port_finish(struct vs_port_writer *w);

/* The bits that were put into the current stream so far. */
static inline uint64_t vs_port_bits(const struct vs_port_writer *w)
{
    return w->flushed * 8 + vs_bitw_bits(&w->bits);
}

/* The bits that were put into any stream so far. */
uint64_t vs_port_stream_bits(const struct vs_port_writer *w, unsigned stream);

/* Makes that stream the current one, which gets what is put from now on. */
void vs_port_enter(struct vs_port_writer *w, unsigned stream);

/* Sums the cores' counts and what is charged to all of them. */
void vs_port_totals(const struct vs_port_writer *w, struct vs_port_counts *sum);

/* Hands the current stream's whole bytes to the sink. */
void vs_port_flush(struct vs_port_writer *w);

enum { VS_PORT_ROOM = 32 }; /* bytes: more than the longest code */

static inline void vs_port_room(struct vs_port_writer *w)
{
    if (unlikely(w->bits.cap - w->bits.len < VS_PORT_ROOM))
        vs_port_flush(w);
}

/* Counts n bits that nobody wants: there is no sink. Returns n. */
static inline unsigned vs_port_skip(struct vs_port_writer *w, unsigned n)
{
    vs_bitw_skip(&w->bits, n);
    return n;
}

/* Puts bits that are not charged yet. */
static inline void vs_port_put_bits(struct vs_port_writer *w, uint64_t v, unsigned n)
{
    vs_port_room(w);
    if (!w->sink)
        vs_bitw_skip(&w->bits, n);
    else
        vs_bitw_put_fast(&w->bits, n ? v & (~UINT64_C(0) >> (64 - n)) : 0, n);
}

/* Puts the low n bits of v; n is at most 64. */
static inline void vs_port_put(struct vs_port_writer *w, enum vs_field f, uint64_t v, unsigned n)
{
    vs_port_put_bits(w, v, n);
    w->core->counts.bits[f] += n;
}

/* Does the same for encapsulation: bits that carry packets from the trace module to the debugger's
 * side, and are counted apart from what they carry. */
static inline void vs_port_put_frame(struct vs_port_writer *w, enum vs_field f, uint64_t v,
                                     unsigned n)
{
    vs_port_put(w, f, v, n);
    w->core->counts.frame += n;
}

/* Puts two fields at once: the low a bits of v and the b bits above them. a + b is at most 64. */
static inline void vs_port_put_two(struct vs_port_writer *w, enum vs_field f, unsigned a,
                                   enum vs_field g, unsigned b, uint64_t v)
{
    vs_port_put_bits(w, v, a + b);
    w->core->counts.bits[f] += a;
    w->core->counts.bits[g] += b;
}

/* Puts three fields at once: the low a bits of v, the b bits above them, and the c bits above
 * those. a + b + c is at most 64. */
static inline void vs_port_put_three(struct vs_port_writer *w, enum vs_field f, unsigned a,
                                     enum vs_field g, unsigned b, enum vs_field h, unsigned c,
                                     uint64_t v)
{
    vs_port_put_bits(w, v, a + b + c);
    w->core->counts.bits[f] += a;
    w->core->counts.bits[g] += b;
    w->core->counts.bits[h] += c;
}

/* The bits of one field, where several are put together. */
struct vs_port_part {
    uint8_t field; /* enum vs_field */
    uint8_t bits;
};

/* Puts n bits of several fields, from words of 64. The parts say in order whose they are; bits
 * beyond the last part belong to its field. */
static inline void vs_port_put_parts(struct vs_port_writer *w, const uint64_t *words, unsigned n,
                                     const struct vs_port_part *parts, unsigned count)
{
    for (unsigned at = 0; at < n; at += 64)
        vs_port_put_bits(w, words[at / 64], n - at < 64 ? n - at : 64);
    for (unsigned i = 0; n; i++) {
        unsigned own = i + 1 < count && parts[i].bits < n ? parts[i].bits : n;
        w->core->counts.bits[parts[i].field] += own;
        n -= own;
    }
}

static inline void vs_port_put_chunks(struct vs_port_writer *w, enum vs_field f, struct vs_chunks c,
                                      uint64_t v)
{
    vs_port_room(w);
    w->core->counts.bits[f] +=
        w->sink ? vs_chunks_put(&w->bits, c, v) : vs_port_skip(w, vs_chunks_size(c, v));
    vs_lengths_note(&w->lengths[f], v);
}

static inline void vs_port_put_unary(struct vs_port_writer *w, enum vs_field f, struct vs_unary u,
                                     uint64_t v)
{
    vs_port_room(w);
    w->core->counts.bits[f] +=
        w->sink ? vs_unary_put(&w->bits, u, v) : vs_port_skip(w, vs_unary_size(u, v));
    vs_lengths_note(&w->lengths[f], v);
}

static inline void vs_port_put_difference(struct vs_port_writer *w, enum vs_field f,
                                          struct vs_chunks c, struct vs_difference d)
{
    vs_port_room(w);
    w->core->counts.bits[f] += w->sink ? vs_chunks_difference_put(&w->bits, c, d)
                                       : vs_port_skip(w, vs_chunks_difference_size(c, d));
    vs_lengths_note(&w->lengths[f], d.magnitude);
}

/* See vs_unary_address_put. */
static inline void vs_port_put_address(struct vs_port_writer *w, enum vs_field f, struct vs_unary u,
                                       uint64_t from, uint64_t to, unsigned width)
{
    vs_port_room(w);
    w->core->counts.bits[f] += w->sink ? vs_unary_address_put(&w->bits, u, from, to, width)
                                       : vs_port_skip(w, vs_unary_address_size(u, from, to, width));
    vs_lengths_note(&w->lengths[f], vs_difference(from, to, width).magnitude);
}

/* Puts whole bytes, in order. */
void vs_port_put_bytes(struct vs_port_writer *w, enum vs_field f, const uint8_t *bytes,
                       size_t size);

/* ---- reading ------------------------------------------------------------------------------- */

/* What a message tells about a write to memory from outside the cores. */
struct vs_port_outside {
    uint64_t addr, size;   /* size 0: all of memory */
    uint64_t notices;      /* the notices before it that took no message */
    uint64_t instructions; /* the core's, since its registers were last told */
};

/* The bytes of memory that a message carries. */
struct vs_port_memory {
    uint64_t addr;
    const uint8_t *bytes;
    size_t size;
};

/* Whoever compares a stream with a run learns here what decoders take from it, as they take it. Any
 * function may be NULL. */
struct vs_port_witness {
    void *context;
    /* The core takes this message, which is its own, for what it does now. */
    void (*message)(void *context, unsigned core, uint64_t cycle);
    /* The message just taken has these bytes of memory; the core asked for some of them. */
    void (*memory)(void *context, unsigned core, const struct vs_port_memory *m);
    /* The message that will be taken next tells of this write. */
    void (*outside)(void *context, unsigned core, const struct vs_port_outside *o);
    /* NULL, or an element for each bit of all streams, one after the other: the field it was read
     * as, plus 1. */
    uint8_t *fields;
};

/* Where a reader of one stream gets bits that are not there yet. */
struct vs_port_more {
    /* Waits until the stream has more bits than these, which then has them; their data stay where
     * they are. Returns false if no more come. */
    bool (*get)(void *context, struct vs_bitr *bits);
    /* Returns whether no more come because of an error, which is told. */
    bool (*why)(void *context, struct vs_diag *diag);
    void *context;
};

/* The state of a stream that is not being read now. */
struct vs_port_in {
    struct vs_bitr bits;
    uint64_t before; /* bits in the streams before it */
    uint64_t start;  /* the first bit of the message begun last */
};

struct vs_port_reader {
    struct vs_port_shape shape;
    unsigned core_bits;
    struct vs_bitr bits;    /* of the stream being read */
    uint64_t before, start; /* that stream's, as in vs_port_in */
    unsigned stream;        /* the stream being read */
    struct vs_port_in *ins; /* NULL if there is one stream; the other streams as they were left */
    uint64_t *cycles;       /* of each core's last message */
    uint64_t messages;      /* begun so far, in all streams */
    unsigned core;          /* the core of the message under way */
    struct vs_diag diag;
    const struct vs_port_witness *witness; /* NULL, or the owner's, set after init */
    const struct vs_port_more *more;       /* NULL, or the owner's, set after init */
};

/* Begins with the first stream. The streams' data must outlive the reader.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM; -VSE_TRUNCATED (a stream's bits exceed its bytes). */
int vs_port_reader_init(struct vs_port_reader *r, const struct vs_port_shape *shape,
                        const struct vs_port_stream *streams);
void vs_port_reader_fini(struct vs_port_reader *r);

/* Makes `to` another reader at the same position. Returns 0; -VSE_NOMEM. */
int vs_port_reader_clone(struct vs_port_reader *to, const struct vs_port_reader *from);

/* Continues with that stream where it was left. */
void vs_port_select(struct vs_port_reader *r, unsigned stream);

/* The bits of a stream that have not been read yet. */
uint64_t vs_port_left(const struct vs_port_reader *r, unsigned stream);

/* Returns whether the stream being read has another bit; waits for it if more may come. */
static inline bool vs_port_goes_on(struct vs_port_reader *r)
{
    return vs_bitr_left(&r->bits) || (r->more && r->more->get(r->more->context, &r->bits));
}

/* The bits of all streams, as far as they are there, and how many of them have been read. */
uint64_t vs_port_reader_bits(const struct vs_port_reader *r);
uint64_t vs_port_reader_done(const struct vs_port_reader *r);

enum { VS_PORT_WHERE = 64 };

/* Writes that position for people: "bit 12", or "stream 3, bit 12". Returns `out`. */
const char *vs_port_where(const struct vs_port_reader *r, char out[VS_PORT_WHERE]);

/* These return 0; -VSE_TRUNCATED if the bits end within the message; -VSE_CORRUPT for what no
 * writer writes. After an error the position stays at the field, and the reader's diag says where
 * that is: its offset is the byte in the stream, its text has the bit. */
int vs_port_get(struct vs_port_reader *r, enum vs_field f, unsigned n, uint64_t *v);
int vs_port_get_chunks(struct vs_port_reader *r, enum vs_field f, struct vs_chunks c, uint64_t *v);
int vs_port_get_unary(struct vs_port_reader *r, enum vs_field f, struct vs_unary u, uint64_t *v);
int vs_port_get_difference(struct vs_port_reader *r, enum vs_field f, struct vs_chunks c,
                           unsigned width, struct vs_difference *d);
int vs_port_get_address(struct vs_port_reader *r, enum vs_field f, struct vs_unary u, uint64_t from,
                        unsigned width, uint64_t *to);
int vs_port_get_bytes(struct vs_port_reader *r, enum vs_field f, uint8_t *bytes, size_t size);

/* Passes over whole bytes. */
int vs_port_skip_bytes(struct vs_port_reader *r, enum vs_field f, uint64_t size);

/* For errors that the codes cannot see: the field just read, or about to be, makes no sense. Sets
 * the diag and returns -VSE_CORRUPT. `why` is a phrase. */
int vs_port_refuse(struct vs_port_reader *r, enum vs_field f, const char *why);

/* ---- for the witness, if there is one ---- */

static inline void vs_port_took_at(const struct vs_port_reader *r, unsigned core, uint64_t cycle)
{
    if (r->witness && r->witness->message)
        r->witness->message(r->witness->context, core, cycle);
}

/* Tells of the core's message that was begun last. */
static inline void vs_port_took(const struct vs_port_reader *r, unsigned core)
{
    vs_port_took_at(r, core, r->cycles[core]);
}

static inline void vs_port_took_memory(const struct vs_port_reader *r, unsigned core,
                                       const struct vs_port_memory *m)
{
    if (r->witness && r->witness->memory)
        r->witness->memory(r->witness->context, core, m);
}

#endif
