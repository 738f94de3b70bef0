/* SPDX-License-Identifier: MIT */
#include "model/ibtb.h"

#include "rng.h"
#include "unittest.h"

static const struct vs_ibtb_config tagged = {.entries = 64};

TEST(follows_the_path_register)
{
    static const uint32_t pir[] = {0,      0x49,   0x16d,  0x5fd,  0x17bd,
                                   0x5ebd, 0x7abd, 0xeabd, 0xaabd, 0xaabd};
    static const unsigned set[] = {9, 9, 8, 12, 30, 23, 19, 3, 3, 3};
    struct vs_ibtb b;

    CHECK_EQ(vs_ibtb_init(&b, &tagged), 0);
    for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++) {
        /* the published table shows the register before each update, but for the first */
        CHECK_EQ(b.pir, pir[i]);
        CHECK_EQ(vs_ibtb_index(&b, 0x40049c), set[i]);
        vs_ibtb_update(&b, 0x40049c, 0x400500);
    }
    vs_ibtb_fini(&b);
}

TEST(reproduces_the_untagged_table)
{
    static const unsigned set[] = {20, 8, 24, 24, 26, 16, 24, 24, 24};
    static const uint32_t pir[] = {0x4fc3, 0x3feb, 0xff4b, 0xfdcb, 0xf7cb,
                                   0xdfcb, 0x7fcb, 0xffcb, 0xffcb};
    struct vs_ibtb b;

    CHECK_EQ(
        vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 64, .oracle = true, .pir_pc_bits = 8}),
        0);
    b.pir = 0x13c9;
    for (size_t i = 0; i < 50; i++) {
        size_t at = i < 9 ? i : 8;
        bool hit =
            vs_ibtb_index(&b, 0x8048e76) == set[at] && vs_ibtb_update(&b, 0x8048e76, 0x8049000);

        CHECK_EQ(hit, at < 9 && "MMMHMMHHH"[at] == 'H');
        CHECK_EQ(b.pir, pir[at]);
    }
    vs_ibtb_fini(&b);
}

TEST(offers_one_prediction)
{
    struct vs_ibtb b;
    uint64_t t;

    CHECK_EQ(vs_ibtb_init(&b, &tagged), 0);
    CHECK(!vs_ibtb_predict(&b, 0x1000, &t));
    CHECK(!vs_ibtb_update(&b, 0x1000, 0x77));
    b.pir = 0;
    CHECK(vs_ibtb_predict(&b, 0x1000, &t));
    CHECK_EQ(t, 0x77);
    CHECK(!vs_ibtb_update(&b, 0x1000, 0x88)); /* the tag is there, the target is another */
    b.pir = 0;
    CHECK(vs_ibtb_predict(&b, 0x1000, &t));
    CHECK_EQ(t, 0x88);
    CHECK(vs_ibtb_update(&b, 0x1000, 0x88));
    vs_ibtb_fini(&b);
}

TEST(predicts_a_target_of_zero)
{
    struct vs_ibtb b;
    uint64_t t = 1;

    CHECK_EQ(vs_ibtb_init(&b, &tagged), 0);
    CHECK(!vs_ibtb_update(&b, 0x1000, 0));
    b.pir = 0;
    CHECK(vs_ibtb_predict(&b, 0x1000, &t));
    CHECK_EQ(t, 0);
    vs_ibtb_fini(&b);
}

/* Three branches of one set and different tags. */
TEST(replaces_the_least_recent)
{
    static const uint64_t pc[3] = {0x00000, 0x08000, 0x10000};
    struct vs_ibtb b;
    uint64_t t;

    CHECK_EQ(vs_ibtb_init(&b, &tagged), 0);
    for (int i = 0; i < 2; i++, b.pir = 0)
        vs_ibtb_update(&b, pc[i], 100 + (uint64_t)i);
    vs_ibtb_update(&b, pc[0], 100);
    b.pir = 0;
    vs_ibtb_update(&b, pc[2], 102);
    b.pir = 0;
    CHECK(vs_ibtb_predict(&b, pc[0], &t) && t == 100);
    CHECK(!vs_ibtb_predict(&b, pc[1], &t));
    CHECK(vs_ibtb_predict(&b, pc[2], &t) && t == 102);
    vs_ibtb_fini(&b);
}

TEST(puts_outcomes_on_the_path)
{
    struct vs_ibtb b;

    CHECK_EQ(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 64, .pir_bits = 13}), 0);
    vs_ibtb_conditional(&b, 0x123450, true);
    CHECK_EQ(b.pir, 0);
    vs_ibtb_fini(&b);
    CHECK_EQ(
        vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 64, .pir_all = true, .pir_bits = 13}),
        0);
    vs_ibtb_conditional(&b, 0x123450, true);
    CHECK_EQ(b.pir, 0x345);
    vs_ibtb_conditional(&b, 0x0, false);
    CHECK_EQ(b.pir, 0xd14);
    vs_ibtb_conditional(&b, 0x0, false);
    CHECK_EQ(b.pir, 0x1450); /* 13 bits */
    vs_ibtb_fini(&b);
}

/* A decoder predicts and then learns: it must see what the encoder saw. */
TEST(predicts_what_update_reports)
{
    struct rng rng = rng_init(2);
    struct vs_ibtb a, b;
    unsigned right = 0;

    CHECK_EQ(vs_ibtb_init(&a, &(struct vs_ibtb_config){.entries = 16, .pir_all = true}), 0);
    CHECK_EQ(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 16, .pir_all = true}), 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t pc = 0x400000 + 16 * rng_below(&rng, 3), target = rng_below(&rng, 2), guess = 0;
        bool any = vs_ibtb_predict(&a, pc, &guess), hit = vs_ibtb_update(&b, pc, target);

        CHECK_EQ(any && guess == target, hit);
        CHECK_EQ(vs_ibtb_update(&a, pc, target), hit);
        right += hit;
    }
    CHECK(right > 100 && right < 19900);
    vs_ibtb_fini(&a);
    vs_ibtb_fini(&b);
}

TEST(keeps_nothing_without_entries)
{
    struct vs_ibtb b;
    uint64_t t;

    CHECK_EQ(vs_ibtb_init(&b, &(struct vs_ibtb_config){0}), 0);
    CHECK(!vs_ibtb_update(&b, 1, 2));
    CHECK(!vs_ibtb_predict(&b, 1, &t));
    CHECK_EQ(vs_cost_gates(vs_ibtb_cost(&b, 64)), 0);
    vs_ibtb_fini(&b);
}

TEST(refuses_configurations)
{
    struct vs_ibtb b;

    CHECK_ERR(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 1}), VSE_INVAL);
    CHECK_ERR(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 24}), VSE_INVAL);
    CHECK_ERR(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 2 * VS_IBTB_MAX}), VSE_INVAL);
    CHECK_ERR(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 8, .pir_bits = 12}), VSE_INVAL);
    CHECK_ERR(vs_ibtb_init(&b, &(struct vs_ibtb_config){.entries = 8, .pir_pc_bits = 9}),
              VSE_INVAL);
}

/* 32 entries more are published as 1,200 gates, with 18-bit targets. */
TEST(costs_what_was_published)
{
    struct vs_ibtb s, b;
    int64_t more;

    CHECK_EQ(vs_ibtb_init(&s, &(struct vs_ibtb_config){.entries = 32}), 0);
    CHECK_EQ(vs_ibtb_init(&b, &tagged), 0);
    CHECK_EQ(vs_ibtb_cost(&b, 18).sram, 32 * (2 * 27 + 1));
    more = (int64_t)(vs_cost_gates(vs_ibtb_cost(&b, 18)) - vs_cost_gates(vs_ibtb_cost(&s, 18)));
    CHECK(more >= 1200 && more <= 1330);
    vs_ibtb_fini(&s);
    vs_ibtb_fini(&b);
}
