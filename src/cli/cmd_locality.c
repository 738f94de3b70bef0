/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/progress.h"
#include "cli/commands.h"
#include "cli/figures.h"
#include "front/json.h"
#include "study/locality.h"

struct locality_options {
    bool json, csv;
};

struct locality {
    struct cli *cli;
    const struct locality_options *o;
    struct vs_locality_figures sum;
    unsigned runs; /* that were studied */
};

static uint64_t accesses(const struct vs_locality_figures *f)
{
    return f->loads + f->stores;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void text_hits(struct out *out, const char *name, const struct vs_locality_figures *f,
                      const uint8_t sizes[], const uint64_t hits[][VS_LOCALITY_SHIFTS])
{
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++) {
        out_printf(out, "%-10s %7u", name, sizes[size]);
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
            out_printf(out, " %8.3f", figures_ratio(hits[size][s], accesses(f)));
        out_char(out, '\n');
    }
}

static void text_share(struct out *out, uint64_t count, uint64_t sent)
{
    out_printf(out, " %12s", DIGITS(count));
    if (count)
        out_printf(out, " %9.2f", 100 * figures_ratio(count - sent, count));
    else
        out_printf(out, " %9s", "-");
}

static void text_form(struct out *out, const char *name, uint64_t loads, uint64_t loads_sent,
                      uint64_t stores, uint64_t stores_sent)
{
    out_printf(out, "%-10s", name);
    text_share(out, loads, loads_sent);
    text_share(out, stores, stores_sent);
    text_share(out, loads + stores, loads_sent + stores_sent);
    out_char(out, '\n');
}

static void text_filter(struct out *out, const struct vs_locality_figures *f)
{
    const struct vs_address_counts *c = &f->filter;
    out_printf(out, "%-10s %12s %9s %12s %9s %12s %9s\n", "form", "loads", "filtered%", "stores",
               "filtered%", "all", "filtered%");
    for (unsigned i = 0; i < VS_FORM_END; i++)
        if (c->form_loads[i] || c->form_stores[i])
            text_form(out, vs_form_name(i), c->form_loads[i], c->form_loads_sent[i],
                      c->form_stores[i], c->form_stores_sent[i]);
    text_form(out, "total", c->loads, c->loads_sent, c->stores, c->stores_sent);
    out_printf(out, "bits/ins   %.5f whole, %.5f in the code of daNX\n",
               figures_ratio(f->plain_bits, f->instructions),
               figures_ratio(f->nexus_bits, f->instructions));
    if (c->computing)
        out_printf(out, "followed   %.2f%% of the instructions that only compute registers\n",
                   100 * figures_ratio(c->computing - c->unmodelled, c->computing));
}

static void print_text(const struct locality *w, const char *path,
                       const struct vs_locality_figures *f)
{
    struct out *out = &w->cli->out;
    char loads[32], stores[32], instructions[32];
    if (path)
        out_safe(out, path);
    else
        out_printf(out, "total of %u runs", w->runs);
    out_printf(out, ": %s loads, %s stores, %s instructions\n", group_digits(loads, f->loads),
               group_digits(stores, f->stores), group_digits(instructions, f->instructions));
    out_printf(out, "%-10s %7s", "hit rate", "entries");
    for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++)
        out_printf(out, "  shift %u", vs_locality_shifts[s]);
    out_char(out, '\n');
    text_hits(out, "history", f, vs_locality_history, f->history);
    text_hits(out, "table", f, vs_locality_table, f->table);
    if (f->filtered)
        text_filter(out, f);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* What was counted, and how many of them were hits, or filtered. */
static void csv_row(struct out *out, const char *path, const char *what, const char *name,
                    const char *shift, uint64_t count, uint64_t of_these)
{
    out_csv_text(out, path ? path : "total");
    out_printf(out, ",%s,%s,%s,%" PRIu64 ",%" PRIu64, what, name, shift, count, of_these);
    out_csv_double(out, figures_ratio(of_these, count));
    out_char(out, '\n');
}

static void csv_hits(struct out *out, const char *path, const char *what,
                     const struct vs_locality_figures *f, const uint8_t sizes[],
                     const uint64_t hits[][VS_LOCALITY_SHIFTS])
{
    char name[16], shift[16];
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++) {
            snprintf(name, sizeof(name), "%u", sizes[size]);
            snprintf(shift, sizeof(shift), "%u", vs_locality_shifts[s]);
            csv_row(out, path, what, name, shift, accesses(f), hits[size][s]);
        }
}

static void csv_filter(struct out *out, const char *path, const struct vs_address_counts *c)
{
    for (unsigned i = 0; i < VS_FORM_END; i++) {
        csv_row(out, path, "loads", vs_form_name(i), "", c->form_loads[i],
                c->form_loads[i] - c->form_loads_sent[i]);
        csv_row(out, path, "stores", vs_form_name(i), "", c->form_stores[i],
                c->form_stores[i] - c->form_stores_sent[i]);
    }
    csv_row(out, path, "loads", "all", "", c->loads, c->loads - c->loads_sent);
    csv_row(out, path, "stores", "all", "", c->stores, c->stores - c->stores_sent);
}

static void print_csv(const struct locality *w, const char *path,
                      const struct vs_locality_figures *f)
{
    struct out *out = &w->cli->out;
    if (path && !w->runs)
        out_str(out, "run,what,name,shift,count,hits,rate\n");
    csv_hits(out, path, "history", f, vs_locality_history, f->history);
    csv_hits(out, path, "table", f, vs_locality_table, f->table);
    if (f->filtered)
        csv_filter(out, path, &f->filter);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_hits(struct json *j, const char *key, const struct vs_locality_figures *f,
                      const uint8_t sizes[], const uint64_t hits[][VS_LOCALITY_SHIFTS])
{
    json_array(j, key);
    for (unsigned size = 0; size < VS_LOCALITY_SIZES; size++)
        for (unsigned s = 0; s < VS_LOCALITY_SHIFTS; s++) {
            json_object(j, NULL);
            json_u64(j, "entries", sizes[size]);
            json_u64(j, "shift", vs_locality_shifts[s]);
            json_u64(j, "hits", hits[size][s]);
            json_double(j, "rate", figures_ratio(hits[size][s], accesses(f)), 6);
            json_end(j);
        }
    json_end(j);
}

static void json_share(struct json *j, const char *key, uint64_t count, uint64_t sent)
{
    json_object(j, key);
    json_u64(j, "count", count);
    json_u64(j, "filtered", count - sent);
    json_double(j, "rate", figures_ratio(count - sent, count), 6);
    json_end(j);
}

static void json_forms(struct json *j, const char *key, uint64_t count, uint64_t sent,
                       const uint64_t forms[], const uint64_t forms_sent[])
{
    json_object(j, key);
    json_share(j, "all", count, sent);
    for (unsigned i = 0; i < VS_FORM_END; i++)
        if (forms[i])
            json_share(j, vs_form_name(i), forms[i], forms_sent[i]);
    json_end(j);
}

static void json_filter(struct json *j, const struct vs_locality_figures *f)
{
    const struct vs_address_counts *c = &f->filter;
    if (!f->filtered) {
        json_null(j, "filter");
        return;
    }
    json_object(j, "filter");
    json_share(j, "all", c->loads + c->stores, c->loads_sent + c->stores_sent);
    json_forms(j, "loads", c->loads, c->loads_sent, c->form_loads, c->form_loads_sent);
    json_forms(j, "stores", c->stores, c->stores_sent, c->form_stores, c->form_stores_sent);
    json_u64(j, "bits", f->plain_bits);
    json_double(j, "bpi", figures_ratio(f->plain_bits, f->instructions), 6);
    json_u64(j, "nexus_bits", f->nexus_bits);
    json_double(j, "nexus_bpi", figures_ratio(f->nexus_bits, f->instructions), 6);
    json_u64(j, "computing", c->computing);
    json_u64(j, "unmodelled", c->unmodelled);
    json_end(j);
}

static void print_json(const struct locality *w, const char *path,
                       const struct vs_locality_figures *f)
{
    struct json j;
    json_init(&j, &w->cli->out, 0);
    json_object(&j, NULL);
    if (path)
        json_str(&j, "run", path);
    else
        json_null(&j, "run");
    json_u64(&j, "instructions", f->instructions);
    json_u64(&j, "loads", f->loads);
    json_u64(&j, "stores", f->stores);
    json_hits(&j, "history", f, vs_locality_history, f->history);
    json_hits(&j, "table", f, vs_locality_table, f->table);
    json_filter(&j, f);
    json_end(&j);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* path NULL: the sum over runs. */
static void print(const struct locality *w, const char *path, const struct vs_locality_figures *f)
{
    if (w->o->json)
        print_json(w, path, f);
    else if (w->o->csv)
        print_csv(w, path, f);
    else
        print_text(w, path, f);
}

static int nothing(const struct locality *w, const char *path, const struct vs_run_info *info)
{
    bool recorded = info->features & VS_RUN_LOADS && info->features & VS_RUN_STORES;
    if (cli_missing(w->cli, path, info) != CLI_DONE)
        return CLI_BAD_DATA;
    cli_error(w->cli, "%s: nothing to study: %s", path,
              recorded ? "it has no loads and stores" : "loads and stores were not recorded");
    return CLI_USAGE;
}

static int study_run(struct locality *w, const char *path, struct vs_reader *reader)
{
    const struct vs_run_info *info = vs_reader_info(reader);
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_locality_figures f;
    struct vs_progress progress;
    vs_progress_init(&progress, stderr, "counting", info->events, "events");
    int error = vs_locality_run(&f, reader, &progress, &diag);
    vs_progress_finish(&progress);
    if (error)
        return cli_report(w->cli, path, error, &diag);
    if (!accesses(&f))
        return nothing(w, path, info);
    if (w->runs && !w->o->json && !w->o->csv)
        out_char(&w->cli->out, '\n');
    print(w, path, &f);
    vs_locality_add(&w->sum, &f);
    w->runs++;
    return cli_missing(w->cli, path, info);
}

static int study(struct locality *w, const char *path)
{
    struct vs_reader *reader;
    int status = cli_open(w->cli, &reader, path, false);
    if (status != CLI_DONE)
        return status;
    status = study_run(w, path, reader);
    vs_reader_close(reader);
    return status;
}

static int run(struct cli *cli, int argc, char **argv)
{
    struct locality_options o = {0};
    struct locality w = {.cli = cli, .o = &o};
    int status;
    if (!options_parse(cli, &command_locality, &o, &argc, argv, &status))
        return status;
    if (o.json && o.csv) {
        cli_error(cli, "--json and --csv exclude each other");
        return CLI_USAGE;
    }
    status = CLI_DONE;
    for (int i = 0; i < argc; i++)
        status = cli_worse(status, study(&w, argv[i]));
    if (w.runs > 1) {
        if (!o.json && !o.csv)
            out_char(&cli->out, '\n');
        print(&w, NULL, &w.sum);
    }
    return status;
}

#define FIELD(member) offsetof(struct locality_options, member)

static const struct cli_option options[] = {
    {.name = "json", .help = "one JSON object per run", .offset = FIELD(json)},
    {.name = "csv", .help = "the same as comma-separated values", .offset = FIELD(csv)},
    {0},
};

const struct command command_locality = {
    .name = "locality",
    .summary = "how much of the addresses that runs access is known before",
    .run = run,
    .options = options,
    .operands = "run.vest...",
    .operands_min = 1,
    .operands_max = INT_MAX,
    .description =
        "Looks every address of a load or store up among the last 16, 32 or 64 distinct\n"
        "ones of its core (history), and in a 4-way table of 32, 64 or 128 entries that\n"
        "is indexed by the instruction (table), on all its bits and on those above the\n"
        "lowest 4 or 8 (shift). Then the share of the addresses that a debugger computes\n"
        "by itself from registers that it knows (filtered%), by how the address comes\n"
        "about, and bits per instruction of the others. See docs/studies.md.",
    .example = "vestige locality run.vest\n"
               "vestige locality --csv *.vest\n"
               "vestige locality --json run.vest | jq .filter.loads",
    .exits = "0  done\n"
             "1  a run is damaged or incomplete\n"
             "2  bad usage, a run without loads and stores, or the system refused something",
};
