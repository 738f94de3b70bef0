/* SPDX-License-Identifier: MIT */
#include "base/varint.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

/* Puts v and reads it back; returns its length. */
static size_t round_trip(uint64_t v)
{
    uint8_t bytes[VS_VARINT_MAX];
    size_t size = (size_t)(vs_varint_put(bytes, v) - bytes);
    const uint8_t *p = bytes;
    uint64_t got = ~v;
    CHECK_EQ(vs_varint_get(&p, bytes + size, &got), 0);
    CHECK_EQ(got, v);
    CHECK_EQ(p - bytes, size);
    for (size_t cut = 0; cut < size; cut++) {
        p = bytes;
        CHECK_ERR(vs_varint_get(&p, bytes + cut, &got), VSE_TRUNCATED);
        CHECK(p == bytes);
    }
    return size;
}

TEST(uses_seven_bits_per_byte)
{
    CHECK_EQ(round_trip(0), 1);
    for (unsigned bits = 1; bits <= 64; bits++) {
        uint64_t top = ~UINT64_C(0) >> (64 - bits);
        CHECK_EQ(round_trip(top), (bits + 6) / 7);
        CHECK_EQ(round_trip(top / 2 + 1), (bits + 6) / 7);
    }
}

TEST(writes_the_documented_bytes)
{
    static const uint8_t largest[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
    uint8_t bytes[VS_VARINT_MAX];
    CHECK_EQ(vs_varint_put(bytes, 300) - bytes, 2);
    CHECK_MEM(bytes, "\xac\x02", 2);
    CHECK_EQ(vs_varint_put(bytes, UINT64_MAX) - bytes, 10);
    CHECK_MEM(bytes, largest, 10);
}

TEST(round_trips_random_numbers)
{
    struct rng r = rng_init(2);
    for (int i = 0; i < 100000; i++)
        round_trip(rng_any(&r));
}

TEST(reads_one_after_another)
{
    uint8_t bytes[3 * VS_VARINT_MAX];
    uint8_t *end = vs_varint_put(vs_varint_put(vs_varint_put(bytes, 1), 1u << 20), 127);
    const uint8_t *p = bytes;
    uint64_t v;
    CHECK_EQ(vs_varint_get(&p, end, &v), 0);
    CHECK_EQ(v, 1);
    CHECK_EQ(vs_varint_get(&p, end, &v), 0);
    CHECK_EQ(v, 1u << 20);
    CHECK_EQ(vs_varint_get(&p, end, &v), 0);
    CHECK_EQ(v, 127);
    CHECK_ERR(vs_varint_get(&p, end, &v), VSE_TRUNCATED);
    CHECK(p == end);
}

static void rejects(const char *bytes, size_t size)
{
    const uint8_t *start = (const uint8_t *)bytes, *p = start;
    uint64_t v = 42;
    CHECK_ERR(vs_varint_get(&p, start + size, &v), VSE_CORRUPT);
    CHECK(p == start);
    CHECK_EQ(v, 42);
}

TEST(rejects_longer_forms_than_needed)
{
    rejects("\x80\x00", 2);
    rejects("\xff\x00", 2);
    rejects("\x80\x80\x00", 3);
    rejects("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10);
}

TEST(rejects_more_than_64_bits)
{
    rejects("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    rejects("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10);
    rejects("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11);
    rejects("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11);
}

TEST(accepts_only_what_it_would_write)
{
    struct rng r = rng_init(3);
    unsigned accepted = 0;
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[12], again[VS_VARINT_MAX];
        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (uint8_t)(rng_below(&r, 4) ? rng_next(&r) | 0x80 : rng_below(&r, 3));
        const uint8_t *p = bytes;
        uint64_t v;
        if (vs_varint_get(&p, bytes + sizeof(bytes), &v))
            continue;
        accepted++;
        CHECK_EQ(vs_varint_put(again, v) - again, p - bytes);
        CHECK_MEM(again, bytes, (size_t)(p - bytes));
    }
    CHECK(accepted > 1000);
}

TEST(zigzags_small_magnitudes_to_small_numbers)
{
    static const int64_t order[] = {0, -1, 1, -2, 2, -3};
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        CHECK_EQ(vs_zigzag(order[i]), i);
    CHECK_EQ(vs_zigzag(INT64_MAX), UINT64_MAX - 1);
    CHECK_EQ(vs_zigzag(INT64_MIN), UINT64_MAX);
}

TEST(unzigzags_what_it_zigzagged)
{
    struct rng r = rng_init(4);
    CHECK_EQ(vs_unzigzag(vs_zigzag(INT64_MIN)), INT64_MIN);
    CHECK_EQ(vs_unzigzag(vs_zigzag(INT64_MAX)), INT64_MAX);
    for (int i = 0; i < 100000; i++) {
        int64_t v = (int64_t)rng_any(&r) * (rng_below(&r, 2) ? 1 : -1);
        CHECK_EQ(vs_unzigzag(vs_zigzag(v)), v);
    }
}
