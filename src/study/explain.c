/* SPDX-License-Identifier: MIT */
#include "study/explain.h"

#include "base/diag.h"

int vs_study_explain(const struct vs_reader *reader, int err, struct vs_diag *diag)
{
    const struct vs_diag *d = vs_reader_diag(reader);
    if (d && d->error == err)
        return vs_diag_set(diag, err, d->offset, d->chunk, "%s", d->text);
    return vs_diag_set(diag, err, -1, -1, "%s", vs_errstr(err));
}
