/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/json.h"

struct check_options {
    bool json, quiet;
};

static void show_progress(void *context, uint64_t done, uint64_t total)
{
    struct vs_progress *p = context;
    p->total = total;
    vs_progress_update(p, done);
}

static int check_events(struct vs_reader *reader, struct vs_check_result *result, bool quiet)
{
    struct vs_progress progress;
    vs_progress_init(&progress, quiet ? NULL : stderr, "checking", 0, "bytes");
    int e = vs_reader_check(reader, result, show_progress, &progress);
    vs_progress_finish(&progress);
    return e;
}

static void print_json(struct out *out, const char *path, int e, const struct vs_diag *d,
                       const struct vs_check_result *result)
{
    struct json j;
    json_init(&j, out, 0);
    json_object(&j, NULL);
    json_str(&j, "file", path);
    json_bool(&j, "ok", e == 0);
    json_u64(&j, "chunks", result->chunks);
    json_u64(&j, "events", result->events);
    json_u64(&j, "bytes", result->bytes);
    if (e) {
        json_str(&j, "error", vs_errname(e));
        if (d->chunk >= 0)
            json_u64(&j, "chunk", (uint64_t)d->chunk);
        if (d->offset >= 0)
            json_u64(&j, "offset", (uint64_t)d->offset);
        json_str(&j, "text", d->text);
    }
    json_end(&j);
}

static int check_one(struct cli *cli, const struct check_options *o, const char *path)
{
    struct vs_check_result result = {0};
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_reader *reader = NULL;

    int e = vs_reader_open(&reader, path, VS_OPEN_DEFAULT, &diag);
    if (!e) {
        e = check_events(reader, &result, o->quiet);
        if (e)
            diag = *vs_reader_diag(reader);
        vs_reader_close(reader);
    }
    if (o->json)
        print_json(&cli->out, path, e, &diag, &result);
    if (e)
        return cli_report(cli, path, e, &diag);
    if (!o->json && !o->quiet) {
        out_safe(&cli->out, path);
        out_printf(&cli->out, ": ok: %llu chunks, %llu events, %llu bytes checked\n",
                   (unsigned long long)result.chunks, (unsigned long long)result.events,
                   (unsigned long long)result.bytes);
    }
    return CLI_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct check_options o = {0};
    int status;
    if (!options_parse(cli, &command_check, &o, &argc, argv, &status))
        return status;
    status = CLI_DONE;
    for (int i = 0; i < argc; i++)
        status = cli_worse(status, check_one(cli, &o, argv[i]));
    return status;
}

#define FIELD(member) offsetof(struct check_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "one JSON object per run and line", .offset = FIELD(json)},
    {.name = "quiet",
     .letter = 'q',
     .help = "nothing about runs that are intact",
     .offset = FIELD(quiet)},
    {0},
};

const struct command command_check = {
    .name = "check",
    .summary = "whether every byte of a run is as it was written",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Verifies whole files: every checksum, every event, every rule of the format, and\n"
        "the index. Of a bad file it names the first bad chunk and its offset. All files\n"
        "are checked, whatever is found.",
    .example = "vestige check run.vest\n"
               "vestige check --quiet *.vest && echo all intact",
    .exits = "0  all runs are intact\n"
             "1  a run is damaged or incomplete\n"
             "2  bad usage, or the system refused something",
};
