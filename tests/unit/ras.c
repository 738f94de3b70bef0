/* SPDX-License-Identifier: MIT */
#include "model/ras.h"

#include "unittest.h"

static unsigned mispredicted, branches;

static void called(struct vs_ras *r, uint64_t from)
{
    vs_ras_push(r, from);
}

static void returned(struct vs_ras *r, uint64_t to)
{
    uint64_t predicted;

    branches++;
    mispredicted += !vs_ras_pop(r, &predicted) || predicted != to;
}

/* main calls f(depth), which calls itself down to f(0); then all return, main as well. */
static void recurse(unsigned size, unsigned depth)
{
    struct vs_ras r;

    mispredicted = branches = 0;
    CHECK_EQ(vs_ras_init(&r, size), 0);
    called(&r, 0x1000);
    for (unsigned i = 0; i < depth; i++)
        called(&r, 0x2000);
    for (unsigned i = 0; i < depth; i++)
        returned(&r, 0x2000);
    returned(&r, 0x1000);
    vs_ras_fini(&r);
}

TEST(predicts_a_recursion)
{
    struct vs_ras r;

    recurse(8, 5);
    CHECK_EQ(branches, 6);
    CHECK_EQ(mispredicted, 0);

    /* main's own caller was not seen: the seventh branch */
    CHECK_EQ(vs_ras_init(&r, 8), 0);
    mispredicted = 0;
    returned(&r, 0x3000);
    CHECK_EQ(branches, 7);
    CHECK_EQ(mispredicted, 1);
    vs_ras_fini(&r);
}

TEST(loses_the_outermost_when_too_deep)
{
    recurse(8, 7);
    CHECK_EQ(mispredicted, 0);
    recurse(8, 8); /* nine calls */
    CHECK_EQ(branches, 9);
    CHECK_EQ(mispredicted, 1);
}

TEST(wraps_around)
{
    struct vs_ras r;
    uint64_t a;

    CHECK_EQ(vs_ras_init(&r, 3), 0);
    for (uint64_t i = 1; i <= 100; i++)
        vs_ras_push(&r, i);
    for (uint64_t i = 100; i > 97; i--) {
        CHECK(vs_ras_pop(&r, &a));
        CHECK_EQ(a, i);
    }
    CHECK(!vs_ras_pop(&r, &a));
    CHECK_EQ(a, 0);
    vs_ras_push(&r, 7);
    CHECK(vs_ras_pop(&r, &a));
    CHECK_EQ(a, 7);
    vs_ras_fini(&r);
}

TEST(keeps_nothing_without_entries)
{
    struct vs_ras r;
    uint64_t a = 5;

    CHECK_EQ(vs_ras_init(&r, 0), 0);
    vs_ras_push(&r, 1);
    CHECK(!vs_ras_pop(&r, &a));
    CHECK_EQ(vs_cost_storage(vs_ras_cost(&r, 64)), 0);
    vs_ras_fini(&r);
    CHECK_ERR(vs_ras_init(&r, VS_RAS_MAX + 1), VSE_INVAL);
}

TEST(costs_addresses_and_pointers)
{
    struct vs_ras r;

    CHECK_EQ(vs_ras_init(&r, 8), 0);
    CHECK_EQ(vs_ras_cost(&r, 18).sram, 144);
    CHECK_EQ(vs_ras_cost(&r, 18).registers, 3 + 4);
    vs_ras_fini(&r);
}
