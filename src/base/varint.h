/* SPDX-License-Identifier: MIT */
/* Integers of one to ten bytes: unsigned LEB128, seven bits per byte, least significant first, the
 * top bit set in every byte but the last. Only the shortest form of a number is valid, so that
 * equal numbers have equal bytes. Signed numbers go through zigzag: 0, -1, 1, -2 become 0, 1, 2, 3.
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stdint.h>

#include "vestige/error.h"

#define VS_VARINT_MAX 10 /* bytes of the longest varint */

/* Writes v at p, where VS_VARINT_MAX bytes are free. Returns the end of what was written. */
static inline uint8_t *vs_varint_put(uint8_t *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (uint8_t)(v | 0x80);
    *p++ = (uint8_t)v;
    return p;
}

/* Reads one varint between *p and end and moves *p past it. 0, or with *p and *v unchanged
 * -VSE_TRUNCATED (end comes first) or -VSE_CORRUPT (more than 64 bits, or not the shortest form).
 */
static inline int vs_varint_get(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
    const uint8_t *q = *p;
    if (q < end && *q < 0x80) {
        *v = *q;
        *p = q + 1;
        return 0;
    }
    uint64_t value = 0;
    for (unsigned shift = 0; q < end; shift += 7) {
        uint8_t byte = *q++;
        if (shift == 63 && byte > 1)
            return -VSE_CORRUPT;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte >= 0x80)
            continue;
        if (byte == 0)
            return -VSE_CORRUPT;
        *v = value;
        *p = q;
        return 0;
    }
    return -VSE_TRUNCATED;
}

static inline uint64_t vs_zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (0 - (uint64_t)(v < 0));
}

static inline int64_t vs_unzigzag(uint64_t v)
{
    return (int64_t)((v >> 1) ^ (0 - (v & 1)));
}

#endif
