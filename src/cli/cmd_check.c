/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/where_print.h"
#include "front/report.h"
#include "front/runs.h"
#include "study/flow.h"
#include "study/memory.h"
#include "study/verify_inputs.h"
#include "rerun/run_open.h"

struct check_options {
    bool json, quiet, memory, flow, inputs;
};

enum { SHOWN_TEXT = 2 * VS_MEMORY_SHOWN + 3 };

/* What was found out about one run. */
struct finding {
    const char *path;
    int error; /* the file's, -VSE_x; what follows may be partial */
    struct vs_diag diag;
    struct vs_check_result file;
    bool compared;       /* the loads were looked at */
    const char *nothing; /* why no load could be compared; NULL if some were */
    struct vs_memory_check memory;
    bool walked;         /* the control flow was looked at */
    const char *no_flow; /* why no instruction could be compared */
    struct vs_flow_check flow;
    char expected[SHOWN_TEXT], got[SHOWN_TEXT]; /* bytes of the first load that differs */
    char where[WHERE_TEXT_MAX];                 /* of that load, or "" */
    char flow_where[WHERE_TEXT_MAX];            /* of the first event that the walk did not find */
    char inputs_where[WHERE_TEXT_MAX];          /* of the first event that was not made */
    bool executed;                              /* the run was made again from its inputs */
    struct vs_inputs_check inputs;
};

static int check_events(struct vs_reader *reader, struct vs_check_result *result, bool quiet)
{
    struct vs_progress progress;
    vs_progress_init(&progress, quiet ? NULL : stderr, "checking", 0, "bytes");
    int e = vs_reader_check(reader, result, vs_progress_show, &progress);
    vs_progress_finish(&progress);
    return e;
}

/* How many pages may be kept, so that a run that touches more than there are ends with a
 * message. */
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

/* Gives all events to a check. Returns 0; the reader's error, which *diag explains; -VSE_NOMEM,
 * which `limit` explains, if the check refuses. */
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

/* Writes bytes as a number, the most significant byte first; bytes without an expected value are
 * "??". */
static void format_bytes(char text[SHOWN_TEXT], const uint8_t *bytes, unsigned n, uint32_t known)
{
    char *end = text + sprintf(text, "0x");
    while (n-- > 0)
        end += known >> n & 1 ? sprintf(end, "%02x", bytes[n]) : sprintf(end, "??");
}

static void check_memory(struct vs_reader *reader, struct finding *f, bool quiet)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    const struct vs_memory_difference *d = &f->memory.first;
    const uint32_t both = VS_RUN_LOADS | VS_RUN_STORES;

    /* Without stores, every changed byte would differ. */
    if ((info->features & both) == both) {
        vs_memory_check_init(&f->memory, pages_to_spare());
        f->error = give_events(reader, "comparing loads", take_memory, &f->memory,
                               "no memory for all that the run touches", &f->diag, quiet);
        vs_memory_check_fini(&f->memory);
    }
    f->compared = !f->error;
    f->nothing = why_nothing(info, &f->memory);
    format_bytes(f->expected, d->expected, d->shown, d->known);
    format_bytes(f->got, d->got, d->shown, UINT32_MAX);
    if (f->memory.differences)
        where_in_run(reader, d->pc, f->where);
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
    if (f->flow.differences)
        where_in_run(reader, f->flow.first.event_pc, f->flow_where);
}

static void check_file(const char *path, const struct check_options *o, struct finding *f)
{
    struct vs_reader *reader;

    f->error = vs_reader_open(&reader, path, VS_OPEN_DEFAULT, &f->diag);
    if (f->error)
        return;
    f->error = check_events(reader, &f->file, o->quiet);
    if (f->error)
        f->diag = *vs_reader_diag(reader);
    vs_reader_close(reader);
}

static void check_inputs(const char *path, struct finding *f, bool quiet)
{
    struct vs_progress progress;
    struct vs_reader *reader;

    vs_progress_init(&progress, quiet ? NULL : stderr, "executing", 0, "instructions");
    f->error = vs_inputs_check(&f->inputs, path, vs_progress_show, &progress, &f->diag);
    vs_progress_finish(&progress);
    f->executed = !f->error;
    if (f->inputs.differences && vs_reader_open(&reader, path, VS_OPEN_DEFAULT, NULL) == 0) {
        where_in_run(reader, f->inputs.first.expected.pc, f->inputs_where);
        vs_reader_close(reader);
    }
}

/* Looks at all events of the run, wherever they come from. */
static void check_run(const char *path, const struct check_options *o, struct finding *f)
{
    struct vs_reader *reader;

    f->error = vs_run_open(&reader, path, VS_OPEN_DEFAULT, &f->diag);
    if (f->error)
        return;
    if (o->memory)
        check_memory(reader, f, o->quiet);
    if (!f->error && o->flow)
        check_flow(reader, f, o->quiet);
    vs_reader_close(reader);
}

static void inspect(const char *path, const struct check_options *o, struct finding *f)
{
    f->diag = (struct vs_diag){.offset = -1, .chunk = -1};
    check_file(path, o, f);
    if (!f->error && o->inputs)
        check_inputs(path, f, o->quiet);
    if (!f->error && (o->memory || o->flow))
        check_run(path, o, f);
}

/* ---- saying it ---- */

static bool nothing_compared(const struct finding *f)
{
    return (f->compared && f->nothing) || (f->walked && f->no_flow);
}

static bool all_well(const struct finding *f)
{
    return !f->error && !nothing_compared(f) && !f->memory.differences && !f->flow.differences &&
           !f->inputs.differences;
}

static const struct finding *finding_of(const void *row)
{
    return row;
}

static struct cell is_ok(const void *row)
{
    return cell_bool(all_well(row));
}

static struct cell error_name(const void *row)
{
    return cell_word(vs_errname(finding_of(row)->error));
}

static struct cell error_text(const void *row)
{
    return cell_text(finding_of(row)->diag.text);
}

static struct cell expected_bytes(const void *row)
{
    return cell_word(finding_of(row)->expected);
}

static struct cell got_bytes(const void *row)
{
    return cell_word(finding_of(row)->got);
}

static struct cell flow_kind(const void *row)
{
    return cell_word(vs_kind_name(finding_of(row)->flow.first.kind));
}

static bool is_bad(const void *row)
{
    return finding_of(row)->error;
}

static bool is_bad_chunk(const void *row)
{
    return finding_of(row)->error && finding_of(row)->diag.chunk >= 0;
}

static bool is_bad_offset(const void *row)
{
    return finding_of(row)->error && finding_of(row)->diag.offset >= 0;
}

static bool was_compared(const void *row)
{
    return finding_of(row)->compared;
}

static bool was_walked(const void *row)
{
    return finding_of(row)->walked;
}

static bool was_executed(const void *row)
{
    return finding_of(row)->executed;
}

static bool inputs_differ(const void *row)
{
    return finding_of(row)->inputs.differences;
}

static struct cell expected_kind(const void *row)
{
    return cell_word(vs_kind_name(finding_of(row)->inputs.first.expected.kind));
}

static struct cell made_kind(const void *row)
{
    return cell_word(vs_kind_name(finding_of(row)->inputs.first.got.kind));
}

static bool memory_differs(const void *row)
{
    return finding_of(row)->memory.differences;
}

static bool flow_differs(const void *row)
{
    return finding_of(row)->flow.differences;
}

static bool no_load(const void *row)
{
    return finding_of(row)->nothing;
}

static bool no_instruction(const void *row)
{
    return finding_of(row)->no_flow;
}

static const struct report_column memory_first[] = {
    {.json = "event", REPORT_AT(finding, memory.first.event)},
    {.json = "thread", REPORT_AT(finding, memory.first.thread)},
    {.json = "pc", .kind = CELL_HEX, REPORT_IN(finding, memory.first.pc)},
    {.json = "addr", .kind = CELL_HEX, REPORT_IN(finding, memory.first.addr)},
    {.json = "size", REPORT_AT(finding, memory.first.size)},
    {.json = "offset", REPORT_AT(finding, memory.first.offset)},
    {.json = "from", REPORT_AT(finding, memory.first.from)},
    {.json = "expected", .get = expected_bytes},
    {.json = "got", .get = got_bytes},
    {0},
};

static const struct report_column memory_columns[] = {
    {.json = "loads", REPORT_AT(finding, memory.loads)},
    {.json = "compared", REPORT_AT(finding, memory.compared)},
    {.json = "bytes", REPORT_AT(finding, memory.bytes_compared)},
    {.json = "first_seen", REPORT_AT(finding, memory.bytes_learnt)},
    {.json = "external", REPORT_AT(finding, memory.bytes_external)},
    {.json = "differences", REPORT_AT(finding, memory.differences)},
    {.json = "first", .group = memory_first, .known = memory_differs},
    {.json = "nothing", .kind = CELL_TEXT, REPORT_IN(finding, nothing), .when = no_load},
    {0},
};

static const struct report_column flow_first[] = {
    {.json = "event", REPORT_AT(finding, flow.first.event)},
    {.json = "thread", REPORT_AT(finding, flow.first.thread)},
    {.json = "kind", .get = flow_kind},
    {.json = "pc", .kind = CELL_HEX, REPORT_IN(finding, flow.first.event_pc)},
    {.json = "at", .kind = CELL_HEX, REPORT_IN(finding, flow.first.pc)},
    {.json = "why", .kind = CELL_TEXT, REPORT_IN(finding, flow.first.why)},
    {0},
};

static const struct report_column flow_columns[] = {
    {.json = "instructions", REPORT_AT(finding, flow.instructions)},
    {.json = "branches", REPORT_AT(finding, flow.branches)},
    {.json = "differences", REPORT_AT(finding, flow.differences)},
    {.json = "first", .group = flow_first, .known = flow_differs},
    {.json = "nothing", .kind = CELL_TEXT, REPORT_IN(finding, no_flow), .when = no_instruction},
    {0},
};

static const struct report_column inputs_first[] = {
    {.json = "event", REPORT_AT(finding, inputs.first.event)},
    {.json = "expected", .get = expected_kind},
    {.json = "expected_pc", .kind = CELL_HEX, REPORT_IN(finding, inputs.first.expected.pc)},
    {.json = "made", .get = made_kind},
    {.json = "made_pc", .kind = CELL_HEX, REPORT_IN(finding, inputs.first.got.pc)},
    {0},
};

static const struct report_column inputs_columns[] = {
    {.json = "instructions", REPORT_AT(finding, inputs.instructions)},
    {.json = "made", REPORT_AT(finding, inputs.made)},
    {.json = "digests", REPORT_AT(finding, inputs.digests)},
    {.json = "memory_digests", REPORT_AT(finding, inputs.memory_times)},
    {.json = "memory_pages", REPORT_AT(finding, inputs.memory_pages)},
    {.json = "compared", REPORT_AT(finding, inputs.compared)},
    {.json = "differences", REPORT_AT(finding, inputs.differences)},
    {.json = "first", .group = inputs_first, .known = inputs_differ},
    {0},
};

static const struct report_column columns[] = {
    {.json = "file", .kind = CELL_TEXT, REPORT_IN(finding, path)},
    {.json = "ok", .get = is_ok},
    {.json = "chunks", REPORT_AT(finding, file.chunks)},
    {.json = "events", REPORT_AT(finding, file.events)},
    {.json = "bytes", REPORT_AT(finding, file.bytes)},
    {.json = "error", .get = error_name, .when = is_bad},
    {.json = "chunk", REPORT_AT(finding, diag.chunk), .when = is_bad_chunk},
    {.json = "offset", REPORT_AT(finding, diag.offset), .when = is_bad_offset},
    {.json = "text", .get = error_text, .when = is_bad},
    {.json = "memory", .group = memory_columns, .when = was_compared},
    {.json = "flow", .group = flow_columns, .when = was_walked},
    {.json = "inputs", .group = inputs_columns, .when = was_executed},
    {0},
};

static void print_text(struct out *out, const struct finding *f)
{
    report_say(out, columns, f,
               "{file}: ok: {chunks} chunks, {events} events, {bytes} bytes checked\n");
    if (f->compared && !f->nothing && !f->memory.differences)
        report_say(out, columns, f,
                   "{file}: compared {memory.compared} loads ({memory.bytes} bytes; "
                   "{memory.first_seen} bytes first seen): all equal\n");
    if (f->walked && !f->no_flow && !f->flow.differences)
        report_say(out, columns, f,
                   "{file}: compared {flow.instructions} instructions ({flow.branches} branches): "
                   "all equal\n");
    if (f->executed && !f->inputs.differences) {
        report_say(out, columns, f,
                   "{file}: executed {inputs.instructions} instructions again, compared registers "
                   "{inputs.digests} times");
        if (f->inputs.memory_times)
            report_say(out, columns, f,
                       ", memory {inputs.memory_digests} times ({inputs.memory_pages} pages)");
        report_say(out, columns, f, " and {inputs.compared} of {inputs.made} events: all equal\n");
    }
}

static void report_difference(struct cli *cli, const struct finding *f)
{
    const struct vs_memory_difference *d = &f->memory.first;
    char part[48] = "";

    if (d->shown < d->size)
        snprintf(part, sizeof(part), " in bytes %u-%u", d->from, d->from + d->shown - 1);
    cli_error(cli,
              "%s: event %llu, thread %u, pc 0x%llx%s: load of %u bytes at 0x%llx%s: expected %s, "
              "got %s; %s of %s loads differ",
              f->path, (unsigned long long)d->event, d->thread, (unsigned long long)d->pc, f->where,
              d->size, (unsigned long long)d->addr, part, f->expected, f->got,
              DIGITS(f->memory.differences), DIGITS(f->memory.compared));
}

static void report_flow(struct cli *cli, const struct finding *f)
{
    const struct vs_flow_difference *d = &f->flow.first;

    cli_error(cli,
              "%s: event %llu, thread %u, pc 0x%llx%s: %s, after the walk came to 0x%llx: %s; %s "
              "events differ",
              f->path, (unsigned long long)d->event, d->thread, (unsigned long long)d->event_pc,
              f->flow_where, vs_kind_name(d->kind), (unsigned long long)d->pc, d->why,
              DIGITS(f->flow.differences));
}

static void report_inputs(struct cli *cli, const struct finding *f)
{
    const struct vs_event *expected = &f->inputs.first.expected, *got = &f->inputs.first.got;

    cli_error(
        cli,
        "%s: event %llu is not made as it was recorded: %s of thread %u, pc 0x%llx%s, address "
        "0x%llx; made: %s of thread %u, pc 0x%llx, address 0x%llx",
        f->path, (unsigned long long)f->inputs.first.event, vs_kind_name(expected->kind),
        expected->thread, (unsigned long long)expected->pc, f->inputs_where,
        (unsigned long long)expected->addr, vs_kind_name(got->kind), got->thread,
        (unsigned long long)got->pc, (unsigned long long)got->addr);
}

/* Reports what is wrong with the run itself. */
static int report_finding(struct cli *cli, const struct finding *f)
{
    if (nothing_compared(f)) {
        cli_error(cli, "%s: nothing to compare: %s", f->path,
                  f->compared && f->nothing ? f->nothing : f->no_flow);
        return CLI_USAGE;
    }
    if (f->memory.differences)
        report_difference(cli, f);
    if (f->flow.differences)
        report_flow(cli, f);
    if (f->inputs.differences)
        report_inputs(cli, f);
    return all_well(f) ? CLI_DONE : CLI_BAD_DATA;
}

static int check_one(struct cli *cli, const struct check_options *o, const char *path)
{
    struct finding f = {.path = path};

    inspect(path, o, &f);
    if (o->json)
        report_json_line(&cli->out, columns, &f);
    if (f.error)
        return cli_report(cli, path, f.error, &f.diag);
    if (!o->json && !o->quiet)
        print_text(&cli->out, &f);
    return report_finding(cli, &f);
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct check_options o = {0};
    struct runs runs;
    int status;
    if (!options_parse(cli, &command_check, &o, &argc, argv, &status))
        return status;
    status = runs_open(cli, &runs, argc, argv);
    for (int i = 0; i < runs.count; i++)
        status = cli_worse(status, check_one(cli, &o, runs.paths[i]));
    runs_fini(&runs);
    return status;
}

#define FIELD(member) offsetof(struct check_options, member)

static const struct cli_option options[] = {
    {.name = "json",
     .help = "print one JSON object per run, each on a line",
     .offset = FIELD(json)},
    {.name = "quiet",
     .letter = 'q',
     .help = "print nothing about runs that are intact",
     .offset = FIELD(quiet)},
    {.name = "memory",
     .help = "also compare each load with what was last written\nto its bytes",
     .offset = FIELD(memory)},
    {.name = "flow", .help = "also walk the code from event to event", .offset = FIELD(flow)},
    {.name = "inputs",
     .help = "also execute the run again from its inputs",
     .offset = FIELD(inputs)},
    {0},
};

const struct command command_check = {
    .name = "check",
    .summary = "check that runs are intact, and explain themselves",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Verifies whole files: every checksum, every event, every rule of the format, and\n"
        "the index. For a bad file, it names the first bad chunk and its offset. All\n"
        "files are checked, whatever is found.\n"
        "\n"
        "With --memory it also checks the run itself: every load must return what the\n"
        "last store or external write of any thread put there. With --flow it walks the\n"
        "code: from one event of a thread to the next, there must be as many instructions\n"
        "in a row as were counted, without a branch in between. With --inputs it executes\n"
        "the run again and compares registers wherever the recorder noted them, memory if\n"
        "digests of it were noted (record --digest-memory), and every event, if these\n"
        "were recorded too (record --inputs --all).",
    .example = "vestige check run.vest\n"
               "vestige check --quiet *.vest && echo all intact\n"
               "vestige check --memory --flow run.vest",
    .exits = "0  all runs are intact\n"
             "1  a run is damaged or incomplete, or a load or the flow differs\n"
             "2  bad usage, nothing could be compared, or the system refused something",
};
