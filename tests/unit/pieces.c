/* SPDX-License-Identifier: MIT */
/* A run in pieces, against the list of all its events: core by core, and in global order. */
#include "study/pieces.h"

#include "runs.h"

enum { THREADS = 40, EVENTS = 5 * VS_PIECE_EVENTS + 77 };

struct fixture {
    struct place place;
    struct run run;
    struct file file;
    struct vs_reader *reader;
    struct vs_pieces pieces;
};

static void setup(struct fixture *x, bool timed, uint64_t room)
{
    const struct gen_options g = {
        .seed = 7, .events = EVENTS, .threads = THREADS, .memory = true, .timed = timed};
    x->run = run_generate(&g);
    place_init(&x->place);
    x->file = run_file(&x->run, &(struct vs_writer_options){.chunk_events = 30000}, 300);
    x->reader = file_open(&x->file);
    CHECK_EQ(vs_pieces_init(&x->pieces, x->reader, room), 0);
}

static void teardown(struct fixture *x)
{
    vs_pieces_fini(&x->pieces);
    vs_reader_close(x->reader);
    file_free(&x->file);
    run_free(&x->run);
    place_fini(&x->place);
}

/* The event e of the batch is the run's of that number. */
static void check_event(const struct fixture *x, const struct vs_batch *b, const struct vs_event *e,
                        uint64_t cycle, uint64_t number)
{
    struct run one = {.features = x->run.features};
    const struct vs_batch batch = {.events = e,
                                   .cycles = b->cycles ? &cycle : NULL,
                                   .wide = b->wide,
                                   .wide_size = b->wide_size,
                                   .count = 1};
    run_append(&one, &batch);
    run_check_event(&one, 0, &x->run, number);
    free(one.events);
    free(one.cycles);
    free(one.wide);
}

/* Takes one event of each of the cores, by turns as rng says, and compares it. */
static void walk_cores(struct fixture *x, unsigned step)
{
    struct vs_core_events cores[THREADS] = {0};
    struct vs_pieces_feed feed;
    size_t next[THREADS] = {0}, left = THREADS;
    struct rng rng = rng_init(3);
    CHECK_EQ(vs_pieces_feed_init(&feed, &x->pieces, THREADS), 0);
    while (left) {
        unsigned core = (unsigned)rng_below(&rng, THREADS);
        for (unsigned i = 0; i < step && !cores[core].done; i++) {
            struct vs_core_events *c = &cores[core];
            CHECK_EQ(vs_core_events_fill(c, core, vs_pieces_feed, &feed), 0);
            while (next[core] < x->run.count && x->run.events[next[core]].thread != core)
                next[core]++;
            CHECK_EQ(c->done, next[core] == x->run.count);
            if (c->done) {
                left--;
                break;
            }
            const struct vs_standing at = vs_core_events_standing(c);
            CHECK_EQ(at.number, next[core]);
            CHECK_EQ(at.timed, x->run.cycles != NULL);
            check_event(x, &c->now.batch, vs_core_events_next(c), at.cycle, at.number);
            c->at++;
            next[core]++;
        }
    }
    vs_pieces_feed_fini(&feed);
}

static void walk_in_order(struct fixture *x)
{
    struct vs_pieces_cursor cursor = {.pieces = &x->pieces};
    struct vs_batch b;
    const struct vs_event *e;
    uint64_t number = 0;
    int err;
    while (!(err = vs_pieces_next(&cursor, &b, &e)))
        check_event(x, &b, e, b.cycles ? b.cycles[e - b.events] : 0, number++);
    CHECK_ERR(err, VSE_END);
    CHECK_EQ(number, x->run.count);
    vs_pieces_cursor_fini(&cursor);
}

TEST(keeps_a_run_that_fits)
{
    struct fixture x;
    setup(&x, true, VS_PIECES_ROOM);
    CHECK_EQ(vs_pieces_read(&x.pieces, NULL), 0);
    CHECK(x.pieces.whole);
    vs_reader_close(x.reader); /* nothing is read any more */
    x.reader = NULL;
    walk_cores(&x, 5);
    walk_in_order(&x);
    teardown(&x);
}

TEST(reads_a_run_again_that_does_not_fit)
{
    struct fixture x;
    setup(&x, false, 1);
    CHECK_EQ(vs_pieces_read(&x.pieces, NULL), 0);
    CHECK(!x.pieces.whole);
    walk_in_order(&x);
    walk_cores(&x, VS_PIECE_EVENTS / THREADS / 2);
    for (size_t i = 0; i < x.pieces.count; i++)
        CHECK(!x.pieces.all[i].events); /* nobody is in it */
    teardown(&x);
}

TEST(reads_as_cores_come_to_it)
{
    struct fixture x;
    setup(&x, true, UINT64_C(1) << 20);
    walk_cores(&x, 1000); /* nothing was read before */
    teardown(&x);
}
