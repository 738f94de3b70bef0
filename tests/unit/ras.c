/* SPDX-License-Identifier: MIT */
#include "model/model.h" /* must compile by itself */

#include "unittest.h"

/* Branches that count and messages, as a technique has them. */
struct trace {
    struct vs_ras ras;
    unsigned count; /* since the last message */
    unsigned messages, last_count;
};

static void returned(struct trace *t, uint64_t to)
{
    uint64_t predicted;

    t->count++;
    if (vs_ras_pop(&t->ras, &predicted) && predicted == to)
        return;
    t->messages++;
    t->last_count = t->count;
    t->count = 0;
}

/* main calls f, which calls itself until `calls` calls are open; then all return. */
static void recurse(struct trace *t, uint32_t size, unsigned calls)
{
    *t = (struct trace){0};
    CHECK_EQ(vs_ras_init(&t->ras, size), 0);
    for (unsigned i = 0; i < calls; i++)
        vs_ras_push(&t->ras, i ? 0x2000 : 0x1000);
    for (unsigned i = calls; i-- > 0;)
        returned(t, i ? 0x2000 : 0x1000);
}

TEST(predicts_a_recursion)
{
    struct trace t;

    recurse(&t, 8, 6); /* f(5) to f(0) */
    CHECK_EQ(t.messages, 0);
    returned(&t, 0x3000); /* main's caller was not seen */
    CHECK_EQ(t.messages, 1);
    CHECK_EQ(t.last_count, 7);
    vs_ras_fini(&t.ras);
}

TEST(loses_the_outermost_when_too_deep)
{
    struct trace t;

    recurse(&t, 8, 8);
    CHECK_EQ(t.messages, 0);
    vs_ras_fini(&t.ras);
    recurse(&t, 8, 9);
    CHECK_EQ(t.messages, 1);
    CHECK_EQ(t.last_count, 9);
    vs_ras_fini(&t.ras);
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
