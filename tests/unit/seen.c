/* SPDX-License-Identifier: MIT */
/* Memory as a run shows it, and copies of memory, when no more memory is to be had. */
#include "technique/seen.h"

#include "no_memory.h"
#include "unittest.h"

#define AT UINT64_C(0x10000)

/* Pages, each in a group of its own, that fill half of a table of 256 slots: one more and it has to
 * grow. */
enum { PAGES = 128 };

static uint64_t page(unsigned number)
{
    return AT + number * VS_COPY_GROUP * VS_COPY_PAGE;
}

/* The pages that were made first are no longer among those found lately. */
static void fill(struct vs_seen *s)
{
    const uint8_t byte = 1;
    vs_seen_init(s, NULL);
    for (unsigned i = 0; i < PAGES; i++)
        CHECK_EQ(vs_seen_write(s, page(i), &byte, 1), 0);
    CHECK_EQ(s->copy.groups.capacity, 2 * PAGES);
}

TEST(needs_no_room_for_a_page_that_is_there)
{
    struct vs_seen s;
    const uint8_t byte = 2;
    fill(&s);
    CHECK_EQ(vs_seen_write(&s, page(0), &byte, 1), 0);
    CHECK_EQ(s.copy.groups.capacity, 2 * PAGES);
    CHECK_EQ(vs_seen_write(&s, page(PAGES), &byte, 1), 0);
    CHECK_EQ(s.copy.groups.capacity, 4 * PAGES);
    CHECK_EQ(s.copy.count, PAGES + 1);
    vs_seen_fini(&s);
}

TEST(maps_what_it_knows_without_memory)
{
    struct vs_seen s;
    uint8_t byte = 0;
    fill(&s);
    bool used_up = use_up_memory();
    CHECK_EQ(vs_seen_map(&s, page(0), VS_COPY_PAGE), 0);
    CHECK_EQ(vs_copy_look(&s.copy, page(0) >> VS_COPY_BITS)->since, 1);
    CHECK_EQ(vs_copy_look(&s.copy, page(1) >> VS_COPY_BITS)->since, 0);
    if (used_up)
        CHECK_ERR(vs_seen_write(&s, page(PAGES), &byte, 1), VSE_NOMEM);
    CHECK_EQ(vs_seen_load(&s, page(2), (const uint8_t[8]){1}, 1), 1);
    vs_seen_fini(&s);
}
