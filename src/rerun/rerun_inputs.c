/* SPDX-License-Identifier: MIT */
/* Getting the inputs of a run that is executed again. */
#include <stdlib.h>
#include <string.h>

#include "rerun/rerun_state.h"

/* Puts the inputs from r->at on and those of the next batch together. Returns 0; -VSE_END; an
 * error. */
static int join_inputs(struct vs_rerun *r)
{
    struct vs_made all = {0};
    struct vs_batch next, kept = r->in;
    size_t count = kept.count - r->at;
    all.events = malloc(count * sizeof(*all.events));
    if (!all.events)
        return -VSE_NOMEM;
    memcpy(all.events, kept.events + r->at, count * sizeof(*all.events));
    int err = vs_buf_put(&all.wide, kept.wide, kept.wide_size);
    int n = err ? err : vs_reader_next(r->inputs, &next);
    if (n < 0 && n != -VSE_END && n != -VSE_NOMEM)
        r->diag = *vs_reader_diag(r->inputs);
    struct vs_event *events =
        n > 0 ? realloc(all.events, (count + next.count) * sizeof(*all.events)) : NULL;
    if (events) {
        all.events = events;
        memcpy(events + count, next.events, next.count * sizeof(*events));
        for (size_t i = count; i < count + next.count; i++)
            if (vs_event_is_wide(&events[i]))
                events[i].value += kept.wide_size;
        n = vs_buf_put(&all.wide, next.wide, next.wide_size);
    } else if (n > 0) {
        n = -VSE_NOMEM;
    }
    if (n < 0) {
        vs_made_fini(&all);
        return n;
    }
    vs_made_fini(&r->joined);
    r->joined = all;
    r->in = (struct vs_batch){.events = all.events,
                              .wide = all.wide.data,
                              .wide_size = all.wide.len,
                              .count = count + next.count,
                              .first = kept.first + r->at};
    r->at = 0;
    return 0;
}

int vs_rerun_find_values(struct vs_rerun *r)
{
    size_t end = r->at;
    for (;;) {
        const struct vs_event *e = &r->in.events[r->at];
        for (end++; end < r->in.count; end++) {
            const struct vs_event *more = &r->in.events[end];
            if (more->kind != VS_NONDET || more->thread != e->thread || more->icount ||
                more->pc != e->pc)
                break;
        }
        if (end < r->in.count)
            break;
        size_t known = end - r->at;
        int err = join_inputs(r);
        if (err == -VSE_END)
            break;
        if (err)
            return err;
        end = known - 1;
    }
    r->outside = r->at;
    r->outside_end = end;
    return 0;
}

int vs_rerun_get_inputs(struct vs_rerun *r)
{
    if (r->at < r->in.count)
        return 0;
    r->at = r->in.count = r->outside = r->outside_end = 0;
    int n = vs_reader_next(r->inputs, &r->in);
    if (n < 0 && n != -VSE_END)
        r->diag = *vs_reader_diag(r->inputs);
    return n < 0 ? n : 0;
}

int vs_rerun_seek_input(struct vs_rerun *r, uint64_t number, struct vs_diag *diag)
{
    r->at = r->outside = r->outside_end = 0;
    r->in = (struct vs_batch){.first = number};
    if (!vs_reader_info(r->inputs)->events)
        return 0;
    int err = vs_reader_seek_event(r->inputs, number);
    if (err && diag)
        *diag = *vs_reader_diag(r->inputs);
    return err;
}
