/* SPDX-License-Identifier: MIT */
#include "trace/relay.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/invariant.h"

/* These are enough to even out the times that either side takes, and few enough to stay in the
 * caches. */
#define PARCELS 4

struct vs_relay {
    const struct vs_consumer *consumer;
    struct vs_parcel parcels[PARCELS];
    size_t events;           /* how many a parcel has room for */
    uint64_t sent, consumed; /* counts of parcels; the next to be filled is sent % PARCELS */
    uint64_t blocks, images; /* how many were numbered, for a consumer that numbers none */
    int error;               /* the consumer's first */
    bool closing, started;
    pthread_t thread;
    pthread_mutex_t state; /* guards the fields above */
    pthread_mutex_t calls; /* held while the consumer is called */
    pthread_cond_t changed;
};

static int consume(struct vs_relay *r, struct vs_parcel *p)
{
    struct vs_batch batch = {.events = p->events,
                             .cycles = p->cycles,
                             .wide = p->wide.data,
                             .wide_size = p->wide.len,
                             .count = p->count,
                             .first = p->first};
    int e;

    pthread_mutex_lock(&r->calls);
    e = r->consumer->put ? r->consumer->put(r->consumer->context, &batch) : 0;
    pthread_mutex_unlock(&r->calls);
    return e;
}

static void *work(void *arg)
{
    struct vs_relay *r = arg;

    pthread_mutex_lock(&r->state);
    for (;;) {
        struct vs_parcel *p = &r->parcels[r->consumed % PARCELS];
        bool broken = r->error < 0;
        int e = 0;

        if (r->consumed == r->sent) {
            if (r->closing)
                break;
            pthread_cond_wait(&r->changed, &r->state);
            continue;
        }
        pthread_mutex_unlock(&r->state);
        if (!broken)
            e = consume(r, p);
        p->count = 0;
        p->wide.len = 0;
        pthread_mutex_lock(&r->state);
        if (e < 0)
            r->error = e;
        r->consumed++;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->state);
    return NULL;
}

/* Consumes a parcel, unless something failed before, and empties it. Returns 0; an error. */
static int consume_here(struct vs_relay *r, struct vs_parcel *p)
{
    if (r->error == 0)
        r->error = consume(r, p);
    p->count = 0;
    p->wide.len = 0;
    return r->error;
}

static int open_relay(struct vs_relay **out, const struct vs_consumer *consumer, size_t events,
                      bool timed, int parcels)
{
    struct vs_relay *r = calloc(1, sizeof(*r));
    bool ok = r != NULL;

    *out = r;
    if (!ok)
        return -VSE_NOMEM;
    r->consumer = consumer;
    r->events = events;
    pthread_mutex_init(&r->state, NULL);
    pthread_mutex_init(&r->calls, NULL);
    pthread_cond_init(&r->changed, NULL);
    for (int i = 0; i < parcels; i++) {
        ok &= (r->parcels[i].events = calloc(events, sizeof(struct vs_event))) != NULL;
        ok &= !timed || (r->parcels[i].cycles = calloc(events, sizeof(uint64_t))) != NULL;
    }
    return ok ? 0 : -VSE_NOMEM;
}

/* Undoes an opening that failed. */
static int give_up(struct vs_relay **out)
{
    vs_relay_close(*out);
    *out = NULL;
    return -VSE_NOMEM;
}

int vs_relay_open(struct vs_relay **out, const struct vs_consumer *consumer, size_t events,
                  bool timed)
{
    struct vs_relay *r;

    if (open_relay(out, consumer, events, timed, PARCELS) < 0)
        return give_up(out);
    r = *out;
    r->started = pthread_create(&r->thread, NULL, work, r) == 0;
    return r->started ? 0 : give_up(out);
}

int vs_relay_open_here(struct vs_relay **out, const struct vs_consumer *consumer, size_t events)
{
    return open_relay(out, consumer, events, false, 1) < 0 ? give_up(out) : 0;
}

struct vs_parcel *vs_relay_take(struct vs_relay *r)
{
    struct vs_parcel *p = &r->parcels[r->sent % PARCELS];

    if (!r->started)
        return &r->parcels[0];
    pthread_mutex_lock(&r->state);
    while (r->sent - r->consumed == PARCELS)
        pthread_cond_wait(&r->changed, &r->state);
    pthread_mutex_unlock(&r->state);
    return p;
}

int vs_relay_send(struct vs_relay *r)
{
    int e;

    if (!r->started)
        return consume_here(r, &r->parcels[0]);
    invariant(r->parcels[r->sent % PARCELS].count <= r->events);
    pthread_mutex_lock(&r->state);
    r->sent++;
    invariant(r->sent - r->consumed <= PARCELS);
    e = r->error;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->state);
    return e;
}

int64_t vs_relay_block(struct vs_relay *r, const struct vs_block *block)
{
    int64_t e;

    if (!r->consumer->block)
        return (int64_t)r->blocks++;
    pthread_mutex_lock(&r->calls);
    e = r->consumer->block(r->consumer->context, block);
    pthread_mutex_unlock(&r->calls);
    return e;
}

int64_t vs_relay_image(struct vs_relay *r, const struct vs_image *image)
{
    int64_t e;

    if (!r->consumer->image)
        return (int64_t)r->images++;
    pthread_mutex_lock(&r->calls);
    e = r->consumer->image(r->consumer->context, image);
    pthread_mutex_unlock(&r->calls);
    return e;
}

int vs_relay_meta(struct vs_relay *r, const char *key, const char *value)
{
    int e;

    if (!r->consumer->meta)
        return 0;
    pthread_mutex_lock(&r->calls);
    e = r->consumer->meta(r->consumer->context, key, value);
    pthread_mutex_unlock(&r->calls);
    return e;
}

bool vs_relay_takes_records(const struct vs_relay *r)
{
    return !r->started && r->consumer->recipe && r->consumer->records;
}

int64_t vs_relay_recipe(struct vs_relay *r, const struct vs_recipe *recipe)
{
    invariant(!r->started);
    return r->consumer->recipe(r->consumer->context, recipe);
}

int vs_relay_records(struct vs_relay *r, const struct vs_records *records)
{
    invariant(!r->started);
    if (r->error == 0)
        r->error = r->consumer->records(r->consumer->context, records);
    return r->error;
}

int vs_relay_drain(struct vs_relay *r)
{
    int e;

    pthread_mutex_lock(&r->state);
    while (r->consumed < r->sent)
        pthread_cond_wait(&r->changed, &r->state);
    e = r->error;
    pthread_mutex_unlock(&r->state);
    return e;
}

void vs_relay_close(struct vs_relay *r)
{
    if (!r)
        return;
    if (r->started) {
        pthread_mutex_lock(&r->state);
        r->closing = true;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->state);
        pthread_join(r->thread, NULL);
        invariant(r->consumed == r->sent);
    }
    for (int i = 0; i < PARCELS; i++) {
        free(r->parcels[i].events);
        free(r->parcels[i].cycles);
        vs_buf_fini(&r->parcels[i].wide);
    }
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->calls);
    pthread_mutex_destroy(&r->state);
    free(r);
}
