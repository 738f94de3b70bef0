/* SPDX-License-Identifier: MIT */
/* Blocks that run often, whose records are delivered as they are. */
#include "assembling.h"

static struct wb_block b, b2, b3;

/* Loads and stores of several kinds, one after the other's address or value; ends by a return. */
static void make_mixed(struct wb_block *x, uint64_t addr)
{
    wb_block_init(x, addr);
    wb_insn(x, "90");
    wb_op(x, WIRE_LOAD, 0, 8);
    wb_op(x, WIRE_LOAD, WIRE_ADDR_OF, 4);
    x->ops[1].of = 0;
    x->ops[1].addr = 24;
    wb_insn(x, "90");
    wb_op(x, WIRE_STORE, WIRE_ADDR_OF | WIRE_VALUE_OF, 4);
    x->ops[2].of = 1;
    x->ops[2].addr = (uint64_t)-8;
    x->ops[2].value = 1;
    wb_op(x, WIRE_LOAD, WIRE_ADDR_CONST, 16);
    x->ops[3].addr = 0x7000;
    wb_op(x, WIRE_STORE, WIRE_VALUE_OF, 16);
    x->ops[4].value = 3;
    wb_op(x, WIRE_STORE, WIRE_VALUE_CONST, 2);
    x->ops[5].value = 0x12345;
    wb_insn(x, "c3");
    wb_end_indirect(x);
}

static void run_mixed(struct wb *w, const struct wb_block *x, uint64_t i)
{
    uint64_t wide[2] = {i, 3 * i};

    wb_exec(w, x);
    wb_addr(w, x, 0, 0x8000 + 8 * i);
    wb_value(w, x, 0, i * i);
    wb_value(w, x, 1, UINT64_C(0xffffffff00000000) + i);
    wb_wide(w, x, 3, wide);
    wb_addr(w, x, 4, 0x9000 + 16 * i);
    wb_addr(w, x, 5, 0xa000 - 2 * i);
    wb_word(w, x->exits[0].target_at, i % 3 ? 0x1000 : 0x2000);
    wb_leave(w, 0);
}

/* Blocks that run often, between others, so that some begin after instructions without events. */
static void run_often(struct fixture *f)
{
    wb_hello(&f->w);
    wb_start(&f->w, 1, 77, 0x1000);
    wb_start(&f->w, 2, 78, 0x1000);
    make_mixed(&b, 0x1000);
    make_straight(&b2, 0x2000, 3);
    make_rep(&b3, 0x3000, 1);
    wb_define(&f->w, &b);
    wb_define(&f->w, &b2);
    wb_define(&f->w, &b3);
    for (unsigned i = 0; i < 300; i++) {
        wb_run(&f->w, 1 + i / 20 % 2);
        for (unsigned k = 0; k < i % 4; k++) {
            wb_exec(&f->w, &b2);
            wb_leave(&f->w, 0);
        }
        run_mixed(&f->w, &b, i);
        run_mixed(&f->w, &b, i + 1);
        if (i % 50 == 49)
            run_rep(&f->w, &b3, i);
    }
    finish(f);
}

static void check_records(unsigned recipes)
{
    struct fixture f, g;

    open_with(&f, NULL, 0);
    run_often(&f);
    open_records(&g, recipes);
    run_often(&g);
    CHECK_EQ(f.got.records, 0);
    CHECK(g.got.records > (recipes ? 100 : 0) || !recipes);
    CHECK_EQ(f.got.count, g.got.count);
    for (size_t i = 0; i < f.got.count; i++)
        CHECK(memcmp(&f.got.events[i], &g.got.events[i], sizeof(struct vs_event)) == 0 ||
              f.got.events[i].size > 8);
    for (size_t i = 0; i < f.got.count; i++) {
        struct vs_event x = f.got.events[i], y = g.got.events[i];

        if (x.size <= 8 || x.kind == VS_BRANCH)
            continue;
        CHECK(memcmp(bytes_of(&f, &x), bytes_of(&g, &y), x.size) == 0);
        x.value = y.value = 0;
        CHECK(memcmp(&x, &y, sizeof(x)) == 0);
    }
    CHECK_EQ(vs_assembler_stats(f.a).events, vs_assembler_stats(g.a).events);
    CHECK_EQ(vs_assembler_stats(f.a).instructions, vs_assembler_stats(g.a).instructions);
    CHECK_EQ(icounts(&g), vs_assembler_stats(g.a).instructions);
    teardown(&f);
    teardown(&g);
}

TEST(delivers_blocks_that_run_often_as_records)
{
    check_records(64);
}

TEST(goes_on_when_there_are_enough_recipes)
{
    check_records(0);
    check_records(1);
    check_records(2);
}

TEST(passes_on_the_error_of_a_consumer_of_records)
{
    struct fixture f;

    open_records(&f, 64);
    f.got.put_error = -VSE_IO;
    f.got.fail_at = 200;
    wb_hello(&f.w);
    wb_start(&f.w, 1, 77, 0x1000);
    wb_run(&f.w, 1);
    make_mixed(&b, 0x1000);
    wb_define(&f.w, &b);
    for (unsigned i = 0; i < 500; i++)
        run_mixed(&f.w, &b, i);
    CHECK_ERR(feed(&f), VSE_IO);
    CHECK(f.theirs && f.got.records > 0);
    teardown(&f);
}
