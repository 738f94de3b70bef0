/* SPDX-License-Identifier: MIT */
/* A port stream: one sequence of bits, message after message, of all cores.
 *
 * A message begins with Ti (ceil(log2 cores) bits) and, in a timed stream, dCC: the cycles since
 * the core's last message, or since cycle 0. What follows is the technique's. An untimed stream has
 * the messages in global order; a timed one as they leave the port, and their cycles order them.
 * A technique that packs messages of all cores together writes packets instead.
 *
 * The writer counts every bit by field and core, whether or not anybody keeps the bits. The reader
 * gives the same fields back and says, when it cannot, which field of which message at which bit.
 */
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
    bool timed;              /* messages carry dCC */
    struct vs_chunks cycles; /* its code; ignored if not timed */
};

/* Bits of Ti. */
unsigned vs_port_core_bits(unsigned cores);

/* ---- writing ------------------------------------------------------------------------------- */

/* Takes the stream's bytes as they become whole. Returns 0 or an error, which ends the stream. */
typedef int vs_port_sink(void *context, const uint8_t *bytes, size_t size);

/* A sink whose context is a struct vs_buf. Returns 0; -VSE_NOMEM. */
int vs_port_to_buf(void *buf, const uint8_t *bytes, size_t size);

struct vs_port_writer_core {
    struct vs_port_counts counts;
    uint64_t cycle; /* of its last message */
};

struct vs_port_writer {
    struct vs_port_shape shape;
    unsigned core_bits;
    int error; /* the first; nothing reaches the sink after it */

    struct vs_bitw bits; /* what the sink did not get yet */
    uint64_t flushed;    /* bytes before */
    vs_port_sink *sink;
    void *context;

    struct vs_port_writer_core *cores, *core; /* core: of the message under way */
    uint64_t time;                            /* of the message under way */
    uint64_t start;                           /* its first bit */
    struct vs_lengths lengths[VS_FIELD_END];

    struct vs_windows *windows; /* NULL, or the owner's, told of every message */
    struct vs_drain *drain;     /* the same */
};

/* sink NULL: the bits are only counted. Returns 0; -VSE_INVAL; -VSE_NOMEM. */
int vs_port_writer_init(struct vs_port_writer *w, const struct vs_port_shape *shape,
                        vs_port_sink *sink, void *context);
void vs_port_writer_fini(struct vs_port_writer *w);

/* Hands the rest to the sink, the last byte padded with zeros. No message may follow.
 * Returns the exact length of the stream in bits; an error of the sink, of the windows, or
 * -VSE_INVAL (a cycle before the core's last). */
int64_t vs_port_finish(struct vs_port_writer *w);

/* Bits put so far. */
static inline uint64_t vs_port_bits(const struct vs_port_writer *w)
{
    return w->flushed * 8 + vs_bitw_bits(&w->bits);
}

/* The sum over the cores. */
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

/* ---- messages ---- */

/* What begin and end do of a timed stream, and with windows or a drain. */
void vs_port_put_cycles(struct vs_port_writer *w);
void vs_port_tell(struct vs_port_writer *w);

/* A packet is no core's: it has neither Ti nor dCC, and counts as a message of core 0. */
static inline void vs_port_begin_packet(struct vs_port_writer *w, uint64_t time)
{
    w->core = w->cores;
    w->time = time;
    w->start = vs_port_bits(w);
}

/* A message is what is put between begin and end. time: the commit cycle in a timed stream, else
 * the number of instructions retired by all cores, for the windows. */
static inline void vs_port_begin(struct vs_port_writer *w, unsigned core, uint64_t time)
{
    vs_port_begin_packet(w, time);
    w->core = &w->cores[core];
    if (w->core_bits)
        vs_port_put(w, VS_FIELD_CORE, core, w->core_bits);
    if (w->shape.timed)
        vs_port_put_cycles(w);
}

static inline void vs_port_end(struct vs_port_writer *w)
{
    w->core->counts.messages++;
    if (w->windows || w->drain)
        vs_port_tell(w);
}

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
    uint64_t first, end; /* bits: the first byte begins there, and the others end there */
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
    /* NULL, or by bit of the stream: the field that it was read as, plus 1. */
    uint8_t *fields;
};

struct vs_port_reader {
    struct vs_port_shape shape;
    unsigned core_bits;
    struct vs_bitr bits;
    uint64_t *cycles;  /* of each core's last message */
    uint64_t messages; /* begun so far */
    uint64_t start;    /* the first bit of the message under way */
    unsigned core;     /* whose it is */
    struct vs_diag diag;
    const struct vs_port_witness *witness; /* NULL, or the owner's, set after init */
};

/* The first nbits bits at `data`, which must outlive the reader.
 * Returns 0; -VSE_INVAL; -VSE_NOMEM; -VSE_TRUNCATED (nbits exceed the bytes). */
int vs_port_reader_init(struct vs_port_reader *r, const struct vs_port_shape *shape,
                        const uint8_t *data, size_t size, uint64_t nbits);
void vs_port_reader_fini(struct vs_port_reader *r);

/* Another at the same position. Returns 0; -VSE_NOMEM. */
int vs_port_reader_clone(struct vs_port_reader *to, const struct vs_port_reader *from);

/* Begins the next message: whose it is, and its cycle (0 if not timed). Either may be NULL.
 * Returns 0; -VSE_END if no bit is left. This and those below return -VSE_TRUNCATED if the
 * bits end within the message, and -VSE_CORRUPT for what no writer writes; the reader's diag then
 * says where: its offset is the byte, its text has the bit. The position stays at the field. */
int vs_port_next(struct vs_port_reader *r, unsigned *core, uint64_t *cycle);

/* Begins a packet. Returns 0; -VSE_END. */
int vs_port_next_packet(struct vs_port_reader *r);

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
