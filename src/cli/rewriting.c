/* SPDX-License-Identifier: MIT */
#include "cli/rewriting.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/progress.h"
#include "front/report.h"

struct work {
    const struct rewriting *w;
    struct vs_writer *writer;
    struct vs_before before;
    struct vs_progress progress;
};

static int put(void *context, const struct vs_batch *batch)
{
    struct work *k = context;
    vs_progress_update(&k->progress, batch->first);
    return k->w->put ? k->w->put(k->w->context, k->writer, batch) : vs_writer_put(k->writer, batch);
}

static int copy(struct work *k)
{
    const struct rewriting *w = k->w;
    struct vs_consumer c;
    bool theirs;
    k->before = (struct vs_before){.to = vs_consumer_writer(k->writer), .put = put, .context = k};
    c = vs_consumer_before(&k->before);
    vs_progress_init(&k->progress, stderr, w->label, vs_reader_info(w->reader)->events, "events");
    int e = vs_consume_run(w->reader, &c, &theirs);
    vs_progress_finish(&k->progress);
    if (!e && w->facts) {
        theirs = true;
        e = w->facts(w->context, k->writer);
    }
    if (e < 0)
        return cli_report(w->cli, theirs ? w->o->output : w->input, e,
                          theirs ? vs_writer_diag(k->writer) : vs_reader_diag(w->reader));
    return CLI_DONE;
}

/* ---- what came of it ------------------------------------------------------------------------- */

struct rewritten {
    const char *file, *from;
    uint64_t instructions, events, threads, size, size_before;
};

static const struct report_column columns[] = {
    REPORT_TEXT(rewritten, file),
    REPORT_TEXT(rewritten, from),
    REPORT_COUNT(rewritten, instructions),
    REPORT_COUNT(rewritten, events),
    {.json = "threads", REPORT_AT(rewritten, threads), .plain = true},
    REPORT_COUNT(rewritten, size),
    REPORT_COUNT(rewritten, size_before),
    {0},
};

static void print(const struct rewriting *w, const struct rewritten *row)
{
    struct out *out = &w->cli->out;
    if (w->o->json)
        report_json_line(out, columns, row);
    else
        report_say(out, columns, row,
                   "{file}: {instructions} instructions, {events} events, {size} bytes "
                   "({from}: {size_before})\n");
}

int rewrite_run(const struct rewriting *w)
{
    struct vs_writer_options options = {
        .features = w->features, .workers = 2, .overwrite = w->o->overwrite};
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_writer_stats stats;
    struct work k = {.w = w};
    struct stat st = {0};
    int e = vs_writer_open(&k.writer, w->o->output, &options, &diag);
    if (e < 0)
        return cli_report_output(w->cli, w->o->output, e, &diag);
    int status = copy(&k);
    if (status == CLI_DONE && (e = vs_writer_flush(k.writer)) < 0)
        status = cli_report(w->cli, w->o->output, e, vs_writer_diag(k.writer));
    if (status != CLI_DONE) {
        vs_writer_abort(k.writer);
        return status;
    }
    vs_writer_stats(k.writer, &stats);
    if ((e = vs_writer_seal(k.writer, &diag)) < 0) {
        char partial[PATH_MAX + sizeof(".partial")];
        snprintf(partial, sizeof(partial), "%s.partial", w->o->output);
        unlink(partial); /* the run that it was made from is still there */
        return cli_report(w->cli, w->o->output, e, &diag);
    }
    if (stat(w->o->output, &st)) {
        cli_error(w->cli, "%s: is complete, but its size cannot be told: %s", w->o->output,
                  strerror(errno));
        return CLI_USAGE;
    }
    print(w, &(struct rewritten){.file = w->o->output,
                                 .from = w->input,
                                 .instructions = stats.instructions,
                                 .events = stats.events,
                                 .threads = stats.threads,
                                 .size = (uint64_t)st.st_size,
                                 .size_before = vs_reader_info(w->reader)->file_size});
    return CLI_DONE;
}
