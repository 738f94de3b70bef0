/* SPDX-License-Identifier: MIT */
#include "target/merge.h"

#include "unittest.h"

enum { SOURCES = 5, BATCH = 7, MOST = 4000 };

/* Takes what goes out, and checks that it is in order. An event's addr is its source, and its pc
 * its place there. */
struct sink {
    uint64_t count, batches, fail_at;
    uint64_t next[SOURCES]; /* the place that comes next */
    struct vs_moment last;
    uint64_t wide;
};

static int take(void *context, const struct vs_batch *b)
{
    struct sink *s = context;
    CHECK_EQ(b->first, s->count);
    for (size_t i = 0; i < b->count; i++) {
        const struct vs_event *e = &b->events[i];
        struct vs_moment at = {b->cycles[i], (unsigned)e->addr};
        CHECK(!vs_is_before(at, s->last));
        CHECK_EQ(e->pc, s->next[e->addr]++);
        s->last = at;
        if (!vs_event_is_wide(e))
            continue;
        for (unsigned n = 0; n < e->size; n++)
            CHECK_EQ(b->wide[e->value + n], (uint8_t)(e->pc + n));
        s->wide++;
    }
    s->count += b->count;
    return ++s->batches == s->fail_at ? -VSE_IO : 0;
}

/* A batch on its way in. */
struct fixture {
    struct sink sink;
    struct vs_merge *merge;
    struct vs_event events[MOST];
    uint64_t cycles[MOST];
    size_t count;
    uint8_t wide[MOST];
    size_t wide_size;
    uint64_t made[SOURCES];
};

static void setup(struct fixture *f)
{
    *f = (struct fixture){.count = 0};
    struct vs_consumer to = {.context = &f->sink, .put = take};
    CHECK_EQ(vs_merge_open(&f->merge, &to, SOURCES, BATCH), 0);
}

static int send(struct fixture *f)
{
    const struct vs_consumer *c = vs_merge_consumer(f->merge);
    struct vs_batch b = {.events = f->events,
                         .cycles = f->cycles,
                         .wide = f->wide,
                         .wide_size = f->wide_size,
                         .count = f->count};
    f->count = f->wide_size = 0;
    return c->put(c->context, &b);
}

/* Events of a source, `step` cycles apart. */
static void add(struct fixture *f, unsigned source, uint64_t cycle, uint64_t step, unsigned count)
{
    f->events[f->count++] =
        (struct vs_event){.kind = VS_SIGN_SOURCE, .addr = source, .value = count};
    for (unsigned i = 0; i < count; i++) {
        f->cycles[f->count] = cycle + i * step;
        f->events[f->count++] =
            (struct vs_event){.kind = VS_LOAD, .size = 8, .addr = source, .pc = f->made[source]++};
    }
}

static void add_wide(struct fixture *f, unsigned source, uint64_t cycle)
{
    uint64_t pc = f->made[source]++;
    f->events[f->count++] = (struct vs_event){
        .kind = VS_SIGN_SOURCE, .addr = source, .value = 1, .flags = VS_SIGN_WIDE};
    f->cycles[f->count] = cycle;
    f->events[f->count++] = (struct vs_event){
        .kind = VS_EXTERNAL, .size = 20, .addr = source, .pc = pc, .value = f->wide_size};
    for (unsigned n = 0; n < 20; n++)
        f->wide[f->wide_size++] = (uint8_t)(pc + n);
}

static void until(struct fixture *f, uint64_t cycle, unsigned source, unsigned flags)
{
    f->events[f->count++] = (struct vs_event){
        .kind = VS_SIGN_UNTIL, .addr = cycle, .value = source, .flags = (uint8_t)flags};
}

TEST(orders_by_cycle_then_source)
{
    static struct fixture f;
    setup(&f);
    for (uint64_t round = 0; round < 50; round++) {
        uint64_t base = 100 * round;
        for (unsigned i = 0; i < SOURCES; i++) {
            unsigned source = (unsigned)(i + round) % SOURCES;
            add(&f, source, base + source / 2, 1 + source, 5 + source);
            add_wide(&f, source, base + 90);
        }
        until(&f, base + 90, 3, 0);
        CHECK_EQ(send(&f), 0);
    }
    until(&f, UINT64_MAX, UINT32_MAX, VS_SIGN_LAST);
    CHECK_EQ(send(&f), 0);
    CHECK_EQ(f.sink.wide, 50 * SOURCES);
    CHECK_EQ(f.sink.count, 50 * (5 + 6 + 7 + 8 + 9 + SOURCES));
    vs_merge_close(f.merge);
}

TEST(keeps_what_is_later)
{
    static struct fixture f;
    setup(&f);
    add(&f, 0, 10, 0, BATCH);
    add(&f, 1, 10, 0, BATCH);
    until(&f, 10, 1, 0); /* all of source 0: a whole batch, which goes with the event after it */
    CHECK_EQ(send(&f), 0);
    CHECK_EQ(f.sink.count, 0);
    until(&f, 10, 2, 0);
    CHECK_EQ(send(&f), 0);
    CHECK_EQ(f.sink.count, BATCH);
    CHECK_EQ(f.sink.last.core, 0);
    add(&f, 2, 11, 0, 1);
    until(&f, 11, 2, VS_SIGN_LAST);
    CHECK_EQ(send(&f), 0);
    CHECK_EQ(f.sink.count, 2 * BATCH);
    until(&f, 12, 0, VS_SIGN_LAST);
    CHECK_EQ(send(&f), 0);
    CHECK_EQ(f.sink.count, 2 * BATCH + 1);
    vs_merge_close(f.merge);
}

TEST(hands_on_the_consumers_error)
{
    static struct fixture f;
    setup(&f);
    f.sink.fail_at = 2;
    add(&f, 0, 1, 1, 3 * BATCH);
    until(&f, 1000, 0, 0);
    CHECK_EQ(send(&f), -VSE_IO);
    CHECK_EQ(f.sink.batches, 2);
    vs_merge_close(f.merge);
    vs_merge_close(NULL);
}
