/* SPDX-License-Identifier: MIT */
/* Instructions as text. */
#include <stdio.h>
#include <string.h>

#include "front/disasm.h"
#include "unittest.h"

/* Instructions of two bytes, if the first is a letter. */
static int format(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity)
{
    if (size < 2 || bytes[0] < 'a')
        return -VSE_CORRUPT;
    return snprintf(out, capacity, "%c%c at %llx", bytes[0], bytes[1], (unsigned long long)pc);
}

static const struct vs_isa pairs = {.name = "pairs", .length_max = 2, .format = format};

static const char *text_of(struct disasm *d, uint64_t pc)
{
    static char text[VS_ISA_TEXT_MAX];
    size_t n;
    const char *got = disasm_text(d, pc, &n);
    CHECK(got);
    memcpy(text, got, n);
    text[n] = 0;
    return text;
}

TEST(formats_code_as_it_is_at_the_time)
{
    struct disasm d = {.isa = &pairs};
    struct vs_block old = {.addr = 0x10, .bytes = (const uint8_t *)"abcd..", .size = 6, .insns = 3};
    struct vs_block new = {.addr = 0x11, .bytes = (const uint8_t *)"xy", .size = 2, .insns = 1};
    CHECK_STR(text_of(&d, 0x10), "");
    disasm_fini(&d);
    d.isa = &pairs;
    CHECK_EQ(disasm_block(&d, &old), 0);
    CHECK_EQ(disasm_block(&d, &new), 1);
    for (int twice = 0; twice < 2; twice++) {
        CHECK_STR(text_of(&d, 0x10), "ab at 10");
        CHECK_STR(text_of(&d, 0x12), "cd at 12");
        CHECK_STR(text_of(&d, 0x14), "");
        CHECK_STR(text_of(&d, 0x16), "");
    }
    disasm_replace(&d, 1);
    disasm_replace(&d, 77);
    CHECK_STR(text_of(&d, 0x10), "ax at 10");
    CHECK_STR(text_of(&d, 0x12), "yd at 12");
    disasm_fini(&d);
}

TEST(forgets_when_it_has_seen_too_much)
{
    struct disasm d = {.isa = &pairs};
    uint8_t bytes[60000];
    memset(bytes, 'q', sizeof(bytes));
    for (unsigned i = 0; i < 4; i++) {
        struct vs_block b = {
            .addr = 60000u * i, .bytes = bytes, .size = sizeof(bytes), .insns = 30000};
        CHECK_EQ(disasm_block(&d, &b), i);
    }
    for (uint64_t pc = 0; pc < 239999; pc++) {
        size_t n;
        CHECK(disasm_text(&d, pc, &n) && n > 6);
    }
    CHECK(d.texts.count < 200000);
    CHECK_STR(text_of(&d, 0), "qq at 0");
    disasm_fini(&d);
}
