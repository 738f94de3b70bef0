/* SPDX-License-Identifier: MIT */
/* Decimal digits, eight at a time. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

#include <stdint.h>

#define VS_DECIMAL_8 100000000 /* 8 digits hold what is below that */

/* The 8 decimal digits of v < 10^8, a byte each from 0 to 9, the most significant first in memory.
 * With VS_DECIMAL_TEXT added they are text. */
#define VS_DECIMAL_TEXT UINT64_C(0x3030303030303030)

static inline uint64_t vs_decimal_digits(uint32_t v)
{
    uint64_t x = v / 10000, tens;

    /* Splits 8 digits into two times 4, those into pairs, and pairs into digits. The products are
     * the quotients by 100 and 10 in each lane, exactly, since the lanes are so small. */
    x |= (uint64_t)(v % 10000) << 32;
    tens = x * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
    x = tens | (x - 100 * tens) << 16;
    tens = x * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (x - 10 * tens) << 8;
}

#endif
