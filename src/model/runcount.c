/* SPDX-License-Identifier: MIT */
#include "model/runcount.h"

#include "base/invariant.h"
#include "base/power.h"

int vs_runcount_init(struct vs_runcount *r, const struct vs_runcount_config *c)
{
    if (c->least > c->start || c->start > c->most || c->most > VS_RUNCOUNT_BITS_MAX)
        return -VSE_INVAL;
    *r = (struct vs_runcount){.config = *c, .bits = c->start, .monitor = VS_RUNCOUNT_MONITOR_START};
    return 0;
}

static uint64_t most_events(const struct vs_runcount *r)
{
    return UINT64_C(1) << r->bits;
}

static void adapt(struct vs_runcount *r, int step)
{
    int m = (int)r->monitor + step;

    if (m >= VS_RUNCOUNT_MONITOR_MAX) {
        r->bits += r->bits < r->config.most;
        m = VS_RUNCOUNT_MONITOR_START;
    } else if (m <= 0) {
        r->bits -= r->bits > r->config.least;
        m = VS_RUNCOUNT_MONITOR_START;
    }
    r->monitor = (unsigned)m;
    invariant(r->bits >= r->config.least && r->bits <= r->config.most);
}

static void note_excess(struct vs_runcount *r)
{
    r->exceeded = true;
    adapt(r, VS_RUNCOUNT_MONITOR_UP);
}

bool vs_runcount_add(struct vs_runcount *r, struct vs_run_record *out)
{
    if (r->count < most_events(r)) {
        r->count++;
        return false;
    }
    *out = (struct vs_run_record){r->bits, r->count - 1};
    note_excess(r);
    r->count = 1;
    return true;
}

bool vs_runcount_end(struct vs_runcount *r, struct vs_run_record *out)
{
    if (!r->count)
        return false;
    *out = (struct vs_run_record){r->bits, r->count - 1};
    if (!r->exceeded && r->count < (r->config.half ? most_events(r) / 2 : most_events(r)))
        adapt(r, -VS_RUNCOUNT_MONITOR_DOWN);
    r->count = 0;
    r->exceeded = false;
    return true;
}

int vs_runcount_width(struct vs_runcount *r)
{
    if (r->count && r->count < most_events(r))
        return -VSE_CORRUPT;
    if (r->count)
        note_excess(r);
    return (int)r->bits;
}

uint64_t vs_runcount_read(struct vs_runcount *r, uint64_t value)
{
    r->count = value + 1;
    return r->count;
}

struct vs_cost vs_runcount_cost(const struct vs_runcount *r)
{
    /* These are the counter at its widest (events less one, at most all ones, since the next event
     * sends them and starts anew); whether there are any events; the monitor, which stays between 0
     * and 15; the width, which stays within its limits; and whether the run exceeded it. */
    return (struct vs_cost){.registers = r->config.most + 1 + 4 +
                                         vs_log2_ceil((uint64_t)r->config.most + 1) + 1};
}
