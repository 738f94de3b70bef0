/* SPDX-License-Identifier: MIT */
#include "cli/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "front/json.h"
#include "technique/data.h"

double figures_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : NAN;
}

/* ---- making ---------------------------------------------------------------------------------- */

void figures_of(struct figures *f, const char *run, const char *config,
                const struct vs_bandwidth *b, const struct vs_bandwidth_row *row, uint64_t baseline)
{
    *f = (struct figures){
        .run = run,
        .technique = row->spec.technique->name,
        .config = config,
        .serves = row->spec.technique->serves,
        .cores = b->setup.cores,
        .timed = b->setup.timed,
        .bits = row->bits,
        .instructions = b->instructions,
        .cycles = b->cycles,
        .baseline = baseline,
        .whole = row->spec.technique->serves & VS_TECHNIQUE_FLOW
                     ? b->setup.address_bits * b->instructions
                     : 0,
        .counts = row->counts,
        .encoded = row->encoded,
        .storage = vs_cost_storage(row->cost),
        .gates = vs_cost_gates(row->cost),
        .cache_bits = vs_data_cache_bits(&row->spec, &b->setup),
        .windowed = b->options.window,
        .window = b->options.window,
        .end = b->end,
        .buffered = b->options.drain.bits,
        .capacity = b->options.drain.capacity,
        .stalls = b->options.drain.stall,
    };
    if (vs_technique_text(&row->spec, f->spec, sizeof(f->spec)) < 0)
        f->spec[0] = 0;
    if (f->windowed) {
        f->windows = &row->windows;
        vs_windows_summary(&row->windows, VS_WINDOW_ALL, b->end, &f->summary);
    }
    if (f->buffered) {
        f->largest = row->drain.largest;
        f->dropped_bits = row->drain.dropped_bits;
        f->dropped_messages = row->drain.dropped_messages;
        f->stalled = row->drain.stalled;
    }
}

static void add_windows(struct figures *sum, const struct figures *f)
{
    uint64_t end = sum->end + f->end;
    sum->summary.bits += f->summary.bits;
    sum->summary.average = figures_ratio(sum->summary.bits, end);
    if (f->summary.peak_rate > sum->summary.peak_rate) {
        sum->summary.peak = f->summary.peak;
        sum->summary.peak_at = f->summary.peak_at;
        sum->summary.peak_rate = f->summary.peak_rate;
    }
    sum->end = end;
}

void figures_add(struct figures *sum, const struct figures *f)
{
    if (!sum->technique) {
        *sum = *f;
        sum->run = NULL;
        sum->windows = NULL;
        sum->spec[0] = 0;
        sum->runs = 1;
        return;
    }
    sum->runs++;
    if (sum->cores != f->cores)
        sum->cores = 0;
    if (sum->storage != f->storage || sum->gates != f->gates)
        sum->storage = sum->gates = sum->cache_bits = 0;
    sum->timed &= f->timed;
    sum->bits += f->bits;
    sum->instructions += f->instructions;
    sum->cycles += f->cycles;
    sum->baseline += f->baseline;
    sum->whole += f->whole;
    vs_port_counts_add(&sum->counts, &f->counts);
    vs_counts_add(&sum->encoded, &f->encoded);
    add_windows(sum, f);
    sum->largest = f->largest > sum->largest ? f->largest : sum->largest;
    sum->dropped_bits += f->dropped_bits;
    sum->dropped_messages += f->dropped_messages;
    sum->stalled += f->stalled;
}

/* What the encoder met, by name; all messages are "messages". */
static uint64_t met(const struct figures *f, const char *name)
{
    return strcmp(name, "messages") ? vs_counts_get(&f->encoded, name) : f->counts.messages;
}

/* The sum of those named, up to NULL. */
static uint64_t met_together(const struct figures *f, const char *const *names)
{
    uint64_t sum = 0;
    while (*names)
        sum += met(f, *names++);
    return sum;
}

/* ---- text ------------------------------------------------------------------------------------ */

#define LOOKUPS "table_hits_mru", "table_hits_other", "table_hits_wider", "table_misses"

/* The columns of a kind that are shares: a part, and of what. */
static const struct share {
    const char *head;
    const char *part[3], *whole[5];
} shares[VS_TECHNIQUE_KINDS][3] = {
    {{"cond%", {"conditional_reported"}, {"conditional"}},
     {"ret%", {"returns_reported"}, {"returns"}},
     {"ind%", {"indirect_reported"}, {"indirect"}}},
    {{"load%", {"loads_reported"}, {"loads"}},
     {"line%", {"line_misses"}, {"line_hits", "line_misses"}},
     {"order%", {"order_messages"}, {"messages"}}},
    {{"sent%", {"loads_reported", "stores_reported"}, {"loads", "stores"}},
     {"mru%", {"table_hits_mru"}, {LOOKUPS}},
     {"miss%", {"table_misses"}, {LOOKUPS}}},
};

/* Of the first kind that it serves. */
static const struct share *shares_of(const struct figures *f)
{
    return shares[__builtin_ctz(f->serves)];
}

static void text_ratio(struct out *out, uint64_t a, uint64_t b, double scale, int width, int places)
{
    if (b)
        out_printf(out, " %*.*f", width, places, scale * (double)a / (double)b);
    else
        out_printf(out, " %*s", width, "-");
}

void figures_text_head(struct out *out, const struct figures *like)
{
    const struct share *share = shares_of(like);
    out_printf(out, "%-15s %-15s %14s %9s %9s %7s %8s %6s %6s %6s %9s %9s", "technique", "config",
               "bits", "bits/ins", "bits/cyc", "ratio", "msg/kins", share[0].head, share[1].head,
               share[2].head, "storage", "gates");
    if (like->windowed)
        out_printf(out, " %9s %9s", "average", "peak");
    if (like->buffered)
        out_printf(out, " %10s", "buffer");
    if (like->buffered && like->capacity)
        out_printf(out, " %10s", like->stalls ? "stalled" : "dropped");
    out_char(out, '\n');
}

static void text_fields(struct out *out, const struct figures *f)
{
    out_pad(out, 11);
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        if (f->counts.bits[i])
            out_printf(out, "%s %s  ", vs_field_name(i), DIGITS(f->counts.bits[i]));
    out_char(out, '\n');
}

/* As the head names them. */
static void text_shares(struct out *out, const struct figures *f)
{
    const struct share *share = shares_of(f);
    for (unsigned i = 0; i < 3; i++)
        text_ratio(out, met_together(f, share[i].part), met_together(f, share[i].whole), 100, 6, 2);
}

/* One that is too long for its columns has a line of its own. */
static void text_name(struct out *out, const struct figures *f)
{
    enum { NAME = 15, CONFIG = 15 };
    out_printf(out, "%-*s %-*s", NAME, f->technique, CONFIG, f->config);
    if (strlen(f->technique) > NAME || strlen(f->config) > CONFIG) {
        out_char(out, '\n');
        out_pad(out, NAME + 1 + CONFIG);
    }
}

void figures_text(struct out *out, const struct figures *f, bool fields)
{
    text_name(out, f);
    out_printf(out, " %14s", DIGITS(f->bits));
    text_ratio(out, f->bits, f->instructions, 1, 9, 5);
    text_ratio(out, f->bits, f->timed ? f->cycles : 0, 1, 9, 5);
    text_ratio(out, f->baseline, f->bits, 1, 7, 2);
    text_ratio(out, f->counts.messages, f->instructions, 1000, 8, 3);
    text_shares(out, f);
    if (f->storage)
        out_printf(out, " %9s %9s", DIGITS(f->storage), DIGITS(f->gates));
    else
        out_printf(out, " %9s %9s", "-", "-");
    if (f->windowed)
        out_printf(out, " %9.5f %9.5f", f->summary.average, f->summary.peak_rate);
    if (f->buffered)
        out_printf(out, " %10s", DIGITS(f->largest));
    if (f->buffered && f->capacity)
        out_printf(out, " %10s", DIGITS(f->stalls ? f->stalled : f->dropped_bits));
    out_char(out, '\n');
    if (fields)
        text_fields(out, f);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* Columns of what encoders met, which have its names. */
static const char *const branch_columns[] = {
    "conditional", "conditional_reported", "returns",         "returns_reported",
    "indirect",    "indirect_reported",    "discontinuities", "switches",
    NULL};
static const char *const access_columns[] = {"loads",
                                             "loads_reported",
                                             "stores",
                                             "line_hits",
                                             "line_misses",
                                             "state_messages",
                                             "state_message_bits",
                                             "order_messages",
                                             "order_message_bits",
                                             "stores_reported",
                                             LOOKUPS,
                                             NULL};

static void csv_names(struct out *out, const char *const *names)
{
    for (; *names; names++)
        out_printf(out, ",%s", *names);
}

static void csv_met(struct out *out, const struct figures *f, const char *const *names)
{
    for (; *names; names++)
        out_printf(out, ",%" PRIu64, met(f, *names));
}

void figures_csv_head(struct out *out, const struct figures *like)
{
    out_str(out, "run,technique,config,cores,bits,instructions,cycles,bpi,bpc,ratio,messages,"
                 "messages_per_kilo_instruction");
    csv_names(out, branch_columns);
    out_str(out, ",storage_bits,gates");
    csv_names(out, access_columns);
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        out_printf(out, ",bits_%s", vs_field_name(i));
    if (like->windowed)
        out_str(out, ",window,window_average,window_peak,series");
    if (like->buffered)
        out_str(out, ",buffer_largest,buffer_dropped_bits,buffer_dropped_messages");
    out_str(out, ",spec,whole_ratio,cache_fraction");
    if (like->windowed)
        out_str(out, ",core_averages,core_peaks,core_series");
    if (like->buffered)
        out_str(out, ",buffer_stalled_cycles");
    out_char(out, '\n');
}

static void csv_numbers(struct out *out, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out_printf(out, ",%" PRIu64, numbers[i]);
}

/* Separated by blanks. */
static void csv_series(struct out *out, const struct vs_windows *w, int core)
{
    for (size_t i = 0; i < w->count; i++)
        out_printf(out, "%s%" PRIu64, i ? " " : "", vs_windows_bits(w, i, core));
}

static void csv_windows(struct out *out, const struct figures *f)
{
    out_printf(out, ",%" PRIu64, f->window);
    out_csv_double(out, f->summary.average);
    out_csv_double(out, f->summary.peak_rate);
    out_char(out, ',');
    if (f->windows)
        csv_series(out, f->windows, VS_WINDOW_ALL);
}

/* The averages, peaks and series of the cores; not in a sum. */
static void csv_cores(struct out *out, const struct figures *f)
{
    unsigned cores = f->windows ? f->windows->cores : 0;
    struct vs_window_summary s;
    for (int what = 0; what < 2; what++) {
        out_char(out, ',');
        for (unsigned core = 0; core < cores; core++) {
            vs_windows_summary(f->windows, (int)core, f->end, &s);
            out_printf(out, "%s%.6f", core ? " " : "", what ? s.peak_rate : s.average);
        }
    }
    out_char(out, ',');
    for (unsigned core = 0; core < cores; core++) {
        out_str(out, core ? ";" : "");
        csv_series(out, f->windows, (int)core);
    }
}

void figures_csv(struct out *out, const struct figures *f)
{
    out_csv_text(out, f->run ? f->run : "total");
    out_printf(out, ",%s,", f->technique);
    out_csv_text(out, f->config);
    out_char(out, ',');
    if (f->cores)
        out_printf(out, "%u", f->cores);
    out_printf(out, ",%" PRIu64 ",%" PRIu64 ",", f->bits, f->instructions);
    if (f->timed)
        out_printf(out, "%" PRIu64, f->cycles);
    out_csv_double(out, figures_ratio(f->bits, f->instructions));
    out_csv_double(out, figures_ratio(f->bits, f->timed ? f->cycles : 0));
    out_csv_double(out, figures_ratio(f->baseline, f->bits));
    out_printf(out, ",%" PRIu64, f->counts.messages);
    out_csv_double(out, 1000 * figures_ratio(f->counts.messages, f->instructions));
    csv_met(out, f, branch_columns);
    csv_numbers(out, (const uint64_t[]){f->storage, f->gates}, 2);
    csv_met(out, f, access_columns);
    csv_numbers(out, f->counts.bits, VS_FIELD_END);
    if (f->windowed)
        csv_windows(out, f);
    if (f->buffered)
        csv_numbers(out, (const uint64_t[]){f->largest, f->dropped_bits, f->dropped_messages}, 3);
    out_char(out, ',');
    out_csv_text(out, f->spec);
    out_csv_double(out, f->whole ? figures_ratio(f->whole, f->bits) : NAN);
    out_csv_double(out, figures_ratio(f->storage, f->cache_bits));
    if (f->windowed)
        csv_cores(out, f);
    if (f->buffered)
        csv_numbers(out, &f->stalled, 1);
    out_char(out, '\n');
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_reported(struct json *j, const char *key, uint64_t count, uint64_t reported)
{
    json_object(j, key);
    json_u64(j, "count", count);
    json_u64(j, "reported", reported);
    json_double(j, "rate", figures_ratio(reported, count), 6);
    json_end(j);
}

/* The same, of counts by name. */
static void json_met(struct json *j, const struct figures *f, const char *key, const char *name)
{
    char reported[64];
    snprintf(reported, sizeof(reported), "%s_reported", name);
    json_reported(j, key, met(f, name), met(f, reported));
}

static void json_branches(struct json *j, const struct figures *f)
{
    json_double(j, "whole_ratio", figures_ratio(f->whole, f->bits), 6);
    json_u64(j, "whole_bits", f->whole);
    json_object(j, "branches");
    json_met(j, f, "conditional", "conditional");
    json_met(j, f, "returns", "returns");
    json_met(j, f, "indirect", "indirect");
    json_u64(j, "discontinuities", met(f, "discontinuities"));
    json_u64(j, "syncs", met(f, "syncs"));
    json_u64(j, "switches", met(f, "switches"));
    json_end(j);
}

/* Operands of up to `bytes`; the largest class has no bound. */
static void json_sizes(struct json *j, const struct figures *f)
{
    char known[64], reported[64], size[8];
    json_array(j, "sizes");
    for (unsigned i = 0; i < VS_DATA_SIZES; i++) {
        bool bound = i + 1 < VS_DATA_SIZES;
        snprintf(size, sizeof(size), bound ? "%u" : "more", 1u << i);
        snprintf(known, sizeof(known), "loads_known_%s", size);
        snprintf(reported, sizeof(reported), "loads_reported_%s", size);
        if (!met(f, known) && !met(f, reported))
            continue;
        json_object(j, NULL);
        if (bound)
            json_u64(j, "bytes", UINT64_C(1) << i);
        else
            json_null(j, "bytes");
        json_u64(j, "count", met(f, known) + met(f, reported));
        json_u64(j, "reported", met(f, reported));
        json_end(j);
    }
    json_end(j);
}

static void json_messages(struct json *j, const char *key, uint64_t messages, uint64_t bits)
{
    json_object(j, key);
    json_u64(j, "messages", messages);
    json_u64(j, "bits", bits);
    json_end(j);
}

static void json_data(struct json *j, const struct figures *f)
{
    uint64_t loads = met(f, "loads"), reported = met(f, "loads_reported");
    json_double(j, "cache_fraction", figures_ratio(f->storage, f->cache_bits), 6);
    json_object(j, "loads");
    json_u64(j, "count", loads);
    json_u64(j, "reported", reported);
    json_double(j, "rate", figures_ratio(reported, loads), 6);
    json_sizes(j, f);
    json_u64(j, "changed_unseen", met(f, "loads_unseen"));
    json_end(j);
    json_u64(j, "stores", met(f, "stores"));
    json_u64(j, "line_hits", met(f, "line_hits"));
    json_u64(j, "line_misses", met(f, "line_misses"));
    json_u64(j, "outside_writes", met(f, "outside_writes"));
    json_messages(j, "outside_values", met(f, "value_messages"), met(f, "value_message_bits"));
    json_messages(j, "states", met(f, "state_messages"), met(f, "state_message_bits"));
    json_messages(j, "orders", met(f, "order_messages"), met(f, "order_message_bits"));
    json_u64(j, "orders_implied", met(f, "orders_implied"));
}

/* By form, if anybody knows. */
static void json_forms(struct json *j, const struct figures *f, const char *operands)
{
    char name[64];
    bool any = false;
    for (unsigned i = 0; i < VS_FORM_END; i++) {
        snprintf(name, sizeof(name), "%s_%s", operands, vs_form_name(i));
        if (!met(f, name))
            continue;
        if (!any)
            json_object(j, "forms");
        any = true;
        json_met(j, f, vs_form_name(i), name);
    }
    if (any)
        json_end(j);
}

static void json_operands(struct json *j, const struct figures *f, const char *operands)
{
    char sent[64];
    snprintf(sent, sizeof(sent), "%s_reported", operands);
    json_object(j, operands);
    json_u64(j, "count", met(f, operands));
    json_u64(j, "reported", met(f, sent));
    json_double(j, "rate", figures_ratio(met(f, sent), met(f, operands)), 6);
    json_forms(j, f, operands);
    json_end(j);
}

static void json_addresses(struct json *j, const struct figures *f)
{
    uint64_t lookups = met_together(f, (const char *const[]){LOOKUPS, NULL});
    uint64_t hits = lookups - met(f, "table_misses");
    json_object(j, "addresses");
    json_operands(j, f, "loads");
    json_operands(j, f, "stores");
    if (lookups) {
        json_object(j, "table");
        json_u64(j, "hits_mru", met(f, "table_hits_mru"));
        json_u64(j, "hits_other", met(f, "table_hits_other"));
        json_u64(j, "hits_wider", met(f, "table_hits_wider"));
        json_u64(j, "misses", met(f, "table_misses"));
        json_double(j, "hit_rate", figures_ratio(hits, lookups), 6);
        json_double(j, "shift", figures_ratio(met(f, "table_shifts"), hits), 6);
        json_end(j);
    }
    if (met(f, "computing")) {
        json_u64(j, "computing", met(f, "computing"));
        json_u64(j, "unmodelled", met(f, "unmodelled"));
    }
    json_end(j);
}

static void json_summary(struct json *j, const struct vs_window_summary *s)
{
    json_double(j, "average", s->average, 6);
    json_double(j, "peak", s->peak_rate, 6);
    json_u64(j, "peak_bits", s->peak);
    json_u64(j, "peak_at", s->peak_at);
}

static void json_series(struct json *j, const char *key, const struct vs_windows *w, int core)
{
    json_array(j, key);
    for (size_t i = 0; i < w->count; i++)
        json_u64(j, NULL, vs_windows_bits(w, i, core));
    json_end(j);
}

static void json_cores(struct json *j, const struct figures *f)
{
    struct vs_window_summary s;
    json_array(j, "cores");
    for (unsigned core = 0; core < f->windows->cores; core++)
        json_series(j, NULL, f->windows, (int)core);
    json_end(j);
    json_array(j, "core_rates");
    for (unsigned core = 0; core < f->windows->cores; core++) {
        vs_windows_summary(f->windows, (int)core, f->end, &s);
        json_object(j, NULL);
        json_summary(j, &s);
        json_end(j);
    }
    json_end(j);
}

static void json_windows(struct json *j, const struct figures *f)
{
    json_object(j, "windows");
    json_u64(j, "width", f->window);
    json_str(j, "unit", f->timed ? "cycles" : "instructions");
    json_summary(j, &f->summary);
    if (f->windows) {
        json_series(j, "series", f->windows, VS_WINDOW_ALL);
        json_cores(j, f);
    }
    json_end(j);
}

static void json_buffer(struct json *j, const struct figures *f)
{
    json_object(j, "buffer");
    json_u64(j, "largest", f->largest);
    if (f->capacity) {
        json_u64(j, "capacity", f->capacity);
        json_u64(j, "dropped_bits", f->dropped_bits);
        json_u64(j, "dropped_messages", f->dropped_messages);
    }
    if (f->stalls)
        json_u64(j, "stalled_cycles", f->stalled);
    json_end(j);
}

static void json_known(struct json *j, const char *key, bool known, uint64_t value)
{
    if (known)
        json_u64(j, key, value);
    else
        json_null(j, key);
}

void figures_json(struct out *out, const struct figures *f)
{
    struct json j;
    json_init(&j, out, 0);
    json_object(&j, NULL);
    if (f->run)
        json_str(&j, "run", f->run);
    else
        json_null(&j, "run");
    json_str(&j, "technique", f->technique);
    json_str(&j, "config", f->config);
    if (f->spec[0])
        json_str(&j, "spec", f->spec);
    json_known(&j, "cores", f->cores, f->cores);
    json_u64(&j, "bits", f->bits);
    json_u64(&j, "instructions", f->instructions);
    json_known(&j, "cycles", f->timed, f->cycles);
    json_double(&j, "bpi", figures_ratio(f->bits, f->instructions), 6);
    json_double(&j, "bpc", figures_ratio(f->bits, f->timed ? f->cycles : 0), 6);
    json_double(&j, "ratio", figures_ratio(f->baseline, f->bits), 6);
    json_u64(&j, "baseline_bits", f->baseline);
    json_u64(&j, "messages", f->counts.messages);
    json_double(&j, "messages_per_kilo_instruction",
                1000 * figures_ratio(f->counts.messages, f->instructions), 6);
    json_object(&j, "fields");
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        if (f->counts.bits[i])
            json_u64(&j, vs_field_name(i), f->counts.bits[i]);
    json_end(&j);
    if (f->serves & VS_TECHNIQUE_FLOW)
        json_branches(&j, f);
    if (f->serves & VS_TECHNIQUE_DATA)
        json_data(&j, f);
    if (f->serves & VS_TECHNIQUE_ADDRESS)
        json_addresses(&j, f);
    json_known(&j, "storage_bits", f->storage, f->storage);
    json_known(&j, "gates", f->storage, f->gates);
    if (f->windowed)
        json_windows(&j, f);
    if (f->buffered)
        json_buffer(&j, f);
    json_end(&j);
}
