/* SPDX-License-Identifier: MIT */
/* Bit strings.
 *
 * Order: least significant bit first. The first bit written is bit 0 of byte 0, the ninth is bit 0
 * of byte 1; a field of n bits puts its own bit 0 first. The unused high bits of the last byte are
 * written as 0 and ignored when reading.
 *
 * Writer: up to 63 bits are pending in an accumulator; the memory is complete only after
 * vs_bitw_finish. Nothing is ever stored past the capacity: the writer goes on counting, and
 * everything after that point is lost, which vs_bitw_finish reports.
 *
 * Reader: a read that asks for more bits than are left fails and consumes nothing. Nothing is
 * loaded from past the end of the data.
 *
 * The functions whose names end in _fast leave out the checks; each states what must hold. They
 * mix freely with the others. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "vestige/error.h"

struct vs_bitw {
    uint8_t *data;
    size_t cap;
    size_t len;       /* bytes flushed, in steps of 8; above cap once they did not fit */
    uint64_t acc;     /* the pending bits; those above are 0 */
    unsigned pending; /* 0..63 */
};

static inline void vs_bitw_init(struct vs_bitw *w, uint8_t *data, size_t cap)
{
    *w = (struct vs_bitw){.data = data, .cap = cap};
}

/* Bits put so far, including any that did not fit. */
static inline uint64_t vs_bitw_bits(const struct vs_bitw *w)
{
    return (uint64_t)w->len * 8 + w->pending;
}

/* Whether the bits put so far exceed the capacity. Once true it stays true. */
static inline bool vs_bitw_overflow(const struct vs_bitw *w)
{
    return w->len + (w->pending + 7) / 8 > w->cap;
}

/* Appends the low n bits of v, n in 0..64. Needs: no bit of v set from n up, and room in the
 * buffer for 8 bytes after the vs_bitw_bits(w) / 8 complete ones. */
static inline void vs_bitw_put_fast(struct vs_bitw *w, uint64_t v, unsigned n)
{
    w->acc |= v << w->pending;
    if (w->pending + n < 64) {
        w->pending += n;
        return;
    }
    vs_put64(w->data + w->len, w->acc);
    w->len += 8;
    w->acc = w->pending ? v >> (64 - w->pending) : 0;
    w->pending = w->pending + n - 64;
}

/* Appends the low n bits of v, n in 0..64; the others are ignored. */
static inline void vs_bitw_put(struct vs_bitw *w, uint64_t v, unsigned n)
{
    v = n ? v & (~UINT64_C(0) >> (64 - n)) : 0;
    if (w->pending + n < 64 || (w->len < w->cap && w->cap - w->len >= 8)) {
        vs_bitw_put_fast(w, v, n);
        return;
    }
    w->len += 8;
    w->acc = 0;
    w->pending = w->pending + n - 64;
}

/* Goes n bits on as if any had been appended, for who only wants to know how many there are. */
static inline void vs_bitw_skip(struct vs_bitw *w, unsigned n)
{
    w->len += (w->pending + n) / 64 * 8;
    w->pending = (w->pending + n) % 64;
}

/* Stores the pending bits. Returns the number of bytes in use, or -VSE_LIMIT if the bits did not
 * fit. The writer may go on afterwards, as if this had not been called. */
static inline int64_t vs_bitw_finish(struct vs_bitw *w)
{
    size_t rest = (w->pending + 7) / 8;
    if (vs_bitw_overflow(w))
        return -VSE_LIMIT;
    if (rest)
        memcpy(w->data + w->len, &w->acc, rest); /* the low bytes: little-endian, see bytes.h */
    return (int64_t)(w->len + rest);
}

struct vs_bitr {
    const uint8_t *data;
    size_t bytes;
    uint64_t nbits, pos; /* pos <= nbits <= 8 * bytes */
};

/* Reads the first nbits bits of data. 0, or -VSE_TRUNCATED if `bytes` bytes hold fewer; then the
 * reader is empty. */
static inline int vs_bitr_init(struct vs_bitr *r, const uint8_t *data, size_t bytes, uint64_t nbits)
{
    bool fits = nbits / 8 + (nbits % 8 != 0) <= bytes;
    *r = (struct vs_bitr){.data = data, .bytes = bytes, .nbits = fits ? nbits : 0};
    return fits ? 0 : -VSE_TRUNCATED;
}

/* Bits consumed so far. */
static inline uint64_t vs_bitr_pos(const struct vs_bitr *r)
{
    return r->pos;
}

/* Bits not yet consumed. */
static inline uint64_t vs_bitr_left(const struct vs_bitr *r)
{
    return r->nbits - r->pos;
}

/* Takes the next n bits. Needs: n in 1..57 and vs_bitr_left(r) >= 64. */
static inline uint64_t vs_bitr_get_fast(struct vs_bitr *r, unsigned n)
{
    uint64_t word = vs_get64(r->data + r->pos / 8) >> (r->pos % 8);
    r->pos += n;
    return word & (~UINT64_C(0) >> (64 - n));
}

/* Takes the next n bits, n in 0..64. 0, or -VSE_END with *v unchanged if fewer than n are left. */
static inline int vs_bitr_get(struct vs_bitr *r, unsigned n, uint64_t *v)
{
    if (n > vs_bitr_left(r))
        return -VSE_END;
    if (!n) {
        *v = 0;
        return 0;
    }
    const uint8_t *p = r->data + r->pos / 8;
    size_t rest = r->bytes - r->pos / 8;
    unsigned shift = r->pos % 8;
    uint8_t tail[9];
    if (rest < sizeof(tail)) {
        memset(tail, 0, sizeof(tail));
        memcpy(tail, p, rest);
        p = tail;
    }
    uint64_t word = vs_get64(p) >> shift;
    if (shift + n > 64)
        word |= (uint64_t)p[8] << (64 - shift);
    *v = word & (~UINT64_C(0) >> (64 - n));
    r->pos += n;
    return 0;
}

#endif
