/* SPDX-License-Identifier: MIT */
#include "trace/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "rng.h"
#include "unittest.h"
#include "vestige/event.h"

/* ---- random indexes ---- */

enum { THREADS = 6 };

/* The next summary that a run could have; threads gets its parts. */
static struct vs_summary random_summary(struct rng *r, const struct vs_index *x,
                                        struct vs_chunk_thread threads[THREADS + 1])
{
    const struct vs_summary *last = x->summary_count ? &x->summaries[x->summary_count - 1] : NULL;
    struct vs_summary s = {.first = x->events, .shadow_bits = 6};
    unsigned known = (unsigned)x->total_count;

    s.sites = (last ? last->sites : 1) + (uint32_t)rng_below(r, 3);
    s.cycle_first = (last ? last->cycle_last : 0) + rng_below(r, 4);
    s.cycle_last = s.cycle_first + rng_below(r, 9);
    for (unsigned t = 0; t <= known && t < THREADS; t++) {
        if (rng_below(r, 2) && !(t == known && s.threads == 0))
            continue;
        uint64_t events = 1 + rng_below(r, 5), insns = rng_below(r, 4) * rng_below(r, 9);

        threads[s.threads++] = (struct vs_chunk_thread){t, events, insns < events * 9 ? insns : 0,
                                                        t < known ? x->totals[t].insns : 0};
        s.events += events;
    }
    if (s.threads == 0) {
        threads[s.threads++] = (struct vs_chunk_thread){0, 1, 1, known ? x->totals[0].insns : 0};
        s.events = 1;
    }
    return s;
}

static void random_index(struct vs_index *x, uint64_t seed, unsigned chunks)
{
    struct rng r = rng_init(seed);

    *x = (struct vs_index){0};
    for (unsigned i = 0; i < chunks; i++) {
        struct vs_chunk_thread threads[THREADS + 1];
        struct vs_summary s = random_summary(&r, x, threads);

        for (; rng_below(&r, 3) == 0; i++)
            CHECK_EQ(vs_index_add(x, 1 + (unsigned)rng_below(&r, 2), rng_any(&r) >> 40, NULL, NULL),
                     0);
        CHECK_EQ(vs_index_add(x, VS_CHUNK_EVENTS, rng_below(&r, 1000), &s, threads), 0);
    }
}

/* ---- finding ---- */

TEST(finds_events_as_a_linear_search_does)
{
    struct vs_index x;

    for (uint64_t seed = 0; seed < 30; seed++) {
        size_t at = 0;

        random_index(&x, seed, (unsigned)seed + 1);
        for (uint64_t n = 0; n < x.events; n++) {
            while (x.summaries[at].first + x.summaries[at].events <= n)
                at++;
            CHECK_EQ(vs_index_find_event(&x, n), at);
        }
        CHECK_ERR(vs_index_find_event(&x, x.events), VSE_NOTFOUND);
        CHECK_ERR(vs_index_find_event(&x, UINT64_MAX), VSE_NOTFOUND);
        vs_index_fini(&x);
    }
}

static int64_t search_insn(const struct vs_index *x, unsigned thread, uint64_t n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < x->summary_count; i++) {
        const struct vs_summary *s = &x->summaries[i];

        for (uint32_t k = 0; k < s->threads; k++) {
            const struct vs_chunk_thread *t = &x->threads[s->thread_at + k];

            if (t->thread == thread && (count += t->insns) >= n)
                return (int64_t)i;
        }
    }
    return -VSE_NOTFOUND;
}

TEST(finds_instructions_as_a_linear_search_does)
{
    struct vs_index x;

    for (uint64_t seed = 0; seed < 30; seed++) {
        random_index(&x, seed, (unsigned)seed + 1);
        for (unsigned t = 0; t <= x.total_count; t++) {
            uint64_t all = t < x.total_count ? x.totals[t].insns : 0;

            for (uint64_t n = 0; n <= all + 2; n++)
                CHECK_EQ(vs_index_find_insn(&x, t, n), search_insn(&x, t, n));
        }
        vs_index_fini(&x);
    }
}

TEST(finds_cycles_as_a_linear_search_does)
{
    struct vs_index x;

    for (uint64_t seed = 0; seed < 30; seed++) {
        uint64_t last;
        size_t at = 0;

        random_index(&x, seed, (unsigned)seed + 1);
        last = x.summaries[x.summary_count - 1].cycle_last;
        for (uint64_t n = 0; n <= last; n++) {
            while (x.summaries[at].cycle_last < n)
                at++;
            CHECK_EQ(vs_index_find_cycle(&x, n), at);
        }
        CHECK_ERR(vs_index_find_cycle(&x, last + 1), VSE_NOTFOUND);
        vs_index_fini(&x);
    }
}

TEST(finds_the_part_of_each_thread)
{
    struct vs_index x;

    random_index(&x, 77, 40);
    for (size_t i = 0; i < x.summary_count; i++) {
        const struct vs_summary *s = &x.summaries[i];
        unsigned found = 0;

        for (unsigned t = 0; t < THREADS + 2; t++) {
            const struct vs_chunk_thread *part = vs_index_part(&x, i, t);

            if (part) {
                CHECK_EQ(part->thread, t);
                found++;
            }
        }
        CHECK_EQ(found, s->threads);
    }
    vs_index_fini(&x);
}

TEST(finds_nothing_in_an_empty_index)
{
    struct vs_index x = {0};

    CHECK_ERR(vs_index_find_event(&x, 0), VSE_NOTFOUND);
    CHECK_ERR(vs_index_find_insn(&x, 0, 0), VSE_NOTFOUND);
    CHECK_ERR(vs_index_find_cycle(&x, 0), VSE_NOTFOUND);
    vs_index_fini(&x);
}

/* ---- adding ---- */

static int add(struct vs_index *x, struct vs_summary s, const struct vs_chunk_thread *threads)
{
    return vs_index_add(x, VS_CHUNK_EVENTS, 100, &s, threads);
}

/* One chunk with threads 0 and 1. */
static void two_threads(struct vs_index *x)
{
    const struct vs_chunk_thread t[] = {{0, 3, 10, 0}, {1, 2, 20, 0}};

    *x = (struct vs_index){0};
    CHECK_EQ(add(x, (struct vs_summary){0, 5, 4, 2, 1, 6, 100, 200, 2, 0}, t), 0);
}

TEST(adds_chunks_one_after_the_other)
{
    struct vs_index x;
    const struct vs_chunk_thread t[] = {{1, 1, 5, 20}, {2, 1, 6, 0}};

    two_threads(&x);
    CHECK_EQ(vs_index_add(&x, VS_CHUNK_STATIC, 7, NULL, NULL), 0);
    CHECK_EQ(add(&x, (struct vs_summary){5, 2, 4, 2, 1, 6, 200, 200, 2, 0}, t), 0);
    CHECK(x.entry_count == 3 && x.summary_count == 2 && x.total_count == 3);
    CHECK_EQ(x.entries[0].offset, VS_HEADER_SIZE);
    CHECK_EQ(x.entries[1].offset, VS_HEADER_SIZE + VS_CHUNK_HEADER + 100);
    CHECK_EQ(x.entries[2].offset, x.entries[1].offset + VS_CHUNK_HEADER + 7);
    CHECK_EQ(x.end, x.entries[2].offset + VS_CHUNK_HEADER + 100);
    CHECK_EQ(x.events, 7);
    CHECK(x.totals[1].events == 3 && x.totals[1].insns == 25 && x.totals[0].insns == 10);
    vs_index_fini(&x);
}

TEST(refuses_chunks_that_do_not_follow)
{
    static const struct {
        struct vs_summary s;
        struct vs_chunk_thread t[2];
    } bad[] = {{{4, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{0, 1, 1, 10}}}, /* event number */
               {{6, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{0, 1, 1, 10}}}, /* event number */
               {{5, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{0, 1, 1, 9}}},  /* before */
               {{5, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{0, 1, 1, 11}}}, /* before */
               {{5, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{1, 1, 1, 10}}}, /* the other's before */
               {{5, 1, 4, 2, 1, 6, 199, 300, 1, 0}, {{0, 1, 1, 10}}}, /* cycles decrease */
               {{5, 1, 3, 2, 1, 6, 200, 300, 1, 0}, {{0, 1, 1, 10}}}, /* fewer sites */
               {{5, 1, 4, 1, 1, 6, 200, 300, 1, 0}, {{0, 1, 1, 10}}}, /* fewer blocks */
               {{5, 1, 4, 2, 0, 6, 200, 300, 1, 0}, {{0, 1, 1, 10}}}, /* fewer images */
               {{5, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{3, 1, 1, 0}}},  /* leaves out thread 2 */
               {{5, 2, 4, 2, 1, 6, 200, 300, 2, 0}, {{0, 1, 1, 10}, {3, 1, 1, 0}}}, /* the same */
               {{5, 1, 4, 2, 1, 6, 200, 300, 1, 0}, {{2, 1, 1, 1}}}, /* a new thread's before */
               {{5, 2, 4, 2, 1, 6, 200, 300, 2, 0},
                {{2, 1, 1, 0}, {4, 1, 1, 0}}}, /* leaves out thread 3 */
               {{5, 2, 4, 2, 1, 6, 200, 300, 2, 0}, {{65535, 1, 1, 0}, {0, 0, 0, 0}}}};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct vs_index x;

        two_threads(&x);
        CHECK_ERR(add(&x, bad[i].s, bad[i].t), VSE_CORRUPT);
        CHECK(x.summary_count == 1 && x.total_count == 2 && x.events == 5);
        vs_index_fini(&x);
    }
}

TEST(refuses_a_first_chunk_that_does_not_begin)
{
    struct vs_index x = {0};

    CHECK_ERR(add(&x, (struct vs_summary){1, 1, 1, 2, 1, 6, 0, 0, 1, 0},
                  &(struct vs_chunk_thread){0, 1, 1, 0}),
              VSE_CORRUPT);
    CHECK_ERR(add(&x, (struct vs_summary){0, 1, 1, 2, 1, 6, 0, 0, 1, 0},
                  &(struct vs_chunk_thread){1, 1, 1, 0}),
              VSE_CORRUPT);
    CHECK_ERR(add(&x, (struct vs_summary){0, 1, 1, 2, 1, 6, 0, 0, 1, 0},
                  &(struct vs_chunk_thread){0, 1, 1, 1}),
              VSE_CORRUPT);
    vs_index_fini(&x);
}

/* ---- bytes ---- */

static void check_equal(const struct vs_index *a, const struct vs_index *b)
{
    CHECK_EQ(a->entry_count, b->entry_count);
    CHECK_EQ(a->summary_count, b->summary_count);
    CHECK_EQ(a->thread_count, b->thread_count);
    CHECK_EQ(a->total_count, b->total_count);
    CHECK(a->end == b->end && a->events == b->events);
    for (size_t i = 0; i < a->entry_count; i++) {
        CHECK_EQ(a->entries[i].type, b->entries[i].type);
        CHECK_EQ(a->entries[i].offset, b->entries[i].offset);
        CHECK_EQ(a->entries[i].size, b->entries[i].size);
        CHECK_EQ(a->entries[i].summary, b->entries[i].summary);
    }
    for (size_t i = 0; i < a->summary_count; i++) {
        const struct vs_summary *s = &a->summaries[i], *t = &b->summaries[i];

        CHECK(s->first == t->first && s->events == t->events && s->sites == t->sites);
        CHECK(s->cycle_first == t->cycle_first && s->cycle_last == t->cycle_last);
        CHECK(s->threads == t->threads && s->shadow_bits == t->shadow_bits);
    }
    for (size_t i = 0; i < a->thread_count; i++) {
        const struct vs_chunk_thread *s = &a->threads[i], *t = &b->threads[i];

        CHECK(s->thread == t->thread && s->events == t->events);
        CHECK(s->insns == t->insns && s->before == t->before);
    }
}

TEST(packs_indexes_both_ways)
{
    for (uint64_t seed = 100; seed < 120; seed++) {
        struct vs_index out, in = {0};
        struct vs_buf col = {0};

        random_index(&out, seed, (unsigned)seed - 100);
        CHECK_EQ(vs_index_pack(&out, &col), 0);
        CHECK_EQ(vs_index_unpack(&in, (struct vs_column){col.data, col.data + col.len},
                                 out.end ? out.end : VS_HEADER_SIZE),
                 0);
        check_equal(&out, &in);
        vs_buf_fini(&col);
        vs_index_fini(&in);
        vs_index_fini(&out);
    }
}

TEST(refuses_an_index_cut_inside_an_entry)
{
    struct vs_index whole;
    struct vs_buf col = {0};
    size_t ends = 0;

    random_index(&whole, 5, 6);
    CHECK_EQ(vs_index_pack(&whole, &col), 0);
    for (size_t n = 0; n < col.len; n++) {
        struct vs_index x = {0};
        uint8_t *exact = malloc(n ? n : 1);
        int err;

        memcpy(exact, col.data, n);
        err = vs_index_unpack(&x, (struct vs_column){exact, exact + n}, whole.end);
        /* between entries it is whole, but ends too early in the file */
        CHECK(err == -VSE_CORRUPT || err == -VSE_TRUNCATED);
        ends += err == -VSE_CORRUPT;
        vs_index_fini(&x);
        free(exact);
    }
    CHECK_EQ(ends, whole.entry_count);
    vs_buf_fini(&col);
    vs_index_fini(&whole);
}

static int unpack_entry(unsigned type, uint64_t size)
{
    uint8_t b[16] = {(uint8_t)type}, *end = vs_varint_put(b + 1, size);
    struct vs_index x = {0};
    int err =
        vs_index_unpack(&x, (struct vs_column){b, end}, VS_HEADER_SIZE + VS_CHUNK_HEADER + size);

    vs_index_fini(&x);
    return err;
}

TEST(stops_when_the_file_has_no_room_for_more_chunks)
{
    uint8_t entries[2000] = {0};
    struct vs_index x = {0};

    for (size_t i = 0; i < sizeof(entries); i += 2)
        entries[i] = VS_CHUNK_META; /* each of an empty payload */
    CHECK_ERR(vs_index_unpack(&x, (struct vs_column){entries, entries + sizeof(entries)},
                              VS_HEADER_SIZE + 10 * VS_CHUNK_HEADER),
              VSE_CORRUPT);
    CHECK_EQ(x.entry_count, 11);
    vs_index_fini(&x);
}

TEST(refuses_entries_of_the_wrong_type_or_size)
{
    CHECK_EQ(unpack_entry(VS_CHUNK_META, VS_MAX_PAYLOAD), 0);
    CHECK_ERR(unpack_entry(VS_CHUNK_META, VS_MAX_PAYLOAD + 1u), VSE_CORRUPT);
    CHECK_ERR(unpack_entry(VS_CHUNK_META, UINT64_MAX), VSE_CORRUPT);
    CHECK_ERR(unpack_entry(0, 10), VSE_CORRUPT);
    CHECK_ERR(unpack_entry(VS_CHUNK_INDEX, 10), VSE_CORRUPT);
    CHECK_ERR(unpack_entry(255, 10), VSE_CORRUPT);
    CHECK_ERR(unpack_entry(VS_CHUNK_EVENTS, 10), VSE_TRUNCATED);
}

/* ---- summaries that lie ---- */

/* A summary of one thread as numbers: 9, then 4. */
static int unpack_summary(const uint64_t n[13])
{
    uint8_t b[128], *p = b;
    struct vs_buf threads = {0};
    struct vs_summary s;
    struct vs_column col;
    int err;

    for (int i = 0; i < 13; i++)
        p = vs_varint_put(p, n[i]);
    col = (struct vs_column){b, p};
    err = vs_summary_unpack(&col, &s, &threads);
    CHECK(err < 0 || col.p == col.end);
    vs_buf_fini(&threads);
    return err;
}

static void check_summary(unsigned field, uint64_t value, int error)
{
    uint64_t n[13] = {7, 3, 9, 5, 2, 6, 100, 50, 1, 0, 3, 12, 40};

    CHECK_EQ(unpack_summary(n), 0);
    n[field] = value;
    CHECK_ERR(unpack_summary(n), error);
}

TEST(refuses_summaries_that_lie)
{
    check_summary(0, UINT64_MAX, VSE_CORRUPT);
    check_summary(1, 0, VSE_CORRUPT);
    check_summary(1, 2, VSE_CORRUPT);
    check_summary(1, 4, VSE_CORRUPT);
    check_summary(1, VS_MAX_CHUNK_EVENTS + 1, VSE_LIMIT);
    check_summary(2, 0, VSE_CORRUPT);
    check_summary(2, VS_MAX_SITES + 1, VSE_LIMIT);
    check_summary(3, VS_MAX_BLOCKS + 1, VSE_LIMIT);
    check_summary(4, VS_MAX_IMAGES + 1, VSE_LIMIT);
    check_summary(5, 33, VSE_CORRUPT);
    check_summary(5, UINT64_MAX, VSE_CORRUPT);
    check_summary(6, UINT64_MAX, VSE_CORRUPT);
    check_summary(7, UINT64_MAX, VSE_CORRUPT);
    check_summary(8, 0, VSE_CORRUPT);
    check_summary(8, 2, VSE_TRUNCATED);
    check_summary(8, VS_THREADS_MAX, VSE_TRUNCATED);
    check_summary(8, VS_THREADS_MAX + 1, VSE_LIMIT);
    check_summary(8, UINT64_MAX, VSE_LIMIT);
    check_summary(9, VS_THREADS_MAX, VSE_CORRUPT);
    check_summary(9, UINT64_MAX, VSE_CORRUPT);
    check_summary(10, 0, VSE_CORRUPT);
    check_summary(10, 2, VSE_CORRUPT);
    check_summary(10, 4, VSE_CORRUPT);
    check_summary(11, 3 * 65535 + 1, VSE_CORRUPT);
    check_summary(12, UINT64_MAX, VSE_CORRUPT);
}

TEST(takes_the_largest_summary)
{
    CHECK_EQ(unpack_summary((const uint64_t[]){INT64_MAX, VS_MAX_CHUNK_EVENTS, VS_MAX_SITES,
                                               VS_MAX_BLOCKS, VS_MAX_IMAGES, 32, INT64_MAX, 0, 1,
                                               VS_THREADS_MAX - 1, VS_MAX_CHUNK_EVENTS,
                                               UINT64_C(65535) << 22, INT64_MAX}),
             0);
}
