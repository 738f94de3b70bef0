/* SPDX-License-Identifier: MIT */
#include "study/core_walk.h"

#include "base/invariant.h"
#include "vestige/error.h"

int vs_core_events_fill(struct vs_core_events *c, unsigned core, vs_core_feed *feed, void *context)
{
    invariant(c->at <= c->now.batch.count);
    while (!c->done && c->at == c->now.batch.count) {
        int n = feed(context, core, &c->now);
        if (n < 0 && n != -VSE_END)
            return n;
        c->done = n == -VSE_END;
        c->now.batch.count = c->done ? 0 : c->now.batch.count;
        c->at = 0;
    }
    return 0;
}
