/* SPDX-License-Identifier: MIT */
#include "model/gshare.h"

#include "rng.h"
#include "unittest.h"

TEST(follows_a_loop)
{
    static const unsigned indices[6] = {35, 139, 219, 123, 59, 187};
    struct vs_gshare g;
    unsigned count = 0;

    CHECK_EQ(vs_gshare_init(&g, 256, VS_GSHARE_PUBLISHED), 0);
    g.history = 0x67;
    for (unsigned i = 0; i < 21; i++) {
        bool taken = i < 20;

        CHECK_EQ(vs_gshare_index(&g, 0x8048440), indices[i < 6 ? i : 5]);
        count++;
        if (vs_gshare_update(&g, 0x8048440, taken) == taken)
            continue;
        CHECK(i < 6 || i == 20);
        CHECK_EQ(count, i < 6 ? 1 : 15);
        count = 0;
    }
    CHECK_EQ(count, 0);
    CHECK_EQ(g.counters[187], 2);
    vs_gshare_fini(&g);
}

TEST(shares_counters_between_branches)
{
    static const struct {
        uint64_t pc;
        bool taken;
        unsigned index, before, after;
    } steps[] = {
        {0x400480, true, 119, 1, 2},  {0x400485, true, 55, 1, 2},   {0x40048f, true, 183, 1, 2},
        {0x400480, true, 183, 2, 3},  {0x400480, false, 183, 3, 2}, {0x400490, false, 183, 2, 1},
        {0x40049c, false, 181, 1, 0},
    };
    struct vs_gshare g;

    CHECK_EQ(vs_gshare_init(&g, 256, VS_GSHARE_PUBLISHED), 0);
    g.history = 0x3f;
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        CHECK_EQ(vs_gshare_index(&g, steps[i].pc), steps[i].index);
        CHECK_EQ(g.counters[steps[i].index], steps[i].before);
        CHECK_EQ(vs_gshare_predict(&g, steps[i].pc), steps[i].before >= 2);
        CHECK_EQ(vs_gshare_update(&g, steps[i].pc, steps[i].taken), steps[i].before >= 2);
        CHECK_EQ(g.counters[steps[i].index], steps[i].after);
    }
    vs_gshare_fini(&g);
}

TEST(saturates)
{
    struct vs_gshare g;

    CHECK_EQ(vs_gshare_init(&g, 1, VS_GSHARE_PUBLISHED), 0);
    for (int i = 0; i < 5; i++)
        vs_gshare_update(&g, 0x1000, true);
    CHECK_EQ(g.counters[0], 3);
    for (int i = 0; i < 9; i++)
        vs_gshare_update(&g, 0x1000, false);
    CHECK_EQ(g.counters[0], 0);
    CHECK_EQ(g.history, 0);
    vs_gshare_fini(&g);
}

TEST(folds_close_and_distant_branches_apart)
{
    struct vs_gshare plain, folded;

    CHECK_EQ(vs_gshare_init(&plain, 512, VS_GSHARE_PUBLISHED), 0);
    CHECK_EQ(vs_gshare_init(&folded, 512, VS_GSHARE_FOLDED), 0);
    CHECK_EQ(vs_gshare_index(&plain, 0x4000), vs_gshare_index(&plain, 0x4006));
    CHECK(vs_gshare_index(&folded, 0x4000) != vs_gshare_index(&folded, 0x4006));
    CHECK_EQ(vs_gshare_index(&plain, 0x4000), vs_gshare_index(&plain, 0x4000 + (16 << 9)));
    CHECK(vs_gshare_index(&folded, 0x4000) != vs_gshare_index(&folded, 0x4000 + (16 << 9)));
    CHECK_EQ(vs_gshare_index(&folded, 0x123456), (0x123456 ^ 0x12345 ^ 0x123456 >> 13) & 511);
    vs_gshare_fini(&plain);
    vs_gshare_fini(&folded);
}

/* The definition, with arithmetic in place of bit operations. */
TEST(agrees_with_its_definition)
{
    struct rng rng = rng_init(1);
    unsigned counters[64], history = 0;
    struct vs_gshare g;

    for (int i = 0; i < 64; i++)
        counters[i] = 1;
    CHECK_EQ(vs_gshare_init(&g, 64, VS_GSHARE_PUBLISHED), 0);
    for (int i = 0; i < 10000; i++) {
        uint64_t pc = rng_any(&rng);
        bool taken = rng_below(&rng, 3) != 0;
        unsigned at = (unsigned)((history ^ pc / 16) % 64);

        CHECK_EQ(vs_gshare_predict(&g, pc), counters[at] > 1);
        vs_gshare_update(&g, pc, taken);
        if (taken && counters[at] < 3)
            counters[at]++;
        else if (!taken && counters[at] > 0)
            counters[at]--;
        history = (2 * history + taken) % 64;
    }
    vs_gshare_fini(&g);
}

TEST(refuses_sizes)
{
    struct vs_gshare g;

    CHECK_ERR(vs_gshare_init(&g, 0, VS_GSHARE_PUBLISHED), VSE_INVAL);
    CHECK_ERR(vs_gshare_init(&g, 48, VS_GSHARE_PUBLISHED), VSE_INVAL);
    CHECK_ERR(vs_gshare_init(&g, 2 * VS_GSHARE_MAX, VS_GSHARE_PUBLISHED), VSE_INVAL);
    vs_gshare_fini(&g);
}

TEST(costs_two_bits_an_entry)
{
    struct vs_gshare g;

    CHECK_EQ(vs_gshare_init(&g, 512, VS_GSHARE_PUBLISHED), 0);
    CHECK_EQ(vs_gshare_cost(&g).sram, 1024);
    CHECK_EQ(vs_gshare_cost(&g).registers, 9);
    vs_gshare_fini(&g);
}
