/* SPDX-License-Identifier: MIT */
/* Code by address. */
#include <stdio.h>
#include <string.h>

#include "isa/codemap.h"
#include "unittest.h"

static struct vs_block block(uint64_t addr, const char *bytes)
{
    return (struct vs_block){
        .addr = addr, .bytes = (const uint8_t *)bytes, .size = (uint32_t)strlen(bytes), .insns = 1};
}

static int add(struct vs_codemap *m, uint64_t addr, const char *bytes)
{
    struct vs_block b = block(addr, bytes);
    return vs_codemap_add(m, &b);
}

static int replace(struct vs_codemap *m, uint64_t addr, const char *bytes)
{
    struct vs_block b = block(addr, bytes);
    return vs_codemap_replace(m, &b);
}

static bool differs(const struct vs_codemap *m, uint64_t addr, const char *bytes)
{
    struct vs_block b = block(addr, bytes);
    return vs_codemap_differs(m, &b);
}

/* What lies at addr, at most 15 bytes, as a string. */
static const char *at(const struct vs_codemap *m, uint64_t addr)
{
    static char text[16];
    size_t n = vs_codemap_fetch(m, addr, (uint8_t *)text, 15);
    text[n] = 0;
    return text;
}

TEST(fetches_across_pages_and_blocks)
{
    struct vs_codemap m = {0};
    CHECK_STR(at(&m, 0), "");
    CHECK_EQ(add(&m, 0xfe, "abcd"), 0);
    CHECK_EQ(add(&m, 0x102, "ef"), 0);
    CHECK_STR(at(&m, 0xfe), "abcdef");
    CHECK_STR(at(&m, 0x101), "def");
    CHECK_STR(at(&m, 0xfd), "");
    CHECK_STR(at(&m, 0x104), "");
    vs_codemap_fini(&m);
}

TEST(keeps_the_first_until_it_is_replaced)
{
    struct vs_codemap m = {0};
    CHECK_EQ(add(&m, 0x1000, "old!"), 0);
    CHECK_EQ(add(&m, 0x1002, "NEW"), 0);
    CHECK_STR(at(&m, 0x1000), "old!W");
    CHECK_EQ(replace(&m, 0x1002, "NEW"), 0);
    CHECK_STR(at(&m, 0x1000), "olNEW");
    CHECK_EQ(replace(&m, 0x1000, "old!"), 0);
    CHECK_STR(at(&m, 0x1000), "old!W");
    vs_codemap_fini(&m);
}

TEST(differs_only_from_what_is_known)
{
    struct vs_codemap m = {0};
    CHECK(!differs(&m, 0xff, "ab"));
    CHECK_EQ(add(&m, 0xff, "ab"), 0);
    CHECK_EQ(add(&m, 0x105, "z"), 0);
    CHECK(!differs(&m, 0xff, "ab"));
    CHECK(!differs(&m, 0xfe, "?ab?"));
    CHECK(differs(&m, 0xff, "aX"));
    CHECK(differs(&m, 0x101, "????y"));
    CHECK(!differs(&m, 0x101, "????z"));
    vs_codemap_fini(&m);
}

TEST(takes_many_pages_and_the_end_of_memory)
{
    struct vs_codemap m = {0};
    char text[16];
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "<%llu>", (unsigned long long)i);
        CHECK_EQ(add(&m, i * 0x10000000000 + 0xff, text), 0);
    }
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "<%llu>", (unsigned long long)i);
        CHECK_STR(at(&m, i * 0x10000000000 + 0xff), text);
    }
    vs_codemap_fini(&m);
    CHECK_EQ(add(&m, UINT64_MAX - 1, "wrap"), 0);
    CHECK_STR(at(&m, UINT64_MAX - 1), "wrap");
    CHECK_STR(at(&m, 0), "ap");
    vs_codemap_fini(&m);
}
