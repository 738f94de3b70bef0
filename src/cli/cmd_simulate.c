/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "engine/place.h"
#include "front/core_facts.h"
#include "front/recording.h"
#include "front/simulation.h"

struct simulate_options {
    struct simulation_options simulation;
    struct recording_shows shows;
    const char *stats;
    bool list, json, overwrite;
};

/* ---- the parameters -------------------------------------------------------------------------- */

struct setting {
    const char *name, *help;
    char value[VS_PARAMETER_TEXT];
};

static bool setting_at(const void *config, size_t i, void *element)
{
    const struct vs_parameter *p = &vs_target_parameters[i];
    struct setting *s = element;

    if (!p->name)
        return false;
    s->name = p->name;
    s->help = p->help;
    vs_parameter_text(p, config, s->value);
    return true;
}

static const char *setting_name(const void *element)
{
    return ((const struct setting *)element)->name;
}

static struct cell setting_value(const void *row)
{
    return cell_word(((const struct setting *)row)->value);
}

static const struct report_rows setting_rows = {
    .size = sizeof(struct setting), .at = setting_at, .name = setting_name};

/* In text, this is a file that --platform takes. */
static const struct report_column setting_columns[] = {
    {.json = "", .text = "value", .get = setting_value, .width = -11, .before = " = "},
    {.text = "help", .kind = CELL_WORD, REPORT_IN(setting, help), .before = "  # "},
    {0},
};

static const struct report_column list_columns[] = {
    {.json = "platform", .rows = &setting_rows, .group = setting_columns},
    {0},
};

static void print_list(struct out *out, const struct vs_target_config *config, bool json)
{
    struct setting s;

    if (json) {
        report_json_line(out, list_columns, config);
        return;
    }
    for (size_t i = 0; setting_at(config, i, &s); i++) {
        out_printf(out, "%-12s", s.name);
        report_table_row(out, setting_columns, &s, 0);
    }
}

static int list(struct cli *cli, const struct simulate_options *o)
{
    struct vs_target_config config;
    struct vs_diag diag;

    if (simulation_config(&o->simulation, &config, &diag) < 0) {
        cli_error(cli, "%s", diag.text);
        return CLI_USAGE;
    }
    print_list(&cli->out, &config, o->json);
    return CLI_DONE;
}

/* ---- running --------------------------------------------------------------------------------- */

static int tick(void *context, const struct vs_machine_stats *stats)
{
    vs_progress_update(context, stats->instructions);
    return 0;
}

static void print_text(const struct vs_machine_result *result, bool timed)
{
    struct out err;
    char a[32], b[32], why[SIMULATION_TEXT];
    const struct vs_machine_stats *s = &result->stats;

    recording_tell("%s instructions, %s thread%s, %u core%s in %.1f s (%.1f M/s)",
                   group_digits(a, s->instructions), DIGITS(s->threads), s->threads == 1 ? "" : "s",
                   s->cores, s->cores == 1 ? "" : "s", result->seconds,
                   result->seconds > 0 ? 1e-6 * (double)s->instructions / result->seconds : 0);
    simulation_notes(result);
    if (simulation_incomplete(result, why))
        recording_tell("%s", simulation_incomplete(result, why));
    else
        recording_tell_signal(result->status);
    if (!timed)
        return;
    recording_tell("%s cycles, %.3f instructions per cycle", group_digits(b, s->cycles),
                   s->cycles ? (double)s->instructions / (double)s->cycles : 0);
    out_init(&err, STDERR_FILENO);
    core_facts_text(&err, &(struct core_facts){s->core, s->cores}, s->cycles);
    out_flush(&err);
}

struct simulated {
    struct core_facts cores;
    uint64_t instructions, threads, cycles, exit;
    bool timed;
    double seconds;
    const char *incomplete; /* NULL if it is complete */
};

static bool was_timed(const void *row)
{
    return ((const struct simulated *)row)->timed;
}

static const struct report_column columns[] = {
    REPORT_COUNT(simulated, instructions),
    REPORT_COUNT(simulated, threads),
    {.json = "cycles", REPORT_AT(simulated, cycles), .known = was_timed},
    {.json = "seconds", .kind = CELL_REAL, REPORT_IN(simulated, seconds), .json_places = 3},
    REPORT_COUNT(simulated, exit),
    REPORT_TEXT(simulated, incomplete),
    {.json = "cores",
     .rows = &core_fact_rows,
     .group = core_fact_columns,
     REPORT_IN(simulated, cores)},
    {0},
};

static int print_stats(struct cli *cli, struct recording_stats *stats,
                       const struct vs_machine_result *result, bool timed)
{
    const struct vs_machine_stats *s = &result->stats;
    char why[SIMULATION_TEXT];
    const struct simulated row = {
        .cores = {s->core, s->cores},
        .instructions = s->instructions,
        .threads = s->threads,
        .cycles = s->cycles,
        .exit = (uint64_t)simulation_status(result),
        .timed = timed,
        .seconds = result->seconds,
        .incomplete = simulation_incomplete(result, why),
    };

    return recording_stats_print(cli, stats, columns, &row);
}

static int simulate(struct cli *cli, const struct simulate_options *o,
                    struct recording_stats *stats, char **argv)
{
    struct vs_machine_options m = {.tick = tick};
    struct vs_machine_result *result = calloc(1, sizeof(*result));
    struct vs_progress progress;
    struct vs_diag diag = {0};
    char path[4096], **env = simulation_env(&o->simulation);
    bool theirs;
    int e = result && env ? 0 : -VSE_NOMEM, status = CLI_USAGE;

    if (e == 0 && (e = vs_find_program(argv[0], path, sizeof(path))) < 0)
        snprintf(diag.text, sizeof(diag.text), "no such program"), diag.error = e;
    if (e == 0)
        e = simulation_config(&o->simulation, &m.config, &diag);
    if (e == 0) {
        m.process.path = path;
        m.process.argv = argv;
        m.process.envp = env;
        recording_progress(&progress, &o->shows, "simulating");
        m.context = &progress;
        m.interrupt = recording_catch_signals(false);
        e = vs_machine_run(&m, result, &diag, &theirs);
        recording_release_signals();
        vs_progress_finish(&progress);
    }
    if (e < 0) {
        recording_refused(cli, argv[0], e, &diag, "");
        status = e == -VSE_INTERNAL ? CLI_BAD_DATA : CLI_USAGE;
    } else {
        int printing = print_stats(cli, stats, result, m.config.timed);
        if (!o->json && !o->shows.quiet)
            print_text(result, m.config.timed);
        status = printing == CLI_DONE ? simulation_status(result) : printing;
    }
    simulation_free_env(env);
    free(result);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct simulate_options o = {0};
    struct recording_stats stats;
    char **program;
    int status;

    if (!options_parse(cli, &command_simulate, &o, &argc, argv, &status))
        return status;
    if (o.list)
        return list(cli, &o);
    if (!recording_shows_check(cli, &o.shows))
        return CLI_USAGE;
    if (!argc) {
        cli_error(cli, "no program; see 'vestige simulate --help'");
        return CLI_USAGE;
    }
    program = calloc((size_t)argc + 1, sizeof(*program));
    if (!program) {
        cli_error(cli, "out of memory");
        return CLI_USAGE;
    }
    memcpy(program, argv, (size_t)argc * sizeof(*program));
    status = CLI_USAGE;
    stats = (struct recording_stats){.path = o.stats, .json = o.json, .overwrite = o.overwrite};
    if (recording_stats_open(cli, &stats)) {
        status = simulate(cli, &o, &stats, program);
        recording_stats_abort(&stats);
    }
    free(program);
    return status;
}

static const struct cli_option options[] = {
    SIMULATION_OPTIONS(offsetof(struct simulate_options, simulation)),
    RECORDING_SHOWS(offsetof(struct simulate_options, shows)),
    {.name = "list",
     .help = "print the parameters of the platform, as --platform\n"
             "reads them",
     .offset = offsetof(struct simulate_options, list)},
    {.name = "json",
     .help = "print the statistics, or the list, as a JSON object on\n"
             "standard output; the program's own output goes to\n"
             "standard error",
     .offset = offsetof(struct simulate_options, json)},
    {.name = "stats",
     .argument = "FILE",
     .help = "write the statistics as a JSON object to FILE, which\n"
             "may be /dev/fd/N; the program keeps standard output",
     .type = OPTION_STRING,
     .offset = offsetof(struct simulate_options, stats)},
    {.name = "force",
     .letter = 'f',
     .help = "replace FILE if it exists",
     .offset = offsetof(struct simulate_options, overwrite)},
    {0},
};

const struct command command_simulate = {
    .name = "simulate",
    .summary = "run an RV64 program on the simulated platform",
    .run = run,
    .options = options,
    .takes_program = true,
    .operands = "[--] PROGRAM [ARGUMENT...]",
    .operands_min = 0,
    .operands_max = INT_MAX,
    .description = "Runs a static RV64 Linux program on simulated cores; with --timed, these have\n"
                   "pipelines and coherent caches. Nothing is recorded. Runs are deterministic;\n"
                   "--seed chooses another interleaving. 'vestige record' records such a run.",
    .example = "vestige simulate --cores 4 --timed --preset cs16 ./prog -p 4\n"
               "vestige simulate --list >platform.conf",
    .exits = "0  the program ended with 0\n"
             "1  caches were found incoherent, or all threads are waiting for ever\n"
             "2  bad usage; or the program could not be run, or touched more memory than it\n"
             "   may\n"
             "else the program's own status; 128 + N if signal N ended it",
};
