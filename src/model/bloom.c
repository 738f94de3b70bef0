/* SPDX-License-Identifier: MIT */
#include "model/bloom.h"

#include <stdlib.h>

#include "base/power.h"
#include "vestige/error.h"

int vs_bloom_init(struct vs_bloom *b, uint32_t bits, unsigned block_bits)
{
    *b = (struct vs_bloom){.bits = bits, .block_bits = (uint8_t)block_bits};
    if (!bits)
        return 0;
    if (!vs_is_power_of_two(bits) || bits < VS_BLOOM_BITS_MIN || bits > VS_BLOOM_BITS_MAX)
        return -VSE_INVAL;
    b->shift = (uint8_t)(64 - vs_log2_ceil(bits));
    b->words = calloc(bits / 64, sizeof(*b->words));
    return b->words ? 0 : -VSE_NOMEM;
}

void vs_bloom_fini(struct vs_bloom *b)
{
    free(b->words);
    *b = (struct vs_bloom){0};
}

void vs_bloom_fill(struct vs_bloom *b)
{
    if (b->bits)
        memset(b->words, 0xff, b->bits / 8);
    b->any = true;
}
