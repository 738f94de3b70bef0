/* SPDX-License-Identifier: MIT */
#include "target/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/invariant.h"
#include "base/likely.h"

struct queue {
    struct vs_event *events;
    uint64_t *cycles;
    size_t head, count, capacity, cycle_capacity;
    struct vs_buf wide;
};

struct vs_merge {
    struct vs_before before;
    struct vs_consumer consumer;
    struct queue queues[VS_CORES_MAX + 1];
    unsigned sources;

    /* The batch that goes out next. */
    struct vs_event *events;
    uint64_t *cycles;
    struct vs_buf wide;
    size_t count, capacity;
    uint64_t first; /* number of its first event */
};

/* ---- in -------------------------------------------------------------------------------------- */

static int make_room(struct queue *q, size_t extra)
{
    int err = vs_array_room((void **)&q->events, &q->capacity, q->count, extra, sizeof(*q->events));
    return err ? err
               : vs_array_room((void **)&q->cycles, &q->cycle_capacity, q->count, extra,
                               sizeof(*q->cycles));
}

/* Appends the batch's events from `from` on, as the sign says. */
static int append(struct vs_merge *m, const struct vs_batch *b, size_t from,
                  const struct vs_event *sign)
{
    struct queue *q = &m->queues[sign->addr];
    int err = make_room(q, sign->value);
    if (err)
        return err;
    memcpy(&q->events[q->count], &b->events[from], sign->value * sizeof(*q->events));
    memcpy(&q->cycles[q->count], &b->cycles[from], sign->value * sizeof(*q->cycles));
    if (sign->flags & VS_SIGN_WIDE) {
        struct vs_event *event = &q->events[q->count];
        event->value = q->wide.len;
        if (vs_buf_put(&q->wide, b->wide + b->events[from].value, event->size))
            return -VSE_NOMEM;
    }
    q->count += sign->value;
    return 0;
}

/* ---- out ------------------------------------------------------------------------------------- */

static int send(struct vs_merge *m)
{
    struct vs_batch batch = {.events = m->events,
                             .cycles = m->cycles,
                             .wide = m->wide.data,
                             .wide_size = m->wide.len,
                             .count = m->count,
                             .first = m->first};
    const struct vs_consumer *to = &m->before.to;
    int err = to->put ? to->put(to->context, &batch) : 0;
    m->first += m->count;
    m->count = 0;
    m->wide.len = 0;
    return err;
}

static inline uint64_t cycle_at(const struct queue *q, size_t i)
{
    return likely(i < q->count) ? q->cycles[i] : VS_NOT_IN_LINE;
}

/* The cycles of the queues' first events, and of their second ones: which queue the next event
 * comes from is known late, and then its successor should be at hand. */
struct heads {
    struct vs_line first;
    uint64_t second[VS_CORES_MAX + 1];
};

static void look(const struct vs_merge *m, struct heads *h)
{
    h->first.count = m->sources;
    for (unsigned i = 0; i < m->sources; i++) {
        h->first.cycles[i] = cycle_at(&m->queues[i], m->queues[i].head);
        h->second[i] = cycle_at(&m->queues[i], m->queues[i].head + 1);
    }
}

/* Moves a queue's first event to the batch. */
static inline int move(struct vs_merge *m, struct queue *q, uint64_t cycle)
{
    struct vs_event *event = &m->events[m->count];
    *event = q->events[q->head++];
    m->cycles[m->count++] = cycle;
    if (likely(!vs_event_is_wide(event)))
        return 0;
    const uint8_t *wide = q->wide.data + event->value;
    event->value = m->wide.len;
    return vs_buf_put(&m->wide, wide, event->size) ? -VSE_NOMEM : 0;
}

/* An empty queue begins at its start again. */
static void compact(struct queue *q)
{
    if (q->head < q->count)
        return;
    q->head = q->count = 0;
    q->wide.len = 0;
}

static int advance(struct vs_merge *m, struct vs_moment end, bool last)
{
    struct heads h;
    int err = 0;
    look(m, &h);
    while (!err) {
        struct vs_moment first = vs_line_first(&h.first);
        if (first.cycle == VS_NOT_IN_LINE || !vs_is_before(first, end))
            break;
        struct queue *q = &m->queues[first.core];
        h.first.cycles[first.core] = h.second[first.core];
        h.second[first.core] = cycle_at(q, q->head + 2);
        if (unlikely(m->count == m->capacity))
            err = send(m);
        int failed = move(m, q, first.cycle);
        err = err ? err : failed;
    }
    for (unsigned i = 0; i < m->sources; i++)
        compact(&m->queues[i]);
    return err || !last || !m->count ? err : send(m);
}

static int put(void *context, const struct vs_batch *b)
{
    struct vs_merge *m = context;
    int err = 0;
    for (size_t i = 0; i < b->count && !err; i++) {
        const struct vs_event *sign = &b->events[i];
        if (sign->kind == VS_SIGN_UNTIL) {
            struct vs_moment end = {sign->addr, (unsigned)sign->value};
            err = advance(m, end, sign->flags & VS_SIGN_LAST);
        } else {
            invariant(sign->kind == VS_SIGN_SOURCE && sign->addr < m->sources);
            invariant(sign->value < b->count - i);
            err = append(m, b, i + 1, sign);
            i += sign->value;
        }
    }
    return err;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int vs_merge_open(struct vs_merge **out, const struct vs_consumer *to, unsigned sources,
                  size_t events)
{
    struct vs_merge *m = calloc(1, sizeof(*m));
    *out = NULL;
    if (!m)
        return -VSE_NOMEM;
    m->before = (struct vs_before){.to = *to, .put = put, .context = m};
    m->consumer = vs_consumer_before(&m->before);
    m->sources = sources;
    m->capacity = events;
    m->events = calloc(events, sizeof(*m->events));
    m->cycles = calloc(events, sizeof(*m->cycles));
    if (!m->events || !m->cycles) {
        vs_merge_close(m);
        return -VSE_NOMEM;
    }
    *out = m;
    return 0;
}

void vs_merge_close(struct vs_merge *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < m->sources; i++) {
        free(m->queues[i].events);
        free(m->queues[i].cycles);
        vs_buf_fini(&m->queues[i].wide);
    }
    free(m->events);
    free(m->cycles);
    vs_buf_fini(&m->wide);
    free(m);
}

const struct vs_consumer *vs_merge_consumer(const struct vs_merge *m)
{
    return &m->consumer;
}
