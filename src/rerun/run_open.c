/* SPDX-License-Identifier: MIT */
#include "rerun/run_open.h"

#include <stdlib.h>

#include "base/diag.h"
#include "base/workers.h"
#include "rerun/rerun.h"
#include "trace/expander.h"

/* Batches: the one that was delivered last, and those that are made meanwhile. */
#define AHEAD 3

struct expansion;

struct batch_job {
    struct vs_job job;
    struct expansion *of;
    struct vs_made made;
    struct vs_batch batch;
    struct vs_diag diag;
    int n;
};

struct expansion {
    struct vs_expander seen; /* first */
    struct vs_reader *inputs;
    struct vs_rerun *rerun;
    struct vs_survey survey;
    uint64_t places[1 + VS_SNAPSHOTS_MOST]; /* the beginning, and the snapshots */
    /* A thread executes the run while events are read. */
    struct vs_workers *workers; /* NULL: nothing was read yet */
    struct batch_job jobs[AHEAD];
    unsigned sent, taken; /* jobs that were submitted, and those that were waited for */
};

static void make_batch(void *arg)
{
    struct batch_job *j = arg;
    j->diag = (struct vs_diag){.offset = -1, .chunk = -1};
    j->n = vs_rerun_next(j->of->rerun, &j->batch, &j->diag);
    if (j->n > 0)
        vs_rerun_swap(j->of->rerun, &j->made);
}

/* Lets the thread make as many batches as there is room for. */
static int send(struct expansion *e)
{
    if (!e->workers && vs_workers_open(&e->workers, vs_workers_beside() ? 1 : 0))
        return -VSE_NOMEM;
    for (; e->sent - e->taken < AHEAD - (e->taken != 0); e->sent++) {
        struct batch_job *j = &e->jobs[e->sent % AHEAD];
        j->of = e;
        j->job.run = make_batch;
        j->job.arg = j;
        vs_workers_submit(e->workers, &j->job);
    }
    return 0;
}

/* Waits for what is being made, and forgets it. */
static void stop(struct expansion *e)
{
    for (; e->taken != e->sent; e->taken++)
        vs_workers_wait(e->workers, &e->jobs[e->taken % AHEAD].job);
    e->taken = e->sent = 0;
}

static int next(struct vs_expander *x, struct vs_batch *batch, struct vs_diag *diag)
{
    struct expansion *e = (struct expansion *)x;
    struct batch_job *j = &e->jobs[e->taken % AHEAD];
    if (send(e))
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    vs_workers_wait(e->workers, &j->job);
    e->taken++;
    *batch = j->batch;
    if (j->n < 0 && j->n != -VSE_END)
        *diag = j->diag;
    return j->n;
}

static int go(struct vs_expander *x, unsigned place, struct vs_diag *diag)
{
    struct expansion *e = (struct expansion *)x;
    stop(e);
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
    vs_workers_close(e->workers);
    for (unsigned i = 0; i < AHEAD; i++)
        vs_made_fini(&e->jobs[i].made);
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
    const struct vs_run_info *info = vs_reader_info(e->inputs);
    e->seen.threads = e->survey.threads;
    e->seen.thread_count = info->threads;
    for (unsigned i = 0; i < info->threads; i++) {
        e->seen.events += e->survey.threads[i].events;
        e->seen.instructions += e->survey.threads[i].instructions;
    }
    for (unsigned i = 0; i < s->count; i++)
        e->places[1 + i] = s->snapshots[i].head.events;
    e->seen.places = e->places;
    e->seen.place_count = 1 + s->count;
}

static void show_flow(struct expansion *e)
{
    for (unsigned i = 0; i < vs_reader_info(e->inputs)->threads; i++)
        e->survey.threads[i].events = e->survey.flow_events[i];
    show(e);
    e->seen.place_count = 1;
    e->seen.flow_only = true;
}

/* The survey is of all events. */
static void show_selected(struct expansion *e)
{
    for (unsigned i = 0; i < vs_reader_info(e->inputs)->threads; i++)
        e->survey.threads[i] = vs_rerun_thread(e->rerun, i);
    show(e);
    e->seen.place_count = 1;
    e->seen.thread_count = vs_rerun_begun(e->rerun);
    e->seen.selected = true;
}

/* Whether the survey is worth taking: a window is far away. */
static bool is_far(const struct vs_selection *what)
{
    return what->window_count && !what->find &&
           what->windows[what->window_count - 1].start >= VS_SURVEY_LONG;
}

/* Executes what leads to the selected instructions, and counts these. */
static int count_selected(struct expansion *e, const struct vs_selection *what,
                          vs_survey_progress *progress, void *context, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(e->inputs);
    int err = vs_rerun_select(e->rerun, what, &e->survey.snapshots);
    if (!err && !e->survey.threads)
        e->survey.threads = calloc(info->threads + 1u, sizeof(*e->survey.threads));
    if (!err && !e->survey.threads)
        err = -VSE_NOMEM;
    if (err)
        return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    while (!err) {
        err = vs_rerun_skip(e->rerun, VS_SURVEY_STRETCH, diag);
        if (progress)
            progress(context, vs_rerun_executed(e->rerun), info->instructions);
    }
    if (err != -VSE_END)
        return err;
    show_selected(e);
    return vs_rerun_rewind(e->rerun, diag);
}

struct opening {
    const char *path;
    enum vs_open_mode mode;
    const struct vs_selection *what; /* NULL: all of it */
    bool flow_only;
    vs_survey_progress *progress;
    void *context;
};

static int expand(struct expansion *e, const struct opening *o, struct vs_diag *diag)
{
    int err = vs_reader_open(&e->inputs, o->path, o->mode, diag);
    if (!err)
        err = vs_rerun_open(&e->rerun, e->inputs, NULL, diag);
    /* What can be salvaged of a file may be less than it had when it was whole. */
    if (!err && (!o->what || is_far(o->what)))
        err = vs_survey_take(&e->survey, e->rerun, e->inputs,
                             o->mode == VS_OPEN_SALVAGE ? NULL : o->path, o->progress, o->context,
                             diag);
    if (err)
        return err;
    if (o->what)
        return count_selected(e, o->what, o->progress, o->context, diag);
    if (!o->flow_only) {
        show(e);
        return 0;
    }
    show_flow(e);
    vs_rerun_flow_only(e->rerun);
    return vs_rerun_rewind(e->rerun, diag);
}

static int open_expanded(struct vs_reader *r, const struct opening *o, struct vs_diag *diag)
{
    struct expansion *e = calloc(1, sizeof(*e));
    if (!e)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    e->seen.ops = &ops;
    int err = expand(e, o, diag);
    if (err)
        close_expansion(&e->seen);
    else
        vs_reader_expand(r, &e->seen);
    return err;
}

static int open_run(struct vs_reader **r, const struct opening *o, struct vs_diag *diag)
{
    int err = vs_reader_open(r, o->path, o->mode, diag);
    if (err || (!o->what && !(vs_reader_info(*r)->features & VS_RUN_SHORT)))
        return err;
    /* A recorder that was killed may have written nothing but a beginning. */
    if (!vs_reader_info(*r)->sealed && !vs_reader_info(*r)->events)
        return 0;
    if (!(vs_reader_info(*r)->features & VS_RUN_INPUTS))
        err = vs_diag_set(diag, -VSE_INVAL, -1, -1,
                          "a part of it can only be read if it can be executed again, which says "
                          "what registers hold where the part begins; record it with --inputs");
    if (!err && o->what && vs_reader_info(*r)->features & VS_RUN_PARTS)
        err = vs_diag_set(diag, -VSE_INVAL, -1, -1,
                          "it was recorded in parts, and is read whole; 'vestige expand' it first");
    if (!err)
        err = open_expanded(*r, o, diag);
    if (err) {
        vs_reader_close(*r);
        *r = NULL;
    }
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
    return open_run(
        r, &(struct opening){.path = path, .mode = mode, .progress = progress, .context = context},
        diag);
}

int vs_run_open_flow(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                     vs_survey_progress *progress, void *context, struct vs_diag *diag)
{
    return open_run(r,
                    &(struct opening){.path = path,
                                      .mode = mode,
                                      .flow_only = true,
                                      .progress = progress,
                                      .context = context},
                    diag);
}

int vs_run_open_selected(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                         const struct vs_selection *what, vs_survey_progress *progress,
                         void *context, struct vs_diag *diag)
{
    return open_run(
        r,
        &(struct opening){
            .path = path, .mode = mode, .what = what, .progress = progress, .context = context},
        diag);
}
