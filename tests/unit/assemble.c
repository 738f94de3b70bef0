/* SPDX-License-Identifier: MIT */
#include "assembling.h"
#include "capture/wire_registers.h"
#include "isa/set.h"

enum { REG_RAX = 0, REG_RCX = 2, REG_R11 = 11 }; /* as DWARF numbers them */

static struct wb_block b, b2, b3;

static void expect_rep(struct fixture *f, uint64_t pc, unsigned i, unsigned icount, unsigned flags)
{
    EXPECT(f, .kind = VS_LOAD, .pc = pc, .addr = 0x5000 + i, .value = 0xa0 + i, .size = 1,
           .icount = (uint16_t)icount, .flags = (uint8_t)flags);
    EXPECT(f, .kind = VS_STORE, .pc = pc, .addr = 0x6000 + i, .value = 0xa0 + i, .size = 1,
           .flags = (uint8_t)flags);
}

/* ---- operands and branches ------------------------------------------------------------------- */

TEST(starts_and_ends_threads)
{
    struct fixture f;
    const struct vs_event *e;

    setup(&f);
    wb_start(&f.w, 2, 78, 0x2000);
    wb_exit(&f.w, 1, 5);
    finish(&f);
    f.next = 0;
    e = EXPECT_KIND(&f, VS_THREAD_START, 0);
    CHECK_EQ(e->pc, 0x1000);
    CHECK_EQ(e->addr, 77);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_PC), 0x1000);
    CHECK_EQ(reg_of(&f, e, 0, REG_RCX), 0x101);
    e = EXPECT_KIND(&f, VS_THREAD_START, 0);
    CHECK_EQ(e->thread, 1);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .value = 5);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .thread = 1);
    CHECK_EQ(f.next, f.got.count);
    CHECK_EQ(vs_assembler_stats(f.a).threads, 2);
    teardown(&f);
}

TEST(tells_where_it_is_once)
{
    struct fixture f;
    char processor[VS_ISA_HOST_MAX], wanted[512];

    setup(&f);
    wb_hello(&f.w);
    finish(&f);
    vs_isa_find("x86-64")->host(processor);
    snprintf(wanted, sizeof(wanted),
             "valgrind=3.19\nrecorder=0.1.0\nprocessor=%s\noffered=avx2\nnoted=1\n", processor);
    CHECK_STR(f.got.facts, wanted);
    teardown(&f);
    open_with(&f, NULL, 0);
    f.got.meta_error = -VSE_LIMIT;
    wb_hello(&f.w);
    CHECK_ERR(feed(&f), VSE_LIMIT);
    CHECK(f.theirs);
    teardown(&f);
}

TEST(counts_instructions_up_to_events)
{
    struct fixture f;

    setup(&f);
    make_nops(&b, 0x1000, 3, 0x1010);
    make_straight(&b2, 0x1010, 7);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b2, 0);
    wb_ran(&f.w, &b2, 0);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b2, 0);
    finish(&f);
    EXPECT(&f, .kind = VS_BRANCH, .pc = 0x1003, .addr = 0x1010, .size = 2, .icount = 4,
           .flags = VS_BR_TAKEN);
    EXPECT(&f, .kind = VS_BRANCH, .pc = 0x1003, .addr = 0x1010, .size = 2, .icount = 18,
           .flags = VS_BR_TAKEN);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .icount = 7);
    CHECK_EQ(icounts(&f), 4 + 7 + 7 + 4 + 7);
    CHECK_EQ(vs_assembler_stats(f.a).instructions, 29);
    CHECK_EQ(vs_assembler_stats(f.a).events, f.got.count);
    teardown(&f);
}

/* Operands of every source; with `guarded`, by the way that expects some not to happen. */
static void check_sources(bool guarded)
{
    struct fixture f;
    uint8_t wide[32];
    unsigned o;
    const struct vs_event *e;

    for (unsigned i = 0; i < sizeof(wide); i++)
        wide[i] = (uint8_t)(200 + i);
    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "90");
    wb_insn(&b, "48 8b 03");
    wb_op(&b, WIRE_LOAD, 0, 4); /* 0: recorded */
    o = wb_op(&b, WIRE_STORE, WIRE_ADDR_OF | WIRE_VALUE_OF, 4);
    b.ops[o].of = 0;
    b.ops[o].addr = (uint64_t)-16;
    b.ops[o].value = 0;
    wb_insn(&b, "90");
    wb_insn(&b, "48 87 03");
    o = wb_op(&b, WIRE_STORE, WIRE_ADDR_CONST | WIRE_VALUE_CONST | WIRE_ATOMIC, 2); /* 2 */
    b.ops[o].addr = 0x7777;
    b.ops[o].value = 0x123456;
    wb_op(&b, WIRE_LOAD, WIRE_ADDR_CONST, 32); /* 3 */
    b.ops[3].addr = 0x8000;
    o = wb_op(&b, WIRE_STORE, WIRE_VALUE_OF, 32); /* 4 */
    b.ops[o].value = 3;
    wb_op(&b, WIRE_NONDET, 0, 8); /* 5 */
    if (guarded) {
        wb_op(&b, WIRE_LOAD, WIRE_GUARDED, 8); /* 6: happens */
        wb_insn(&b, "90");
        wb_op(&b, WIRE_STORE, WIRE_GUARDED, 8); /* 7: does not */
    }
    wb_end_to(&b, WIRE_BORING, 0x1000);
    wb_define(&f.w, &b);
    wb_exec(&f.w, &b);
    wb_addr(&f.w, &b, 0, 0x5000);
    wb_value(&f.w, &b, 0, 0x1122334455667788);
    wb_wide(&f.w, &b, 3, wide);
    wb_addr(&f.w, &b, 4, 0x9000);
    wb_value(&f.w, &b, 5, 42);
    if (guarded) {
        wb_guard(&f.w, &b, 6, true);
        wb_addr(&f.w, &b, 6, 0xa000);
        wb_value(&f.w, &b, 6, 43);
        wb_addr(&f.w, &b, 7, 0xb000);
    }
    wb_leave(&f.w, 0);
    finish(&f);
    EXPECT(&f, .kind = VS_LOAD, .pc = 0x1001, .addr = 0x5000, .value = 0x55667788, .size = 4,
           .icount = 2);
    EXPECT(&f, .kind = VS_STORE, .pc = 0x1001, .addr = 0x4ff0, .value = 0x55667788, .size = 4);
    EXPECT(&f, .kind = VS_STORE, .pc = 0x1005, .addr = 0x7777, .value = 0x3456, .size = 2,
           .icount = 2, .flags = VS_MEM_ATOMIC);
    e = EXPECT_KIND(&f, VS_LOAD, 0);
    CHECK_EQ(e->addr, 0x8000);
    CHECK_EQ(e->size, 32);
    CHECK_MEM(bytes_of(&f, e), wide, 32);
    e = EXPECT_KIND(&f, VS_STORE, 0);
    CHECK_EQ(e->addr, 0x9000);
    CHECK_MEM(bytes_of(&f, e), wide, 32);
    EXPECT(&f, .kind = VS_NONDET, .pc = 0x1005, .value = 42, .size = 8);
    if (guarded)
        EXPECT(&f, .kind = VS_LOAD, .pc = 0x1005, .addr = 0xa000, .value = 43, .size = 8);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .icount = guarded);
    CHECK_EQ(f.next, f.got.count);
    teardown(&f);
}

TEST(takes_operands_of_every_source)
{
    check_sources(false);
    check_sources(true);
}

/* A conditional branch at 0x1000, as hex, with a side exit and an end. */
static void check_cond(const char *hex, uint64_t target, uint64_t side, uint64_t end,
                       bool side_taken)
{
    struct fixture f;
    unsigned size;

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, hex);
    size = b.head.code;
    wb_exit_to(&b, WIRE_BORING, side);
    wb_end_to(&b, WIRE_BORING, end);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b, 1);
    finish(&f);
    for (int i = 0; i < 2; i++)
        EXPECT(&f, .kind = VS_BRANCH, .pc = 0x1000, .addr = target, .size = (uint16_t)size,
               .icount = 1,
               .flags = (uint8_t)(VS_BR_COND | ((i == 0) == side_taken ? VS_BR_TAKEN : 0)));
    expect_end(&f);
    teardown(&f);
}

TEST(tells_the_outcome_of_conditional_branches)
{
    check_cond("74 10", 0x1012, 0x1012, 0x1002, true);
    check_cond("75 10", 0x1012, 0x1002, 0x1012, false);
    check_cond("0f 84 10 00 00 00", 0x1016, 0x1016, 0x1006, true);
    check_cond("e2 fe", 0x1000, 0x1000, 0x1002, true);
    /* both ways lead to the same place */
    check_cond("74 00", 0x1002, 0x1002, 0x1002, true);
    check_cond("75 00", 0x1002, 0x1002, 0x1002, false);
    check_cond("0f 84 00 00 00 00", 0x1006, 0x1006, 0x1006, true);
    check_cond("0f 85 00 00 00 00", 0x1006, 0x1006, 0x1006, false);
    check_cond("3e 74 00", 0x1003, 0x1003, 0x1003, true);
    check_cond("3e 75 00", 0x1003, 0x1003, 0x1003, false);
    check_cond("2e 2e 2e 2e 75 00", 0x1006, 0x1006, 0x1006, false);
    check_cond("67 e3 00", 0x1003, 0x1003, 0x1003, true);
}

TEST(takes_targets_of_indirect_branches)
{
    struct fixture f;

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "ff d0"); /* call rax */
    wb_op(&b, WIRE_STORE, WIRE_VALUE_CONST, 8);
    b.ops[0].value = 0x1002;
    wb_end_indirect(&b);
    wb_define(&f.w, &b);
    wb_exec(&f.w, &b);
    wb_addr(&f.w, &b, 0, 0x5000);
    wb_target(&f.w, &b, 0, 0xabcdef);
    wb_leave(&f.w, 0);
    wb_block_init(&b2, 0xabcdef);
    wb_insn(&b2, "c3");
    wb_end_to(&b2, WIRE_BORING, 0x1002); /* known when it was translated */
    wb_define(&f.w, &b2);
    wb_ran(&f.w, &b2, 0);
    finish(&f);
    EXPECT(&f, .kind = VS_STORE, .pc = 0x1000, .addr = 0x5000, .value = 0x1002, .size = 8,
           .icount = 1);
    EXPECT(&f, .kind = VS_BRANCH, .pc = 0x1000, .addr = 0xabcdef, .size = 2,
           .flags = VS_BR_INDIRECT | VS_BR_CALL | VS_BR_TAKEN);
    EXPECT(&f, .kind = VS_BRANCH, .pc = 0xabcdef, .addr = 0x1002, .size = 1, .icount = 1,
           .flags = VS_BR_INDIRECT | VS_BR_RETURN | VS_BR_TAKEN);
    expect_end(&f);
    teardown(&f);
}

/* ---- repeated instructions ------------------------------------------------------------------- */

TEST(counts_a_repeated_instruction_once)
{
    struct fixture f;

    setup(&f);
    make_rep(&b, 0x1000, 2);  /* at 0x1002 */
    make_rep(&b2, 0x1002, 0); /* where it goes on */
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    run_rep(&f.w, &b, 0);
    run_rep(&f.w, &b2, 1);
    run_rep(&f.w, &b2, 2);
    wb_ran(&f.w, &b2, 0);  /* nothing left */
    run_rep(&f.w, &b2, 3); /* begins anew */
    wb_ran(&f.w, &b2, 0);
    wb_ran(&f.w, &b2, 0); /* nothing to begin with: counted */
    finish(&f);
    expect_rep(&f, 0x1002, 0, 3, 0);
    expect_rep(&f, 0x1002, 1, 0, VS_MEM_REPEAT);
    expect_rep(&f, 0x1002, 2, 0, VS_MEM_REPEAT);
    expect_rep(&f, 0x1002, 3, 1, 0);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .icount = 1);
    CHECK_EQ(icounts(&f), 5);
    teardown(&f);
}

TEST(counts_a_repeated_instruction_once_when_operands_are_not_recorded)
{
    struct fixture f;
    struct wire_regs at = wb_regs(0x1000), handler = wb_regs(0x3000);
    const struct vs_event *e;

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "f3 a4");
    wb_exit_to(&b, WIRE_BORING, 0x1002);
    wb_end_to(&b, WIRE_BORING, 0x1000);
    wb_define(&f.w, &b);
    for (int i = 0; i < 5; i++)
        wb_ran(&f.w, &b, 1);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b, 1);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 14, &at);
    wb_resume(&f.w, 1, &handler);
    finish(&f);
    e = EXPECT_KIND(&f, VS_EXCEPTION, 2);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_ITERATIONS), 1);
    expect_end(&f);
    teardown(&f);
}

TEST(resumes_a_repeated_instruction_after_a_signal)
{
    struct fixture f;
    struct wire_regs at = wb_regs(0x1000), handler = wb_regs(0x3000);
    const struct vs_event *e;

    setup(&f);
    make_rep(&b, 0x1000, 0);
    make_call(&b2, 0x3000); /* the handler: nothing but rt_sigreturn */
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    run_rep(&f.w, &b, 0);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 14, &at);
    wb_resume(&f.w, 1, &handler);
    wb_ran(&f.w, &b2, 0);
    handler.rip = 0x3003;
    wb_signal(&f.w, WIRE_RETURN, 1, 0, &handler);
    wb_resume(&f.w, 1, &at);
    run_rep(&f.w, &b, 1);
    run_rep(&f.w, &b, 2);
    wb_exec(&f.w, &b);
    wb_fault(&f.w, 0); /* an iteration faults */
    wb_signal(&f.w, WIRE_SIGNAL, 1, 11, &at);
    handler.rip = 0x3000;
    wb_resume(&f.w, 1, &handler);
    wb_ran(&f.w, &b2, 0);
    wb_signal(&f.w, WIRE_RETURN, 1, 0, &handler);
    wb_resume(&f.w, 1, &at);
    wb_ran(&f.w, &b, 0);
    finish(&f);
    expect_rep(&f, 0x1000, 0, 1, 0);
    e = EXPECT_KIND(&f, VS_EXCEPTION, 0);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_ITERATIONS), 1);
    e = EXPECT_KIND(&f, VS_EXCEPTION_RET, 2);
    CHECK_EQ(e->pc, 0x3001);
    CHECK_EQ(e->addr, 0x1000);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_ITERATIONS), 1);
    expect_rep(&f, 0x1000, 1, 0, VS_MEM_REPEAT);
    expect_rep(&f, 0x1000, 2, 0, VS_MEM_REPEAT);
    e = EXPECT_KIND(&f, VS_EXCEPTION, 0);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_ITERATIONS), 3);
    e = EXPECT_KIND(&f, VS_EXCEPTION_RET, 2);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_ITERATIONS), 3);
    expect_end(&f);
    teardown(&f);
}

TEST(begins_a_repeated_instruction_anew_where_a_handler_went)
{
    struct fixture f;
    struct wire_regs at = wb_regs(0x1000), handler = wb_regs(0x3000), other = wb_regs(0x4000);
    const struct vs_event *e;

    setup(&f);
    make_rep(&b, 0x1000, 0);
    make_call(&b2, 0x3000);
    make_nops(&b3, 0x4000, 0, 0x4000);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_define(&f.w, &b3);
    run_rep(&f.w, &b, 0);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 14, &at);
    wb_resume(&f.w, 1, &handler);
    wb_ran(&f.w, &b2, 0);
    wb_signal(&f.w, WIRE_RETURN, 1, 0, &handler);
    wb_resume(&f.w, 1, &other); /* the handler changed where to go on */
    wb_ran(&f.w, &b3, 0);
    run_rep(&f.w, &b, 1);
    finish(&f);
    expect_rep(&f, 0x1000, 0, 1, 0);
    EXPECT_KIND(&f, VS_EXCEPTION, 0);
    e = EXPECT_KIND(&f, VS_EXCEPTION_RET, 2);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_ITERATIONS), -1);
    EXPECT_KIND(&f, VS_BRANCH, 1);
    expect_rep(&f, 0x1000, 1, 1, 0);
    expect_end(&f);
    teardown(&f);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

TEST(puts_what_a_call_wrote_before_the_call)
{
    struct fixture f;
    struct vs_syscall_head head;
    const struct vs_event *e;
    uint8_t data[40];

    memset(data, 7, sizeof(data));
    setup(&f);
    make_call(&b, 0x1000);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_external(&f.w, 1, 0x5000, data, 3);
    wb_external(&f.w, 1, 0x6000, data, 40);
    wb_external(&f.w, 1, 0x6000, data, 0);
    wb_syscall(&f.w, 1, 231, 0x99);
    wb_external(&f.w, 1, 0x7000, data, 8);
    finish(&f);
    EXPECT(&f, .kind = VS_EXTERNAL, .pc = 0x1001, .addr = 0x5000, .value = 0x070707, .size = 3,
           .icount = 1);
    e = EXPECT_KIND(&f, VS_EXTERNAL, 0);
    CHECK_MEM(bytes_of(&f, e), data, 40);
    e = EXPECT_KIND(&f, VS_SYSCALL, 1);
    CHECK_EQ(e->pc, 0x1001);
    CHECK_EQ(e->addr, 231);
    memcpy(&head, bytes_of(&f, e), sizeof(head));
    CHECK_EQ(head.args[5], 6);
    CHECK_EQ(head.result, 0x99);
    CHECK_EQ(reg_of(&f, e, sizeof(head), REG_RAX), 0x99);
    CHECK_EQ(reg_of(&f, e, sizeof(head), REG_RCX), 0xc);
    CHECK_EQ(reg_of(&f, e, sizeof(head), REG_R11), 0x11);
    EXPECT(&f, .kind = VS_EXTERNAL, .addr = 0x7000, .value = 0x0707070707070707, .size = 8);
    expect_end(&f);
    teardown(&f);
}

TEST(counts_calls_that_were_not_reported)
{
    struct fixture f;

    setup(&f);
    make_call(&b, 0x1000);
    wb_block_init(&b2, 0x1001); /* the call itself, tried again */
    wb_insn(&b2, "0f 05");
    wb_end_to(&b2, WIRE_TO_SYSCALL, 0x1003);
    make_nops(&b3, 0x1003, 0, 0x1003);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_define(&f.w, &b3);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b2, 0); /* restarted: the first did not retire */
    wb_syscall(&f.w, 1, 1, 0);
    wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b3, 0); /* not observed: it did */
    finish(&f);
    EXPECT_KIND(&f, VS_SYSCALL, 2);
    EXPECT_KIND(&f, VS_BRANCH, 3);
    expect_end(&f);
    teardown(&f);
}

TEST(says_which_registers_a_signal_changed)
{
    struct fixture f;
    struct wire_regs before = wb_regs(0x1003), after = before;
    const struct vs_event *e;

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "90");
    wb_insn(&b, "8b 03");
    wb_op(&b, WIRE_LOAD, 0, 4);
    wb_end_to(&b, WIRE_BORING, 0x1003);
    make_call(&b2, 0x3000);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_ran(&f.w, &b, 0);
    after.rip = 0x3000;
    after.gpr[4] = 0x8888; /* rsp */
    after.ymm[3][17]++;
    wb_signal(&f.w, WIRE_SIGNAL, 1, 11, &before);
    wb_resume(&f.w, 1, &after);
    wb_resume(&f.w, 1, &after); /* means nothing */
    wb_ran(&f.w, &b2, 0);
    after.rip = 0x3003;
    wb_signal(&f.w, WIRE_RETURN, 1, 0, &after);
    wb_resume(&f.w, 1, &before);
    finish(&f);
    EXPECT_KIND(&f, VS_LOAD, 2);
    e = EXPECT_KIND(&f, VS_EXCEPTION, 0);
    CHECK_EQ(e->pc, 0x1003);
    CHECK_EQ(e->addr, 0x3000);
    CHECK_EQ(reg_count(&f, e), 4);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_CAUSE), 11);
    CHECK_EQ(reg_of(&f, e, 0, VS_REG_PC), 0x3000);
    CHECK_EQ(reg_of(&f, e, 0, 7), 0x8888);
    CHECK(reg_of(&f, e, 0, 17 + 3) != -1);
    e = EXPECT_KIND(&f, VS_EXCEPTION_RET, 2);
    CHECK_EQ(e->pc, 0x3001);
    CHECK_EQ(e->addr, 0x1003);
    CHECK_EQ(reg_count(&f, e), 3);
    CHECK_EQ(reg_of(&f, e, 0, 7), 0x104);
    expect_end(&f);
    teardown(&f);
}

/* What faults, or is a call that is made again, may have set registers before. */
TEST(says_all_registers_after_part_of_an_instruction)
{
    struct fixture f;
    struct wire_regs at = wb_regs(0x1001), handler = wb_regs(0x3000);
    const struct vs_event *e;

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "90");
    wb_insn(&b, "50"); /* push rax */
    wb_op(&b, WIRE_STORE, 0, 8);
    wb_end_to(&b, WIRE_BORING, 0x1002);
    make_call(&b2, 0x2000);
    make_straight(&b3, 0x3000, 1);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_define(&f.w, &b3);
    wb_exec(&f.w, &b);
    wb_fault(&f.w, 1);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 11, &at);
    wb_resume(&f.w, 1, &handler);
    at.rip = 0x2001;
    wb_ran(&f.w, &b2, 0);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 14, &at);
    wb_resume(&f.w, 1, &handler);
    wb_ran(&f.w, &b3, 0);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 14, &at);
    wb_resume(&f.w, 1, &handler);
    finish(&f);
    for (unsigned i = 0; i < 2; i++) {
        e = EXPECT_KIND(&f, VS_EXCEPTION, 1);
        CHECK_EQ(e->pc, i ? 0x2001 : 0x1001);
        CHECK_EQ(reg_of(&f, e, 0, REG_RCX), 0x101);
        CHECK_EQ(reg_of(&f, e, 0, 41 + 7), 0); /* of x87 too, whatever they are */
    }
    e = EXPECT_KIND(&f, VS_EXCEPTION, 1);
    CHECK_EQ(reg_count(&f, e), 2);
    expect_end(&f);
    teardown(&f);
}

TEST(does_not_count_what_faults)
{
    struct fixture f;
    struct wire_regs at = wb_regs(0x1002), handler = wb_regs(0x3000);

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "90");
    wb_insn(&b, "90");
    wb_insn(&b, "f7 f1"); /* div ecx */
    wb_exit_to(&b, WIRE_TO_FAULT, 0x1002);
    wb_insn(&b, "cc");
    wb_end_to(&b, WIRE_TO_TRAP, 0x1005);
    wb_define(&f.w, &b);
    for (unsigned x = 0; x < 2; x++) {
        wb_ran(&f.w, &b, x);
        wb_signal(&f.w, WIRE_SIGNAL, 1, 8, &at);
        wb_resume(&f.w, 1, &handler);
    }
    finish(&f);
    EXPECT_KIND(&f, VS_EXCEPTION, 2);
    EXPECT_KIND(&f, VS_EXCEPTION, 4);
    expect_end(&f);
    teardown(&f);
}

TEST(takes_what_valgrind_could_not_decode)
{
    struct fixture f;
    struct wire_regs at = wb_regs(0x1001), handler = wb_regs(0x3000);

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "90");
    wb_insn(&b, "");
    wb_end_to(&b, WIRE_TO_FAULT, 0x1001);
    wb_block_init(&b2, 0x2000);
    wb_insn(&b2, "");
    wb_end_to(&b2, WIRE_TO_FAULT, 0x2000);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_ran(&f.w, &b, 0);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 4, &at);
    wb_resume(&f.w, 1, &handler);
    wb_ran(&f.w, &b2, 0);
    wb_signal(&f.w, WIRE_SIGNAL, 1, 4, &at);
    wb_resume(&f.w, 1, &handler);
    finish(&f);
    CHECK_EQ(f.got.block_count, 1);
    CHECK_EQ(f.got.blocks[0].size, 1);
    CHECK_EQ(f.got.blocks[0].insns, 1);
    EXPECT_KIND(&f, VS_EXCEPTION, 1);
    EXPECT_KIND(&f, VS_EXCEPTION, 0);
    expect_end(&f);
    teardown(&f);
}

TEST(says_what_a_client_request_got)
{
    struct fixture f;

    setup(&f);
    wb_block_init(&b, 0x1000);
    wb_insn(&b, "48 c1 c7 33");
    wb_insn(&b, "48 87 db");
    wb_end_to(&b, WIRE_TO_REQUEST, 0x1007);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_request(&f.w, 1, 99);
    finish(&f);
    EXPECT(&f, .kind = VS_NONDET, .pc = 0x1004, .size = 8, .value = 99, .icount = 2);
    expect_end(&f);
    teardown(&f);
}

TEST(refuses_what_nobody_asked_for)
{
    struct fixture f;

    setup(&f);
    wb_request(&f.w, 1, 99);
    CHECK_ERR(feed(&f), VSE_CORRUPT);
    teardown(&f);
}

TEST(says_which_bases_a_call_changed)
{
    struct fixture f;
    const size_t head = sizeof(struct vs_syscall_head);
    const struct vs_event *e;

    setup(&f);
    make_call(&b, 0x1000);
    wb_define(&f.w, &b);
    for (unsigned i = 0; i < 2; i++) {
        wb_ran(&f.w, &b, 0);
        wb_base_call(&f.w, 1, 158, 0, 0x500);
    }
    finish(&f);
    e = EXPECT_KIND(&f, VS_SYSCALL, 2);
    CHECK_EQ(reg_of(&f, e, head, 58), 0x7500);
    CHECK_EQ(reg_of(&f, e, head, 59), -1);
    e = EXPECT_KIND(&f, VS_SYSCALL, 2);
    CHECK_EQ(reg_of(&f, e, head, 58), -1);
    expect_end(&f);
    teardown(&f);
}

/* ---- threads --------------------------------------------------------------------------------- */

TEST(keeps_the_counts_of_threads_apart)
{
    struct fixture f;

    setup(&f);
    wb_start(&f.w, 9, 78, 0x2000);
    make_straight(&b, 0x1000, 5);
    make_nops(&b2, 0x2000, 1, 0x2000);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    wb_ran(&f.w, &b, 0);
    wb_run(&f.w, 9);
    wb_ran(&f.w, &b2, 0);
    wb_run(&f.w, 1);
    wb_ran(&f.w, &b2, 0);
    wb_exit(&f.w, 9, 3);
    wb_start(&f.w, 9, 79, 0x2000); /* the number is used again */
    wb_run(&f.w, 9);
    wb_ran(&f.w, &b2, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_THREAD_START, 0);
    CHECK_EQ(EXPECT_KIND(&f, VS_BRANCH, 2)->thread, 1);
    CHECK_EQ(EXPECT_KIND(&f, VS_BRANCH, 7)->thread, 0);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .thread = 1, .value = 3);
    CHECK_EQ(EXPECT_KIND(&f, VS_THREAD_START, 0)->thread, 2);
    CHECK_EQ(EXPECT_KIND(&f, VS_BRANCH, 2)->thread, 2);
    EXPECT(&f, .kind = VS_THREAD_EXIT);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .thread = 2);
    teardown(&f);
}

TEST(ends_everything_when_another_program_begins)
{
    struct fixture f;

    setup(&f);
    make_nops(&b, 0x1000, 1, 0x1000);
    make_nops(&b2, 0x1000, 2, 0x1000);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    CHECK_EQ(feed(&f), 0);
    wb_hello(&f.w);
    wb_start(&f.w, 1, 77, 0x1000);
    wb_define(&f.w, &b2); /* number 1 again, other bytes at the same place */
    wb_run(&f.w, 1);
    wb_ran(&f.w, &b2, 0);
    wb_simple(&f.w, WIRE_FORK, 1);
    wb_simple(&f.w, WIRE_BYE, 1);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 2);
    EXPECT(&f, .kind = VS_THREAD_EXIT);
    EXPECT(&f, .kind = VS_MAP, .pc = VS_NO_IMAGE, .value = UINT64_C(1) << 47, .flags = VS_MAP_GONE);
    CHECK_EQ(EXPECT_KIND(&f, VS_THREAD_START, 0)->thread, 1);
    EXPECT(&f, .kind = VS_CODE, .value = 1);
    CHECK_EQ(EXPECT_KIND(&f, VS_BRANCH, 3)->thread, 1);
    EXPECT(&f, .kind = VS_THREAD_EXIT, .thread = 1);
    CHECK_EQ(vs_assembler_stats(f.a).programs, 2);
    CHECK_EQ(vs_assembler_stats(f.a).forks, 1);
    CHECK(vs_assembler_stats(f.a).ended);
    teardown(&f);
}

/* ---- code and mappings ----------------------------------------------------------------------- */

TEST(says_when_code_changes_and_changes_back)
{
    struct fixture f;

    setup(&f);
    make_nops(&b, 0x1000, 1, 0x1000);
    make_straight(&b2, 0x1000, 3);
    make_straight(&b3, 0x0ffe, 3); /* overlaps, with the same bytes */
    wb_define(&f.w, &b);
    wb_define(&f.w, &b3);
    wb_ran(&f.w, &b, 0);
    wb_define(&f.w, &b2);
    wb_define(&f.w, &b2); /* the same again: nothing changed */
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 2);
    EXPECT(&f, .kind = VS_CODE, .value = 2);
    EXPECT(&f, .kind = VS_CODE, .value = 4);
    EXPECT_KIND(&f, VS_BRANCH, 2);
    expect_end(&f);
    teardown(&f);
}

/* A block is described once, however often it is translated. */
TEST(puts_code_back_that_is_translated_again)
{
    struct fixture f;

    setup(&f);
    make_nops(&b, 0x1000, 1, 0x1000);
    make_straight(&b2, 0x1000, 3);
    wb_define(&f.w, &b);
    wb_again(&f.w, &b); /* nothing changed */
    wb_ran(&f.w, &b, 0);
    wb_define(&f.w, &b2);
    wb_again(&f.w, &b2);
    wb_ran(&f.w, &b2, 0);
    wb_again(&f.w, &b);
    wb_again(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_again(&f.w, &b2);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 2);
    EXPECT(&f, .kind = VS_CODE, .value = 1);
    EXPECT(&f, .kind = VS_CODE, .value = 0, .icount = 3);
    EXPECT_KIND(&f, VS_BRANCH, 2);
    EXPECT(&f, .kind = VS_CODE, .value = 1);
    expect_end(&f);
    teardown(&f);
}

TEST(announces_images_before_they_are_mapped)
{
    struct fixture f;
    uint32_t rx = WIRE_MAP_READ | WIRE_MAP_EXEC;

    setup(&f);
    wb_map(&f.w, 0x400000, 0x400000, rx, "/proc/self/exe");
    wb_map(&f.w, 0x400000, 0x400000, rx, "/proc/self/exe"); /* known already */
    wb_map(&f.w, 0x800000, 0x1000, rx, "/proc/self/nonsense");
    wb_map(&f.w, 0x900000, 0x1000, WIRE_MAP_READ, "/proc/self/exe");
    wb_map(&f.w, 0xa00000, 0x1000, WIRE_MAP_GONE, "");
    finish(&f);
    CHECK_EQ(f.got.images, 1);
    EXPECT(&f, .kind = VS_MAP, .pc = 0, .addr = 0x400000, .value = 0x400000, .flags = 5);
    EXPECT(&f, .kind = VS_MAP, .pc = 0, .addr = 0x400000, .value = 0x400000, .flags = 5);
    EXPECT(&f, .kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = 0x800000, .value = 0x1000, .flags = 5);
    EXPECT(&f, .kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = 0x900000, .value = 0x1000, .flags = 1);
    EXPECT(&f, .kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = 0xa00000, .value = 0x1000, .flags = 8);
    expect_end(&f);
    teardown(&f);
}

/* ---- much ------------------------------------------------------------------------------------ */

TEST(counts_long_stretches_without_events)
{
    struct fixture f;
    const unsigned each = 4000, times = 100;

    setup(&f);
    make_straight(&b, 0x1000, each);
    make_nops(&b2, 0x1000 + each, 0, 0x1000 + each);
    wb_define(&f.w, &b);
    wb_define(&f.w, &b2);
    for (unsigned i = 0; i < times; i++)
        wb_ran(&f.w, &b, 0);
    wb_ran(&f.w, &b2, 0);
    finish(&f);
    CHECK_EQ(icounts(&f), (uint64_t)each * times + 1);
    while (f.got.events[f.next].kind == VS_COUNT)
        CHECK(next_event(&f)->icount > 32768);
    CHECK(f.next > 5);
    CHECK_EQ(next_event(&f)->kind, VS_BRANCH);
    expect_end(&f);
    teardown(&f);
}

/* Blocks with as many operands as there may be, plain and guarded in turn: a parcel ends within
 * each. */
TEST(takes_more_events_than_a_parcel_holds)
{
    struct fixture f;
    const unsigned ops = 2000, times = 6 * VS_PARCEL_EVENTS / ops;

    setup(&f);
    for (int guarded = 0; guarded < 2; guarded++) {
        struct wb_block *x = guarded ? &b2 : &b;

        wb_block_init(x, 0x1000);
        wb_insn(x, "eb fe");
        for (unsigned i = 0; i < ops; i++)
            wb_op(x, WIRE_LOAD, (guarded && i == 0 ? WIRE_GUARDED : 0) | WIRE_ADDR_CONST, 8);
        wb_end_to(x, WIRE_BORING, 0x1000);
        wb_define(&f.w, x);
    }
    for (unsigned n = 0; n < times; n++) {
        struct wb_block *x = n & 1 ? &b2 : &b;

        wb_exec(&f.w, x);
        for (unsigned i = 0; i < ops; i++)
            wb_value(&f.w, x, i, n * ops + i);
        if (n & 1)
            wb_guard(&f.w, x, 0, true);
        wb_leave(&f.w, 0);
    }
    finish(&f);
    CHECK(f.got.parcels > 5);
    for (unsigned n = 0; n < times; n++) {
        for (unsigned i = 0; i < ops; i++)
            CHECK_EQ(EXPECT_KIND(&f, VS_LOAD, i == 0)->value, n * ops + i);
        EXPECT_KIND(&f, VS_BRANCH, 0);
    }
    expect_end(&f);
    teardown(&f);
}

TEST(takes_more_wide_values_than_a_parcel_holds)
{
    static uint8_t bytes[60000];
    struct fixture f;
    const unsigned times = 100;

    setup(&f);
    for (int guarded = 0; guarded < 2; guarded++) {
        struct wb_block *x = guarded ? &b2 : &b;

        wb_block_init(x, 0x1000);
        wb_insn(x, "90");
        wb_op(x, WIRE_STORE, WIRE_ADDR_CONST | (guarded ? WIRE_GUARDED : 0), sizeof(bytes));
        wb_end_to(x, WIRE_BORING, 0x1001);
        wb_define(&f.w, x);
    }
    for (unsigned n = 0; n < times; n++) {
        struct wb_block *x = n & 1 ? &b2 : &b;

        memset(bytes, (int)n, sizeof(bytes));
        wb_exec(&f.w, x);
        wb_wide(&f.w, x, 0, bytes);
        if (n & 1)
            wb_guard(&f.w, x, 0, true);
        wb_leave(&f.w, 0);
        wb_external(&f.w, 1, 0x5000, bytes, 30000);
    }
    finish(&f);
    CHECK(f.got.parcels > 5);
    for (unsigned n = 0; n < times; n++) {
        const struct vs_event *e = EXPECT_KIND(&f, VS_STORE, 1);

        CHECK_EQ(bytes_of(&f, e)[0], n);
        CHECK_EQ(bytes_of(&f, e)[sizeof(bytes) - 1], n);
        CHECK_EQ(bytes_of(&f, EXPECT_KIND(&f, VS_EXTERNAL, 0))[29999], n);
    }
    expect_end(&f);
    teardown(&f);
}

TEST(takes_a_stream_in_any_pieces)
{
    struct fixture f;

    setup(&f);
    make_nops(&b, 0x1000, 1, 0x1000);
    wb_define(&f.w, &b);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(feed(&f), 0);
        wb_ran(&f.w, &b, 0);
    }
    CHECK_EQ(feed(&f), 0);
    CHECK_EQ(feed(&f), 0); /* nothing but an end */
    finish(&f);
    CHECK_EQ(icounts(&f), 6);
    teardown(&f);
}

/* As long as a buffer is in use, its last slot says what runs. */
TEST(ignores_what_runs_after_the_last_slot)
{
    struct fixture f;
    struct wire_slot last = {1, 1};

    setup(&f);
    make_nops(&b, 0x1000, 1, 0x1000);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    wb_put(&f.w, &last, sizeof(last));
    CHECK_EQ(vs_assembler_take(f.a, f.w.out.data, f.w.out.len, &f.diag, &f.theirs), 0);
    wb_fini(&f.w);
    finish(&f);
    EXPECT_KIND(&f, VS_BRANCH, 2);
    expect_end(&f);
    teardown(&f);
}

/* ---- errors of the consumer ------------------------------------------------------------------ */

TEST(passes_on_errors_of_the_consumer)
{
    struct fixture f;
    int e = 0;

    setup(&f);
    f.got.fail_at = 2;
    f.got.put_error = -VSE_CORRUPT; /* ours too, but not here */
    make_nops(&b, 0x1000, 1, 0x1000);
    wb_define(&f.w, &b);
    for (int i = 0; i < 20 && e == 0; i++) {
        for (int n = 0; n < 5000; n++)
            wb_ran(&f.w, &b, 0);
        e = feed(&f);
    }
    CHECK_EQ(e, -VSE_CORRUPT);
    CHECK(f.theirs);
    CHECK_EQ(f.diag.error, 0);
    teardown(&f);

    setup(&f);
    f.got.fail_at = 1;
    f.got.put_error = -VSE_IO;
    CHECK_EQ(feed(&f), 0);
    CHECK_ERR(vs_assembler_finish(f.a, &f.diag, &f.theirs), VSE_IO);
    CHECK(f.theirs);
    teardown(&f);

    setup(&f);
    f.got.block_error = -VSE_NOMEM;
    make_nops(&b, 0x1000, 1, 0x1000);
    wb_define(&f.w, &b);
    CHECK_ERR(feed(&f), VSE_NOMEM);
    CHECK(f.theirs);
    CHECK_EQ(f.diag.error, 0);
    teardown(&f);

    setup(&f);
    f.got.image_error = -VSE_LIMIT;
    wb_map(&f.w, 0x400000, 0x400000, WIRE_MAP_EXEC, "/proc/self/exe");
    CHECK_ERR(feed(&f), VSE_LIMIT);
    CHECK(f.theirs);
    CHECK_EQ(f.diag.error, 0);
    teardown(&f);
}
