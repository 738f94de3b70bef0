/* SPDX-License-Identifier: MIT */
#include "study/flow.h"

#include "runs.h"

/* The code that most cases walk through:
 *   1000 nop; 1001 mov rax, [rbx]; 1004 jne 1000; 1006 call 1020; 100b rep movsb; 100d lock inc
 * [rax]; 1010 syscall; 1012 rdtsc; 1014 jmp 1000 1020 ret */
static const uint8_t code[] = {0x90, 0x48, 0x8b, 0x03, 0x75, 0xfa, 0xe8, 0x15, 0x00, 0x00, 0x00,
                               0xf3, 0xa4, 0xf0, 0xff, 0x00, 0x0f, 0x05, 0x0f, 0x31, 0xeb, 0xea};
static const uint8_t routine[] = {0xc3};
static const uint8_t other[] = {0x90, 0x90, 0x90, 0x90}; /* at 1000 */

static const struct vs_block blocks[] = {{0x1000, code, sizeof(code), 8},
                                         {0x1020, routine, sizeof(routine), 1},
                                         {0x1000, other, sizeof(other), 4}};

#define START                                                                                      \
    {                                                                                              \
        .kind = VS_THREAD_START, .pc = 0x1000                                                      \
    }
#define LOAD(n)                                                                                    \
    {                                                                                              \
        .kind = VS_LOAD, .pc = 0x1001, .addr = 0x8000, .size = 8, .icount = n                      \
    }
#define JNE(taken, n)                                                                              \
    {                                                                                              \
        .kind = VS_BRANCH, .pc = 0x1004, .addr = 0x1000, .size = 2, .icount = n,                   \
        .flags = VS_BR_COND | (taken ? VS_BR_TAKEN : 0)                                            \
    }
#define PUSH                                                                                       \
    {                                                                                              \
        .kind = VS_STORE, .pc = 0x1006, .addr = 0x7ff8, .size = 8, .value = 0x100b, .icount = 1    \
    }
#define CALL                                                                                       \
    {                                                                                              \
        .kind = VS_BRANCH, .pc = 0x1006, .addr = 0x1020, .size = 5,                                \
        .flags = VS_BR_CALL | VS_BR_TAKEN                                                          \
    }
#define POP                                                                                        \
    {                                                                                              \
        .kind = VS_LOAD, .pc = 0x1020, .addr = 0x7ff8, .size = 8, .value = 0x100b, .icount = 1     \
    }
#define RET                                                                                        \
    {                                                                                              \
        .kind = VS_BRANCH, .pc = 0x1020, .addr = 0x100b, .size = 1,                                \
        .flags = VS_BR_RETURN | VS_BR_INDIRECT | VS_BR_TAKEN                                       \
    }
#define MOVSB(k, n, f)                                                                             \
    {                                                                                              \
        .kind = k, .pc = 0x100b, .addr = 0x9000, .size = 1, .icount = n, .flags = f                \
    }
#define LOCK(k, n, f)                                                                              \
    {                                                                                              \
        .kind = k, .pc = 0x100d, .addr = 0x9100, .size = 4, .icount = n, .flags = f                \
    }
#define TSC                                                                                        \
    {                                                                                              \
        .kind = VS_NONDET, .pc = 0x1012, .size = 8, .icount = 1                                    \
    }
#define JMP(n)                                                                                     \
    {                                                                                              \
        .kind = VS_BRANCH, .pc = 0x1014, .addr = 0x1000, .size = 2, .icount = n,                   \
        .flags = VS_BR_TAKEN                                                                       \
    }

/* Checks a run of these events. */
static struct vs_flow_check walk(const struct vs_event *events, size_t count, int expected)
{
    struct place place;
    struct vs_writer *w;
    struct vs_reader *r;
    struct vs_writer_options options = {.features = VS_RUN_LOADS | VS_RUN_STORES,
                                        .inline_work = true};
    struct vs_flow_check c;
    struct vs_batch b;
    uint8_t wide[56] = {0};

    place_init(&place);
    CHECK_EQ(vs_writer_open(&w, "run.vest", &options, NULL), 0);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        CHECK_EQ(vs_writer_block(w, &blocks[i]), i);
    b = (struct vs_batch){
        .events = events, .count = count, .wide = wide, .wide_size = sizeof(wide)};
    CHECK_EQ(vs_writer_put(w, &b), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    CHECK_EQ(vs_reader_open(&r, "run.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_flow_check_init(&c, r, vs_isa_find("x86-64")), 0);
    while (vs_reader_next(r, &b) > 0)
        CHECK_EQ(vs_flow_check_batch(&c, &b), expected);
    vs_flow_check_fini(&c);
    vs_reader_close(r);
    place_fini(&place);
    return c;
}

#define WALK(...)                                                                                  \
    walk((struct vs_event[]){__VA_ARGS__},                                                         \
         sizeof((struct vs_event[]){__VA_ARGS__}) / sizeof(struct vs_event), 0)

/* The first event that differs is number n, for a reason that contains `text`; no other does. */
#define CHECK_DIFFERS(c, n, text)                                                                  \
    do {                                                                                           \
        struct vs_flow_check d = (c);                                                              \
        CHECK_EQ(d.differences, 1);                                                                \
        CHECK_EQ(d.first.event, n);                                                                \
        CHECK_HAS(d.first.why, text);                                                              \
    } while (0)

#define SYSCALL(n)                                                                                 \
    {                                                                                              \
        .kind = VS_SYSCALL, .pc = 0x1010, .size = 56, .icount = n                                  \
    }

TEST(walks_all_kinds_of_instructions)
{
    struct vs_flow_check c =
        WALK(START, LOAD(2), JNE(true, 1), LOAD(2), JNE(false, 1), PUSH, CALL, POP, RET,
             MOVSB(VS_LOAD, 1, 0), MOVSB(VS_STORE, 0, 0), MOVSB(VS_LOAD, 0, VS_MEM_REPEAT),
             LOCK(VS_LOAD, 1, VS_MEM_ATOMIC), LOCK(VS_STORE, 0, VS_MEM_ATOMIC), SYSCALL(1), TSC,
             JMP(1), {.kind = VS_COUNT, .icount = 1}, JNE(true, 2), {.kind = VS_THREAD_EXIT});

    CHECK_EQ(c.differences, 0);
    CHECK_EQ(c.instructions, 16);
    CHECK_EQ(c.branches, 6);
}

TEST(finds_a_wrong_count)
{
    CHECK_DIFFERS(WALK(START, LOAD(1), JNE(true, 1)), 1, "not the next");
    CHECK_DIFFERS(WALK(START, LOAD(3), JNE(true, 1)), 1, "not the next");
    CHECK_DIFFERS(WALK(START, LOAD(0), JNE(true, 1)), 1, "another instruction");
}

TEST(finds_a_missing_branch)
{
    CHECK_DIFFERS(WALK(START, LOAD(2), PUSH, CALL), 2, "not the next");
    CHECK_DIFFERS(WALK(START, LOAD(2), {.kind = VS_COUNT, .icount = 3}), 2, "passed over");
    CHECK_DIFFERS(WALK(START, JNE(false, 3), PUSH, POP, RET), 3, "has no event");
}

TEST(finds_a_branch_that_the_code_has_not)
{
    struct vs_event e[] = {START, JNE(true, 3)};

    e[1].size = 6;
    CHECK_DIFFERS(walk(e, 2, 0), 1, "length");
    e[1] = (struct vs_event)JNE(true, 3);
    e[1].addr = 0x1001;
    CHECK_DIFFERS(walk(e, 2, 0), 1, "target");
    e[1] = (struct vs_event)JNE(true, 3);
    e[1].flags = VS_BR_TAKEN;
    CHECK_DIFFERS(walk(e, 2, 0), 1, "kind");
    e[1] = (struct vs_event){
        .kind = VS_BRANCH, .pc = 0x1001, .size = 3, .icount = 2, .flags = VS_BR_TAKEN};
    CHECK_DIFFERS(walk(e, 2, 0), 1, "no branch");
}

TEST(finds_a_branch_that_went_elsewhere)
{
    CHECK_DIFFERS(WALK(START, JNE(false, 3), LOAD(2), JNE(true, 1)), 2, "passed over");
}

TEST(finds_flags_that_do_not_fit)
{
    CHECK_DIFFERS(WALK({.kind = VS_THREAD_START, .pc = 0x100b}, LOCK(VS_LOAD, 2, VS_MEM_REPEAT)), 1,
                  "not repeated");
    CHECK_DIFFERS(WALK({.kind = VS_THREAD_START, .pc = 0x100b}, MOVSB(VS_LOAD, 1, VS_MEM_ATOMIC)),
                  1, "not atomic");
}

TEST(finds_what_is_no_system_call)
{
    struct vs_event e[] = {{.kind = VS_THREAD_START, .pc = 0x1012}, SYSCALL(1)};

    e[1].pc = 0x1012;
    CHECK_DIFFERS(walk(e, 2, 0), 1, "no system call");
}

TEST(finds_code_that_is_not_known)
{
    CHECK_DIFFERS(WALK({.kind = VS_THREAD_START, .pc = 0x5000}, {.kind = VS_COUNT, .icount = 1}), 1,
                  "no instruction is known");
}

#define SIGNAL(at, n)                                                                              \
    {                                                                                              \
        .kind = VS_EXCEPTION, .pc = at, .addr = 0x1010, .icount = n                                \
    }
#define BACK(to)                                                                                   \
    {                                                                                              \
        .kind = VS_EXCEPTION_RET, .pc = 0x1010, .addr = to, .icount = 1                            \
    }

TEST(goes_to_a_handler_and_back)
{
    CHECK_EQ(WALK(START, SIGNAL(0x1001, 1), BACK(0x1001), LOAD(1), JNE(true, 1)).differences, 0);
    CHECK_DIFFERS(WALK(START, SIGNAL(0x1001, 0), BACK(0x1001), LOAD(1)), 1, "not the next");
}

TEST(counts_an_interrupted_repetition_once)
{
    struct vs_event begin = {.kind = VS_THREAD_START, .pc = 0x100b};

    CHECK_EQ(WALK(begin, MOVSB(VS_LOAD, 1, 0), SIGNAL(0x100b, 0), BACK(0x100b),
                  MOVSB(VS_LOAD, 0, VS_MEM_REPEAT), LOCK(VS_LOAD, 1, 0))
                 .differences,
             0);
    /* It was over, but for the look at the count. */
    CHECK_EQ(WALK(begin, MOVSB(VS_LOAD, 1, 0), SIGNAL(0x100b, 0), BACK(0x100b), LOCK(VS_LOAD, 1, 0))
                 .differences,
             0);
    CHECK_DIFFERS(
        WALK(begin, MOVSB(VS_LOAD, 1, 0), SIGNAL(0x100b, 0), BACK(0x100b), LOCK(VS_LOAD, 2, 0)), 4,
        "not the next");
}

TEST(takes_code_that_changes)
{
    CHECK_EQ(WALK(START, JNE(true, 3), {.kind = VS_CODE, .value = 2}, JNE(true, 5)).differences, 0);
    CHECK_EQ(WALK(START, JNE(true, 3), JNE(true, 5)).differences, 1);
}

TEST(begins_anew_after_a_gap)
{
    CHECK_EQ(
        WALK(START, LOAD(2), {.kind = VS_GAP, .pc = 0x1012, .addr = 9}, TSC, JMP(1)).differences,
        0);
}
