/* SPDX-License-Identifier: MIT */
/* A set of addresses that may claim to have some it was never given, and is emptied at once: a
 * vector of bits, of which an address sets one. */
#ifndef MODEL_BLOOM_H
#define MODEL_BLOOM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "base/likely.h"
#include "model/cost.h"

enum {
    VS_BLOOM_BITS_MIN = 64,
    VS_BLOOM_BITS_MAX = 65536,
};

struct vs_bloom {
    uint64_t *words;
    uint32_t bits;      /* a power of two; 0: there is no filter, and it claims to have all */
    uint8_t shift;      /* of a hash, for a bit's number */
    uint8_t block_bits; /* log2 of the bytes in which all addresses are one */
    bool any;           /* it is not empty */
};

/* bits: 0, or a power of two from VS_BLOOM_BITS_MIN to VS_BLOOM_BITS_MAX. Returns 0; -VSE_INVAL;
 * -VSE_NOMEM. */
int vs_bloom_init(struct vs_bloom *b, uint32_t bits, unsigned block_bits);
void vs_bloom_fini(struct vs_bloom *b);

static inline uint64_t vs_bloom_place(const struct vs_bloom *b, uint64_t addr)
{
    return vs_hash(addr >> b->block_bits) >> b->shift;
}

static inline void vs_bloom_add(struct vs_bloom *b, uint64_t addr)
{
    if (unlikely(!b->bits))
        return;
    uint64_t place = vs_bloom_place(b, addr);
    b->words[place / 64] |= UINT64_C(1) << place % 64;
    b->any = true;
}

static inline bool vs_bloom_has(const struct vs_bloom *b, uint64_t addr)
{
    if (unlikely(!b->bits))
        return true;
    if (!b->any)
        return false;
    uint64_t place = vs_bloom_place(b, addr);
    return b->words[place / 64] >> place % 64 & 1;
}

/* From now on it claims to have all addresses. */
void vs_bloom_fill(struct vs_bloom *b);

static inline void vs_bloom_clear(struct vs_bloom *b)
{
    if (b->any)
        memset(b->words, 0, b->bits / 8);
    b->any = false;
}

/* All bits are emptied at once, so they are registers. */
static inline struct vs_cost vs_bloom_cost(uint32_t bits)
{
    return (struct vs_cost){.registers = bits};
}

#endif
