/* SPDX-License-Identifier: MIT */
/* Events as trace modules see them. */
#include "technique/step.h"

#include <string.h>

#include "unittest.h"

static struct vs_stepper take(const struct vs_event *events, const uint64_t *cycles, size_t count)
{
    struct vs_stepper s = {0};
    const struct vs_batch b = {.events = events, .cycles = cycles, .count = count};
    CHECK_EQ(vs_stepper_take(&s, &b), 0);
    return s;
}

#define TAKE(cycles, ...)                                                                          \
    take((struct vs_event[]){__VA_ARGS__}, cycles,                                                 \
         sizeof((struct vs_event[]){__VA_ARGS__}) / sizeof(struct vs_event))

static void check_step(const struct vs_step *s, unsigned kind, uint64_t pc, uint64_t target,
                       uint32_t icount)
{
    CHECK_EQ(s->kind, kind);
    CHECK_EQ(s->pc, pc);
    CHECK_EQ(s->target, target);
    CHECK_EQ(s->icount, icount);
}

TEST(keeps_what_code_does_not_tell)
{
    struct vs_stepper s =
        TAKE(NULL, {.kind = VS_THREAD_START, .pc = 0x100},
             {.kind = VS_BRANCH,
              .pc = 0x104,
              .addr = 0x200,
              .size = 4,
              .icount = 2,
              .flags = VS_BR_COND},
             {.kind = VS_LOAD, .pc = 0x108, .icount = 1, .size = 8},
             {.kind = VS_BRANCH, .pc = 0x10c, .addr = 0x300, .icount = 1, .flags = VS_BR_TAKEN},
             {.kind = VS_BRANCH,
              .pc = 0x300,
              .addr = 0x400,
              .size = 4,
              .icount = 1,
              .flags = VS_BR_CALL | VS_BR_TAKEN},
             {.kind = VS_COUNT, .icount = 7},
             {.kind = VS_BRANCH,
              .pc = 0x420,
              .addr = 0x304,
              .size = 2,
              .icount = 1,
              .flags = VS_BR_RETURN | VS_BR_INDIRECT | VS_BR_TAKEN},
             {.kind = VS_THREAD_EXIT, .icount = 3});
    CHECK_EQ(s.count, 5);
    check_step(&s.steps[0], VS_STEP_DISCONTINUITY, 0, 0x100, 0);
    check_step(&s.steps[1], VS_STEP_CONDITIONAL, 0x104, 0x200, 2);
    CHECK(!vs_step_taken(&s.steps[1]));
    CHECK_EQ(vs_step_next(&s.steps[1]), 0x108);
    for (size_t i = 0; i < s.count; i++) /* one jump, before the third */
        CHECK_EQ(s.steps[i].jumps, i == 2);
    check_step(&s.steps[2], VS_STEP_CALL, 0x300, 0x400, 3);
    check_step(&s.steps[3], VS_STEP_INDIRECT, 0x420, 0x304, 8);
    CHECK_EQ(s.steps[3].size, 2);
    CHECK_EQ(vs_step_next(&s.steps[3]), 0x304);
    check_step(&s.steps[4], VS_STEP_DISCONTINUITY, 0, VS_STEP_NOWHERE, 3);
    CHECK_EQ(s.instructions, 16);
    vs_stepper_fini(&s);
}

TEST(goes_elsewhere_at_exceptions_and_gaps)
{
    struct vs_stepper s = TAKE(NULL, {.kind = VS_THREAD_START, .pc = 0x100},
                               {.kind = VS_EXCEPTION, .pc = 0x104, .addr = 0x800, .icount = 1},
                               {.kind = VS_EXCEPTION_RET, .pc = 0x900, .addr = 0x104, .icount = 5},
                               {.kind = VS_GAP, .pc = 0x700, .icount = 2});
    CHECK_EQ(s.count, 5);
    check_step(&s.steps[1], VS_STEP_DISCONTINUITY, 0, 0x800, 1);
    check_step(&s.steps[2], VS_STEP_DISCONTINUITY, 0, 0x104, 5);
    check_step(&s.steps[3], VS_STEP_DISCONTINUITY, 0, VS_STEP_NOWHERE, 2);
    check_step(&s.steps[4], VS_STEP_DISCONTINUITY, 0, 0x700, 0);
    vs_stepper_fini(&s);
}

/* A run that begins in a gap has nothing to end first. */
TEST(ends_nothing_that_did_not_begin)
{
    struct vs_stepper s =
        TAKE(NULL, {.kind = VS_GAP, .pc = 0x700}, {.kind = VS_THREAD_EXIT, .thread = 1});
    CHECK_EQ(s.count, 1);
    check_step(&s.steps[0], VS_STEP_DISCONTINUITY, 0, 0x700, 0);
    vs_stepper_fini(&s);
}

TEST(restarts_system_calls)
{
    uint8_t payload[256];
    uint64_t pc = 0x104, other = 9;
    struct vs_stepper s = {0};
    int64_t size = sizeof(struct vs_syscall_head);
    memset(payload, 0, sizeof(payload));
    size = vs_regs_put(payload, sizeof(payload), (size_t)size, 0, &other, 8);
    size = vs_regs_put(payload, sizeof(payload), (size_t)size, VS_REG_PC, &pc, 8);
    CHECK(size > 0);
    const struct vs_event events[] = {
        {.kind = VS_THREAD_START, .pc = 0x100},
        {.kind = VS_SYSCALL, .pc = 0x104, .size = sizeof(struct vs_syscall_head), .icount = 2},
        {.kind = VS_SYSCALL, .pc = 0x104, .size = (uint16_t)size, .icount = 2},
    };
    const struct vs_batch b = {
        .events = events, .count = 3, .wide = payload, .wide_size = sizeof(payload)};
    CHECK_EQ(vs_stepper_take(&s, &b), 0);
    CHECK_EQ(s.count, 2);
    check_step(&s.steps[1], VS_STEP_DISCONTINUITY, 0, 0x104, 4);
    vs_stepper_fini(&s);
}

TEST(counts_each_core_by_itself)
{
    static const uint64_t cycles[] = {10, 20, 30, 40};
    struct vs_stepper s =
        TAKE(cycles, {.kind = VS_THREAD_START, .pc = 0x100},
             {.kind = VS_THREAD_START, .pc = 0x200, .thread = 3}, {.kind = VS_COUNT, .icount = 5},
             {.kind = VS_EXCEPTION, .addr = 0x300, .thread = 3, .icount = 2});
    CHECK_EQ(s.count, 3);
    CHECK_EQ(s.cores, 4);
    CHECK_EQ(s.steps[1].core, 3);
    CHECK_EQ(s.steps[1].time, 20);
    check_step(&s.steps[2], VS_STEP_DISCONTINUITY, 0, 0x300, 2);
    CHECK_EQ(s.steps[2].time, 40);
    /* those that are still running end; the others never began */
    CHECK_EQ(vs_stepper_end(&s, 50), 0);
    CHECK_EQ(s.count, 2);
    CHECK_EQ(s.steps[0].core, 0);
    check_step(&s.steps[0], VS_STEP_DISCONTINUITY, 0, VS_STEP_NOWHERE, 5);
    CHECK_EQ(s.steps[1].core, 3);
    CHECK_EQ(s.steps[1].time, 50);
    CHECK_EQ(vs_stepper_end(&s, 60), 0);
    CHECK_EQ(s.count, 0);
    vs_stepper_fini(&s);
}

TEST(times_untimed_steps_by_instructions)
{
    struct vs_stepper s = TAKE(NULL, {.kind = VS_THREAD_START, .pc = 0x100},
                               {.kind = VS_COUNT, .icount = 5, .thread = 1},
                               {.kind = VS_EXCEPTION, .addr = 0x300, .icount = 2});
    CHECK_EQ(s.count, 2);
    CHECK_EQ(s.steps[1].time, 7);
    vs_stepper_fini(&s);
}
