/* SPDX-License-Identifier: MIT */
#include "cli/kept_runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"

static const struct vs_consumer *begin_run(void *context, struct vs_diag *diag)
{
    struct kept_runs *k = context;
    struct recorded *newer = k->run == &k->runs[0] ? &k->runs[1] : &k->runs[0];

    *newer = (struct recorded){0};
    if (recorded_open(newer, k->plan, newer == &k->runs[0] ? k->path : k->other, diag) < 0)
        return NULL;
    k->newer = newer;
    if (recorded_facts(newer, k->command) < 0) {
        *diag = *vs_writer_diag(newer->writer);
        return NULL;
    }
    return &newer->consumer;
}

static void drop_run(void *context)
{
    struct kept_runs *k = context;

    vs_writer_abort(k->run->writer);
    k->run = k->newer;
    k->newer = NULL;
}

bool kept_runs_init(struct kept_runs *k, const struct record_plan *plan, const char *path)
{
    *k = (struct kept_runs){.plan = plan, .path = path};
    k->run = &k->runs[0];
    k->renewal = (struct vs_renewal){plan->o->last, k, begin_run, drop_run};
    if (asprintf(&k->other, "%s.newer", path) < 0)
        k->other = NULL;
    return k->other;
}

void kept_runs_fini(struct kept_runs *k)
{
    free(k->other);
    free(k->command);
}

int kept_runs_try(const struct kept_runs *k, struct vs_diag *diag)
{
    struct recorded other = {0};
    int e = recorded_open(&other, k->plan, k->other, diag);

    if (e == 0)
        vs_writer_abort(other.writer);
    return e;
}

const struct vs_diag *kept_runs_diag(const struct kept_runs *k)
{
    return vs_writer_diag(k->newer && vs_writer_diag(k->newer->writer)->error ? k->newer->writer
                                                                              : k->run->writer);
}

void kept_runs_settle(struct kept_runs *k)
{
    if (k->newer)
        vs_writer_abort(k->newer->writer);
    k->newer = NULL;
}

int kept_runs_name(const struct kept_runs *k, struct vs_diag *diag)
{
    if (k->run != &k->runs[1])
        return 0;
    if (k->plan->o->overwrite ? rename(k->other, k->path) == 0
                              : link(k->other, k->path) == 0 && unlink(k->other) == 0)
        return 0;
    return vs_diag_set(diag, -VSE_IO, -1, -1, "cannot be named (%s); the run is in %s",
                       strerror(errno), k->other);
}
