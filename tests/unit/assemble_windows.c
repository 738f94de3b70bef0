/* SPDX-License-Identifier: MIT */
/* Windows: what is recorded where recording is on only at times. */
#include "assembling.h"

static struct wb_block b, b2, b3;

TEST(cuts_windows_exactly)
{
    static const uint64_t windows[] = {10, 3, 0};
    struct fixture f;
    const struct vs_event *e;

    setup_with(&f, windows, 3);
    make_nops(&b, 0x1000, 3, 0x1000); /* 4 instructions */
    make_straight(&b2, 0x2000, 2);
    make_straight(&b3, 0x1000, 1); /* code that changes */
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    for (int i = 0; i < 4; i++)
        wb_ran(&f.w, &b, 0);
    wb_map(&f.w, 0x5000, 0x1000, WIRE_MAP_READ, "");
    wb_start(&f.w, 2, 78, 0x2000);
    make_straight(&b3, 0x1003, 1);
    wb_define(&f.w, &b3);
    wb_ran(&f.w, &b2, 0); /* in the first window still: not in the second */
    wb_gap(&f.w, 1, 1000, 1, 0x1000);
    wb_ran(&f.w, &b2, 0);
    wb_ran(&f.w, &b2, 0);
    wb_gap(&f.w, 1, 500, 2, 0x1000);
    for (int i = 0; i < 3; i++)
        wb_ran(&f.w, &b, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 4);
    EXPECT_KIND(&f, VS_BRANCH, 4);
    EXPECT(&f, .kind = VS_COUNT, .icount = 2);
    EXPECT_KIND(&f, VS_MAP, 0);
    EXPECT_KIND(&f, VS_THREAD_START, 0);
    EXPECT_KIND(&f, VS_CODE, 0);
    e = EXPECT_KIND(&f, VS_GAP, 0);
    CHECK_EQ(e->pc, 0x1000);
    CHECK_EQ(e->addr, 1000);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_PC), 0x1000);
    EXPECT(&f, .kind = VS_COUNT, .icount = 3);
    e = EXPECT_KIND(&f, VS_GAP, 0);
    CHECK_EQ(e->addr, 500);
    for (int i = 0; i < 3; i++)
        EXPECT_KIND(&f, VS_BRANCH, 4);
    EXPECT(&f, .kind = VS_THREAD_EXIT);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .thread = 1);
    CHECK_EQ(icounts(&f), 10 + 3 + 12);
    CHECK_EQ(vs_assembler_stats(f.a).instructions, 25);
    CHECK_EQ(vs_assembler_stats(f.a).skipped, 1500);
    CHECK(!vs_assembler_stats(f.a).full);
    teardown(&f);
}

TEST(keeps_a_windows_last_instruction_whole)
{
    static const uint64_t windows[] = {2};
    struct fixture f;

    setup_with(&f, windows, 1);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "90");
    wb_insn(&b, "ff 13"); /* call [rbx] */
    wb_op(&b, WIRE_LOAD, WIRE_ADDR_CONST | WIRE_VALUE_CONST, 8);
    wb_op(&b, WIRE_STORE, WIRE_ADDR_CONST | WIRE_VALUE_CONST, 8);
    wb_end_to(&b, WIRE_BORING, 0x1000);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_LOAD, 2);
    EXPECT_KIND(&f, VS_STORE, 0);
    EXPECT_KIND(&f, VS_BRANCH, 0);
    expect_end(&f);
    CHECK(vs_assembler_stats(f.a).full);
    teardown(&f);
}

TEST(ends_only_what_has_begun_after_the_last_window)
{
    static const uint64_t windows[] = {4};
    struct fixture f;

    setup_with(&f, windows, 1);
    make_nops(&b, 0x1000, 3, 0x1000); /* 4 instructions */
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_map(&f.w, 0x5000, 0x1000, WIRE_MAP_READ, "");
    wb_start(&f.w, 2, 78, 0x2000);
    wb_ran(&f.w, &b, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 4);
    expect_end(&f);
    CHECK_EQ(vs_assembler_stats(f.a).threads, 1);
    CHECK(vs_assembler_stats(f.a).full);
    teardown(&f);
}

TEST(ends_threads_that_began_between_windows)
{
    static const uint64_t windows[] = {4, 2};
    struct fixture f;

    setup_with(&f, windows, 2);
    make_nops(&b, 0x1000, 3, 0x1000); /* 4 instructions */
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_start(&f.w, 2, 78, 0x2000);
    wb_gap(&f.w, 1, 1000, 1, 0x1000);
    wb_ran(&f.w, &b, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 4);
    EXPECT_KIND(&f, VS_THREAD_START, 0);
    EXPECT_KIND(&f, VS_GAP, 0);
    EXPECT(&f, .kind = VS_COUNT, .icount = 2);
    EXPECT(&f, .kind = VS_THREAD_EXIT);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .thread = 1);
    CHECK_EQ(vs_assembler_stats(f.a).threads, 2);
    teardown(&f);
}

TEST(keeps_the_end_of_a_thread_that_crosses_a_windows_end)
{
    static const uint64_t windows[] = {2};
    struct fixture f;

    setup_with(&f, windows, 1);
    make_straight(&b, 0x1000, 4);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0); /* the end counts all of these */
    finish(&f);
    EXPECT(&f, .kind = VS_COUNT, .icount = 2);
    EXPECT(&f, .kind = VS_THREAD_EXIT);
    CHECK_EQ(icounts(&f), 2);
    teardown(&f);
}
