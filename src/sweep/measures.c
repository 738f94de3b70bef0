/* SPDX-License-Identifier: MIT */
#include "sweep/measures.h"

#include <stdio.h>
#include <string.h>

#include "port/field.h"
#include "technique/technique.h"

static uint64_t known_if(bool known, uint64_t value)
{
    return known ? value : VS_MEASURE_UNKNOWN;
}

#define FIGURE(name, expression)                                                                   \
    static uint64_t get_##name(const struct vs_bandwidth_figures *f)                               \
    {                                                                                              \
        return expression;                                                                         \
    }

FIGURE(instructions, f->instructions)
FIGURE(cycles, known_if(f->timed, f->cycles))
FIGURE(cores, f->cores)
FIGURE(bits, f->bits)
FIGURE(frame_bits, f->counts.frame)
FIGURE(messages, f->counts.messages)
FIGURE(whole_bits, f->whole)
FIGURE(storage_bits, f->storage)
FIGURE(gates, f->gates)
FIGURE(cache_bits, f->cache_bits)
FIGURE(windows, known_if(f->windowed, f->windows ? f->windows->count : 0))
FIGURE(peak_bits, known_if(f->windowed, f->summary.peak))
FIGURE(peak_at, known_if(f->windowed, f->summary.peak_at))
FIGURE(buffer_largest, known_if(f->buffered, f->largest))
FIGURE(dropped_bits, known_if(f->buffered, f->dropped_bits))
FIGURE(dropped_messages, known_if(f->buffered, f->dropped_messages))
FIGURE(stalled, known_if(f->buffered, f->stalled))

static const struct {
    const char *name;
    uint64_t (*get)(const struct vs_bandwidth_figures *f);
    enum vs_measure_sum sum;
} figures[] = {
    {"instructions", get_instructions, VS_MEASURE_ADD},
    {"cycles", get_cycles, VS_MEASURE_ADD},
    {"cores", get_cores, VS_MEASURE_LARGEST},
    {"bits", get_bits, VS_MEASURE_ADD},
    {"frame_bits", get_frame_bits, VS_MEASURE_ADD},
    {"messages", get_messages, VS_MEASURE_ADD},
    {"whole_bits", get_whole_bits, VS_MEASURE_ADD},
    {"storage_bits", get_storage_bits, VS_MEASURE_LARGEST},
    {"gates", get_gates, VS_MEASURE_LARGEST},
    {"cache_bits", get_cache_bits, VS_MEASURE_LARGEST},
    {"windows", get_windows, VS_MEASURE_ADD},
    {"peak_bits", get_peak_bits, VS_MEASURE_LARGEST},
    {"peak_at", get_peak_at, VS_MEASURE_LARGEST},
    {"buffer_largest", get_buffer_largest, VS_MEASURE_LARGEST},
    {"dropped_bits", get_dropped_bits, VS_MEASURE_ADD},
    {"dropped_messages", get_dropped_messages, VS_MEASURE_ADD},
    {"stalled", get_stalled, VS_MEASURE_ADD},
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static const char compared_name[] = "compared", prefix[] = "bits_";

const char *vs_measure_name(unsigned number)
{
    return number < FIGURES ? figures[number].name : number == FIGURES ? compared_name : NULL;
}

enum vs_measure_sum vs_measure_sum(const char *name)
{
    for (size_t i = 0; i < FIGURES; i++)
        if (!strcmp(figures[i].name, name))
            return figures[i].sum;
    return VS_MEASURE_ADD;
}

uint64_t vs_measure_missing(const char *name)
{
    const char *known;
    for (unsigned i = 0; (known = vs_measure_name(i)); i++)
        if (!strcmp(known, name))
            return VS_MEASURE_UNKNOWN;
    return 0;
}

static bool counts_have(const struct vs_count_row *row, const char *name)
{
    for (; row && row->name; row++)
        if (!strcmp(row->name, name))
            return true;
    return false;
}

bool vs_measure_exists(const char *name)
{
    const char *known;
    for (unsigned i = 0; (known = vs_measure_name(i)); i++)
        if (!strcmp(known, name))
            return true;
    if (!strncmp(name, prefix, sizeof(prefix) - 1))
        for (unsigned i = 0; i < VS_FIELD_END; i++)
            if (!strcmp(vs_field_name(i), name + sizeof(prefix) - 1))
                return true;
    for (size_t i = 0; vs_techniques[i]; i++)
        if (counts_have(vs_techniques[i]->encoder->rows, name))
            return true;
    return false;
}

int vs_measures_give(const struct vs_bandwidth_figures *f, uint64_t compared, vs_measure_sink *sink,
                     void *context)
{
    char name[64];
    int e = 0;
    for (size_t i = 0; i < FIGURES && !e; i++)
        e = sink(context, figures[i].name, figures[i].get(f));
    if (!e && compared)
        e = sink(context, compared_name, compared);
    for (unsigned i = 0; i < VS_FIELD_END && !e; i++) {
        snprintf(name, sizeof(name), "%s%s", prefix, vs_field_name(i));
        if (f->counts.bits[i])
            e = sink(context, name, f->counts.bits[i]);
    }
    /* What an encoder counts under the name of a figure is that figure. */
    for (const struct vs_count_row *row = f->encoded.rows; row && row->name && !e; row++) {
        uint64_t value = vs_counts_get(&f->encoded, row->name);
        bool figure = false;
        for (size_t i = 0; i < FIGURES; i++)
            figure |= !strcmp(figures[i].name, row->name);
        if (value && !figure)
            e = sink(context, row->name, value);
    }
    return e;
}
