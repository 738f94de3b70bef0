/* SPDX-License-Identifier: MIT */
/* Messages that were parsed before their core asked for them: a queue per core, of structs of one
 * size. A decoder that is asked about one core reads the stream on until it has that core's next
 * message, and leaves those of the others here. */
#ifndef PORT_DEMUX_H
#define PORT_DEMUX_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

struct vs_demux_queue {
    uint8_t *items; /* a ring */
    size_t capacity, first, count;
};

struct vs_demux {
    struct vs_demux_queue *queues;
    unsigned cores;
    size_t size; /* of an item */
};

/* Returns 0; -VSE_INVAL (no cores, or items of no size); -VSE_NOMEM. */
int vs_demux_init(struct vs_demux *d, unsigned cores, size_t item_size);
void vs_demux_fini(struct vs_demux *d);

/* Another with the same items. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_demux_clone(struct vs_demux *to, const struct vs_demux *from);

/* Appends a copy of an item. Returns 0; -VSE_NOMEM. */
int vs_demux_push(struct vs_demux *d, unsigned core, const void *item);

/* The core's oldest item, or NULL; valid until the next push. */
const void *vs_demux_front(const struct vs_demux *d, unsigned core);

/* Takes it off. Returns 0; -VSE_END if there is none. item may be NULL. */
int vs_demux_pop(struct vs_demux *d, unsigned core, void *item);

#endif
