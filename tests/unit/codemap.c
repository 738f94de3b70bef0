/* SPDX-License-Identifier: MIT */
/* Code by address, and its text. */
#include <stdio.h>
#include <string.h>

#include "cli/disasm.h"
#include "unittest.h"

static int64_t add(struct codemap *m, uint64_t addr, const char *bytes)
{
    struct vs_block b = {
        .addr = addr, .bytes = (const uint8_t *)bytes, .size = (uint32_t)strlen(bytes), .insns = 1};
    return codemap_block(m, &b);
}

/* What lies at addr, at most 15 bytes, as a string. */
static const char *at(const struct codemap *m, uint64_t addr)
{
    static char text[16];
    size_t n = codemap_fetch(m, addr, (uint8_t *)text, 15);
    text[n] = 0;
    return text;
}

TEST(fetches_across_pages_and_blocks)
{
    struct codemap m = {0};
    CHECK_STR(at(&m, 0), "");
    CHECK_EQ(add(&m, 0xfe, "abcd"), 0);
    CHECK_EQ(add(&m, 0x102, "ef"), 1);
    CHECK_STR(at(&m, 0xfe), "abcdef");
    CHECK_STR(at(&m, 0x101), "def");
    CHECK_STR(at(&m, 0xfd), "");
    CHECK_STR(at(&m, 0x104), "");
    codemap_fini(&m);
}

TEST(keeps_the_first_until_it_is_replaced)
{
    struct codemap m = {0};
    CHECK_EQ(add(&m, 0x1000, "old!"), 0);
    CHECK_EQ(add(&m, 0x1002, "NEW"), 1);
    CHECK_STR(at(&m, 0x1000), "old!W");
    CHECK(codemap_replace(&m, 1)->addr == 0x1002);
    CHECK_STR(at(&m, 0x1000), "olNEW");
    CHECK(codemap_replace(&m, 0));
    CHECK_STR(at(&m, 0x1000), "old!W");
    CHECK(!codemap_replace(&m, 2));
    codemap_fini(&m);
}

TEST(takes_many_pages_and_the_end_of_memory)
{
    struct codemap m = {0};
    char text[16];
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "<%llu>", (unsigned long long)i);
        CHECK_EQ(add(&m, i * 0x10000000000 + 0xff, text), i);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "<%llu>", (unsigned long long)i);
        CHECK_STR(at(&m, i * 0x10000000000 + 0xff), text);
    }
    codemap_fini(&m);
    CHECK_EQ(add(&m, UINT64_MAX - 1, "wrap"), 0);
    CHECK_STR(at(&m, UINT64_MAX - 1), "wrap");
    CHECK_STR(at(&m, 0), "ap");
    codemap_fini(&m);
}

/* Instructions of two bytes, if the first is a letter. */
static int format(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity)
{
    if (size < 2 || bytes[0] < 'a')
        return -VSE_CORRUPT;
    return snprintf(out, capacity, "%c%c at %llx", bytes[0], bytes[1], (unsigned long long)pc);
}

static const char *text_of(struct disasm *d, uint64_t pc)
{
    static char text[DISASM_TEXT_MAX + 1];
    size_t n;
    const char *got = disasm_text(d, pc, &n);
    CHECK(got);
    memcpy(text, got, n);
    text[n] = 0;
    return text;
}

TEST(formats_code_as_it_is_at_the_time)
{
    struct disasm d = {.format = format};
    struct vs_block old = {.addr = 0x10, .bytes = (const uint8_t *)"abcd..", .size = 6, .insns = 3};
    struct vs_block new = {.addr = 0x11, .bytes = (const uint8_t *)"xy", .size = 2, .insns = 1};
    CHECK_STR(text_of(&d, 0x10), "");
    disasm_fini(&d);
    d.format = format;
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
    struct disasm d = {.format = format};
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
    CHECK(d.used < 200000);
    CHECK_STR(text_of(&d, 0), "qq at 0");
    disasm_fini(&d);
}
