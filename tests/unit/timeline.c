/* SPDX-License-Identifier: MIT */
/* What a report counts over time. */
#include "page/timeline.h"

#include "page/memory.h"
#include "unittest.h"

/* A run may stand still in one bin for longer than the bins of others are together. */
TEST(counts_more_in_a_bin_than_32_bits_hold)
{
    const struct vs_run_info info = {
        .features = VS_RUN_TIMED, .threads = 1, .cycle_last = UINT64_C(1) << 40};
    const struct vs_event e = {.kind = VS_COUNT, .icount = UINT16_MAX};
    const uint64_t cycle = 5;
    const struct vs_batch one = {.events = &e, .cycles = &cycle, .count = 1};
    struct page_timeline t;
    uint64_t wanted = 0;

    CHECK_EQ(page_timeline_init(&t, &info), 0);
    for (; wanted <= UINT32_MAX; wanted += UINT16_MAX)
        CHECK_EQ(page_timeline_take(&t, &one), 0);
    CHECK_EQ(t.cells[PAGE_INSTRUCTIONS][0], wanted);
    for (size_t i = 1; i < t.bins; i++)
        CHECK_EQ(t.cells[PAGE_INSTRUCTIONS][i], 0);
    page_timeline_fini(&t);
}

TEST(counts_more_accesses_of_a_granule_than_32_bits_hold)
{
    const struct vs_event e = {.kind = VS_LOAD, .addr = 0x1000, .size = 8};
    struct page_memory m;
    struct page_access access;

    CHECK_EQ(page_memory_init(&m, 1), 0);
    CHECK_EQ(page_memory_take(&m, &e, 0, 100, &access), 0);
    CHECK_EQ(m.heat_count, 1);
    CHECK_EQ(m.heat[0].loads[0], 1);
    m.heat[0].loads[0] = UINT32_MAX; /* as after so many more */
    CHECK_EQ(page_memory_take(&m, &e, 0, 100, &access), 0);
    CHECK_EQ(m.heat[0].loads[0], UINT64_C(1) << 32);
    page_memory_fini(&m);
}
