/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/diag.h"
#include "capture/valgrind.h"
#include "cli/engines.h"

static int settle(const struct engine_options *o, void **settings, struct vs_diag *diag)
{
    struct vs_valgrind_settings *s = calloc(1, sizeof(*s));

    (void)o;
    *settings = s;
    if (!s)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    s->tool = getenv("VESTIGE_VALGRIND");
    return 0;
}

const struct engine_row engine_valgrind = {
    .engine = &vs_engine_valgrind,
    .settle = settle,
    .unsettle = free,
};
