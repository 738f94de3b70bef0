/* SPDX-License-Identifier: MIT */
/* A binary arithmetic coder of 32 bits, which is started anew for every packet.
 *
 * The state is an interval [low, low + range) of 32-bit numbers, at first [0, 2^32 - 1). A bit
 * whose probability of being 1 is p / 65536 splits it: 1 keeps the lower part, of floor(range * p /
 * 65536), 0 keeps the rest. While the range is below 2^24, the top byte of low is put and both are
 * shifted by 8 bits. A carry out of low is added to the bytes that were put.
 *
 * The end puts the fewest bits, the top ones of a number, such that whatever follows them stays
 * within the interval; of those numbers, the least. So bits and code determine each other: the
 * decoder knows where the code has to end, and with which bits. */
#ifndef MODEL_RANGECODER_H
#define MODEL_RANGECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "model/cost.h"

#define VS_RANGE_LEAST (UINT32_C(1) << 24)

enum {
    VS_RANGE_BIT_MAX = 16, /* bits of code that a coded bit adds at most, but for rounding */
    VS_RANGE_END_MAX = 32, /* bits that the end adds at most */
};

/* How the code ends: the top `count` bits of `value`; the value may carry. */
struct vs_range_end {
    uint64_t value;
    unsigned count;
};

struct vs_range_end vs_range_end(uint32_t low, uint32_t range);

/* The registers of either side: low and range. */
static inline struct vs_cost vs_range_cost(void)
{
    return (struct vs_cost){.registers = 64};
}

static inline uint32_t vs_range_split(uint32_t range, uint32_t one)
{
    return (uint32_t)((uint64_t)range * one >> 16);
}

/* ---- encoder --------------------------------------------------------------------------------- */

/* The owner provides room for all bytes that it lets the coder put. */
struct vs_range_encoder {
    uint8_t *bytes;
    size_t count; /* bytes put */
    uint32_t low, range;
};

static inline void vs_range_encoder_start(struct vs_range_encoder *e, uint8_t *bytes)
{
    *e = (struct vs_range_encoder){.bytes = bytes, .range = UINT32_MAX};
}

static inline void vs_range_carry(struct vs_range_encoder *e)
{
    for (size_t i = e->count; i && !++e->bytes[i - 1]; i--)
        ;
}

/* Puts the top bytes while the range is small. */
static inline void vs_range_renew(struct vs_range_encoder *e)
{
    while (e->range < VS_RANGE_LEAST) {
        e->bytes[e->count++] = (uint8_t)(e->low >> 24);
        e->low <<= 8;
        e->range <<= 8;
    }
}

/* one: the probability of a 1, in 65536ths, 1 to 65535. */
static inline void vs_range_encode(struct vs_range_encoder *e, uint32_t one, bool bit)
{
    uint32_t split = vs_range_split(e->range, one);
    uint32_t low = e->low + (bit ? 0 : split);
    if (unlikely(low < e->low))
        vs_range_carry(e);
    e->low = low;
    e->range = bit ? split : e->range - split;
    vs_range_renew(e);
}

/* The same at even odds, where a branch on the bit would often be foreseen wrongly. */
static inline void vs_range_encode_even(struct vs_range_encoder *e, bool bit)
{
    uint32_t split = vs_range_split(e->range, 1u << 15), upper = (uint32_t)bit - 1;
    uint32_t low = e->low + (split & upper);
    if (unlikely(low < e->low))
        vs_range_carry(e);
    e->low = low;
    e->range = split + (e->range & 1 & upper);
    vs_range_renew(e);
}

/* Ends the code, whose last byte is padded with zeros at the bottom. Returns its bits. */
size_t vs_range_encoder_end(struct vs_range_encoder *e);

/* ---- decoder --------------------------------------------------------------------------------- */

struct vs_range_decoder {
    const uint8_t *bytes;
    size_t size;  /* of them; zeros follow */
    size_t count; /* those that have left the interval */
    uint32_t low, range, code;
};

void vs_range_decoder_start(struct vs_range_decoder *d, const uint8_t *bytes, size_t size);

static inline uint32_t vs_range_byte(const struct vs_range_decoder *d, size_t i)
{
    return i < d->size ? d->bytes[i] : 0;
}

static inline bool vs_range_decode(struct vs_range_decoder *d, uint32_t one)
{
    uint32_t split = vs_range_split(d->range, one);
    bool bit = d->code - d->low < split;
    d->low += bit ? 0 : split;
    d->range = bit ? split : d->range - split;
    while (d->range < VS_RANGE_LEAST) {
        d->code = d->code << 8 | vs_range_byte(d, d->count++ + 4);
        d->low <<= 8;
        d->range <<= 8;
    }
    return bit;
}

/* Returns whether an encoder would end here with exactly these bits, and so many of them. */
bool vs_range_decoder_ends(const struct vs_range_decoder *d, size_t bits);

#endif
