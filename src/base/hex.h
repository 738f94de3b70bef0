/* SPDX-License-Identifier: MIT */
/* Hexadecimal digits, eight at a time. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdint.h>

/* The 8 hexadecimal digits of v as bytes, the most significant first in memory. */
static inline uint64_t vs_hex_digits(uint32_t v)
{
    uint64_t x = v;

    /* Puts a nibble into the low half of each byte, and then reverses the bytes. */
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = __builtin_bswap64(x);
    uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return x + UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
}

#endif
