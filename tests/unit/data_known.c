/* SPDX-License-Identifier: MIT */
/* First-access flags that come back from the tables of known lines and pages. */
#include "unit/datarun.h"

/* ---- caches of two lines --------------------------------------------------------------------- */

enum { LINE = 16, NO_FLAG = VS_GRANULES_NO_FLAG };

static void make(struct vs_granules *g, unsigned caches, uint32_t k, uint32_t r)
{
    const struct vs_cache_config config = {2 * LINE, LINE, 2, VS_CACHE_LRU};
    CHECK_EQ(vs_granules_init(g, caches, &config, 4, true, NULL), 0);
    CHECK_EQ(
        vs_granules_remember(g, &(struct vs_known_config){.k_entries = k, .r_entries = r}, NULL),
        0);
}

/* Whether a load finds all its flags, in its line or in the tables. */
static bool reads_quietly(struct vs_granules *g, unsigned cache, uint64_t at, size_t size)
{
    return !(vs_granules_read(g, cache, BASE + at, size) & NO_FLAG);
}

static void write_whole(struct vs_granules *g, unsigned cache, uint64_t at, size_t size)
{
    vs_granules_write(g, cache, BASE + at, size, false);
}

/* Makes both lines of a cache leave it. */
static void push_out(struct vs_granules *g, unsigned cache)
{
    vs_granules_read(g, cache, BASE + (1 << 20), 4);
    vs_granules_read(g, cache, BASE + (1 << 20) + LINE, 4);
}

TEST(gives_flags_back_to_lines_that_were_known)
{
    struct vs_granules g;
    make(&g, 1, 8, 0);
    CHECK(!reads_quietly(&g, 0, 0x00, 16));
    CHECK(!reads_quietly(&g, 0, 0x10, 8));  /* half a line */
    CHECK(vs_known_has(&g.known[0], BASE)); /* though it is still in the cache */
    CHECK(!vs_known_has(&g.known[0], BASE + 0x10));
    push_out(&g, 0);
    CHECK_EQ(vs_granules_read(&g, 0, BASE, 4), VS_GRANULES_NO_LINE);
    CHECK_EQ(vs_granules_read(&g, 0, BASE + 8, 8), 0);
    CHECK(!reads_quietly(&g, 0, 0x10, 8));
    vs_granules_fini(&g);
}

TEST(knows_what_was_stored_whole)
{
    struct vs_granules g;
    make(&g, 1, 8, 0);
    write_whole(&g, 0, 0x00, 16);
    write_whole(&g, 0, 0x10, 15);
    push_out(&g, 0);
    CHECK(reads_quietly(&g, 0, 0x00, 16));
    CHECK(!reads_quietly(&g, 0, 0x1c, 4));
    vs_granules_fini(&g);
}

/* K has one entry, which other pages take. The page whose lines are all known is in R by then. */
TEST(keeps_whole_pages_apart)
{
    struct vs_granules g;
    make(&g, 1, 1, 1);
    for (unsigned at = 0; at < 4096; at += LINE)
        CHECK(!reads_quietly(&g, 0, at, LINE));
    for (unsigned at = 4096; at < 8192 - LINE; at += LINE)
        CHECK(!reads_quietly(&g, 0, at, LINE));
    CHECK(!reads_quietly(&g, 0, 8192, LINE));
    CHECK(reads_quietly(&g, 0, 0x120, LINE));
    CHECK(!reads_quietly(&g, 0, 4096, LINE));
    vs_granules_fini(&g);
}

TEST(forgets_only_the_lines_that_are_written_from_outside)
{
    struct vs_granules g;
    make(&g, 2, 8, 8);
    for (unsigned at = 0; at < 4096; at += LINE)
        CHECK(!reads_quietly(&g, 0, at, LINE));
    push_out(&g, 0);
    vs_granules_drop(&g, VS_GRANULES_ALL, BASE + 0x2f, 2);
    CHECK(reads_quietly(&g, 0, 0x10, LINE));
    CHECK(!reads_quietly(&g, 0, 0x20, LINE));
    CHECK(!reads_quietly(&g, 0, 0x30, LINE));
    CHECK(reads_quietly(&g, 0, 0x40, LINE));
    push_out(&g, 0);
    vs_granules_drop(&g, 0, BASE, 4096); /* everywhere but here */
    CHECK(reads_quietly(&g, 0, 0x10, LINE));
    push_out(&g, 0);
    vs_granules_drop(&g, 1, BASE, 64);
    CHECK(!reads_quietly(&g, 0, 0x10, LINE));
    CHECK(reads_quietly(&g, 0, 0x80, LINE));
    push_out(&g, 0);
    vs_granules_forget(&g);
    CHECK(!reads_quietly(&g, 0, 0x80, LINE));
    vs_granules_fini(&g);
}

/* A core that has a line and stores to it tells nobody but those who have it, too, or know it. */
TEST(forgets_what_another_core_writes)
{
    struct vs_granules g;
    for (unsigned before = 0; before < 3; before++) {
        make(&g, 2, 8, 8);
        if (before == 1)
            vs_granules_read(&g, 1, BASE, 4);
        CHECK(!reads_quietly(&g, 0, 0, LINE));
        push_out(&g, 0);
        if (before == 2)
            vs_granules_read(&g, 1, BASE, 4);
        write_whole(&g, 1, 4, 4);
        CHECK(!reads_quietly(&g, 0, 0, LINE));
        push_out(&g, 1);
        CHECK(!reads_quietly(&g, 1, 0, LINE)); /* it knew a granule or two */
        vs_granules_fini(&g);
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

#define SMALL "size=32 line=16 ways=2 policy=lru granule=4"

/* Eight lines of which a cache has two, read again and again, with stores of another core, of the
 * system and of a mapping between. */
static void revisit(struct script *s)
{
    const struct vs_event map = {
        .kind = VS_MAP, .addr = BASE, .value = 4096, .pc = VS_NO_IMAGE, .flags = VS_MAP_READ};
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned at = 0; at < 128; at += 8)
            load(s, 0, at, 8);
        if (round == 2)
            store(s, 1, 0x14, 4);
        if (round == 4)
            touch(s, VS_EXTERNAL, 1, 0x2e, 4);
        if (round == 6) {
            load(s, 1, 0x40, 4);
            store(s, 1, 0x40, 4);
        }
        if (round == 8)
            run_add(&s->run, &map, NULL, 10 * s->run.count);
    }
}

/* A load is of 8 bytes, a line has two. */
TEST(sends_only_what_was_forgotten)
{
    static const struct {
        const char *params;
        unsigned misses;
    } settings[] = {
        {SMALL, 160},
        {SMALL " k=8 r=8", 16 + 2 + 4 + 2 + 16},
        {SMALL " k=8", 16 + 2 + 4 + 2 + 16},
        {SMALL " k=8 caches=shared", 16 + 0 + 4 + 0 + 16},
    };
    struct script *s = script_new();
    revisit(s);
    for (unsigned i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
        struct stream t;
        encode(&t, "mlvCF_b", settings[i].params, &s->run, true);
        CHECK_EQ(t.counts.misses[3], settings[i].misses);
        CHECK_EQ(t.counts.unseen, 0);
        check_replays(&t, &s->run);
        stream_free(&t);
    }
    script_free(s);
}

/* ---- parameters ------------------------------------------------------------------------------ */

TEST(counts_the_tables_of_each_cache)
{
    const struct vs_technique_setup setup = {.cores = 4, .address_bits = 64};
    struct vs_technique_spec spec;
    struct vs_cost_list plain, with;
    parse(&spec, "mlvCF_e", "CS32");
    CHECK_EQ(vs_technique_cost(&spec, &setup, &plain), 0);
    parse(&spec, "mlvCF_e", "CS32 k=16 r=16");
    CHECK_EQ(vs_technique_cost(&spec, &setup, &with), 0);
    struct vs_cost sum = vs_cost_list_sum(&plain), more = vs_cost_list_sum(&with);
    /* two sets of 8: 128 lines, 64 - 12 - 1 bits of tag and 3 of rank; 64 pages, 64 - 18 - 1, 3 */
    CHECK_EQ(more.sram - sum.sram, 4 * 16 * (128 + 51 + 3 + 64 + 45 + 3));
    CHECK_EQ(more.comparators - sum.comparators, 4 * 8 * (51 + 45));
    parse(&spec, "mlvCF_e", "CS32 k=16 r=16 caches=shared");
    CHECK_EQ(vs_technique_cost(&spec, &setup, &with), 0);
    CHECK_EQ(with.items[1].copies, 1);
}

TEST(refuses_a_table_that_nothing_fills)
{
    struct vs_technique_spec spec;
    struct vs_diag diag;
    CHECK_ERR(vs_technique_parse(&spec, "mlvCF_e:r=8", &diag), VSE_INVAL);
    CHECK_HAS(diag.text, "needs k");
    CHECK_ERR(vs_technique_parse(&spec, "mlvCF_e:k=12", &diag), VSE_INVAL);
}

/* Streams of older versions do not name what was not there. */
TEST(has_no_tables_where_none_are_named)
{
    struct vs_technique_spec spec;
    CHECK_EQ(vs_technique_unnamed(&spec, vs_technique_find("mlvCF_e")), 0);
    const struct vs_data_params *p = (const void *)spec.params;
    CHECK_EQ(p->k, 0);
    CHECK_EQ(p->r, 0);
}
