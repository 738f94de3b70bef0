/* SPDX-License-Identifier: MIT */
/* The map against a plain list of the same keys, and what it is built of. */
#include "base/map.h"

#include <stdlib.h>

#include "base/power.h"
#include "base/random.h"
#include "no_memory.h"
#include "rng.h"
#include "unittest.h"
#include "vestige/error.h"

static size_t walk(const struct vs_map *m, uint64_t *sum)
{
    size_t n = 0;
    *sum = 0;
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(m, e)); n++)
        *sum += e->value;
    return n;
}

TEST(finds_nothing_in_an_empty_map)
{
    struct vs_map m = {0};
    CHECK(!vs_map_find(&m, 0));
    CHECK_EQ(vs_map_value(&m, UINT64_MAX), 0);
    CHECK(!vs_map_pointer(&m, 1));
    CHECK(!vs_map_next(&m, NULL));
    vs_map_remove(&m, 0);
    vs_map_clear(&m);
    vs_map_fini(&m);
}

TEST(takes_any_key)
{
    static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, 256, 512};
    struct vs_map m = {0};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        CHECK_EQ(vs_map_set(&m, keys[i], ~(uint64_t)i), 0);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        CHECK_EQ(vs_map_value(&m, keys[i]), ~(uint64_t)i);
    CHECK_EQ(vs_map_value(&m, 2), 0);
    vs_map_fini(&m);
    CHECK_EQ(m.count, 0);
    CHECK(!vs_map_find(&m, 0));
}

TEST(replaces_a_value)
{
    struct vs_map m = {0};
    int x, y;
    CHECK_EQ(vs_map_set_pointer(&m, 7, &x), 0);
    CHECK(vs_map_pointer(&m, 7) == &x);
    CHECK_EQ(vs_map_set_pointer(&m, 7, &y), 0);
    CHECK(vs_map_pointer(&m, 7) == &y);
    CHECK_EQ(m.count, 1);
    vs_map_find(&m, 7)->value = 5;
    CHECK_EQ(vs_map_value(&m, 7), 5);
    vs_map_fini(&m);
}

/* Few keys of many, so that they come again; some that begin at the same entry. */
TEST(agrees_with_a_list)
{
    enum { KEYS = 3000, STEPS = 200000 };
    static uint64_t keys[KEYS], values[KEYS];
    struct rng r = rng_init(1);
    struct vs_map m = {0};
    size_t count = 0;
    uint64_t sum = 0, walked;
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = i % 3 ? (uint64_t)i << 12 : i;
    for (size_t step = 0; step < STEPS; step++) {
        size_t i = rng_below(&r, step < STEPS / 2 ? KEYS : KEYS / 10);
        uint64_t value = rng_below(&r, 3) ? 1 + rng_below(&r, 1000) : 0;
        CHECK_EQ(vs_map_value(&m, keys[i]), values[i]);
        if (value)
            CHECK_EQ(vs_map_set(&m, keys[i], value), 0);
        else
            vs_map_remove(&m, keys[i]);
        count += (size_t) !!value - (size_t) !!values[i];
        sum += value - values[i];
        values[i] = value;
        CHECK_EQ(m.count, count);
    }
    for (size_t i = 0; i < KEYS; i++)
        CHECK_EQ(vs_map_value(&m, keys[i]), values[i]);
    CHECK_EQ(walk(&m, &walked), count);
    CHECK_EQ(walked, sum);
    CHECK(vs_is_power_of_two(m.capacity) && 2 * m.count <= m.capacity + 1);
    vs_map_fini(&m);
}

/* From the last entries on a search goes on at the first. */
TEST(removes_across_the_end)
{
    struct vs_map m = {0};
    uint64_t keys[64];
    size_t n = 0;
    CHECK_EQ(vs_map_set(&m, 1, 1), 0);
    vs_map_remove(&m, 1);
    for (uint64_t key = 0; n < 64; key++)
        if (vs_map_start(&m, key) == m.capacity - 1 || vs_map_start(&m, key) == m.capacity - 2)
            keys[n++] = key;
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(vs_map_set(&m, keys[i], i + 1), 0);
    CHECK(m.entries[0].value && m.entries[m.capacity - 1].value);
    for (size_t gone = 0; gone < n; gone++) {
        vs_map_remove(&m, keys[gone]);
        for (size_t i = 0; i < n; i++)
            CHECK_EQ(vs_map_value(&m, keys[i]), i <= gone ? 0 : i + 1);
    }
    CHECK_EQ(m.count, 0);
    vs_map_fini(&m);
}

TEST(clones_what_goes_on_by_itself)
{
    struct vs_map a = {0}, b;
    uint64_t of_a, of_b;
    CHECK_EQ(vs_map_clone(&b, &a), 0);
    CHECK_EQ(vs_map_set(&b, 1, 1), 0);
    CHECK_EQ(a.count, 0);
    vs_map_fini(&b);
    for (uint64_t i = 1; i <= 1000; i++)
        CHECK_EQ(vs_map_set(&a, i * i, i), 0);
    CHECK_EQ(vs_map_clone(&b, &a), 0);
    vs_map_remove(&b, 4);
    CHECK_EQ(vs_map_set(&b, 9, 30), 0);
    CHECK_EQ(vs_map_value(&a, 4), 2);
    CHECK_EQ(vs_map_value(&a, 9), 3);
    CHECK_EQ(walk(&a, &of_a), 1000);
    CHECK_EQ(walk(&b, &of_b), 999);
    CHECK_EQ(of_a + 30, of_b + 2 + 3);
    vs_map_fini(&a);
    CHECK_EQ(vs_map_value(&b, 1000000), 1000);
    vs_map_fini(&b);
}

TEST(clears_and_goes_on)
{
    struct vs_map m = {0};
    for (uint64_t i = 0; i < 300; i++)
        CHECK_EQ(vs_map_set(&m, i, i + 1), 0);
    size_t capacity = m.capacity;
    vs_map_clear(&m);
    CHECK_EQ(m.count, 0);
    CHECK_EQ(m.capacity, capacity);
    CHECK(!vs_map_next(&m, NULL));
    for (uint64_t i = 0; i < 300; i++)
        CHECK_EQ(vs_map_value(&m, i), 0);
    CHECK_EQ(vs_map_set(&m, 5, 6), 0);
    CHECK_EQ(vs_map_value(&m, 5), 6);
    vs_map_fini(&m);
}

TEST(stays_as_it_was_without_memory)
{
    struct vs_map m = {0}, empty = {0}, copy;
    for (uint64_t i = 0; i < 128; i++)
        CHECK_EQ(vs_map_set(&m, i, i + 1), 0);
    CHECK_EQ(2 * m.count, m.capacity);
    if (use_up_memory()) {
        CHECK_ERR(vs_map_set(&m, 128, 1), VSE_NOMEM);
        CHECK_ERR(vs_map_set(&empty, 0, 1), VSE_NOMEM);
        CHECK_ERR(vs_map_clone(&copy, &m), VSE_NOMEM);
        CHECK_EQ(copy.capacity, 0);
        CHECK_EQ(empty.capacity, 0);
    }
    CHECK_EQ(vs_map_set(&m, 5, 50), 0);
    CHECK_EQ(m.count, 128);
    CHECK_EQ(vs_map_value(&m, 128), 0);
    CHECK_EQ(vs_map_value(&m, 5), 50);
    CHECK_EQ(vs_map_value(&m, 127), 128);
    vs_map_fini(&m);
}

/* The numbers of the published splitmix64 for a seed of 0: the seed of a run means these. */
TEST(draws_the_published_numbers)
{
    uint64_t state = 0;
    CHECK_EQ(vs_random(&state), UINT64_C(0xe220a8397b1dcdaf));
    CHECK_EQ(vs_random(&state), UINT64_C(0x6e789e6aa1b965f4));
    CHECK_EQ(vs_random(&state), UINT64_C(0x06c45d188009454f));
}

TEST(counts_bits_of_numbers)
{
    CHECK_EQ(vs_log2_ceil(0), 0);
    CHECK_EQ(vs_log2_ceil(1), 0);
    CHECK_EQ(vs_log2_ceil(5), 3);
    CHECK_EQ(vs_log2_ceil(8), 3);
    CHECK_EQ(vs_log2_ceil(UINT64_MAX), 64);
    CHECK(!vs_is_power_of_two(0));
    CHECK(vs_is_power_of_two(1));
    CHECK(!vs_is_power_of_two(6));
    CHECK(vs_is_power_of_two(UINT64_C(1) << 63));
}
