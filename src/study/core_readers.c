/* SPDX-License-Identifier: MIT */
#include "study/core_readers.h"

#include <stdlib.h>

#include "base/diag.h"

int vs_core_readers_open(struct vs_core_readers *r, const char *path, unsigned count,
                         struct vs_diag *diag)
{
    int err = 0;
    *r = (struct vs_core_readers){.of = calloc(count, sizeof(*r->of))};
    if (!r->of)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "%s", vs_errstr(-VSE_NOMEM));
    for (; r->count < count && !err; r->count++) {
        err = vs_reader_open(&r->of[r->count], path, VS_OPEN_DEFAULT, diag);
        if (!err && (err = vs_reader_select(r->of[r->count], (int)r->count)))
            vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
    }
    return err;
}

void vs_core_readers_close(struct vs_core_readers *r)
{
    for (unsigned i = 0; i < r->count; i++)
        vs_reader_close(r->of[i]);
    free(r->of);
    *r = (struct vs_core_readers){0};
}

int vs_core_readers_next(void *context, unsigned core, struct vs_batch *batch)
{
    struct vs_core_readers *r = context;
    return vs_reader_next(r->of[core], batch);
}
