/* SPDX-License-Identifier: MIT */
#include "model/mtf.h"

#include <stdio.h>
#include <string.h>

#include "model/lastvalue.h"
#include "rng.h"
#include "unittest.h"

static struct vs_mtf_key stream(uint64_t address)
{
    return (struct vs_mtf_key){address, 5};
}

static char *put_binary(char *p, uint32_t v, unsigned bits)
{
    *p++ = ' ';
    while (bits--)
        *p++ = (char)('0' + (v >> bits & 1));
    *p = '\0';
    return p;
}

/* The record of one stream under DMTF. */
static void record(struct vs_mtf *one, struct vs_mtf *two, char name, char *out)
{
    uint32_t i1 = vs_mtf_step(one, stream((uint64_t)name)), i2;

    i2 = i1 == one->miss ? two->miss : vs_mtf_step(two, (struct vs_mtf_key){i1, 0});
    if (i1 != one->miss && i2 == 0) {
        strcpy(out, "0");
        return;
    }
    *out++ = '1';
    out = put_binary(out, i2, vs_mtf_index_bits(two));
    if (i2 == two->miss)
        out = put_binary(out, i1, vs_mtf_index_bits(one));
    if (i1 == one->miss)
        sprintf(out, " (%c)", name);
}

TEST(makes_the_records_of_dmtf)
{
    static const char *const expected[] = {"1 111 111111 (A)",
                                           "1 111 111111 (B)",
                                           "1 111 111111 (C)",
                                           "1 111 000010",
                                           "1 111 000000",
                                           "1 001",
                                           "1 111 000001",
                                           "0",
                                           "0",
                                           "1 001"};
    struct vs_mtf one, two;
    char text[80];

    CHECK_EQ(vs_mtf_init(&one, 64), 0);
    CHECK_EQ(vs_mtf_init(&two, 8), 0);
    for (int i = 0; i < 10; i++) {
        record(&one, &two, "ABCAABABAC"[i], text);
        CHECK_STR(text, expected[i]);
    }
    vs_mtf_fini(&one);
    vs_mtf_fini(&two);
}

TEST(drops_the_last)
{
    struct vs_mtf m;
    struct vs_mtf_key k;

    CHECK_EQ(vs_mtf_init(&m, 4), 0);
    CHECK_EQ(m.miss, 3);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_EQ(vs_mtf_step(&m, stream(i)), m.miss);
    CHECK_EQ(vs_mtf_find(&m, stream(0)), m.miss);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_EQ(vs_mtf_find(&m, stream(3 - i)), i);
        CHECK_EQ(vs_mtf_get(&m, i, &k), 0);
        CHECK_EQ(k.a, 3 - i);
    }
    CHECK_ERR(vs_mtf_get(&m, 3, &k), VSE_NOTFOUND);
    CHECK_ERR(vs_mtf_get(&m, UINT32_MAX, &k), VSE_NOTFOUND);
    vs_mtf_touch(&m, 2);
    CHECK_EQ(m.keys[m.order[0]].a, 1);
    CHECK_EQ(m.keys[m.order[1]].a, 3);
    CHECK_EQ(m.keys[m.order[2]].a, 2);
    vs_mtf_fini(&m);
}

TEST(compares_all_of_a_key)
{
    struct vs_mtf m;

    CHECK_EQ(vs_mtf_init(&m, 16), 0);
    vs_mtf_insert(&m, (struct vs_mtf_key){1, 2});
    CHECK_EQ(vs_mtf_find(&m, (struct vs_mtf_key){1, 3}), m.miss);
    CHECK_EQ(vs_mtf_find(&m, (struct vs_mtf_key){2, 2}), m.miss);
    CHECK_EQ(vs_mtf_find(&m, (struct vs_mtf_key){1, 2}), 0);
    vs_mtf_fini(&m);
}

TEST(works_with_one_key)
{
    struct vs_mtf m;

    CHECK_EQ(vs_mtf_init(&m, 2), 0);
    CHECK_EQ(vs_mtf_index_bits(&m), 1);
    CHECK_EQ(vs_mtf_step(&m, stream(1)), 1);
    CHECK_EQ(vs_mtf_step(&m, stream(1)), 0);
    CHECK_EQ(vs_mtf_step(&m, stream(2)), 1);
    CHECK_EQ(vs_mtf_step(&m, stream(1)), 1);
    vs_mtf_fini(&m);
    CHECK_ERR(vs_mtf_init(&m, 1), VSE_INVAL);
    CHECK_ERR(vs_mtf_init(&m, VS_MTF_MAX + 1), VSE_INVAL);
}

/* The decoder follows by indices alone. */
TEST(is_followed_by_indices)
{
    struct rng rng = rng_init(3);
    struct vs_mtf a, b;

    CHECK_EQ(vs_mtf_init(&a, 10), 0);
    CHECK_EQ(vs_mtf_init(&b, 10), 0);
    for (int i = 0; i < 5000; i++) {
        struct vs_mtf_key key = stream(rng_below(&rng, 12)), got = {0};
        uint32_t index = vs_mtf_step(&a, key);

        if (index == b.miss) {
            vs_mtf_insert(&b, key);
        } else {
            CHECK_EQ(vs_mtf_get(&b, index, &got), 0);
            CHECK_EQ(got.a, key.a);
            vs_mtf_touch(&b, index);
        }
    }
    vs_mtf_fini(&a);
    vs_mtf_fini(&b);
}

/* eDMTF(192, 4) is published as about 16,000 + 8,400 + 150 and in all 24,600 gates. */
TEST(costs_what_was_published)
{
    struct vs_mtf one, two;
    struct vs_lastvalue upper;
    struct vs_cost sum = {0};

    CHECK_EQ(vs_mtf_init(&one, 192), 0);
    CHECK_EQ(vs_mtf_init(&two, 4), 0);
    vs_lastvalue_init(&upper, 32, 12);
    CHECK_EQ(vs_mtf_cost_cam(&one, 28).cam, 28 * 191);
    CHECK_EQ(vs_cost_gates(vs_mtf_cost_stack(&one, 8)), 8404);
    CHECK_EQ(vs_cost_gates(vs_mtf_cost_stack(&two, 8)), 132);
    vs_cost_add(&sum, vs_mtf_cost_cam(&one, 28), 1);
    vs_cost_add(&sum, vs_mtf_cost_stack(&two, 8), 1);
    vs_cost_add(&sum, vs_lastvalue_cost(&upper), 1);
    CHECK_EQ(vs_cost_gates(sum), 24640);
    vs_mtf_fini(&one);
    vs_mtf_fini(&two);
}
