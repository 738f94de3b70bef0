/* SPDX-License-Identifier: MIT */
#include "trace/relay.h"

#include <stdatomic.h>
#include <unistd.h>

#include "unittest.h"

enum { EVENTS = 100 };

struct sink {
    uint64_t next; /* number of the event that comes next */
    uint64_t parcels, fail_at;
    uint64_t blocks;
    atomic_bool held;   /* put waits while it is set */
    atomic_bool inside; /* a call is under way: there is but one at a time */
};

static void enter(struct sink *s)
{
    CHECK(!atomic_exchange(&s->inside, true));
}

static void leave(struct sink *s)
{
    atomic_store(&s->inside, false);
}

static int put(void *context, const struct vs_batch *b)
{
    struct sink *s = context;

    while (s->held)
        usleep(100);
    enter(s);
    CHECK_EQ(b->first, s->next);
    for (size_t i = 0; i < b->count; i++) {
        CHECK_EQ(b->events[i].addr, s->next + i);
        CHECK_EQ(b->wide[i], (uint8_t)(s->next + i));
    }
    CHECK_EQ(b->wide_size, b->count);
    s->next += b->count;
    leave(s);
    return ++s->parcels == s->fail_at ? -VSE_IO : 0;
}

static int64_t block(void *context, const struct vs_block *b)
{
    struct sink *s = context;

    (void)b;
    enter(s);
    leave(s);
    return (int64_t)(100 + s->blocks++);
}

struct fixture {
    struct sink sink;
    struct vs_consumer consumer;
    struct vs_relay *relay;
    uint64_t sent; /* events */
};

static void setup(struct fixture *f)
{
    *f = (struct fixture){0};
    f->consumer = (struct vs_consumer){.context = &f->sink, .put = put, .block = block};
    CHECK_EQ(vs_relay_open(&f->relay, &f->consumer, EVENTS, false), 0);
}

static int send_some(struct fixture *f, unsigned count)
{
    struct vs_parcel *p = vs_relay_take(f->relay);

    CHECK_EQ(p->count, 0);
    CHECK_EQ(p->wide.len, 0);
    for (unsigned i = 0; i < count; i++) {
        uint8_t byte = (uint8_t)(f->sent + i);

        p->events[i] = (struct vs_event){.addr = f->sent + i};
        CHECK_EQ(vs_buf_put(&p->wide, &byte, 1), 0);
    }
    p->count = count;
    p->first = f->sent;
    f->sent += count;
    return vs_relay_send(f->relay);
}

TEST(delivers_in_order)
{
    struct fixture f;

    setup(&f);
    for (unsigned i = 0; i < 2000; i++)
        CHECK_EQ(send_some(&f, i % (EVENTS + 1)), 0);
    CHECK_EQ(vs_relay_drain(f.relay), 0);
    CHECK_EQ(f.sink.next, f.sent);
    CHECK_EQ(f.sink.parcels, 2000);
    CHECK_EQ(vs_relay_drain(f.relay), 0);
    CHECK_EQ(send_some(&f, 1), 0);
    CHECK_EQ(vs_relay_drain(f.relay), 0);
    CHECK_EQ(f.sink.parcels, 2001);
    vs_relay_close(f.relay);
}

TEST(lets_the_maker_go_on)
{
    struct fixture f;

    setup(&f);
    f.sink.held = true;
    for (unsigned i = 0; i < 3; i++)
        CHECK_EQ(send_some(&f, 10), 0);
    CHECK_EQ(f.sink.parcels, 0);
    f.sink.held = false;
    CHECK_EQ(vs_relay_drain(f.relay), 0);
    CHECK_EQ(f.sink.parcels, 3);
    vs_relay_close(f.relay);
}

TEST(calls_the_consumer_one_at_a_time)
{
    struct fixture f;
    struct vs_block b = {.addr = 1};

    setup(&f);
    for (unsigned i = 0; i < 1000; i++) {
        CHECK_EQ(vs_relay_block(f.relay, &b), 100 + i);
        CHECK_EQ(send_some(&f, EVENTS), 0);
    }
    CHECK_EQ(vs_relay_drain(f.relay), 0);
    vs_relay_close(f.relay);
}

TEST(numbers_what_the_consumer_does_not)
{
    struct fixture f;
    struct vs_block b = {.addr = 1};
    struct vs_image i = {.path = "x"};

    setup(&f);
    f.consumer.block = NULL;
    for (unsigned n = 0; n < 3; n++) {
        CHECK_EQ(vs_relay_block(f.relay, &b), n);
        CHECK_EQ(vs_relay_image(f.relay, &i), n);
    }
    vs_relay_close(f.relay);
}

TEST(keeps_the_first_error)
{
    struct fixture f;
    int e = 0;

    setup(&f);
    f.sink.fail_at = 3;
    for (unsigned i = 0; i < 20 && e == 0; i++)
        e = send_some(&f, 10);
    CHECK_ERR(e, VSE_IO);
    for (unsigned i = 0; i < 20; i++)
        CHECK_ERR(send_some(&f, 10), VSE_IO); /* thrown away, without end */
    CHECK_ERR(vs_relay_drain(f.relay), VSE_IO);
    CHECK_EQ(f.sink.parcels, 3);
    vs_relay_close(f.relay);
}

TEST(reports_an_error_of_the_last_parcel)
{
    struct fixture f;

    setup(&f);
    f.sink.fail_at = 1;
    f.sink.held = true;
    CHECK_EQ(send_some(&f, 10), 0);
    f.sink.held = false;
    CHECK_ERR(vs_relay_drain(f.relay), VSE_IO);
    vs_relay_close(f.relay);
}

TEST(delivers_what_is_pending_when_closed)
{
    struct fixture f;

    setup(&f);
    f.sink.held = true;
    for (unsigned i = 0; i < 4; i++)
        CHECK_EQ(send_some(&f, 10), 0);
    f.sink.held = false;
    vs_relay_close(f.relay);
    CHECK_EQ(f.sink.next, 40);
    setup(&f); /* one that was taken and not sent */
    vs_relay_take(f.relay);
    vs_relay_close(f.relay);
    vs_relay_close(NULL);
}

/* ---- without a thread ------------------------------------------------------------------------ */

static int64_t recipe(void *context, const struct vs_recipe *r)
{
    (void)context;
    return r->length;
}

static int records(void *context, const struct vs_records *r)
{
    struct sink *s = context;

    CHECK_EQ(s->next, 2 * 3);
    return r->count == 5 ? -VSE_IO : 0;
}

TEST(calls_the_consumer_of_records_at_once)
{
    struct vs_recipe r = {.length = 24};
    struct vs_records some = {.count = 1}, bad = {.count = 5};
    struct fixture f;

    setup(&f);
    CHECK(!vs_relay_takes_records(f.relay));
    vs_relay_close(f.relay);
    CHECK_EQ(vs_relay_open_here(&f.relay, &f.consumer, EVENTS), 0);
    CHECK(!vs_relay_takes_records(f.relay));
    f.consumer.recipe = recipe;
    f.consumer.records = records;
    CHECK(vs_relay_takes_records(f.relay));
    CHECK_EQ(send_some(&f, 3), 0);
    CHECK_EQ(f.sink.next, 3);
    CHECK_EQ(send_some(&f, 3), 0);
    CHECK_EQ(vs_relay_recipe(f.relay, &r), 24);
    CHECK_EQ(vs_relay_records(f.relay, &some), 0);
    CHECK_ERR(vs_relay_records(f.relay, &bad), VSE_IO);
    CHECK_ERR(send_some(&f, 3), VSE_IO); /* and it is thrown away */
    CHECK_EQ(f.sink.next, 6);
    CHECK_ERR(vs_relay_drain(f.relay), VSE_IO);
    vs_relay_close(f.relay);
}
