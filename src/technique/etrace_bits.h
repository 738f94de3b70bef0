/* SPDX-License-Identifier: MIT */
/* How packets of RISC-V Efficient Trace are serialised: fields one after the other, the least
 * significant bit first. A packet's top bits that are alike are dropped but for one, and the rest
 * is filled to whole bytes with copies of it. Whoever reads knows the number of bytes. */
#ifndef TECHNIQUE_ETRACE_BITS_H
#define TECHNIQUE_ETRACE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "port/stream.h"

enum { VS_ETRACE_BYTES_MAX = 31 };

/* Returns n ones, at most 64. */
static inline uint64_t vs_etrace_ones(unsigned n)
{
    return n ? UINT64_MAX >> (64 - n) : 0;
}

/* A packet's bits, before they are compressed. */
struct vs_etrace_bits {
    uint64_t words[4];
    unsigned count;
    unsigned parts; /* fields, in order */
    struct vs_port_part part[16];
};

/* Returns how many bytes are sent of it. */
unsigned vs_etrace_size(const struct vs_etrace_bits *bits);

/* Puts these bytes, under the names of their fields. */
void vs_etrace_put(struct vs_port_writer *w, const struct vs_etrace_bits *bits, unsigned bytes);

/* Functions that describe packets are compiled twice, once for each direction. */
#define VS_ETRACE_DESCRIBES static inline __attribute__((always_inline))

/* One description of packets serves both directions: fields are put into `bits`, and are first read
 * if there is a reader. */
struct vs_etrace_coder {
    struct vs_etrace_bits *bits;
    struct vs_port_reader *reader; /* NULL: the packet is written */
    unsigned bytes;                /* of the packet that is read */
    unsigned left;                 /* bits of the packet that were not read yet */
    bool top;                      /* its last bit, of which all that follow are copies */
    bool last;                     /* the last bit of the field before */
    int error;                     /* of reading, the first one, as vs_port_get returns it */
};

/* Begins a packet to write. */
VS_ETRACE_DESCRIBES struct vs_etrace_coder vs_etrace_writing(struct vs_etrace_bits *bits)
{
    for (unsigned i = 0; i < sizeof(bits->words) / sizeof(bits->words[0]); i++)
        bits->words[i] = 0;
    bits->count = bits->parts = 0;
    return (struct vs_etrace_coder){.bits = bits};
}

/* Begins a packet of that many bytes to read. */
struct vs_etrace_coder vs_etrace_reading(struct vs_etrace_bits *bits, struct vs_port_reader *r,
                                         unsigned bytes);

/* Reads a field of n bits, at most 64; what is missing are copies of the packet's last bit. */
uint64_t vs_etrace_read_field(struct vs_etrace_coder *c, enum vs_field f, unsigned n);

/* Puts a field of n bits, at most 64, or reads it. Returns its value. */
VS_ETRACE_DESCRIBES uint64_t vs_etrace_field(struct vs_etrace_coder *c, enum vs_field f, uint64_t v,
                                             unsigned n)
{
    struct vs_etrace_bits *b = c->bits;
    unsigned word = b->count / 64, at = b->count % 64;
    if (c->reader && !c->error)
        v = vs_etrace_read_field(c, f, n);
    v &= vs_etrace_ones(n);
    b->words[word] |= v << at;
    if (at + n > 64)
        b->words[word + 1] = v >> (64 - at);
    b->count += n;
    b->part[b->parts++] = (struct vs_port_part){(uint8_t)f, (uint8_t)n};
    if (n)
        c->last = v >> (n - 1) & 1;
    return v;
}

/* If the packet is read: what it says makes no sense. */
void vs_etrace_refuse(struct vs_etrace_coder *c, enum vs_field f, const char *why);

/* Ends a packet that is read. Returns 0; -VSE_TRUNCATED; -VSE_CORRUPT (what was refused; it has no
 * bytes, it is not filled up as it should be, or it could be shorter). */
int vs_etrace_read(struct vs_etrace_coder *c);

#endif
