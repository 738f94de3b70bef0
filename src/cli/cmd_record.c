/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/diag.h"
#include "base/progress.h"
#include "cli/commands.h"
#include "cli/engines.h"
#include "front/recording.h"

enum { WINDOWS_MAX = 4096 };

struct record_options {
    const char *engine;
    const char *output, *stats;
    uint64_t skip, length, max_mb;
    bool main_only, control_only, loads, all, inputs, whole, marks, overwrite, json;
    struct option_list routines, from, to;
    const char *windows;
    struct engine_options own;
    struct recording_shows shows;
};

struct record {
    struct cli *cli;
    const struct record_options *o;
    const struct engine_row *row; /* of the engine */
    void *settings;               /* of the engine */
    const char *path;             /* the run's */
    struct vs_writer *writer;
    struct vs_before before; /* the writer */
    uint32_t features;       /* VS_RUN_* */
    struct vs_progress progress;
    char written[32];       /* text for the progress line */
    uint64_t max_bytes;     /* 0 if there is no limit */
    _Atomic uint64_t bytes; /* in the file so far; the writer is busy in another thread */
    struct vs_window windows[WINDOWS_MAX];
    size_t window_count;
    struct vs_place places[3 * OPTION_LIST_MAX];
    size_t place_count;
    struct vs_engine_request request;
    struct vs_engine_result result;
    const char *incomplete; /* why the run is not whole, or NULL */
    char why[ENGINE_TEXT];  /* room for that */
    struct recording_stats stats;
    uint64_t sealed; /* the run's bytes */
};

/* ---- what to record ------------------------------------------------------------------------ */

static void add_places(struct record *r, const struct option_list *names, enum vs_place_kind kind)
{
    for (size_t i = 0; i < names->count; i++)
        r->places[r->place_count++] = (struct vs_place){.name = names->items[i], .kind = kind};
}

static bool read_windows(struct record *r)
{
    const char *path = r->o->windows;
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int e = vs_windows_load(path, r->windows, WINDOWS_MAX, &r->window_count, &diag);

    if (e == -VSE_INVAL)
        cli_error(r->cli, "%s, %s", path, diag.text);
    else if (e == -VSE_NOTFOUND)
        cli_error(r->cli, "%s: %s", path, diag.text);
    else if (e < 0)
        cli_report(r->cli, path, e, &diag);
    return e == 0;
}

static bool check_addresses(struct record *r)
{
    for (size_t i = 0; i < r->place_count; i++) {
        const char *name = r->places[i].name;

        if (!vs_place_is_address(&r->places[i]))
            continue;
        if (!name[2] || name[2 + strspn(name + 2, "0123456789abcdefABCDEF")] || strlen(name) > 18) {
            cli_error(r->cli, "'%s' is not an address", name);
            return false;
        }
        if (r->places[i].kind == VS_PLACE_WANTED) {
            cli_error(r->cli, "--routine takes a name, not the address %s", name);
            return false;
        }
    }
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
    if (o->inputs && (o->control_only || o->loads)) {
        cli_error(r->cli,
                  "--inputs excludes --control-only and --loads: what is executed again has "
                  "everything");
        return false;
    }
    if (o->inputs && (o->windows || o->skip || o->marks || o->main_only || o->from.count ||
                      o->to.count || o->routines.count)) {
        cli_error(r->cli, "--inputs records from the beginning, and all code: leave out --skip, "
                          "--windows, --marks, --from, --to, --routine and --no-shared-libs");
        return false;
    }
    if (o->whole && !o->inputs) {
        cli_error(r->cli, "--self-contained is for --inputs");
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
        if (*row != r->row && (*row)->asked && (*row)->asked(&o->own)) {
            cli_error(r->cli, "%s are for the engine %s", (*row)->own, (*row)->engine->name);
            return false;
        }
    if (o->windows) {
        if (!read_windows(r))
            return false;
    } else if (o->skip || o->length) {
        r->windows[r->window_count++] = (struct vs_window){o->skip, o->length};
    }
    add_places(r, &o->routines, VS_PLACE_WANTED);
    add_places(r, &o->from, VS_PLACE_FROM);
    add_places(r, &o->to, VS_PLACE_TO);
    r->max_bytes = o->max_mb * 1000000;
    return check_addresses(r);
}

/* ---- facts --------------------------------------------------------------------------------- */

/* A fact in the making, and the first error with it. */
struct text {
    struct vs_buf bytes;
    int error;
};

static void append(struct text *t, const char *bytes, size_t size)
{
    if (t->error == 0)
        t->error = vs_buf_put(&t->bytes, bytes, size);
}

/* Gives the fact to the writer, and empties the text. */
static int put_text(struct record *r, const char *key, struct text *t)
{
    append(t, "", 1);
    int e = t->error ? t->error : vs_writer_meta(r->writer, key, (const char *)t->bytes.data);
    vs_buf_fini(&t->bytes);
    return e;
}

/* Adds a word so that a shell would understand the command line. It is cut where a fact must
 * end. */
static void quote(struct text *t, const char *word)
{
    bool plain = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789_-+=./,:@%")];

    if (t->bytes.len)
        append(t, " ", 1);
    if (plain) {
        append(t, word, strlen(word));
        return;
    }
    append(t, "'", 1);
    for (; *word; word++)
        append(t, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    append(t, "'", 1);
}

static int put_facts(struct record *r, char **argv)
{
    struct text command = {0};
    struct utsname name;
    char host[256] = "", when[32] = "";
    time_t now = recording_time();
    struct tm tm;
    int e;

    for (char **arg = argv; *arg && command.bytes.len < (1 << 19); arg++)
        quote(&command, *arg);
    if (uname(&name) == 0)
        snprintf(host, sizeof(host), "%s %s %s", name.sysname, name.release, name.machine);
    if (gmtime_r(&now, &tm))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
    if ((e = vs_writer_meta(r->writer, "engine", r->row->engine->name)) == 0 &&
        (e = vs_writer_meta(r->writer, "isa", r->row->engine->isa)) == 0 &&
        (e = put_text(r, "command", &command)) == 0 &&
        (e = vs_writer_meta(r->writer, "host", host)) == 0)
        e = vs_writer_meta(r->writer, "time", when);
    vs_buf_fini(&command.bytes);
    return e;
}

/* Adds a word, after a blank unless it is the first. */
static void add_word(struct text *t, const char *word)
{
    if (t->bytes.len)
        append(t, " ", 1);
    append(t, word, strlen(word));
}

static void add_number(struct text *t, const char *option, uint64_t value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    if (value) {
        add_word(t, option);
        add_word(t, digits);
    }
}

static void add_names(struct text *t, const char *option, const struct option_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        add_word(t, option);
        add_word(t, names->items[i]);
    }
}

static void add_setting(void *context, const char *word)
{
    add_word(context, word);
}

static int put_config(struct record *r)
{
    const struct record_options *o = r->o;
    struct text b = {0};

    if (r->row->config)
        r->row->config(r->settings, add_setting, &b);
    if (o->inputs)
        add_word(&b, "--inputs");
    if (o->whole)
        add_word(&b, "--self-contained");
    if (!o->inputs || o->all)
        add_word(&b, o->control_only ? "--control-only" : o->loads ? "--loads" : "--all");
    add_number(&b, "--skip", o->skip);
    add_number(&b, "--length", o->length);
    add_number(&b, "--max-size", o->max_mb);
    if (o->windows) {
        add_word(&b, "--windows");
        add_word(&b, o->windows);
    }
    if (o->main_only)
        add_word(&b, "--no-shared-libs");
    if (o->marks)
        add_word(&b, "--marks");
    add_names(&b, "--routine", &o->routines);
    add_names(&b, "--from", &o->from);
    add_names(&b, "--to", &o->to);
    return put_text(r, "config", &b);
}

/* ---- running ------------------------------------------------------------------------------- */

static int tick(void *context, uint64_t instructions)
{
    struct record *r = context;
    uint64_t bytes = r->bytes;

    snprintf(r->written, sizeof(r->written), "%.1f MB", 1e-6 * (double)bytes);
    vs_progress_update(&r->progress, instructions);
    return r->max_bytes && bytes >= r->max_bytes;
}

/* The consumer is the writer, and notes how far it is. */

static int put(void *context, const struct vs_batch *batch)
{
    struct record *r = context;
    struct vs_writer_stats written;
    int e = vs_writer_put(r->writer, batch);

    vs_writer_stats(r->writer, &written);
    r->bytes = written.bytes;
    return e;
}

/* Why the run is not whole, or NULL. */
static const char *incomplete(struct record *r)
{
    const struct vs_engine_result *c = &r->result;
    const char *why = r->row->incomplete ? r->row->incomplete(c, r->why) : recording_incomplete(c);

    return *c->gave_up ? c->gave_up : why ? why : c->stopped ? "stopped at --max-size" : NULL;
}

static void put_ending(struct record *r)
{
    const struct vs_engine_result *c = &r->result;
    char text[64];
    int status = c->status;

    if (WIFSIGNALED(status))
        snprintf(text, sizeof(text), "signal %d (SIG%s)", WTERMSIG(status),
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        snprintf(text, sizeof(text), "%d", WEXITSTATUS(status));
    if (!c->halted && !*c->gave_up)
        vs_writer_meta(r->writer, "exit", text);
    if (r->incomplete)
        vs_writer_meta(r->writer, "incomplete", r->incomplete);
    if (c->forks) {
        snprintf(text, sizeof(text), "%u", c->forks);
        vs_writer_meta(r->writer, "forks", text);
    }
    if (r->row->facts)
        r->row->facts(c, r->features & VS_RUN_TIMED, r->writer);
}

static void summary_text(struct record *r, const struct vs_writer_stats *w)
{
    const struct vs_engine_result *c = &r->result;
    double seconds = c->seconds + c->more;
    char a[32], b[32];

    recording_tell("%s instructions, %s events, %s thread%s in %.1f s (%.1f M/s)",
                   group_digits(a, c->instructions), group_digits(b, c->events), DIGITS(c->threads),
                   c->threads == 1 ? "" : "s", seconds,
                   seconds > 0 ? 1e-6 * (double)c->instructions / seconds : 0);
    if (!c->instructions)
        recording_tell("what was to be recorded never ran");
    if (c->skipped)
        recording_tell("%s instructions were not recorded", group_digits(a, c->skipped));
    if (r->row->summary)
        r->row->summary(c, r->features & VS_RUN_TIMED);
    recording_notes(c->forks, c->said, c->unread, r->incomplete);
    if (!c->halted)
        recording_tell_signal(c->status);
    recording_tell("%s: %.1f MB, %.3f bits per instruction", r->path, 1e-6 * (double)w->bytes,
                   c->instructions ? 8 * (double)w->bytes / (double)c->instructions : 0);
}

struct record_summary {
    const char *file, *incomplete, *valgrind, *unread; /* all except the file may be NULL */
    uint64_t instructions, skipped, events, threads, forks, programs, bytes, exit, cycles;
    double seconds, seconds_more;
    bool ended, timed;
};

static bool has_ended(const void *row)
{
    return ((const struct record_summary *)row)->ended;
}

static bool was_timed(const void *row)
{
    return ((const struct record_summary *)row)->timed;
}

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
    REPORT_TEXT(record_summary, unread),
    {.json = "cycles", REPORT_AT(record_summary, cycles), .known = was_timed},
    {0},
};

/* The program's status, or what stands for it. */
static int exit_status(const struct record *r)
{
    return r->row->status ? r->row->status(&r->result) : recording_status(r->result.status);
}

static int summary_stats(struct record *r)
{
    const struct vs_engine_result *c = &r->result;
    const struct record_summary row = {
        .file = r->path,
        .incomplete = r->incomplete,
        .valgrind = *c->said ? c->said : NULL,
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
        .timed = r->features & VS_RUN_TIMED,
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

/* This makes no allocation, as the failure may be a lack of memory. */
static void remove_partial(const char *path)
{
    char partial[PATH_MAX + sizeof(".partial")];

    if ((size_t)snprintf(partial, sizeof(partial), "%s.partial", path) < sizeof(partial))
        unlink(partial);
}

/* Says why a recording came to nothing, and what is left of it. Returns the exit status. */
static int report_saved(struct record *r, int error, const struct vs_diag *diag, bool theirs,
                        uint64_t events)
{
    char more[PATH_MAX + 128] = "", digits[32];

    if (events)
        snprintf(more, sizeof(more), "; %s events are saved: 'vestige salvage %s.partial'",
                 group_digits(digits, events), r->path);
    if (theirs)
        return cli_report_more(r->cli, r->path, error, diag, more);
    return recording_refused(r->cli, r->request.argv[0], error, diag, more);
}

static double seconds_between(const struct timespec *t0, const struct timespec *t1)
{
    return (double)(t1->tv_sec - t0->tv_sec) + 1e-9 * (double)(t1->tv_nsec - t0->tv_nsec);
}

/* Prints the summary of a run that is sealed. Returns the exit status. */
static int conclude(struct record *r, const struct vs_writer_stats *written)
{
    const struct vs_engine_result *c = &r->result;
    int status;

    r->sealed = written->bytes;
    status = summary_stats(r);
    if (*c->gave_up) {
        /* It was not the program that ended but the engine, whose status means nothing. */
        cli_error(r->cli, "%s: %s; what ran until then is in %s", r->request.argv[0], c->gave_up,
                  r->path);
        return CLI_USAGE;
    }
    if (!r->o->shows.quiet) {
        warn_places(r);
        if (!r->o->json)
            summary_text(r, written);
    }
    return status == CLI_DONE ? exit_status(r) : status;
}

static int finish(struct record *r)
{
    struct vs_writer_stats written;
    struct vs_diag diag;
    const char *missing = missing_place(r);
    struct timespec t0, t1;
    int e;

    if (missing) {
        recording_release_signals();
        vs_writer_abort(r->writer);
        cli_error(r->cli,
                  "no routine '%s' in the program or its libraries; 'nm -C' lists what there is",
                  missing);
        return CLI_USAGE;
    }
    r->incomplete = incomplete(r);
    put_ending(r);
    clock_gettime(CLOCK_MONOTONIC, &t0);
    if ((e = vs_writer_flush(r->writer)) < 0) {
        diag = *vs_writer_diag(r->writer);
        uint64_t events = vs_writer_keep(r->writer);
        recording_release_signals();
        return report_saved(r, e, &diag, true, events);
    }
    vs_writer_stats(r->writer, &written);
    /* Signals stay caught to the end: a user who insists may send another one, and the status has
     * to be the program's. */
    if ((e = vs_writer_seal(r->writer, &diag)) < 0) {
        recording_release_signals();
        if (!written.events)
            remove_partial(r->path);
        return report_saved(r, e, &diag, true, written.events);
    }
    clock_gettime(CLOCK_MONOTONIC, &t1);
    r->result.more += seconds_between(&t0, &t1);
    return conclude(r, &written);
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

static int record(struct record *r, char **argv)
{
    const struct record_options *o = r->o;
    struct vs_writer_options w = {.workers = 2, .overwrite = o->overwrite};
    struct vs_engine_request *c = &r->request;
    struct vs_consumer consumer;
    struct vs_diag diag = {0};
    char program[PATH_MAX];
    bool theirs;
    int e;

    *c = (struct vs_engine_request){.argv = argv,
                                    .loads = !o->control_only,
                                    .stores = !o->control_only && !o->loads,
                                    .inputs = o->inputs,
                                    .light = o->inputs && !o->all,
                                    .whole = o->whole,
                                    .windows = r->windows,
                                    .window_count = r->window_count,
                                    .places = r->places,
                                    .place_count = r->place_count,
                                    .main_only = o->main_only,
                                    .marks = o->marks,
                                    .consumer = &consumer,
                                    .tick = tick,
                                    .context = r};
    r->features = (c->loads ? VS_RUN_LOADS : 0u) | (c->stores ? VS_RUN_STORES : 0u) |
                  (c->inputs ? VS_RUN_INPUTS : 0u) | (c->light ? VS_RUN_SHORT : 0u);
    e = r->row->settle ? r->row->settle(&o->own, &r->settings, &diag) : 0;
    c->settings = r->settings;
    if (e < 0 || (e = r->row->engine->check(c, &r->features, &diag)) < 0)
        return recording_refused(r->cli, argv[0], e, &diag, "");
    w.features = r->features;
    if (vs_find_program(argv[0], program, sizeof(program)) == 0 &&
        !cli_may_write(r->cli, r->path, program))
        return CLI_USAGE;
    r->stats = (struct recording_stats){
        .path = o->stats, .json = o->json, .overwrite = o->overwrite, .fd = -1, .file.fd = -1};
    if ((e = vs_writer_open(&r->writer, r->path, &w, &diag)) < 0)
        return cli_report_output(r->cli, r->path, e, &diag);
    if (!recording_stats_open(r->cli, &r->stats)) {
        vs_writer_abort(r->writer);
        return CLI_USAGE;
    }
    if ((e = put_facts(r, argv)) < 0 || (e = put_config(r)) < 0) {
        e = cli_report(r->cli, r->path, e, vs_writer_diag(r->writer));
        vs_writer_abort(r->writer);
        return e;
    }
    r->before = (struct vs_before){.to = vs_consumer_writer(r->writer), .put = put, .context = r};
    consumer = vs_consumer_before(&r->before);
    recording_progress(&r->progress, &o->shows, "recording");
    r->progress.more = r->written;
    c->interrupt = recording_catch_signals(r->row->engine->apart);
    e = r->row->engine->run(c, &r->result, &diag, &theirs);
    vs_progress_finish(&r->progress);
    if (e < 0) {
        if (theirs)
            diag = *vs_writer_diag(r->writer);
        uint64_t events = vs_writer_keep(r->writer);
        recording_release_signals();
        return report_saved(r, e, &diag, theirs, events);
    }
    return finish(r);
}

/* The default name of a run: the program's. */
static const char *default_path(const char *program, char *path, size_t capacity)
{
    const char *slash = strrchr(program, '/');

    snprintf(path, capacity, "%s.vest", slash ? slash + 1 : program);
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
        r->o = &o;
        r->path = o.output ? o.output : default_path(argv[0], path, sizeof(path));
        r->row = choose_engine(r, argv[0]);
        if (r->row && settle_options(r)) {
            r->stats.fd = r->stats.file.fd = -1;
            status = record(r, program);
            recording_stats_abort(&r->stats);
            vs_engine_result_fini(&r->result);
            if (r->row->unsettle)
                r->row->unsettle(r->settings);
        }
    }
    free(program);
    free(r);
    return status;
}

#define FIELD(member) offsetof(struct record_options, member)

#define ENGINE_HELP(name, what) #name ": " what

static const struct cli_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the run to FILE (PROGRAM.vest in this folder)",
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
     .help = "record control flow, loads and stores with values (the\n"
             "default)",
     .offset = FIELD(all)},
    {.name = "loads", .help = "record control flow and loads", .offset = FIELD(loads)},
    {.name = "control-only", .help = "record only control flow", .offset = FIELD(control_only)},
    {.name = "inputs",
     .help = "record only what comes from outside the program;\n"
             "the rest is executed again when the run is read\n"
             "(with --all: record both)",
     .offset = FIELD(inputs)},
    {.name = "self-contained",
     .help = "with --inputs: keep what mapped files hold in the run,\n"
             "instead of their names",
     .offset = FIELD(whole)},
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
    {.name = "marks",
     .help = "record only between vestige_start() and vestige_stop()\n"
             "in the program (vestige/mark.h)",
     .offset = FIELD(marks)},
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
        "not recorded.",
    .example = "vestige record -o sort.vest -- sort -u words.txt\n"
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
