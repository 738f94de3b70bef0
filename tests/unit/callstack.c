/* SPDX-License-Identifier: MIT */
#include "study/callstack.h"

#include "unittest.h"

/* Code: a routine every 0x100 bytes. A call has 4 bytes, and is named by its pc. */
enum { MAIN = 0x1000, F = 0x1100, G = 0x1200, H = 0x1300, SETJMP = 0x1400, LONGJMP = 0x1500 };

/* Stacks, whose return addresses grow down; 0: a run without loads and stores, or an ISA that keeps
 * return addresses in registers. */
#define STACK UINT64_C(0x7fff0000)
#define OTHER UINT64_C(0x10000000)

static void take(struct vs_callstack *s, struct vs_event e)
{
    CHECK_EQ(vs_callstack_take(s, &(struct vs_batch){.events = &e, .count = 1}, 0), 0);
}

static void call(struct vs_callstack *s, uint64_t pc, uint64_t to, uint64_t slot)
{
    if (slot)
        take(s, (struct vs_event){.kind = VS_STORE, .pc = pc, .addr = slot, .size = 8});
    take(
        s,
        (struct vs_event){
            .kind = VS_BRANCH, .pc = pc, .addr = to, .size = 4, .flags = VS_BR_CALL | VS_BR_TAKEN});
}

static void go_back(struct vs_callstack *s, uint64_t pc, uint64_t to, uint64_t slot)
{
    if (slot)
        take(s, (struct vs_event){.kind = VS_LOAD, .pc = pc, .addr = slot, .size = 8});
    take(s, (struct vs_event){.kind = VS_BRANCH,
                              .pc = pc,
                              .addr = to,
                              .size = 1,
                              .flags = VS_BR_RETURN | VS_BR_INDIRECT | VS_BR_TAKEN});
}

static void jump(struct vs_callstack *s, uint64_t pc, uint64_t to)
{
    take(s, (struct vs_event){.kind = VS_BRANCH,
                              .pc = pc,
                              .addr = to,
                              .size = 4,
                              .flags = VS_BR_INDIRECT | VS_BR_TAKEN});
}

static size_t depth(struct vs_callstack *s)
{
    const struct vs_calls *c = vs_callstack_calls(s, 0);

    return c ? c->depth : 0;
}

/* The site of the latest call but `up`. */
static uint64_t site(struct vs_callstack *s, size_t up)
{
    const struct vs_calls *c = vs_callstack_calls(s, 0);

    return c && up < c->depth ? c->calls[c->depth - 1 - up].site : 0;
}

TEST(follows_calls_and_returns)
{
    for (uint64_t stack = 0; stack <= STACK; stack += STACK) {
        struct vs_callstack s = {0};

        CHECK_EQ(depth(&s), 0);
        call(&s, MAIN + 8, F, stack);
        call(&s, F + 8, G, stack ? stack - 32 : 0);
        CHECK_EQ(depth(&s), 2);
        CHECK_EQ(site(&s, 0), F + 8);
        CHECK_EQ(site(&s, 1), MAIN + 8);
        CHECK_EQ(vs_callstack_calls(&s, 0)->calls[1].back, F + 12);
        go_back(&s, G + 20, F + 12, stack ? stack - 32 : 0);
        CHECK_EQ(depth(&s), 1);
        go_back(&s, F + 20, MAIN + 12, stack);
        CHECK_EQ(depth(&s), 0);
        CHECK(!vs_callstack_calls(&s, 1));
        vs_callstack_fini(&s);
    }
}

TEST(stays_in_a_call_that_jumps_elsewhere)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    jump(&s, F + 8, G);
    CHECK_EQ(depth(&s), 1);
    go_back(&s, G + 20, MAIN + 12, STACK);
    CHECK_EQ(depth(&s), 0);
    vs_callstack_fini(&s);
}

TEST(leaves_several_calls_at_once)
{
    for (uint64_t stack = 0; stack <= STACK; stack += STACK) {
        struct vs_callstack s = {0};

        call(&s, MAIN + 8, F, stack);
        call(&s, F + 8, G, stack ? stack - 32 : 0);
        call(&s, G + 8, H, stack ? stack - 64 : 0);
        go_back(&s, H + 20, MAIN + 12, stack);
        CHECK_EQ(depth(&s), 0);
        vs_callstack_fini(&s);
    }
}

/* The unwinder puts the address of the landing pad where the call returns that it leaves. */
TEST(leaves_calls_that_an_exception_passes)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    call(&s, F + 8, G, STACK - 32);
    call(&s, G + 8, H, STACK - 64);
    go_back(&s, H + 20, F + 0x80, STACK - 32);
    CHECK_EQ(depth(&s), 1);
    CHECK_EQ(site(&s, 0), MAIN + 8);
    vs_callstack_fini(&s);
}

/* By sites alone, the inner of two calls would be left. */
TEST(tells_a_recursive_call_by_its_slot)
{
    struct vs_callstack s = {0};

    for (unsigned i = 0; i < 5; i++)
        call(&s, F + 8, F, STACK - 32 * i);
    go_back(&s, F + 20, F + 12, STACK - 32);
    CHECK_EQ(depth(&s), 1);
    vs_callstack_fini(&s);
}

TEST(goes_back_by_longjmp)
{
    for (uint64_t stack = 0; stack <= STACK; stack += STACK) {
        struct vs_callstack s = {0};

        call(&s, MAIN + 8, F, stack);
        call(&s, F + 8, SETJMP, stack ? stack - 32 : 0);
        go_back(&s, SETJMP + 20, F + 12, stack ? stack - 32 : 0);
        call(&s, F + 16, G, stack ? stack - 32 : 0);
        call(&s, G + 8, LONGJMP, stack ? stack - 64 : 0);
        CHECK_EQ(depth(&s), 3);
        jump(&s, LONGJMP + 20, F + 12);
        CHECK_EQ(depth(&s), 1);
        CHECK_EQ(site(&s, 0), MAIN + 8);
        go_back(&s, F + 40, MAIN + 12, stack);
        CHECK_EQ(depth(&s), 0);
        vs_callstack_fini(&s);
    }
}

/* Whoever called setjmp is gone: what is there is no longjmp. */
TEST(jumps_to_where_a_call_returned_that_is_over)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    call(&s, F + 8, G, STACK - 32);
    go_back(&s, G + 20, F + 12, STACK - 32);
    go_back(&s, F + 20, MAIN + 12, STACK);
    call(&s, MAIN + 16, H, STACK);
    jump(&s, H + 8, F + 12);
    CHECK_EQ(depth(&s), 1);
    CHECK_EQ(site(&s, 0), MAIN + 16);
    vs_callstack_fini(&s);
}

/* An interpreter of threaded code jumps to labels, also to one that follows a call that only
 * another interpreter has made. */
TEST(stays_in_a_recursive_call_that_jumps_within_its_routine)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, 0);
    call(&s, F + 8, G, 0);
    go_back(&s, G + 20, F + 12, 0);
    call(&s, F + 16, F, 0);
    jump(&s, F + 40, F + 12);
    CHECK_EQ(depth(&s), 2);
    vs_callstack_fini(&s);
}

TEST(drops_calls_whose_stack_is_used_again)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    call(&s, F + 8, G, STACK - 32);
    call(&s, G + 8, H, STACK - 64);
    /* control came to F by ways that nobody has seen */
    call(&s, F + 16, G, STACK - 32);
    CHECK_EQ(depth(&s), 2);
    CHECK_EQ(site(&s, 0), F + 16);
    vs_callstack_fini(&s);
}

TEST(keeps_what_a_signal_interrupted)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    take(&s, (struct vs_event){.kind = VS_EXCEPTION, .pc = F + 40, .addr = H});
    CHECK_EQ(depth(&s), 3);
    CHECK_EQ(vs_callstack_calls(&s, 0)->calls[2].kind, VS_CALL_HANDLER);
    CHECK_EQ(vs_callstack_calls(&s, 0)->calls[1].back, F + 40);
    call(&s, H + 8, G, OTHER);
    go_back(&s, G + 20, H + 12, OTHER);
    go_back(&s, H + 20, 0x9000, OTHER + 16);
    CHECK_EQ(depth(&s), 2);
    take(&s, (struct vs_event){.kind = VS_EXCEPTION_RET, .pc = 0x9004, .addr = F + 40});
    CHECK_EQ(depth(&s), 1);
    go_back(&s, F + 60, MAIN + 12, STACK);
    CHECK_EQ(depth(&s), 0);
    vs_callstack_fini(&s);
}

TEST(gives_each_coroutine_its_calls)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    call(&s, F + 8, G, STACK - 32); /* it switches stacks ... */
    go_back(&s, G + 20, H, OTHER);  /* ... to one on which H begins */
    CHECK_EQ(depth(&s), 0);
    call(&s, H + 8, G, OTHER - 16);
    CHECK_EQ(depth(&s), 1);
    go_back(&s, G + 20, F + 12, STACK - 32);
    CHECK_EQ(depth(&s), 1);
    CHECK_EQ(site(&s, 0), MAIN + 8);
    call(&s, F + 16, G, STACK - 32);
    go_back(&s, G + 20, H + 12, OTHER - 16);
    CHECK_EQ(depth(&s), 0);
    vs_callstack_fini(&s);
}

TEST(forgets_everything_in_a_gap)
{
    struct vs_callstack s = {0};

    call(&s, MAIN + 8, F, STACK);
    take(&s, (struct vs_event){.kind = VS_GAP, .pc = G});
    CHECK_EQ(depth(&s), 0);
    go_back(&s, G + 20, MAIN + 12, STACK);
    CHECK_EQ(depth(&s), 0);
    vs_callstack_fini(&s);
}
