/* SPDX-License-Identifier: MIT */
/* The code between steps, as encoders follow it. */
#include "technique/stretches.h"

#include <string.h>

#include "unittest.h"

/* 1000 addi; 1004 addi; 1008 j 1020; 1020 ecall; 1024 addi; 1028 beq 1000; a second version has a
 * jump at 1004. */
static const uint32_t code_words[][2] = {
    {0x1000, 0x00150513}, {0x1004, 0x00150513}, {0x1008, 0x0180006f},
    {0x1020, 0x00000073}, {0x1024, 0x00150513}, {0x1028, 0xfc050ce3},
};
enum { CHANGED_AT = 100, SECOND = 0x01c0006f }; /* at 1004: j 1020 */

static uint32_t version_at(const void *context, unsigned core, uint64_t instructions,
                           uint64_t *until)
{
    (void)context, (void)core;
    *until = instructions < CHANGED_AT ? CHANGED_AT : UINT64_MAX;
    return instructions >= CHANGED_AT;
}

static size_t fetch_word(const void *context, uint32_t version, uint64_t pc, uint8_t *bytes,
                         size_t capacity)
{
    (void)context;
    for (size_t i = 0; i < sizeof(code_words) / sizeof(code_words[0]) && capacity >= 4; i++)
        if (code_words[i][0] == pc) {
            uint32_t word = version && pc == 0x1004 ? (uint32_t)SECOND : code_words[i][1];
            memcpy(bytes, &word, 4);
            return 4;
        }
    return 0;
}

static void open_code(struct vs_address_code *code, struct vs_stretches *s)
{
    *code = (struct vs_address_code){
        .isa = vs_isa_find("rv64"), .version = version_at, .fetch = fetch_word};
    CHECK_EQ(vs_stretches_init(s, code), 0);
}

TEST(ends_with_a_branch)
{
    struct vs_address_code code;
    struct vs_stretches s;
    struct vs_stretch_place place = {.pc = 0x1000};
    open_code(&code, &s);
    for (unsigned i = 0; i < 2; i++) { /* decoded, and kept */
        const struct vs_stretch *r = vs_stretches_at(&s, 0, &place, 10);
        CHECK(r && r->count == 3 && vs_stretch_jumps(r));
        CHECK(r->last_pc == 0x1008 && r->next == 0x100c && r->target == 0x1020);
    }
    place.pc = 0x1024;
    const struct vs_stretch *r = vs_stretches_at(&s, 0, &place, 10);
    CHECK(r && r->count == 2 && r->branch && !vs_stretch_jumps(r) && !r->system_call);
    CHECK_EQ(r->target, 0x1000);
    vs_stretches_fini(&s);
}

TEST(is_cut_short)
{
    struct vs_address_code code;
    struct vs_stretches s;
    struct vs_stretch_place place = {.pc = 0x1000};
    open_code(&code, &s);
    const struct vs_stretch *r = vs_stretches_at(&s, 0, &place, 2);
    CHECK(r && r->count == 2 && !r->branch && r->next == 0x1008);
    place.pc = 0x1020;
    r = vs_stretches_at(&s, 0, &place, 1);
    CHECK(r && r->count == 1 && r->system_call);
    place.pc = 0x2000;
    CHECK(!vs_stretches_at(&s, 0, &place, 1));
    vs_stretches_fini(&s);
}

TEST(follows_changes_of_code)
{
    struct vs_address_code code;
    struct vs_stretches s;
    struct vs_stretch_place place = {.pc = 0x1000};
    open_code(&code, &s);
    CHECK_EQ(vs_stretches_at(&s, 0, &place, 10)->count, 3);
    place.executed = CHANGED_AT - 1; /* one instruction of the first version is left */
    CHECK_EQ(vs_stretches_at(&s, 0, &place, 10)->count, 1);
    place.executed = CHANGED_AT;
    const struct vs_stretch *r = vs_stretches_at(&s, 0, &place, 10);
    CHECK(r && r->count == 2 && vs_stretch_jumps(r) && r->target == 0x1020);
    vs_stretches_fini(&s);
}
