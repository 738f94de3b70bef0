/* SPDX-License-Identifier: MIT */
#include "trace/predict.h"

#include <stdlib.h>

#include "rng.h"
#include "unittest.h"

/* ---- shadow memory against a map of bytes ---- */

/* A value of at most 8 bytes, as encoder and decoder read and write it. */
static bool get(const struct vs_data *p, uint64_t addr, unsigned size, uint64_t *v)
{
    const struct vs_shadow *m = &p->shadow;
    struct vs_cell c = vs_cell_open(m, vs_shadow_at(*m, addr), addr, size);

    *v = c.value;
    return c.known;
}

static void put(const struct vs_data *p, uint64_t addr, unsigned size, uint64_t v)
{
    const struct vs_shadow *m = &p->shadow;
    struct vs_cell c = vs_cell_open(m, vs_shadow_at(*m, addr), addr, size);

    vs_cell_store(m, &c, addr, size, v);
}

enum { SPACE = 4096 };

/* The bytes written at [base, base + SPACE), modulo 2^64. */
struct map {
    uint64_t base;
    bool complete; /* no line takes another's place */
    uint8_t bytes[SPACE];
    bool known[SPACE];
};

static void map_put(struct map *m, uint64_t at, unsigned size, const uint8_t *bytes)
{
    for (unsigned i = 0; i < size; i++) {
        m->bytes[at + i] = bytes[i];
        m->known[at + i] = true;
    }
}

static bool map_known(const struct map *m, uint64_t at, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        if (!m->known[at + i])
            return false;
    return true;
}

/* What is known is right, and unless lines were replaced everything that was written is known. */
static void check_known(const struct map *m, uint64_t at, unsigned size, bool known,
                        const void *bytes)
{
    if (m->complete)
        CHECK_EQ(known, map_known(m, at, size));
    if (known) {
        CHECK(map_known(m, at, size));
        CHECK_MEM(bytes, m->bytes + at, size);
    }
}

static void check_read(struct vs_data *p, const struct map *m, uint64_t at, unsigned size)
{
    uint8_t got[256];
    uint64_t value = 0;
    bool known = vs_shadow_read(p->shadow, m->base + at, size, got);

    check_known(m, at, size, known, got);
    if (size <= 8) {
        CHECK_EQ(get(p, m->base + at, size, &value), known);
        check_known(m, at, size, known, &value);
        CHECK_EQ(value & ~vs_size_mask(size), 0);
    }
}

static void write_random(struct vs_data *p, struct map *m, struct rng *r, unsigned most)
{
    unsigned size = 1 + (unsigned)rng_below(r, most);
    uint64_t at = rng_below(r, SPACE - size), value = rng_next(r);
    uint8_t bytes[256];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)rng_next(r);
    if (size <= 8 && rng_below(r, 2)) {
        value &= vs_size_mask(size);
        memcpy(bytes, &value, 8);
        put(p, m->base + at, size, value);
    } else {
        vs_shadow_write(p->shadow, m->base + at, size, bytes);
    }
    map_put(m, at, size, bytes);
}

static void check_shadow(uint64_t base, unsigned most, bool complete)
{
    struct vs_data *p = malloc(sizeof(*p));
    struct map *m = calloc(1, sizeof(*m));
    struct rng r = rng_init(base ^ most);

    m->base = base;
    m->complete = complete;
    memset(p, 0, sizeof(*p));
    CHECK_EQ(vs_data_reset(p, 1, VS_SHADOW_MAX), 0);
    for (unsigned i = 0; i < 4000; i++) {
        unsigned size = 1 + (unsigned)rng_below(&r, most);

        if (rng_below(&r, 4) == 0)
            write_random(p, m, &r, most);
        check_read(p, m, rng_below(&r, SPACE - size), size);
    }
    vs_data_fini(p);
    free(m);
    free(p);
}

TEST(remembers_words_at_any_alignment)
{
    check_shadow(0x10000, 8, true);
    check_shadow(0x7fff12345678, 8, true);
}

TEST(remembers_spans_over_lines)
{
    check_shadow(0x10000, 200, true);
    check_shadow(3, 64, true);
}

/* The first and the last lines of memory share places. */
TEST(wraps_around_the_end_of_memory)
{
    check_shadow(UINT64_MAX - SPACE / 2, 8, false);
    check_shadow(UINT64_MAX - SPACE / 2 - 13, 100, false);
}

TEST(needs_every_byte_to_be_known)
{
    struct vs_data *p = malloc(sizeof(*p));
    uint64_t v;

    memset(p, 0, sizeof(*p));
    CHECK_EQ(vs_data_reset(p, 1, VS_SHADOW_MIN), 0);
    put(p, 100, 4, 0x04030201);
    CHECK(!get(p, 99, 2, &v) && !get(p, 103, 2, &v));
    CHECK(!get(p, 100, 8, &v));
    CHECK(get(p, 101, 2, &v));
    CHECK_EQ(v, 0x0302);
    put(p, 104, 4, 0x08070605);
    CHECK(get(p, 100, 8, &v));
    CHECK_EQ(v, 0x0807060504030201);
    vs_data_fini(p);
    free(p);
}

/* A line that takes another's place knows nothing of it. */
TEST(forgets_a_line_that_is_replaced)
{
    struct vs_data *p = malloc(sizeof(*p));
    uint64_t v, a = 64, b = 64 + ((uint64_t)VS_SHADOW_LINE << VS_SHADOW_MIN);

    memset(p, 0, sizeof(*p));
    CHECK_EQ(vs_data_reset(p, 1, VS_SHADOW_MIN), 0);
    put(p, a, 8, 1);
    CHECK(vs_shadow_at(p->shadow, a) == vs_shadow_at(p->shadow, b));
    CHECK(!get(p, b, 8, &v));
    put(p, b + 8, 1, 2);
    CHECK(!get(p, a, 8, &v) && !get(p, b, 8, &v));
    CHECK(get(p, b + 8, 1, &v) && v == 2);
    CHECK_EQ(vs_data_reset(p, 1, VS_SHADOW_MIN), 0);
    CHECK(!get(p, b + 8, 1, &v));
    vs_data_fini(p);
    free(p);
}

/* ---- differences of values ---- */

/* As the decoder applies one. */
static uint64_t apply(uint64_t delta, uint64_t first, unsigned size)
{
    return (first + (uint64_t)vs_unzigzag(delta)) & vs_size_mask(size);
}

TEST(takes_and_applies_differences_of_every_size)
{
    struct rng r = rng_init(5);

    for (unsigned size = 1; size <= 8; size++) {
        uint64_t mask = vs_size_mask(size);

        for (unsigned i = 0; i < 5000; i++) {
            uint64_t value = rng_any(&r) & mask, first = rng_any(&r) & mask;
            uint64_t delta = vs_value_delta(value, first, size);

            CHECK_EQ(apply(delta, first, size), value);
            CHECK_EQ(delta & ~mask, 0);
        }
        CHECK_EQ(apply(vs_value_delta(0, mask, size), mask, size), 0);
        CHECK_EQ(apply(vs_value_delta(mask, 0, size), 0, size), mask);
    }
}

TEST(keeps_small_differences_small)
{
    for (unsigned size = 1; size <= 8; size++) {
        uint64_t mask = vs_size_mask(size);

        CHECK_EQ(vs_value_delta(5, 5, size), 0);
        CHECK_EQ(vs_value_delta(4, 5, size), 1);
        CHECK_EQ(vs_value_delta(6, 5, size), 2);
        CHECK_EQ(vs_value_delta(0, mask, size), 2); /* wraps within the size */
        CHECK_EQ(vs_value_delta(mask, 0, size), 1);
    }
    CHECK_EQ(vs_size_mask(1), 0xff);
    CHECK_EQ(vs_size_mask(7), 0xffffffffffffff);
    CHECK_EQ(vs_size_mask(8), UINT64_MAX);
}

/* ---- sites ---- */

TEST(expects_sites_in_the_order_of_the_table)
{
    struct vs_flow *p = malloc(sizeof(*p));

    memset(p, 0, sizeof(*p));
    CHECK_EQ(vs_flow_reset(p, 10), 0);
    for (uint32_t i = 0; i < 10; i++) {
        CHECK_EQ(*vs_link(p, vs_link_site(i, false)), i + 1);
        CHECK_EQ(*vs_link(p, vs_link_site(i, true)), i + 1);
    }
    *vs_link(p, vs_link_site(4, true)) = 77;
    CHECK_EQ(vs_flow_reserve(p, 5000), 0); /* moves, keeps */
    vs_flow_add(p, 5000);
    CHECK_EQ(*vs_link(p, vs_link_site(4, true)), 77);
    CHECK_EQ(*vs_link(p, vs_link_site(4, false)), 5);
    CHECK_EQ(*vs_link(p, vs_link_site(4999, false)), 5000);
    CHECK_EQ(vs_flow_reset(p, 10), 0);
    CHECK_EQ(*vs_link(p, vs_link_site(4, true)), 5);
    vs_flow_fini(p);
    free(p);
}

TEST(returns_to_where_it_was_called_from)
{
    struct vs_flow *p = calloc(1, sizeof(*p));
    uint64_t stack[VS_RETURNS];
    struct vs_lane l;

    vs_lane_reset(&l, stack, 0);
    for (uint64_t i = 0; i < VS_RETURNS; i++)
        vs_call(&l, 1000 + i);
    for (uint64_t i = VS_RETURNS; i-- > 0;)
        CHECK_EQ(*vs_target_entry(p, &l, 1, VS_BR_RETURN), 1000 + i);
    for (unsigned i = 0; i < 100; i++) /* below the bottom: anything, but in bounds */
        *vs_target_entry(p, &l, 1, VS_BR_RETURN) += 1;
    free(p);
}
