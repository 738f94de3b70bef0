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

/* Whether that many instructions from pc on, after `executed` others, have such a way. */
static bool has_way(struct vs_stretches *s, uint64_t pc, uint64_t executed, uint64_t count,
                    struct vs_way *way)
{
    struct vs_stretch_place place = {.pc = pc, .executed = executed};
    const struct vs_way *w = vs_stretches_way(s, 0, &place, count);
    if (w)
        CHECK(w == vs_stretches_way(s, 0, &place, count)); /* it was kept */
    CHECK(place.pc == pc && place.executed == executed);
    *way = w ? *w : (struct vs_way){0};
    return w;
}

TEST(finds_ways_across_jumps)
{
    struct vs_address_code code;
    struct vs_stretches s;
    struct vs_way w;
    open_code(&code, &s);
    CHECK(has_way(&s, 0x1000, 0, 4, &w));
    CHECK(w.last == 0x1020 && w.next == 0x1024 && w.bytes == 16 && w.jumps == 1 && w.system_call);
    CHECK(has_way(&s, 0x1000, 0, 3, &w));
    CHECK(w.last == 0x1008 && w.next == 0x1020 && w.jump && !w.system_call);
    CHECK(has_way(&s, 0x1024, 0, 2, &w));
    CHECK(w.last == 0x1028 && w.next == 0x102c && w.target == 0x1000 && w.branch && !w.jump);
    CHECK(!has_way(&s, 0x1000, 0, 5, &w)); /* a system call is on the way */
    CHECK(!has_way(&s, 0x1024, 0, 3, &w)); /* a branch is, */
    CHECK(!has_way(&s, 0x1008, 0, 0, &w)); /* nothing, */
    CHECK(!has_way(&s, 0x2000, 0, 1, &w)); /* or what is not known */
    vs_stretches_fini(&s);
}

TEST(finds_ways_in_the_code_that_is_there)
{
    struct vs_address_code code;
    struct vs_stretches s;
    struct vs_way w;
    open_code(&code, &s);
    CHECK(has_way(&s, 0x1000, CHANGED_AT - 3, 3, &w) && w.last == 0x1008);
    CHECK(!has_way(&s, 0x1000, CHANGED_AT - 2, 3, &w)); /* it changes on the way */
    CHECK(has_way(&s, 0x1000, CHANGED_AT, 3, &w) && w.last == 0x1020);
    CHECK(has_way(&s, 0x1000, 0, 3, &w) && w.last == 0x1008);
    vs_stretches_fini(&s);
}
