/* SPDX-License-Identifier: MIT */
#include "capture/wire_registers.h"

#include <string.h>

#include "capture/capture.h" /* must compile by itself */
#include "capture/valgrind.h"
#include "unittest.h"
#include "wirebuild.h"

static const struct vs_wire_numbers *numbers(void)
{
    static struct vs_wire_numbers n;

    vs_wire_numbers_init(&n, vs_isa_find(VS_VALGRIND_ISA));
    return &n;
}

struct found {
    unsigned count, size;
    uint8_t bytes[32];
};

/* A register in a payload, and how many there are. */
static struct found find(const uint8_t *p, size_t size, unsigned number)
{
    struct found f = {0};
    const uint8_t *bytes;
    unsigned n, regsize;
    int e;

    while ((e = vs_regs_next(&p, &size, &n, &regsize, &bytes)) == 1) {
        f.count++;
        if (n == number) {
            CHECK_EQ(f.size, 0); /* once only */
            CHECK(regsize > 0 && regsize <= 32);
            f.size = regsize;
            memcpy(f.bytes, bytes, regsize);
        }
    }
    CHECK_EQ(e, 0);
    return f;
}

static uint64_t word(const uint8_t *p, size_t size, unsigned number)
{
    struct found f = find(p, size, number);
    uint64_t v = 0;

    CHECK(f.size == 8 || f.size == 4);
    memcpy(&v, f.bytes, f.size);
    return v;
}

TEST(puts_all_registers_under_their_dwarf_numbers)
{
    static const uint8_t dwarf[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    struct wire_regs r = wb_regs(0x1234);
    uint8_t buf[VS_REGS_MAX];
    size_t n;

    r.sse_round = 2;
    r.fpr_round = 3;
    r.fpr_top = 6;
    r.fpr_conditions = 0x4500;
    n = vs_wire_registers_put(numbers(), buf, 0, &r, NULL, VS_WIRE_NEW);
    for (unsigned i = 0; i < 16; i++) {
        CHECK_EQ(word(buf, n, dwarf[i]), 0x100 + i);
        CHECK_EQ(find(buf, n, 17 + i).size, 32);
        CHECK_MEM(find(buf, n, 17 + i).bytes, r.ymm[i], 32);
    }
    CHECK_EQ(word(buf, n, VS_REG_PC), 0x1234);
    CHECK_EQ(word(buf, n, 49), 0x246);
    CHECK_EQ(word(buf, n, 58), 0x7000);
    CHECK_EQ(word(buf, n, 59), 0x7100);
    CHECK_EQ(word(buf, n, 64), 0x1f80 | 2 << 13);
    CHECK_EQ(word(buf, n, 65), 0x37f | 3 << 10);
    CHECK_EQ(word(buf, n, 66), 6 << 11 | 0x4500);
    CHECK_EQ(find(buf, n, 0).count, 16 + 16 + 4 + 3);
}

/* The numbers of the registers in a payload, in order. */
static size_t list(const uint8_t *p, size_t size, unsigned *numbers, size_t most)
{
    const uint8_t *bytes;
    unsigned regsize;
    size_t count = 0;

    while (count < most && vs_regs_next(&p, &size, &numbers[count], &regsize, &bytes) == 1)
        count++;
    return count;
}

TEST(puts_x87_as_it_is)
{
    static const unsigned order[] = {65, 66, 0xff00, 41, 48};
    const uint64_t signalling = 0x7ff0000000000001;
    struct wire_regs r = wb_regs(0);
    uint8_t buf[VS_REGS_MAX];
    unsigned numbered[64];
    size_t n, count;

    r.fpr_top = 7;
    r.fpr_used[7] = 1;
    r.fpr_used[1] = 1; /* it has the value 0 */
    r.fpr[7] = signalling;
    r.fpr[0] = 5; /* not in use, but an MMX instruction reads it all the same */
    n = vs_wire_registers_put(numbers(), buf, 0, &r, NULL, VS_WIRE_NEW);
    CHECK_EQ(word(buf, n, 41), 5);
    CHECK_EQ(word(buf, n, 48), signalling);
    CHECK_EQ(find(buf, n, 0xff00).size, 2);
    CHECK_MEM(find(buf, n, 0xff00).bytes, "\x82\0", 2);
    count = list(buf, n, numbered, 64);
    CHECK(count > 5);
    CHECK_MEM(&numbered[count - 5], order, sizeof(order));
    n = vs_wire_registers_put(numbers(), buf, 24, &r, NULL, VS_WIRE_ALL);
    CHECK(n < VS_REGS_MAX); /* with all of them it is never too long */
    CHECK_EQ(list(buf + 24, n - 24, numbered, 64), 16 + 16 + 4 + 3 + 1 + 8);
    CHECK_EQ(word(buf + 24, n - 24, 42), 0);
}

TEST(puts_only_what_changed)
{
    struct wire_regs before = wb_regs(0x10), now = before;
    uint8_t buf[VS_REGS_MAX];
    size_t n;

    CHECK_EQ(vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED), 0);
    now.gpr[3]++;
    n = vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED);
    CHECK_EQ(find(buf, n, 3).count, 1);
    CHECK_EQ(word(buf, n, 3), 0x104);
    now = before;
    now.rip = 0x20;
    now.ymm[15][31] = 0;
    n = vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED);
    CHECK_EQ(find(buf, n, 0).count, 2);
    CHECK_EQ(find(buf, n, 32).size, 32);
    now = before;
    now.fpr_used[2] = 1;
    n = vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED);
    CHECK_EQ(find(buf, n, 0).count, 3); /* which are in use, and the words */
    before.fpr[3] = now.fpr[3] = 1;
    now.fpr[3] = 0;
    n = vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED);
    CHECK_EQ(word(buf, n, 44), 0); /* it became 0 */
    before.fpr[3] = 0;
    now = before;
    now.fpr_conditions = 0x100;
    n = vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED);
    CHECK_EQ(word(buf, n, 66), 0x100);
    CHECK_EQ(find(buf, n, 0).count, 2);
    now = before;
    now.sse_round = 1;
    n = vs_wire_registers_put(numbers(), buf, 0, &now, &before, VS_WIRE_CHANGED);
    CHECK_EQ(find(buf, n, 0).count, 1);
    CHECK_EQ(word(buf, n, 64), 0x1f80 | 1 << 13);
}

TEST(appends)
{
    uint8_t buf[VS_REGS_MAX];
    size_t n = vs_wire_registers_put_one(buf, 0, VS_REG_CAUSE, 11);

    CHECK_EQ(n, 12);
    n = vs_wire_registers_put_one(buf, n, 0, 12);
    CHECK_EQ(n, 24);
    CHECK_EQ(word(buf, n, VS_REG_CAUSE), 11);
    CHECK_EQ(word(buf, n, 0), 12);
    CHECK_EQ(vs_wire_registers_put_one(buf, VS_REGS_MAX - 4, 1, 2),
             VS_REGS_MAX - 4); /* no room: left out */
}
