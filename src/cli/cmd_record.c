/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/diag.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/following.h"
#include "cli/kept_runs.h"
#include "cli/recorded.h"
#include "front/region.h"
#include "isa/cpu_load.h"
#include "study/where.h"

struct record {
    struct cli *cli;
    const struct record_options *o;
    struct record_plan plan;
    const char *path; /* the run's */
    struct kept_runs kept;
    struct vs_progress progress;
    char written[32]; /* text for the progress line */
    struct vs_window windows[REGION_WINDOWS_MAX];
    size_t window_count;
    struct vs_place places[REGION_PLACES_MAX];
    size_t place_count;
    struct vs_trigger trigger;
    bool nothing; /* no run is kept, because what was waited for did not happen */
    struct vs_engine_request request;
    struct vs_engine_result result;
    struct following following;   /* with --follow */
    uint64_t instructions, bytes; /* as it was told last */
    struct recording_stats stats;
    uint64_t sealed; /* the run's bytes */
};

/* ---- what to record ------------------------------------------------------------------------ */

static bool ends(const struct vs_trigger *t)
{
    return t->kind == VS_TRIGGER_EXIT || t->kind == VS_TRIGGER_NONZERO;
}

static bool settle_trigger(struct record *r)
{
    const struct record_options *o = r->o;
    struct vs_diag diag;

    if (!o->trigger)
        return true;
    if (vs_trigger_parse(&r->trigger, o->trigger, &diag) < 0) {
        cli_error(r->cli, "--trigger: %s", diag.text);
        return false;
    }
    if (!r->plan.row->engine->apart || o->follow) {
        cli_error(r->cli, "--trigger is for native programs, without --follow");
        return false;
    }
    if (o->windows || o->skip || o->marks || o->from.count || o->to.count) {
        cli_error(r->cli, "--trigger excludes --skip, --windows, --marks, --from and --to");
        return false;
    }
    if (ends(&r->trigger) ? o->length != 0 : !o->last && !o->length) {
        cli_error(r->cli,
                  ends(&r->trigger)
                      ? "--trigger exit: excludes --length: it is known only at the end"
                      : "--trigger %s: --last N says how much is kept before it, or "
                        "--length N how much is recorded after it",
                  o->trigger);
        return false;
    }
    if (r->trigger.kind == VS_TRIGGER_ROUTINE)
        r->places[r->place_count++] = (struct vs_place){
            .name = r->trigger.name, .kind = o->last ? VS_PLACE_TO : VS_PLACE_FROM};
    return true;
}

static bool settle_options(struct record *r)
{
    const struct record_options *o = r->o;

    if (!recording_shows_check(r->cli, &o->shows))
        return false;
    if (o->control_only + o->loads + o->all > 1) {
        cli_error(r->cli, "--control-only, --loads and --all exclude each other");
        return false;
    }
    if ((o->inputs || o->whole || o->digests) && (o->control_only || o->loads)) {
        cli_error(r->cli,
                  "%s excludes --control-only and --loads: what is executed again has everything",
                  o->inputs  ? "--inputs"
                  : o->whole ? "--self-contained"
                             : "--digest-memory");
        return false;
    }
    if ((o->inputs || o->whole || o->digests || o->last) && (o->main_only || o->routines.count)) {
        cli_error(r->cli, "--inputs records all code: leave out --routine and --no-shared-libs; "
                          "'vestige expand --routine NAME' chooses when the run is read");
        return false;
    }
    if (o->last && (o->all || o->loads || o->control_only || o->follow)) {
        cli_error(r->cli, "--last records inputs, of one process: it excludes --all, --loads, "
                          "--control-only and --follow");
        return false;
    }
    if (o->last && (o->windows || o->skip || o->length || o->max_mb || o->marks || o->from.count ||
                    o->to.count)) {
        cli_error(r->cli, "--last excludes --skip, --length, --windows, --from, --to, --marks and "
                          "--max-size");
        return false;
    }
    if (o->follow && !r->plan.row->engine->apart) {
        cli_error(r->cli, "--follow is for native programs: a simulated one has no children");
        return false;
    }
    if (o->as && r->plan.row->engine->apart) {
        cli_error(r->cli,
                  "--as is for simulated programs: others learn their path from the system");
        return false;
    }
    if (o->as && (*o->as != '/' || o->as[strlen(o->as) - 1] == '/' || strlen(o->as) >= PATH_MAX)) {
        cli_error(r->cli, "--as: '%s' is not the whole path of a file, as /bin/program", o->as);
        return false;
    }
    if (o->windows && (o->skip || o->length)) {
        cli_error(r->cli, "--windows excludes --skip and --length");
        return false;
    }
    if ((o->windows || o->skip) && (o->marks || o->from.count || o->to.count)) {
        cli_error(r->cli, "%s excludes --marks, --from and --to", o->skip ? "--skip" : "--windows");
        return false;
    }
    if (o->marks && (o->from.count || o->to.count)) {
        cli_error(r->cli, "--marks excludes --from and --to");
        return false;
    }
    for (const struct engine_row *const *row = engine_rows; *row; row++)
        if (*row != r->plan.row && (*row)->asked && (*row)->asked(&o->own)) {
            cli_error(r->cli, "%s are for the engine %s", (*row)->own, (*row)->engine->name);
            return false;
        }
    if (o->windows) {
        if (region_read_windows(r->cli, o->windows, r->windows, &r->window_count) != CLI_DONE)
            return false;
    } else if (o->skip || o->length) {
        r->windows[r->window_count++] = (struct vs_window){o->skip, o->length};
    }
    region_add_places(r->places, &r->place_count, &o->routines, VS_PLACE_WANTED);
    region_add_places(r->places, &r->place_count, &o->from, VS_PLACE_FROM);
    region_add_places(r->places, &r->place_count, &o->to, VS_PLACE_TO);
    if (o->paused && (o->trigger || o->last || o->follow || o->windows || o->skip || o->marks ||
                      o->from.count || o->to.count || !r->plan.row->engine->apart)) {
        cli_error(r->cli, "--paused is for native programs, and excludes --trigger, --last, "
                          "--follow, --windows, --skip, --marks, --from and --to");
        return false;
    }
    return settle_trigger(r) && region_check_places(r->cli, r->places, r->place_count) == CLI_DONE;
}

/* ---- running ------------------------------------------------------------------------------- */

static int tick(void *context, uint64_t instructions)
{
    struct record *r = context;
    uint64_t bytes = r->kept.run->bytes;

    if (r->o->follow) {
        following_tick(&r->following, instructions - r->instructions, bytes - r->bytes);
        r->instructions = instructions;
        r->bytes = bytes;
        return recorded_full(r->kept.run);
    }
    snprintf(r->written, sizeof(r->written), "%.1f MB", 1e-6 * (double)bytes);
    vs_progress_update(&r->progress, instructions);
    return recorded_full(r->kept.run);
}

static void tell_shared(const struct record *r)
{
    if (*r->result.shared && r->request.inputs)
        recording_tell("other processes may have changed what it shares with them (%s), which "
                       "inputs do not tell: record with --all",
                       r->result.shared);
}

/* Tells of which images source lines will not be known. The run is sealed; whether it can be read
 * is for others to say. */
static void tell_undebugged(const struct record *r)
{
    struct vs_reader *reader;
    struct vs_where where;
    char names[512] = "";

    if (vs_reader_open(&reader, r->path, VS_OPEN_DEFAULT, NULL) < 0)
        return;
    if (vs_where_of_run(&where, reader) == 0)
        vs_where_undebugged(&where, names, sizeof(names));
    if (*names)
        recording_tell("no debug information, hence no source lines: %s", names);
    vs_where_fini(&where);
    vs_reader_close(reader);
}

static void summary_text(struct record *r)
{
    const struct vs_engine_result *c = &r->result;
    double seconds = c->seconds + c->more;
    char a[32], b[32];

    if (r->o->follow) {
        following_tell(&r->following, seconds);
        recording_notes(*c->unfollowed ? 0 : (unsigned)r->following.forks, c->said, c->unread,
                        r->kept.run->incomplete);
        tell_shared(r);
        recording_tell_signal(c->status);
        return;
    }
    recording_tell("%s instructions, %s %s, %s thread%s in %.1f s (%.1f M/s)",
                   group_digits(a, c->instructions), group_digits(b, c->events),
                   r->request.light ? "inputs" : "events", DIGITS(c->threads),
                   c->threads == 1 ? "" : "s", seconds,
                   seconds > 0 ? 1e-6 * (double)c->instructions / seconds : 0);
    if (!c->instructions)
        recording_tell("what was to be recorded never ran");
    if (c->skipped)
        recording_tell("%s instructions were not recorded", group_digits(a, c->skipped));
    if (r->plan.row->summary)
        r->plan.row->summary(c, r->plan.features & VS_RUN_TIMED);
    recording_notes(c->forks, c->said, c->unread, r->kept.run->incomplete);
    tell_undebugged(r);
    tell_shared(r);
    if (!c->halted)
        recording_tell_signal(c->status);
    recording_tell("%s: %.1f MB, %.3f bits per instruction", r->path, 1e-6 * (double)r->sealed,
                   c->instructions ? 8 * (double)r->sealed / (double)c->instructions : 0);
}

struct record_summary {
    const char *file, *incomplete, *valgrind, *shared, *unread; /* may be NULL */
    uint64_t instructions, skipped, events, threads, forks, programs, bytes, exit, cycles;
    double seconds, seconds_more;
    bool ended, timed;
    const struct following *following; /* NULL without --follow */
};

static bool has_ended(const void *row)
{
    return ((const struct record_summary *)row)->ended;
}

static bool was_timed(const void *row)
{
    return ((const struct record_summary *)row)->timed;
}

static bool was_followed(const void *row)
{
    return ((const struct record_summary *)row)->following;
}

static bool child_at(const void *row, size_t i, void *element)
{
    return following_child(((const struct record_summary *)row)->following, i, element);
}

static const struct report_rows children = {.size = sizeof(struct manifest_process),
                                            .at = child_at};

static const struct report_column summary_columns[] = {
    REPORT_TEXT(record_summary, file),
    REPORT_COUNT(record_summary, instructions),
    REPORT_COUNT(record_summary, skipped),
    REPORT_COUNT(record_summary, events),
    REPORT_COUNT(record_summary, threads),
    REPORT_COUNT(record_summary, forks),
    REPORT_COUNT(record_summary, programs),
    REPORT_COUNT(record_summary, bytes),
    {.json = "seconds", .kind = CELL_REAL, REPORT_IN(record_summary, seconds), .json_places = 3},
    {.json = "seconds_more",
     .kind = CELL_REAL,
     REPORT_IN(record_summary, seconds_more),
     .json_places = 3},
    {.json = "exit", REPORT_AT(record_summary, exit), .known = has_ended},
    REPORT_TEXT(record_summary, incomplete),
    REPORT_TEXT(record_summary, valgrind),
    REPORT_TEXT(record_summary, shared),
    REPORT_TEXT(record_summary, unread),
    {.json = "cycles", REPORT_AT(record_summary, cycles), .known = was_timed},
    {.json = "children", .group = manifest_columns, .rows = &children, .when = was_followed},
    {0},
};

/* The program's status, or what stands for it. */
static int exit_status(const struct record *r)
{
    return r->plan.row->status ? r->plan.row->status(&r->result)
                               : recording_status(r->result.status);
}

static int summary_stats(struct record *r)
{
    const struct vs_engine_result *c = &r->result;
    const struct record_summary row = {
        .file = r->nothing ? NULL : r->path,
        .incomplete = r->kept.run->incomplete,
        .valgrind = *c->said ? c->said : NULL,
        .shared = *c->shared ? c->shared : NULL,
        .unread = *c->unread ? c->unread : NULL,
        .instructions = c->instructions,
        .skipped = c->skipped,
        .events = c->events,
        .threads = c->threads,
        .forks = c->forks,
        .programs = c->programs,
        .bytes = r->sealed,
        .exit = (uint64_t)exit_status(r),
        .cycles = c->cycles,
        .seconds = c->seconds,
        .seconds_more = c->more,
        .ended = !*c->gave_up,
        .timed = r->plan.features & VS_RUN_TIMED,
        .following = r->o->follow ? &r->following : NULL,
    };

    return recording_stats_print(r->cli, &r->stats, summary_columns, &row);
}

static void warn_places(struct record *r)
{
    for (size_t i = 0; i < r->place_count; i++)
        if (r->places[i].chooser)
            recording_tell(
                "%s only chooses an implementation, which has another name; 'vestige info' shows "
                "which ran",
                r->places[i].name);
}

/* The first place that was found nowhere, or NULL. If there is one, nothing that was recorded is
 * what was asked for. */
static const char *missing_place(const struct record *r)
{
    for (size_t i = 0; i < r->place_count; i++)
        if (!r->places[i].found)
            return r->places[i].name;
    return NULL;
}

/* Says why a recording came to nothing, and what is left of it. Returns the exit status. */
static int report_saved(struct record *r, int error, const struct vs_diag *diag, bool theirs,
                        uint64_t events)
{
    char more[PATH_MAX + 128];

    recorded_saved(r->path, events, more, sizeof(more));
    if (theirs)
        return cli_report_more(r->cli, r->path, error, diag, more);
    return recording_refused(r->cli, r->request.argv[0], error, diag, more);
}

static double seconds_between(const struct timespec *t0, const struct timespec *t1)
{
    return (double)(t1->tv_sec - t0->tv_sec) + 1e-9 * (double)(t1->tv_nsec - t0->tv_nsec);
}

/* Prints the summary of a run that is sealed. Returns the exit status. */
static int conclude(struct record *r)
{
    const struct vs_engine_result *c = &r->result;
    int status = summary_stats(r);

    if (*c->gave_up) {
        /* It was not the program that ended but the engine, whose status means nothing. */
        cli_error(r->cli, "%s: %s; what ran until then is in %s", r->request.argv[0], c->gave_up,
                  r->path);
        return CLI_USAGE;
    }
    if (!r->o->shows.quiet) {
        warn_places(r);
        if (!r->o->json)
            summary_text(r);
    }
    return status == CLI_DONE ? exit_status(r) : status;
}

/* The program's run came to this: with --follow, this is noted. Returns CLI_DONE, or the status
 * after a message. */
static int finish_list(struct record *r, enum run_left left)
{
    return r->o->follow ? following_finish(&r->following, r->kept.run, &r->result, left, r->sealed)
                        : CLI_DONE;
}

/* Whether what was waited for has happened, or nothing was. */
static bool has_triggered(const struct record *r)
{
    const struct vs_engine_result *c = &r->result;

    switch (r->trigger.kind) {
    case VS_TRIGGER_EXIT:
        return exit_status(r) == r->trigger.number;
    case VS_TRIGGER_NONZERO:
        return exit_status(r) != 0;
    case VS_TRIGGER_SIGNAL:
        return c->triggered ||
               (WIFSIGNALED(c->status) && WTERMSIG(c->status) == r->trigger.number && r->o->last);
    case VS_TRIGGER_ROUTINE:
        return r->o->last ? c->triggered : c->instructions;
    case VS_TRIGGER_TIME:
        return c->triggered;
    default:
        return true;
    }
}

/* Gives the run up. Returns the exit status. */
static int keep_nothing(struct record *r)
{
    int status;

    recording_release_signals();
    kept_runs_settle(&r->kept);
    vs_writer_abort(r->kept.run->writer);
    r->nothing = true;
    status = summary_stats(r);
    if (!r->o->shows.quiet && !r->o->json)
        recording_tell("nothing was kept: %s did not happen", r->o->trigger);
    return status == CLI_DONE ? exit_status(r) : status;
}

static int finish(struct record *r)
{
    struct vs_diag diag;
    const char *missing = missing_place(r);
    struct timespec t0, t1;
    uint64_t events;
    int e, status;

    if (missing) {
        recording_release_signals();
        vs_writer_abort(r->kept.run->writer);
        if (r->o->follow)
            following_abort(&r->following);
        cli_error(r->cli,
                  "no routine '%s' in the program or its libraries; 'nm -C' lists what there is",
                  missing);
        return CLI_USAGE;
    }
    if (!*r->result.gave_up && !has_triggered(r))
        return keep_nothing(r);
    recorded_ending(r->kept.run, &r->result);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    /* Signals stay caught to the end: a user who insists may send another one, and the status has
     * to be the program's. */
    kept_runs_settle(&r->kept);
    if ((e = recorded_seal(r->kept.run, &r->sealed, &events, &diag)) < 0) {
        recording_release_signals();
        e = report_saved(r, e, &diag, true, events);
        return cli_worse(e, finish_list(r, events ? RUN_SAVED : RUN_NONE));
    }
    if ((e = kept_runs_name(&r->kept, &diag)) < 0) {
        recording_release_signals();
        return cli_report(r->cli, r->path, e, &diag);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    r->result.more += seconds_between(&t0, &t1);
    e = finish_list(r, RUN_SEALED);
    status = conclude(r);
    return e == CLI_DONE ? status : e;
}

/* Whether nothing says what the run is to hold, so that its inputs will do, and whoever reads it
 * here can execute it again. Processes that are followed may share memory, which nobody can execute
 * again. */
static bool inputs_will_do(const struct record *r)
{
    const struct record_options *o = r->o;
    const struct vs_engine *engine = r->plan.row->engine;
    const struct vs_isa *isa = vs_isa_find(engine->isa);
    const struct vs_cpu_ops *cpu;
    struct vs_diag diag;

    return engine->inputs && !o->all && !o->loads && !o->control_only && !o->skip && !o->windows &&
           !o->marks && !o->main_only && !o->follow && !o->paused && !r->place_count &&
           !(o->trigger && o->length) && isa && vs_cpu_load(isa, NULL, &cpu, NULL, &diag) == 0;
}

/* The engine that the user named, or else the one for the program. */
static const struct engine_row *choose_engine(struct record *r, const char *program)
{
    const struct engine_row *row = engine_choose(r->o->engine, program);
    char names[128] = "";

    for (const struct engine_row *const *i = engine_rows; !row && *i; i++)
        vs_list_word(names, sizeof(names), (*i)->engine->name);
    if (!row)
        cli_error(r->cli, "no engine '%s'; there are: %s", r->o->engine, names);
    return row;
}

static int put_facts(struct record *r, char **argv)
{
    r->kept.command = recorded_words(argv);
    return r->kept.command ? recorded_facts(r->kept.run, r->kept.command) : -VSE_NOMEM;
}

/* Whether recording can begin, or go on, in the midst of the program. */
static bool has_parts(const struct record *r)
{
    const struct record_options *o = r->o;

    return o->paused || o->marks || o->from.count || o->to.count || r->window_count > 1 ||
           (r->trigger.kind && o->length) || (r->window_count && r->windows[0].start);
}

static int record(struct record *r, char **argv)
{
    const struct record_options *o = r->o;
    struct vs_engine_request *c = &r->request;
    struct vs_diag diag = {0};
    char program[PATH_MAX];
    bool theirs, inputs = o->inputs || o->whole || o->digests || o->last || inputs_will_do(r);
    int e;

    *c = (struct vs_engine_request){
        .argv = argv,
        .as = o->as,
        .loads = !o->control_only,
        .stores = !o->control_only && !o->loads,
        .inputs = inputs,
        .light = inputs && !o->all,
        .whole = o->whole,
        .digests = o->digests,
        .windows = r->windows,
        .window_count = r->window_count,
        .places = r->places,
        .place_count = r->place_count,
        .main_only = o->main_only,
        .marks = o->marks,
        .trigger = r->trigger,
        .paused = o->paused,
        .start_off = o->paused || (!o->last && (r->trigger.kind == VS_TRIGGER_SIGNAL ||
                                                r->trigger.kind == VS_TRIGGER_TIME)),
        .consumer = &r->kept.runs[0].consumer,
        .tick = tick,
        .context = r};
    r->plan.features = (c->loads ? VS_RUN_LOADS : 0u) | (c->stores ? VS_RUN_STORES : 0u) |
                       (c->inputs ? VS_RUN_INPUTS : 0u) | (c->light ? VS_RUN_SHORT : 0u) |
                       (c->inputs && has_parts(r) ? VS_RUN_PARTS : 0u) |
                       (c->digests ? VS_RUN_DIGESTS : 0u);
    e = r->plan.row->settle ? r->plan.row->settle(&o->own, &r->plan.settings, &diag) : 0;
    c->settings = r->plan.settings;
    if (e < 0 || (e = r->plan.row->engine->check(c, &r->plan.features, &diag)) < 0)
        return recording_refused(r->cli, argv[0], e, &diag, "");
    if (!kept_runs_init(&r->kept, &r->plan, r->path)) {
        cli_error(r->cli, "out of memory");
        return CLI_USAGE;
    }
    if (o->last)
        c->renewal = &r->kept.renewal;
    if (o->follow) {
        if ((e = following_open(&r->following, r->cli, &r->plan, r->path)) != CLI_DONE)
            return e;
        r->path = r->following.path;
        c->follower = &r->following.follower;
    }
    if (vs_find_program(argv[0], program, sizeof(program)) == 0 &&
        !cli_may_write(r->cli, r->path, program))
        return CLI_USAGE;
    r->stats = (struct recording_stats){
        .path = o->stats, .json = o->json, .overwrite = o->overwrite, .fd = -1, .file.fd = -1};
    if (o->last && (e = kept_runs_try(&r->kept, &diag)) < 0)
        return cli_report_output(r->cli, r->kept.other, e, &diag);
    if ((e = recorded_open(r->kept.run, &r->plan, r->path, &diag)) < 0)
        return cli_report_output(r->cli, r->path, e, &diag);
    if (!recording_stats_open(r->cli, &r->stats)) {
        vs_writer_abort(r->kept.run->writer);
        return CLI_USAGE;
    }
    if ((e = put_facts(r, argv)) < 0) {
        e = cli_report(r->cli, r->path, e,
                       e != -VSE_NOMEM ? vs_writer_diag(r->kept.run->writer) : NULL);
        vs_writer_abort(r->kept.run->writer);
        return e;
    }
    recording_progress(&r->progress, &o->shows, "recording");
    r->progress.more = o->follow ? r->following.written : r->written;
    r->following.progress = &r->progress;
    c->interrupt = recording_catch_signals(r->plan.row->engine->apart);
    if (o->paused)
        recording_catch_wishes();
    e = r->plan.row->engine->run(c, &r->result, &diag, &theirs);
    vs_progress_finish(&r->progress);
    if (e < 0) {
        if (theirs)
            diag = *kept_runs_diag(&r->kept);
        kept_runs_settle(&r->kept);
        uint64_t events = vs_writer_keep(r->kept.run->writer);
        recording_release_signals();
        e = report_saved(r, e, &diag, theirs, events);
        return cli_worse(e, finish_list(r, events ? RUN_SAVED : RUN_NONE));
    }
    return finish(r);
}

/* The default name of a run, or of a folder of runs: the program's. */
static const char *default_path(const char *program, bool follow, char *path, size_t capacity)
{
    const char *slash = strrchr(program, '/');

    snprintf(path, capacity, "%s.%s", slash ? slash + 1 : program, follow ? "runs" : "vest");
    return path;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct record_options o = {0};
    struct record *r;
    char path[NAME_MAX + 8], **program;
    int status;

    if (!options_parse(cli, &command_record, &o, &argc, argv, &status))
        return status;
    r = calloc(1, sizeof(*r));
    program = calloc((size_t)argc + 1, sizeof(*program));
    status = CLI_USAGE;
    if (!r || !program) {
        cli_error(cli, "out of memory");
    } else {
        memcpy(program, argv, (size_t)argc * sizeof(*program));
        r->cli = cli;
        r->o = r->plan.o = &o;
        r->path = o.output ? o.output : default_path(argv[0], o.follow, path, sizeof(path));
        r->plan.row = choose_engine(r, argv[0]);
        if (r->plan.row && settle_options(r)) {
            r->stats.fd = r->stats.file.fd = -1;
            status = record(r, program);
            recording_stats_abort(&r->stats);
            vs_engine_result_fini(&r->result);
            if (r->following.cli)
                following_fini(&r->following);
            if (r->plan.row->unsettle)
                r->plan.row->unsettle(r->plan.settings);
        }
    }
    free(program);
    if (r)
        kept_runs_fini(&r->kept);
    free(r);
    return status;
}

#define FIELD(member) offsetof(struct record_options, member)

#define ENGINE_HELP(name, what) #name ": " what

static const struct cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the run to FILE (PROGRAM.vest in this folder);\n"
             "with --follow, runs to this folder (PROGRAM.runs)",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = FIELD(overwrite)},
    {.name = "engine",
     .letter = 'e',
     .argument = "NAME",
     .help = ENGINES(ENGINE_HELP) " (default: the one for PROGRAM)",
     .type = OPTION_STRING,
     .offset = FIELD(engine),
     .offer = engine_offer},
    {.name = "all",
     .help = "record control flow, loads and stores with values",
     .offset = FIELD(all)},
    {.name = "loads", .help = "record control flow and loads", .offset = FIELD(loads)},
    {.name = "control-only", .help = "record only control flow", .offset = FIELD(control_only)},
    {.name = "inputs",
     .help = "record only what comes from outside the program;\n"
             "the rest is executed again when the run is read\n"
             "(the default for whole native programs; with\n"
             "--all: record both)",
     .offset = FIELD(inputs)},
    {.name = "self-contained",
     .help = "with --inputs: keep what mapped files hold in the run,\n"
             "instead of their names",
     .offset = FIELD(whole)},
    {.name = "digest-memory",
     .argument = "N",
     .help = "with --inputs: note what memory holds about every N\n"
             "instructions, as digests for 'check --inputs'",
     .type = OPTION_U64,
     .offset = FIELD(digests),
     .min = 1},
    {.name = "follow",
     .help = "record the program's children too, each as a run of\n"
             "its own, in the folder FILE",
     .offset = FIELD(follow)},
    {.name = "skip",
     .argument = "N",
     .help = "leave out the first N instructions of all threads",
     .type = OPTION_U64,
     .offset = FIELD(skip)},
    {.name = "length",
     .argument = "N",
     .help = "record N instructions; the program then runs on",
     .type = OPTION_U64,
     .offset = FIELD(length),
     .min = 1},
    {.name = "windows",
     .argument = "FILE",
     .help = "record several stretches: lines START LENGTH, in\n"
             "instructions of all threads",
     .type = OPTION_STRING,
     .offset = FIELD(windows)},
    {.name = "from",
     .argument = "WHERE",
     .help = "begin when a routine or address (0x...) is reached",
     .type = OPTION_LIST,
     .offset = FIELD(from)},
    {.name = "to",
     .argument = "WHERE",
     .help = "end when it is reached, until --from is reached again",
     .type = OPTION_LIST,
     .offset = FIELD(to)},
    {.name = "as",
     .argument = "PATH",
     .help = "let a simulated program take PATH for its own, as if\n"
             "it lay there and was started from its folder; then\n"
             "runs do not differ by where the program lies",
     .type = OPTION_STRING,
     .offset = FIELD(as)},
    {.name = "marks",
     .help = "record only between vestige_start() and vestige_stop()\n"
             "in the program (vestige/mark.h)",
     .offset = FIELD(marks)},
    {.name = "last",
     .argument = "N",
     .help = "keep the inputs of the last N to 2N instructions of\n"
             "all threads",
     .type = OPTION_U64,
     .offset = FIELD(last),
     .min = 1000},
    {.name = "trigger",
     .argument = "WHAT",
     .help = "with --last, end when WHAT happens, and keep nothing\n"
             "if it never does; with --length, begin then. WHAT is\n"
             "  signal:NAME     the program gets this signal\n"
             "  routine:NAME    the routine or address is reached\n"
             "  time:SECONDS    so much time has passed\n"
             "  exit:STATUS     the program ends with this status\n"
             "  exit:nonzero    it ends with any status but 0",
     .type = OPTION_STRING,
     .offset = FIELD(trigger)},
    {.name = "paused",
     .help = "record nothing until 'vestige resume' is given the\n"
             "process ID of the recorder or of the program",
     .offset = FIELD(paused)},
    {.name = "routine",
     .argument = "NAME",
     .help = "record only code of this routine; may be repeated",
     .type = OPTION_LIST,
     .offset = FIELD(routines)},
    {.name = "no-shared-libs",
     .help = "record only code of the program's own file",
     .offset = FIELD(main_only)},
    {.name = "max-size",
     .argument = "MB",
     .help = "stop recording when the file has this many million\n"
             "bytes; the program runs on",
     .type = OPTION_U64,
     .offset = FIELD(max_mb),
     .min = 1,
     .max = UINT64_MAX / 1000000},
    ENGINE_OPTIONS(FIELD(own)),
    RECORDING_SHOWS(FIELD(shows)),
    {.name = "json",
     .help = "print the summary as a JSON object on standard output;\n"
             "the program's own output goes to standard error",
     .offset = FIELD(json)},
    {.name = "stats",
     .argument = "FILE",
     .help = "write the summary as a JSON object to FILE, which may\n"
             "be /dev/fd/N; the program keeps standard output",
     .type = OPTION_STRING,
     .offset = FIELD(stats)},
    {0},
};

const struct command command_record = {
    .name = "record",
    .summary = "run a program and record everything that it does",
    .run = run,
    .options = options,
    .takes_program = true,
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Runs a program and records its control flow, every memory operand with its\n"
        "value, system calls and what they wrote, signals, threads, and the order between\n"
        "them. The program behaves as usual. exec is followed; the children of fork are\n"
        "recorded only with --follow.",
    .example = "vestige record -o sort.vest -- sort -u words.txt\n"
               "vestige record --follow -o build.runs -- make -j2\n"
               "vestige record --control-only --from main --length 50M ./prog",
    .exits = "0  the program was recorded, and ended with 0\n"
             "1  recorded until all simulated threads were waiting for ever\n"
             "2  bad usage; or the program could not be recorded: no file is left, or what\n"
             "   was saved of the run is in FILE.partial, for 'vestige salvage'; or it was\n"
             "   recorded until Valgrind could not go on, or until a simulated program had\n"
             "   touched more memory than it may\n"
             "else the program's own status; 128 + N if signal N ended it",
    .environment = RECORDING_ENVIRONMENT
    "\nSOURCE_DATE_EPOCH  the time to note in the run, in seconds since 1970\n"
    "                   (default: now)",
};
