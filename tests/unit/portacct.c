/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "port/demux.h"
#include "port/framing.h"
#include "rng.h"
#include "unittest.h"

static const struct vs_chunks tr_e = {4, 2}, diff = {3, 5};

/* ---- fields and messages ---- */

TEST(counts_a_traptor_message)
{
    static const unsigned cores[] = {1, 2, 8, 9}, core_bits[] = {0, 1, 3, 4};

    for (int i = 0; i < 4; i++) {
        struct vs_port_shape shape = {.cores = cores[i]};
        struct vs_port_counts sum;
        struct vs_port_writer w;

        CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
        vs_port_begin(&w, cores[i] - 1, 0);
        vs_port_put_chunks(&w, VS_FIELD_BCNT, tr_e, 16);
        vs_port_end(&w);
        CHECK_EQ(vs_port_bits(&w), 8 + core_bits[i]);
        vs_port_totals(&w, &sum);
        CHECK_EQ(sum.bits[VS_FIELD_CORE], core_bits[i]);
        CHECK_EQ(sum.bits[VS_FIELD_BCNT], 8);
        CHECK_EQ(sum.messages, 1);
        CHECK_EQ(vs_port_counts_bits(&sum), vs_port_bits(&w));
        CHECK_EQ(w.lengths[VS_FIELD_BCNT].count[5], 1);
        CHECK_EQ(vs_port_finish(&w), 8 + core_bits[i]);
        vs_port_writer_fini(&w);
    }
}

static uint64_t bits_of_core(const struct vs_port_writer *w, unsigned core)
{
    return vs_port_counts_bits(&w->cores[core].counts);
}

enum { MESSAGES = 30000, CORES = 5, WIDE = 100 };

struct message {
    unsigned core;
    uint64_t cycle, count, target, from, fixed, n;
    unsigned bits;
    uint8_t bytes[WIDE];
};

static struct message *make_messages(bool timed)
{
    struct message *all = calloc(MESSAGES, sizeof(*all));
    struct rng rng = rng_init(1);
    uint64_t cycle = 0;

    for (int i = 0; i < MESSAGES; i++) {
        struct message *m = &all[i];

        m->core = (unsigned)rng_below(&rng, CORES);
        m->cycle = timed ? cycle += rng_below(&rng, 40) : 0;
        m->count = rng_any(&rng);
        m->from = rng_any(&rng);
        m->target = rng_any(&rng);
        m->bits = (unsigned)rng_below(&rng, 65);
        m->fixed = m->bits ? rng_next(&rng) >> (64 - m->bits) : 0;
        m->n = rng_below(&rng, WIDE);
        for (unsigned k = 0; k < m->n; k++)
            m->bytes[k] = (uint8_t)rng_next(&rng);
    }
    return all;
}

static void put_message(struct vs_port_writer *w, const struct message *m)
{
    static const struct vs_unary u = {3, 2, 0};

    vs_port_begin(w, m->core, m->cycle);
    vs_port_put_chunks(w, VS_FIELD_BCNT, tr_e, m->count);
    vs_port_put_difference(w, VS_FIELD_TARGET, diff, vs_difference(m->from, m->target, 64));
    vs_port_put(w, VS_FIELD_VALUE, m->fixed, m->bits);
    vs_port_put_unary(w, VS_FIELD_ICNT, u, m->n);
    vs_port_put_bytes(w, VS_FIELD_STATE, m->bytes, m->n);
    vs_port_put_address(w, VS_FIELD_ADDRESS, u, m->from, m->target, 64);
    vs_port_end(w);
}

static void check_message(struct vs_port_reader *r, const struct message *m)
{
    static const struct vs_unary u = {3, 2, 0};
    struct vs_difference d;
    uint8_t bytes[WIDE];
    uint64_t v, cycle;
    unsigned core;

    CHECK_EQ(vs_port_next(r, &core, &cycle), 0);
    CHECK_EQ(core, m->core);
    CHECK_EQ(cycle, m->cycle);
    CHECK_EQ(vs_port_get_chunks(r, VS_FIELD_BCNT, tr_e, &v), 0);
    CHECK_EQ(v, m->count);
    CHECK_EQ(vs_port_get_difference(r, VS_FIELD_TARGET, diff, 64, &d), 0);
    CHECK_EQ(vs_difference_apply(m->from, d, 64), m->target);
    CHECK_EQ(vs_port_get(r, VS_FIELD_VALUE, m->bits, &v), 0);
    CHECK_EQ(v, m->fixed);
    CHECK_EQ(vs_port_get_unary(r, VS_FIELD_ICNT, u, &v), 0);
    CHECK_EQ(v, m->n);
    CHECK_EQ(vs_port_get_bytes(r, VS_FIELD_STATE, bytes, m->n), 0);
    CHECK_MEM(bytes, m->bytes, m->n);
    CHECK_EQ(vs_port_get_address(r, VS_FIELD_ADDRESS, u, m->from, 64, &v), 0);
    CHECK_EQ(v, m->target);
}

TEST(round_trips_messages)
{
    for (int timed = 0; timed < 2; timed++) {
        struct vs_port_shape shape = {.cores = CORES, .timed = timed, .cycles = {4, 2}};
        struct message *all = make_messages(timed);
        struct vs_port_counts sum;
        struct vs_port_writer w;
        struct vs_port_reader r;
        struct vs_buf out = {0};
        uint64_t by_core = 0;
        int64_t bits;

        CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_buf, &out), 0);
        for (int i = 0; i < MESSAGES; i++)
            put_message(&w, &all[i]);
        bits = vs_port_finish(&w);
        CHECK(bits > 0);
        CHECK_EQ(out.len, (bits + 7) / 8);
        CHECK(out.len > 300000); /* several times what the writer holds back */
        vs_port_totals(&w, &sum);
        CHECK_EQ(vs_port_counts_bits(&sum), bits);
        CHECK_EQ(sum.messages, MESSAGES);
        for (unsigned c = 0; c < CORES; c++)
            by_core += bits_of_core(&w, c);
        CHECK_EQ(by_core, bits);
        CHECK_EQ(sum.bits[VS_FIELD_CORE], 3 * MESSAGES);
        CHECK_EQ(vs_lengths_chunks_bits(&w.lengths[VS_FIELD_BCNT], tr_e), sum.bits[VS_FIELD_BCNT]);
        CHECK_EQ(vs_lengths_chunks_bits(&w.lengths[VS_FIELD_TARGET], diff) + MESSAGES,
                 sum.bits[VS_FIELD_TARGET]);
        CHECK_EQ(vs_lengths_unary_bits(&w.lengths[VS_FIELD_ICNT], (struct vs_unary){3, 2, 0}),
                 sum.bits[VS_FIELD_ICNT]);

        CHECK_EQ(vs_port_reader_init(&r, &shape,
                                     &(struct vs_port_stream){out.data, out.len, (uint64_t)bits}),
                 0);
        for (int i = 0; i < MESSAGES; i++)
            check_message(&r, &all[i]);
        CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_END);
        CHECK_EQ(r.messages, MESSAGES);
        vs_port_reader_fini(&r);
        vs_port_writer_fini(&w);
        vs_buf_fini(&out);
        free(all);
    }
}

TEST(says_where_a_stream_was_cut)
{
    struct vs_port_shape shape = {.cores = 3, .timed = true, .cycles = {4, 2}};
    struct vs_port_writer w;
    struct vs_buf out = {0};
    uint64_t ends[5];
    int64_t bits;

    CHECK_EQ(vs_port_writer_init(&w, &shape, vs_port_to_buf, &out), 0);
    for (unsigned i = 0; i < 5; i++) {
        vs_port_begin(&w, i % 3, 10 * i);
        vs_port_put_chunks(&w, VS_FIELD_BCNT, tr_e, 1000 * i);
        vs_port_end(&w);
        ends[i] = vs_port_bits(&w);
    }
    bits = vs_port_finish(&w);
    for (int64_t cut = 0; cut <= bits; cut++) {
        struct vs_port_reader r;
        unsigned core, whole = 0, expected = 0;
        bool at_end = cut == 0;
        uint64_t v;
        int err;

        for (unsigned i = 0; i < 5; i++) {
            expected += ends[i] <= (uint64_t)cut;
            at_end = at_end || ends[i] == (uint64_t)cut;
        }
        CHECK_EQ(vs_port_reader_init(&r, &shape,
                                     &(struct vs_port_stream){out.data, out.len, (uint64_t)cut}),
                 0);
        while ((err = vs_port_next(&r, &core, NULL)) == 0 &&
               (err = vs_port_get_chunks(&r, VS_FIELD_BCNT, tr_e, &v)) == 0) {
            CHECK_EQ(v, 1000 * whole);
            whole++;
        }
        CHECK_EQ(whole, expected);
        CHECK_ERR(err, at_end ? VSE_END : VSE_TRUNCATED);
        if (!at_end) {
            CHECK_EQ(r.diag.error, -VSE_TRUNCATED);
            CHECK_EQ(r.start, whole ? ends[whole - 1] : 0);
            CHECK_EQ(r.diag.offset, r.bits.pos / 8);
            CHECK_HAS(r.diag.text, "the stream ends here");
            CHECK_HAS(r.diag.text, "bit ");
        }
        vs_port_reader_fini(&r);
    }
    vs_port_writer_fini(&w);
    vs_buf_fini(&out);
}

TEST(refuses_a_core_that_is_none)
{
    static const uint8_t bytes[1] = {0x03};
    struct vs_port_reader r;

    CHECK_EQ(vs_port_reader_init(&r, &(struct vs_port_shape){.cores = 3},
                                 &(struct vs_port_stream){bytes, 1, 8}),
             0);
    CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_CORRUPT);
    CHECK_HAS(r.diag.text, "bit 0, Ti of message 0");
    CHECK_HAS(r.diag.text, "no such core");
    CHECK_ERR(vs_port_refuse(&r, VS_FIELD_VALUE, "odd"), VSE_CORRUPT);
    CHECK_HAS(r.diag.text, "value");
    vs_port_reader_fini(&r);
}

TEST(refuses_cycles_that_overflow)
{
    static const struct vs_port_shape shape = {.cores = 1, .timed = true, .cycles = {64, 64}};
    uint8_t bytes[32] = {0};
    struct vs_port_reader r;
    struct vs_bitw w;

    vs_bitw_init(&w, bytes, sizeof(bytes));
    vs_chunks_put(&w, shape.cycles, UINT64_MAX);
    vs_chunks_put(&w, shape.cycles, 1);
    CHECK(vs_bitw_finish(&w) > 0);
    CHECK_EQ(vs_port_reader_init(&r, &shape,
                                 &(struct vs_port_stream){bytes, sizeof(bytes), vs_bitw_bits(&w)}),
             0);
    CHECK_EQ(vs_port_next(&r, NULL, NULL), 0);
    CHECK_ERR(vs_port_next(&r, NULL, NULL), VSE_CORRUPT);
    CHECK_EQ(r.bits.pos, 65);
    vs_port_reader_fini(&r);
}

TEST(refuses_shapes_and_backward_time)
{
    struct vs_port_writer w;
    struct vs_port_reader r;
    struct vs_port_shape shape = {.cores = 1, .timed = true};

    CHECK_ERR(vs_port_writer_init(&w, &shape, NULL, NULL), VSE_INVAL);
    CHECK_ERR(vs_port_reader_init(&r, &shape, &(struct vs_port_stream){NULL, 0, 0}), VSE_INVAL);
    CHECK_ERR(vs_port_writer_init(&w, &(struct vs_port_shape){0}, NULL, NULL), VSE_INVAL);
    CHECK_ERR(vs_port_reader_init(&r, &(struct vs_port_shape){.cores = 1},
                                  &(struct vs_port_stream){NULL, 0, 1}),
              VSE_TRUNCATED);
    shape.cycles = tr_e;
    CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
    vs_port_begin(&w, 0, 10);
    vs_port_end(&w);
    vs_port_begin(&w, 0, 9);
    vs_port_end(&w);
    CHECK_ERR(vs_port_finish(&w), VSE_INVAL);
    vs_port_writer_fini(&w);
}

static int full(void *context, unsigned stream, const uint8_t *bytes, uint64_t nbits)
{
    (void)stream, (void)bytes, (void)nbits;
    ++*(int *)context;
    return -VSE_IO;
}

TEST(stops_at_an_error_of_the_sink)
{
    struct vs_port_shape shape = {.cores = 1};
    struct vs_port_writer w;
    int calls = 0;

    CHECK_EQ(vs_port_writer_init(&w, &shape, full, &calls), 0);
    for (int i = 0; i < 1000000; i++) {
        vs_port_begin(&w, 0, 0);
        vs_port_put(&w, VS_FIELD_VALUE, 1, 64);
        vs_port_end(&w);
    }
    CHECK_ERR(vs_port_finish(&w), VSE_IO);
    CHECK_EQ(calls, 1);
    CHECK_EQ(vs_port_bits(&w), 64000000);
    vs_port_writer_fini(&w);
}

TEST(names_every_field)
{
    for (unsigned f = 0; f < VS_FIELD_END; f++) {
        CHECK(strcmp(vs_field_name(f), "?") != 0);
        for (unsigned g = 0; g < f; g++)
            CHECK(strcmp(vs_field_name(f), vs_field_name(g)) != 0);
    }
    CHECK_STR(vs_field_name(VS_FIELD_BCNT), "bCnt");
    CHECK_STR(vs_field_name(VS_FIELD_SYNC), "sync");
    CHECK_STR(vs_field_name(VS_FIELD_END), "?");
}

/* ---- choosing codes ---- */

TEST(finds_the_best_codes)
{
    struct rng rng = rng_init(2);

    for (int round = 0; round < 20; round++) {
        struct vs_lengths l = {{0}};
        uint64_t values[300], bits, least = UINT64_MAX;
        unsigned most = 1 + (unsigned)rng_below(&rng, 12),
                 longest = 1 + (unsigned)rng_below(&rng, 64);
        struct vs_chunks best, first = {0};
        struct vs_unary best_unary;

        for (int i = 0; i < 300; i++) {
            values[i] = rng_next(&rng) >> (64 - longest) >> rng_below(&rng, longest);
            vs_lengths_note(&l, values[i]);
        }
        bits = vs_lengths_best_chunks(&l, most, &best);
        for (unsigned a = 1; a <= most; a++)
            for (unsigned b = 1; b <= most; b++) {
                struct vs_chunks c = {(uint8_t)a, (uint8_t)b};
                uint64_t sum = 0;

                for (int i = 0; i < 300; i++)
                    sum += vs_chunks_size(c, values[i]);
                CHECK_EQ(vs_lengths_chunks_bits(&l, c), sum);
                if (sum < least) {
                    least = sum;
                    first = c;
                }
            }
        CHECK_EQ(bits, least);
        CHECK_EQ(best.first, first.first);
        CHECK_EQ(best.other, first.other);
        bits = vs_lengths_best_unary(&l, most, &best_unary);
        least = 0;
        for (int i = 0; i < 300; i++)
            least += vs_unary_size(best_unary, values[i]);
        CHECK_EQ(bits, least);
        for (unsigned a = 1; a <= most; a++)
            for (unsigned b = 1; b <= most; b++)
                CHECK(vs_lengths_unary_bits(&l, (struct vs_unary){(uint8_t)a, (uint8_t)b, 0}) >=
                      bits);
    }
}

TEST(prefers_small_parameters)
{
    struct vs_lengths l = {{0}};
    struct vs_chunks c;
    struct vs_unary u;

    vs_lengths_note(&l, 7); /* in one chunk of 3, whatever the others are */
    CHECK_EQ(vs_lengths_best_chunks(&l, 16, &c), 4);
    CHECK(c.first == 3 && c.other == 1);
    CHECK_EQ(vs_lengths_best_unary(&l, 16, &u), 4);
    CHECK(u.size == 3 && u.step == 1);
}

TEST(cannot_hold_long_numbers_in_short_codes)
{
    struct vs_lengths l = {{0}};

    vs_lengths_note(&l, 0x1ff);
    CHECK_EQ(vs_lengths_unary_bits(&l, (struct vs_unary){4, 2, 8}), UINT64_MAX);
    CHECK_EQ(vs_lengths_unary_bits(&l, (struct vs_unary){4, 2, 9}), 3 + 1 + 9);
}

/* ---- windows ---- */

TEST(adds_up_windows)
{
    struct vs_window_summary s;
    struct vs_windows w;

    CHECK_EQ(vs_windows_init(&w, 2, 100), 0);
    CHECK_EQ(vs_windows_add(&w, 0, 0, 5), 0);
    CHECK_EQ(vs_windows_add(&w, 1, 99, 7), 0);
    CHECK_EQ(vs_windows_add(&w, 1, 450, 40), 0);
    CHECK_EQ(vs_windows_add(&w, 0, 499, 2), 0);
    CHECK_EQ(vs_windows_add(&w, 0, 100, 1), 0);
    CHECK_EQ(w.count, 5);
    CHECK_EQ(vs_windows_bits(&w, 0, VS_WINDOW_ALL), 12);
    CHECK_EQ(vs_windows_bits(&w, 0, 1), 7);
    CHECK_EQ(vs_windows_bits(&w, 1, 0), 1);
    CHECK_EQ(vs_windows_bits(&w, 2, VS_WINDOW_ALL), 0);
    CHECK_EQ(vs_windows_bits(&w, 99, 0), 0);
    vs_windows_summary(&w, VS_WINDOW_ALL, 550, &s);
    CHECK_EQ(s.bits, 55);
    CHECK_EQ(s.peak, 42);
    CHECK_EQ(s.peak_at, 4);
    CHECK(s.average == 0.1 && s.peak_rate == 0.42);
    vs_windows_summary(&w, 1, 480, &s); /* the last window ends with the run */
    CHECK_EQ(s.peak, 40);
    CHECK(s.peak_rate == 0.5 && s.average == 47.0 / 480);
    vs_windows_summary(&w, 0, 0, &s);
    CHECK(s.bits == 8 && s.peak == 5 && s.average == 8.0 / 500);
    CHECK_EQ(vs_windows_end(&w, 550), 550);
    CHECK_EQ(vs_windows_end(&w, 401), 401);
    CHECK_EQ(vs_windows_end(&w, 400), 500); /* a message is later */
    CHECK(vs_windows_rate(&w, 0, VS_WINDOW_ALL, 480) == 0.12);
    CHECK(vs_windows_rate(&w, 4, 1, 480) == 0.5 && vs_windows_rate(&w, 4, 1, 400) == 0.4);
    CHECK(vs_windows_rate(&w, 2, 0, 480) == 0 && vs_windows_rate(&w, 99, 0, 480) == 0);
    CHECK_EQ(vs_windows_add(&w, 0, 400, 3), 0);
    vs_windows_summary(&w, 0, 0, &s);
    CHECK(s.peak == 5 && s.peak_at == 0); /* the first of two */
    vs_windows_fini(&w);
}

TEST(limits_windows)
{
    struct vs_window_summary s;
    struct vs_windows w;

    CHECK_ERR(vs_windows_init(&w, 0, 1), VSE_INVAL);
    CHECK_ERR(vs_windows_init(&w, 1, 0), VSE_INVAL);
    CHECK_EQ(vs_windows_init(&w, 4, 1), 0);
    vs_windows_summary(&w, VS_WINDOW_ALL, 0, &s);
    CHECK(s.bits == 0 && s.average == 0 && s.peak_rate == 0);
    CHECK_ERR(vs_windows_add(&w, 0, UINT64_MAX, 1), VSE_LIMIT);
    CHECK_ERR(vs_windows_add(&w, 0, VS_WINDOWS_MAX / 4, 1), VSE_LIMIT);
    CHECK_EQ(vs_windows_add(&w, 0, VS_WINDOWS_MAX / 4 - 1, 1), 0);
    vs_windows_fini(&w);
}

TEST(tells_windows_and_drain_of_messages)
{
    struct vs_port_shape shape = {.cores = 2, .timed = true, .cycles = {4, 2}};
    struct vs_port_writer w;
    struct vs_windows windows;
    struct vs_drain drain;

    CHECK_EQ(vs_windows_init(&windows, 2, 1000), 0);
    CHECK_EQ(vs_drain_init(&drain, &(struct vs_drain_config){.bits = 1, .cycles = 1}), 0);
    CHECK_EQ(vs_port_writer_init(&w, &shape, NULL, NULL), 0);
    w.windows = &windows;
    w.drain = &drain;
    for (unsigned i = 0; i < 100; i++) {
        vs_port_begin(&w, i % 2, 100 * i);
        vs_port_put(&w, VS_FIELD_VALUE, i, 20);
        vs_port_end(&w);
    }
    CHECK_EQ(vs_windows_bits(&windows, 9, 0) + vs_windows_bits(&windows, 9, 1),
             vs_windows_bits(&windows, 9, VS_WINDOW_ALL));
    /* Ti, 200 cycles in 4 + 2 + 2 bits and three connect bits, 20 */
    CHECK_EQ(vs_windows_bits(&windows, 9, VS_WINDOW_ALL), 10 * (1 + 11 + 20));
    CHECK_EQ(drain.largest, 32);
    CHECK_EQ(drain.accepted_bits, vs_port_bits(&w));
    vs_port_writer_fini(&w);
    vs_windows_fini(&windows);
}

/* ---- the buffer ---- */

TEST(finds_the_smallest_buffer)
{
    struct vs_drain d;

    CHECK_EQ(vs_drain_init(&d, &(struct vs_drain_config){.bits = 1, .cycles = 1}), 0);
    vs_drain_add(&d, 10, 30);
    CHECK_EQ(d.largest, 30);
    vs_drain_add(&d, 20, 25); /* 20 are left */
    CHECK_EQ(d.largest, 45);
    vs_drain_add(&d, 65, 45); /* 0 are left */
    CHECK_EQ(d.largest, 45);
    vs_drain_add(&d, 65, 1);
    CHECK_EQ(d.largest, 46);
    vs_drain_add(&d, 1000000, 40);
    CHECK_EQ(d.level, 40);
    CHECK_EQ(d.dropped_messages + d.stalled, 0);
}

TEST(drains_fractions_of_bits)
{
    struct vs_drain d;

    CHECK_EQ(vs_drain_init(&d, &(struct vs_drain_config){.bits = 2, .cycles = 3}), 0);
    vs_drain_add(&d, 0, 10);
    vs_drain_add(&d, 4, 0); /* 8/3 have left, 22/3 are there */
    CHECK_EQ(d.level, 22);
    vs_drain_add(&d, 5, 4); /* 20/3 + 4 */
    CHECK_EQ(d.largest, 11);
}

TEST(drops_what_does_not_fit)
{
    struct vs_drain d;

    CHECK_EQ(vs_drain_init(&d, &(struct vs_drain_config){.bits = 1, .cycles = 1, .capacity = 50}),
             0);
    vs_drain_add(&d, 0, 50);
    vs_drain_add(&d, 9, 10);
    CHECK_EQ(d.dropped_messages, 1);
    CHECK_EQ(d.dropped_bits, 10);
    vs_drain_add(&d, 10, 10);
    vs_drain_add(&d, 500, 51);
    CHECK_EQ(d.dropped_messages, 2);
    CHECK_EQ(d.accepted_bits, 60);
    CHECK_EQ(d.largest, 50);
}

TEST(stalls_until_it_fits)
{
    struct vs_drain d;

    CHECK_EQ(
        vs_drain_init(
            &d, &(struct vs_drain_config){.bits = 2, .cycles = 1, .capacity = 50, .stall = true}),
        0);
    vs_drain_add(&d, 0, 50);
    vs_drain_add(&d, 10, 25); /* 30 + 25: 5 too many */
    CHECK_EQ(d.stalled, 3);
    CHECK_EQ(d.now, 13);
    CHECK_EQ(d.level, 49);
    vs_drain_add(&d, 20, 1); /* at 23 by now */
    CHECK_EQ(d.now, 23);
    CHECK_EQ(d.level, 30);
    vs_drain_add(&d, 20, 120); /* larger than the buffer */
    CHECK_EQ(d.stalled, 3 + 50);
    CHECK_EQ(d.level, 50);
    CHECK_EQ(d.dropped_messages, 0);
    CHECK_EQ(d.largest, 50);
}

TEST(refuses_drains)
{
    struct vs_drain d;

    CHECK_ERR(vs_drain_init(&d, &(struct vs_drain_config){.bits = 0, .cycles = 1}), VSE_INVAL);
    CHECK_ERR(vs_drain_init(&d, &(struct vs_drain_config){.bits = 1, .cycles = 0}), VSE_INVAL);
    CHECK_ERR(vs_drain_init(
                  &d, &(struct vs_drain_config){.bits = 1, .cycles = 1, .capacity = 1ull << 41}),
              VSE_INVAL);
}

/* Bit by bit, cycle by cycle. */
TEST(agrees_with_a_plain_buffer)
{
    for (int stall = 0; stall < 2; stall++) {
        struct rng rng = rng_init(7);
        struct vs_drain d;
        uint64_t level = 0, now = 0, cycle = 0, dropped = 0, stalled = 0, largest = 0;

        CHECK_EQ(vs_drain_init(&d,
                               &(struct vs_drain_config){
                                   .bits = 3, .cycles = 1, .capacity = 60, .stall = stall}),
                 0);
        for (int i = 0; i < 5000; i++) {
            uint64_t bits = rng_below(&rng, 60);

            cycle += rng_below(&rng, 20);
            for (; now < cycle + stalled; now++)
                level -= level < 3 ? level : 3;
            if (!stall && level + bits > 60) {
                dropped += bits;
            } else {
                for (; level + bits > 60; now++, stalled++)
                    level = level + bits > 63 && level < 3 ? 60 - bits : level - 3;
                level += bits;
            }
            largest = level > largest ? level : largest;
            vs_drain_add(&d, cycle, bits);
            CHECK_EQ(d.dropped_bits, dropped);
            CHECK_EQ(d.stalled, stalled);
            CHECK_EQ(d.level, level);
            CHECK_EQ(d.largest, largest);
        }
        CHECK(stall ? stalled > 1000 : dropped > 1000);
    }
}

/* ---- queues ---- */

TEST(keeps_messages_of_other_cores)
{
    struct vs_demux d;
    struct rng rng = rng_init(8);
    uint64_t pushed[3] = {0}, popped[3] = {0}, item;

    CHECK_ERR(vs_demux_init(&d, 0, 8), VSE_INVAL);
    CHECK_ERR(vs_demux_init(&d, 1, 0), VSE_INVAL);
    CHECK_EQ(vs_demux_init(&d, 3, sizeof(item)), 0);
    for (int i = 0; i < 20000; i++) {
        unsigned core = (unsigned)rng_below(&rng, 3);

        if (rng_below(&rng, i < 10000 ? 3 : 9)) {
            if (i >= 10000 && popped[core] < pushed[core]) {
                CHECK_EQ(*(const uint64_t *)vs_demux_front(&d, core), popped[core]);
                CHECK_EQ(vs_demux_pop(&d, core, NULL), 0);
                popped[core]++;
                continue;
            }
            CHECK_EQ(vs_demux_push(&d, core, &pushed[core]), 0);
            pushed[core]++;
        } else if (popped[core] == pushed[core]) {
            CHECK(!vs_demux_front(&d, core));
            CHECK_ERR(vs_demux_pop(&d, core, &item), VSE_END);
        } else {
            CHECK_EQ(vs_demux_pop(&d, core, &item), 0);
            CHECK_EQ(item, popped[core]);
            popped[core]++;
        }
    }
    CHECK(popped[0] > 1000);
    vs_demux_fini(&d);
}
