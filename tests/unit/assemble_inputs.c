/* SPDX-License-Identifier: MIT */
/* Runs that have only inputs: how far threads ran, instead of blocks. */
#include "assembling.h"

/* A program with two threads, the first of which runs. */
static void begin(struct fixture *f)
{
    open_options(f, (struct vs_assembler_options){.inputs = true, .light = true});
    wb_hello(&f->w);
    wb_start(&f->w, 1, 77, 0x1000);
    wb_start(&f->w, 2, 78, 0x2000);
    wb_run(&f->w, 1);
    f->next = 2;
}

static void ran(struct fixture *f, uint32_t thread, struct wire_ran r)
{
    wb_record(&f->w, WIRE_RAN, thread, &r, sizeof(r));
}

static const struct vs_event *expect_turn(struct fixture *f, unsigned icount, uint64_t digest,
                                          uint64_t iterations)
{
    const struct vs_event *e = EXPECT_KIND(f, VS_TURN, icount);
    struct vs_turn turn = {0};
    memcpy(&turn, bytes_of(f, e), e->size);
    CHECK_EQ(turn.digest, digest);
    CHECK_EQ(turn.iterations, iterations);
    return e;
}

TEST(says_how_far_a_thread_came_before_another_runs)
{
    struct fixture f;
    begin(&f);
    ran(&f, 1, (struct wire_ran){.insns = 5, .from = 0x1000, .rip = 0x1010, .digest = 9});
    ran(&f, 1, (struct wire_ran){.insns = 7, .from = 0x1010, .rip = 0x1020, .digest = 10});
    wb_run(&f.w, 2);
    ran(&f, 2, (struct wire_ran){.insns = 1, .from = 0x2000, .rip = 0x2001, .digest = 11});
    wb_run(&f.w, 1);
    finish(&f);
    CHECK_EQ(expect_turn(&f, 12, 10, 0)->thread, 0);
    CHECK_EQ(expect_turn(&f, 1, 11, 0)->thread, 1);
    EXPECT_KIND(&f, VS_THREAD_EXIT, 0);
    EXPECT_KIND(&f, VS_THREAD_EXIT, 0);
    CHECK_EQ(f.next, f.got.count);
    teardown(&f);
}

/* The call retires with its own event; what it wrote comes before that. */
TEST(counts_a_call_when_it_is_done)
{
    struct fixture f;
    begin(&f);
    ran(&f, 1,
        (struct wire_ran){.insns = 5,
                          .from = 0x1000,
                          .rip = 0x1012,
                          .at = 0x1010,
                          .left = WIRE_TO_SYSCALL,
                          .digest = 9});
    wb_external(&f.w, 1, 0x5000, "abc", 3);
    wb_syscall(&f.w, 1, 1, 3);
    finish(&f);
    EXPECT(&f, .kind = VS_EXTERNAL, .pc = 0x1010, .addr = 0x5000, .value = 0x636261, .size = 3,
           .icount = 4);
    CHECK_EQ(EXPECT_KIND(&f, VS_SYSCALL, 1)->pc, 0x1010);
    teardown(&f);
}

/* A value comes in the midst of a block, whose end counts all of it. */
TEST(places_values_from_outside)
{
    const struct wire_value first = {.pc = 0x1004, .more = 3, .size = 8};
    const struct wire_value second = {.pc = 0x1008, .more = 5, .size = 8};
    const uint64_t value = 42;
    struct fixture f;
    begin(&f);
    ran(&f, 1, (struct wire_ran){.insns = 10});
    wb_record2(&f.w, WIRE_VALUE, 1, &first, sizeof(first), &value, 8);
    wb_record2(&f.w, WIRE_VALUE, 1, &second, sizeof(second), &value, 8);
    ran(&f, 1, (struct wire_ran){.insns = 9, .from = 0x1000, .rip = 0x1020, .digest = 1});
    wb_exit(&f.w, 1, 0);
    finish(&f);
    EXPECT(&f, .kind = VS_NONDET, .pc = 0x1004, .size = 8, .value = 42, .icount = 13);
    EXPECT(&f, .kind = VS_NONDET, .pc = 0x1008, .size = 8, .value = 42, .icount = 2);
    EXPECT_KIND(&f, VS_THREAD_EXIT, 4);
    teardown(&f);
}

/* It counts with its first iteration, and goes on after the handler. */
TEST(interrupts_an_instruction_that_repeats_itself)
{
    struct wire_regs at = {.rip = 0x1010}, handler = {.rip = 0x3000};
    struct fixture f;
    begin(&f);
    ran(&f, 1,
        (struct wire_ran){.insns = 4, .from = 0x1000, .rip = 0x1010, .iterations = 6, .digest = 3});
    wb_signal(&f.w, WIRE_SIGNAL, 1, 14, &at);
    wb_external(&f.w, 1, 0x5000, "abc", 3);
    wb_resume(&f.w, 1, &handler);
    ran(&f, 1,
        (struct wire_ran){
            .insns = 2, .from = 0x3000, .rip = 0x3010, .at = 0x300e, .left = WIRE_TO_SYSCALL});
    wb_signal(&f.w, WIRE_RETURN, 1, 0, &handler);
    wb_resume(&f.w, 1, &at);
    ran(&f, 1, (struct wire_ran){.from = 0x1010, .rip = 0x1010, .iterations = 2, .digest = 4});
    wb_run(&f.w, 2);
    wb_run(&f.w, 1);
    ran(&f, 1, (struct wire_ran){.insns = 1, .from = 0x1010, .rip = 0x1012, .digest = 5});
    wb_exit(&f.w, 1, 0);
    finish(&f);
    expect_turn(&f, 5, 3, 6);
    EXPECT_KIND(&f, VS_EXTERNAL, 0);
    EXPECT_KIND(&f, VS_EXCEPTION, 0);
    EXPECT_KIND(&f, VS_EXCEPTION_RET, 2);
    expect_turn(&f, 0, 4, 8);
    expect_turn(&f, 0, 5, 0); /* it is complete */
    EXPECT_KIND(&f, VS_THREAD_EXIT, 0);
    teardown(&f);
}

TEST(counts_more_than_an_event_can)
{
    struct fixture f;
    begin(&f);
    ran(&f, 1, (struct wire_ran){.insns = 200000, .from = 0x1000, .rip = 0x1010, .digest = 3});
    wb_exit(&f.w, 1, 0);
    finish(&f);
    for (unsigned i = 0; i < 3; i++)
        EXPECT_KIND(&f, VS_COUNT, 65535);
    EXPECT_KIND(&f, VS_THREAD_EXIT, 200000 - 3 * 65535);
    teardown(&f);
}

TEST(takes_content)
{
    const struct wire_content bytes = {0x5000, 3, 0, WIRE_CONTENT_BYTES, 0};
    const struct wire_content moved = {0x6000, 4096, 0x5000, WIRE_CONTENT_MOVED, 0};
    const struct wire_content file = {0x7000, 4096, 100, WIRE_CONTENT_FILE, 9};
    struct fixture f;
    begin(&f);
    wb_record2(&f.w, WIRE_CONTENT, 0, &bytes, sizeof(bytes), "abc", 3);
    wb_record(&f.w, WIRE_CONTENT, 0, &moved, sizeof(moved));
    wb_record2(&f.w, WIRE_CONTENT, 0, &file, sizeof(file), "/dev/null", 9);
    finish(&f);
    EXPECT(&f, .kind = VS_CONTENT, .addr = 0x5000, .value = 0x636261, .size = 3);
    CHECK_EQ(EXPECT_KIND(&f, VS_CONTENT, 0)->flags, VS_CONTENT_MOVED);
    const struct vs_event *e = EXPECT_KIND(&f, VS_CONTENT, 0);
    CHECK_EQ(e->flags, VS_CONTENT_FILE);
    CHECK_EQ(e->size, sizeof(struct vs_content_file) + 9);
    teardown(&f);
}

/* The thread that ran is within a repeated instruction: memory is what its iterations made of it.
 */
TEST(takes_digests_of_memory)
{
    const struct wire_content pages = {0x5000, 2 * VS_DIGEST_PAGE, 0, WIRE_CONTENT_DIGESTS, 0};
    const uint32_t digests[] = {7, 8};
    struct fixture f;
    begin(&f);
    ran(&f, 1,
        (struct wire_ran){.insns = 6, .from = 0x1000, .rip = 0x1010, .iterations = 5, .digest = 3});
    wb_record2(&f.w, WIRE_CONTENT, 0, &pages, sizeof(pages), digests, sizeof(digests));
    finish(&f);
    expect_turn(&f, 7, 3, 5);
    EXPECT(&f, .kind = VS_CONTENT, .flags = VS_CONTENT_DIGESTS, .addr = 0x5000,
           .value = UINT64_C(8) << 32 | 7, .size = 8);
    teardown(&f);
}

TEST(refuses_digests_that_make_no_sense)
{
    static const struct wire_content bad[] = {
        {0x5001, VS_DIGEST_PAGE, 0, WIRE_CONTENT_DIGESTS, 0},
        {0x5000, VS_DIGEST_PAGE + 1, 0, WIRE_CONTENT_DIGESTS, 0},
        {0x5000, 0, 0, WIRE_CONTENT_DIGESTS, 0},
        {0x5000, 3 * VS_DIGEST_PAGE, 0, WIRE_CONTENT_DIGESTS, 0}, /* there are two */
        {0x5000, UINT64_MAX - VS_DIGEST_PAGE + 1, 0, WIRE_CONTENT_DIGESTS, 0}};
    const uint32_t digests[] = {7, 8};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct fixture f;
        begin(&f);
        wb_record2(&f.w, WIRE_CONTENT, 0, &bad[i], sizeof(bad[i]), digests, sizeof(digests));
        CHECK_ERR(feed(&f), VSE_CORRUPT);
        teardown(&f);
    }
}

/* How far threads came is said before memory is told anew, with the window that they were in. */
TEST(begins_parts)
{
    const struct wire_anew anew = {1};
    const struct wire_content bytes = {0x5000, 3, 0, WIRE_CONTENT_BYTES, 0};
    const uint64_t lengths[] = {5, 0};
    struct fixture f;
    open_options(&f, (struct vs_assembler_options){
                         .inputs = true, .light = true, .windows = lengths, .window_count = 2});
    wb_hello(&f.w);
    wb_start(&f.w, 1, 77, 0x1000);
    wb_run(&f.w, 1);
    ran(&f, 1,
        (struct wire_ran){
            .insns = 6, .from = 0x1000, .rip = 0x1010, .at = 0x100e, .left = WIRE_TO_SYSCALL});
    wb_record(&f.w, WIRE_ANEW, 1, &anew, sizeof(anew));
    wb_record2(&f.w, WIRE_CONTENT, 0, &bytes, sizeof(bytes), "abc", 3);
    wb_gap(&f.w, 1, 7, 1, 0x1020);
    ran(&f, 1, (struct wire_ran){.insns = 2, .from = 0x1020, .rip = 0x1024, .digest = 3});
    wb_exit(&f.w, 1, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_THREAD_START, 0);
    expect_turn(&f, 5, 0, 0);
    CHECK_EQ(EXPECT_KIND(&f, VS_CONTENT, 0)->flags, VS_CONTENT_ANEW);
    CHECK_EQ(EXPECT_KIND(&f, VS_CONTENT, 0)->addr, 0x5000);
    CHECK_EQ(EXPECT_KIND(&f, VS_GAP, 0)->addr, 8); /* with the call */
    EXPECT_KIND(&f, VS_THREAD_EXIT, 2);
    teardown(&f);
}

/* What a program may leave in the tool's memory that it wrote over. */
TEST(refuses_nonsense)
{
    const struct wire_content odd[] = {{0x5000, 9, 0, WIRE_CONTENT_BYTES, 0},
                                       {0x5000, 0, 0, WIRE_CONTENT_BYTES, 0},
                                       {0x5000, 9, 0, WIRE_CONTENT_FILE, 100},
                                       {0x5000, 9, 0, 7, 0}};
    const struct wire_value value = {.pc = 1, .more = 0, .size = 100};
    const struct wire_ran many = {.insns = UINT64_MAX, .rip = 1};
    for (unsigned i = 0; i < 6; i++) {
        struct fixture f;
        begin(&f);
        if (i < 4)
            wb_record2(&f.w, WIRE_CONTENT, 0, &odd[i], sizeof(odd[i]), "abc", 3);
        else if (i == 4)
            wb_record(&f.w, WIRE_VALUE, 1, &value, sizeof(value));
        else
            wb_record(&f.w, WIRE_RAN, 1, &many, sizeof(many));
        CHECK_ERR(feed(&f), VSE_CORRUPT);
        CHECK_HAS(f.diag.text, "makes no sense");
        teardown(&f);
    }
}
