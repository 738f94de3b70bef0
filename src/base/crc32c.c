/* SPDX-License-Identifier: MIT */
#include "base/crc32c.h"

#include "base/bytes.h"

/* What eight steps of the register turn byte n into. The CRC is linear, so this is the sum of what
 * they turn the byte's bits into. */
#define BIT(n, bit, crc) ((n) >> bit & 1 ? UINT32_C(crc) : 0)
#define ENTRY(n)                                                                                   \
    (BIT(n, 0, 0xf26b8303) ^ BIT(n, 1, 0xe13b70f7) ^ BIT(n, 2, 0xc79a971f) ^                       \
     BIT(n, 3, 0x8ad958cf) ^ BIT(n, 4, 0x105ec76f) ^ BIT(n, 5, 0x20bd8ede) ^                       \
     BIT(n, 6, 0x417b1dbc) ^ BIT(n, 7, 0x82f63b78))
#define ENTRIES4(n)  ENTRY(n), ENTRY((n) + 1), ENTRY((n) + 2), ENTRY((n) + 3)
#define ENTRIES16(n) ENTRIES4(n), ENTRIES4((n) + 4), ENTRIES4((n) + 8), ENTRIES4((n) + 12)
#define ENTRIES64(n) ENTRIES16(n), ENTRIES16((n) + 16), ENTRIES16((n) + 32), ENTRIES16((n) + 48)

static const uint32_t table[256] = {ENTRIES64(0), ENTRIES64(64), ENTRIES64(128), ENTRIES64(192)};

uint32_t vs_crc32c_soft(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    crc = ~crc;
    for (; size; size--)
        crc = crc >> 8 ^ table[(uint8_t)crc ^ *p++];
    return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const uint8_t *p,
                                                               size_t size)
{
    uint64_t wide = (uint32_t)~crc;
    for (; size >= 8; size -= 8, p += 8)
        wide = _mm_crc32_u64(wide, vs_get64(p));
    crc = (uint32_t)wide;
    for (; size; size--)
        crc = _mm_crc32_u8(crc, *p++);
    return ~crc;
}

uint32_t vs_crc32c(uint32_t crc, const void *data, size_t size)
{
    return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(crc, data, size)
                                            : vs_crc32c_soft(crc, data, size);
}

#else

uint32_t vs_crc32c(uint32_t crc, const void *data, size_t size)
{
    return vs_crc32c_soft(crc, data, size);
}

#endif
