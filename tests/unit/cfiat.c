/* SPDX-License-Identifier: MIT */
/* The model of mlvCFiat and tmlvCFiat on the caches of the published examples, which are smaller
 * than the tools' flags can say, and its statistics. */
#include "published/cfiat_tools.h"

#include <stdio.h>
#include <unistd.h>

#include "unittest.h"

#define BASE UINT64_C(0x7fffa51e1600)

enum { SILENT = -1 };

static void make(struct cfiat *t, unsigned size, unsigned line, unsigned granule, bool shared)
{
    *t = (struct cfiat){
        .config = {.size = size, .line = line, .ways = 2, .granule = granule, .shared = shared}};
    CHECK_EQ(cfiat_init(t, NULL), 0);
}

/* What a load's descriptor says of the loads before it, or that it has none. */
static int64_t load(struct cfiat *t, unsigned thread, unsigned at, unsigned size)
{
    uint32_t hits;
    CHECK_EQ(cfiat_know(t, thread), 0);
    return cfiat_load(t, thread, BASE + at, size, &hits) ? (int64_t)hits : SILENT;
}

static void store(struct cfiat *t, unsigned thread, unsigned at, unsigned size)
{
    CHECK_EQ(cfiat_know(t, thread), 0);
    cfiat_store(t, thread, BASE + at, size);
}

static void check_share(const struct cfiat_share *shares, unsigned size, unsigned hits,
                        unsigned misses)
{
    CHECK_EQ(shares[operand_class(size)].hits, hits);
    CHECK_EQ(shares[operand_class(size)].misses, misses);
}

/* ---- the published examples ------------------------------------------------------------------ */

TEST(follows_the_example_of_stores_and_loads)
{
    struct cfiat t;
    make(&t, 32, 16, 4, false);
    store(&t, 0, 0x80, 8);
    for (unsigned at = 0x50; at <= 0x70; at += 4)
        store(&t, 0, at, 4);
    CHECK_EQ(load(&t, 0, 0x80, 8), 0);
    CHECK_EQ(load(&t, 0, 0x88, 8), 0);
    check_share(t.lines, 4, 6, 3);
    check_share(t.lines, 8, 1, 2);
    check_share(t.flags, 4, 0, 0);
    check_share(t.flags, 8, 0, 1); /* the other one missed in the cache */
    cfiat_fini(&t);
}

TEST(follows_the_example_of_spanning_operands)
{
    struct cfiat t;
    make(&t, 32, 16, 4, false);
    for (unsigned at = 0x80; at >= 0x60; at -= 8)
        store(&t, 0, at, 8);
    for (unsigned at = 0x78; at >= 0x60; at -= 8)
        CHECK_EQ(load(&t, 0, at, 8), SILENT);
    store(&t, 0, 0x40, 32);
    CHECK_EQ(load(&t, 0, 0x40, 32), SILENT);
    store(&t, 0, 0x20, 8);
    CHECK_EQ(load(&t, 0, 0x40, 32), 5);
    CHECK_EQ(load(&t, 0, 0x40, 32), SILENT);
    CHECK_EQ(load(&t, 0, 0x50, 16), SILENT);
    CHECK_EQ(load(&t, 0, 0x20, 8), 2);
    check_share(t.lines, 8, 6, 5);
    check_share(t.lines, 32, 2, 2);
    check_share(t.flags, 32, 2, 0);
    cfiat_fini(&t);

    make(&t, 8, 4, 4, false);
    store(&t, 0, 0x58, 8);
    CHECK_EQ(load(&t, 0, 0x58, 8), SILENT);
    check_share(t.lines, 8, 1, 1);
    check_share(t.flags, 8, 1, 0);
    cfiat_fini(&t);
}

TEST(follows_the_example_of_reads_only)
{
    struct cfiat t;
    make(&t, 32, 16, 16, false);
    for (unsigned at = 0x3c; at <= 0x5c; at += 4)
        CHECK_EQ(load(&t, 0, at, 4), at == 0x3c || at == 0x40 ? 0 : at == 0x50 ? 3 : SILENT);
    check_share(t.lines, 4, 6, 3);
    check_share(t.flags, 4, 6, 0);
    cfiat_fini(&t);
}

/* ---- what the tools do otherwise than the technique ------------------------------------------ */

TEST(flags_what_a_store_touches)
{
    struct cfiat t;
    make(&t, 1024, 32, 8, false);
    store(&t, 0, 0x13, 1);
    CHECK_EQ(load(&t, 0, 0x10, 8), SILENT);
    CHECK_EQ(load(&t, 0, 0x14, 8), 1);
    cfiat_fini(&t);
}

TEST(keeps_threads_apart)
{
    struct cfiat t;
    make(&t, 1024, 32, 4, false);
    CHECK_EQ(load(&t, 0, 0, 4), 0);
    CHECK_EQ(load(&t, 0, 0, 4), SILENT);
    CHECK_EQ(load(&t, 9, 0, 4), 0);
    store(&t, 9, 0, 4);
    CHECK_EQ(load(&t, 0, 0, 4), SILENT); /* though it is old */
    CHECK_EQ(load(&t, 0, 4, 4), 2);
    CHECK_EQ(load(&t, 9, 4, 4), 0);
    check_share(t.lines, 4, 5, 2);
    check_share(t.flags, 4, 2, 2);
    cfiat_fini(&t);
}

TEST(counts_by_thread_in_a_shared_cache)
{
    struct cfiat t;
    make(&t, 1024, 32, 4, true);
    CHECK_EQ(load(&t, 0, 0, 4), 0);
    CHECK_EQ(load(&t, 9, 0, 4), SILENT);
    CHECK_EQ(load(&t, 9, 0, 4), SILENT);
    CHECK_EQ(load(&t, 0, 0, 4), SILENT);
    CHECK_EQ(load(&t, 0, 4, 4), 1);
    CHECK_EQ(load(&t, 9, 8, 4), 2);
    cfiat_fini(&t);
}

TEST(refuses_caches_that_cannot_be)
{
    static const struct cfiat_config configs[] = {
        {.size = 1000, .line = 16, .ways = 2, .granule = 4},
        {.size = 1024, .line = 24, .ways = 2, .granule = 4},
        {.size = 1024, .line = 16, .ways = 3, .granule = 4},
        {.size = 1024, .line = 16, .ways = 2, .granule = 3},
        {.size = 1024, .line = 16, .ways = 2, .granule = 32},
        {.size = 1024, .line = 1024, .ways = 2, .granule = 32, .shared = true},
    };
    for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
        struct cfiat t = {.config = configs[i]};
        struct vs_diag diag = {.offset = -1};
        CHECK_ERR(cfiat_init(&t, &diag), VSE_INVAL);
        CHECK(diag.text[0]);
        cfiat_fini(&t);
    }
}

/* ---- statistics ------------------------------------------------------------------------------ */

/* The numbers of the published example: the rates are cut there too. */
TEST(prints_the_published_statistics)
{
    static const char want[] = "-- Cache References Hits: Misses (Hit Rate)\n"
                               "\tTotal 4769372:23463(99%)\n"
                               "\tByte Operands 177687:4534(97%)\n"
                               "\tWord Operands 7195:1900(79%)\n"
                               "\tDoubleword Operands 3672973:3584(99%)\n"
                               "\tQuadword Operands 907307:13357(98%)\n"
                               "\tExtended Precision Operands 0:0(0%)\n"
                               "\tOctaword Operands 4210:88(97%)\n"
                               "\tHexaword Operands 0:0(0%)\n"
                               "\tOther Sized Operands 0:0(0%)\n"
                               "-- First Access Flag References Hits: Misses (Hit Rate)\n"
                               "\tTotal 4265739:37172(99%)\n"
                               "\tByte Operands 136310:13283(91%)\n"
                               "\tWord Operands 5329:1832(74%)\n"
                               "\tDoubleword Operands 3564260:5817(99%)\n"
                               "\tQuadword Operands 556745:16219(97%)\n"
                               "\tExtended Precision Operands 0:0(0%)\n"
                               "\tOctaword Operands 3095:21(99%)\n"
                               "\tHexaword Operands 0:0(0%)\n"
                               "\tOther Sized Operands 0:0(0%)\n";
    struct cfiat t = {
        .lines = {{177687, 4534}, {7195, 1900}, {3672973, 3584}, {907307, 13357}, [5] = {4210, 88}},
        .flags = {
            {136310, 13283}, {5329, 1832}, {3564260, 5817}, {556745, 16219}, [5] = {3095, 21}}};
    char got[sizeof(want) + 1] = "";
    static struct out out;
    FILE *file = tmpfile();
    CHECK(file);
    out_init(&out, fileno(file));
    cfiat_statistics(&t, &out);
    CHECK_EQ(out_flush(&out), 0);
    CHECK_EQ(pread(fileno(file), got, sizeof(got) - 1, 0), sizeof(want) - 1);
    CHECK_STR(got, want);
    fclose(file);
}
