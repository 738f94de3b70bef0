/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/info_print.h"
#include "front/region.h"
#include "front/runs.h"
#include "isa/isa.h"

struct info_options {
    struct region_options region;
    bool all, json, no_scan, salvage, source, callers, folded;
};

static uint64_t sum_code_bytes(const struct vs_reader *reader, uint32_t blocks)
{
    uint64_t sum = 0;
    struct vs_block block;
    for (uint32_t i = 0; i < blocks; i++)
        if (vs_reader_block(reader, i, &block) == 0)
            sum += block.size;
    return sum;
}

/* What one pass over the events gathers. */
struct counts {
    struct vs_event_counts stats;
    struct vs_profile profile;
    struct vs_routines routines;
    struct vs_callers callers; /* if they are asked for */
    uint32_t *paths;           /* those of the callers, the hottest first */
    size_t path_count;
    struct info_path hottest[INFO_TOP];
};

/* Returns 0; an error, which is the reader's if that has it in its diag. */
static int count_events(struct vs_reader *reader, uint64_t total, struct counts *c)
{
    struct vs_progress progress;
    struct vs_batch batch;
    int got = 0, e = 0;
    vs_progress_init(&progress, stderr, "counting", total, "events");
    while (!e && (got = vs_reader_next(reader, &batch)) > 0) {
        e = vs_event_counts_add(&c->stats, &batch);
        if (!e)
            e = vs_profile_batch(&c->profile, &batch);
        if (!e && c->callers.at)
            e = vs_callers_batch(&c->callers, &batch);
        vs_progress_update(&progress, batch.first + batch.count);
    }
    vs_progress_finish(&progress);
    return e ? e : got == -VSE_END ? 0 : got;
}

static int name_routines(struct vs_where *where, struct counts *c)
{
    const struct vs_resolver resolver = vs_routine_names_resolver(&where->names);
    return vs_routines_init(&c->routines, &c->profile, where->images, where->image_count,
                            &resolver);
}

/* Looks up what will be shown, so that it is there when it is. Returns 0; -VSE_NOMEM. */
static int find_sources(const struct info_report *r)
{
    struct vs_source source;
    int e = 0;
    for (size_t i = 0; e >= 0 && i < r->where->image_count; i++)
        e = vs_where_sourced(r->where, i);
    for (size_t i = 0; e >= 0 && r->routines && i < r->routines->count && i < INFO_TOP; i++)
        e = info_source(r, &r->routines->rows[i], &source);
    return e < 0 ? e : 0;
}

/* Returns 0; -VSE_NOMEM. */
static int list_paths(struct counts *c)
{
    int64_t n = vs_callers_hottest(&c->callers, &c->paths);
    c->path_count = n > 0 ? (size_t)n : 0;
    for (size_t i = 0; i < c->path_count && i < INFO_TOP && n >= 0; i++) {
        struct info_path *p = &c->hottest[i];
        n = vs_callers_path(&c->callers, c->paths[i], &p->runs, &p->capacity);
        p->count = n > 0 ? (size_t)n : 0;
    }
    return n < 0 ? (int)n : 0;
}

static struct counts *counts_new(void)
{
    struct counts *c = calloc(1, sizeof(*c));
    if (c && vs_profile_init(&c->profile)) {
        vs_profile_fini(&c->profile);
        free(c);
        return NULL;
    }
    return c;
}

static void counts_free(struct counts *c)
{
    if (!c)
        return;
    vs_event_counts_fini(&c->stats);
    vs_profile_fini(&c->profile);
    vs_routines_fini(&c->routines);
    vs_callers_fini(&c->callers);
    for (size_t i = 0; i < INFO_TOP; i++)
        free(c->hottest[i].runs);
    free(c->paths);
    free(c);
}

static void print(struct out *out, const struct info_report *r, bool json)
{
    struct json j;
    json_init(&j, out, 2);
    if (json)
        report_json(&j, NULL, info_columns, r);
    else
        info_text(out, r);
}

static int info_one(struct cli *cli, const struct info_options *o, struct region *region,
                    const char *path)
{
    struct vs_reader *reader = NULL;
    struct vs_where where;
    struct counts *c = NULL;
    int status = region->any ? region_open(region, cli, &reader, path)
                             : cli_open(cli, &reader, path, o->salvage);
    if (status != CLI_DONE)
        return status;

    int e = vs_where_of_run(&where, reader);
    const struct vs_run_info *info = vs_reader_info(reader);
    if (!e && !o->no_scan) {
        c = counts_new();
        e = c ? 0 : -VSE_NOMEM;
        if (!e && (o->callers || o->folded))
            e = vs_callers_init(&c->callers, reader);
        if (!e)
            e = count_events(reader, info->events, c);
        if (!e && c->callers.at)
            e = list_paths(c);
        if (!e)
            e = name_routines(&where, c);
    }
    struct info_report r = {
        .path = path,
        .reader = reader,
        .info = *info,
        .isa = vs_reader_meta(reader, "isa"),
        .code_bytes = sum_code_bytes(reader, info->blocks),
        .all_threads = o->all,
        .where = e ? NULL : &where,
        .source = o->source,
    };
    if (c && !e) {
        r.stats = &c->stats;
        r.profile = &c->profile;
        r.routines = &c->routines;
        r.callers = c->callers.at ? &c->callers : NULL;
        r.paths = c->paths;
        r.path_count = c->path_count;
        r.hottest = c->hottest;
    }
    if (!e)
        e = find_sources(&r);
    struct vs_machine_core cores[VS_CORES_MAX];
    r.cores = (struct core_facts){cores, core_facts_of_run(reader, cores, &r.core_cycles)};
    if (o->folded && r.callers)
        e = info_folded(&cli->out, &r);
    else if (!o->folded)
        print(&cli->out, &r, o->json);
    status = e ? cli_report(cli, path, e, e != -VSE_NOMEM ? vs_reader_diag(reader) : NULL)
               : cli_missing(cli, path, info);
    counts_free(c);
    vs_where_fini(&where);
    vs_reader_close(reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct info_options o = {0};
    struct region region;
    struct runs runs;
    int status;
    if (!options_parse(cli, &command_info, &o, &argc, argv, &status))
        return status;
    if (o.folded && o.json) {
        cli_error(cli, "--folded excludes --json, which has --callers");
        return CLI_USAGE;
    }
    if ((o.folded || o.callers) && o.no_scan) {
        cli_error(cli, "--no-scan excludes %s: callers take a pass over the events",
                  o.folded ? "--folded" : "--callers");
        return CLI_USAGE;
    }
    status = region_init(&region, cli, &o.region);
    if (status == CLI_DONE && region.any && o.salvage) {
        cli_error(cli, "--salvage excludes options that choose instructions");
        status = CLI_USAGE;
    }
    if (status != CLI_DONE) {
        region_fini(&region);
        return status;
    }
    status = runs_open(cli, &runs, argc, argv);
    for (int i = 0; i < runs.count; i++) {
        if (i && !o.json && !o.folded)
            out_char(&cli->out, '\n');
        status = cli_worse(status, info_one(cli, &o, &region, runs.paths[i]));
    }
    runs_fini(&runs);
    region_fini(&region);
    return status;
}

#define FIELD(member) offsetof(struct info_options, member)

static const struct cli_option options[] = {
    REGION_OPTIONS(FIELD(region)),
    {.name = "json", .help = "print one JSON object per run", .offset = FIELD(json)},
    {.name = "all", .letter = 'a', .help = "show every thread, not only 16", .offset = FIELD(all)},
    {.name = "source",
     .help = "show the file and the line where each routine begins",
     .offset = FIELD(source)},
    {.name = "callers",
     .help = "show the paths of calls on which most instructions\n"
             "retired",
     .offset = FIELD(callers)},
    {.name = "folded",
     .help = "print nothing but all paths of calls, as programs that\n"
             "draw flame graphs read them",
     .offset = FIELD(folded)},
    {.name = "no-scan",
     .help = "show only what is known without reading the events",
     .offset = FIELD(no_scan)},
    {.name = "salvage",
     .help = "ignore the index; read the chunks before the first\n"
             "damaged one",
     .offset = FIELD(salvage)},
    {0},
};

const struct command command_info = {
    .name = "info",
    .summary = "show what ran: threads, kinds of events, routines, system calls",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Describes recorded runs: how they were recorded, what the file holds, the\n"
        "threads, and counts of events, branches by class, operands by size, system\n"
        "calls, signals, and instructions by image and routine. A file that was cut off\n"
        "is described as far as it can be read.",
    .example = "vestige info run.vest\n"
               "vestige info --json run.vest | jq .counts.branches.classes",
    .exits = COMMAND_EXITS,
};
