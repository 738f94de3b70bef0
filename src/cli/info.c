/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/info_print.h"

struct info_options {
    bool all, json, no_scan, salvage;
};

const struct report_feature report_features[] = {
    {VS_RUN_TIMED, "timed"},
    {VS_RUN_LOADS, "loads"},
    {VS_RUN_STORES, "stores"},
    {0},
};

double report_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

bool report_timed(const struct report *r)
{
    return (r->info->features & VS_RUN_TIMED) && r->info->events;
}

uint64_t report_cycles(const struct report *r)
{
    return r->info->cycle_last - r->info->cycle_first + 1;
}

static uint64_t sum_code_bytes(const struct vs_reader *reader, uint32_t blocks)
{
    uint64_t sum = 0;
    struct vs_block block;
    for (uint32_t i = 0; i < blocks; i++)
        if (vs_reader_block(reader, i, &block) == 0)
            sum += block.size;
    return sum;
}

/* Returns 0 or the reader's error. */
static int count_events(struct vs_reader *reader, uint64_t total, struct stats *s)
{
    struct vs_progress progress;
    struct vs_batch batch;
    int e;
    vs_progress_init(&progress, stderr, "counting", total, "events");
    while ((e = vs_reader_next(reader, &batch)) > 0) {
        stats_add(s, &batch);
        vs_progress_update(&progress, batch.first + batch.count);
    }
    vs_progress_finish(&progress);
    return e == -VSE_END ? 0 : e;
}

static int info_one(struct cli *cli, const struct info_options *o, const char *path)
{
    struct vs_reader *reader = NULL;
    struct stats *stats = NULL;
    int status = cli_open(cli, &reader, path, o->salvage);
    if (status != CLI_DONE)
        return status;

    int e = 0;
    const struct vs_run_info *info = vs_reader_info(reader);
    if (!o->no_scan) {
        stats = calloc(1, sizeof(*stats));
        e = stats ? count_events(reader, info->events, stats) : -VSE_NOMEM;
    }
    struct report r = {
        .path = path,
        .reader = reader,
        .info = info,
        .stats = e ? NULL : stats,
        .code_bytes = sum_code_bytes(reader, info->blocks),
        .all_threads = o->all,
    };
    if (o->json)
        report_json(&cli->out, &r);
    else
        report_text(&cli->out, &r);
    status = e ? cli_report(cli, path, e, stats ? vs_reader_diag(reader) : NULL)
               : cli_missing(cli, path, info);
    free(stats);
    vs_reader_close(reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct info_options o = {0};
    int status;
    if (!options_parse(cli, &command_info, &o, &argc, argv, &status))
        return status;
    status = CLI_DONE;
    for (int i = 0; i < argc; i++) {
        if (i && !o.json)
            out_char(&cli->out, '\n');
        status = cli_worse(status, info_one(cli, &o, argv[i]));
    }
    return status;
}

#define FIELD(member) offsetof(struct info_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "one JSON object per run", .offset = FIELD(json)},
    {.name = "all", .letter = 'a', .help = "every thread, not only 16", .offset = FIELD(all)},
    {.name = "no-scan",
     .help = "only what is known without reading the events",
     .offset = FIELD(no_scan)},
    {.name = "salvage",
     .help = "ignore the index; read the chunks before the first\nbad one",
     .offset = FIELD(salvage)},
    {0},
};

const struct command command_info = {
    .name = "info",
    .summary = "what ran: threads, mix of events, branches, operand sizes",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Describes recorded runs: how they were recorded, what the file holds, the\n"
        "threads, and counts of events, branches by class, and operands by size. A file\n"
        "that was cut off is described as far as it can be read.",
    .example = "vestige info run.vest\n"
               "vestige info --json run.vest | jq .counts.branches.classes",
    .exits = COMMAND_EXITS,
};
