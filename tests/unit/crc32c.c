/* SPDX-License-Identifier: MIT */
#include "base/crc32c.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

typedef uint32_t crc_function(uint32_t crc, const void *data, size_t size);

/* The definition, bit by bit. */
static uint32_t reference(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *p = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
    }
    return ~crc;
}

/* The check value, and the examples of RFC 3720, B.4. */
static void check_known(crc_function *crc)
{
    uint8_t bytes[32];
    CHECK_EQ(crc(0, "123456789", 9), 0xe3069283u);
    CHECK_EQ(crc(0, "", 0), 0);
    CHECK_EQ(crc(0, NULL, 0), 0);
    memset(bytes, 0, sizeof(bytes));
    CHECK_EQ(crc(0, bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, sizeof(bytes));
    CHECK_EQ(crc(0, bytes, 32), 0x62a8ab43u);
    for (uint8_t i = 0; i < 32; i++)
        bytes[i] = i;
    CHECK_EQ(crc(0, bytes, 32), 0x46dd794eu);
    for (uint8_t i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    CHECK_EQ(crc(0, bytes, 32), 0x113fdb5cu);
}

TEST(gives_known_values)
{
    check_known(vs_crc32c);
}

TEST(gives_known_values_in_software)
{
    check_known(vs_crc32c_soft);
}

TEST(agrees_with_the_definition_for_every_byte)
{
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i;
        CHECK_EQ(vs_crc32c_soft(0, &byte, 1), reference(0, &byte, 1));
        CHECK_EQ(vs_crc32c(0, &byte, 1), reference(0, &byte, 1));
    }
}

TEST(agrees_and_chains_at_every_length_and_alignment)
{
    static uint8_t bytes[4096];
    struct rng r = rng_init(7);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)rng_next(&r);
    for (int i = 0; i < 3000; i++) {
        size_t start = rng_below(&r, 64), size = rng_below(&r, i % 10 ? 100 : 4000);
        size_t cut = rng_below(&r, size + 1);
        const uint8_t *p = bytes + start;
        uint32_t want = reference(0, p, size);
        CHECK_EQ(vs_crc32c(0, p, size), want);
        CHECK_EQ(vs_crc32c_soft(0, p, size), want);
        CHECK_EQ(vs_crc32c(vs_crc32c(0, p, cut), p + cut, size - cut), want);
        CHECK_EQ(vs_crc32c_soft(vs_crc32c(0, p, cut), p + cut, size - cut), want);
    }
}
