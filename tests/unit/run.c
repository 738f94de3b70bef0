/* SPDX-License-Identifier: MIT */
/* What is written is what is read. */
#include "vestige/run.h"

#include "runs.h"

/* ---- whole runs ---- */

static void check_tables(struct vs_reader *r, const struct run *run)
{
    const struct vs_run_info *info = vs_reader_info(r);
    struct vs_block a, b;
    struct vs_image m, n;

    CHECK_EQ(info->blocks, gen_block_count(run->gen));
    for (uint64_t i = 0; gen_block(run->gen, i, &a) == 0; i++) {
        CHECK_EQ(vs_reader_block(r, i, &b), 0);
        CHECK(a.addr == b.addr && a.size == b.size && a.insns == b.insns);
        CHECK_MEM(a.bytes, b.bytes, a.size);
    }
    CHECK_ERR(vs_reader_block(r, info->blocks, &b), VSE_NOTFOUND);
    CHECK_EQ(info->images, gen_image_count(run->gen));
    for (uint64_t i = 0; gen_image(run->gen, i, &m) == 0; i++) {
        CHECK_EQ(vs_reader_image(r, i, &n), 0);
        CHECK_STR(m.path, n.path);
        CHECK_STR(m.symbols ? m.symbols : "", n.symbols);
        CHECK(m.base == n.base && m.start == n.start && m.length == n.length);
        CHECK_EQ(m.build_id_size, n.build_id_size);
        CHECK_MEM(m.build_id, n.build_id, m.build_id_size);
    }
    CHECK_ERR(vs_reader_image(r, info->images, &n), VSE_NOTFOUND);
}

static void check_info(struct vs_reader *r, const struct run *run, const struct file *f)
{
    const struct vs_run_info *info = vs_reader_info(r);
    uint64_t insns[GEN_THREADS_MAX] = {0}, events[GEN_THREADS_MAX] = {0}, all = 0;
    struct vs_thread_info t;
    unsigned threads = 0;

    for (size_t i = 0; i < run->count; i++) {
        const struct vs_event *e = &run->events[i];

        events[e->thread]++;
        insns[e->thread] += e->icount;
        all += e->icount;
        threads = e->thread >= threads ? e->thread + 1u : threads;
    }
    CHECK(info->sealed && info->missing.error == 0);
    CHECK(info->file_size == f->size && info->readable == f->size);
    CHECK(info->events == run->count && info->instructions == all && info->threads == threads);
    CHECK_EQ(info->features, run->features);
    for (unsigned i = 0; i < threads; i++) {
        CHECK_EQ(vs_reader_thread(r, i, &t), 0);
        CHECK(t.events == events[i] && t.instructions == insns[i]);
    }
    CHECK_ERR(vs_reader_thread(r, threads, &t), VSE_NOTFOUND);
    if (run->cycles && run->count)
        CHECK(info->cycle_first == run->cycles[0] &&
              info->cycle_last == run->cycles[run->count - 1]);
}

/* Reads into an array of its own with `capacity` elements, after some other calls. */
static void check_reads_into(const struct run *run, const struct file *f, size_t capacity)
{
    struct vs_event *events = calloc(capacity, sizeof(*events));
    uint64_t *cycles = calloc(capacity, sizeof(*cycles));
    struct vs_reader *r = file_open(f);
    struct run got = {.features = run->features};
    struct vs_batch b;
    int n;

    CHECK(events && cycles);
    CHECK_ERR(vs_reader_next_into(r, events, cycles, VS_BATCH_MAX - 1, &b), VSE_INVAL);
    CHECK_ERR(vs_reader_next_into(r, NULL, cycles, capacity, &b), VSE_INVAL);
    while ((n = got.count % 3 ? vs_reader_next_into(r, events, cycles, capacity, &b)
                              : vs_reader_next(r, &b)) > 0) {
        CHECK(got.count % 3 == 0 || (b.events == events && (!b.cycles || b.cycles == cycles)));
        CHECK_EQ(n, b.count);
        CHECK_EQ(b.first, got.count);
        run_append(&got, &b);
    }
    CHECK_EQ(n, -VSE_END);
    run_check_same(&got, run);
    run_free(&got);
    if (run->count) {
        uint64_t middle = run->count / 2;
        CHECK_EQ(vs_reader_seek_event(r, middle), 0);
        CHECK(vs_reader_next_into(r, events, cycles, capacity, &b) > 0);
        CHECK_EQ(b.first, middle);
        got = (struct run){.features = run->features};
        run_append(&got, &b);
        run_check_part(&got, run, middle);
        run_free(&got);
        CHECK_EQ(vs_reader_seek_event(r, 0), 0);
        CHECK_EQ(vs_reader_select(r, run->events[0].thread), 0);
        while ((n = vs_reader_next_into(r, events, cycles, capacity, &b)) > 0)
            for (int i = 0; i < n; i++)
                CHECK_EQ(b.events[i].thread, run->events[0].thread);
        CHECK_EQ(n, -VSE_END);
    }
    vs_reader_close(r);
    free(cycles);
    free(events);
}

static void check_reads_back(const struct run *run, const struct file *f)
{
    struct vs_reader *r = file_open(f);
    struct vs_check_result result;
    struct run got;
    int err;

    got = run_read(r, &err);
    CHECK_EQ(err, 0);
    run_check_same(&got, run);
    check_info(r, run, f);
    check_tables(r, run);
    CHECK_STR(vs_reader_meta(r, "engine"), "unit test");
    CHECK_STR(vs_reader_meta(r, "empty"), "");
    CHECK_STR(vs_reader_meta(r, "none"), NULL);
    CHECK_EQ(vs_reader_check(r, &result, NULL, NULL), 0);
    CHECK(result.events == run->count && result.bytes == f->size);
    CHECK_EQ(result.chunks, vs_reader_info(r)->chunks);
    run_free(&got);
    vs_reader_close(r);
    check_reads_into(run, f, VS_BATCH_MAX);
    check_reads_into(run, f, 5 * VS_BATCH_MAX + 7);
}

static void check_round_trip(struct gen_options g, struct vs_writer_options o, size_t most)
{
    struct run run = run_generate(&g);
    struct place p;
    struct file f;

    place_init(&p);
    f = run_file(&run, &o, most);
    check_reads_back(&run, &f);
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}

#define ROUND_TRIP(name, most, gen, ...)                                                           \
    TEST(name)                                                                                     \
    {                                                                                              \
        check_round_trip((struct gen_options)gen, (struct vs_writer_options){__VA_ARGS__}, most);  \
    }
#define GEN(...)                                                                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

ROUND_TRIP(keeps_a_run_of_one_thread, 999, GEN(.seed = 1, .threads = 1, .events = 9000), .level = 1)
ROUND_TRIP(keeps_a_control_flow_run, 1, GEN(.seed = 2, .events = 9000), .inline_work = true)
ROUND_TRIP(keeps_a_memory_run, 4097, GEN(.seed = 3, .events = 20000, .memory = true), .workers = 3)
ROUND_TRIP(keeps_a_timed_run, 100, GEN(.seed = 4, .events = 9000, .timed = true),
           .chunk_events = 1000)
ROUND_TRIP(keeps_a_timed_memory_run, 77,
           GEN(.seed = 5, .events = 9000, .memory = true, .timed = true), .chunk_events = 64)
ROUND_TRIP(keeps_regular_loops, 5000,
           GEN(.seed = 6, .events = 20000, .profile = GEN_LOOPS, .memory = true), .level = 19)
ROUND_TRIP(keeps_hard_branches, 13,
           GEN(.seed = 7, .events = 9000, .profile = GEN_BRANCHY, .memory = true, .timed = true),
           .chunk_events = 1000, .workers = 3)
ROUND_TRIP(keeps_many_threads, 300,
           GEN(.seed = 8, .events = 12000, .threads = 64, .memory = true, .timed = true),
           .chunk_events = 1000)
ROUND_TRIP(keeps_many_threads_in_tiny_chunks, 300,
           GEN(.seed = 9, .events = 1500, .threads = 64, .memory = true), .chunk_events = 7)
ROUND_TRIP(keeps_tiny_chunks, 20,
           GEN(.seed = 10, .events = 1500, .threads = 3, .memory = true, .timed = true),
           .chunk_events = 7, .workers = 3)
ROUND_TRIP(keeps_one_event_per_chunk, 10, GEN(.seed = 11, .events = 300, .memory = true),
           .chunk_events = 1, .inline_work = true)
ROUND_TRIP(keeps_chunks_limited_by_bytes, 50,
           GEN(.seed = 12, .events = 5000, .memory = true, .timed = true), .chunk_bytes = 300)
ROUND_TRIP(keeps_chunks_of_one_byte, 50, GEN(.seed = 13, .events = 400, .memory = true),
           .chunk_bytes = 1)
ROUND_TRIP(keeps_many_blocks_of_operands, 1000,
           GEN(.seed = 18, .events = 90000, .threads = 9, .memory = true, .wide = 20), .workers = 2,
           .chunk_events = 40000)
ROUND_TRIP(keeps_many_blocks_in_one_thread, 70000,
           GEN(.seed = 19, .events = 90000, .memory = true, .wide = 20), .inline_work = true)
ROUND_TRIP(keeps_literals_only, 500, GEN(.seed = 14, .events = 9000, .memory = true, .timed = true),
           .max_sites = 1, .chunk_events = 1000)
ROUND_TRIP(keeps_literals_among_sites, 500, GEN(.seed = 15, .events = 9000, .memory = true),
           .max_sites = 40, .chunk_events = 1000)
ROUND_TRIP(keeps_a_table_that_fills_up, 500,
           GEN(.seed = 16, .events = 9000, .profile = GEN_BRANCHY), .max_sites = 300)
ROUND_TRIP(keeps_wide_and_odd_operands, 333,
           GEN(.seed = 17, .events = 9000, .memory = true, .wide = 60, .unaligned = 50,
               .atomics = 20, .syscalls = 20, .signals = 50, .gaps = 100, .code = 60, .counts = 30),
           .chunk_events = 500)

/* The bytes that say that another thread is next may be the chunk's last. */
TEST(keeps_chunks_that_end_as_a_thread_enters)
{
    struct run run = run_generate(&(struct gen_options){.seed = 21, .events = 600, .threads = 30});
    struct place p;

    place_init(&p);
    for (uint32_t bytes = 1; bytes < 60; bytes++) {
        struct file f = run_file(
            &run, &(struct vs_writer_options){.chunk_bytes = bytes, .inline_work = true}, 50);

        check_reads_back(&run, &f);
        file_free(&f);
    }
    run_free(&run);
    place_fini(&p);
}

/* ---- what the bytes depend on ---- */

static void check_same_bytes(const struct run *run, const struct file *f,
                             struct vs_writer_options o, size_t most)
{
    struct file g = run_file(run, &o, most);

    CHECK_EQ(g.size, f->size);
    CHECK_MEM(g.data, f->data, f->size);
    file_free(&g);
}

TEST(writes_the_same_bytes_however_it_is_called)
{
    struct run run = run_generate(
        &(struct gen_options){.seed = 20, .events = 20000, .memory = true, .timed = true});
    struct vs_writer_options o = {.chunk_events = 3000};
    struct place p;
    struct file f;

    place_init(&p);
    f = run_file(&run, &o, 500);
    check_same_bytes(&run, &f, o, 500);
    check_same_bytes(&run, &f, o, 1);
    check_same_bytes(&run, &f, o, run.count);
    o.workers = 4;
    check_same_bytes(&run, &f, o, 3001);
    o.inline_work = true;
    check_same_bytes(&run, &f, o, 64);
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}

/* Also where it is the bytes that end a chunk, and where operands fill several blocks. */
TEST(writes_the_same_bytes_with_any_workers)
{
    struct run run = run_generate(
        &(struct gen_options){.seed = 22, .events = 60000, .memory = true, .wide = 30});
    struct vs_writer_options o = {.chunk_bytes = 120000, .inline_work = true};
    struct place p;
    struct file f;

    place_init(&p);
    f = run_file(&run, &o, 3000);
    check_same_bytes(&run, &f, o, 7);
    o.inline_work = false;
    for (o.workers = 1; o.workers <= 5; o.workers += 2)
        check_same_bytes(&run, &f, o, 1 + 9999 * (o.workers - 1));
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}

TEST(starts_a_chunk_where_it_was_flushed)
{
    struct run run = run_generate(&(struct gen_options){.seed = 21, .events = 3000});
    struct vs_writer *w;
    struct vs_reader *r;
    struct vs_writer_stats stats;
    struct place p;
    struct run got;
    int err;

    place_init(&p);
    w = run_open_writer("a.vest", &run, NULL);
    CHECK_EQ(vs_writer_flush(w), 0); /* nothing yet */
    run_put_tables(w, &run);
    run_put(w, &run, 0, 1000, 64);
    CHECK_EQ(vs_writer_flush(w), 0);
    CHECK_EQ(vs_writer_flush(w), 0);
    vs_writer_stats(w, &stats);
    CHECK(stats.events == 1000 && stats.chunks == 2 && stats.bytes > 100);
    run_put(w, &run, 1000, run.count, 64);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    CHECK_EQ(vs_reader_open(&r, "a.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_reader_info(r)->event_chunks, 2);
    got = run_read(r, &err);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    run_free(&run);
    place_fini(&p);
}

TEST(counts_what_it_writes)
{
    struct run run = run_generate(
        &(struct gen_options){.seed = 22, .threads = 5, .events = 5000, .memory = true});
    struct vs_writer *w;
    struct vs_writer_stats stats;
    struct place p;
    struct vs_reader *r;
    struct file f;

    place_init(&p);
    w = run_open_writer("a.vest", &run, NULL);
    run_put_tables(w, &run);
    run_put(w, &run, 0, run.count, 100);
    CHECK_EQ(vs_writer_flush(w), 0);
    vs_writer_stats(w, &stats);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    f = file_load("a.vest");
    r = file_open(&f);
    CHECK_EQ(stats.events, run.count);
    CHECK_EQ(stats.instructions, vs_reader_info(r)->instructions);
    CHECK_EQ(stats.threads, vs_reader_info(r)->threads);
    CHECK_EQ(stats.blocks, vs_reader_info(r)->blocks);
    CHECK_EQ(stats.chunks + 1, vs_reader_info(r)->chunks);
    CHECK(stats.bytes < f.size);
    vs_reader_close(r);
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}

/* ---- by thread ---- */

static void check_thread(struct vs_reader *r, const struct run *run, unsigned thread)
{
    struct run got = {.features = run->features};
    struct vs_batch b;
    size_t at = 0;
    int n;

    CHECK_EQ(vs_reader_select(r, (int)thread), 0);
    while ((n = vs_reader_next(r, &b)) > 0) {
        size_t before = got.count;

        run_append(&got, &b);
        for (size_t i = before; i < got.count; i++, at++) {
            while (at < run->count && run->events[at].thread != thread)
                at++;
            CHECK(at < run->count);
            if (i == before)
                CHECK_EQ(b.first, at);
            run_check_event(&got, i, run, at);
        }
    }
    CHECK_ERR(n, VSE_END);
    while (at < run->count && run->events[at].thread != thread)
        at++;
    CHECK_EQ(at, run->count);
    run_free(&got);
}

static void check_threads(struct gen_options g, uint32_t chunk_events)
{
    struct run run = run_generate(&g);
    struct place p;
    struct file f;

    place_init(&p);
    f = run_file(&run, &(struct vs_writer_options){.chunk_events = chunk_events}, 500);
    for (unsigned t = 0; t < g.threads; t++) {
        struct vs_reader *r = file_open(&f);

        check_thread(r, &run, t);
        CHECK_EQ(vs_reader_seek_event(r, 0), 0); /* the selection stays */
        check_thread(r, &run, t);
        vs_reader_close(r);
    }
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}

TEST(reads_one_thread)
{
    check_threads(
        (struct gen_options){
            .seed = 30, .threads = 5, .events = 9000, .memory = true, .timed = true},
        0);
}

TEST(reads_one_thread_of_small_chunks)
{
    check_threads((struct gen_options){.seed = 31, .threads = 17, .events = 3000, .memory = true},
                  20);
}

TEST(selects_threads_that_are_there_only)
{
    struct run run = run_generate(&(struct gen_options){.seed = 32, .threads = 3, .events = 1000});
    struct place p;
    struct file f;
    struct vs_reader *r;
    struct run got;
    int err;

    place_init(&p);
    f = run_file(&run, NULL, 500);
    r = file_open(&f);
    CHECK_ERR(vs_reader_select(r, 3), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_select(r, 65536), VSE_NOTFOUND);
    CHECK_EQ(vs_reader_select(r, 2), 0);
    CHECK_EQ(vs_reader_select(r, -1), 0); /* nothing was read meanwhile: all of it is left */
    got = run_read(r, &err);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}

/* ---- small runs ---- */

TEST(keeps_an_empty_run)
{
    struct run run = {0}, got;
    struct place p;
    struct file f;
    struct vs_reader *r;
    int err;

    place_init(&p);
    for (run.features = 0; run.features <= VS_RUN_KNOWN; run.features++) {
        struct vs_writer *w = run_open_writer("a.vest", &run, NULL);

        CHECK_EQ(vs_writer_put(w, &(struct vs_batch){0}), 0);
        CHECK_EQ(vs_writer_seal(w, NULL), 0);
        f = file_load("a.vest");
        CHECK_EQ(unlink("a.vest"), 0);
        r = file_open(&f);
        CHECK(vs_reader_info(r)->sealed && vs_reader_info(r)->events == 0);
        CHECK_EQ(vs_reader_info(r)->threads, 0);
        got = run_read(r, &err);
        CHECK(err == 0 && got.count == 0);
        CHECK_ERR(vs_reader_seek_event(r, 0), VSE_NOTFOUND);
        CHECK_ERR(vs_reader_seek_cycle(r, 0), VSE_NOTFOUND);
        CHECK_ERR(vs_reader_select(r, 0), VSE_NOTFOUND);
        CHECK_EQ(vs_reader_check(r, &(struct vs_check_result){0}, NULL, NULL), 0);
        vs_reader_close(r);
        file_free(&f);
    }
    place_fini(&p);
}

TEST(keeps_facts_alone_in_order)
{
    struct run run = {0};
    struct vs_writer *w;
    struct vs_reader *r;
    struct place p;
    const char *key, *value;

    place_init(&p);
    w = run_open_writer("a.vest", &run, NULL);
    CHECK_EQ(vs_writer_meta(w, "first", "1"), 0);
    CHECK_EQ(vs_writer_meta(w, "second", "2"), 0);
    CHECK_EQ(vs_writer_flush(w), 0);
    CHECK_EQ(vs_writer_meta(w, "third", "line\nbreak \xc3\xa9"), 0);
    CHECK_EQ(vs_writer_meta(w, "first", "one"), 0);
    CHECK_EQ(vs_writer_seal(w, NULL), 0);
    CHECK_EQ(vs_reader_open(&r, "a.vest", VS_OPEN_STRICT, NULL), 0);
    CHECK_EQ(vs_reader_info(r)->metas, 3);
    CHECK_EQ(vs_reader_meta_at(r, 0, &key, &value), 0);
    CHECK_STR(key, "first");
    CHECK_STR(value, "one");
    CHECK_EQ(vs_reader_meta_at(r, 2, &key, &value), 0);
    CHECK_STR(value, "line\nbreak \xc3\xa9");
    CHECK_ERR(vs_reader_meta_at(r, 3, &key, &value), VSE_NOTFOUND);
    CHECK_STR(vs_reader_meta(r, "second"), "2");
    vs_reader_close(r);
    place_fini(&p);
}

/* Several MiB of wide values: a batch of the reader ends early. */
TEST(keeps_the_largest_values)
{
    struct run run = {.features = VS_RUN_STORES}, got;
    uint8_t *wide = malloc(VS_SIZE_MAX);
    struct place p;
    struct file f;
    struct vs_reader *r;
    int err;

    for (unsigned i = 0; i < 60; i++) {
        struct vs_event e = {.kind = VS_STORE, .pc = 1, .size = VS_SIZE_MAX, .addr = i * 4096};

        memset(wide, (int)i / 2, VS_SIZE_MAX);
        run_append(&run, &(struct vs_batch){
                             .events = &e, .count = 1, .wide = wide, .wide_size = VS_SIZE_MAX});
    }
    place_init(&p);
    f = run_file(&run, NULL, 7);
    r = file_open(&f);
    got = run_read(r, &err);
    CHECK_EQ(err, 0);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    run_free(&run);
    file_free(&f);
    free(wide);
    place_fini(&p);
}

/* Addresses, values and cycles at their extremes, in every kind's fields. */
TEST(keeps_extreme_numbers)
{
    struct run run = {.features = VS_RUN_KNOWN & ~VS_RUN_SHORT}, got;
    struct rng rng = rng_init(1);
    struct place p;
    struct file f;
    struct vs_reader *r;
    uint64_t cycle = 0;
    int err;

    for (unsigned i = 0; i < 3000; i++) {
        struct vs_event e = {.kind = (uint8_t)(VS_LOAD + rng_below(&rng, 3)),
                             .pc = rng_below(&rng, 2) ? rng_any(&rng) : ~rng_any(&rng),
                             .addr = rng_below(&rng, 2) ? rng_any(&rng) : ~rng_any(&rng),
                             .size = 8,
                             .value = ~rng_any(&rng),
                             .icount = (uint16_t)~rng_below(&rng, 3),
                             .thread = (uint16_t)(i % 3)};

        if (e.kind == VS_EXTERNAL)
            e.pc = 0;
        cycle = i == 2999 ? INT64_MAX : cycle + (rng_any(&rng) >> 14);
        run_append(&run, &(struct vs_batch){.events = &e, .count = 1, .cycles = &cycle});
    }
    place_init(&p);
    f = run_file(&run, &(struct vs_writer_options){.chunk_events = 700}, 100);
    r = file_open(&f);
    got = run_read(r, &err);
    CHECK_EQ(err, 0);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    run_free(&run);
    file_free(&f);
    place_fini(&p);
}

TEST(keeps_as_many_threads_as_there_can_be)
{
    struct run run = {0}, got;
    struct vs_event *e = calloc(VS_THREADS_MAX, sizeof(*e));
    struct place p;
    struct file f;
    struct vs_reader *r;
    int err;

    for (unsigned i = 0; i < VS_THREADS_MAX; i++)
        e[i] = (struct vs_event){.kind = VS_COUNT, .icount = 1, .thread = (uint16_t)i};
    run_append(&run, &(struct vs_batch){.events = e, .count = VS_THREADS_MAX});
    place_init(&p);
    f = run_file(&run, &(struct vs_writer_options){.chunk_events = 50000}, 1000);
    r = file_open(&f);
    CHECK_EQ(vs_reader_info(r)->threads, VS_THREADS_MAX);
    got = run_read(r, &err);
    CHECK_EQ(err, 0);
    run_check_same(&got, &run);
    vs_reader_close(r);
    run_free(&got);
    run_free(&run);
    file_free(&f);
    free(e);
    place_fini(&p);
}

/* ---- opening ---- */

TEST(opens_in_every_mode)
{
    struct run run = run_generate(&(struct gen_options){.seed = 40, .events = 2000});
    struct vs_reader *r;
    struct place p;
    struct run got;
    int err;

    place_init(&p);
    run_write("a.vest", &run, &(struct vs_writer_options){.chunk_events = 300}, 100);
    for (int mode = VS_OPEN_DEFAULT; mode <= VS_OPEN_STRICT; mode++) {
        CHECK_EQ(vs_reader_open(&r, "a.vest", (enum vs_open_mode)mode, NULL), 0);
        CHECK_EQ(vs_reader_info(r)->missing.error, 0);
        got = run_read(r, &err);
        run_check_same(&got, &run);
        run_free(&got);
        CHECK_EQ(vs_reader_check(r, &(struct vs_check_result){0}, NULL, NULL), 0);
        vs_reader_close(r);
    }
    run_free(&run);
    place_fini(&p);
}

TEST(refuses_what_is_not_a_file)
{
    struct vs_reader *r = (struct vs_reader *)1;
    struct vs_diag d = {0};
    struct place p;

    place_init(&p);
    CHECK_ERR(vs_reader_open(&r, "none.vest", VS_OPEN_DEFAULT, &d), VSE_IO);
    CHECK(!r);
    CHECK_HAS(d.text, "No such file");
    CHECK_ERR(vs_reader_open(&r, ".", VS_OPEN_DEFAULT, &d), VSE_INVAL);
    CHECK_ERR(vs_reader_open(&r, "/dev/null", VS_OPEN_DEFAULT, &d), VSE_INVAL);
    CHECK_ERR(vs_reader_open(&r, NULL, VS_OPEN_DEFAULT, &d), VSE_INVAL);
    CHECK_EQ(mkfifo("pipe", 0600), 0);
    CHECK_ERR(vs_reader_open(&r, "pipe", VS_OPEN_DEFAULT, &d), VSE_INVAL);
    CHECK_ERR(vs_reader_open_memory(&r, NULL, 5, VS_OPEN_DEFAULT, &d), VSE_INVAL);
    CHECK_ERR(vs_reader_open_memory(&r, NULL, 0, VS_OPEN_DEFAULT, &d), VSE_TRUNCATED);
    vs_reader_close(NULL);
    place_fini(&p);
}

struct seen {
    uint64_t last, total;
    unsigned calls;
};

static void see(void *context, uint64_t done, uint64_t total)
{
    struct seen *s = context;

    CHECK(done >= s->last && done <= total);
    *s = (struct seen){done, total, s->calls + 1};
}

TEST(tells_how_far_a_check_is)
{
    struct run run = run_generate(&(struct gen_options){.seed = 41, .events = 2000});
    struct seen seen = {0};
    struct place p;
    struct file f;
    struct vs_reader *r;

    place_init(&p);
    f = run_file(&run, &(struct vs_writer_options){.chunk_events = 300}, 100);
    r = file_open(&f);
    CHECK_EQ(vs_reader_check(r, &(struct vs_check_result){0}, see, &seen), 0);
    CHECK(seen.calls >= vs_reader_info(r)->event_chunks && seen.total == f.size);
    vs_reader_close(r);
    file_free(&f);
    run_free(&run);
    place_fini(&p);
}
