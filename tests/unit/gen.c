/* SPDX-License-Identifier: MIT */
/* Generated runs keep what gen.h promises. */
#include "gen/gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/follow.h"
#include "unittest.h"

/* ---- a whole run ---- */

struct run {
    struct vs_event *events;
    uint64_t *cycles;
    uint8_t *wide;
    size_t count, wide_size;
    struct gen *gen; /* for its tables */
    struct gen_options options;
};

static void *resize(void *p, size_t size)
{
    p = realloc(p, size ? size : 1);
    CHECK(p);
    return p;
}

/* Offsets of wide values become those in r->wide. */
static void append(struct run *r, const struct vs_batch *b)
{
    CHECK_EQ(b->first, r->count);
    CHECK(b->count <= GEN_BATCH_EVENTS);
    r->events = resize(r->events, (r->count + b->count) * sizeof *r->events);
    r->wide = resize(r->wide, r->wide_size + b->wide_size);
    memcpy(r->wide + r->wide_size, b->wide, b->wide_size);
    CHECK_EQ(b->cycles != NULL, r->options.timed);
    if (b->cycles) {
        r->cycles = resize(r->cycles, (r->count + b->count) * sizeof *r->cycles);
        memcpy(r->cycles + r->count, b->cycles, b->count * sizeof *r->cycles);
    }
    for (size_t i = 0; i < b->count; i++) {
        struct vs_event e = b->events[i];
        const char *why = "";
        if (vs_event_check(&e, b->wide_size, &why) != 0)
            unittest_fail(__FILE__, __LINE__, "event %zu: %s", r->count, why);
        if (e.kind == VS_CODE)
            CHECK(e.value < gen_block_count(r->gen));
        if (e.kind == VS_MAP && e.pc != VS_NO_IMAGE)
            CHECK(e.pc < gen_image_count(r->gen));
        if (vs_event_is_wide(&e))
            e.value += r->wide_size;
        r->events[r->count++] = e;
    }
    r->wide_size += b->wide_size;
}

static struct run generate(const struct gen_options *options)
{
    struct run r = {.options = *options};
    struct vs_batch batch;
    int n;
    CHECK_EQ(gen_open(&r.gen, options), 0);
    while ((n = gen_next(r.gen, &batch)) > 0) {
        CHECK_EQ(n, batch.count);
        append(&r, &batch);
    }
    CHECK_EQ(n, 0);
    CHECK_EQ(gen_next(r.gen, &batch), 0);
    return r;
}

static void discard(struct run *r)
{
    free(r->events);
    free(r->cycles);
    free(r->wide);
    gen_close(r->gen);
}

/* ---- memory ---- */

enum { WORDS = 1 << 20 };

struct word {
    uint64_t addr; /* plus 1, so that 0 is free */
    uint64_t epoch;
    uint8_t known, bytes[8];
};

static struct word *word_at(struct word *words, uint64_t addr, uint64_t epoch)
{
    uint64_t key = addr / 8 + 1;
    size_t i = (size_t)(key * 0x9e3779b97f4a7c15u >> 44);
    while (words[i].addr != 0 && words[i].addr != key)
        i = (i + 1) % WORDS;
    if (words[i].addr == 0 || words[i].epoch != epoch)
        words[i] = (struct word){.addr = key, .epoch = epoch};
    return &words[i];
}

/* Loads of bytes that are known must agree; returns how many were. */
static uint64_t check_access(struct word *words, uint64_t epoch, const struct vs_event *e,
                             const uint8_t *bytes)
{
    uint64_t compared = 0;
    for (unsigned i = 0; i < e->size; i++) {
        struct word *w = word_at(words, e->addr + i, epoch);
        unsigned k = (e->addr + i) % 8;
        if (e->kind == VS_LOAD && w->known >> k & 1) {
            CHECK_EQ(w->bytes[k], bytes[i]);
            compared++;
        }
        w->bytes[k] = bytes[i];
        w->known |= (uint8_t)(1u << k);
    }
    return compared;
}

/* Returns the number of bytes compared. */
static uint64_t check_memory(const struct run *r)
{
    struct word *words = calloc(WORDS, sizeof *words);
    const struct vs_batch all = {.wide = r->wide};
    uint64_t compared = 0, epoch = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct vs_event *e = &r->events[i];
        epoch += e->kind == VS_GAP;
        if (e->kind == VS_LOAD || e->kind == VS_STORE || e->kind == VS_EXTERNAL)
            compared += check_access(words, epoch, e, vs_event_bytes(&all, e));
    }
    free(words);
    return compared;
}

/* ---- cases ---- */

static void check_flow(const struct run *r)
{
    uint64_t count = gen_block_count(r->gen);
    struct vs_block *blocks = calloc(count, sizeof *blocks);
    CHECK(blocks);
    for (uint64_t i = 0; i < count; i++)
        CHECK_EQ(gen_block(r->gen, i, &blocks[i]), 0);
    follow_code(&(struct follow_run){
        .all = {.events = r->events, .count = r->count, .wide = r->wide},
        .blocks = blocks,
        .block_count = count,
        .memory = r->options.memory,
    });
    free(blocks);
}

static void check_run(const struct gen_options *options)
{
    struct run r = generate(options);
    CHECK(r.count <= options->events + GEN_SLACK);
    check_flow(&r);
    uint64_t compared = check_memory(&r);
    CHECK(compared > 0 || !options->memory || options->events < 10000);
    discard(&r);
}

static uint64_t fnv1a(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* Of all that a run consists of. */
static uint64_t fingerprint(const struct gen_options *options)
{
    struct run r = generate(options);
    struct vs_block b;
    uint64_t hash = fnv1a(0xcbf29ce484222325u, r.events, r.count * sizeof *r.events);
    hash = fnv1a(hash, r.wide, r.wide_size);
    if (r.cycles)
        hash = fnv1a(hash, r.cycles, r.count * sizeof *r.cycles);
    for (uint64_t id = 0; gen_block(r.gen, id, &b) == 0; id++)
        hash = fnv1a(fnv1a(hash, &b.addr, sizeof b.addr), b.bytes, b.size);
    discard(&r);
    return hash;
}

TEST(repeats_a_run_for_the_same_seed)
{
    struct gen_options o = {
        .seed = 5, .events = 50000, .threads = 3, .memory = true, .timed = true};
    uint64_t first = fingerprint(&o);
    CHECK_EQ(fingerprint(&o), first);
    o.seed = 6;
    CHECK(fingerprint(&o) != first);
}

/* A change of the generator changes these, and whatever was counted on its runs. */
TEST(is_the_same_on_every_host)
{
    static const uint64_t expected[GEN_PROFILE_END] = {8506338505500563924u, 5082296529889615572u,
                                                       6543294078146065297u};
    for (int i = 0; i < GEN_PROFILE_END; i++) {
        struct gen_options o = {.seed = 1,
                                .events = 30000,
                                .threads = 4,
                                .profile = (enum gen_profile)i,
                                .memory = true,
                                .timed = true};
        CHECK_EQ(fingerprint(&o), expected[i]);
    }
}

TEST(works_side_by_side)
{
    struct gen_options o = {.seed = 9, .events = 20000, .threads = 2, .memory = true};
    struct run alone = generate(&o);
    struct gen *a, *b;
    CHECK_EQ(gen_open(&a, &o), 0);
    o.seed = 10;
    CHECK_EQ(gen_open(&b, &o), 0);
    struct vs_batch x, y;
    while (gen_next(a, &x) > 0) {
        gen_next(b, &y);
        for (size_t i = 0; i < x.count; i++)
            CHECK_EQ(x.events[i].addr, alone.events[x.first + i].addr);
    }
    gen_close(a);
    gen_close(b);
    discard(&alone);
}

TEST(runs_follow_their_code_and_memory)
{
    for (unsigned seed = 0; seed < 12; seed += unittest_every(3)) {
        for (int profile = 0; profile < GEN_PROFILE_END; profile++) {
            struct gen_options o = {.seed = seed,
                                    .events = 40000,
                                    .threads = 1 + seed % 5,
                                    .profile = (enum gen_profile)profile,
                                    .memory = seed % 3 != 2};
            check_run(&o);
        }
    }
}

TEST(obeys_its_knobs)
{
    struct gen_options often = {.events = 60000,
                                .threads = 4,
                                .memory = true,
                                .syscalls = 20,
                                .signals = 15,
                                .gaps = 100,
                                .code = 50,
                                .counts = 10,
                                .wide = 60,
                                .atomics = 60,
                                .unaligned = 100};
    struct gen_options never = {.events = 60000,
                                .threads = 4,
                                .memory = true,
                                .syscalls = GEN_NEVER,
                                .signals = GEN_NEVER,
                                .gaps = GEN_NEVER,
                                .code = GEN_NEVER,
                                .wide = GEN_NEVER,
                                .atomics = GEN_NEVER,
                                .unaligned = GEN_NEVER};
    check_run(&often);
    check_run(&never);
    struct run r = generate(&never);
    for (size_t i = 0; i < r.count; i++) {
        const struct vs_event *e = &r.events[i];
        CHECK(e->kind != VS_EXCEPTION && e->kind != VS_GAP && e->kind != VS_CODE);
        if (e->kind == VS_LOAD || e->kind == VS_STORE)
            CHECK(e->size <= 8 && e->addr % e->size == 0 && e->flags == 0);
    }
    discard(&r);
}

struct tally {
    uint64_t kinds[VS_KIND_END], sizes[VS_SIZE_MAX + 1], transfers[VS_BR_ALL + 1];
    uint64_t full_counts, unaligned;
};

static void tally_run(struct tally *t, const struct run *r)
{
    memset(t->kinds, 0, sizeof t->kinds);
    for (size_t i = 0; i < r->count; i++) {
        const struct vs_event *e = &r->events[i];
        bool access = e->kind == VS_LOAD || e->kind == VS_STORE;
        t->kinds[e->kind]++;
        t->full_counts += e->kind == VS_COUNT && e->icount == UINT16_MAX;
        t->unaligned += access && e->addr % e->size != 0;
        if (access || e->kind == VS_EXTERNAL)
            t->sizes[e->size]++;
        if (e->kind == VS_BRANCH)
            t->transfers[e->flags]++;
    }
}

TEST(has_everything_by_default)
{
    static struct tally t;
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct gen_options o = {.seed = seed, .events = 200000, .threads = 4, .memory = true};
        struct run r = generate(&o);
        tally_run(&t, &r);
        for (int k = 1; k < VS_TURN; k++)
            CHECK(t.kinds[k] > 0);
        check_flow(&r);
        discard(&r);
    }
    for (unsigned size = 1; size <= 128; size *= 2)
        CHECK(t.sizes[size] > 0);
    CHECK(t.sizes[VS_SIZE_MAX] > 0 && t.full_counts > 0 && t.unaligned > 0);
    CHECK(t.transfers[VS_BR_COND] > 0 && t.transfers[VS_BR_COND | VS_BR_TAKEN] > 0);
    CHECK(t.transfers[VS_BR_TAKEN] > 0 && t.transfers[VS_BR_TAKEN | VS_BR_CALL] > 0);
    CHECK(t.transfers[VS_BR_TAKEN | VS_BR_INDIRECT] > 0);
    CHECK(t.transfers[VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_CALL] > 0);
    CHECK(t.transfers[VS_BR_TAKEN | VS_BR_INDIRECT | VS_BR_RETURN] > 0);
}

/* Counts the loads that return something else than what was there before, gaps or not. */
static uint64_t surprises(const struct run *r)
{
    const struct vs_batch all = {.wide = r->wide};
    struct word *words = calloc(WORDS, sizeof *words);
    CHECK(words);
    uint64_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct vs_event *e = &r->events[i];
        if (e->kind != VS_LOAD && e->kind != VS_STORE && e->kind != VS_EXTERNAL)
            continue;
        for (unsigned k = 0; k < e->size; k++) {
            uint64_t addr = e->addr + k;
            struct word *w = word_at(words, addr, 0);
            uint8_t byte = vs_event_bytes(&all, e)[k];
            count += e->kind == VS_LOAD && w->known >> addr % 8 & 1 && w->bytes[addr % 8] != byte;
            w->bytes[addr % 8] = byte;
            w->known |= (uint8_t)(1u << addr % 8);
        }
    }
    free(words);
    return count;
}

TEST(changes_memory_in_gaps_only)
{
    struct gen_options o = {.seed = 1, .events = 60000, .threads = 2, .memory = true, .gaps = 500};
    struct run r = generate(&o);
    CHECK(surprises(&r) > 0);
    discard(&r);
    o.gaps = GEN_NEVER;
    r = generate(&o);
    CHECK_EQ(surprises(&r), 0);
    discard(&r);
}

TEST(has_no_memory_if_not_asked)
{
    struct gen_options o = {.seed = 3, .events = 100000, .threads = 4};
    struct run r = generate(&o);
    for (size_t i = 0; i < r.count; i++)
        CHECK(r.events[i].kind != VS_LOAD && r.events[i].kind != VS_STORE &&
              r.events[i].kind != VS_EXTERNAL);
    discard(&r);
    CHECK_EQ(gen_features(&o), 0);
    o.memory = o.timed = true;
    CHECK_EQ(gen_features(&o), VS_RUN_TIMED | VS_RUN_LOADS | VS_RUN_STORES);
}

TEST(keeps_to_small_budgets)
{
    static const unsigned threads[] = {1, 2, 3, 4, 7, 16, 64};
    for (unsigned t = 0; t < 7; t++) {
        for (unsigned events = 1; events <= 100; events += events < 12 ? 1 : 11) {
            struct gen_options o = {
                .seed = events, .events = events, .threads = threads[t], .memory = events % 2};
            check_run(&o);
        }
    }
}

TEST(starts_all_threads_in_good_time)
{
    for (unsigned threads = 1; threads <= 64; threads++) {
        struct gen_options o = {.seed = threads, .events = 20000, .threads = threads};
        struct run r = generate(&o);
        unsigned started = 0;
        for (size_t i = 0; i < r.count; i++)
            started += r.events[i].kind == VS_THREAD_START;
        CHECK_EQ(started, threads);
        CHECK(r.count + GEN_SLACK >= o.events);
        check_flow(&r);
        discard(&r);
    }
}

TEST(cycles_never_decrease)
{
    struct gen_options o = {
        .seed = 4, .events = 60000, .threads = 4, .memory = true, .timed = true};
    struct run r = generate(&o);
    for (size_t i = 1; i < r.count; i++)
        CHECK(r.cycles[i] >= r.cycles[i - 1]);
    CHECK(r.cycles[r.count - 1] > r.count / 8);
    discard(&r);
}

static void check_blocks(const struct gen *g)
{
    struct vs_block a, b;
    for (uint64_t i = 0; gen_block(g, i, &a) == 0; i++) {
        uint32_t insns = 0;
        for (uint32_t at = 0; at < a.size; insns++)
            at += (a.bytes[at] & 3) == 3 ? 4 : 2;
        CHECK_EQ(insns, a.insns);
        for (uint64_t k = 0; k < i && gen_block(g, k, &b) == 0; k++)
            CHECK(a.addr != b.addr || a.size != b.size || memcmp(a.bytes, b.bytes, a.size) != 0);
    }
    CHECK_ERR(gen_block(g, gen_block_count(g), &a), VSE_NOTFOUND);
}

TEST(blocks_are_distinct_and_whole)
{
    for (unsigned seed = 0; seed < 20; seed += unittest_every(5)) {
        struct gen_options o = {.seed = seed,
                                .events = 20000,
                                .threads = 2,
                                .profile = GEN_BRANCHY,
                                .syscalls = 50,
                                .code = 100};
        struct run r = generate(&o);
        check_blocks(r.gen);
        discard(&r);
    }
}

TEST(refuses_options_out_of_range)
{
    struct gen *g;
    CHECK_ERR(gen_open(&g, &(struct gen_options){.threads = GEN_THREADS_MAX + 1}), VSE_INVAL);
    CHECK_ERR(gen_open(&g, &(struct gen_options){.profile = GEN_PROFILE_END}), VSE_INVAL);
    CHECK_ERR(gen_open(&g, &(struct gen_options){.wide = 101}), VSE_INVAL);
    CHECK_ERR(gen_open(&g, &(struct gen_options){.gaps = (1u << 30) + 1}), VSE_INVAL);
    gen_close(NULL);
}

static void compare_file(struct vs_reader *reader, const struct run *r)
{
    struct vs_batch b;
    size_t at = 0;
    while (vs_reader_next(reader, &b) > 0) {
        for (size_t i = 0; i < b.count; i++, at++) {
            struct vs_event got = b.events[i], want = r->events[at];
            if (vs_event_is_wide(&got)) {
                CHECK_EQ(got.size, want.size);
                CHECK_MEM(b.wide + got.value, r->wide + want.value, got.size);
                got.value = want.value = 0;
            }
            CHECK_MEM(&got, &want, sizeof got);
            CHECK_EQ(b.cycles[i], r->cycles[at]);
        }
    }
    CHECK_EQ(at, r->count);
}

TEST(records_what_it_generates)
{
    struct gen_options o = {
        .seed = 8, .events = 30000, .threads = 3, .memory = true, .timed = true};
    const char *tmp = getenv("TMPDIR");
    char dir[200], path[220];
    snprintf(dir, sizeof dir, "%s/vestige-gen-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    CHECK(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/run.vest", dir);
    struct vs_diag diag;
    CHECK_EQ(gen_record(path, &o, NULL, &diag), 0);
    CHECK_ERR(gen_record(path, &o, NULL, &diag), VSE_EXISTS);

    struct run r = generate(&o);
    struct vs_reader *reader;
    CHECK_EQ(vs_reader_open(&reader, path, VS_OPEN_STRICT, &diag), 0);
    CHECK_STR(vs_reader_meta(reader, "engine"), "generator");
    CHECK_STR(vs_reader_meta(reader, "isa"), "rv64");
    CHECK_STR(vs_reader_meta(reader, "seed"), "8");
    CHECK_EQ(vs_reader_info(reader)->blocks, gen_block_count(r.gen));
    CHECK_EQ(vs_reader_info(reader)->images, gen_image_count(r.gen));
    compare_file(reader, &r);
    vs_reader_close(reader);
    discard(&r);
    unlink(path);
    rmdir(dir);
}
