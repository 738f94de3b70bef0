/* SPDX-License-Identifier: MIT */
#include "model/bht.h"

#include "rng.h"
#include "unittest.h"

/* The transitions, one by one: 00 T->01; 01 T->11, N->00; 11 N->10; 10 N->00, T->11. */
TEST(changes_after_two_equal_outcomes)
{
    static const struct {
        uint8_t from, taken, to;
    } rows[] = {{0, 0, 0}, {0, 1, 1}, {1, 0, 0}, {1, 1, 3},
                {2, 0, 0}, {2, 1, 3}, {3, 0, 2}, {3, 1, 3}};
    struct vs_bht b;
    CHECK_EQ(vs_bht_init(&b, 1, 1), 0);
    CHECK_EQ(b.states[0], 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        b.states[0] = rows[i].from;
        CHECK_EQ(vs_bht_update(&b, 0x1000, rows[i].taken), rows[i].from >> 1);
        CHECK_EQ(b.states[0], rows[i].to);
    }
    vs_bht_clear(&b);
    CHECK_EQ(b.states[0], 1);
    vs_bht_fini(&b);
}

/* Against a table of the last two outcomes of each entry. */
TEST(agrees_with_a_plain_reference)
{
    enum { ENTRIES = 16 };
    bool predicted[ENTRIES] = {0}, last[ENTRIES];
    struct rng rng = rng_init(7);
    struct vs_bht b;
    CHECK_EQ(vs_bht_init(&b, ENTRIES, 1), 0);
    for (unsigned i = 0; i < ENTRIES; i++)
        last[i] = true;
    for (unsigned n = 0; n < 5000; n++) {
        uint64_t pc = 0x10000 + 2 * rng_below(&rng, 64);
        unsigned entry = (unsigned)(pc / 2 % ENTRIES);
        bool taken = rng_below(&rng, 3);
        CHECK_EQ(vs_bht_predict(&b, pc), predicted[entry]);
        CHECK_EQ(vs_bht_update(&b, pc, taken), predicted[entry]);
        if (predicted[entry] != last[entry])
            predicted[entry] = taken;
        last[entry] = taken;
    }
    CHECK_EQ(vs_bht_cost(&b).sram, 2 * ENTRIES);
    vs_bht_fini(&b);
}

TEST(refuses_other_sizes)
{
    struct vs_bht b;
    CHECK_ERR(vs_bht_init(&b, 0, 1), VSE_INVAL);
    CHECK_ERR(vs_bht_init(&b, 12, 1), VSE_INVAL);
    CHECK_ERR(vs_bht_init(&b, 2 * VS_BHT_MAX, 1), VSE_INVAL);
}
