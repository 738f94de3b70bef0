/* SPDX-License-Identifier: MIT */
/* Canonical Huffman codes made from counts of symbols, and the bits that they are written to and
 * read from. */
#ifndef HUFFMAN_H
#define HUFFMAN_H

#include <string.h>

#include "common/wl.h"

#define SYMBOLS   256
#define LENGTHS   16 /* longest code */
#define TABLE_MAX (LENGTHS + SYMBOLS)

struct code {
    uint32_t count[SYMBOLS];
    uint8_t length[SYMBOLS]; /* 0: the symbol does not occur */
    uint16_t bits[SYMBOLS];
    unsigned of_length[LENGTHS + 1];
    uint8_t symbol[SYMBOLS]; /* by length, then by value */
};

/* Joins the two rarest trees until one is left; parent links give the depths. Returns the greatest
 * depth. */
static inline unsigned make_lengths(struct code *c)
{
    uint32_t weight[2 * SYMBOLS];
    uint16_t parent[2 * SYMBOLS] = {0}, live[SYMBOLS], leaf[SYMBOLS];
    unsigned n = 0, used, next, deepest = 0;

    for (unsigned i = 0; i < SYMBOLS; i++)
        if (c->count[i]) {
            weight[n] = c->count[i];
            leaf[n] = (uint16_t)i;
            live[n] = (uint16_t)n;
            n++;
        }
    used = next = n;
    for (unsigned left = n; left > 1; left--) {
        for (unsigned k = 0; k < 2; k++) { /* the rarest to the end, the next one before it */
            unsigned rarest = 0, last = left - 1 - k;
            uint16_t swap;

            for (unsigned i = 1; i <= last; i++)
                if (weight[live[i]] < weight[live[rarest]])
                    rarest = i;
            swap = live[rarest];
            live[rarest] = live[last];
            live[last] = swap;
        }
        parent[live[left - 1]] = parent[live[left - 2]] = (uint16_t)next;
        weight[next] = weight[live[left - 1]] + weight[live[left - 2]];
        live[left - 2] = (uint16_t)next++;
    }
    for (unsigned i = 0; i < used; i++) {
        unsigned depth = used == 1;

        for (unsigned p = i; p + 1 < next; p = parent[p])
            depth++;
        c->length[leaf[i]] = (uint8_t)depth;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

/* Codes in order of length: each is the one before it plus one, with zeros appended. */
static inline void assign(struct code *c)
{
    unsigned bits = 0, at = 0;

    for (unsigned l = 1; l <= LENGTHS; l++) {
        for (unsigned i = 0; i < c->of_length[l]; i++) {
            c->bits[c->symbol[at]] = (uint16_t)bits++;
            c->length[c->symbol[at++]] = (uint8_t)l;
        }
        bits <<= 1;
    }
}

/* Flattens the counts until no code is too long. */
static inline void make_code(struct code *c)
{
    unsigned at = 0;

    while (make_lengths(c) > LENGTHS)
        for (unsigned i = 0; i < SYMBOLS; i++)
            c->count[i] = c->count[i] / 2 + c->count[i] % 2;
    for (unsigned l = 1; l <= LENGTHS; l++)
        for (unsigned i = 0; i < SYMBOLS; i++)
            if (c->length[i] == l) {
                c->symbol[at++] = (uint8_t)i;
                c->of_length[l]++;
            }
    assign(c);
}

/* ---- writing --------------------------------------------------------------------------------- */

struct stream {
    uint8_t *bytes;
    size_t at;
    uint32_t held;
    unsigned bits; /* held */
};

static inline void put(struct stream *s, unsigned bits, uint32_t value)
{
    s->held = s->held << bits | value;
    for (s->bits += bits; s->bits >= 8; s->bits -= 8)
        s->bytes[s->at++] = (uint8_t)(s->held >> (s->bits - 8));
}

static inline void flush(struct stream *s)
{
    if (s->bits)
        put(s, 8 - s->bits, 0);
}

/* How many codes there are of each length, then the symbols. */
static inline void write_code(struct stream *s, const struct code *c)
{
    unsigned n = 0;

    for (unsigned l = 1; l <= LENGTHS; l++) {
        s->bytes[s->at++] = (uint8_t)c->of_length[l];
        n += c->of_length[l];
    }
    memcpy(s->bytes + s->at, c->symbol, n);
    s->at += n;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct source {
    const uint8_t *bytes;
    size_t at, end;
    unsigned held, bits;
    bool bad; /* ran out, or met what no writer writes */
};

static inline unsigned take_byte(struct source *s)
{
    if (s->at == s->end) {
        s->bad = true;
        return 0;
    }
    return s->bytes[s->at++];
}

static inline unsigned take_bit(struct source *s)
{
    if (s->bits == 0) {
        s->held = take_byte(s);
        s->bits = 8;
    }
    return s->held >> --s->bits & 1;
}

static inline unsigned take(struct source *s, unsigned bits)
{
    unsigned v = 0;

    while (bits--)
        v = v << 1 | take_bit(s);
    return v;
}

static inline void read_code(struct source *s, struct code *c)
{
    unsigned n = 0;

    s->bits = 0;
    for (unsigned l = 1; l <= LENGTHS; l++)
        n += c->of_length[l] = take_byte(s);
    if (n > SYMBOLS)
        s->bad = true;
    for (unsigned i = 0; i < n && !s->bad; i++)
        c->symbol[i] = (uint8_t)take_byte(s);
}

static inline unsigned take_symbol(struct source *s, const struct code *c)
{
    unsigned bits = 0, first = 0, at = 0;

    for (unsigned l = 1; l <= LENGTHS; l++) {
        bits = bits << 1 | take_bit(s);
        if (bits - first < c->of_length[l])
            return c->symbol[at + bits - first];
        at += c->of_length[l];
        first = (first + c->of_length[l]) << 1;
    }
    s->bad = true;
    return 0;
}

#endif
