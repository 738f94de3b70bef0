/* SPDX-License-Identifier: MIT */
/* Streams that no tool would send. */
#include "assembling.h"

static struct wb_block b;

/* What was built is refused, with a reason. */
static void refuse_at(struct fixture *f, int line)
{
    int e = feed(f);

    if (e != -VSE_CORRUPT || f->theirs || f->diag.error != e || !f->diag.text[0])
        unittest_fail(__FILE__, line, "not refused: %d", e);
    teardown(f);
}

#define REFUSE(f) refuse_at(f, __LINE__)

/* A load, and a store that takes all from it, of a block that is right. */
static void make_right(struct wb_block *x)
{
    wb_block_init(x, 0x1000);
    wb_insn(x, "90");
    wb_insn(x, "90");
    wb_op(x, WIRE_LOAD, 0, 16);
    wb_op(x, WIRE_STORE, WIRE_ADDR_OF | WIRE_VALUE_OF, 16);
    wb_op(x, WIRE_NONDET, 0, 8);
    wb_end_to(x, WIRE_BORING, 0x1002);
}

#define REFUSE_BLOCK(lie)                                                                          \
    do {                                                                                           \
        setup(&f);                                                                                 \
        make_right(&b);                                                                            \
        lie;                                                                                       \
        wb_define(&f.w, &b);                                                                       \
        REFUSE(&f);                                                                                \
    } while (0)

TEST(refuses_blocks_that_lie)
{
    struct fixture f;

    setup(&f);
    make_right(&b);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0);
    finish(&f); /* nothing is wrong with it */
    teardown(&f);
    REFUSE_BLOCK(b.head.insns = 0);
    REFUSE_BLOCK(b.head.insns = 4097);
    REFUSE_BLOCK(b.head.exits = 0);
    REFUSE_BLOCK(b.head.length = 0);
    REFUSE_BLOCK(b.head.length += 4);
    REFUSE_BLOCK(b.head.length = WIRE_RECORD_MAX + 8);
    REFUSE_BLOCK(b.head.addr = UINT64_MAX);
    REFUSE_BLOCK(b.lengths[0] = 2);
    REFUSE_BLOCK((b.lengths[0] = 0, b.lengths[1] = 2));
    REFUSE_BLOCK(b.ops[0].insn = 2);
    REFUSE_BLOCK((b.ops[0].insn = 1, b.ops[1].insn = 0));
    REFUSE_BLOCK(b.ops[0].kind = 0);
    REFUSE_BLOCK(b.ops[0].kind = WIRE_NONDET + 1);
    REFUSE_BLOCK(b.ops[0].size = 0);
    REFUSE_BLOCK(b.ops[0].size = 60000);
    REFUSE_BLOCK(b.ops[0].addr_at = (uint16_t)b.head.length);
    REFUSE_BLOCK(b.ops[0].value_at = (uint16_t)(b.head.length - 8));
    REFUSE_BLOCK(b.ops[0].flags = WIRE_VALUE_CONST);
    REFUSE_BLOCK((b.ops[0].flags = WIRE_GUARDED, b.ops[0].guard_at = 60000));
    REFUSE_BLOCK(b.ops[0].flags = WIRE_GUARDED); /* what the store takes may not be there */
    REFUSE_BLOCK(b.ops[1].of = 1);
    REFUSE_BLOCK(b.ops[1].value = 1);
    REFUSE_BLOCK(b.ops[1].value = UINT64_MAX);
    REFUSE_BLOCK(b.ops[1].size = 8);
    REFUSE_BLOCK(b.ops[1].flags |= WIRE_VALUE_CONST);
    REFUSE_BLOCK(b.ops[1].flags |= WIRE_ADDR_CONST);
    REFUSE_BLOCK(b.ops[2].flags = WIRE_ATOMIC);
    REFUSE_BLOCK(b.ops[2].flags = WIRE_ADDR_CONST);
    REFUSE_BLOCK(b.ops[2].addr = 1);
    REFUSE_BLOCK(b.exits[0].insn = 2);
    REFUSE_BLOCK(b.exits[0].ops = 4);
    REFUSE_BLOCK(b.exits[0].target_at = 60000);
    REFUSE_BLOCK(b.exits[0].leave = 0);
    REFUSE_BLOCK(b.exits[0].leave = WIRE_TO_REQUEST + 1);
    /* more than one operand in one place */
    REFUSE_BLOCK({
        for (int i = 0; i < 10; i++)
            b.ops[wb_op(&b, WIRE_LOAD, WIRE_VALUE_CONST, 16)].flags = 0;
        b.head.length = 64;
    });
    REFUSE_BLOCK(f.w.blocks++); /* not the next number */
}

TEST(refuses_streams_that_make_no_sense)
{
    struct fixture f;
    size_t at;

    open_with(&f, NULL, 0);
    wb_hello(&f.w);
    CHECK_ERR(vs_assembler_take(f.a, f.w.out.data, 0, NULL, &f.theirs), VSE_CORRUPT);
    CHECK_ERR(vs_assembler_take(f.a, f.w.out.data, 12, NULL, &f.theirs), VSE_CORRUPT);
    CHECK_ERR(vs_assembler_take(f.a, f.w.out.data + 4, 8, NULL, &f.theirs), VSE_CORRUPT);
    CHECK_ERR(vs_assembler_take(f.a, f.w.out.data, f.w.out.len, NULL, &f.theirs), VSE_CORRUPT);
    teardown(&f);

    open_with(&f, NULL, 0);
    wb_run(&f.w, 1); /* no such thread */
    REFUSE(&f);
    open_with(&f, NULL, 0);
    wb_start(&f.w, UINT32_MAX, 1, 0);
    REFUSE(&f);
    open_with(&f, NULL, 0);
    wb_start(&f.w, 65536, 1, 0);
    REFUSE(&f);
    open_with(&f, NULL, 0);
    make_nops(&b, 0x1000, 1, 0x1000);
    wb_define(&f.w, &b);
    wb_ran(&f.w, &b, 0); /* nobody runs */
    REFUSE(&f);

    setup(&f);
    b.head.number = 1;
    wb_ran(&f.w, &b, 0); /* not defined */
    REFUSE(&f);
    setup(&f);
    wb_simple(&f.w, WIRE_END, 1);
    REFUSE(&f);
    setup(&f);
    wb_slot(&f.w, 0);
    wb_simple(&f.w, WIRE_FORK, 1);
    REFUSE(&f);
    for (uint64_t number = 0; number < 3; number++) {
        setup(&f);
        wb_record(&f.w, WIRE_AGAIN, 1, &number, sizeof(number)); /* not defined */
        REFUSE(&f);
    }
    for (uint32_t kind = WIRE_BLOCK; kind < WIRE_END; kind++) {
        if (kind == WIRE_RUN || kind == WIRE_FORK || kind == WIRE_MADE || kind == WIRE_BYE ||
            kind == WIRE_TRIGGERED)
            continue;
        setup(&f);
        wb_simple(&f.w, kind, 1); /* too short */
        REFUSE(&f);
    }
    for (unsigned i = 0; i < 4; i++) {
        static const uint32_t sizes[] = {0, 12, 4096, WIRE_RECORD_MAX + 8};

        setup(&f);
        at = wb_record(&f.w, WIRE_FORK, 1, NULL, 0);
        memcpy(f.w.out.data + at - sizeof(struct wire_head), &sizes[i], 4);
        REFUSE(&f);
    }
    setup(&f);
    at = f.w.out.len;
    wb_external(&f.w, 1, 0x5000, "12345678", 8);
    memcpy(f.w.out.data + at + 24, &(uint64_t){9}, 8);
    REFUSE(&f);
}

TEST(refuses_commands_without_an_end)
{
    static const struct {
        uint64_t bytes;
        char words[8];
    } commands[] = {{0, ""}, {9, "1234567"}, {UINT64_MAX, ""}, {4, "abcdefg"}};
    struct fixture f;

    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        setup(&f);
        wb_record(&f.w, WIRE_COMMAND, 0, &commands[i], sizeof(commands[i]));
        REFUSE(&f);
    }
}

TEST(refuses_blocks_that_were_left_by_no_exit)
{
    static const uint32_t left[] = {0, 2, 3, WIRE_LEFT_FAULT - 1, WIRE_LEFT_FAULT | 3, UINT32_MAX};
    struct fixture f;

    for (unsigned i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        setup(&f);
        make_nops(&b, 0x1000, 1, 0x1000);
        wb_define(&f.w, &b);
        wb_exec(&f.w, &b);
        f.w.left = left[i];
        REFUSE(&f);
    }
}

TEST(limits_the_number_of_threads)
{
    struct fixture f;
    int e = 0;

    open_with(&f, NULL, 0);
    for (int i = 0; i < 66 && e == 0; i++) {
        for (int n = 0; n < 1000; n++) {
            wb_start(&f.w, 1, 1, 0);
            wb_exit(&f.w, 1, 0);
        }
        e = feed(&f);
    }
    CHECK_ERR(e, VSE_LIMIT);
    CHECK(!f.theirs);
    CHECK_EQ(f.diag.error, e);
    teardown(&f);
}
