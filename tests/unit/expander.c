/* SPDX-License-Identifier: MIT */
/* A reader whose events come from an expander finds its way in them as in those of a file. */
#include "base/random.h"
#include "runs.h"
#include "trace/expander.h"
#include "trace/retired.h"

enum { PLACES = 7 };

/* Delivers a run's events, some at a time. */
struct fake {
    struct vs_expander seen; /* first */
    const struct run *run;
    struct run made; /* what the last batch refers to */
    size_t at;
    uint64_t state;
    unsigned moved;
    uint64_t places[PLACES];
    bool closed, fails;
};

static int next(struct vs_expander *x, struct vs_batch *batch, struct vs_diag *diag)
{
    struct fake *f = (struct fake *)x;
    size_t left = f->run->count - f->at, n = 1 + vs_random(&f->state) % 5000;
    if (f->fails && f->at) {
        diag->error = -VSE_CORRUPT;
        return -VSE_CORRUPT;
    }
    if (!left)
        return -VSE_END;
    if (n > left)
        n = left;
    *batch = (struct vs_batch){.events = f->run->events + f->at,
                               .wide = f->run->wide,
                               .wide_size = f->run->wide_size,
                               .count = n,
                               .first = f->at};
    f->at += n;
    return (int)n;
}

static int go(struct vs_expander *x, unsigned place, struct vs_diag *diag)
{
    struct fake *f = (struct fake *)x;
    (void)diag;
    CHECK(place < PLACES);
    f->at = f->places[place];
    f->moved++;
    return 0;
}

static uint64_t retired_at(const struct vs_expander *x, unsigned place, unsigned thread)
{
    const struct fake *f = (const struct fake *)x;
    uint64_t n = 0;
    for (size_t i = 0; i < f->places[place]; i++)
        if (f->run->events[i].thread == thread)
            n += f->run->events[i].icount;
    return n;
}

static void note_close(struct vs_expander *x)
{
    struct fake *f = (struct fake *)x;
    f->closed = true;
    free(x->threads);
}

static const struct vs_expander_ops ops = {
    .next = next, .go = go, .retired = retired_at, .close = note_close};

struct fixture {
    struct place place;
    struct run run;
    struct file file;
    struct vs_reader *reader;
    struct fake fake;
};

static void setup(struct fixture *x)
{
    struct gen_options g = {.seed = 3, .threads = 3, .events = 30000, .memory = true};
    struct run none = {.features = VS_RUN_LOADS | VS_RUN_STORES | VS_RUN_INPUTS | VS_RUN_SHORT};
    unsigned threads;
    *x = (struct fixture){0};
    place_init(&x->place);
    x->run = run_generate(&g);
    /* The file has nothing but the threads. */
    for (unsigned t = 0; t < 3; t++) {
        struct vs_event e = {.kind = VS_COUNT, .thread = (uint16_t)t};
        run_append(&none, &(struct vs_batch){.events = &e, .count = 1});
    }
    x->file = run_file(&none, NULL, 10);
    run_free(&none);
    x->reader = file_open(&x->file);
    threads = vs_reader_info(x->reader)->threads;
    x->fake = (struct fake){.seen = {.ops = &ops, .events = x->run.count, .thread_count = threads},
                            .run = &x->run};
    x->fake.seen.threads = calloc(threads, sizeof(*x->fake.seen.threads));
    for (size_t i = 0; i < x->run.count; i++) {
        struct vs_thread_info *t = &x->fake.seen.threads[x->run.events[i].thread];
        t->events++;
        t->instructions += x->run.events[i].icount;
        x->fake.seen.instructions += x->run.events[i].icount;
    }
    for (unsigned i = 0; i < PLACES; i++)
        x->fake.places[i] = i * x->run.count / (PLACES + 1);
    x->fake.seen.places = x->fake.places;
    x->fake.seen.place_count = PLACES;
    CHECK(vs_reader_info(x->reader)->features & VS_RUN_SHORT);
    vs_reader_expand(x->reader, &x->fake.seen);
}

static void teardown(struct fixture *x)
{
    vs_reader_close(x->reader);
    CHECK(x->fake.closed);
    file_free(&x->file);
    run_free(&x->run);
    place_fini(&x->place);
}

/* What is delivered next is the event with that number, and those after it. */
static void check_at(struct fixture *x, uint64_t at)
{
    struct run got = {.features = x->run.features};
    struct vs_batch b;
    CHECK(vs_reader_next(x->reader, &b) > 0);
    CHECK_EQ(b.first, at);
    run_append(&got, &b);
    run_check_part(&got, &x->run, at);
    run_free(&got);
}

TEST(delivers_what_is_made)
{
    struct fixture x;
    struct vs_thread_info t;
    int err;
    setup(&x);
    CHECK_EQ(vs_reader_info(x.reader)->events, x.run.count);
    CHECK(!(vs_reader_info(x.reader)->features & VS_RUN_SHORT));
    struct run got = run_read(x.reader, &err);
    CHECK_EQ(err, 0);
    CHECK_EQ(got.count, x.run.count);
    run_check_part(&got, &x.run, 0);
    run_free(&got);
    CHECK_EQ(vs_reader_thread(x.reader, 1, &t), 0);
    CHECK_EQ(t.events, x.fake.seen.threads[1].events);
    CHECK_ERR(vs_reader_thread(x.reader, 3, &t), VSE_NOTFOUND);
    teardown(&x);
}

TEST(finds_events_by_number)
{
    struct fixture x;
    uint64_t state = 1;
    setup(&x);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t at = vs_random(&state) % x.run.count;
        CHECK_EQ(vs_reader_seek_event(x.reader, at), 0);
        check_at(&x, at);
    }
    CHECK_ERR(vs_reader_seek_event(x.reader, x.run.count), VSE_NOTFOUND);
    CHECK_EQ(vs_reader_seek_event(x.reader, x.fake.places[PLACES - 1] + 10), 0);
    unsigned moved = x.fake.moved;
    CHECK_EQ(vs_reader_seek_event(x.reader, x.run.count - 1), 0);
    CHECK_EQ(x.fake.moved, moved); /* where no place is between, it only goes on */
    check_at(&x, x.run.count - 1);
    teardown(&x);
}

TEST(finds_events_by_instruction_and_counts_them)
{
    struct fixture x;
    uint64_t state = 2, retired[3];
    setup(&x);
    for (unsigned i = 0; i < 50; i++) {
        unsigned thread = (unsigned)(vs_random(&state) % 3);
        uint64_t n = vs_random(&state) % (x.fake.seen.threads[thread].instructions + 1), count = 0;
        size_t at = 0;
        for (;; at++)
            if (x.run.events[at].thread == thread && (count += x.run.events[at].icount) >= n)
                break;
        CHECK_EQ(vs_reader_seek_insn(x.reader, thread, n), 0);
        CHECK_EQ(vs_reader_retired(x.reader, retired), 0);
        CHECK_EQ(retired[thread], count - x.run.events[at].icount);
        check_at(&x, at);
    }
    CHECK_ERR(vs_reader_seek_insn(x.reader, 0, x.fake.seen.threads[0].instructions + 1),
              VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_insn(x.reader, 9, 0), VSE_NOTFOUND);
    CHECK_ERR(vs_reader_seek_cycle(x.reader, 0), VSE_NOTFOUND);
    teardown(&x);
}

TEST(selects_a_thread)
{
    struct fixture x;
    struct vs_batch b;
    size_t at = 0;
    int n;
    setup(&x);
    CHECK_EQ(vs_reader_select(x.reader, 2), 0);
    while ((n = vs_reader_next(x.reader, &b)) > 0)
        for (size_t i = 0; i < b.count; i++, at++) {
            while (x.run.events[at].thread != 2)
                at++;
            CHECK_EQ(b.events[i].pc, x.run.events[at].pc);
            CHECK_EQ(b.events[i].kind, x.run.events[at].kind);
        }
    CHECK_EQ(n, -VSE_END);
    teardown(&x);
}

TEST(repeats_an_error_until_a_seek)
{
    struct fixture x;
    struct vs_batch b;
    int n;
    setup(&x);
    x.fake.fails = true;
    while ((n = vs_reader_next(x.reader, &b)) > 0)
        ;
    CHECK_EQ(n, -VSE_CORRUPT);
    x.fake.fails = false;
    CHECK_EQ(vs_reader_next(x.reader, &b), -VSE_CORRUPT);
    CHECK_EQ(vs_reader_seek_event(x.reader, 0), 0);
    check_at(&x, 0);
    teardown(&x);
}
