/* SPDX-License-Identifier: MIT */
#include "page/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "isa/set.h"

/* ---- the pass -------------------------------------------------------------------------------- */

static int take_branch(struct page_run *run, const struct vs_event *e, size_t place)
{
    struct page_place *at = &run->places.list[place];
    int missed = page_branches_take(&run->branches, e, at->site);
    if (missed <= 0)
        return missed;
    at->mispredicted++;
    page_timeline_count(&run->timeline, e->thread, PAGE_MISPREDICTED, 1);
    return 0;
}

static int take_access(struct page_run *run, const struct vs_event *e)
{
    struct page_timeline *t = &run->timeline;
    struct page_access access;
    int err = page_memory_take(&run->memory, e, t->now, t->span, &access);
    if (access.misses)
        page_timeline_count(t, e->thread, PAGE_MISSES, access.misses);
    if (access.coherence)
        page_timeline_count(t, e->thread, PAGE_COHERENCE, access.coherence);
    return err;
}

static int64_t take(void *context, const struct vs_batch *one)
{
    struct page_run *run = context;
    const struct vs_event *e = one->events;
    int64_t place = page_places_take(&run->places, one);
    if (place < 0)
        return place;
    int err = vs_event_counts_add(&run->counts, one);
    if (!err)
        err = page_timeline_take(&run->timeline, one);
    if (!err && e->kind == VS_BRANCH)
        err = take_branch(run, e, (size_t)place);
    else if (!err && (e->kind == VS_LOAD || e->kind == VS_STORE || e->kind == VS_EXTERNAL))
        err = take_access(run, e);
    return err ? err : place;
}

/* ---- setting up ------------------------------------------------------------------------------ */

static int add_row(struct page_run *run, const struct vs_spec_item *item,
                   const struct vs_technique_spec *spec, struct vs_diag *diag)
{
    int64_t row = vs_bandwidth_add(&run->study, spec, NULL, NULL, diag);
    if (row >= 0)
        run->specs[row] = item;
    return row < 0 ? (int)row : 0;
}

/* Whether the technique is there with its defaults. */
static bool is_there(const struct page_run *run, const struct vs_technique *t)
{
    for (size_t i = 0; i < run->study.count; i++)
        if (run->study.rows[i].spec.technique == t && !strcmp(run->specs[i]->config, "default"))
            return true;
    return false;
}

static int add_rows(struct page_run *run, const struct vs_spec_list *specs, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(run->reader);
    struct vs_diag why = {0};
    unsigned serves = 0;
    int e = 0;
    for (size_t i = 0; i < specs->count && !e; i++) {
        const struct vs_technique_spec *spec = &specs->items[i].spec;
        if (vs_bandwidth_lacks(spec->technique, info, &why))
            continue;
        e = add_row(run, &specs->items[i], spec, diag);
        serves |= spec->technique->serves;
    }
    for (unsigned kind = 1; kind < 1u << VS_TECHNIQUE_KINDS && !e; kind <<= 1) {
        struct vs_technique_spec spec;
        if (!(serves & kind) || is_there(run, vs_technique_baseline(kind)))
            continue;
        e = vs_technique_defaults(&spec, vs_technique_baseline(kind));
        if (!e)
            e = add_row(run, NULL, &spec, diag);
    }
    return e;
}

int page_run_init(struct page_run *run, const char *path, struct vs_reader *reader,
                  const struct vs_spec_list *specs, struct vs_diag *diag)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    *run = (struct page_run){.path = path,
                             .reader = reader,
                             .isa = vs_isa_find(vs_reader_meta(reader, "isa")),
                             .placer = {take, run}};
    int e = page_timeline_init(&run->timeline, info);
    /* windows begin with cycle 0 */
    uint64_t end = run->timeline.first + run->timeline.span;
    uint64_t most = PAGE_WINDOW_CELLS / (info->threads ? info->threads : 1);
    most = most < PAGE_WINDOWS ? most : PAGE_WINDOWS;
    run->buffers.window = end / most + 1;
    run->buffers.count = (size_t)(end / run->buffers.window) + 1;
    const struct vs_bandwidth_options options = {
        .window = run->buffers.window, .placer = &run->placer, .buffers = &run->buffers};
    int wrong = vs_bandwidth_init(&run->study, reader, &options, diag);
    if (wrong)
        return wrong;
    run->specs = calloc(specs->count + VS_TECHNIQUE_KINDS, sizeof(*run->specs));
    if (!e)
        e = page_places_init(&run->places, reader);
    if (!e)
        e = page_branches_init(&run->branches);
    if (!e)
        e = page_memory_init(&run->memory, info->threads);
    if (!e && !run->specs)
        e = -VSE_NOMEM;
    return e ? vs_diag_set(diag, e, -1, -1, "%s", vs_errstr(e)) : add_rows(run, specs, diag);
}

void page_run_fini(struct page_run *run)
{
    vs_bandwidth_fini(&run->study);
    page_memory_fini(&run->memory);
    page_branches_fini(&run->branches);
    page_timeline_fini(&run->timeline);
    page_places_fini(&run->places);
    vs_event_counts_fini(&run->counts);
    free(run->specs);
    *run = (struct page_run){0};
}

int page_run_gather(struct page_run *run, struct vs_progress *progress, struct vs_diag *diag)
{
    return vs_bandwidth_run(&run->study, run->reader, progress, diag);
}
