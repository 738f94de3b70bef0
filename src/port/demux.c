/* SPDX-License-Identifier: MIT */
#include "port/demux.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

int vs_demux_init(struct vs_demux *d, unsigned cores, size_t item_size)
{
    *d = (struct vs_demux){.cores = cores, .size = item_size};
    if (!cores || !item_size)
        return -VSE_INVAL;
    d->queues = calloc(cores, sizeof(*d->queues));
    return d->queues ? 0 : -VSE_NOMEM;
}

void vs_demux_fini(struct vs_demux *d)
{
    for (unsigned i = 0; d->queues && i < d->cores; i++)
        free(d->queues[i].items);
    free(d->queues);
    *d = (struct vs_demux){0};
}

static uint8_t *item_at(const struct vs_demux *d, const struct vs_demux_queue *q, size_t i)
{
    return q->items + (q->first + i) % q->capacity * d->size;
}

static int grow(const struct vs_demux *d, struct vs_demux_queue *q)
{
    size_t capacity = q->capacity ? 2 * q->capacity : 16;
    uint8_t *items;

    if (capacity > SIZE_MAX / d->size || !(items = malloc(capacity * d->size)))
        return -VSE_NOMEM;
    for (size_t i = 0; i < q->count; i++)
        memcpy(items + i * d->size, item_at(d, q, i), d->size);
    free(q->items);
    q->items = items;
    q->capacity = capacity;
    q->first = 0;
    return 0;
}

int vs_demux_push(struct vs_demux *d, unsigned core, const void *item)
{
    struct vs_demux_queue *q = &d->queues[core];
    int err;

    invariant(core < d->cores);
    if (q->count == q->capacity && (err = grow(d, q)) < 0)
        return err;
    memcpy(item_at(d, q, q->count++), item, d->size);
    return 0;
}

int vs_demux_clone(struct vs_demux *to, const struct vs_demux *from)
{
    int err = vs_demux_init(to, from->cores, from->size);

    invariant(from->cores && from->size);
    for (unsigned i = 0; i < from->cores && !err; i++)
        for (size_t k = 0; k < from->queues[i].count && !err; k++)
            err = vs_demux_push(to, i, item_at(from, &from->queues[i], k));
    return err;
}

const void *vs_demux_front(const struct vs_demux *d, unsigned core)
{
    const struct vs_demux_queue *q = &d->queues[core];

    return q->count ? item_at(d, q, 0) : NULL;
}

int vs_demux_pop(struct vs_demux *d, unsigned core, void *item)
{
    struct vs_demux_queue *q = &d->queues[core];

    invariant(core < d->cores && q->count <= q->capacity);
    if (!q->count)
        return -VSE_END;
    if (item)
        memcpy(item, item_at(d, q, 0), d->size);
    q->first = (q->first + 1) % q->capacity;
    q->count--;
    return 0;
}
