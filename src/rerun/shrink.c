/* SPDX-License-Identifier: MIT */
#include "rerun/shrink.h"

#include <stdlib.h>

#include "base/array.h"

int vs_shrink_init(struct vs_shrink *s, unsigned threads)
{
    *s = (struct vs_shrink){.threads = threads};
    s->since = calloc(threads + 1u, sizeof(*s->since));
    return s->since ? 0 : -VSE_NOMEM;
}

void vs_shrink_fini(struct vs_shrink *s)
{
    free(s->since);
    free(s->events);
}

static int append(struct vs_shrink *s, struct vs_event e)
{
    if (vs_array_room((void **)&s->events, &s->capacity, s->count, 1, sizeof(e)) < 0)
        return -VSE_NOMEM;
    s->events[s->count++] = e;
    return 0;
}

/* Keeps an event, and lets it count what was left out before it. */
static int keep(struct vs_shrink *s, struct vs_event e)
{
    uint64_t *since = &s->since[e.thread];
    int err = 0;
    for (; *since > UINT16_MAX && !err; *since -= UINT16_MAX)
        err = append(s,
                     (struct vs_event){.kind = VS_COUNT, .thread = e.thread, .icount = UINT16_MAX});
    if (err)
        return err;
    e.icount = (uint16_t)*since;
    *since = 0;
    return append(s, e);
}

int vs_shrink_batch(struct vs_shrink *s, const struct vs_batch *in, struct vs_batch *out)
{
    int err = 0;
    s->count = 0;
    for (size_t i = 0; i < in->count && !err; i++) {
        const struct vs_event *e = &in->events[i];
        if (e->thread >= s->threads)
            return -VSE_CORRUPT;
        s->since[e->thread] += e->icount;
        if (e->kind > VS_STORE && e->kind != VS_COUNT)
            err = keep(s, *e);
    }
    *out = *in;
    out->events = s->events;
    out->count = s->count;
    return err;
}
