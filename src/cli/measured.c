/* SPDX-License-Identifier: MIT */
#include "cli/measured.h"

#include <string.h>

/* Some parameters are settled only when it is known whether there is time. */
static bool is_of(const struct measured *m, struct vs_technique_spec spec)
{
    struct vs_technique_spec its;
    struct vs_diag diag = {0};
    if (vs_technique_parse(&its, m->spec, &diag) < 0 || its.technique != spec.technique)
        return false;
    vs_technique_settle(&its, m->timed);
    vs_technique_settle(&spec, m->timed);
    return !memcmp(its.params, spec.params, sizeof(spec.params));
}

const struct measured *measured_of(const struct vs_technique_spec *spec, uint64_t cores, size_t i)
{
    for (const struct measured *m = measured_rows; m->spec; m++)
        if (m->cores == cores && is_of(m, *spec) && !i--)
            return m;
    return NULL;
}
