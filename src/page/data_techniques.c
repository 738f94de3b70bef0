/* SPDX-License-Identifier: MIT */
#include "page/data.h"

#include <string.h>

static const char *config_of(const struct page_run *run, size_t row)
{
    return run->specs[row] ? run->specs[row]->config : "default";
}

static const struct vs_bandwidth_row *baseline_of(const struct page_run *run,
                                                  enum vs_technique_kind kind)
{
    const struct vs_technique *t = vs_technique_baseline(kind);
    for (size_t i = 0; i < run->study.count; i++)
        if (run->study.rows[i].spec.technique == t && !strcmp(config_of(run, i), "default"))
            return &run->study.rows[i];
    return NULL;
}

static uint64_t baseline_bits(const struct page_run *run, const struct vs_technique *t)
{
    uint64_t bits = 0;
    for (unsigned kind = 1; kind < 1u << VS_TECHNIQUE_KINDS; kind <<= 1) {
        const struct vs_bandwidth_row *row = t->serves & kind ? baseline_of(run, kind) : NULL;
        bits += row ? row->bits : 0;
    }
    return bits;
}

static void put_fields(struct json *j, const struct vs_bandwidth_row *row)
{
    json_array(j, "fields");
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        json_u64(j, NULL, row->counts.bits[i]);
    json_end(j);
    json_u64(j, "frame", row->counts.frame);
}

static void put_buffers(struct json *j, const struct vs_buffers *b)
{
    json_array(j, "largest");
    for (unsigned w = 0; w < VS_BUFFERS_WIDTHS; w++)
        json_u64(j, NULL, vs_buffers_largest(b, w));
    json_end(j);
    json_array(j, "lost");
    for (unsigned i = 0; i < VS_BUFFERS_LIMITED; i++)
        json_u64(j, NULL, b->dropped_bits[i]);
    json_end(j);
    json_array(j, "lost_messages");
    for (unsigned i = 0; i < VS_BUFFERS_LIMITED; i++)
        json_u64(j, NULL, b->dropped_messages[i]);
    json_end(j);
    json_array(j, "occupancy");
    for (unsigned w = 0; w < VS_BUFFERS_WIDTHS; w++) {
        json_array(j, NULL);
        for (size_t i = 0; i < b->plan.count; i++)
            json_u64(j, NULL, vs_buffers_largest_in(b, w, i));
        json_end(j);
    }
    json_end(j);
}

static void put_row(struct json *j, const struct page_run *run, size_t i)
{
    const struct vs_bandwidth *b = &run->study;
    const struct vs_bandwidth_row *row = &b->rows[i];
    char spec[VS_TECHNIQUE_TEXT];
    json_object(j, NULL);
    json_str(j, "name", row->spec.technique->name);
    page_text(j, "config", config_of(run, i));
    json_str(j, "spec", vs_technique_text(&row->spec, spec, sizeof(spec)) < 0 ? "" : spec);
    json_u64(j, "serves", row->spec.technique->serves);
    json_str(j, "kinds", vs_technique_kinds_name(row->spec.technique->serves));
    json_u64(j, "bits", row->bits);
    json_u64(j, "messages", row->counts.messages);
    json_u64(j, "baseline", baseline_bits(run, row->spec.technique));
    json_u64(j, "storage", vs_cost_storage(row->cost));
    json_u64(j, "gates", vs_cost_gates(row->cost));
    put_fields(j, row);
    json_array(j, "windows");
    for (size_t w = 0; w < row->windows.count; w++)
        json_u64(j, NULL, vs_windows_bits(&row->windows, w, VS_WINDOW_ALL));
    json_end(j);
    put_buffers(j, &row->buffers);
    json_end(j);
}

void page_put_techniques(struct json *j, const struct page_run *run)
{
    json_object(j, "techniques");
    json_u64(j, "window", run->buffers.window);
    json_u64(j, "end", run->study.end);
    json_array(j, "quarters");
    for (unsigned i = 0; i < VS_BUFFERS_WIDTHS; i++)
        json_u64(j, NULL, vs_buffers_quarters[i]);
    json_end(j);
    json_array(j, "sizes");
    for (unsigned i = 1; i < VS_BUFFERS_SIZES; i++)
        json_u64(j, NULL, vs_buffers_sizes[i]);
    json_end(j);
    json_array(j, "fields");
    for (unsigned i = 0; i < VS_FIELD_END; i++)
        json_str(j, NULL, vs_field_name(i));
    json_end(j);
    json_array(j, "rows");
    for (size_t i = 0; i < run->study.count; i++)
        put_row(j, run, i);
    json_end(j);
    json_end(j);
}
