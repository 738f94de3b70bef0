/* SPDX-License-Identifier: MIT */
/* Positions in a run, against the list of all its events. */
#include "forge.h"
#include "runs.h"
#include "vestige/run.h"

struct fixture {
    struct place place;
    struct run run;
    struct file file;
    struct vs_reader *reader;
};

static void setup(struct fixture *x, struct gen_options g, uint32_t chunk_events)
{
    x->run = run_generate(&g);
    place_init(&x->place);
    x->file = run_file(&x->run, &(struct vs_writer_options){.chunk_events = chunk_events}, 300);
    x->reader = file_open(&x->file);
}

static void teardown(struct fixture *x)
{
    vs_reader_close(x->reader);
    file_free(&x->file);
    run_free(&x->run);
    place_fini(&x->place);
}

/* The next batch begins with event `at` and goes on as the run does. */
static void check_at(struct fixture *x, uint64_t at)
{
    struct run got = {.features = x->run.features};
    struct vs_batch b;

    if (at == x->run.count) {
        CHECK_ERR(vs_reader_next(x->reader, &b), VSE_END);
        return;
    }
    CHECK(vs_reader_next(x->reader, &b) > 0);
    CHECK_EQ(b.first, at);
    run_append(&got, &b);
    run_check_part(&got, &x->run, at);
    if (vs_reader_next(x->reader, &b) > 0)
        CHECK_EQ(b.first, at + got.count);
    run_free(&got);
}

/* The next batch is of that thread, and its first event is `at` or the thread's first after it. */
static void check_thread_at(struct fixture *x, uint64_t at, unsigned thread)
{
    struct run got = {.features = x->run.features};
    struct vs_batch b;

    while (at < x->run.count && x->run.events[at].thread != thread)
        at++;
    if (at == x->run.count) {
        CHECK_ERR(vs_reader_next(x->reader, &b), VSE_END);
        return;
    }
    CHECK(vs_reader_next(x->reader, &b) > 0);
    CHECK_EQ(b.first, at);
    run_append(&got, &b);
    for (size_t i = 0; i < got.count; i++, at++) {
        while (x->run.events[at].thread != thread)
            at++;
        run_check_event(&got, i, &x->run, at);
    }
    run_free(&got);
}

/* ---- what the functions must find ---- */

static uint64_t find_insn(const struct run *r, unsigned thread, uint64_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < r->count; i++)
        if (r->events[i].thread == thread && (count += r->events[i].icount) >= n)
            return i;
    return UINT64_MAX;
}

static uint64_t find_cycle(const struct run *r, uint64_t n)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->cycles[i] >= n)
            return i;
    return UINT64_MAX;
}

static uint64_t insns_of(const struct run *r, unsigned thread)
{
    uint64_t count = 0;

    for (size_t i = 0; i < r->count; i++)
        count += r->events[i].thread == thread ? r->events[i].icount : 0;
    return count;
}

/* ---- events ---- */

static void check_events(struct gen_options g, uint32_t chunk_events)
{
    struct fixture x;
    struct rng rng = rng_init(g.seed);

    setup(&x, g, chunk_events);
    for (unsigned i = 0; i < 60; i++) {
        uint64_t n = i == 0   ? x.run.count - 1
                     : i == 1 ? 0
                     : i < 9  ? i - 1
                              : rng_below(&rng, x.run.count);

        CHECK_EQ(vs_reader_seek_event(x.reader, n), 0);
        check_at(&x, n);
    }
    teardown(&x);
}

TEST(seeks_to_events_in_one_chunk)
{
    check_events((struct gen_options){.seed = 1, .events = 20000, .memory = true}, 0);
}

TEST(seeks_to_events_in_small_chunks)
{
    check_events((struct gen_options){.seed = 2, .events = 3000, .memory = true, .timed = true},
                 50);
}

TEST(seeks_to_events_in_tiny_chunks)
{
    check_events((struct gen_options){.seed = 3, .events = 800, .threads = 9}, 7);
}

/* ---- instructions and cycles ---- */

TEST(seeks_to_instructions)
{
    struct fixture x;
    struct rng rng = rng_init(7);

    setup(&x, (struct gen_options){.seed = 4, .threads = 5, .events = 6000, .memory = true}, 200);
    for (unsigned i = 0; i < 100; i++) {
        unsigned thread = (unsigned)rng_below(&rng, 5);
        uint64_t all = insns_of(&x.run, thread);
        uint64_t n = i < 5 ? 0 : i < 10 ? all : rng_below(&rng, all + 1);

        CHECK_EQ(vs_reader_seek_insn(x.reader, thread, n), 0);
        check_at(&x, find_insn(&x.run, thread, n));
    }
    for (unsigned t = 0; t < 5; t++)
        CHECK_ERR(vs_reader_seek_insn(x.reader, t, insns_of(&x.run, t) + 1), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_insn(x.reader, 5, 0), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_insn(x.reader, UINT32_MAX, 0), VSE_NOTFOUND);
    teardown(&x);
}

TEST(seeks_to_cycles)
{
    struct fixture x;
    struct rng rng = rng_init(8);
    uint64_t first, last;

    setup(&x, (struct gen_options){.seed = 5, .events = 6000, .timed = true}, 200);
    first = x.run.cycles[0];
    last = x.run.cycles[x.run.count - 1];
    for (unsigned i = 0; i < 100; i++) {
        uint64_t n = i == 0 ? 0 : i == 1 ? first : i == 2 ? last : rng_below(&rng, last + 1);

        CHECK_EQ(vs_reader_seek_cycle(x.reader, n), 0);
        check_at(&x, find_cycle(&x.run, n));
    }
    CHECK_ERR(vs_reader_seek_cycle(x.reader, last + 1), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_cycle(x.reader, UINT64_MAX), VSE_NOTFOUND);
    teardown(&x);
}

TEST(finds_no_cycles_in_an_untimed_run)
{
    struct fixture x;

    setup(&x, (struct gen_options){.seed = 6, .events = 1000}, 200);
    CHECK_ERR(vs_reader_seek_cycle(x.reader, 0), VSE_NOTFOUND);
    check_at(&x, 0);
    teardown(&x);
}

/* ---- states ---- */

TEST(keeps_the_position_when_nothing_is_found)
{
    struct fixture x;
    struct vs_batch b;
    uint64_t next;

    setup(&x, (struct gen_options){.seed = 7, .events = 9000, .timed = true}, 3000);
    CHECK(vs_reader_next(x.reader, &b) > 0);
    next = b.first + b.count;
    CHECK_ERR(vs_reader_seek_event(x.reader, x.run.count), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_event(x.reader, UINT64_MAX), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_insn(x.reader, 0, UINT64_MAX), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_cycle(x.reader, UINT64_MAX), VSE_NOTFOUND);
    check_at(&x, next);
    CHECK_EQ(vs_reader_seek_event(x.reader, 1234), 0);
    CHECK_ERR(vs_reader_seek_event(x.reader, x.run.count), VSE_NOTFOUND);
    check_at(&x, 1234);
    teardown(&x);
}

TEST(seeks_after_the_end)
{
    struct fixture x;
    struct run all;
    struct vs_batch b;
    int err;

    setup(&x, (struct gen_options){.seed = 8, .events = 2000}, 300);
    all = run_read(x.reader, &err);
    CHECK_ERR(vs_reader_seek_event(x.reader, x.run.count), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_next(x.reader, &b), VSE_END);
    CHECK_EQ(vs_reader_seek_event(x.reader, x.run.count - 1), 0);
    check_at(&x, x.run.count - 1);
    CHECK_EQ(vs_reader_seek_event(x.reader, 0), 0);
    run_free(&all);
    all = run_read(x.reader, &err);
    run_check_same(&all, &x.run);
    run_free(&all);
    teardown(&x);
}

TEST(seeks_twice_without_reading)
{
    struct fixture x;

    setup(&x, (struct gen_options){.seed = 9, .events = 3000, .memory = true}, 300);
    CHECK_EQ(vs_reader_seek_event(x.reader, 2500), 0);
    CHECK_EQ(vs_reader_seek_event(x.reader, 10), 0);
    check_at(&x, 10);
    CHECK_EQ(vs_reader_seek_event(x.reader, 299), 0);
    CHECK_EQ(vs_reader_seek_event(x.reader, 300), 0);
    check_at(&x, 300);
    teardown(&x);
}

TEST(seeks_with_a_thread_selected)
{
    struct fixture x;
    struct rng rng = rng_init(10);

    setup(&x,
          (struct gen_options){
              .seed = 10, .threads = 6, .events = 5000, .memory = true, .timed = true},
          100);
    for (unsigned i = 0; i < 60; i++) {
        unsigned thread = (unsigned)rng_below(&rng, 6), other = (unsigned)rng_below(&rng, 6);
        uint64_t n = rng_below(&rng, x.run.count), insn, cycle = x.run.cycles[n];

        CHECK_EQ(vs_reader_select(x.reader, (int)thread), 0);
        CHECK_EQ(vs_reader_seek_event(x.reader, n), 0);
        check_thread_at(&x, n, thread);
        insn = rng_below(&rng, insns_of(&x.run, other) + 1);
        CHECK_EQ(vs_reader_seek_insn(x.reader, other, insn), 0);
        check_thread_at(&x, find_insn(&x.run, other, insn), thread);
        CHECK_EQ(vs_reader_seek_cycle(x.reader, cycle), 0);
        check_thread_at(&x, find_cycle(&x.run, cycle), thread);
    }
    CHECK_EQ(vs_reader_select(x.reader, -1), 0);
    CHECK_EQ(vs_reader_seek_event(x.reader, 77), 0);
    check_at(&x, 77);
    teardown(&x);
}

/* Selecting does not move: what was not delivered is still to come. */
TEST(selects_after_a_seek)
{
    struct fixture x;

    setup(&x, (struct gen_options){.seed = 11, .threads = 3, .events = 3000}, 500);
    CHECK_EQ(vs_reader_seek_event(x.reader, 1000), 0);
    CHECK_EQ(vs_reader_select(x.reader, 2), 0);
    check_thread_at(&x, 1000, 2);
    CHECK_EQ(vs_reader_seek_event(x.reader, 1000), 0);
    CHECK_EQ(vs_reader_select(x.reader, 1), 0);
    CHECK_EQ(vs_reader_select(x.reader, -1), 0);
    check_at(&x, 1000);
    teardown(&x);
}

/* A damaged chunk in the middle: errors repeat, a seek past it or before it goes on. */
TEST(seeks_after_an_error)
{
    struct fixture x;
    struct forge f;
    struct run part;
    struct vs_batch b;
    int err;

    setup(&x, (struct gen_options){.seed = 12, .events = 4000}, 500);
    forge_load(&f, x.file.data, x.file.size);
    x.file.data[f.chunks[forge_find(&f, VS_CHUNK_EVENTS, 3)].at + 40] ^= 1;
    part = run_read(x.reader, &err);
    CHECK_ERR(err, VSE_CHECKSUM);
    CHECK(vs_reader_diag(x.reader)->chunk > 0 && vs_reader_diag(x.reader)->text[0]);
    CHECK_EQ(part.count, 3 * 500);
    run_check_part(&part, &x.run, 0);
    CHECK_ERR(vs_reader_next(x.reader, &b), VSE_CHECKSUM);
    CHECK_ERR(vs_reader_seek_event(x.reader, part.count + 3), VSE_CHECKSUM);
    CHECK_ERR(vs_reader_next(x.reader, &b), VSE_CHECKSUM);
    CHECK_EQ(vs_reader_seek_event(x.reader, part.count + 500), 0);
    check_at(&x, part.count + 500);
    CHECK_EQ(vs_reader_seek_event(x.reader, 3), 0);
    check_at(&x, 3);
    forge_free(&f);
    run_free(&part);
    teardown(&x);
}

/* Reading for one thread drops what lies between its events; another selection finds it again. */
TEST(keeps_the_position_when_the_selection_changes)
{
    struct fixture x;
    struct vs_batch b;
    uint64_t after;

    setup(&x, (struct gen_options){.seed = 8, .threads = 3, .events = 5000, .memory = true}, 700);
    for (unsigned thread = 0; thread < 3; thread++) {
        CHECK(vs_reader_next(x.reader, &b) > 0);
        after = b.first + b.count;
        CHECK_EQ(vs_reader_select(x.reader, (int)thread), 0);
        if (vs_reader_next(x.reader, &b) > 0) {
            size_t left = b.count;

            for (after = b.first; left; after++)
                left -= x.run.events[after].thread == thread;
        }
        CHECK_EQ(vs_reader_select(x.reader, -1), 0);
        check_at(&x, after);
        CHECK_EQ(vs_reader_seek_event(x.reader, after), 0);
    }
    teardown(&x);
}

/* A thread that has no more events: the others' are still to come. */
TEST(keeps_the_position_when_a_thread_has_ended)
{
    const struct vs_event e[] = {{.kind = VS_COUNT, .icount = 1},
                                 {.kind = VS_COUNT, .icount = 1, .thread = 1},
                                 {.kind = VS_COUNT, .icount = 2}};
    struct fixture x = {0};
    struct vs_batch b;

    place_init(&x.place);
    run_append(&x.run, &(struct vs_batch){.events = e, .count = 3});
    x.file = run_file(&x.run, &(struct vs_writer_options){.chunk_events = 2}, 3);
    x.reader = file_open(&x.file);
    CHECK_EQ(vs_reader_next(x.reader, &b), 2);
    CHECK_EQ(vs_reader_select(x.reader, 1), 0);
    CHECK_ERR(vs_reader_next(x.reader, &b), VSE_END);
    CHECK_EQ(vs_reader_select(x.reader, -1), 0);
    check_at(&x, 2);
    teardown(&x);
}
