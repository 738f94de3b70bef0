/* SPDX-License-Identifier: MIT */
/* Folded stacks: a line for each path of calls, which is its routines, the outermost first, and how
 * many instructions retired there. */
#include <stdlib.h>

#include "export/paths.h"

static int put_path(struct vs_sink *s, const struct vs_paths *p, uint32_t path,
                    struct vs_caller_run **runs, size_t *capacity)
{
    int64_t n = vs_callers_path(&p->callers, path, runs, capacity);
    char name[VS_PATHS_NAME];

    if (n < 0)
        return (int)n;
    for (int64_t i = 0; i < n; i++) {
        vs_paths_name((*runs)[i].routine, name);
        for (uint64_t t = 0; t < (*runs)[i].times; t++) {
            vs_sink_text(s, i || t ? ";" : "");
            vs_sink_text(s, name);
        }
    }
    if (!n)
        vs_sink_text(s, "(where is not known)");
    return vs_sink_printf(s, " %llu\n", (unsigned long long)p->callers.paths[path].instructions);
}

static int end(struct vs_exporting *x)
{
    struct vs_paths *p = x->state;
    struct vs_caller_run *runs = NULL;
    size_t capacity = 0;
    int e = vs_paths_end(p);

    for (size_t i = 0; i < p->count && !e; i++)
        e = put_path(&x->sink, p, p->hottest[i], &runs, &capacity);
    free(runs);
    return e;
}

const struct vs_export_format vs_to_folded = {
    .name = "folded",
    .summary = "paths of calls and their instructions, for flame graphs",
    .state = sizeof(struct vs_paths),
    .begin = vs_paths_begin,
    .take = vs_paths_take,
    .end = end,
    .close = vs_paths_close,
};
