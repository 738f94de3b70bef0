/* SPDX-License-Identifier: MIT */
#include "cli/study_runs.h"

static void print(struct study_runs *s, const char *run)
{
    struct out *out = &s->cli->out;
    const void *row = s->kind->row(s, run);
    if (s->json) {
        report_json_line(out, s->kind->columns, row);
    } else if (s->csv) {
        s->kind->print_csv(out, row, !s->runs);
    } else {
        if (s->runs)
            out_char(out, '\n');
        s->kind->print_text(out, row);
    }
}

static int study_one(struct study_runs *s, const char *run)
{
    struct vs_reader *reader;
    int status = cli_open(s->cli, &reader, run, false);
    if (status != CLI_DONE)
        return status;
    status = s->kind->study(s, run, reader);
    if (status == CLI_DONE) {
        print(s, run);
        s->kind->add(s);
        s->runs++;
        status = cli_missing(s->cli, run, vs_reader_info(reader));
    }
    vs_reader_close(reader);
    return status;
}

int study_runs(struct study_runs *s, int count, char **paths)
{
    int status = CLI_DONE;
    if (s->json && s->csv) {
        cli_error(s->cli, "--json and --csv exclude each other");
        return CLI_USAGE;
    }
    for (int i = 0; i < count; i++)
        status = cli_worse(status, study_one(s, paths[i]));
    if (s->runs > 1)
        print(s, NULL);
    return status;
}

int study_runs_nothing(const struct study_runs *s, const char *run, const struct vs_run_info *info,
                       const char *why)
{
    if (cli_missing(s->cli, run, info) != CLI_DONE)
        return CLI_BAD_DATA;
    cli_error(s->cli, "%s: nothing to study: %s", run, why);
    return CLI_USAGE;
}
