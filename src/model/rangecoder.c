/* SPDX-License-Identifier: MIT */
#include "model/rangecoder.h"

struct vs_range_end vs_range_end(uint32_t low, uint32_t range)
{
    struct vs_range_end end = {0};
    for (end.count = 0; end.count < VS_RANGE_END_MAX; end.count++) {
        uint64_t rest = (UINT64_C(1) << (32 - end.count)) - 1;
        end.value = (low + rest) & ~rest;
        if (end.value + rest < (uint64_t)low + range)
            return end;
    }
    end.value = low;
    return end;
}

size_t vs_range_encoder_end(struct vs_range_encoder *e)
{
    struct vs_range_end end = vs_range_end(e->low, e->range);
    size_t bits = 8 * e->count + end.count;
    if (end.value >> 32)
        vs_range_carry(e);
    for (unsigned i = 0; i < end.count; i += 8)
        e->bytes[e->count++] = (uint8_t)(end.value >> (24 - i));
    return bits;
}

void vs_range_decoder_start(struct vs_range_decoder *d, const uint8_t *bytes, size_t size)
{
    *d = (struct vs_range_decoder){.bytes = bytes, .size = size, .range = UINT32_MAX};
    for (size_t i = 0; i < 4; i++)
        d->code = d->code << 8 | vs_range_byte(d, i);
}

bool vs_range_decoder_ends(const struct vs_range_decoder *d, size_t bits)
{
    struct vs_range_end end = vs_range_end(d->low, d->range);
    return bits == 8 * d->count + end.count && d->code == (uint32_t)end.value;
}
