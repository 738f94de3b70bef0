/* SPDX-License-Identifier: MIT */
#include "vestige/event.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace.h" /* must compile by itself */
#include "unittest.h"

static const char *fault(struct vs_event e, size_t wide_size)
{
    const char *why = NULL;
    int err = vs_event_check(&e, wide_size, &why);

    CHECK_EQ(err, vs_event_check(&e, wide_size, NULL));
    CHECK_EQ(err, why ? -VSE_INVAL : 0);
    return why;
}

#define GOOD(...)     CHECK_STR(fault((struct vs_event){__VA_ARGS__}, 64), NULL)
#define BAD(why, ...) CHECK_HAS(fault((struct vs_event){__VA_ARGS__}, 64), why)

/* A valid event of the kind, with everything filled that it may fill. */
static struct vs_event full(unsigned kind)
{
    struct vs_event e = {.kind = (uint8_t)kind, .icount = 65535, .thread = 65535};

    switch (kind) {
    case VS_BRANCH:
        return (struct vs_event){
            .kind = VS_BRANCH, .pc = 1, .addr = 2, .size = 255, .flags = VS_BR_TAKEN};
    case VS_LOAD:
    case VS_STORE:
        e.flags = VS_MEM_ALL;
        e.pc = e.addr = UINT64_MAX;
        e.size = 8;
        e.value = UINT64_MAX;
        return e;
    case VS_SYSCALL:
        e.size = 56;
        e.pc = e.addr = 1;
        return e;
    case VS_THREAD_EXIT:
    case VS_CODE:
        e.value = UINT64_MAX;
        return e;
    case VS_MAP:
        e.pc = VS_NO_IMAGE;
        e.addr = 4096;
        e.value = UINT64_MAX;
        e.flags = VS_MAP_ALL;
        return e;
    case VS_COUNT:
        return e;
    case VS_TURN:
        e.size = sizeof(struct vs_turn);
        return e;
    case VS_CONTENT:
        e.addr = UINT64_MAX;
        e.size = sizeof(struct vs_content_file) + 1;
        e.flags = VS_CONTENT_FILE;
        return e;
    case VS_NONDET:
        e.pc = 1;
        e.size = 8;
        e.value = UINT64_MAX;
        return e;
    case VS_EXTERNAL:
        e.addr = 1;
        e.size = 1;
        e.value = 255;
        return e;
    default:
        e.pc = e.addr = 1;
        return e;
    }
}

TEST(accepts_every_kind)
{
    for (unsigned k = 1; k < VS_KIND_END; k++)
        CHECK_STR(fault(full(k), 64), NULL);
}

/* docs/format.md, step by step. */
static uint32_t plain_digest(const uint64_t *words)
{
    uint64_t h[4] = {1, 2, 3, 4}, d = 0;

    for (unsigned i = 0; i < 512; i++) {
        h[i % 4] = (h[i % 4] ^ words[i]) * 0x9e3779b97f4a7c15u;
        h[i % 4] ^= h[i % 4] >> 29;
    }
    for (unsigned i = 0; i < 4; i++) {
        d = (d ^ h[i]) * 0x9e3779b97f4a7c15u;
        d ^= d >> 29;
    }
    return (uint32_t)d ^ (uint32_t)(d >> 32);
}

TEST(digests_pages)
{
    uint64_t words[512] = {0};
    uint32_t zeros = vs_page_digest(words);

    CHECK_EQ(zeros, plain_digest(words));
    for (unsigned i = 0; i < 512; i++)
        words[i] = i * 0x123456789abcdefu;
    CHECK_EQ(vs_page_digest(words), plain_digest(words));
    for (unsigned bit = 0; bit < 512 * 64; bit += 61) {
        uint32_t before = vs_page_digest(words);

        words[bit / 64] ^= UINT64_C(1) << bit % 64;
        CHECK(vs_page_digest(words) != before);
    }
}

TEST(refuses_unknown_kinds)
{
    for (unsigned k = 0; k < 256; k++) {
        if (k == 0 || k >= VS_KIND_END)
            CHECK_HAS(fault((struct vs_event){.kind = (uint8_t)k}, 0), "kind");
    }
}

TEST(refuses_flags_a_kind_does_not_have)
{
    static const uint8_t allowed[VS_KIND_END] = {
        [VS_LOAD] = VS_MEM_ALL,
        [VS_STORE] = VS_MEM_ALL,
        [VS_MAP] = VS_MAP_ALL,
        [VS_CONTENT] = VS_CONTENT_FILE}; /* what else it has goes with another size */

    for (unsigned k = VS_LOAD; k < VS_KIND_END; k++) {
        for (unsigned bit = 1; bit < 256; bit <<= 1) {
            struct vs_event e = full(k);

            e.flags = (uint8_t)bit;
            CHECK_EQ(fault(e, 64) != NULL, (allowed[k] & bit) == 0);
        }
    }
    for (unsigned bit = 32; bit < 256; bit <<= 1)
        BAD("flag", .kind = VS_BRANCH, .size = 1, .flags = (uint8_t)(VS_BR_TAKEN | bit));
}

TEST(refuses_sizes_a_kind_does_not_allow)
{
    BAD("size", .kind = VS_BRANCH, .flags = VS_BR_TAKEN);
    BAD("size", .kind = VS_BRANCH, .flags = VS_BR_TAKEN, .size = 256);
    BAD("size", .kind = VS_LOAD);
    BAD("size", .kind = VS_STORE);
    BAD("size", .kind = VS_EXTERNAL);
    BAD("size", .kind = VS_NONDET);
    BAD("size", .kind = VS_SYSCALL, .size = 55);
    BAD("size", .kind = VS_THREAD_EXIT, .size = 1);
    BAD("size", .kind = VS_MAP, .size = 8);
    BAD("size", .kind = VS_CODE, .size = 8);
    BAD("size", .kind = VS_COUNT, .size = 1);
    BAD("size", .kind = VS_TURN, .size = 7);
    BAD("size", .kind = VS_TURN, .size = sizeof(struct vs_turn) + 1);
    BAD("size", .kind = VS_CONTENT);
    BAD("size", .kind = VS_CONTENT, .flags = VS_CONTENT_FILE, .size = 24);
    BAD("size", .kind = VS_CONTENT, .flags = VS_CONTENT_MOVED, .size = 15);
    BAD("two kinds", .kind = VS_CONTENT, .flags = VS_CONTENT_ALL, .size = 16);
    BAD("size", .kind = VS_CONTENT, .flags = VS_CONTENT_ANEW, .size = 7);
    BAD("size", .kind = VS_CONTENT, .flags = VS_CONTENT_DIGESTS, .size = 6);
    BAD("pages", .kind = VS_CONTENT, .flags = VS_CONTENT_DIGESTS, .size = 8, .addr = 0x1008);
    GOOD(.kind = VS_CONTENT, .flags = VS_CONTENT_DIGESTS, .size = 4, .addr = 0x1000);
    GOOD(.kind = VS_CONTENT, .flags = VS_CONTENT_ANEW, .size = 8, .value = UINT64_MAX);
    GOOD(.kind = VS_TURN, .size = 8);
    GOOD(.kind = VS_CONTENT, .size = 1);
    GOOD(.kind = VS_CONTENT, .flags = VS_CONTENT_MOVED, .size = 16);
    GOOD(.kind = VS_EXCEPTION);
    GOOD(.kind = VS_EXCEPTION_RET);
    GOOD(.kind = VS_THREAD_START);
    GOOD(.kind = VS_GAP);
}

TEST(refuses_addresses_a_kind_does_not_have)
{
    BAD("address", .kind = VS_NONDET, .size = 1, .addr = 1);
    BAD("address", .kind = VS_THREAD_EXIT, .addr = 1);
    BAD("address", .kind = VS_THREAD_EXIT, .pc = 1);
    BAD("address", .kind = VS_CODE, .addr = 1);
    BAD("address", .kind = VS_CODE, .pc = 1);
    BAD("address", .kind = VS_COUNT, .addr = 1);
    BAD("address", .kind = VS_COUNT, .pc = 1);
    BAD("address", .kind = VS_TURN, .size = 8, .addr = 1);
    BAD("address", .kind = VS_CONTENT, .size = 8, .pc = 1);
}

TEST(refuses_values_larger_than_their_size)
{
    for (unsigned size = 1; size < 8; size++) {
        uint64_t most = (UINT64_C(1) << (8 * size)) - 1;

        GOOD(.kind = VS_LOAD, .size = (uint16_t)size, .value = most);
        BAD("value", .kind = VS_LOAD, .size = (uint16_t)size, .value = most + 1);
        BAD("value", .kind = VS_EXTERNAL, .size = (uint16_t)size, .value = most + 1);
        BAD("value", .kind = VS_GAP, .size = (uint16_t)size, .value = most + 1);
    }
    BAD("value", .kind = VS_COUNT, .value = 1);
    BAD("value", .kind = VS_GAP, .value = 1);
}

TEST(keeps_wide_values_in_the_batch)
{
    GOOD(.kind = VS_STORE, .size = 64);
    GOOD(.kind = VS_STORE, .size = 16, .value = 48);
    BAD("wide", .kind = VS_STORE, .size = 65);
    BAD("wide", .kind = VS_STORE, .size = 16, .value = 49);
    BAD("wide", .kind = VS_STORE, .size = 16, .value = 65);
    BAD("wide", .kind = VS_STORE, .size = 16, .value = UINT64_MAX - 7);
    BAD("wide", .kind = VS_SYSCALL, .size = 56, .value = 9);
    BAD("wide", .kind = VS_THREAD_START, .size = 65535);
}

TEST(refuses_contradictory_branches)
{
    GOOD(.kind = VS_BRANCH, .size = 4, .addr = 8, .flags = VS_BR_COND);
    GOOD(.kind = VS_BRANCH, .size = 4, .flags = VS_BR_COND | VS_BR_INDIRECT);
    GOOD(.kind = VS_BRANCH, .size = 4, .flags = VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN);
    BAD("value", .kind = VS_BRANCH, .size = 4, .flags = VS_BR_TAKEN, .value = 1);
    BAD("not taken", .kind = VS_BRANCH, .size = 4);
    BAD("not taken", .kind = VS_BRANCH, .size = 4, .flags = VS_BR_CALL);
    BAD("not indirect", .kind = VS_BRANCH, .size = 4, .flags = VS_BR_TAKEN | VS_BR_RETURN);
    GOOD(.kind = VS_BRANCH, .size = 4, .flags = VS_BR_ALL);
    BAD("target", .kind = VS_BRANCH, .size = 4, .addr = 8, .flags = VS_BR_COND | VS_BR_INDIRECT);
}

TEST(names_kinds_both_ways)
{
    for (unsigned k = 1; k < VS_KIND_END; k++) {
        CHECK(strlen(vs_kind_name(k)) > 2);
        CHECK_EQ(vs_kind_by_name(vs_kind_name(k)), k);
    }
    CHECK_STR(vs_kind_name(0), "?");
    CHECK_STR(vs_kind_name(VS_KIND_END), "?");
    CHECK_STR(vs_kind_name(UINT32_MAX), "?");
    CHECK_ERR(vs_kind_by_name("?"), VSE_NOTFOUND);
    CHECK_ERR(vs_kind_by_name(""), VSE_NOTFOUND);
    CHECK_ERR(vs_kind_by_name("loa"), VSE_NOTFOUND);
    CHECK_ERR(vs_kind_by_name("loads"), VSE_NOTFOUND);
}

TEST(names_branches)
{
    CHECK_STR(vs_branch_name(VS_BR_TAKEN), "jump");
    CHECK_STR(vs_branch_name(VS_BR_COND), "cond");
    CHECK_STR(vs_branch_name(VS_BR_COND | VS_BR_TAKEN), "cond");
    CHECK_STR(vs_branch_name(VS_BR_TAKEN | VS_BR_CALL), "call");
    CHECK_STR(vs_branch_name(VS_BR_TAKEN | VS_BR_INDIRECT), "ijump");
    CHECK_STR(vs_branch_name(VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_CALL), "icall");
    CHECK_STR(vs_branch_name(VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN), "ret");
    CHECK_HAS(vs_branch_name(VS_BR_COND | VS_BR_INDIRECT | VS_BR_RETURN), "ret");
    for (unsigned flags = 0; flags < 256; flags++)
        CHECK(vs_branch_name(flags)[0]);
}

TEST(finds_the_bytes_of_a_value)
{
    const uint8_t wide[16] = {1, 2, 3};
    struct vs_batch b = {.wide = wide, .wide_size = 16};
    struct vs_event small = {.kind = VS_LOAD, .size = 8, .value = 0x0807060504030201};
    struct vs_event big = {.kind = VS_LOAD, .size = 9, .value = 2};
    const uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    CHECK_MEM(vs_event_bytes(&b, &small), bytes, 8);
    CHECK(vs_event_bytes(&b, &big) == wide + 2);
}

TEST(packs_registers_both_ways)
{
    uint8_t buf[64], data[32];
    const uint8_t *p = buf, *bytes;
    unsigned number, size;
    size_t left;
    int64_t used = 0;

    for (unsigned i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    used = vs_regs_put(buf, sizeof(buf), (size_t)used, 3, data, 8);
    CHECK_EQ(used, 12);
    used = vs_regs_put(buf, sizeof(buf), (size_t)used, VS_REG_PC, data + 1, 0);
    used = vs_regs_put(buf, sizeof(buf), (size_t)used, VS_REG_CAUSE, data + 8, 24);
    CHECK_EQ(used, 12 + 4 + 28);
    left = (size_t)used;
    CHECK_EQ(vs_regs_next(&p, &left, &number, &size, &bytes), 1);
    CHECK(number == 3 && size == 8 && memcmp(bytes, data, 8) == 0);
    CHECK_EQ(vs_regs_next(&p, &left, &number, &size, &bytes), 1);
    CHECK(number == VS_REG_PC && size == 0);
    CHECK_EQ(vs_regs_next(&p, &left, &number, &size, &bytes), 1);
    CHECK(number == VS_REG_CAUSE && size == 24 && memcmp(bytes, data + 8, 24) == 0);
    CHECK_EQ(vs_regs_next(&p, &left, &number, &size, &bytes), 0);
    CHECK(left == 0 && p == buf + used);
}

TEST(refuses_registers_that_do_not_fit)
{
    uint8_t buf[12], data[16] = {0};

    CHECK_EQ(vs_regs_put(buf, 12, 0, 1, data, 8), 12);
    CHECK_ERR(vs_regs_put(buf, 11, 0, 1, data, 8), VSE_LIMIT);
    CHECK_ERR(vs_regs_put(buf, 12, 1, 1, data, 8), VSE_LIMIT);
    CHECK_ERR(vs_regs_put(buf, 12, 13, 1, data, 0), VSE_LIMIT);
    CHECK_ERR(vs_regs_put(buf, 12, 0, 0x10000, data, 1), VSE_LIMIT);
    CHECK_ERR(vs_regs_put(buf, 12, 0, 1, data, 0x10000), VSE_LIMIT);
    CHECK_ERR(vs_regs_put(buf, 12, 0, 1, data, UINT32_MAX), VSE_LIMIT);
}

/* Each length in memory of exactly that length, for the sanitizer. */
TEST(refuses_cut_registers)
{
    uint8_t whole[16];
    int64_t used = vs_regs_put(whole, sizeof(whole), 0, 7, "abcdefgh", 8);

    for (size_t n = 1; n < (size_t)used; n++) {
        uint8_t *cut = malloc(n);
        const uint8_t *p = cut, *bytes;
        unsigned number, size;
        size_t left = n;

        memcpy(cut, whole, n);
        CHECK_ERR(vs_regs_next(&p, &left, &number, &size, &bytes), VSE_CORRUPT);
        CHECK(p == cut && left == n);
        free(cut);
    }
}
