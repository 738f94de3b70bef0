/* SPDX-License-Identifier: MIT */
#include "cli/cmd_bandwidth.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cli/commands.h"
#include "cli/plugin.h"
#include "cli/figures.h"
#include "front/plot.h"
#include "front/runs.h"
#include "cli/shares.h"
#include "cli/specs.h"

struct bandwidth {
    struct cli *cli;
    const struct bandwidth_options *o;
    struct vs_bandwidth_options study;
    struct vs_spec_list specs;
    struct vs_bandwidth_figures *sums; /* one for each spec */
    int64_t *rows;                     /* for each spec, its row in this run, or -1 */
    struct plot *plot;                 /* NULL if there is none */
    unsigned runs;                     /* how many were measured */
    size_t top;                        /* so many places are told apart; 0: all */
    struct region region;
    struct vs_sampling_plan plan; /* period 0: everything counts */
};

/* ---- the buffer ------------------------------------------------------------------------------ */

/* Parses the number [s, end), which is 1 to `most`. */
static bool number(const char *s, const char *end, uint64_t most, uint64_t *v)
{
    return !vs_number(s, end, v) && *v && *v <= most;
}

/* BITS[/CYCLES][:CAPACITY[:stall]] */
static bool parse_buffer(const char *text, struct vs_drain_config *drain)
{
    const char *end = text + strlen(text), *colon = strchr(text, ':');
    const char *rate_end = colon ? colon : end,
               *slash = memchr(text, '/', (size_t)(rate_end - text)),
               *second = colon ? strchr(colon + 1, ':') : NULL;
    uint64_t bits, cycles = 1, capacity = 0;
    if (!number(text, slash ? slash : rate_end, 1 << 20, &bits) ||
        (slash && !number(slash + 1, rate_end, 1 << 20, &cycles)) ||
        (colon && !number(colon + 1, second ? second : end, UINT64_C(1) << 40, &capacity)) ||
        (second && strcmp(second, ":stall") != 0))
        return false;
    *drain = (struct vs_drain_config){
        .bits = (uint32_t)bits, .cycles = (uint32_t)cycles, .capacity = capacity, .stall = second};
    return true;
}

/* How many places --by tells apart unless --top says so. */
#define TOP 16

/* ---- samples --------------------------------------------------------------------------------- */

/* Without --warm, this many instructions come before each window: enough for predictors and small
 * caches to settle. */
#define WARM 100000

/* PERIOD:LENGTH */
static bool parse_sample(const char *text, struct vs_sampling_plan *plan)
{
    const char *colon = strchr(text, ':');
    return colon && number(text, colon, UINT64_C(1) << 62, &plan->period) &&
           number(colon + 1, text + strlen(text), plan->period, &plan->length);
}

/* Whether no encoder looks at loads and stores. */
static bool is_flow_only(const struct bandwidth *w)
{
    unsigned needs = 0;
    for (size_t i = 0; i < w->specs.count; i++)
        needs |= vs_technique_needs(&w->specs.items[i].spec);
    return !(needs & (VS_NEEDS_LOADS | VS_NEEDS_STORES | VS_NEEDS_PRIOR));
}

/* Opens what is to be read of a run, and chooses windows if it is a sample; the selection, which
 * must outlive the reader, leaves out what is between them. */
static int open_run(struct bandwidth *w, const char *path, struct vs_reader **reader,
                    struct vs_sampling *sampling, struct vs_selection *selection)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    *sampling = (struct vs_sampling){0};
    if (!w->plan.period && !w->region.any && is_flow_only(w))
        return cli_open_flow(w->cli, reader, path);
    if (!w->plan.period)
        return region_open(&w->region, w->cli, reader, path);
    int status = cli_open_file(w->cli, reader, path, false);
    if (status != CLI_DONE)
        return status;
    const struct vs_run_info *info = vs_reader_info(*reader);
    int e = vs_sampling_init(sampling, &w->plan, info, &diag);
    sampling->selected = info->features & VS_RUN_INPUTS;
    if (!e && sampling->selected) {
        vs_reader_close(*reader);
        *selection = vs_sampling_selection(sampling);
        vs_progress_init(&progress, stderr, "executing", 0, "instructions");
        e = vs_run_open_selected(reader, path, VS_OPEN_DEFAULT, selection, vs_progress_show,
                                 &progress, &diag);
        vs_progress_finish(&progress);
    }
    w->study.sampling = sampling;
    if (!e)
        return CLI_DONE;
    vs_reader_close(*reader);
    *reader = NULL;
    if (e != -VSE_INVAL)
        return cli_report(w->cli, path, e, &diag);
    cli_error(w->cli, "%s: %s", path, diag.text);
    return CLI_USAGE;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* The row of a kind's baseline, among those after the specs'. */
static const struct vs_bandwidth_row *baseline_row(const struct vs_bandwidth *b, size_t first,
                                                   enum vs_technique_kind kind)
{
    const struct vs_technique *baseline = vs_technique_baseline(kind);
    for (size_t i = first; i < b->count; i++)
        if (b->rows[i].spec.technique == baseline)
            return &b->rows[i];
    return NULL;
}

/* What the baselines of the technique's kinds take together. */
static uint64_t baseline_bits(const struct vs_bandwidth *b, size_t first,
                              const struct vs_technique *t)
{
    uint64_t bits = 0;
    for (unsigned kind = 1; kind < 1u << VS_TECHNIQUE_KINDS; kind <<= 1) {
        const struct vs_bandwidth_row *row = t->serves & kind ? baseline_row(b, first, kind) : NULL;
        bits += row ? vs_bandwidth_bits(b, row) : 0;
    }
    return bits;
}

/* Adds the specs that fit the run, and then the baselines of their kinds. */
static int add_rows(const struct bandwidth *w, struct vs_bandwidth *b, struct vs_diag *diag)
{
    int64_t row = 0;
    for (size_t i = 0; i < w->specs.count && row >= 0; i++)
        if (w->rows[i] >= 0)
            row = w->rows[i] = vs_bandwidth_add(b, &w->specs.items[i].spec, NULL, NULL, diag);
    unsigned serves = 0;
    for (size_t i = 0; i < b->count; i++)
        serves |= b->rows[i].spec.technique->serves;
    for (unsigned kind = 1; kind < 1u << VS_TECHNIQUE_KINDS && row >= 0; kind <<= 1) {
        struct vs_technique_spec spec;
        if (!(serves & kind))
            continue;
        row = vs_technique_defaults(&spec, vs_technique_baseline(kind));
        if (row >= 0)
            row = vs_bandwidth_add(b, &spec, NULL, NULL, diag);
    }
    return row < 0 ? (int)row : 0;
}

/* Finds out which specs the run has anything for. */
static int choose_rows(const struct bandwidth *w, const char *path, const struct vs_run_info *info)
{
    int status = CLI_DONE;
    bool lacks, any = false;
    for (size_t i = 0; i < w->specs.count && status == CLI_DONE; i++) {
        status = specs_lack(w->cli, &w->specs.items[i], path, info, &lacks);
        w->rows[i] = lacks ? -1 : 0;
        any |= !lacks;
    }
    return status == CLI_DONE && !any ? specs_fit_nothing(w->cli, path) : status;
}

static size_t row_count(const struct bandwidth *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->specs.count; i++)
        count += w->rows[i] >= 0;
    return count;
}

static void text_run(struct out *out, const char *path, const struct vs_bandwidth *b)
{
    const struct vs_sampling *s = b->options.sampling;
    char instructions[32], cycles[32];
    out_safe(out, path);
    out_printf(out, ": %u core%s, %s instructions", b->setup.cores, b->setup.cores == 1 ? "" : "s",
               group_digits(instructions, s ? s->total : b->instructions));
    if (s)
        out_printf(out, ", sampled in %s window%s of %s", DIGITS(s->count),
                   s->count == 1 ? "" : "s", group_digits(instructions, s->plan.length));
    if (b->setup.timed)
        out_printf(out, ", %s cycles", group_digits(cycles, b->cycles));
    out_char(out, '\n');
}

static void print(const struct bandwidth *w, const struct vs_bandwidth_figures *f,
                  const struct vs_bandwidth_figures *before)
{
    struct out *out = &w->cli->out;
    if (w->o->json) {
        report_json_line(out, figures_columns, f);
        return;
    }
    if (w->o->csv) {
        bool first = !before && f->run && !w->runs;
        if (first && f->shares)
            shares_csv_head(out);
        else if (first)
            report_csv_head(out, figures_columns, f);
        if (f->shares)
            shares_csv(out, f);
        else
            report_csv(out, figures_columns, f);
        return;
    }
    if (!before || before->serves != f->serves)
        figures_text_head(out, f);
    figures_text(out, f, w->o->fields);
}

/* Returns 0; -VSE_NOMEM. */
static int print_run(struct bandwidth *w, const char *path, struct vs_bandwidth *b)
{
    int e = 0;
    struct vs_bandwidth_figures f[2];
    struct vs_shares shares = {0};
    unsigned n = 0; /* rows printed; f[n % 2] is the next */
    size_t first = row_count(w);
    if (!w->o->json && !w->o->csv)
        text_run(&w->cli->out, path, b);
    for (size_t i = 0; i < w->specs.count && !e; i++) {
        if (w->rows[i] < 0)
            continue;
        const struct vs_bandwidth_row *row = &b->rows[w->rows[i]];
        vs_bandwidth_figures_of(&f[n % 2], path, w->specs.items[i].config, b, row,
                                baseline_bits(b, first, row->spec.technique));
        if (w->o->by) {
            e = vs_shares_init(&shares, &row->sent, &b->sites, w->top);
            f[n % 2].shares = &shares;
        }
        if (!e)
            print(w, &f[n % 2], n ? &f[(n + 1) % 2] : NULL);
        vs_shares_fini(&shares);
        vs_bandwidth_figures_add(&w->sums[i], &f[n % 2]);
        n++;
    }
    return e;
}

/* ---- the plot -------------------------------------------------------------------------------- */

/* Checks that the plot's lines can be drawn; there are windows then. */
static int prepare_plot(struct bandwidth *w, const struct vs_run_info *info)
{
    size_t count = row_count(w);
    if (count > PLOT_LINES) {
        cli_error(w->cli, "--plot: of %zu lines at most %d can be told apart; -t chooses some",
                  count, PLOT_LINES);
        return CLI_USAGE;
    }
    if (!w->study.window)
        w->study.window =
            plot_window(info->features & VS_RUN_TIMED ? info->cycle_last + 1 : info->instructions);
    return CLI_DONE;
}

static struct plot_line *add_line(struct plot *p, const struct vs_bandwidth_row *row, int core)
{
    p->lines[p->count] = (struct plot_line){.windows = &row->windows, .core = core};
    return &p->lines[p->count++];
}

/* Draws a line for each technique; if there is only one, also for each core, if there are several
 * but few. */
static int plot_run(struct bandwidth *w, const char *path, const struct vs_bandwidth *b)
{
    struct plot *p = w->plot;
    const struct vs_bandwidth_row *row = NULL;
    p->title = path;
    p->cores = b->setup.cores;
    p->timed = b->setup.timed;
    p->window = b->options.window;
    p->end = b->end;
    for (size_t i = 0; i < w->specs.count; i++)
        if (w->rows[i] >= 0) {
            const char *config = w->specs.items[i].config;
            bool plain = !strcmp(config, "default");
            row = &b->rows[w->rows[i]];
            snprintf(add_line(p, row, VS_WINDOW_ALL)->label, PLOT_LABEL, "%s%s%s",
                     row->spec.technique->name, plain ? "" : ":", plain ? "" : config);
        }
    unsigned cores = p->count == 1 && p->cores > 1 && p->cores < PLOT_LINES ? p->cores : 0;
    for (unsigned core = 0; core < cores; core++)
        snprintf(add_line(p, row, (int)core)->label, PLOT_LABEL, "core %u", core);
    return plot_write(p, w->cli);
}

static int measure(struct bandwidth *w, const char *path)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    struct vs_reader *reader;
    struct vs_bandwidth b;
    struct vs_sampling sampling;
    struct vs_selection selection;
    int status = open_run(w, path, &reader, &sampling, &selection);
    if (status != CLI_DONE) {
        vs_sampling_fini(&sampling);
        return status;
    }
    status = choose_rows(w, path, vs_reader_info(reader));
    if (status == CLI_DONE && w->plot)
        status = prepare_plot(w, vs_reader_info(reader));
    if (status != CLI_DONE) {
        vs_reader_close(reader);
        vs_sampling_fini(&sampling);
        return status;
    }
    int e = vs_bandwidth_init(&b, reader, &w->study, &diag);
    if (!e)
        e = add_rows(w, &b, &diag);
    if (!e) {
        vs_progress_init(&progress, stderr, "encoding", vs_bandwidth_work(&b, reader), "events");
        e = vs_bandwidth_run(&b, reader, &progress, &diag);
        vs_progress_finish(&progress);
    }
    if (e == -VSE_END && cli_missing(w->cli, path, vs_reader_info(reader)) != CLI_DONE) {
        status = CLI_BAD_DATA; /* what there is of the run has no thread */
    } else if (e) {
        status = cli_report(w->cli, path, e, &diag);
    } else if ((e = print_run(w, path, &b)) != 0) {
        status = cli_report(w->cli, path, e, NULL);
    } else {
        w->runs++;
        status = w->plot ? plot_run(w, path, &b) : CLI_DONE;
        status = cli_worse(status, cli_missing(w->cli, path, vs_reader_info(reader)));
    }
    vs_bandwidth_fini(&b);
    vs_reader_close(reader);
    vs_sampling_fini(&sampling);
    return status;
}

static void print_sums(const struct bandwidth *w)
{
    const struct vs_bandwidth_figures *before = NULL;
    if (!w->o->json && !w->o->csv)
        out_printf(&w->cli->out, "total of %u runs\n", w->runs);
    for (size_t i = 0; i < w->specs.count; i++) {
        const struct vs_bandwidth_figures *sum = &w->sums[i];
        if (sum->runs == w->runs) {
            print(w, sum, before);
            before = sum;
        } else if (sum->runs) {
            cli_error(w->cli, "%s has no total: %u of %u runs have it", sum->technique, sum->runs,
                      w->runs);
        }
    }
}

static int take_options(struct bandwidth *w, int count)
{
    const struct bandwidth_options *o = w->o;
    const char *wrong =
        o->json && o->csv      ? "--json and --csv exclude each other"
        : o->plot && count > 1 ? "--plot takes one run"
        : o->sample && (o->plot || o->window || o->buffer)
            ? "--sample excludes --window, --buffer and --plot: windows of time "
              "are not whole"
        : o->sample && o->by             ? "--sample excludes --by: only whole runs have all places"
        : o->top != UINT64_MAX && !o->by ? "--top is for --by"
        : o->sample && w->region.any     ? "--sample excludes options that choose instructions"
        : !o->sample && (o->seed || o->warm != UINT64_MAX) ? "--warm and --seed are for --sample"
                                                           : NULL;
    w->study.window = o->window;
    w->study.by = o->by;
    w->top = o->top == UINT64_MAX ? TOP : (size_t)o->top;
    if (wrong)
        cli_error(w->cli, "%s", wrong);
    else if (o->buffer && !parse_buffer(o->buffer, &w->study.drain))
        cli_error(w->cli,
                  "--buffer: '%s' is not BITS[/CYCLES][:CAPACITY[:stall]], as in 1, 1/4, 2:1024 or "
                  "2:1024:stall",
                  o->buffer);
    else if (o->sample && !parse_sample(o->sample, &w->plan))
        cli_error(w->cli,
                  "--sample: '%s' is not PERIOD:LENGTH in instructions, as in 10M:100K, with a "
                  "LENGTH of at most PERIOD",
                  o->sample);
    else
        return CLI_DONE;
    return CLI_USAGE;
}

int bandwidth_measure(struct cli *cli, const struct bandwidth_options *o, int count, char **paths)
{
    struct bandwidth w = {.cli = cli, .o = o};
    struct plot plot;
    int status = region_init(&w.region, cli, &o->region);
    if (status == CLI_DONE)
        status = take_options(&w, count);
    if (status != CLI_DONE) {
        region_fini(&w.region);
        return status;
    }
    w.plan.seed = o->seed;
    w.plan.warm = o->warm == UINT64_MAX ? WARM : o->warm;
    status = specs_parse(cli, &w.specs, &o->techniques);
    w.sums = calloc(w.specs.count + 1, sizeof(*w.sums));
    w.rows = calloc(w.specs.count + 1, sizeof(*w.rows));
    if (status == CLI_DONE && (!w.sums || !w.rows)) {
        cli_error(cli, "out of memory");
        status = CLI_USAGE;
    }
    if (status == CLI_DONE && o->plot && !cli_may_write(cli, o->plot, paths[0]))
        status = CLI_USAGE;
    if (status == CLI_DONE && o->plot) {
        w.plot = &plot;
        status = plot_open(w.plot, cli, o->plot, o->overwrite);
    }
    bool ready = status == CLI_DONE;
    for (int i = 0; i < count && ready; i++) {
        if (i && !o->json && !o->csv)
            out_char(&cli->out, '\n');
        status = cli_worse(status, measure(&w, paths[i]));
    }
    if (w.runs > 1 && !(o->by && o->csv)) {
        if (!o->json && !o->csv)
            out_char(&cli->out, '\n');
        print_sums(&w);
    }
    if (w.plot)
        plot_close(w.plot);
    free(w.sums);
    free(w.rows);
    vs_spec_list_fini(&w.specs);
    region_fini(&w.region);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct bandwidth_options o = BANDWIDTH_DEFAULTS;
    struct runs runs;
    int status;
    if (!options_parse(cli, &command_bandwidth, &o, &argc, argv, &status))
        return status;
    status = plugin_load(cli, &o.plugins);
    if (status != CLI_DONE)
        return status;
    status = runs_open(cli, &runs, argc, argv);
    if (status == CLI_DONE)
        status = bandwidth_measure(cli, &o, runs.count, runs.paths);
    runs_fini(&runs);
    return status;
}

#define FIELD(member) offsetof(struct bandwidth_options, member)

static const struct cli_option options[] = {
    SPECS_OPTION(FIELD(techniques), "measure this technique, or all; may be repeated\n"
                                    "(default: a dozen techniques)"),
    PLUGIN_OPTION(FIELD(plugins)),
    REGION_OPTIONS(FIELD(region)),
    {.name = "sample",
     .argument = "PERIOD:LENGTH",
     .help = "measure windows of LENGTH instructions, one every\n"
             "PERIOD, and estimate the rest",
     .type = OPTION_STRING,
     .offset = FIELD(sample)},
    {.name = "warm",
     .argument = "N",
     .help = "read N instructions before each window, and do not\n"
             "count them (default: 100,000)",
     .type = OPTION_U64,
     .offset = FIELD(warm)},
    {.name = "seed",
     .argument = "N",
     .help = "begin sampling elsewhere in the first PERIOD",
     .type = OPTION_U64,
     .offset = FIELD(seed)},
    {.name = "by",
     .argument = "WHAT",
     .help = "show where each technique's bits are sent, by:",
     .type = OPTION_ENUM,
     .offset = FIELD(by),
     .number_name = vs_by_name,
     .first = VS_BY_ROUTINE,
     .end = VS_BY_END},
    {.name = "top",
     .argument = "N",
     .help = "with --by: tell the N first apart and sum up the\n"
             "others (default: 16; 0: tell all apart)",
     .type = OPTION_U64,
     .offset = FIELD(top)},
    {.name = "window",
     .argument = "N",
     .help = "add average and peak over windows of N cycles, or of N\n"
             "instructions of an untimed run",
     .type = OPTION_U64,
     .offset = FIELD(window),
     .min = 1},
    {.name = "buffer",
     .argument = "RATE[:CAPACITY[:stall]]",
     .help = "add how full a buffer gets before a port of RATE bits\n"
             "per cycle (1, 2, 1/4); with CAPACITY bits, what is\n"
             "dropped, or with stall how many cycles the cores wait\n"
             "so that nothing is. In an untimed run an instruction\n"
             "counts as a cycle",
     .type = OPTION_STRING,
     .offset = FIELD(buffer)},
    {.name = "plot",
     .argument = "FILE",
     .help = "draw bits over time as an SVG chart, in 100 to 250\n"
             "windows without --window; one technique alone is also\n"
             "drawn by core",
     .type = OPTION_STRING,
     .offset = FIELD(plot)},
    {.name = "force",
     .letter = 'f',
     .help = "replace the chart if it exists",
     .offset = FIELD(overwrite)},
    {.name = "fields",
     .help = "show the bits of each field under each row",
     .offset = FIELD(fields)},
    {.name = "json", .help = "print a JSON object per run and technique", .offset = FIELD(json)},
    {.name = "csv", .help = "print the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_bandwidth = {
    .name = "bandwidth",
    .summary = "measure the bits that trace modules send for runs",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Encodes runs with trace modules and counts bits: per instruction, per cycle, and\n"
        "relative to the baseline of the technique's kind (ratio). Further columns are\n"
        "messages per thousand instructions, and what the structures cost; for control\n"
        "flow, the shares of conditional branches, returns and other indirect branches\n"
        "that took a message; for load values, the shares of loads that took a message,\n"
        "of accesses that missed the cache, and of messages that only order the cores;\n"
        "for data addresses, the share that took a message, and of these the shares that\n"
        "hit the most recently used way of a table, or missed it. The total of several\n"
        "runs is the sum of bits over the sum of instructions or cycles.\n"
        "\n"
        "" SPECS_HELP,
    .example = "vestige bandwidth run.vest\n"
               "vestige bandwidth *.vest -t mcfTR_e -t mcfTR_e:small --csv\n"
               "vestige bandwidth run.vest -t all --window 1M --buffer 1:4096\n"
               "vestige bandwidth run.vest -t mc2RT --plot run.svg\n"
               "vestige bandwidth run.vest -t mcfTR_e --by line --top 40\n"
               "vestige bandwidth run.vest --sample 10M:100K",
    .exits = COMMAND_EXITS,
};
