/* SPDX-License-Identifier: MIT */
#include "technique/passage.h"

#include <string.h>

#include "unittest.h"

enum { BASE = 0x1000 };

/* A plain instruction, a jump over the next six bytes, a system call, and a jump to where the
 * instruction before it points. */
static const uint8_t code[] = {
    0x01, 0x00,                         /* 1000 c.nop */
    0x21, 0xa0,                         /* 1002 c.j 100a */
    0,    0,    0,    0,    0,    0,    /* 1004 */
    0x73, 0x00, 0x00, 0x00,             /* 100a ecall */
    0x17, 0x03, 0x00, 0x00,             /* 100e auipc t1, 0 */
    0x67, 0x00, 0x03, 0x01,             /* 1012 jr 16(t1) */
    0x67, 0x00, 0x03, 0x00, 0x01, 0x00, /* 1016 jr t1; c.nop */
};

static uint32_t version(const void *context, unsigned core, uint64_t instructions, uint64_t *until)
{
    (void)context, (void)core, (void)instructions;
    *until = UINT64_MAX;
    return 0;
}

static size_t fetch(const void *context, uint32_t which, uint64_t pc, uint8_t *bytes,
                    size_t capacity)
{
    (void)context, (void)which;
    if (pc < BASE || pc >= BASE + sizeof(code))
        return 0;
    size_t size = BASE + sizeof(code) - pc;
    size = size < capacity ? size : capacity;
    memcpy(bytes, code + (pc - BASE), size);
    return size;
}

static void open_passage(struct vs_passage *p, struct vs_address_code *c)
{
    *c = (struct vs_address_code){.isa = vs_isa_find("rv64"), .version = version, .fetch = fetch};
    CHECK_EQ(vs_passage_init(p, c, 1), 0);
    vs_passage_go(p, 0, BASE);
}

TEST(follows_jumps_and_stops_at_a_system_call)
{
    struct vs_passage p;
    struct vs_address_code c;
    struct vs_passed passed;
    uint64_t left = 5;
    open_passage(&p, &c);
    vs_passage_take(&p, 0, &left, &passed);
    CHECK_EQ(left, 2);
    CHECK(passed.system && !passed.inferable);
    CHECK_EQ(passed.bytes, 8);
    CHECK_EQ(passed.last, 0x100a);
    CHECK_EQ(passed.next, 0x100e);
    vs_passage_take(&p, 0, &left, &passed);
    CHECK_EQ(left, 0);
    CHECK(!passed.system && passed.inferable);
    CHECK_EQ(passed.bytes, 8);
    CHECK_EQ(passed.last, 0x1012);
    CHECK_EQ(passed.target, 0x101e);
    vs_passage_fini(&p);
}

TEST(infers_a_jump_only_after_what_sets_its_register)
{
    struct vs_passage p;
    struct vs_address_code c;
    struct vs_passed passed;
    uint64_t left = 1;
    open_passage(&p, &c);
    vs_passage_branch(&p, 0, 0x1012); /* as if something had branched there */
    vs_passage_take(&p, 0, &left, &passed);
    CHECK(!passed.inferable);
    vs_passage_branch(&p, 0, 0x100e);
    for (left = 1; left;) /* one by one */
        vs_passage_take(&p, 0, &left, &passed);
    left = 1;
    vs_passage_take(&p, 0, &left, &passed);
    CHECK(passed.inferable);
    CHECK_EQ(passed.target, 0x101e);
    vs_passage_fini(&p);
}

TEST(stays_where_no_code_is_known)
{
    struct vs_passage p;
    struct vs_address_code c;
    struct vs_passed passed;
    uint64_t left = 3;
    open_passage(&p, &c);
    vs_passage_go(&p, 0, 0x9000);
    vs_passage_take(&p, 0, &left, &passed);
    CHECK_EQ(left, 0);
    CHECK_EQ(passed.bytes, 0);
    CHECK_EQ(passed.last, 0x9000);
    vs_passage_fini(&p);
}
