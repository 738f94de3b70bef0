/* SPDX-License-Identifier: MIT */
/* What leaves the chip: one stream for all cores, or one for each core. A stream is a sequence of
 * bits, and each bit belongs to a field and is charged to a core, or to all of them.
 *
 * How a stream is divided is the business of port/framing.h, which has messages and packets.
 *
 * The writer counts every bit by field and core, whether or not anybody keeps the bits. The reader
 * gives the same fields back and says, when it cannot, which field of which message at which bit of
 * which stream. */
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
#include "port/drain.h"
#include "port/window.h"
#include "vestige/error.h"

#define VS_PORT_CORES_MAX 65536

/* What both sides have to know. */
struct vs_port_shape {
    unsigned cores;          /* 1 to VS_PORT_CORES_MAX */
    bool timed;              /* the run has cycles, and messages carry dCC */
    struct vs_chunks cycles; /* its code; ignored if no message carries it */
    bool packets;            /* the technique frames packets itself; else there are messages */
    bool per_core;           /* a stream for each core, of packets; else one for all */
};

static inline unsigned vs_port_streams(const struct vs_port_shape *shape)
{
    return shape->per_core ? shape->cores : 1;
}

/* Returns 0; -VSE_INVAL. */
int vs_port_shape_check(const struct vs_port_shape *shape);

/* Bits of Ti. */
unsigned vs_port_core_bits(unsigned cores);

/* A stream's first nbits bits at `data`. Where it says "streams", there are as many in a row as the
 * shape has. */
struct vs_port_stream {
    const uint8_t *data;
    size_t size; /* bytes */
    uint64_t nbits;
};

/* ---- writing ------------------------------------------------------------------------------- */

/* Takes a stream's bits as bytes become whole: only the last call for a stream may bring a number
 * that is no multiple of 8. Returns 0 or an error, which ends all streams. */
typedef int vs_port_sink(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits);

/* A sink whose context is a struct vs_buf, of a port with one stream. Returns 0; -VSE_NOMEM;
 * -VSE_INVAL (another stream). port/store.h has one for any port. */
int vs_port_to_buf(void *buf, unsigned stream, const uint8_t *bytes, uint64_t nbits);

struct vs_port_writer_core {
    struct vs_port_counts counts;
    uint64_t cycle; /* of its last message */
};

/* What the sink did not get yet of a stream. */
struct vs_port_out {
    struct vs_bitw bits;
    uint64_t flushed; /* bytes before */
};

struct vs_port_writer {
    struct vs_port_shape shape;
    unsigned core_bits;
    int error; /* the first; nothing reaches the sink after it */

    struct vs_bitw bits; /* of the stream under way, as in vs_port_out */
    uint64_t flushed;
    unsigned stream;          /* that one */
    struct vs_port_out *outs; /* NULL if there is one stream; of the others, as they were left */
    vs_port_sink *sink;
    void *context;

    /* Behind the cores is what is charged to all of them. core: of the message under way. */
    struct vs_port_writer_core *cores, *core;
    uint64_t time;  /* of the message under way */
    uint64_t start; /* its first bit */
    struct vs_lengths lengths[VS_FIELD_END];

    struct vs_windows *windows; /* NULL, or the owner's, told of every message */
    struct vs_drain *drain;     /* the same */
};

/* sink NULL: the bits are only counted. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_port_writer_init(struct vs_port_writer *w, const struct vs_port_shape *shape,
                        vs_port_sink *sink, void *context);
void vs_port_writer_fini(struct vs_port_writer *w);

/* Hands the rest to the sink, the last byte of a stream padded with zeros. No message may follow.
 * Returns the exact length of all streams in bits; an error of the sink, of the windows, or
 * -VSE_INVAL (a cycle before the core's last). */
int64_t vs_port_finish(struct vs_port_writer *w);

/* Bits put so far into the stream under way. */
static inline uint64_t vs_port_bits(const struct vs_port_writer *w)
{
    return w->flushed * 8 + vs_bitw_bits(&w->bits);
}

/* Bits put so far into a stream. */
uint64_t vs_port_stream_bits(const struct vs_port_writer *w, unsigned stream);

/* What follows goes to that stream. */
void vs_port_enter(struct vs_port_writer *w, unsigned stream);

/* The sum over the cores, and what is charged to all of them. */
void vs_port_totals(const struct vs_port_writer *w, struct vs_port_counts *sum);

/* Hands whole bytes to the sink. */
void vs_port_flush(struct vs_port_writer *w);

enum { VS_PORT_ROOM = 32 }; /* bytes: more than the longest code */

static inline void vs_port_room(struct vs_port_writer *w)
{
    if (unlikely(w->bits.cap - w->bits.len < VS_PORT_ROOM))
        vs_port_flush(w);
}

/* The low n bits of v, n up to 64. */
static inline void vs_port_put(struct vs_port_writer *w, enum vs_field f, uint64_t v, unsigned n)
{
    vs_port_room(w);
    vs_bitw_put(&w->bits, v, n);
    w->core->counts.bits[f] += n;
}

/* The same for encapsulation: what carries packets from the trace module to the debugger's side,
 * and is counted apart from what they carry. */
static inline void vs_port_put_frame(struct vs_port_writer *w, enum vs_field f, uint64_t v,
                                     unsigned n)
{
    vs_port_put(w, f, v, n);
    w->core->counts.frame += n;
}

/* Three fields at once: the low a bits of v, the b bits above them, and the c bits above these;
 * a + b + c up to 64. */
static inline void vs_port_put_three(struct vs_port_writer *w, enum vs_field f, unsigned a,
                                     enum vs_field g, unsigned b, enum vs_field h, unsigned c,
                                     uint64_t v)
{
    vs_port_room(w);
    vs_bitw_put(&w->bits, v, a + b + c);
    w->core->counts.bits[f] += a;
    w->core->counts.bits[g] += b;
    w->core->counts.bits[h] += c;
}

static inline void vs_port_put_chunks(struct vs_port_writer *w, enum vs_field f, struct vs_chunks c,
                                      uint64_t v)
{
    vs_port_room(w);
    w->core->counts.bits[f] += vs_chunks_put(&w->bits, c, v);
    vs_lengths_note(&w->lengths[f], v);
}

static inline void vs_port_put_unary(struct vs_port_writer *w, enum vs_field f, struct vs_unary u,
                                     uint64_t v)
{
    vs_port_room(w);
    w->core->counts.bits[f] += vs_unary_put(&w->bits, u, v);
    vs_lengths_note(&w->lengths[f], v);
}

static inline void vs_port_put_difference(struct vs_port_writer *w, enum vs_field f,
                                          struct vs_chunks c, struct vs_difference d)
{
    vs_port_room(w);
    w->core->counts.bits[f] += vs_chunks_difference_put(&w->bits, c, d);
    vs_lengths_note(&w->lengths[f], d.magnitude);
}

/* See vs_unary_address_put. */
static inline void vs_port_put_address(struct vs_port_writer *w, enum vs_field f, struct vs_unary u,
                                       uint64_t from, uint64_t to, unsigned width)
{
    vs_port_room(w);
    w->core->counts.bits[f] += vs_unary_address_put(&w->bits, u, from, to, width);
    vs_lengths_note(&w->lengths[f], vs_difference(from, to, width).magnitude);
}

/* Whole bytes, in order. */
void vs_port_put_bytes(struct vs_port_writer *w, enum vs_field f, const uint8_t *bytes,
                       size_t size);

/* ---- reading ------------------------------------------------------------------------------- */

/* Something outside the cores wrote memory, as a message tells it. */
struct vs_port_outside {
    uint64_t addr, size;   /* size 0: all of memory */
    uint64_t notices;      /* before it, that took no message */
    uint64_t instructions; /* of the core since its last registers */
};

/* Bytes of memory that a message has. */
struct vs_port_memory {
    uint64_t addr;
    const uint8_t *bytes;
    size_t size;
    uint64_t first, end; /* as vs_port_place: where the first byte begins, and the others end */
};

/* Who compares a stream with a run is told here what decoders take from it, when they take it. Any
 * function may be NULL. */
struct vs_port_witness {
    void *context;
    /* What the core does now takes this message of its own. */
    void (*message)(void *context, unsigned core, uint64_t cycle);
    /* The message just taken has these bytes of memory, of which the core asked for a part. */
    void (*memory)(void *context, unsigned core, const struct vs_port_memory *m);
    /* The message about to be taken tells of this. */
    void (*outside)(void *context, unsigned core, const struct vs_port_outside *o);
    /* NULL, or by bit, one stream after the other: the field that it was read as, plus 1. */
    uint8_t *fields;
};

/* A stream that is not being read now. */
struct vs_port_in {
    struct vs_bitr bits;
    uint64_t before; /* bits in the streams before it */
    uint64_t start;  /* the first bit of its message that was begun last */
};

struct vs_port_reader {
    struct vs_port_shape shape;
    unsigned core_bits;
    struct vs_bitr bits;    /* of the stream that is being read */
    uint64_t before, start; /* the same, as in vs_port_in */
    unsigned stream;        /* that one */
    struct vs_port_in *ins; /* NULL if there is one stream; the others, as they were left */
    uint64_t *cycles;       /* of each core's last message */
    uint64_t messages;      /* begun so far, in all streams */
    unsigned core;          /* whose the message under way is */
    struct vs_diag diag;
    const struct vs_port_witness *witness; /* NULL, or the owner's, set after init */
};

/* The streams' data must outlive the reader; it begins with the first stream.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM; -VSE_TRUNCATED (a stream's bits exceed its bytes). */
int vs_port_reader_init(struct vs_port_reader *r, const struct vs_port_shape *shape,
                        const struct vs_port_stream *streams);
void vs_port_reader_fini(struct vs_port_reader *r);

/* Another at the same position. Returns 0; -VSE_NOMEM. */
int vs_port_reader_clone(struct vs_port_reader *to, const struct vs_port_reader *from);

/* Goes on with that stream, where it was left. */
void vs_port_select(struct vs_port_reader *r, unsigned stream);

/* The bits of a stream that were not read yet. */
uint64_t vs_port_left(const struct vs_port_reader *r, unsigned stream);

/* The bits of all streams, and of these those that were read. */
uint64_t vs_port_reader_bits(const struct vs_port_reader *r);
uint64_t vs_port_reader_done(const struct vs_port_reader *r);

/* The bit that is read next, by its number when all streams lie one after the other. */
static inline uint64_t vs_port_place(const struct vs_port_reader *r)
{
    return r->before + r->bits.pos;
}

enum { VS_PORT_WHERE = 64 };

/* The same for people: "bit 12", or "stream 3, bit 12". Returns `out`. */
const char *vs_port_where(const struct vs_port_reader *r, char out[VS_PORT_WHERE]);

/* These return 0; -VSE_TRUNCATED if the bits end within the message, and -VSE_CORRUPT for what no
 * writer writes; the reader's diag then says where: its offset is the byte of the stream, its text
 * has the bit. The position stays at the field. */
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

/* For what the codes cannot see: the field just read, or about to be, makes no sense. Sets the diag
 * and returns -VSE_CORRUPT. `why` is a phrase. */
int vs_port_refuse(struct vs_port_reader *r, enum vs_field f, const char *why);

/* ---- for the witness, if there is one ---- */

static inline void vs_port_took_at(const struct vs_port_reader *r, unsigned core, uint64_t cycle)
{
    if (r->witness && r->witness->message)
        r->witness->message(r->witness->context, core, cycle);
}

/* The message of the core that was begun last. */
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
