/* SPDX-License-Identifier: MIT */
/* Events in memory, one of a core at a time: what a walk by turns is fed with. */
#ifndef GEN_FEED_H
#define GEN_FEED_H

#include "study/core_walk.h"
#include "vestige/error.h"
#include "vestige/event.h"

struct feed {
    const struct vs_batch *all;
    size_t next[256]; /* by core */
};

/* A vs_core_feed (study/core_walk.h); the context is a struct feed. */
static inline int feed_core(void *context, unsigned core, struct vs_core_batch *batch)
{
    struct feed *f = context;
    size_t i = f->next[core];
    while (i < f->all->count && f->all->events[i].thread != core)
        i++;
    f->next[core] = i + 1;
    if (i >= f->all->count)
        return -VSE_END;
    *batch = (struct vs_core_batch){.batch = *f->all};
    batch->batch.events += i;
    batch->batch.cycles = f->all->cycles ? f->all->cycles + i : NULL;
    batch->batch.first += i;
    batch->batch.count = 1;
    return 1;
}

#endif
