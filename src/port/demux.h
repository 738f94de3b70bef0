/* SPDX-License-Identifier: MIT */
/* Keeps messages that were parsed before their core asked for them: a queue per core, whose items
 * are structs of one size. A decoder that is asked about one core reads on in the stream until it
 * has that core's next message, and leaves the other cores' messages here. */
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

/* Makes `to` another with the same items. Returns 0; -VSE_NOMEM. `to` needs fini in any case. */
int vs_demux_clone(struct vs_demux *to, const struct vs_demux *from);

/* Appends a copy of an item. Returns 0; -VSE_NOMEM. */
int vs_demux_push(struct vs_demux *d, unsigned core, const void *item);

/* Returns the core's oldest item, or NULL. It is valid until the next push. */
const void *vs_demux_front(const struct vs_demux *d, unsigned core);

/* Removes the core's oldest item and copies it to `item`, which may be NULL. Returns 0; -VSE_END if
 * there is none. */
int vs_demux_pop(struct vs_demux *d, unsigned core, void *item);

#endif
