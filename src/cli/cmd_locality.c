/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/study_runs.h"
#include "study/locality.h"

struct locality_options {
    bool json, csv;
};

/* The figures of a run, or of several runs. */
struct locality_row {
    const char *run; /* NULL if it is a sum */
    unsigned runs;   /* how many are in the sum */
    struct vs_locality_figures f;
};

static uint64_t accesses(const struct vs_locality_figures *f)
{
    return f->loads + f->stores;
}

/* A line of CSV: what was counted, and how many of it were hits, or filtered. */
struct share_row {
    const char *run, *what, *name; /* name: the form's; NULL if the line is about a size */
    unsigned entries, shift;
    uint64_t count, hits;
};

static const struct share_row *share_of(const void *row)
{
    return row;
}

static struct cell share_run(const void *row)
{
    return cell_text(share_of(row)->run ? share_of(row)->run : "total");
}

static struct cell share_rate(const void *row)
{
    return cell_ratio(share_of(row)->hits, share_of(row)->count);
}

/* ---- hits ------------------------------------------------------------------------------------ */

static bool hits_at(const struct locality_row *row, size_t i, struct share_row *share,
                    const char *what, const uint8_t sizes[],
                    const uint64_t hits[][VS_LOCALITY_SHIFTS])
{
    size_t size = i / VS_LOCALITY_SHIFTS, shift = i % VS_LOCALITY_SHIFTS;
    if (size >= VS_LOCALITY_SIZES)
        return false;
    *share = (struct share_row){.run = row->run,
                                .what = what,
                                .entries = sizes[size],
                                .shift = vs_locality_shifts[shift],
                                .count = accesses(&row->f),
                                .hits = hits[size][shift]};
    return true;
}

static bool history_at(const void *row, size_t i, void *element)
{
    const struct locality_row *r = row;
    return hits_at(r, i, element, "history", vs_locality_history, r->f.history);
}

static bool table_at(const void *row, size_t i, void *element)
{
    const struct locality_row *r = row;
    return hits_at(r, i, element, "table", vs_locality_table, r->f.table);
}

static const struct report_column hit_columns[] = {
    {.csv = "run", .get = share_run},
    {.csv = "what",
     .text = "hit rate",
     .kind = CELL_WORD,
     REPORT_IN(share_row, what),
     .width = -10},
    {.json = "entries",
     .csv = "name",
     .text = "entries",
     REPORT_AT(share_row, entries),
     .width = 7},
    {.json = "shift", .csv = "shift", REPORT_AT(share_row, shift)},
    {.csv = "count", REPORT_AT(share_row, count)},
    {.json = "hits", .csv = "hits", REPORT_AT(share_row, hits)},
    {.json = "rate", .csv = "rate", .get = share_rate, .width = 8, .places = 3},
    {0},
};

/* Prints a table in which the shifts stand beside each other. */
static void text_hits(struct out *out, const struct locality_row *row,
                      bool (*at)(const void *row, size_t i, void *element))
{
    struct share_row share;
    for (size_t i = 0; at(row, i, &share); i++) {
        if (i % VS_LOCALITY_SHIFTS == 0)
            report_say(out, hit_columns, &share, "{>hit rate} {>entries}");
        report_say(out, hit_columns, &share,
                   (i + 1) % VS_LOCALITY_SHIFTS ? " {>rate}" : " {>rate}\n");
    }
}

/* ---- filtering ------------------------------------------------------------------------------- */

static const struct report_column share_columns[] = {
    {.csv = "run", .get = share_run},
    {.csv = "what", .kind = CELL_WORD, REPORT_IN(share_row, what)},
    {.csv = "name", .kind = CELL_WORD, REPORT_IN(share_row, name)},
    {.csv = "shift"},
    {.json = "count", .csv = "count", REPORT_AT(share_row, count)},
    {.json = "filtered", .csv = "hits", REPORT_AT(share_row, hits)},
    {.json = "rate", .csv = "rate", .get = share_rate},
    {0},
};

static struct share_row share(const struct locality_row *row, const char *what, const char *name,
                              uint64_t count, uint64_t sent)
{
    return (struct share_row){
        .run = row->run, .what = what, .name = name, .count = count, .hits = count - sent};
}

/* All loads come first, and then the forms. */
static bool loads_at(const void *row, size_t i, void *element)
{
    const struct locality_row *r = row;
    const struct vs_address_counts *c = &r->f.filter;
    if (i > VS_FORM_END)
        return false;
    *(struct share_row *)element = i ? share(r, "loads", vs_form_name((unsigned)i - 1),
                                             c->form_loads[i - 1], c->form_loads_sent[i - 1])
                                     : share(r, "loads", "all", c->loads, c->loads_sent);
    return true;
}

static bool stores_at(const void *row, size_t i, void *element)
{
    const struct locality_row *r = row;
    const struct vs_address_counts *c = &r->f.filter;
    if (i > VS_FORM_END)
        return false;
    *(struct share_row *)element = i ? share(r, "stores", vs_form_name((unsigned)i - 1),
                                             c->form_stores[i - 1], c->form_stores_sent[i - 1])
                                     : share(r, "stores", "all", c->stores, c->stores_sent);
    return true;
}

static bool is_counted(const void *element)
{
    return share_of(element)->count || !strcmp(share_of(element)->name, "all");
}

static const char *form_name(const void *element)
{
    return share_of(element)->name;
}

static const struct report_rows loads_rows = {
    .size = sizeof(struct share_row), .at = loads_at, .shown = is_counted, .name = form_name};
static const struct report_rows stores_rows = {
    .size = sizeof(struct share_row), .at = stores_at, .shown = is_counted, .name = form_name};

/* A line of text: a form, or all of them. */
struct form_row {
    const char *name;
    struct share_row loads, stores, all;
};

#define SHARE(heading, member)                                                                     \
    {.text = heading, REPORT_AT(form_row, member.count), .width = 12},                             \
    {                                                                                              \
        .text = "filtered%", .get = form_##member, .width = 9, .places = 2, .percent = true        \
    }

static struct cell form_loads(const void *row)
{
    return share_rate(&((const struct form_row *)row)->loads);
}

static struct cell form_stores(const void *row)
{
    return share_rate(&((const struct form_row *)row)->stores);
}

static struct cell form_all(const void *row)
{
    return share_rate(&((const struct form_row *)row)->all);
}

static const struct report_column form_columns[] = {
    {.text = "form", .kind = CELL_WORD, REPORT_IN(form_row, name), .width = -10},
    SHARE("loads", loads),
    SHARE("stores", stores),
    SHARE("all", all),
    {0},
};

static void text_form(struct out *out, const struct locality_row *row, size_t form,
                      const char *name)
{
    struct form_row f = {.name = name};
    loads_at(row, form, &f.loads);
    stores_at(row, form, &f.stores);
    f.all.count = f.loads.count + f.stores.count;
    f.all.hits = f.loads.hits + f.stores.hits;
    if (f.all.count || !form)
        report_table_row(out, form_columns, &f, 0);
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const struct vs_locality_figures *figures_of(const void *row)
{
    return &((const struct locality_row *)row)->f;
}

static struct cell filter_count(const void *row)
{
    const struct vs_address_counts *c = &figures_of(row)->filter;
    return cell_count(c->loads + c->stores);
}

static struct cell filter_filtered(const void *row)
{
    const struct vs_address_counts *c = &figures_of(row)->filter;
    return cell_count(c->loads + c->stores - c->loads_sent - c->stores_sent);
}

static struct cell filter_rate(const void *row)
{
    return cell_ratio(filter_filtered(row).count, filter_count(row).count);
}

static struct cell plain_bpi(const void *row)
{
    return cell_ratio(figures_of(row)->plain_bits, figures_of(row)->instructions);
}

static struct cell nexus_bpi(const void *row)
{
    return cell_ratio(figures_of(row)->nexus_bits, figures_of(row)->instructions);
}

static struct cell followed(const void *row)
{
    const struct vs_address_counts *c = &figures_of(row)->filter;
    return cell_ratio(c->computing - c->unmodelled, c->computing);
}

static const struct report_column all_columns[] = {
    {.json = "count", .get = filter_count},
    {.json = "filtered", .get = filter_filtered},
    {.json = "rate", .get = filter_rate},
    {0},
};

static const struct report_column filter_columns[] = {
    {.json = "all", .group = all_columns},
    {.json = "loads", .rows = &loads_rows, .group = share_columns},
    {.json = "stores", .rows = &stores_rows, .group = share_columns},
    {.json = "bits", REPORT_AT(locality_row, f.plain_bits)},
    {.json = "bpi", .get = plain_bpi, .places = 5},
    {.json = "nexus_bits", REPORT_AT(locality_row, f.nexus_bits)},
    {.json = "nexus_bpi", .get = nexus_bpi, .places = 5},
    {.json = "computing", REPORT_AT(locality_row, f.filter.computing)},
    {.json = "unmodelled", REPORT_AT(locality_row, f.filter.unmodelled)},
    {.text = "followed", .get = followed, .places = 2, .percent = true},
    {0},
};

static bool is_filtered(const void *row)
{
    return figures_of(row)->filtered;
}

static const struct report_rows history_rows = {.size = sizeof(struct share_row), .at = history_at};
static const struct report_rows table_rows = {.size = sizeof(struct share_row), .at = table_at};

static const struct report_column columns[] = {
    REPORT_TEXT(locality_row, run),
    {.text = "runs", REPORT_AT(locality_row, runs), .plain = true},
    {.json = "instructions", REPORT_AT(locality_row, f.instructions)},
    {.json = "loads", REPORT_AT(locality_row, f.loads)},
    {.json = "stores", REPORT_AT(locality_row, f.stores)},
    {.json = "history", .rows = &history_rows, .group = hit_columns},
    {.json = "table", .rows = &table_rows, .group = hit_columns},
    {.json = "filter", .group = filter_columns, .known = is_filtered},
    {0},
};

static void print_text(struct out *out, const void *row)
{
    const struct locality_row *r = row;
    report_say(out, columns, row, r->run ? "{run}" : "total of {runs} runs");
    report_say(out, columns, row,
               ": {loads} loads, {stores} stores, {instructions} instructions\n");
    out_printf(out, "%-10s %7s", "hit rate", "entries");
    for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
        out_printf(out, "  shift %u", vs_locality_shifts[s]);
    out_char(out, '\n');
    text_hits(out, row, history_at);
    text_hits(out, row, table_at);
    if (!r->f.filtered)
        return;
    report_table_head(out, form_columns, &(struct form_row){0}, 0);
    for (size_t form = 1; form <= VS_FORM_END; form++)
        text_form(out, row, form, vs_form_name((unsigned)form - 1));
    text_form(out, row, 0, "total");
    report_say(out, columns, row,
               "bits/ins   {filter.bpi} whole, {filter.nexus_bpi} in the code of daNX\n");
    if (r->f.filter.computing)
        report_say(out, columns, row,
                   "followed   {filter.followed}% of the instructions that only compute "
                   "registers\n");
}

static void print_csv(struct out *out, const void *row, bool head)
{
    struct share_row share;
    if (head)
        report_csv_head(out, hit_columns, &(struct share_row){0});
    for (size_t i = 0; history_at(row, i, &share); i++)
        report_csv(out, hit_columns, &share);
    for (size_t i = 0; table_at(row, i, &share); i++)
        report_csv(out, hit_columns, &share);
    for (size_t i = 1; is_filtered(row) && i <= VS_FORM_END + 1; i++) {
        size_t form = i % (VS_FORM_END + 1); /* all of them come last */
        loads_at(row, form, &share);
        report_csv(out, share_columns, &share);
        stores_at(row, form, &share);
        report_csv(out, share_columns, &share);
    }
}

/* ---- the command ----------------------------------------------------------------------------- */

struct locality_study {
    struct study_runs study; /* first */
    struct locality_row found, sum;
};

static struct locality_study *study_of(struct study_runs *s)
{
    return (struct locality_study *)s;
}

static int study(struct study_runs *s, const char *run, struct vs_reader *reader)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    struct vs_locality_figures *f = &study_of(s)->found.f;
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "counting", info->events, "events");
    int error = vs_locality_run(f, reader, &progress, &diag);
    vs_progress_finish(&progress);
    if (error)
        return cli_report(s->cli, run, error, &diag);
    bool recorded = info->features & VS_RUN_LOADS && info->features & VS_RUN_STORES;
    return accesses(f) ? CLI_DONE
                       : study_runs_nothing(s, run, info,
                                            recorded ? "it has no loads and stores"
                                                     : "loads and stores were not recorded");
}

static void add(struct study_runs *s)
{
    vs_locality_add(&study_of(s)->sum.f, &study_of(s)->found.f);
}

static const void *row_of(struct study_runs *s, const char *run)
{
    struct locality_row *row = run ? &study_of(s)->found : &study_of(s)->sum;
    row->run = run;
    row->runs = s->runs;
    return row;
}

static const struct study_kind kind = {columns, row_of, study, add, print_csv, print_text};

static int run(struct cli *cli, int argc, char **argv)
{
    struct locality_options o = {0};
    int status;
    if (!options_parse(cli, &command_locality, &o, &argc, argv, &status))
        return status;
    struct locality_study w = {.study = {cli, &kind, o.json, o.csv, 0}};
    return study_runs(&w.study, argc, argv);
}

#define FIELD(member) offsetof(struct locality_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "print one JSON object per run", .offset = FIELD(json)},
    {.name = "csv", .help = "print the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_locality = {
    .name = "locality",
    .summary = "measure how much of the addresses could be known beforehand",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Looks up every address of a load or store among the last 16, 32 or 64 distinct\n"
        "ones of its core (history), and in a 4-way table of 32, 64 or 128 entries that\n"
        "is indexed by the instruction (table), on all its bits and on those above the\n"
        "lowest 4 or 8 (shift). Then it shows the share of the addresses that a debugger\n"
        "can compute by itself from registers that it knows (filtered%), by the form of\n"
        "the address, and the bits per instruction of the others. See docs/studies.md.",
    .example = "vestige locality run.vest\n"
               "vestige locality --csv *.vest\n"
               "vestige locality --json run.vest | jq .filter.loads",
    .exits = "0  done\n"
             "1  a run is damaged or incomplete\n"
             "2  bad usage, a run without loads and stores, or the system refused something",
};
