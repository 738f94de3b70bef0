/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/infile.h"
#include "base/outfile.h"
#include "base/progress.h"
#include "base/workers.h"
#include "cli/commands.h"
#include "cli/specs.h"
#include "cli/sweep_page.h"
#include "cli/sweep_print.h"
#include "cli/sweep_sqlite.h"
#include "front/json.h"
#include "sweep/record.h"
#include "sweep/search.h"
#include "sweep/slurm.h"
#include "sweep/table.h"

struct sweep_options {
    struct option_list techniques, settings, defines;
    struct option_list slurm;
    const char *store, *output, *sqlite, *page;
    uint64_t jobs, seconds, task;
    unsigned engine;
    bool csv, json, frontier, status, retry, force;
};

struct sweeping {
    struct cli *cli;
    struct sweep_options o;
    const char *name; /* of the study, for messages */
    struct vs_sweep_study study;
    struct vs_sweep sweep;
    struct vs_sweep_table table;
    size_t shown;
    size_t *frontier;
    size_t frontier_count;
    struct vs_search_result searched;
    char self[PATH_MAX]; /* this program */
    struct vs_progress progress;
};

enum engine { LOCAL, SLURM, ENGINES };

static const char *engine_name(unsigned number)
{
    static const char *const names[] = {"local", "slurm"};
    return names[number];
}

static int refuse(struct sweeping *w, int error, const struct vs_diag *diag)
{
    cli_error(w->cli, "%s", diag->text[0] ? diag->text : vs_errstr(error));
    return error == -VSE_CORRUPT ? CLI_BAD_DATA : CLI_USAGE;
}

/* ---- the study ------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

/* Returns CLI_DONE, or the status after a message. */
static int read_study(struct sweeping *w, const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_infile *f = malloc(sizeof(*f));
    struct vs_buf text = {0};
    int64_t n = 1;
    int e = f ? vs_infile_open(f, path, &diag) : -VSE_NOMEM;
    bool open = f && !e;
    while (!e && n > 0) {
        e = text.len > VS_SWEEP_SIZE ? -VSE_LIMIT : vs_buf_reserve(&text, VS_INFILE_BUFFER);
        if (!e && (n = vs_infile_bytes(f, text.data + text.len, VS_INFILE_BUFFER, &diag)) < 0)
            e = (int)n;
        else if (!e)
            text.len += (size_t)n;
    }
    if (open)
        vs_infile_close(f);
    free(f);
    int status = CLI_DONE;
    if (e)
        status = cli_report(w->cli, path, e, &diag);
    else if ((e = vs_sweep_study_parse(&w->study, path, true, (const char *)text.data, text.len,
                                       &diag)))
        status = refuse(w, e, &diag);
    vs_buf_fini(&text);
    return status;
}

/* Adds "before" and a value, as a line of a study. */
static int add_line(struct sweeping *w, struct vs_buf *text, const char *before, const char *value)
{
    if (strpbrk(value, "\n\r")) {
        cli_error(w->cli, "'%.60s' is more than one line", value);
        return CLI_USAGE;
    }
    if (!vs_buf_print(text, "%s%s\n", before, value))
        return CLI_DONE;
    cli_error(w->cli, "out of memory");
    return CLI_USAGE;
}

static int add_list(struct sweeping *w, struct vs_buf *text, const char *section,
                    const struct option_list *list)
{
    int status = list->count ? add_line(w, text, "", section) : CLI_DONE;
    for (size_t i = 0; i < list->count && status == CLI_DONE; i++)
        status = add_line(w, text, "", list->items[i]);
    return status;
}

/* What the options say is a study, too, which is read after the files. */
static int take_options(struct sweeping *w, int count, char **operands)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_buf text = {0};
    int status = add_list(w, &text, "[variables]", &w->o.defines);
    if (status == CLI_DONE)
        status = add_list(w, &text, "[sweep]", &w->o.settings);
    if (status == CLI_DONE)
        status = add_list(w, &text, "[techniques]", &w->o.techniques);
    if (status == CLI_DONE)
        status = add_line(w, &text, "", "[runs]");
    for (int i = 0; i < count && status == CLI_DONE; i++)
        if (!ends_in(operands[i], ".ini"))
            status = add_line(w, &text, "path = ", operands[i]);
    int e = status == CLI_DONE ? vs_sweep_study_parse(&w->study, "command line", false,
                                                      (const char *)text.data, text.len, &diag)
                               : 0;
    vs_buf_fini(&text);
    return e ? refuse(w, e, &diag) : status;
}

static int read_all(struct sweeping *w, int count, char **operands)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    int status = CLI_DONE;
    w->name = NULL;
    for (int i = 0; i < count && status == CLI_DONE; i++)
        if (ends_in(operands[i], ".ini")) {
            w->name = w->name ? w->name : operands[i];
            status = read_study(w, operands[i]);
        }
    if (status == CLI_DONE)
        status = take_options(w, count, operands);
    w->name = w->name ? w->name : "command line";
    int e = status == CLI_DONE ? vs_sweep_study_check(&w->study, w->name, &diag) : 0;
    return e ? refuse(w, e, &diag) : status;
}

/* The folder of the results, unless one is given: beside the study. */
static char *default_store(const char *name)
{
    char *path;
    bool study = ends_in(name, ".ini");
    int n = study ? (int)strlen(name) - 4 : (int)strlen("vestige");
    return asprintf(&path, "%.*s.sweep", n, study ? name : "vestige") < 0 ? NULL : path;
}

/* ---- signals --------------------------------------------------------------------------------- */

/* Static because a signal's handler reaches nothing else. */
static atomic_bool stop;
static volatile sig_atomic_t stopped_by;

static void note_stop(int number)
{
    if (stopped_by) { /* who insists is obeyed at once: the store has nothing half */
        signal(number, SIG_DFL);
        raise(number);
    }
    stopped_by = number;
    atomic_store(&stop, true);
}

/* What was ignored at the start, as by nohup, stays ignored. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = note_stop, .sa_flags = SA_RESTART};
    struct sigaction before;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}

/* ---- measuring ------------------------------------------------------------------------------- */

/* Says for each run of which nothing could be measured why, and where it is named. */
static int report_runs(struct sweeping *w)
{
    const struct vs_sweep *s = &w->sweep;
    int status = CLI_DONE;
    for (size_t run = 0; run < s->runs.count; run++) {
        const struct vs_sweep_source *source = s->runs.items[run].source;
        size_t failed = 0;
        const char *why = NULL;
        for (size_t point = 0; point < s->points.count; point++) {
            size_t unit = vs_sweep_unit_of(s, point, run);
            if (s->state[unit] != VS_UNIT_FAILED || s->points.items[point].wrong)
                continue;
            failed++;
            why = why ? why : s->wrong[unit];
        }
        if (!failed)
            continue;
        if (source->line)
            cli_error(w->cli, "%s:%u: %s: %zu of %zu points failed: %s", source->study,
                      source->line, s->runs.items[run].name, failed, s->points.count, why);
        else
            cli_error(w->cli, "%s: %zu of %zu points failed: %s", s->runs.items[run].name, failed,
                      s->points.count, why);
        status = CLI_BAD_DATA;
    }
    return status;
}

static unsigned job_count(const struct sweeping *w)
{
    return w->o.jobs ? (unsigned)w->o.jobs : vs_workers_beside() + 1;
}

/* Measures what is wanted, here or on a cluster. */
static int measure_wanted(void *context, const struct vs_sweep_wanted *wanted, struct vs_diag *diag)
{
    struct sweeping *w = context;
    const struct vs_slurm slurm = {.vestige = w->self,
                                   .options = w->o.slurm.items,
                                   .option_count = w->o.slurm.count,
                                   .seconds = w->o.seconds};
    if (w->o.engine == SLURM)
        return vs_slurm_measure(&w->sweep, &slurm, wanted, &stop, &w->progress, diag);
    return vs_sweep_measure_all(&w->sweep, wanted, job_count(w), &stop, &w->progress, diag);
}

static int measure(struct sweeping *w)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_sweep *s = &w->sweep;
    bool grid = w->study.search == VS_SWEEP_GRID;
    vs_progress_init(&w->progress, stderr, "measuring", grid ? s->units - s->done - s->failed : 0,
                     "units");
    int e = grid ? measure_wanted(w, NULL, &diag)
                 : vs_sweep_search(s, &w->table, measure_wanted, w, &w->searched, &diag);
    vs_progress_finish(&w->progress);
    if (e == -VSE_END) {
        cli_error(w->cli, "stopped: %s of %s units are done; the same command goes on",
                  DIGITS(s->done + s->failed), DIGITS(s->units));
        return CLI_USAGE;
    }
    if (e == -VSE_IO)
        cli_error(w->cli, "%s; what is done stays done, and the same command goes on", diag.text);
    return e == -VSE_IO ? CLI_USAGE : e ? refuse(w, e, &diag) : CLI_DONE;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* In units of which there are some. */
static void print_time_left(struct out *out, uint64_t seconds)
{
    if (seconds < 120)
        out_printf(out, "about %s s are left, as fast as so far\n", DIGITS(seconds));
    else if (seconds < UINT64_C(120) * 60)
        out_printf(out, "about %s min are left, as fast as so far\n", DIGITS((seconds + 30) / 60));
    else
        out_printf(out, "about %s h are left, as fast as so far\n",
                   DIGITS((seconds + 1800) / 3600));
}

static void print_state(struct sweeping *w)
{
    struct vs_sweep *s = &w->sweep;
    uint64_t left = 0;
    bool known = w->o.status && vs_sweep_seconds_left(s, &left);
    struct out *out = &w->cli->out;
    uint64_t all = s->units, missing = all - s->done - s->failed;
    if (w->o.json) {
        struct json j;
        json_init(&j, out, 0);
        json_object(&j, NULL);
        json_str(&j, "study", w->name);
        json_u64(&j, "runs", s->runs.count);
        json_u64(&j, "points", s->points.count);
        json_u64(&j, "excluded", s->points.excluded);
        json_u64(&j, "doubles", s->points.doubles);
        json_u64(&j, "units", all);
        json_u64(&j, "done", s->done);
        json_u64(&j, "failed", s->failed);
        json_u64(&j, "missing", missing);
        if (known)
            json_u64(&j, "seconds_left", left);
        else
            json_null(&j, "seconds_left");
        json_end(&j);
        return;
    }
    out_safe(out, w->name);
    out_printf(out, ": %s runs, %s points, %s units: %s done, %s failed, %s missing\n",
               DIGITS(s->runs.count), DIGITS(s->points.count), DIGITS(all), DIGITS(s->done),
               DIGITS(s->failed), DIGITS(missing));
    if (known)
        print_time_left(out, left);
    if (s->points.excluded)
        out_printf(out, "%s points break a constraint and were left out\n",
                   DIGITS(s->points.excluded));
    if (s->points.doubles)
        out_printf(out, "%s points are equal to others and were left out\n",
                   DIGITS(s->points.doubles));
}

/* What a search did not try. */
static void print_search(struct sweeping *w)
{
    if (w->study.search != VS_SWEEP_GRID)
        out_printf(&w->cli->out,
                   "tried %s units of a budget of %s: %s points on all runs, %s on some; %s points "
                   "were never tried\n",
                   DIGITS(w->searched.units), DIGITS(w->study.budget), DIGITS(w->searched.whole),
                   DIGITS(w->searched.partly), DIGITS(w->searched.untried));
}

static int find_frontier(struct sweeping *w)
{
    int64_t n = vs_sweep_frontier(&w->table, &w->frontier);
    if (n < 0) {
        cli_error(w->cli, "out of memory");
        return CLI_USAGE;
    }
    w->frontier_count = (size_t)n;
    return CLI_DONE;
}

static int print_to(struct sweeping *w, struct out *out)
{
    struct sweep_rows rows = {.table = &w->table, .shown = w->shown};
    int e = 0;
    if (w->o.frontier || (!w->o.csv && !w->o.json)) {
        rows.points = w->frontier;
        rows.point_count = w->frontier_count;
    }
    if (w->o.json)
        e = sweep_print_json(out, &rows);
    else if (w->o.csv)
        e = sweep_print_csv(out, &rows);
    else
        sweep_print_frontier(out, &rows);
    if (!e)
        return CLI_DONE;
    cli_error(w->cli, "out of memory");
    return CLI_USAGE;
}

/* Prints to the file that was asked for, which gets its name when it is complete. */
static int print_to_file(struct sweeping *w)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_outfile f = {.fd = -1};
    struct out out;
    int e = vs_outfile_open(&f, w->o.output, w->o.force, &diag);
    if (e)
        return cli_report_output(w->cli, w->o.output, e, &diag);
    out_init(&out, f.fd);
    int status = print_to(w, &out);
    if (out_flush(&out)) {
        cli_error(w->cli, "%s: cannot write: %s", w->o.output, strerror(out.error));
        status = CLI_USAGE;
    }
    out_fini(&out);
    if (status == CLI_DONE && (e = vs_outfile_commit(&f, &diag)))
        status = cli_report_output(w->cli, w->o.output, e, &diag);
    vs_outfile_abort(&f);
    return status;
}

static int print_all(struct sweeping *w)
{
    int status = find_frontier(w);
    if (status != CLI_DONE)
        return status;
    if (w->o.sqlite) {
        const struct sweep_rows rows = {.table = &w->table, .shown = w->shown};
        status = sweep_write_sqlite(w->cli, w->o.sqlite, w->o.force, &rows, w->frontier,
                                    w->frontier_count);
    }
    if (status == CLI_DONE && w->o.page) {
        const struct sweep_rows rows = {.table = &w->table, .shown = w->shown};
        status = sweep_write_page(w->cli, w->o.page, w->o.force, w->name, &rows, w->frontier,
                                  w->frontier_count);
    }
    if (status != CLI_DONE)
        return status;
    if (!w->o.csv && !w->o.json) {
        print_state(w);
        print_search(w);
    }
    return w->o.output ? print_to_file(w) : print_to(w, &w->cli->out);
}

/* ---- the command ----------------------------------------------------------------------------- */

static bool has_commands(const struct sweeping *w)
{
    for (size_t i = 0; i < w->sweep.runs.count; i++)
        if (w->sweep.runs.items[i].command)
            return true;
    return false;
}

/* Recordings are made by this program, as are a cluster's tasks. */
static int find_self(struct sweeping *w, struct vs_diag *diag)
{
    ssize_t n = readlink("/proc/self/exe", w->self, sizeof(w->self) - 1);
    if (n < 0)
        return vs_diag_io(diag, "cannot read", "/proc/self/exe");
    w->self[n] = 0;
    return 0;
}

static int record(struct sweeping *w, struct vs_diag *diag)
{
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "recording", 0, "runs");
    int e = vs_sweep_record(&w->sweep, w->o.status ? NULL : w->self, job_count(w), &stop, &progress,
                            diag);
    vs_progress_finish(&progress);
    return e;
}

static int prepare(struct sweeping *w)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    char *folder = w->o.store ? strdup(w->o.store) : default_store(w->name);
    int e = folder ? vs_sweep_table_init(&w->table, &w->study, &w->shown, &diag) : -VSE_NOMEM;
    if (!e)
        e = vs_sweep_init(&w->sweep, &w->study, folder, w->o.status, &diag);
    free(folder);
    e = e ? e : find_self(w, &diag);
    if (!e && has_commands(w))
        e = record(w, &diag);
    if (!e) {
        vs_progress_init(&progress, stderr, "looking at runs", w->sweep.runs.count, "runs");
        e = vs_sweep_look(&w->sweep, w->table.measures, w->table.measure_count, &stop, &progress,
                          &diag);
        vs_progress_finish(&progress);
    }
    if (!e)
        e = vs_sweep_table_bind(&w->table, &w->sweep, &diag);
    if (!e)
        e = vs_sweep_load(&w->sweep, w->o.retry, &diag);
    if (w->sweep.damaged)
        cli_error(w->cli, "%u damaged files of results %s; they are measured again",
                  w->sweep.damaged, w->o.status ? "are of no use" : "were removed");
    if (e == -VSE_END) {
        cli_error(w->cli, "stopped before anything was measured; the same command goes on");
        return CLI_USAGE;
    }
    return e ? refuse(w, e, &diag) : CLI_DONE;
}

/* What a task of a cluster runs: the operand is a file of tasks. */
static int run_task(struct sweeping *w, int count, char **operands)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    if (count != 1) {
        cli_error(w->cli, "--task takes one file of tasks");
        return CLI_USAGE;
    }
    int e = vs_slurm_work(operands[0], w->o.task, &diag);
    return e ? cli_report(w->cli, operands[0], e, &diag) : CLI_DONE;
}

static int sweep(struct sweeping *w, int count, char **operands)
{
    if (w->o.task != UINT64_MAX)
        return run_task(w, count, operands);
    int status = read_all(w, count, operands);
    if (status == CLI_DONE)
        status = prepare(w);
    if (status == CLI_DONE && w->o.status) {
        print_state(w);
        return CLI_DONE;
    }
    if (status == CLI_DONE)
        status = measure(w);
    if (status != CLI_DONE)
        return status;
    status = report_runs(w);
    return cli_worse(status, print_all(w));
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct sweeping *w = calloc(1, sizeof(*w));
    int status;
    if (!w) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    w->cli = cli;
    w->o.task = UINT64_MAX;
    w->o.seconds = 60;
    if (!options_parse(cli, &command_sweep, &w->o, &argc, argv, &status)) {
        free(w);
        return status;
    }
    vs_sweep_study_init(&w->study);
    if (w->o.csv && w->o.json) {
        cli_error(cli, "--json and --csv exclude each other");
        status = CLI_USAGE;
    } else {
        if (w->o.task == UINT64_MAX) /* a task that is to end ends at once */
            catch_signals();
        status = sweep(w, argc, argv);
    }
    free(w->frontier);
    vs_sweep_table_fini(&w->table);
    vs_sweep_fini(&w->sweep);
    vs_sweep_study_fini(&w->study);
    free(w);
    if (stopped_by) { /* whoever waits for us learns what ended us */
        out_flush(&cli->out);
        signal(stopped_by, SIG_DFL);
        raise(stopped_by);
    }
    return status;
}

#define FIELD(member) offsetof(struct sweep_options, member)

static const struct cli_option options[] = {
    {.name = "technique",
     .letter = 't',
     .argument = "TEMPLATE",
     .help = "measure these points, too; may be repeated",
     .type = OPTION_LIST,
     .offset = FIELD(techniques),
     .offer = specs_offer},
    {.name = "set",
     .argument = "KEY=VALUE",
     .help = "a line of the study's section [sweep], as in\n"
             "'constraint=gates<=20k'; may be repeated",
     .type = OPTION_LIST,
     .offset = FIELD(settings)},
    {.name = "define",
     .argument = "NAME=VALUE",
     .help = "what {NAME} stands for in paths and commands; may be\n"
             "repeated",
     .type = OPTION_LIST,
     .offset = FIELD(defines)},
    {.name = "store",
     .argument = "FOLDER",
     .help = "where results are kept (default: beside the study,\n"
             "STUDY.sweep)",
     .type = OPTION_STRING,
     .offset = FIELD(store)},
    {.name = "jobs",
     .letter = 'j',
     .argument = "N",
     .help = "measure with N threads (default: one per processor)",
     .type = OPTION_U64,
     .offset = FIELD(jobs),
     .min = 1,
     .max = 1024},
    {.name = "engine",
     .letter = 'e',
     .argument = "NAME",
     .help = "where units are measured: on this machine, or by\n"
             "tasks of a Slurm cluster that has the folders, too:",
     .type = OPTION_ENUM,
     .offset = FIELD(engine),
     .number_name = engine_name,
     .first = LOCAL,
     .end = ENGINES},
    {.name = "slurm",
     .argument = "OPTION",
     .help = "an option for sbatch, such as --partition=long; may be\n"
             "repeated",
     .type = OPTION_LIST,
     .offset = FIELD(slurm)},
    {.name = "seconds",
     .argument = "N",
     .help = "about how long a task of a cluster takes (default: 60)",
     .type = OPTION_U64,
     .offset = FIELD(seconds),
     .min = 1,
     .max = 1000000},
    {.name = "task",
     .argument = "N",
     .help = "measure what this task of a file of tasks is to; it is\n"
             "what a cluster runs",
     .type = OPTION_U64,
     .offset = FIELD(task),
     .max = UINT32_MAX},
    {.name = "status", .help = "measure nothing; show how much is done", .offset = FIELD(status)},
    {.name = "retry", .help = "measure again what failed", .offset = FIELD(retry)},
    {.name = "frontier",
     .help = "with --csv or --json: only the points of the frontier",
     .offset = FIELD(frontier)},
    {.name = "output",
     .letter = 'o',
     .argument = "FILE",
     .help = "write the table to FILE",
     .type = OPTION_STRING,
     .offset = FIELD(output)},
    {.name = "sqlite",
     .argument = "FILE",
     .help = "also write the table to FILE, as a database",
     .type = OPTION_STRING,
     .offset = FIELD(sqlite)},
    {.name = "page",
     .argument = "FILE",
     .help = "also write a page that a browser shows: a chart of the\n"
             "points and a table",
     .type = OPTION_STRING,
     .offset = FIELD(page)},
    {.name = "force", .letter = 'f', .help = "replace FILE if it exists", .offset = FIELD(force)},
    {.name = "json", .help = "print a JSON object per row", .offset = FIELD(json)},
    {.name = "csv", .help = "print the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_sweep = {
    .name = "sweep",
    .summary = "measure many trace modules on many runs, and find the best",
    .run = run,
    .options = options,
    .operands = "study.ini|run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Measures each point of a grid of trace modules on each run, and prints the\n"
        "frontier: the points that nothing beats in both figures, which are bits and\n"
        "gates unless the study says otherwise. A study is a file that names runs and\n"
        "templates; docs/sweeps.md describes it. A TEMPLATE is a SPEC in which values are\n"
        "ranges: mcfTR_e:gshare=256..8192*2,ras=4|8|16,hash=*.\n"
        "\n"
        "What is measured is kept. A sweep that was stopped or killed, or whose study\n"
        "grew, goes on where it was, and its table is the same as that of one that was\n"
        "not. What failed is in the table, with the reason.\n"
        "\n"
        "Numbers in constraints may end in k, m or g, which are powers of 1000.",
    .example = "vestige sweep study.ini\n"
               "vestige sweep --csv -o table.csv study.ini\n"
               "vestige sweep -t 'mcfTR_e:gshare=256..8192*2,ras=4|8' *.vest\n"
               "vestige sweep --set 'constraint=gates<=20k' -t mcfTA:2K|8K run.vest",
    .exits = "0  done\n"
             "1  points failed; the table says why\n"
             "2  bad usage, or the system refused something",
};
