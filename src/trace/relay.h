/* SPDX-License-Identifier: MIT */
/* Runs a consumer in a thread of its own, so that whoever makes the events can go on meanwhile. */
#ifndef TRACE_RELAY_H
#define TRACE_RELAY_H

#include "base/buf.h"
#include "trace/consumer.h"

struct vs_relay;

/* What travels between the two: the maker of events fills it, the consumer reads it. */
struct vs_parcel {
    struct vs_event *events; /* room for the number of events given to vs_relay_open */
    uint64_t *cycles;        /* the same number; NULL in an untimed run */
    size_t count;
    struct vs_buf wide;
    uint64_t first; /* number of the first event */
};

/* `consumer` must live on, and is called by one thread at a time. Returns 0; -VSE_NOMEM. */
int vs_relay_open(struct vs_relay **r, const struct vs_consumer *consumer, size_t events,
                  bool timed);

/* The same without a thread: whoever sends calls the consumer, and waits for it. */
int vs_relay_open_here(struct vs_relay **r, const struct vs_consumer *consumer, size_t events);

/* An empty parcel, after waiting for one if necessary. */
struct vs_parcel *vs_relay_take(struct vs_relay *r);

/* Sends the parcel taken last. Returns 0; the first error of the consumer, after which parcels
 * are thrown away. */
int vs_relay_send(struct vs_relay *r);

/* The consumer's other functions; these return what they do. They may run before parcels that were
 * sent earlier are consumed. */
int64_t vs_relay_block(struct vs_relay *r, const struct vs_block *block);
int64_t vs_relay_image(struct vs_relay *r, const struct vs_image *image);
int vs_relay_meta(struct vs_relay *r, const char *key, const char *value);

/* Whether there may be records: the consumer takes them, and there is no thread in between. */
bool vs_relay_takes_records(const struct vs_relay *r);

/* These come after the parcels that were sent earlier. They return what the consumer's functions
 * do. */
int64_t vs_relay_recipe(struct vs_relay *r, const struct vs_recipe *recipe);
int vs_relay_records(struct vs_relay *r, const struct vs_records *records);

/* Waits until everything is consumed. Returns 0; the consumer's first error. */
int vs_relay_drain(struct vs_relay *r);

/* Waits until everything is consumed, and frees the relay, which may be NULL. */
void vs_relay_close(struct vs_relay *r);

#endif
