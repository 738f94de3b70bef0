/* SPDX-License-Identifier: MIT */
/* How numbers lie in a port stream.
 *
 * Chunks (first, other): the low `first` bits, then groups of `other` bits, least significant
 * first; each chunk is followed by a connect bit, which is 1 if another chunk follows. There are no
 * more chunks than the number needs, and at least one.
 *
 * Unary prefix (size, step): k ones, a zero, then size + k * step bits, but never more than `most`;
 * k is the least that suffices.
 *
 * Differences: two addresses are subtracted modulo 2^width, and the result is taken as signed: a
 * sign bit (1 = negative), then the magnitude in one of the codes above. 0 is not negative.
 *
 * Only what an encoder writes is valid: a number in more bits than it needs is an error, and so is
 * one that exceeds 64 bits. Getters return 0; -VSE_END (the bits end first); -VSE_CORRUPT. After an
 * error the position is where it was. */
#ifndef PORT_CODE_H
#define PORT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/likely.h"

/* The bits that a number needs; 0 for the number 0. */
static inline unsigned vs_bit_length(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

/* ---- chunks ---- */

struct vs_chunks {
    uint8_t first, other; /* 1 to 64 each */
};

static inline bool vs_chunks_valid(struct vs_chunks c)
{
    return c.first >= 1 && c.first <= 64 && c.other >= 1 && c.other <= 64;
}

/* The size of any number that is `length` bits long. */
static inline unsigned vs_chunks_length_size(struct vs_chunks c, unsigned length)
{
    unsigned others = length > c.first ? (length - c.first + c.other - 1) / c.other : 0;

    return c.first + 1u + others * (c.other + 1u);
}

static inline unsigned vs_chunks_size(struct vs_chunks c, uint64_t v)
{
    return vs_chunks_length_size(c, vs_bit_length(v));
}

/* Appends v. Returns its size. */
static inline unsigned vs_chunks_put(struct vs_bitw *w, struct vs_chunks c, uint64_t v)
{
    unsigned n = c.first, size = 0;

    if (likely(v < UINT64_C(1) << 30 && n <= 32 && c.other <= 32)) { /* at most 63 bits: at once */
        uint64_t all = v & (~UINT64_C(0) >> (64 - n)), other = ~UINT64_C(0) >> (64 - c.other);
        for (size = n, v >>= n; v; v >>= c.other) {
            all |= (1 | (v & other) << 1) << size;
            size += c.other + 1u;
        }
        vs_bitw_put(w, all, ++size);
        return size;
    }
    for (;;) {
        uint64_t rest = n < 64 ? v >> n : 0;

        vs_bitw_put(w, v, n);
        vs_bitw_put(w, rest != 0, 1);
        size += n + 1;
        if (!rest)
            return size;
        v = rest;
        n = c.other;
    }
}

int vs_chunks_get(struct vs_bitr *r, struct vs_chunks c, uint64_t *v);

/* ---- unary prefix ---- */

struct vs_unary {
    uint8_t size, step; /* size 1 to 64, step 1 to 64 */
    uint8_t most;       /* size to 64; 0 means 64 */
};

static inline unsigned vs_unary_most(struct vs_unary u)
{
    return u.most ? u.most : 64;
}

static inline bool vs_unary_valid(struct vs_unary u)
{
    return u.size >= 1 && u.step >= 1 && u.step <= 64 && vs_unary_most(u) <= 64 &&
           u.size <= vs_unary_most(u);
}

/* The width of the field after k ones. */
static inline unsigned vs_unary_width(struct vs_unary u, unsigned k)
{
    unsigned n = u.size + k * u.step;

    return n < vs_unary_most(u) ? n : vs_unary_most(u);
}

/* The ones that a number of `length` bits needs; length is at most u.most. */
static inline unsigned vs_unary_ones(struct vs_unary u, unsigned length)
{
    return length > u.size ? (length - u.size + u.step - 1u) / u.step : 0;
}

static inline unsigned vs_unary_length_size(struct vs_unary u, unsigned length)
{
    unsigned k = vs_unary_ones(u, length);

    return k + 1 + vs_unary_width(u, k);
}

static inline unsigned vs_unary_size(struct vs_unary u, uint64_t v)
{
    return vs_unary_length_size(u, vs_bit_length(v));
}

/* Appends k ones (at most 63) and a zero. Returns the size. */
static inline unsigned vs_ones_put(struct vs_bitw *w, unsigned k)
{
    vs_bitw_put(w, (UINT64_C(1) << k) - 1, k + 1);
    return k + 1;
}

/* Appends v, which fits in u.most bits. Returns its size. */
static inline unsigned vs_unary_put(struct vs_bitw *w, struct vs_unary u, uint64_t v)
{
    unsigned k = vs_unary_ones(u, vs_bit_length(v)), n = vs_unary_width(u, k);

    vs_ones_put(w, k);
    vs_bitw_put(w, v, n);
    return k + 1 + n;
}

/* Reads the number of ones before a zero. More than `most` of them are corrupt. */
int vs_ones_get(struct vs_bitr *r, unsigned most, unsigned *k);

int vs_unary_get(struct vs_bitr *r, struct vs_unary u, uint64_t *v);

/* ---- differences ---- */

struct vs_difference {
    uint64_t magnitude;
    bool negative;
};

/* Returns to - from. The width is an address's, 1 to 64; the magnitude is at most 2^(width - 1). */
static inline struct vs_difference vs_difference(uint64_t from, uint64_t to, unsigned width)
{
    uint64_t mask = ~UINT64_C(0) >> (64 - width), d = (to - from) & mask;
    bool negative = d >> (width - 1) & 1;

    return (struct vs_difference){negative ? (0 - d) & mask : d, negative};
}

/* The inverse: returns where a difference leads. */
static inline uint64_t vs_difference_apply(uint64_t from, struct vs_difference d, unsigned width)
{
    uint64_t mask = ~UINT64_C(0) >> (64 - width);

    return (d.negative ? from - d.magnitude : from + d.magnitude) & mask;
}

static inline unsigned vs_chunks_difference_size(struct vs_chunks c, struct vs_difference d)
{
    return 1 + vs_chunks_size(c, d.magnitude);
}

static inline unsigned vs_chunks_difference_put(struct vs_bitw *w, struct vs_chunks c,
                                                struct vs_difference d)
{
    vs_bitw_put(w, d.negative, 1);
    return 1 + vs_chunks_put(w, c, d.magnitude);
}

/* A magnitude that no difference of that width has, and minus 0, are corrupt too. */
int vs_chunks_difference_get(struct vs_bitr *r, struct vs_chunks c, unsigned width,
                             struct vs_difference *d);

/* These code an address by its difference from the last one, with a unary prefix: ones and a zero,
 * then the sign and the magnitude; or, where the field has `width` bits, the address itself and no
 * sign. u.most is ignored: `width` takes its place. */
unsigned vs_unary_address_size(struct vs_unary u, uint64_t from, uint64_t to, unsigned width);
unsigned vs_unary_address_put(struct vs_bitw *w, struct vs_unary u, uint64_t from, uint64_t to,
                              unsigned width);
int vs_unary_address_get(struct vs_bitr *r, struct vs_unary u, uint64_t from, unsigned width,
                         uint64_t *to);

#endif
