/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

TEST(aligns_as_asked)
{
    struct vs_arena a = {0};
    for (int round = 0; round < 100; round++) {
        for (size_t align = 1; align <= 4096; align *= 2) {
            uint8_t *p = vs_arena_alloc(&a, 3, align);
            CHECK(p);
            CHECK_EQ((uintptr_t)p % align, 0);
            memset(p, 1, 3);
        }
    }
    for (size_t align = 1; align <= 4096; align *= 2)
        CHECK_EQ((uintptr_t)vs_arena_alloc(&a, 100000, align) % align, 0);
    vs_arena_fini(&a);
}

enum { PIECES = 3000 };

TEST(keeps_pieces_apart_and_in_place)
{
    static struct {
        uint8_t *p;
        size_t size;
    } pieces[PIECES];
    struct vs_arena a = {0};
    struct rng r = rng_init(8);
    for (int i = 0; i < PIECES; i++) {
        size_t size = pieces[i].size = rng_below(&r, i % 50 ? 200 : 100000);
        pieces[i].p = vs_arena_alloc(&a, size, (size_t)1 << rng_below(&r, 7));
        CHECK(pieces[i].p);
        memset(pieces[i].p, i & 0xff, size);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < pieces[i].size; k++)
            if (pieces[i].p[k] != (i & 0xff))
                CHECK_EQ(pieces[i].p[k], i & 0xff);
    vs_arena_fini(&a);
}

TEST(gives_a_pointer_for_no_bytes)
{
    struct vs_arena a = {0};
    CHECK(vs_arena_alloc(&a, 0, 1));
    CHECK(vs_arena_alloc(&a, 0, 64));
    vs_arena_fini(&a);
}

TEST(goes_on_in_the_shared_block_after_a_large_request)
{
    struct vs_arena a = {0};
    uint8_t *first = vs_arena_alloc(&a, 8, 8);
    uint8_t *large = vs_arena_alloc(&a, 1 << 20, 8);
    uint8_t *second = vs_arena_alloc(&a, 8, 8);
    CHECK(first && large && second);
    CHECK_EQ(second - first, 8);
    memset(large, 1, 1 << 20);
    vs_arena_fini(&a);
}

TEST(refuses_sizes_that_overflow)
{
    struct vs_arena a = {0};
    uint8_t *before = vs_arena_alloc(&a, 8, 8);
    CHECK(!vs_arena_alloc(&a, SIZE_MAX, 1));
    CHECK(!vs_arena_alloc(&a, SIZE_MAX - 4, 8));
    CHECK(!vs_arena_alloc(&a, (size_t)PTRDIFF_MAX, 1));
    CHECK(!vs_arena_alloc(&a, 1, (size_t)1 << 63));
    CHECK(!vs_arena_dup(&a, "", SIZE_MAX));
    CHECK(!vs_arena_dup(&a, "", (size_t)PTRDIFF_MAX));
    CHECK_EQ((uint8_t *)vs_arena_alloc(&a, 8, 8) - before, 8);
    vs_arena_fini(&a);
}

TEST(copies_and_terminates)
{
    struct vs_arena a = {0};
    char *s = vs_arena_dup(&a, "hello, world", 5);
    char *empty = vs_arena_dup(&a, NULL, 0);
    CHECK_STR(s, "hello");
    CHECK_STR(empty, "");
    CHECK_MEM(vs_arena_dup(&a, "a\0b", 3), "a\0b", 4);
    vs_arena_fini(&a);
}

TEST(works_again_after_fini)
{
    struct vs_arena a = {0};
    vs_arena_fini(&a);
    CHECK(vs_arena_alloc(&a, 100, 8));
    vs_arena_fini(&a);
    CHECK(!a.blocks);
    CHECK_STR(vs_arena_dup(&a, "x", 1), "x");
    vs_arena_fini(&a);
}
