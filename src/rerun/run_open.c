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
};

static int next(struct vs_expander *x, struct vs_batch *batch, struct vs_diag *diag)
{
    return vs_rerun_next(((struct expansion *)x)->rerun, batch, diag);
}

static int begin_again(struct vs_expander *x, struct vs_diag *diag)
{
    return vs_rerun_rewind(((struct expansion *)x)->rerun, diag);
}

static void close_expansion(struct vs_expander *x)
{
    struct expansion *e = (struct expansion *)x;
    vs_rerun_close(e->rerun);
    vs_reader_close(e->inputs);
    free(x->threads);
    free(e);
}

static const struct vs_expander_ops ops = {
    .next = next, .rewind = begin_again, .close = close_expansion};

static int expand(struct expansion *e, const char *path, enum vs_open_mode mode,
                  struct vs_diag *diag)
{
    int err = vs_reader_open(&e->inputs, path, mode, diag);
    if (err)
        return err;
    e->seen.threads = calloc(vs_reader_info(e->inputs)->threads + 1, sizeof(*e->seen.threads));
    if (!e->seen.threads)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    err = vs_rerun_open(&e->rerun, e->inputs, NULL, diag);
    if (!err)
        err = vs_rerun_count(e->rerun, e->seen.threads, diag);
    for (unsigned i = 0; !err && i < vs_reader_info(e->inputs)->threads; i++)
        e->seen.events += e->seen.threads[i].events;
    return err;
}

int vs_run_open(struct vs_reader **r, const char *path, enum vs_open_mode mode,
                struct vs_diag *diag)
{
    int err = vs_reader_open(r, path, mode, diag);
    if (err || !(vs_reader_info(*r)->features & VS_RUN_SHORT))
        return err;
    struct expansion *e = calloc(1, sizeof(*e));
    if (!e) {
        err = vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    } else {
        e->seen.ops = &ops;
        err = expand(e, path, mode, diag);
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
