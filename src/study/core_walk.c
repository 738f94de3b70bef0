/* SPDX-License-Identifier: MIT */
#include "study/core_walk.h"

#include <stdlib.h>

#include "base/diag.h"

/* ---- a reader for each core ------------------------------------------------------------------ */

struct readers {
    struct vs_reader **of;
    unsigned count;
};

/* close_readers is needed in any case. */
static int open_readers(struct readers *r, const char *path, unsigned count, struct vs_diag *diag)
{
    int err = 0;
    *r = (struct readers){.of = calloc(count, sizeof(*r->of))};
    if (!r->of)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "%s", vs_errstr(-VSE_NOMEM));
    for (; r->count < count && !err; r->count++) {
        err = vs_reader_open(&r->of[r->count], path, VS_OPEN_DEFAULT, diag);
        if (!err && (err = vs_reader_select(r->of[r->count], (int)r->count)))
            vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    }
    return err;
}

static void close_readers(struct readers *r)
{
    for (unsigned i = 0; i < r->count; i++)
        vs_reader_close(r->of[i]);
    free(r->of);
}

static int next_of_core(void *context, unsigned core, struct vs_batch *batch)
{
    struct readers *r = context;
    return vs_reader_next(r->of[core], batch);
}

/* ---- walks ----------------------------------------------------------------------------------- */

int vs_core_events_fill(struct vs_core_events *c, unsigned core, vs_core_feed *feed, void *context)
{
    while (!c->done && c->at == c->batch.count) {
        int n = feed(context, core, &c->batch);
        if (n < 0 && n != -VSE_END)
            return n;
        c->done = n == -VSE_END;
        c->batch.count = c->done ? 0 : c->batch.count;
        c->at = 0;
    }
    return 0;
}

static int in_order(const struct vs_core_walk *walk, void *walker, struct vs_reader *reader)
{
    struct vs_batch batch;
    int n = vs_reader_select(reader, -1), err = 0;
    if (!n)
        n = vs_reader_seek_event(reader, 0);
    while (!n && !err && (n = vs_reader_next(reader, &batch)) > 0) {
        err = walk->batch(walker, &batch);
        n = 0;
    }
    if (err)
        return err;
    return n == -VSE_END ? walk->end(walker) : n;
}

int vs_core_walk_run(const struct vs_core_walk *walk, void *walker, const char *path,
                     struct vs_reader *reader, unsigned cores, struct vs_diag *diag)
{
    struct readers r;
    if (cores > VS_VERIFY_TURNS)
        return in_order(walk, walker, reader);
    int err = open_readers(&r, path, cores, diag);
    if (!err)
        err = walk->by_turns(walker, next_of_core, &r);
    close_readers(&r);
    return err;
}
