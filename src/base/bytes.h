/* SPDX-License-Identifier: MIT */
/* Little-endian loads and stores at any alignment. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the host must be little-endian");

static inline uint16_t vs_get16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint32_t vs_get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline uint64_t vs_get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void vs_put16(uint8_t *p, uint16_t v)
{
    memcpy(p, &v, sizeof(v));
}

static inline void vs_put32(uint8_t *p, uint32_t v)
{
    memcpy(p, &v, sizeof(v));
}

static inline void vs_put64(uint8_t *p, uint64_t v)
{
    memcpy(p, &v, sizeof(v));
}

#endif
