/* SPDX-License-Identifier: MIT */
/* A profile for speedscope: a sample for each path of calls, whose weight is its instructions. */
#include <stdlib.h>

#include "export/paths.h"

static void put_frames(struct vs_sink *s, const struct vs_paths *p)
{
    char name[VS_PATHS_NAME];

    for (size_t i = 0; i < p->callers.routine_count; i++) {
        const struct vs_caller_routine *routine = &p->callers.routines[i];

        vs_paths_name(routine, name);
        vs_sink_text(s, i ? ",\n{\"name\":" : "\n{\"name\":");
        vs_sink_json(s, name);
        if (routine->image) {
            vs_sink_text(s, ",\"file\":");
            vs_sink_json(s, routine->image);
        }
        vs_sink_text(s, "}");
    }
}

static int put_sample(struct vs_sink *s, const struct vs_paths *p, uint32_t path,
                      struct vs_caller_run **runs, size_t *capacity)
{
    int64_t n = vs_callers_path(&p->callers, path, runs, capacity);
    bool first = true;

    vs_sink_text(s, "[");
    for (int64_t i = 0; i < n; i++)
        for (uint64_t t = 0; t < (*runs)[i].times; t++, first = false)
            vs_sink_printf(s, "%s%zu", first ? "" : ",",
                           (size_t)((*runs)[i].routine - p->callers.routines));
    if (!n)
        vs_sink_text(s, "0");
    vs_sink_text(s, "]");
    return n < 0 ? (int)n : s->error;
}

static int end(struct vs_exporting *x)
{
    const char *command = vs_reader_meta(x->reader, "command");
    struct vs_paths *p = x->state;
    struct vs_caller_run *runs = NULL;
    struct vs_sink *s = &x->sink;
    size_t capacity = 0;
    uint64_t sum = 0;
    int e = vs_paths_end(p);

    vs_sink_text(s, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                    "\"exporter\":\"vestige\",\"name\":");
    vs_sink_json(s, command ? command : "");
    vs_sink_text(s, ",\n\"activeProfileIndex\":0,\"shared\":{\"frames\":[");
    put_frames(s, p);
    for (size_t i = 0; i < p->count; i++)
        sum += p->callers.paths[p->hottest[i]].instructions;
    vs_sink_printf(s,
                   "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":\"instructions\",\"unit\":"
                   "\"none\",\"startValue\":0,\"endValue\":%llu,\n\"samples\":[",
                   (unsigned long long)sum);
    for (size_t i = 0; i < p->count && !e; i++) {
        vs_sink_text(s, i ? ",\n" : "\n");
        e = put_sample(s, p, p->hottest[i], &runs, &capacity);
    }
    vs_sink_text(s, "],\n\"weights\":[");
    for (size_t i = 0; i < p->count; i++)
        vs_sink_printf(s, "%s%llu", i ? "," : "",
                       (unsigned long long)p->callers.paths[p->hottest[i]].instructions);
    free(runs);
    return e ? e : vs_sink_text(s, "]}]}\n");
}

const struct vs_export_format vs_to_speedscope = {
    .name = "speedscope",
    .summary = "a profile by path of calls, for speedscope",
    .state = sizeof(struct vs_paths),
    .begin = vs_paths_begin,
    .take = vs_paths_take,
    .end = end,
    .close = vs_paths_close,
};
