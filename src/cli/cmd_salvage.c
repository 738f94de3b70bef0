/* SPDX-License-Identifier: MIT */
/* Makes a sealed run of one that was cut off. The events are written anew, so the result is a run
 * like any other, and the file that they were read from stays as it is. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "front/report.h"
#include "trace/consumer.h"

#define PARTIAL ".partial"

struct salvage_options {
    const char *output;
    bool overwrite, json;
};

struct salvage {
    struct cli *cli;
    const struct salvage_options *o;
    const char *input, *output;
    char written[PATH_MAX]; /* the run's path until it has its name */
    struct vs_reader *reader;
    struct vs_writer *writer;
    struct vs_before before; /* the writer */
    struct vs_progress progress;
    char incomplete[512]; /* the fact of that name; "" if the run is whole */
};

/* ---- names ----------------------------------------------------------------------------------- */

/* The name that the file was meant to have. */
static const char *default_output(const char *input, char *path, size_t capacity)
{
    size_t length = strlen(input), end = strlen(PARTIAL);

    if (length <= end || strcmp(input + length - end, PARTIAL) != 0 || length - end >= capacity)
        return NULL;
    snprintf(path, capacity, "%.*s", (int)(length - end), input);
    return path;
}

static bool find_output(struct salvage *s, char *path, size_t capacity)
{
    s->output = s->o->output ? s->o->output : default_output(s->input, path, capacity);
    if (!s->output) {
        cli_error(s->cli, "-o says where the run goes; see 'vestige salvage --help'");
        return false;
    }
    if ((size_t)snprintf(s->written, sizeof(s->written), "%s.salvaged", s->output) >=
        sizeof(s->written)) {
        cli_error(s->cli, "%s: the name is too long", s->output);
        return false;
    }
    if (vs_outfile_busy(s->input)) {
        cli_error(s->cli, "%s: is being written; wait for the end of the recording", s->input);
        return false;
    }
    if (!s->o->overwrite && access(s->output, F_OK) == 0) {
        cli_error(s->cli, "%s: exists; -f replaces it", s->output);
        return false;
    }
    return cli_may_write(s->cli, s->output, s->input);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int put(void *context, const struct vs_batch *batch)
{
    struct salvage *s = context;

    vs_progress_update(&s->progress, batch->first);
    return vs_writer_put(s->writer, batch);
}

/* Why the end is missing, if the file is cut off; else the run says so itself. */
static int put_incomplete(struct salvage *s)
{
    const struct vs_run_info *info = vs_reader_info(s->reader);
    const char *known = vs_reader_meta(s->reader, "incomplete");

    if (!info->sealed)
        snprintf(s->incomplete, sizeof(s->incomplete), "salvaged: %s", info->missing.text);
    else if (known)
        snprintf(s->incomplete, sizeof(s->incomplete), "%s", known);
    return info->sealed ? 0 : vs_writer_meta(s->writer, "incomplete", s->incomplete);
}

static int copy(struct salvage *s)
{
    struct vs_consumer c;
    bool theirs;
    int e;

    s->before = (struct vs_before){.to = vs_consumer_writer(s->writer), .put = put, .context = s};
    c = vs_consumer_before(&s->before);
    vs_progress_init(&s->progress, stderr, "salvaging", vs_reader_info(s->reader)->events,
                     "events");
    e = vs_consume_run(s->reader, &c, &theirs);
    vs_progress_finish(&s->progress);
    if (e < 0 && !theirs)
        return cli_report(s->cli, s->input, e, vs_reader_diag(s->reader));
    if (e == 0)
        e = put_incomplete(s);
    return e < 0 ? cli_report(s->cli, s->output, e, vs_writer_diag(s->writer)) : CLI_DONE;
}

/* Gives the run its name. The partial file of that name may be the one that was read, so the run
 * had another name until now. */
static int publish(struct salvage *s)
{
    if (!s->o->overwrite && link(s->written, s->output) == 0) {
        unlink(s->written);
        return CLI_DONE;
    }
    if ((s->o->overwrite || errno == EPERM || errno == ENOSYS) &&
        rename(s->written, s->output) == 0)
        return CLI_DONE;
    cli_error(s->cli, "%s: %s", s->output, strerror(errno));
    unlink(s->written);
    return CLI_USAGE;
}

static int write_run(struct salvage *s, struct vs_writer_stats *stats)
{
    struct vs_writer_options w = {
        .features = vs_reader_info(s->reader)->features, .workers = 2, .overwrite = true};
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int status, e = vs_writer_open(&s->writer, s->written, &w, &diag);

    if (e < 0)
        return cli_report(s->cli, s->output, e, &diag);
    status = copy(s);
    if (status == CLI_DONE && (e = vs_writer_flush(s->writer)) < 0)
        status = cli_report(s->cli, s->output, e, vs_writer_diag(s->writer));
    if (status != CLI_DONE) {
        vs_writer_abort(s->writer);
        return status;
    }
    vs_writer_stats(s->writer, stats);
    if ((e = vs_writer_seal(s->writer, &diag)) < 0) {
        char partial[PATH_MAX + sizeof(PARTIAL)];

        snprintf(partial, sizeof(partial), "%s" PARTIAL, s->written);
        unlink(partial); /* the file that it was made from is still there */
        return cli_report(s->cli, s->output, e, &diag);
    }
    return publish(s);
}

/* ---- what came of it ------------------------------------------------------------------------- */

struct saved {
    const char *file, *from, *incomplete; /* incomplete: NULL if it is whole */
    uint64_t instructions, events, threads, readable, size;
};

static const struct report_column columns[] = {
    REPORT_TEXT(saved, file),
    REPORT_TEXT(saved, from),
    REPORT_COUNT(saved, instructions),
    REPORT_COUNT(saved, events),
    {.json = "threads", REPORT_AT(saved, threads), .plain = true},
    {.json = "readable", REPORT_AT(saved, readable), .plain = true},
    {.json = "size", REPORT_AT(saved, size), .plain = true},
    REPORT_TEXT(saved, incomplete),
    {0},
};

static void print(struct salvage *s, const struct vs_writer_stats *w)
{
    const struct vs_run_info *info = vs_reader_info(s->reader);
    struct out *out = &s->cli->out;
    const struct saved row = {
        .file = s->output,
        .from = s->input,
        .incomplete = *s->incomplete ? s->incomplete : NULL,
        .instructions = w->instructions,
        .events = w->events,
        .threads = w->threads,
        .readable = info->readable,
        .size = info->file_size,
    };

    if (s->o->json) {
        report_json_line(out, columns, &row);
        return;
    }
    report_say(out, columns, &row,
               "{file}: {instructions} instructions, {events} events, {threads:thread}\n");
    report_say(out, columns, &row,
               info->sealed ? "nothing is missing" : "{readable} of {size} bytes were read");
    report_say(out, columns, &row, "; remove {from} when it is not needed any more\n");
}

static int salvage(struct salvage *s)
{
    struct vs_writer_stats stats;
    int status = cli_open_file(s->cli, &s->reader, s->input, true);

    if (status != CLI_DONE)
        return status;
    if (!vs_reader_info(s->reader)->events) {
        cli_error(s->cli, "%s: has no events that could be saved", s->input);
        status = CLI_BAD_DATA;
    } else {
        status = write_run(s, &stats);
        if (status == CLI_DONE)
            print(s, &stats);
    }
    vs_reader_close(s->reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct salvage_options o = {0};
    struct salvage s = {.cli = cli, .o = &o};
    char path[PATH_MAX];
    int status;

    if (!options_parse(cli, &command_salvage, &o, &argc, argv, &status))
        return status;
    s.input = argv[0];
    return find_output(&s, path, sizeof(path)) ? salvage(&s) : CLI_USAGE;
}

#define FIELD(member) offsetof(struct salvage_options, member)

static const struct cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the run to FILE (the name without .partial)",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = FIELD(overwrite)},
    {.name = "json", .help = "print what was saved as a JSON object", .offset = FIELD(json)},
    {0},
};

const struct command command_salvage = {
    .name = "salvage",
    .summary = "rescue a run from a recording that was cut off",
    .run = run,
    .options = options,
    .operands = "run.vest.partial",
    .operands_min = 1,
    .operands_max = 1,
    .description =
        "Makes a complete run from what can be read of a recording that did not end\n"
        "properly, because the disk was full or the recorder was killed. The run has all\n"
        "events before the first damaged or missing byte, and its fact 'incomplete' says\n"
        "what is missing. The input file stays as it is.",
    .example = "vestige salvage run.vest.partial\n"
               "vestige salvage -o /elsewhere/run.vest run.vest.partial",
    .exits = "0  the run was made\n"
             "1  nothing in the file could be saved\n"
             "2  bad usage, or the system refused something",
};
