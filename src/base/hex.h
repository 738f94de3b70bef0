/* SPDX-License-Identifier: MIT */
/* Hexadecimal digits, eight or sixteen at a time. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <emmintrin.h>
#include <stdint.h>

/* Writes the 16 hexadecimal digits of v at p, the most significant first. */
static inline void vs_hex_put16(uint8_t *p, uint64_t v)
{
    const __m128i bytes = _mm_cvtsi64_si128((long long)__builtin_bswap64(v));
    const __m128i digits =
        _mm_and_si128(_mm_unpacklo_epi8(_mm_srli_epi16(bytes, 4), bytes), _mm_set1_epi8(15));
    const __m128i letters =
        _mm_and_si128(_mm_cmpgt_epi8(digits, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '0' - 10));

    _mm_storeu_si128((__m128i *)(void *)p,
                     _mm_add_epi8(_mm_add_epi8(digits, letters), _mm_set1_epi8('0')));
}

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
