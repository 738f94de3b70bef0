/* SPDX-License-Identifier: MIT */
#include "study/bandwidth_figures.h"

#include <math.h>

uint64_t vs_bandwidth_bits(const struct vs_bandwidth *b, const struct vs_bandwidth_row *row)
{
    if (!b->options.sampling)
        return row->bits;
    uint64_t total = b->options.sampling->total;
    double rate = vs_sample_estimate(&row->samples, total).rate;
    return isnan(rate) ? 0 : (uint64_t)llround(rate * (double)total);
}

/* Makes the figures those of the whole run. What is counted, and not only compared, grows as the
 * bits do. */
static void estimate(struct vs_bandwidth_figures *f, const struct vs_bandwidth *b,
                     const struct vs_bandwidth_row *row)
{
    uint64_t total = b->options.sampling->total;
    f->sampled = true;
    f->sample = vs_sample_estimate(&row->samples, total);
    double factor = row->bits ? (double)vs_bandwidth_bits(b, row) / (double)row->bits : 0;
    f->bits_error = f->sample.error * (double)total;
    f->bits = vs_bandwidth_bits(b, row);
    f->instructions = total;
    f->whole = f->whole ? b->setup.address_bits * total : 0;
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        f->counts.bits[i] = (uint64_t)llround(factor * (double)f->counts.bits[i]);
    f->counts.messages = (uint64_t)llround(factor * (double)f->counts.messages);
}

void vs_bandwidth_figures_of(struct vs_bandwidth_figures *f, const char *run, const char *config,
                             const struct vs_bandwidth *b, const struct vs_bandwidth_row *row,
                             uint64_t baseline)
{
    *f = (struct vs_bandwidth_figures){
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
        .cache_bits = vs_technique_cache_bits(&row->spec, &b->setup),
        .windowed = b->options.window,
        .window = b->options.window,
        .end = b->end,
        .buffered = b->options.drain.bits,
        .capacity = b->options.drain.capacity,
        .stalls = b->options.drain.stall,
    };
    if (vs_technique_text(&row->spec, f->spec, sizeof(f->spec)) < 0)
        f->spec[0] = 0;
    if (b->options.sampling)
        estimate(f, b, row);
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

static void add_windows(struct vs_bandwidth_figures *sum, const struct vs_bandwidth_figures *f)
{
    uint64_t end = sum->end + f->end;
    sum->summary.bits += f->summary.bits;
    sum->summary.average = end ? (double)sum->summary.bits / (double)end : NAN;
    if (f->summary.peak_rate > sum->summary.peak_rate) {
        sum->summary.peak = f->summary.peak;
        sum->summary.peak_at = f->summary.peak_at;
        sum->summary.peak_rate = f->summary.peak_rate;
    }
    sum->end = end;
}

void vs_bandwidth_figures_add(struct vs_bandwidth_figures *sum,
                              const struct vs_bandwidth_figures *f)
{
    if (!sum->technique) {
        *sum = *f;
        sum->run = NULL;
        sum->windows = NULL;
        sum->shares = NULL;
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
    /* Runs are sampled independently. */
    sum->bits_error = sqrt(sum->bits_error * sum->bits_error + f->bits_error * f->bits_error);
    sum->sample.windows += f->sample.windows;
    sum->sample.instructions += f->sample.instructions;
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
