/* SPDX-License-Identifier: MIT */
#include "gdb/mappings.h"

#include <string.h>

#include "rng.h"
#include "unittest.h"

enum { PAGES = 64, MAPS = 40 };

static struct vs_replay_map draw_map(struct rng *rng)
{
    uint64_t addr = rng_below(rng, PAGES), size = 1 + rng_below(rng, PAGES - addr);
    return (struct vs_replay_map){.addr = addr << VS_PAGE_BITS,
                                  .size = size << VS_PAGE_BITS,
                                  .rights = (unsigned)rng_below(rng, 8),
                                  .there = rng_below(rng, 3)};
}

/* By page: the rights, or -1 where nothing is. */
static void apply_plainly(int8_t pages[PAGES], const struct vs_replay_map *map)
{
    for (uint64_t i = 0; i < map->size >> VS_PAGE_BITS && i < PAGES; i++)
        pages[(map->addr >> VS_PAGE_BITS) + i] = map->there ? (int8_t)map->rights : -1;
}

TEST(lists_what_calls_left)
{
    struct rng rng = rng_init(1);
    for (unsigned n = 0; n < 3000; n++) {
        struct vs_replay_map maps[MAPS];
        struct vs_replay r = {.config.isa = vs_isa_find("rv64"), .maps = maps};
        struct vs_gdb_mappings m;
        int8_t is[PAGES], should[PAGES];
        memset(is, -1, sizeof(is));
        memset(should, -1, sizeof(should));
        CHECK(r.config.isa);
        for (r.map_count = 0; r.map_count < 1 + n % MAPS; r.map_count++) {
            maps[r.map_count] = draw_map(&rng);
            if (!rng_below(&rng, 30)) { /* exec */
                maps[r.map_count] = (struct vs_replay_map){.size = r.config.isa->user_end};
                memset(should, -1, sizeof(should));
            } else {
                apply_plainly(should, &maps[r.map_count]);
            }
        }
        CHECK_EQ(vs_gdb_mappings_init(&m, &r), 0);
        for (size_t i = 0; i < m.count; i++) {
            const struct vs_gdb_mapping *p = &m.list[i], *next = p + 1;
            CHECK(p->size && p->image == VS_PRESENT_NONE);
            CHECK(i + 1 == m.count || p->addr + p->size < next->addr ||
                  (p->addr + p->size == next->addr && p->rights != next->rights));
            apply_plainly(is, &(struct vs_replay_map){p->addr, p->size, p->rights, true});
        }
        CHECK_MEM(is, should, sizeof(is));
        vs_gdb_mappings_fini(&m);
    }
}

TEST(survives_any_numbers)
{
    struct rng rng = rng_init(2);
    for (unsigned n = 0; n < 3000; n++) {
        struct vs_replay_map maps[MAPS];
        struct vs_replay r = {
            .config.isa = vs_isa_find("rv64"), .maps = maps, .map_count = 1 + n % MAPS};
        struct vs_gdb_mappings m;
        for (size_t i = 0; i < r.map_count; i++)
            maps[i] = (struct vs_replay_map){.addr = rng_next(&rng) >> rng_below(&rng, 64),
                                             .size = rng_next(&rng) >> rng_below(&rng, 64),
                                             .there = rng_below(&rng, 4)};
        CHECK_EQ(vs_gdb_mappings_init(&m, &r), 0);
        for (size_t i = 1; i < m.count; i++)
            CHECK(m.list[i - 1].addr + m.list[i - 1].size <= m.list[i].addr);
        vs_gdb_mappings_fini(&m);
    }
}
