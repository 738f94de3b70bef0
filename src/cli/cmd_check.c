/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "front/json.h"
#include "study/flow.h"
#include "study/memory.h"

struct check_options {
    bool json, quiet, memory, flow;
};

/* What was found out about one run. */
struct finding {
    int error; /* of the file, -VSE_x; what follows may be partial */
    struct vs_diag diag;
    struct vs_check_result file;
    bool compared;       /* the loads were looked at */
    const char *nothing; /* why no load could be compared; NULL if some were */
    struct vs_memory_check memory;
    bool walked;         /* the same of the control flow */
    const char *no_flow; /* why no instruction could be compared */
    struct vs_flow_check flow;
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

/* So that a run that touches more than there is ends with a message. */
static size_t pages_to_spare(void)
{
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (size_t)pages / 4 * 3 : 0;
}

/* Takes a batch of events. Returns 0; -VSE_x. */
typedef int take_batch(void *check, const struct vs_batch *batch);

static int take_memory(void *check, const struct vs_batch *batch)
{
    return vs_memory_check_batch(check, batch);
}

static int take_flow(void *check, const struct vs_batch *batch)
{
    return vs_flow_check_batch(check, batch);
}

static int explain(struct vs_diag *diag, int error, const char *text)
{
    *diag = (struct vs_diag){.error = error, .offset = -1, .chunk = -1};
    snprintf(diag->text, sizeof(diag->text), "%s", text);
    return error;
}

/* Gives all events to a check. Returns 0; an error of the reader, explained in *diag; -VSE_NOMEM,
 * explained by `limit`, if the check refuses. */
static int give_events(struct vs_reader *reader, const char *label, take_batch *take, void *check,
                       const char *limit, struct vs_diag *diag, bool quiet)
{
    struct vs_progress progress;
    struct vs_batch batch;
    int got = 0, e = 0;

    if (vs_reader_info(reader)->events && (e = vs_reader_seek_event(reader, 0))) {
        *diag = *vs_reader_diag(reader);
        return e;
    }
    vs_progress_init(&progress, quiet ? NULL : stderr, label, vs_reader_info(reader)->events,
                     "events");
    while (!e && (got = vs_reader_next(reader, &batch)) > 0) {
        e = take(check, &batch);
        vs_progress_update(&progress, batch.first + batch.count);
    }
    vs_progress_finish(&progress);
    if (got < 0 && got != -VSE_END)
        *diag = *vs_reader_diag(reader);
    if (got < 0)
        return got == -VSE_END ? 0 : got;
    return explain(diag, -VSE_NOMEM, limit);
}

static const char *why_nothing(const struct vs_run_info *info, const struct vs_memory_check *c)
{
    if (!(info->features & VS_RUN_LOADS))
        return "loads were not recorded";
    if (!(info->features & VS_RUN_STORES))
        return "stores were not recorded";
    if (!c->loads)
        return "it has no loads";
    return c->compared ? NULL : "no load is of bytes that were seen before";
}

static void check_memory(struct vs_reader *reader, struct finding *f, bool quiet)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    const uint32_t both = VS_RUN_LOADS | VS_RUN_STORES;

    /* Without the stores every changed byte would differ. */
    if ((info->features & both) == both) {
        vs_memory_check_init(&f->memory, pages_to_spare());
        f->error = give_events(reader, "comparing loads", take_memory, &f->memory,
                               "no memory for all that the run touches", &f->diag, quiet);
        vs_memory_check_fini(&f->memory);
    }
    f->compared = !f->error;
    f->nothing = why_nothing(info, &f->memory);
}

static void check_flow(struct vs_reader *reader, struct finding *f, bool quiet)
{
    static const char limit[] = "no memory for all of the run's code";
    const struct vs_isa *isa = vs_isa_find(vs_reader_meta(reader, "isa"));

    if (isa) {
        f->error = vs_flow_check_init(&f->flow, reader, isa);
        f->error =
            f->error ? explain(&f->diag, -VSE_NOMEM, limit)
                     : give_events(reader, "walking", take_flow, &f->flow, limit, &f->diag, quiet);
        vs_flow_check_fini(&f->flow);
        f->no_flow = f->flow.instructions || f->flow.differences ? NULL : "it has no instructions";
    } else {
        f->no_flow = "no decoder is known for its code (fact isa)";
    }
    f->walked = !f->error;
}

static void inspect(const char *path, const struct check_options *o, struct finding *f)
{
    struct vs_reader *reader = NULL;

    f->diag = (struct vs_diag){.offset = -1, .chunk = -1};
    f->error = vs_reader_open(&reader, path, VS_OPEN_DEFAULT, &f->diag);
    if (f->error)
        return;
    f->error = check_events(reader, &f->file, o->quiet);
    if (f->error)
        f->diag = *vs_reader_diag(reader);
    if (!f->error && o->memory)
        check_memory(reader, f, o->quiet);
    if (!f->error && o->flow)
        check_flow(reader, f, o->quiet);
    vs_reader_close(reader);
}

/* ---- saying it ---- */

enum { SHOWN_TEXT = 2 * VS_MEMORY_SHOWN + 3 };

/* As a number, most significant byte first; bytes without an expected value are "??". */
static const char *format_bytes(char text[SHOWN_TEXT], const uint8_t *bytes, unsigned n,
                                uint32_t known)
{
    char *end = text + sprintf(text, "0x");
    while (n-- > 0)
        end += known >> n & 1 ? sprintf(end, "%02x", bytes[n]) : sprintf(end, "??");
    return text;
}

static void json_difference(struct json *j, const struct vs_memory_difference *d)
{
    char text[SHOWN_TEXT];
    json_object(j, "first");
    json_u64(j, "event", d->event);
    json_u64(j, "thread", d->thread);
    json_hex(j, "pc", d->pc);
    json_hex(j, "addr", d->addr);
    json_u64(j, "size", d->size);
    json_u64(j, "offset", d->offset);
    json_u64(j, "from", d->from);
    json_str(j, "expected", format_bytes(text, d->expected, d->shown, d->known));
    json_str(j, "got", format_bytes(text, d->got, d->shown, UINT32_MAX));
    json_end(j);
}

static void json_memory(struct json *j, const struct finding *f)
{
    const struct vs_memory_check *c = &f->memory;

    json_object(j, "memory");
    json_u64(j, "loads", c->loads);
    json_u64(j, "compared", c->compared);
    json_u64(j, "bytes", c->bytes_compared);
    json_u64(j, "first_seen", c->bytes_learnt);
    json_u64(j, "external", c->bytes_external);
    json_u64(j, "differences", c->differences);
    if (c->differences)
        json_difference(j, &c->first);
    else
        json_null(j, "first");
    if (f->nothing)
        json_str(j, "nothing", f->nothing);
    json_end(j);
}

static void json_flow(struct json *j, const struct finding *f)
{
    const struct vs_flow_check *c = &f->flow;
    const struct vs_flow_difference *d = &c->first;

    json_object(j, "flow");
    json_u64(j, "instructions", c->instructions);
    json_u64(j, "branches", c->branches);
    json_u64(j, "differences", c->differences);
    if (c->differences) {
        json_object(j, "first");
        json_u64(j, "event", d->event);
        json_u64(j, "thread", d->thread);
        json_str(j, "kind", vs_kind_name(d->kind));
        json_hex(j, "pc", d->event_pc);
        json_hex(j, "at", d->pc);
        json_str(j, "why", d->why);
        json_end(j);
    } else {
        json_null(j, "first");
    }
    if (f->no_flow)
        json_str(j, "nothing", f->no_flow);
    json_end(j);
}

static bool nothing_compared(const struct finding *f)
{
    return (f->compared && f->nothing) || (f->walked && f->no_flow);
}

static bool all_well(const struct finding *f)
{
    return !f->error && !nothing_compared(f) && !f->memory.differences && !f->flow.differences;
}

static void print_json(struct out *out, const char *path, const struct finding *f)
{
    const struct vs_diag *d = &f->diag;
    struct json j;
    json_init(&j, out, 0);
    json_object(&j, NULL);
    json_str(&j, "file", path);
    json_bool(&j, "ok", all_well(f));
    json_u64(&j, "chunks", f->file.chunks);
    json_u64(&j, "events", f->file.events);
    json_u64(&j, "bytes", f->file.bytes);
    if (f->error) {
        json_str(&j, "error", vs_errname(f->error));
        if (d->chunk >= 0)
            json_u64(&j, "chunk", (uint64_t)d->chunk);
        if (d->offset >= 0)
            json_u64(&j, "offset", (uint64_t)d->offset);
        json_str(&j, "text", d->text);
    }
    if (f->compared)
        json_memory(&j, f);
    if (f->walked)
        json_flow(&j, f);
    json_end(&j);
}

static void print_text(struct out *out, const char *path, const struct finding *f)
{
    const struct vs_memory_check *c = &f->memory;

    out_safe(out, path);
    out_printf(out, ": ok: %s chunks, %s events, %s bytes checked\n", DIGITS(f->file.chunks),
               DIGITS(f->file.events), DIGITS(f->file.bytes));
    if (f->compared && !f->nothing && !c->differences) {
        out_safe(out, path);
        out_printf(out, ": compared %s loads (%s bytes; %s bytes first seen): all equal\n",
                   DIGITS(c->compared), DIGITS(c->bytes_compared), DIGITS(c->bytes_learnt));
    }
    if (f->walked && !f->no_flow && !f->flow.differences) {
        out_safe(out, path);
        out_printf(out, ": compared %s instructions (%s branches): all equal\n",
                   DIGITS(f->flow.instructions), DIGITS(f->flow.branches));
    }
}

static void report_difference(struct cli *cli, const char *path, const struct vs_memory_check *c)
{
    const struct vs_memory_difference *d = &c->first;
    char expected[SHOWN_TEXT], got[SHOWN_TEXT], part[48] = "";

    format_bytes(expected, d->expected, d->shown, d->known);
    format_bytes(got, d->got, d->shown, UINT32_MAX);
    if (d->shown < d->size)
        snprintf(part, sizeof(part), " in bytes %u-%u", d->from, d->from + d->shown - 1);
    cli_error(cli,
              "%s: event %llu, thread %u, pc 0x%llx: load of %u bytes at 0x%llx%s: expected %s, "
              "got %s; %s of %s loads differ",
              path, (unsigned long long)d->event, d->thread, (unsigned long long)d->pc, d->size,
              (unsigned long long)d->addr, part, expected, got, DIGITS(c->differences),
              DIGITS(c->compared));
}

static void report_flow(struct cli *cli, const char *path, const struct vs_flow_check *c)
{
    const struct vs_flow_difference *d = &c->first;

    cli_error(cli,
              "%s: event %llu, thread %u, pc 0x%llx: %s, after the walk came to 0x%llx: %s; %s "
              "events differ",
              path, (unsigned long long)d->event, d->thread, (unsigned long long)d->event_pc,
              vs_kind_name(d->kind), (unsigned long long)d->pc, d->why, DIGITS(c->differences));
}

/* What the run itself did wrong. */
static int report_finding(struct cli *cli, const char *path, const struct finding *f)
{
    if (nothing_compared(f)) {
        cli_error(cli, "%s: nothing to compare: %s", path,
                  f->compared && f->nothing ? f->nothing : f->no_flow);
        return CLI_USAGE;
    }
    if (f->memory.differences)
        report_difference(cli, path, &f->memory);
    if (f->flow.differences)
        report_flow(cli, path, &f->flow);
    return all_well(f) ? CLI_DONE : CLI_BAD_DATA;
}

static int check_one(struct cli *cli, const struct check_options *o, const char *path)
{
    struct finding f = {0};

    inspect(path, o, &f);
    if (o->json)
        print_json(&cli->out, path, &f);
    if (f.error)
        return cli_report(cli, path, f.error, &f.diag);
    if (!o->json && !o->quiet)
        print_text(&cli->out, path, &f);
    return report_finding(cli, path, &f);
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
    {.name = "memory",
     .help = "also compare each load with what was last written\nto its bytes",
     .offset = FIELD(memory)},
    {.name = "flow", .help = "also walk the code from event to event", .offset = FIELD(flow)},
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
        "are checked, whatever is found.\n"
        "With --memory also the run itself: every load must return what the last store\n"
        "or external write of any thread put there.\n"
        "With --flow too: from one event of a thread to the next, the run's code must\n"
        "have as many instructions in a row as were counted, without a branch between.",
    .example = "vestige check run.vest\n"
               "vestige check --quiet *.vest && echo all intact\n"
               "vestige check --memory --flow run.vest",
    .exits = "0  all runs are intact\n"
             "1  a run is damaged or incomplete, or a load or the flow differs\n"
             "2  bad usage, nothing could be compared, or the system refused something",
};
