/* SPDX-License-Identifier: MIT */
#include "rerun/run_open.h"

#include <stdlib.h>

#include "base/diag.h"
#include "rerun/rerun.h"
#include "trace/expander.h"

struct expansion {
    struct vs_expander seen; /* first */
    struct vs_reader *inputs;
    struct vs_rerun *rerun;
    struct vs_survey survey;
    uint64_t places[1 + VS_SNAPSHOTS_MOST]; /* the beginning, and the snapshots */
};

static int next(struct vs_expander *x, struct vs_batch *batch, struct vs_diag *diag)
{
    return vs_rerun_next(((struct expansion *)x)->rerun, batch, diag);
}

static int go(struct vs_expander *x, unsigned place, struct vs_diag *diag)
{
    struct expansion *e = (struct expansion *)x;
    if (place && vs_rerun_restore(e->rerun, &e->survey.snapshots, place - 1, diag) == 0)
        return 0;
    /* A damaged snapshot is none: the way from the beginning is longer, but leads there, too. */
    return vs_rerun_rewind(e->rerun, diag);
}

static uint64_t retired(const struct vs_expander *x, unsigned place, unsigned thread)
{
    const struct expansion *e = (const struct expansion *)x;
    return place ? vs_snapshot_thread(&e->survey.snapshots.snapshots[place - 1], thread).last : 0;
}

static void close_expansion(struct vs_expander *x)
{
    struct expansion *e = (struct expansion *)x;
    vs_rerun_close(e->rerun);
    vs_reader_close(e->inputs);
    vs_survey_fini(&e->survey);
    free(e);
}

static const struct vs_expander_ops ops = {
    .next = next, .go = go, .retired = retired, .close = close_expansion};

static void show(struct expansion *e)
{
    const struct vs_packed_snapshots *s = &e->survey.snapshots;
    e->seen.threads = e->survey.threads;
    for (unsigned i = 0; i < vs_reader_info(e->inputs)->threads; i++)
        e->seen.events += e->survey.threads[i].events;
    for (unsigned i = 0; i < s->count; i++)
        e->places[1 + i] = s->snapshots[i].head.events;
    e->seen.places = e->places;
    e->seen.place_count = 1 + s->count;
}

static int expand(struct expansion *e, const char *path, enum vs_open_mode mode,
                  vs_survey_progress *progress, void *context, struct vs_diag *diag)
{
    int err = vs_reader_open(&e->inputs, path, mode, diag);
    if (!err)
        err = vs_rerun_open(&e->rerun, e->inputs, NULL, diag);
    /* What can be salvaged of a file may be less than it had when it was whole. */
    if (!err)
        err = vs_survey_take(&e->survey, e->rerun, e->inputs, mode == VS_OPEN_SALVAGE ? NULL : path,
                             progress, context, diag);
    if (!err)
        show(e);
    return err;
}

int vs_run_open(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                struct vs_diag *diag)
{
    return vs_run_open_shown(r, path, mode, NULL, NULL, diag);
}

int vs_run_open_shown(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                      vs_survey_progress *progress, void *context, struct vs_diag *diag)
{
    int err = vs_reader_open(r, path, mode, diag);
    if (err || !(vs_reader_info(*r)->features & VS_RUN_SHORT))
        return err;
    struct expansion *e = calloc(1, sizeof(*e));
    if (!e) {
        err = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    } else {
        e->seen.ops = &ops;
        err = expand(e, path, mode, progress, context, diag);
        if (err)
            close_expansion(&e->seen);
        else
            vs_reader_expand(*r, &e->seen);
    }
    if (err) {
        vs_reader_close(*r);
        *r = NULL;
    }
    return err;
}
