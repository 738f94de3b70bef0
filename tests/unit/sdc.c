/* SPDX-License-Identifier: MIT */
#include "model/sdc.h"

#include "model/lsp.h"
#include "rng.h"
#include "unittest.h"

TEST(makes_the_records_of_sdc_lsp)
{
    struct vs_sdc c;
    struct vs_lsp p;

    CHECK_EQ(vs_sdc_init(&c, 16, 4, VS_SDC_PLRU), 0);
    CHECK_EQ(vs_lsp_init(&p, 64), 0);
    CHECK_EQ(vs_sdc_index_bits(&c), 6);
    CHECK_EQ(vs_sdc_set(&c, 0x020001f4, 9), 6);
    for (int i = 1; i <= 100; i++) {
        uint32_t si = vs_sdc_step(&c, 0x020001f4, i < 100 ? 9 : 23);

        CHECK_EQ(si, i == 1 || i == 100 ? 0 : 24); /* 011000 */
        CHECK_EQ(vs_lsp_update(&p, si), i >= 4 && i < 100);
    }
    vs_sdc_fini(&c);
    vs_lsp_fini(&p);
}

TEST(never_predicts_a_miss)
{
    struct vs_lsp p;

    CHECK_EQ(vs_lsp_init(&p, 4), 0);
    for (int i = 0; i < 5; i++)
        CHECK(!vs_lsp_update(&p, 0));
    CHECK_EQ(vs_lsp_predict(&p), 0);
    CHECK(!vs_lsp_update(&p, 3));
    CHECK(!vs_lsp_update(&p, 0));
    CHECK_EQ(vs_lsp_predict(&p), 3);
    CHECK(vs_lsp_update(&p, 3));
    vs_lsp_fini(&p);
    CHECK_ERR(vs_lsp_init(&p, 1), VSE_INVAL);
}

TEST(leaves_index_0_unused)
{
    struct vs_sdc c;
    uint64_t a;
    uint32_t n;

    CHECK_EQ(vs_sdc_init(&c, 1, 4, VS_SDC_LRU), 0);
    for (uint64_t i = 1; i < 100; i++) {
        uint32_t at = vs_sdc_insert(&c, i, 1);

        CHECK(at >= 1 && at <= 3);
        CHECK_EQ(vs_sdc_get(&c, at, &a, &n), 0);
        CHECK(a == i && n == 1);
    }
    CHECK_ERR(vs_sdc_get(&c, 0, &a, &n), VSE_NOTFOUND);
    CHECK_ERR(vs_sdc_get(&c, 4, &a, &n), VSE_NOTFOUND);
    vs_sdc_fini(&c);
    CHECK_EQ(vs_sdc_init(&c, 2, 1, VS_SDC_PLRU), 0);
    CHECK_EQ(vs_sdc_insert(&c, 0, 0), 0);
    CHECK_EQ(vs_sdc_find(&c, 0, 0), 0);
    CHECK_EQ(vs_sdc_insert(&c, 0, 1), 1);
    CHECK_EQ(vs_sdc_insert(&c, 0, 3), 1);
    CHECK_EQ(vs_sdc_find(&c, 0, 1), 0);
    vs_sdc_fini(&c);
}

/* Fills ways 0 to 3 of a set, uses some, then says which ways new streams go to. */
static void check_order(enum vs_sdc_policy policy, const char *uses, const char *expected)
{
    char order[5] = "";
    struct vs_sdc c;

    CHECK_EQ(vs_sdc_init(&c, 2, 4, policy), 0);
    for (uint32_t way = 0; way < 4; way++)
        CHECK_EQ(vs_sdc_insert(&c, 0, 2 * way + 1), 4 + way);
    for (; *uses; uses++)
        CHECK_EQ(vs_sdc_step(&c, 0, 2 * (uint32_t)(*uses - '0') + 1), 4 + *uses - '0');
    for (uint32_t k = 0; k < 4; k++)
        order[k] = (char)('0' + vs_sdc_insert(&c, 0, 101 + 2 * k) - 4);
    CHECK_STR(order, expected);
    vs_sdc_fini(&c);
}

TEST(replaces_by_policy)
{
    check_order(VS_SDC_LRU, "", "0123");
    check_order(VS_SDC_LRU, "010", "2310");
    check_order(VS_SDC_FIFO, "010", "0123");
    /* filling way 3 left only its bit; 0 and 1 are used, so 2 goes, and leaves only its bit */
    check_order(VS_SDC_PLRU, "01", "2013");
    check_order(VS_SDC_PLRU, "0", "1201");
}

TEST(chooses_at_random_the_same_each_time)
{
    struct vs_sdc a, b;
    unsigned ways[4] = {0};

    CHECK_EQ(vs_sdc_init(&a, 2, 4, VS_SDC_RANDOM), 0);
    CHECK_EQ(vs_sdc_init(&b, 2, 4, VS_SDC_RANDOM), 0);
    for (uint64_t i = 0; i < 4000; i++) {
        uint32_t at = vs_sdc_insert(&a, i << 5, 1);

        CHECK_EQ(vs_sdc_insert(&b, i << 5, 1), at);
        ways[at - 4]++;
    }
    for (int i = 0; i < 4; i++)
        CHECK(ways[i] > 800 && ways[i] < 1200);
    vs_sdc_fini(&a);
    vs_sdc_fini(&b);
}

/* The decoder follows by indices, and by descriptors on a miss; lists stand in for LRU. */
TEST(is_followed_by_indices)
{
    for (enum vs_sdc_policy policy = VS_SDC_PLRU; policy <= VS_SDC_RANDOM; policy++) {
        struct rng rng = rng_init(4);
        struct vs_sdc a, b;

        CHECK_EQ(vs_sdc_init(&a, 4, 4, policy), 0);
        CHECK_EQ(vs_sdc_init(&b, 4, 4, policy), 0);
        for (int i = 0; i < 5000; i++) {
            uint64_t address = 16 * rng_below(&rng, 6), got;
            uint32_t length = (uint32_t)rng_below(&rng, 4), n;
            uint32_t si = vs_sdc_step(&a, address, length);

            if (!si) {
                vs_sdc_insert(&b, address, length);
                continue;
            }
            CHECK_EQ(vs_sdc_get(&b, si, &got, &n), 0);
            CHECK(got == address && n == length);
            vs_sdc_touch(&b, si);
        }
        vs_sdc_fini(&a);
        vs_sdc_fini(&b);
    }
}

TEST(refuses_shapes)
{
    struct vs_sdc c;

    CHECK_ERR(vs_sdc_init(&c, 3, 4, VS_SDC_LRU), VSE_INVAL);
    CHECK_ERR(vs_sdc_init(&c, 4, 0, VS_SDC_LRU), VSE_INVAL);
    CHECK_ERR(vs_sdc_init(&c, 4, 17, VS_SDC_LRU), VSE_INVAL);
    CHECK_ERR(vs_sdc_init(&c, 1, 1, VS_SDC_LRU), VSE_INVAL);
    CHECK_ERR(vs_sdc_init(&c, 1u << 31, 16, VS_SDC_LRU), VSE_INVAL);
}

/* rSDC [32x4, 128] is published as 2,921 and 903 bits, fewer than 6,100 gates: 30 address bits less
 * 12 in the last-value register and 5 of the index. */
TEST(costs_what_was_published)
{
    struct vs_sdc c;
    struct vs_lsp p;
    struct vs_cost sum = {0};

    CHECK_EQ(vs_sdc_init(&c, 32, 4, VS_SDC_PLRU), 0);
    CHECK_EQ(vs_lsp_init(&p, 128), 0);
    CHECK_EQ(vs_cost_storage(vs_sdc_cost(&c, 13, 8)), 2921);
    CHECK_EQ(vs_cost_storage(vs_lsp_cost(&p)), 903);
    vs_cost_add(&sum, vs_sdc_cost(&c, 13, 8), 1);
    vs_cost_add(&sum, vs_lsp_cost(&p), 1);
    CHECK_EQ(vs_cost_gates(sum), 5736);
    vs_sdc_fini(&c);
    vs_lsp_fini(&p);
}
