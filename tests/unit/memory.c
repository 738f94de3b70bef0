/* SPDX-License-Identifier: MIT */
/* Shadow memory over hand-made and generated runs. */
#include "study/memory.h"

#include "runs.h"

/* ---- making runs ---- */

static void add(struct run *r, unsigned kind, uint64_t addr, const void *bytes, unsigned size)
{
    struct vs_event e = {.kind = (uint8_t)kind,
                         .pc = 0x1000 + 4 * r->count,
                         .addr = addr,
                         .size = (uint16_t)size,
                         .icount = 1};
    struct vs_batch b = {.events = &e, .count = 1};

    if (size > 8) {
        b.wide = bytes;
        b.wide_size = size;
    } else {
        memcpy(&e.value, bytes, size);
    }
    run_append(r, &b);
}

static void add_number(struct run *r, unsigned kind, uint64_t addr, uint64_t value, unsigned size)
{
    add(r, kind, addr, &value, size);
}

static void add_map(struct run *r, uint64_t addr, uint64_t length, unsigned flags)
{
    struct vs_event e = {.kind = VS_MAP, .pc = VS_NO_IMAGE, .addr = addr, .value = length};
    struct vs_batch b = {.events = &e, .count = 1};

    e.flags = (uint8_t)flags;
    run_append(r, &b);
}

static void add_gap(struct run *r)
{
    struct vs_event e = {.kind = VS_GAP, .pc = 0x1000};
    struct vs_batch b = {.events = &e, .count = 1};

    run_append(r, &b);
}

static void fill(uint8_t *bytes, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(seed + 7 * i);
}

static struct run empty_run(void)
{
    return (struct run){.features = VS_RUN_LOADS | VS_RUN_STORES};
}

/* ---- checking them ---- */

/* In memory, and again through a file. Frees the run. */
static struct vs_memory_check check_run(struct run *r)
{
    struct vs_memory_check direct, filed;
    struct vs_batch b = run_batch(r, 0, r->count);
    struct place place;

    vs_memory_check_init(&direct, 0);
    CHECK_EQ(vs_memory_check_batch(&direct, &b), 0);
    vs_memory_check_fini(&direct);

    place_init(&place);
    struct file f = run_file(r, &(struct vs_writer_options){.chunk_events = 64}, 50);
    struct vs_reader *reader = file_open(&f);
    vs_memory_check_init(&filed, 0);
    while (vs_reader_next(reader, &b) > 0)
        CHECK_EQ(vs_memory_check_batch(&filed, &b), 0);
    vs_memory_check_fini(&filed);
    vs_reader_close(reader);
    file_free(&f);
    place_fini(&place);
    run_free(r);
    CHECK_MEM(&direct, &filed, offsetof(struct vs_memory_check, pages));
    return direct;
}

static void expect(const struct vs_memory_check *c, uint64_t compared, uint64_t bytes,
                   uint64_t learnt, uint64_t differences)
{
    CHECK_EQ(c->compared, compared);
    CHECK_EQ(c->bytes_compared, bytes);
    CHECK_EQ(c->bytes_learnt, learnt);
    CHECK_EQ(c->differences, differences);
}

TEST(compares_nothing_in_an_empty_run)
{
    struct vs_memory_check c;
    struct vs_batch b = {0};

    vs_memory_check_init(&c, 0);
    CHECK_EQ(vs_memory_check_batch(&c, &b), 0);
    vs_memory_check_fini(&c);
    CHECK_EQ(c.loads, 0);
    expect(&c, 0, 0, 0, 0);
}

TEST(learns_what_is_seen_first)
{
    struct run r = empty_run();

    add_number(&r, VS_LOAD, 0x5000, 0x11223344, 4);
    add_number(&r, VS_LOAD, 0x5000, 0x11223344, 4);
    add_number(&r, VS_LOAD, 0x5002, 0x99991122, 4); /* two bytes of it are new */
    struct vs_memory_check c = check_run(&r);
    CHECK_EQ(c.loads, 3);
    expect(&c, 2, 6, 6, 0);
}

TEST(takes_the_last_write_of_any_thread)
{
    struct run r = empty_run();

    add_number(&r, VS_STORE, 0x5000, 0x1111111111111111, 8);
    add_number(&r, VS_STORE, 0x5003, 0x2222, 2);
    add_number(&r, VS_EXTERNAL, 0x5007, 0x33, 1);
    add_number(&r, VS_LOAD, 0x5000, 0x3311112222111111, 8);
    r.events[1].thread = 1;
    r.events[3].thread = 2;
    /* threads are numbered as they appear */
    struct vs_memory_check c = check_run(&r);
    CHECK_EQ(c.bytes_external, 1);
    expect(&c, 1, 8, 0, 0);
}

TEST(finds_a_difference_and_goes_on)
{
    struct run r = empty_run();

    add_number(&r, VS_STORE, 0x5000, 0x44332211, 4);
    add_number(&r, VS_LOAD, 0x5000, 0x44332211, 4);
    add_number(&r, VS_LOAD, 0x5000, 0x44552211, 4);
    add_number(&r, VS_LOAD, 0x5000, 0x44552211, 4); /* believed by now */
    add_number(&r, VS_LOAD, 0x5001, 0x33, 1);
    struct vs_memory_check c = check_run(&r);
    expect(&c, 4, 13, 0, 2);
    CHECK_EQ(c.first.event, 2);
    CHECK_EQ(c.first.pc, 0x1008);
    CHECK_EQ(c.first.addr, 0x5000);
    CHECK_EQ(c.first.size, 4);
    CHECK_EQ(c.first.offset, 2);
    CHECK_EQ(c.first.from, 0);
    CHECK_EQ(c.first.shown, 4);
    CHECK_EQ(c.first.known, 0xf);
    CHECK_MEM(c.first.expected, "\x11\x22\x33\x44", 4);
    CHECK_MEM(c.first.got, "\x11\x22\x55\x44", 4);
}

TEST(compares_only_known_bytes_of_a_word)
{
    struct run r = empty_run();

    add_number(&r, VS_STORE, 0x5002, 0xaa, 1);
    add_number(&r, VS_STORE, 0x5004, 0xbb, 1);
    add_number(&r, VS_LOAD, 0x5000, 0x1122, 2);
    add_number(&r, VS_LOAD, 0x5001, 0x1bb11aa22, 5);
    struct vs_memory_check c = check_run(&r);
    expect(&c, 1, 3, 4, 1);
    CHECK_EQ(c.first.offset, 0);
    CHECK_EQ(c.first.known, 0xb);
    CHECK_MEM(c.first.expected, "\x11\xaa\x00\xbb\x00", 5);
}

TEST(finds_each_byte_of_each_size)
{
    for (unsigned size = 1; size <= 8; size++)
        for (unsigned at = 0; at < size; at++)
            for (unsigned shift = 0; shift < 9; shift++) {
                struct vs_memory_check c;
                uint64_t value = UINT64_C(0x8877665544332211) >> (64 - 8 * size);
                struct vs_event e[] = {
                    {.kind = VS_STORE, .addr = 0x6000 - shift, .size = 8, .value = 0},
                    {.kind = VS_STORE, .addr = 0x6000 - shift, .value = value},
                    {.kind = VS_LOAD, .addr = 0x6000 - shift, .value = value},
                    {.kind = VS_LOAD, .addr = 0x6000 - shift},
                };
                struct vs_batch b = {.events = e, .count = 4};

                e[1].size = e[2].size = e[3].size = (uint16_t)size;
                e[3].value = value ^ UINT64_C(0x80) << (8 * at);
                vs_memory_check_init(&c, 0);
                CHECK_EQ(vs_memory_check_batch(&c, &b), 0);
                vs_memory_check_fini(&c);
                expect(&c, 2, 2 * size, 0, 1);
                CHECK_EQ(c.first.event, 3);
                CHECK_EQ(c.first.offset, at);
            }
}

TEST(finds_a_difference_inside_a_wide_value)
{
    struct run r = empty_run();
    uint8_t bytes[200];

    fill(bytes, sizeof(bytes), 3);
    add(&r, VS_STORE, 0x5f80, bytes, sizeof(bytes)); /* over the end of a page */
    add(&r, VS_LOAD, 0x5f80, bytes, sizeof(bytes));
    bytes[150] ^= 1;
    bytes[170] ^= 1;
    add(&r, VS_LOAD, 0x5f80, bytes, sizeof(bytes));
    struct vs_memory_check c = check_run(&r);
    expect(&c, 2, 400, 0, 1);
    CHECK_EQ(c.first.offset, 150);
    CHECK_EQ(c.first.from, 150);
    CHECK_EQ(c.first.shown, VS_MEMORY_SHOWN);
    CHECK_EQ(c.first.known, UINT32_MAX);
    CHECK_MEM(c.first.got, bytes + 150, VS_MEMORY_SHOWN);
    bytes[150] ^= 1;
    bytes[170] ^= 1;
    CHECK_MEM(c.first.expected, bytes + 150, VS_MEMORY_SHOWN);
}

TEST(shows_the_end_of_a_wide_value)
{
    struct run r = empty_run();
    uint8_t bytes[100];

    fill(bytes, sizeof(bytes), 3);
    add(&r, VS_STORE, 0x5001, bytes, sizeof(bytes));
    bytes[98] ^= 0x10;
    add(&r, VS_LOAD, 0x5001, bytes, sizeof(bytes));
    struct vs_memory_check c = check_run(&r);
    CHECK_EQ(c.first.offset, 98);
    CHECK_EQ(c.first.shown, 2);
    CHECK_EQ(c.first.known, 3);
}

TEST(takes_the_largest_value)
{
    struct run r = empty_run();
    uint8_t *bytes = malloc(VS_SIZE_MAX);

    CHECK(bytes);
    fill(bytes, VS_SIZE_MAX, 9);
    add(&r, VS_EXTERNAL, 0x5123, bytes, VS_SIZE_MAX);
    add_number(&r, VS_LOAD, 0x5123 + VS_SIZE_MAX - 1, bytes[VS_SIZE_MAX - 1], 1);
    add_number(&r, VS_LOAD, 0x5123 + VS_SIZE_MAX, 0, 1);
    add_number(&r, VS_LOAD, 0x5122, 0, 1);
    add(&r, VS_LOAD, 0x5123, bytes, VS_SIZE_MAX);
    struct vs_memory_check c = check_run(&r);
    expect(&c, 2, VS_SIZE_MAX + 1, 2, 0);
    CHECK_EQ(c.bytes_external, VS_SIZE_MAX);
    free(bytes);
}

TEST(wraps_at_the_end_of_the_address_space)
{
    struct run r = empty_run();

    add_number(&r, VS_STORE, UINT64_MAX - 2, 0x8877665544332211, 8);
    add_number(&r, VS_LOAD, 0, 0x8877665544, 5);
    add_number(&r, VS_LOAD, UINT64_MAX, 0x33, 1);
    add_number(&r, VS_LOAD, UINT64_MAX - 2, 0x8877665544332211, 8);
    add_map(&r, UINT64_MAX - 1, 4, VS_MAP_READ);
    add_number(&r, VS_LOAD, UINT64_MAX - 2, 0x8877660000000011, 8);
    struct vs_memory_check c = check_run(&r);
    expect(&c, 4, 18, 4, 0);
}

TEST(forgets_what_is_mapped_or_gone)
{
    for (unsigned flags = 0; flags <= VS_MAP_ALL; flags += VS_MAP_ALL) {
        struct run r = empty_run();

        add_number(&r, VS_STORE, 0x5ffc, 0x8877665544332211, 8);
        add_map(&r, 0x5ffe, 4, flags);
        add_number(&r, VS_LOAD, 0x5ffe, 0, 4);      /* new content */
        add_number(&r, VS_LOAD, 0x5ffc, 0x2211, 2); /* beside it */
        add_number(&r, VS_LOAD, 0x6002, 0x8877, 2);
        add_map(&r, 0x5000, 0, flags); /* of no bytes */
        add_number(&r, VS_LOAD, 0x5ffc, 0x2211, 2);
        struct vs_memory_check c = check_run(&r);
        expect(&c, 3, 6, 4, 0);
    }
}

TEST(forgets_huge_ranges_at_once)
{
    struct run r = empty_run();

    add_number(&r, VS_STORE, 0x500000, 1, 8);
    add_number(&r, VS_STORE, UINT64_C(1) << 47, 2, 8);
    add_number(&r, VS_STORE, UINT64_MAX - 7, 3, 8);
    for (unsigned i = 0; i < 1000; i++)
        add_map(&r, 0x1000, (UINT64_C(1) << 47) - 0x1000, VS_MAP_GONE);
    add_number(&r, VS_LOAD, 0x500000, 0, 8);
    add_number(&r, VS_LOAD, UINT64_C(1) << 47, 2, 8);
    add_map(&r, 0, UINT64_MAX, VS_MAP_GONE); /* all but the last byte */
    add_number(&r, VS_LOAD, 0x500000, 5, 8);
    add_number(&r, VS_LOAD, UINT64_MAX - 7, 0x0900000000000000, 8);
    struct vs_memory_check c = check_run(&r);
    expect(&c, 2, 9, 23, 1);
    CHECK_EQ(c.first.addr, UINT64_MAX - 7);
    CHECK_EQ(c.first.offset, 7);
}

TEST(forgets_all_in_a_gap)
{
    struct run r = empty_run();

    add_number(&r, VS_STORE, 0x5000, 7, 8);
    add_number(&r, VS_STORE, 0x905000, 7, 8);
    add_gap(&r);
    add_number(&r, VS_LOAD, 0x5000, 8, 8);
    add_number(&r, VS_LOAD, 0x5000, 8, 8);
    add_number(&r, VS_STORE, 0x905000, 9, 1); /* the rest of the page is not known by it */
    add_number(&r, VS_LOAD, 0x905000, 0x8809, 8);
    struct vs_memory_check c = check_run(&r);
    expect(&c, 2, 9, 15, 0);
}

TEST(tells_pages_of_one_place_apart)
{
    enum { PAGES = 5000 };
    struct run r = empty_run();

    for (unsigned i = 0; i < PAGES; i++)
        add_number(&r, VS_STORE, (uint64_t)i * VS_MEMORY_RECENT * 4096, i, 4);
    for (unsigned i = PAGES; i-- > 0;)
        add_number(&r, VS_LOAD, (uint64_t)i * VS_MEMORY_RECENT * 4096, i, 4);
    struct vs_memory_check c = check_run(&r);
    expect(&c, PAGES, 4 * PAGES, 0, 0);
}

TEST(stops_at_the_limit_of_pages)
{
    struct vs_event e = {.kind = VS_STORE, .size = 1};
    struct vs_batch b = {.events = &e, .count = 1};
    struct vs_memory_check c;

    vs_memory_check_init(&c, 2);
    CHECK_EQ(vs_memory_check_batch(&c, &b), 0);
    e.addr = 0x2000;
    CHECK_EQ(vs_memory_check_batch(&c, &b), 0);
    e.addr = 0x2fff;
    CHECK_EQ(vs_memory_check_batch(&c, &b), 0);
    e.size = 2;
    CHECK_ERR(vs_memory_check_batch(&c, &b), VSE_LIMIT);
    vs_memory_check_fini(&c);
}

/* ---- generated runs ---- */

static struct vs_memory_check check_generated(const struct run *r)
{
    struct vs_memory_check c;
    struct vs_batch b = run_batch(r, 0, r->count);

    vs_memory_check_init(&c, 0);
    CHECK_EQ(vs_memory_check_batch(&c, &b), 0);
    vs_memory_check_fini(&c);
    return c;
}

TEST(passes_generated_runs)
{
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct run r = run_generate(&(struct gen_options){.seed = seed,
                                                          .events = 100000,
                                                          .threads = seed,
                                                          .memory = true,
                                                          .wide = 10 * seed,
                                                          .unaligned = 30,
                                                          .gaps = seed % 2 ? GEN_NEVER : 5000,
                                                          .profile = seed % GEN_PROFILE_END});
        struct vs_memory_check c = check_generated(&r);
        CHECK_EQ(c.differences, 0);
        CHECK(c.bytes_compared > 100000);
        CHECK(c.bytes_learnt > 0);
        run_free(&r);
    }
}

/* Whether no load sees the first byte of a store. */
static bool lost(const struct run *r, size_t store)
{
    const struct vs_event *s = &r->events[store];

    for (size_t i = store + 1; i < r->count; i++) {
        const struct vs_event *e = &r->events[i];

        if (e->kind == VS_GAP || (e->kind == VS_MAP && s->addr - e->addr < e->value))
            return true;
        if (e->kind != VS_LOAD && e->kind != VS_STORE && e->kind != VS_EXTERNAL)
            continue;
        if (s->addr - e->addr < e->size)
            return e->kind != VS_LOAD;
    }
    return true;
}

TEST(notices_a_changed_store_in_generated_runs)
{
    struct run r = run_generate(
        &(struct gen_options){.seed = 5, .events = 30000, .threads = 3, .memory = true});
    unsigned noticed = 0;

    for (size_t i = 0; i < r.count; i += 37) {
        struct vs_event *e = &r.events[i];

        if (e->kind != VS_STORE || e->size > 8)
            continue;
        e->value ^= 1;
        struct vs_memory_check c = check_generated(&r);
        e->value ^= 1;
        CHECK_EQ(c.differences > 0, !lost(&r, i));
        noticed += c.differences > 0;
    }
    CHECK(noticed > 10);
    run_free(&r);
}
