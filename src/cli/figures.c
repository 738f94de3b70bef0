/* SPDX-License-Identifier: MIT */
#include "cli/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/shares.h"
#include "technique/data.h"

static const struct vs_bandwidth_figures *figures_at(const void *row)
{
    return row;
}

/* How many of that name the encoder met; "messages" are all messages. */
static uint64_t met(const struct vs_bandwidth_figures *f, const char *name)
{
    return strcmp(name, "messages") ? vs_counts_get(&f->encoded, name) : f->counts.messages;
}

static struct cell met_cell(const void *row, const void *name)
{
    return cell_count(met(row, name));
}

/* How many of those that it met took a message. */
static uint64_t met_reported(const struct vs_bandwidth_figures *f, const char *name)
{
    char reported[96];
    snprintf(reported, sizeof(reported), "%s_reported", name);
    return met(f, reported);
}

static struct cell met_rate(const void *row, const void *name)
{
    return cell_ratio(met_reported(row, name), met(row, name));
}

#define MET(name) .get_by = met_cell, .by = (name)
#define RATE(name)                                                                                 \
    {                                                                                              \
        .json = "rate", .get_by = met_rate, .by = (name)                                           \
    }

static bool is_flow(const void *row)
{
    return figures_at(row)->serves & VS_TECHNIQUE_FLOW;
}

static bool is_data(const void *row)
{
    return figures_at(row)->serves & VS_TECHNIQUE_DATA;
}

static bool is_address(const void *row)
{
    return figures_at(row)->serves & VS_TECHNIQUE_ADDRESS;
}

/* In text, the table is that of the first kind that the technique serves. */
static bool is_data_first(const void *row)
{
    return is_data(row) && !is_flow(row);
}

static bool is_address_first(const void *row)
{
    return is_address(row) && !is_flow(row) && !is_data(row);
}

/* A share: what is summed of what the encoder met, and what it is a share of. */
struct share {
    const char *part[3], *whole[5];
};

static uint64_t met_together(const struct vs_bandwidth_figures *f, const char *const *names)
{
    uint64_t sum = 0;
    while (*names)
        sum += met(f, *names++);
    return sum;
}

static struct cell share_cell(const void *row, const void *by)
{
    const struct share *s = by;
    return cell_ratio(met_together(row, s->part), met_together(row, s->whole));
}

#define LOOKUPS "table_hits_mru", "table_hits_other", "table_hits_wider", "table_misses"

static const struct share conditional_share = {{"conditional_reported"}, {"conditional"}},
                          returns_share = {{"returns_reported"}, {"returns"}},
                          indirect_share = {{"indirect_reported"}, {"indirect"}},
                          load_share = {{"loads_reported"}, {"loads"}},
                          line_share = {{"line_misses"}, {"line_hits", "line_misses"}},
                          order_share = {{"order_messages"}, {"messages"}},
                          sent_share = {{"loads_reported", "stores_reported"}, {"loads", "stores"}},
                          mru_share = {{"table_hits_mru"}, {LOOKUPS}},
                          miss_share = {{"table_misses"}, {LOOKUPS}};

#define SHARE(heading, share, predicate)                                                           \
    {                                                                                              \
        .text = heading, .get_by = share_cell, .by = &(share), .when = predicate, .percent = true, \
        .width = 6, .places = 2                                                                    \
    }

/* ---- control flow ---------------------------------------------------------------------------- */

#define REPORTED(name)                                                                             \
    {                                                                                              \
        {.json = "count", .csv = #name, MET(#name)},                                               \
            {.json = "reported", .csv = #name "_reported", MET(#name "_reported")}, RATE(#name),   \
            {0},                                                                                   \
    }

static const struct report_column conditional_columns[] = REPORTED(conditional);
static const struct report_column returns_columns[] = REPORTED(returns);
static const struct report_column indirect_columns[] = REPORTED(indirect);

static const struct report_column branch_columns[] = {
    {.json = "conditional", .group = conditional_columns},
    {.json = "returns", .group = returns_columns},
    {.json = "indirect", .group = indirect_columns},
    {.json = "discontinuities", .csv = "discontinuities", MET("discontinuities")},
    {.json = "syncs", MET("syncs")},
    {.json = "switches", .csv = "switches", MET("switches")},
    {0},
};

/* ---- load values ----------------------------------------------------------------------------- */

/* Operands of up to `bytes` bytes; the largest class has no bound. */
struct size_row {
    uint64_t bytes, count, reported;
};

static bool size_at(const void *row, size_t i, void *element)
{
    char known[64], reported[64], size[8];
    bool bound = i + 1 < VS_DATA_SIZES;
    if (i >= VS_DATA_SIZES)
        return false;
    snprintf(size, sizeof(size), bound ? "%u" : "more", 1u << i);
    snprintf(known, sizeof(known), "loads_known_%s", size);
    snprintf(reported, sizeof(reported), "loads_reported_%s", size);
    *(struct size_row *)element = (struct size_row){.bytes = bound ? UINT64_C(1) << i : 0,
                                                    .count = met(row, known) + met(row, reported),
                                                    .reported = met(row, reported)};
    return true;
}

static bool is_met(const void *element)
{
    return ((const struct size_row *)element)->count;
}

static bool is_bound(const void *row)
{
    return ((const struct size_row *)row)->bytes;
}

static const struct report_rows size_rows = {
    .size = sizeof(struct size_row), .at = size_at, .shown = is_met};

static const struct report_column size_columns[] = {
    {.json = "bytes", REPORT_AT(size_row, bytes), .known = is_bound},
    REPORT_COUNT(size_row, count),
    REPORT_COUNT(size_row, reported),
    {0},
};

/* In CSV, what is counted of accesses comes after the costs. */
enum { ACCESSES = 1, FIELDS, PORT, LATER, LATEST };

static const struct report_column load_columns[] = {
    {.json = "count", .csv = "loads", MET("loads"), .csv_place = ACCESSES},
    {.json = "reported", .csv = "loads_reported", MET("loads_reported"), .csv_place = ACCESSES},
    RATE("loads"),
    {.json = "sizes", .rows = &size_rows, .group = size_columns},
    {.json = "changed_unseen", MET("loads_unseen")},
    {0},
};

static const struct report_column value_columns[] = {
    {.json = "messages", MET("value_messages")},
    {.json = "bits", MET("value_message_bits")},
    {0},
};

static const struct report_column state_columns[] = {
    {.json = "messages", .csv = "state_messages", MET("state_messages"), .csv_place = ACCESSES},
    {.json = "bits", .csv = "state_message_bits", MET("state_message_bits"), .csv_place = ACCESSES},
    {0},
};

static const struct report_column order_columns[] = {
    {.json = "messages", .csv = "order_messages", MET("order_messages"), .csv_place = ACCESSES},
    {.json = "bits", .csv = "order_message_bits", MET("order_message_bits"), .csv_place = ACCESSES},
    {0},
};

/* ---- data addresses -------------------------------------------------------------------------- */

/* Operands of one form, "loads" or "stores". */
struct form_row {
    const char *form;
    uint64_t count, reported;
};

static bool form_at(const struct vs_bandwidth_figures *f, size_t i, struct form_row *row,
                    const char *operands)
{
    char name[64];
    if (i >= VS_FORM_END)
        return false;
    row->form = vs_form_name((unsigned)i);
    snprintf(name, sizeof(name), "%s_%s", operands, row->form);
    row->count = met(f, name);
    row->reported = met_reported(f, name);
    return true;
}

static bool load_form_at(const void *row, size_t i, void *element)
{
    return form_at(row, i, element, "loads");
}

static bool store_form_at(const void *row, size_t i, void *element)
{
    return form_at(row, i, element, "stores");
}

static bool is_used(const void *element)
{
    return ((const struct form_row *)element)->count;
}

static const char *form_name(const void *element)
{
    return ((const struct form_row *)element)->form;
}

static struct cell form_rate(const void *row)
{
    const struct form_row *f = row;
    return cell_ratio(f->reported, f->count);
}

static const struct report_rows load_forms = {
    .size = sizeof(struct form_row), .at = load_form_at, .shown = is_used, .name = form_name};
static const struct report_rows store_forms = {
    .size = sizeof(struct form_row), .at = store_form_at, .shown = is_used, .name = form_name};

/* Whether any form has operands. */
static bool has_form(const void *row, bool (*at)(const void *row, size_t i, void *element))
{
    struct form_row form;
    for (size_t i = 0; at(row, i, &form); i++)
        if (form.count)
            return true;
    return false;
}

static bool has_load_forms(const void *row)
{
    return has_form(row, load_form_at);
}

static bool has_store_forms(const void *row)
{
    return has_form(row, store_form_at);
}

static const struct report_column form_columns[] = {
    REPORT_COUNT(form_row, count),
    REPORT_COUNT(form_row, reported),
    {.json = "rate", .get = form_rate},
    {0},
};

static const struct report_column address_load_columns[] = {
    {.json = "count", MET("loads")},
    {.json = "reported", MET("loads_reported")},
    RATE("loads"),
    {.json = "forms", .rows = &load_forms, .group = form_columns, .when = has_load_forms},
    {0},
};

static const struct report_column address_store_columns[] = {
    {.json = "count", MET("stores")},
    {.json = "reported", .csv = "stores_reported", MET("stores_reported"), .csv_place = ACCESSES},
    RATE("stores"),
    {.json = "forms", .rows = &store_forms, .group = form_columns, .when = has_store_forms},
    {0},
};

static uint64_t lookups(const struct vs_bandwidth_figures *f)
{
    return met_together(f, miss_share.whole);
}

static uint64_t table_hits(const struct vs_bandwidth_figures *f)
{
    return lookups(f) - met(f, "table_misses");
}

static struct cell hit_rate(const void *row)
{
    return cell_ratio(table_hits(row), lookups(row));
}

static struct cell mean_shift(const void *row)
{
    return cell_ratio(met(row, "table_shifts"), table_hits(row));
}

static bool has_lookups(const void *row)
{
    return lookups(row);
}

static bool has_computing(const void *row)
{
    return met(row, "computing");
}

static const struct report_column table_columns[] = {
    {.json = "hits_mru", .csv = "table_hits_mru", MET("table_hits_mru"), .csv_place = ACCESSES},
    {.json = "hits_other",
     .csv = "table_hits_other",
     MET("table_hits_other"),
     .csv_place = ACCESSES},
    {.json = "hits_wider",
     .csv = "table_hits_wider",
     MET("table_hits_wider"),
     .csv_place = ACCESSES},
    {.json = "misses", .csv = "table_misses", MET("table_misses"), .csv_place = ACCESSES},
    {.json = "hit_rate", .get = hit_rate},
    {.json = "shift", .get = mean_shift},
    {0},
};

static const struct report_column address_columns[] = {
    {.json = "loads", .group = address_load_columns},
    {.json = "stores", .group = address_store_columns},
    {.json = "table", .group = table_columns, .when = has_lookups},
    {.json = "computing", MET("computing"), .when = has_computing},
    {.json = "unmodelled", MET("unmodelled"), .when = has_computing},
    {0},
};

/* ---- over time ------------------------------------------------------------------------------- */

static bool is_windowed(const void *row)
{
    return figures_at(row)->windowed;
}

static bool has_windows(const void *row)
{
    return figures_at(row)->windows;
}

static struct cell window_unit(const void *row)
{
    return cell_word(figures_at(row)->timed ? "cycles" : "instructions");
}

static bool window_at(const void *row, size_t i, void *element)
{
    const struct vs_windows *w = figures_at(row)->windows;
    if (!w || i >= w->count)
        return false;
    *(uint64_t *)element = vs_windows_bits(w, i, VS_WINDOW_ALL);
    return true;
}

struct core_windows {
    const struct vs_windows *windows;
    int core;
};

static bool core_windows_at(const void *row, size_t i, void *element)
{
    const struct vs_windows *w = figures_at(row)->windows;
    *(struct core_windows *)element = (struct core_windows){w, (int)i};
    return w && i < w->cores;
}

static bool core_window_at(const void *row, size_t i, void *element)
{
    const struct core_windows *c = row;
    if (i >= c->windows->count)
        return false;
    *(uint64_t *)element = vs_windows_bits(c->windows, i, c->core);
    return true;
}

static bool core_rate_at(const void *row, size_t i, void *element)
{
    const struct vs_bandwidth_figures *f = row;
    if (!f->windows || i >= f->windows->cores)
        return false;
    vs_windows_summary(f->windows, (int)i, f->end, element);
    return true;
}

static const struct report_rows window_rows = {.size = sizeof(uint64_t), .at = window_at};
static const struct report_rows core_windows_rows = {.size = sizeof(struct core_windows),
                                                     .at = core_windows_at};
static const struct report_rows core_window_rows = {.size = sizeof(uint64_t), .at = core_window_at};
static const struct report_rows core_rate_rows = {.size = sizeof(struct vs_window_summary),
                                                  .at = core_rate_at};

static const struct report_column number_columns[] = {
    {.json = "", .kind = CELL_COUNT, .size = sizeof(uint64_t)},
    {0},
};

static const struct report_column series_columns[] = {
    {.json = "", .rows = &core_window_rows, .group = number_columns},
    {0},
};

#define AVERAGE .kind = CELL_REAL, REPORT_IN(vs_window_summary, average)
#define PEAK    .kind = CELL_REAL, REPORT_IN(vs_window_summary, peak_rate)

static const struct report_column average_columns[] = {{.json = "", AVERAGE}, {0}};
static const struct report_column peak_columns[] = {{.json = "", PEAK}, {0}};

static const struct report_column rate_columns[] = {
    {.json = "average", AVERAGE},
    {.json = "peak", PEAK},
    {.json = "peak_bits", REPORT_AT(vs_window_summary, peak)},
    REPORT_COUNT(vs_window_summary, peak_at),
    {0},
};

static const struct report_column window_columns[] = {
    {.json = "width", .csv = "window", REPORT_AT(vs_bandwidth_figures, window), .csv_place = PORT},
    {.json = "unit", .get = window_unit},
    {.json = "average",
     .csv = "window_average",
     .text = "average",
     .kind = CELL_REAL,
     REPORT_IN(vs_bandwidth_figures, summary.average),
     .csv_place = PORT,
     .width = 9,
     .places = 5},
    {.json = "peak",
     .csv = "window_peak",
     .text = "peak",
     .kind = CELL_REAL,
     REPORT_IN(vs_bandwidth_figures, summary.peak_rate),
     .csv_place = PORT,
     .width = 9,
     .places = 5},
    {.json = "peak_bits", REPORT_AT(vs_bandwidth_figures, summary.peak)},
    {.json = "peak_at", REPORT_AT(vs_bandwidth_figures, summary.peak_at)},
    {.json = "series",
     .csv = "series",
     .rows = &window_rows,
     .group = number_columns,
     .when = has_windows,
     .csv_place = PORT},
    {.json = "cores", .rows = &core_windows_rows, .group = series_columns, .when = has_windows},
    {.json = "core_rates", .rows = &core_rate_rows, .group = rate_columns, .when = has_windows},
    {.csv = "core_averages",
     .rows = &core_rate_rows,
     .group = average_columns,
     .csv_place = LATEST},
    {.csv = "core_peaks", .rows = &core_rate_rows, .group = peak_columns, .csv_place = LATEST},
    {.csv = "core_series",
     .rows = &core_windows_rows,
     .group = series_columns,
     .csv_place = LATEST},
    {0},
};

/* ---- the buffer ------------------------------------------------------------------------------ */

static bool is_buffered(const void *row)
{
    return figures_at(row)->buffered;
}

static bool has_capacity(const void *row)
{
    return figures_at(row)->capacity;
}

static bool does_stall(const void *row)
{
    return figures_at(row)->stalls;
}

static bool full_stalls(const void *row)
{
    return has_capacity(row) && does_stall(row);
}

static bool full_drops(const void *row)
{
    return has_capacity(row) && !does_stall(row);
}

static const struct report_column buffer_columns[] = {
    {.json = "largest",
     .csv = "buffer_largest",
     .text = "buffer",
     REPORT_AT(vs_bandwidth_figures, largest),
     .csv_place = PORT,
     .width = 10},
    {.json = "capacity", REPORT_AT(vs_bandwidth_figures, capacity), .when = has_capacity},
    {.json = "dropped_bits",
     .csv = "buffer_dropped_bits",
     REPORT_AT(vs_bandwidth_figures, dropped_bits),
     .when = has_capacity,
     .csv_place = PORT},
    {.json = "dropped_messages",
     .csv = "buffer_dropped_messages",
     REPORT_AT(vs_bandwidth_figures, dropped_messages),
     .when = has_capacity,
     .csv_place = PORT},
    {.json = "stalled_cycles",
     .csv = "buffer_stalled_cycles",
     REPORT_AT(vs_bandwidth_figures, stalled),
     .when = does_stall,
     .csv_place = LATEST},
    {.text = "stalled", REPORT_AT(vs_bandwidth_figures, stalled), .when = full_stalls, .width = 10},
    {.text = "dropped",
     REPORT_AT(vs_bandwidth_figures, dropped_bits),
     .when = full_drops,
     .width = 10},
    {0},
};

/* ---- all ------------------------------------------------------------------------------------- */

static struct cell run_or_total(const void *row)
{
    return cell_text(figures_at(row)->run ? figures_at(row)->run : "total");
}

static struct cell spec(const void *row)
{
    return cell_text(figures_at(row)->spec);
}

static bool has_spec(const void *row)
{
    return figures_at(row)->spec[0];
}

static bool has_cores(const void *row)
{
    return figures_at(row)->cores;
}

static bool is_timed(const void *row)
{
    return figures_at(row)->timed;
}

static bool has_whole(const void *row)
{
    return figures_at(row)->whole;
}

static bool has_cost(const void *row)
{
    return figures_at(row)->storage;
}

static struct cell bits_per_instruction(const void *row)
{
    return cell_ratio(figures_at(row)->bits, figures_at(row)->instructions);
}

static bool is_sampled(const void *row)
{
    return figures_at(row)->sampled;
}

static struct cell bits_error(const void *row)
{
    return cell_real(figures_at(row)->bits_error);
}

static struct cell rate_error(const void *row)
{
    const struct vs_bandwidth_figures *f = row;
    return cell_real(f->bits_error / (double)f->instructions);
}

/* As a share of the bits. */
static struct cell relative_error(const void *row)
{
    const struct vs_bandwidth_figures *f = row;
    return cell_real(f->bits_error / (double)f->bits);
}

static const struct report_column sample_columns[] = {
    {.json = "windows",
     .csv = "sample_windows",
     REPORT_AT(vs_bandwidth_figures, sample.windows),
     .csv_place = LATEST},
    {.json = "instructions",
     .csv = "sample_instructions",
     REPORT_AT(vs_bandwidth_figures, sample.instructions),
     .csv_place = LATEST},
    {.json = "bits_error",
     .csv = "sample_bits_error",
     .get = bits_error,
     .json_places = 1,
     .csv_place = LATEST},
    {.json = "bpi_error", .csv = "sample_bpi_error", .get = rate_error, .csv_place = LATEST},
    {.text = "+-%", .get = relative_error, .percent = true, .width = 6, .places = 2},
    {0},
};

static struct cell bits_per_cycle(const void *row)
{
    return cell_ratio(figures_at(row)->bits, figures_at(row)->cycles);
}

static struct cell against_baseline(const void *row)
{
    return cell_ratio(figures_at(row)->baseline, figures_at(row)->bits);
}

static struct cell messages_per_kilo(const void *row)
{
    const struct vs_bandwidth_figures *f = row;
    return f->instructions
               ? cell_real(1000 * ((double)f->counts.messages / (double)f->instructions))
               : (struct cell){0};
}

static struct cell against_whole(const void *row)
{
    return cell_ratio(figures_at(row)->whole, figures_at(row)->bits);
}

static struct cell cache_fraction(const void *row)
{
    return cell_ratio(figures_at(row)->storage, figures_at(row)->cache_bits);
}

struct field_row {
    const char *name;
    uint64_t bits;
};

static bool field_at(const void *row, size_t i, void *element)
{
    if (i >= VS_FIELD_END)
        return false;
    *(struct field_row *)element =
        (struct field_row){vs_field_name((unsigned)i), figures_at(row)->counts.bits[i]};
    return true;
}

static bool has_bits(const void *element)
{
    return ((const struct field_row *)element)->bits;
}

static const char *field_name(const void *element)
{
    return ((const struct field_row *)element)->name;
}

static const struct report_rows field_rows = {
    .size = sizeof(struct field_row), .at = field_at, .shown = has_bits, .name = field_name};

static const struct report_column field_columns[] = {
    {.json = "", .text = "bits", REPORT_AT(field_row, bits)},
    {0},
};

static bool has_shares(const void *row)
{
    return figures_at(row)->shares;
}

static struct cell shares_by(const void *row)
{
    return cell_word(vs_by_name(figures_at(row)->shares->by));
}

/* The columns that stand before the figures in text. */
static const struct report_column name_columns[] = {
    {.text = "technique",
     .kind = CELL_WORD,
     REPORT_IN(vs_bandwidth_figures, technique),
     .width = -15},
    {.text = "config", .kind = CELL_WORD, REPORT_IN(vs_bandwidth_figures, config), .width = -15},
    {0},
};

const struct report_column figures_columns[] = {
    {.json = "run", .kind = CELL_TEXT, REPORT_IN(vs_bandwidth_figures, run)},
    {.csv = "run", .get = run_or_total},
    {.json = "technique",
     .csv = "technique",
     .kind = CELL_WORD,
     REPORT_IN(vs_bandwidth_figures, technique)},
    {.json = "config", .csv = "config", .kind = CELL_TEXT, REPORT_IN(vs_bandwidth_figures, config)},
    {.json = "spec", .csv = "spec", .get = spec, .when = has_spec, .csv_place = LATER},
    {.json = "cores", .csv = "cores", REPORT_AT(vs_bandwidth_figures, cores), .known = has_cores},
    {.json = "bits",
     .csv = "bits",
     .text = "bits",
     REPORT_AT(vs_bandwidth_figures, bits),
     .width = 14,
     .before = " "},
    {.json = "instructions", .csv = "instructions", REPORT_AT(vs_bandwidth_figures, instructions)},
    {.json = "cycles", .csv = "cycles", REPORT_AT(vs_bandwidth_figures, cycles), .known = is_timed},
    {.json = "bpi",
     .csv = "bpi",
     .text = "bits/ins",
     .get = bits_per_instruction,
     .width = 9,
     .places = 5},
    {.json = "sample", .group = sample_columns, .when = is_sampled, .csv_when = is_sampled},
    {.json = "bpc",
     .csv = "bpc",
     .text = "bits/cyc",
     .get = bits_per_cycle,
     .known = is_timed,
     .width = 9,
     .places = 5},
    {.json = "ratio",
     .csv = "ratio",
     .text = "ratio",
     .get = against_baseline,
     .width = 7,
     .places = 2},
    {.json = "baseline_bits", REPORT_AT(vs_bandwidth_figures, baseline)},
    {.json = "messages", .csv = "messages", REPORT_AT(vs_bandwidth_figures, counts.messages)},
    {.json = "messages_per_kilo_instruction",
     .csv = "messages_per_kilo_instruction",
     .text = "msg/kins",
     .get = messages_per_kilo,
     .width = 8,
     .places = 3},
    {.json = "fields",
     .csv = "bits_",
     .rows = &field_rows,
     .group = field_columns,
     .spread = true,
     .csv_place = FIELDS},
    SHARE("cond%", conditional_share, is_flow),
    SHARE("ret%", returns_share, is_flow),
    SHARE("ind%", indirect_share, is_flow),
    SHARE("load%", load_share, is_data_first),
    SHARE("line%", line_share, is_data_first),
    SHARE("order%", order_share, is_data_first),
    SHARE("sent%", sent_share, is_address_first),
    SHARE("mru%", mru_share, is_address_first),
    SHARE("miss%", miss_share, is_address_first),
    {.json = "whole_ratio", .get = against_whole, .when = is_flow},
    {.csv = "whole_ratio", .get = against_whole, .known = has_whole, .csv_place = LATER},
    {.json = "whole_bits", REPORT_AT(vs_bandwidth_figures, whole), .when = is_flow},
    {.json = "branches", .group = branch_columns, .when = is_flow},
    {.json = "cache_fraction",
     .csv = "cache_fraction",
     .get = cache_fraction,
     .when = is_data,
     .csv_place = LATER},
    {.json = "loads", .group = load_columns, .when = is_data},
    {.json = "stores", .csv = "stores", MET("stores"), .when = is_data, .csv_place = ACCESSES},
    {.json = "line_hits",
     .csv = "line_hits",
     MET("line_hits"),
     .when = is_data,
     .csv_place = ACCESSES},
    {.json = "line_misses",
     .csv = "line_misses",
     MET("line_misses"),
     .when = is_data,
     .csv_place = ACCESSES},
    {.json = "outside_writes", MET("outside_writes"), .when = is_data},
    {.json = "outside_values", .group = value_columns, .when = is_data},
    {.json = "states", .group = state_columns, .when = is_data},
    {.json = "orders", .group = order_columns, .when = is_data},
    {.json = "orders_implied", MET("orders_implied"), .when = is_data},
    {.json = "addresses", .group = address_columns, .when = is_address},
    {.json = "storage_bits",
     .text = "storage",
     REPORT_AT(vs_bandwidth_figures, storage),
     .known = has_cost,
     .width = 9},
    {.json = "gates",
     .text = "gates",
     REPORT_AT(vs_bandwidth_figures, gates),
     .known = has_cost,
     .width = 9},
    {.csv = "storage_bits", REPORT_AT(vs_bandwidth_figures, storage)},
    {.csv = "gates", REPORT_AT(vs_bandwidth_figures, gates)},
    {.json = "windows", .group = window_columns, .when = is_windowed, .csv_when = is_windowed},
    {.json = "buffer", .group = buffer_columns, .when = is_buffered, .csv_when = is_buffered},
    {.json = "by", .get = shares_by, .when = has_shares},
    {.json = "places", .rows = &shares_rows, .group = shares_columns, .when = has_shares},
    {.json = "frame_bits",
     .csv = "frame_bits",
     REPORT_AT(vs_bandwidth_figures, counts.frame),
     .csv_place = LATEST},
    {0},
};

/* ---- text ------------------------------------------------------------------------------------ */

void figures_text_head(struct out *out, const struct vs_bandwidth_figures *like)
{
    report_table_names(out, name_columns, like, 0);
    report_table_head(out, figures_columns, like, 0);
}

static void text_fields(struct out *out, const struct vs_bandwidth_figures *f)
{
    struct field_row field;
    out_pad(out, 11);
    for (size_t i = 0; field_at(f, i, &field); i++)
        if (has_bits(&field)) {
            out_printf(out, "%s ", field.name);
            report_text(out, field_columns, &field);
            out_str(out, "  ");
        }
    if (f->counts.frame)
        out_printf(out, "(encapsulation %llu)", (unsigned long long)f->counts.frame);
    out_char(out, '\n');
}

void figures_text(struct out *out, const struct vs_bandwidth_figures *f, bool fields)
{
    size_t name = (size_t)-name_columns[0].width, config = (size_t)-name_columns[1].width;
    report_table_cells(out, name_columns, f, 0);
    if (strlen(f->technique) > name || strlen(f->config) > config) {
        out_char(out, '\n'); /* a name that is too long for its columns has a line of its own */
        out_pad(out, name + 1 + config);
    }
    report_table_row(out, figures_columns, f, 0);
    if (fields)
        text_fields(out, f);
    if (f->shares)
        shares_text(out, f);
}
