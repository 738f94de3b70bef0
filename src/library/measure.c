/* SPDX-License-Identifier: MIT */
#include "vestige/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/diag.h"
#include "library/catalog.h"
#include "library/sized.h"
#include "study/bandwidth.h"

struct vs_measure {
    struct vs_reader *reader;
    const struct vs_technique *const *table;
    struct vs_bandwidth study;
    char (*specs)[VS_TECHNIQUE_TEXT]; /* of the rows, once the run was read */
    bool begun, done;
};

int vs_measure_open(struct vs_measure **to, struct vs_reader *reader,
                    const struct vs_measure_options *options, struct vs_diag *diag)
{
    struct vs_measure_options o;
    struct vs_measure *m;
    *to = NULL;
    int err = reader ? vs_sized_take(&o, sizeof(o), options) : -VSE_INVAL;
    if (err)
        return vs_diag_set(diag, err, -1, -1, "%s",
                           err == -VSE_FEATURE ? "an option is set that this library does not know"
                                               : "no reader, or options without their size");
    if (!(m = calloc(1, sizeof(*m))))
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    m->reader = reader;
    m->table = vs_catalog_table(o.catalog);
    const struct vs_bandwidth_options study = {.window = o.window, .sync = o.sync};
    err = vs_bandwidth_init(&m->study, reader, &study, diag);
    if (err) {
        vs_measure_close(m);
        return err;
    }
    *to = m;
    return 0;
}

void vs_measure_close(struct vs_measure *m)
{
    if (!m)
        return;
    vs_bandwidth_fini(&m->study);
    free(m->specs);
    free(m);
}

int64_t vs_measure_add(struct vs_measure *m, const char *text, struct vs_diag *diag)
{
    struct vs_technique_spec spec;
    if (m->begun || !text)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "%s",
                           text ? "the run was read already; add techniques before"
                                : "no technique is named");
    int err = vs_technique_parse_in(m->table, &spec, text, diag);
    if (!err)
        err = vs_bandwidth_lacks(spec.technique, vs_reader_info(m->reader), diag);
    return err ? err : vs_bandwidth_add(&m->study, &spec, NULL, NULL, diag);
}

int vs_measure_run(struct vs_measure *m, struct vs_diag *diag)
{
    struct vs_diag own = {.offset = -1, .chunk = -1};
    if (m->begun)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "the run was read already");
    m->begun = true;
    m->specs = calloc(m->study.count + 1, sizeof(*m->specs));
    if (!m->specs)
        return vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    int err = vs_bandwidth_run(&m->study, m->reader, NULL, &own);
    for (size_t i = 0; i < m->study.count && !err; i++) {
        int length = vs_technique_text(&m->study.rows[i].spec, m->specs[i], sizeof(*m->specs));
        err = length < 0 ? length : 0;
    }
    m->done = !err;
    return err ? vs_diag_set(diag, err, own.offset, own.chunk, "%s",
                             own.text[0] ? own.text : vs_errstr(err))
               : 0;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Returns 0; -VSE_INVAL; -VSE_NOTFOUND. */
static int find(const struct vs_measure *m, uint64_t i, const struct vs_bandwidth_row **row)
{
    if (!m->done)
        return -VSE_INVAL;
    if (i >= m->study.count)
        return -VSE_NOTFOUND;
    *row = &m->study.rows[i];
    return 0;
}

int vs_measure_get(const struct vs_measure *m, uint64_t i, struct vs_measured *result)
{
    const struct vs_bandwidth_row *row;
    int err = find(m, i, &row);
    if (err)
        return err;
    const struct vs_measured own = {.technique = row->spec.technique->name,
                                    .spec = m->specs[i],
                                    .reports = row->spec.technique->serves,
                                    .cores = m->study.setup.cores,
                                    .bits = row->bits,
                                    .messages = row->counts.messages,
                                    .instructions = m->study.instructions,
                                    .cycles = m->study.cycles,
                                    .storage = vs_cost_storage(row->cost),
                                    .gates = vs_cost_gates(row->cost)};
    return vs_sized_give(result, &own, sizeof(own));
}

int vs_measure_field(const struct vs_measure *m, uint64_t i, unsigned k, const char **name,
                     uint64_t *bits)
{
    const struct vs_bandwidth_row *row;
    int err = find(m, i, &row);
    if (err || k >= VS_FIELD_END)
        return err ? err : -VSE_NOTFOUND;
    *name = vs_field_name(k);
    *bits = row->counts.bits[k];
    return 0;
}

int vs_measure_count(const struct vs_measure *m, uint64_t i, unsigned k, const char **name,
                     uint64_t *value)
{
    const struct vs_bandwidth_row *row;
    int err = find(m, i, &row);
    if (err)
        return err;
    const struct vs_count_row *counts = row->encoded.rows;
    for (unsigned at = 0; counts && counts[at].name; at++)
        if (at == k) {
            *name = counts[at].name;
            *value = row->encoded.values[counts[at].offset / sizeof(uint64_t)];
            return 0;
        }
    return -VSE_NOTFOUND;
}

int64_t vs_measure_windows(const struct vs_measure *m, uint64_t i, int core, uint64_t *bits,
                           size_t capacity)
{
    const struct vs_bandwidth_row *row;
    uint64_t width = m->study.options.window;
    int err = find(m, i, &row);
    if (err || !width)
        return err ? err : -VSE_INVAL;
    if (core < VS_WINDOW_ALL || core >= (int)m->study.setup.cores)
        return -VSE_NOTFOUND;
    uint64_t end = vs_windows_end(&row->windows, m->study.end);
    uint64_t count = end / width + (end % width != 0);
    for (size_t k = 0; k < capacity && k < count; k++)
        bits[k] = vs_windows_bits(&row->windows, k, core);
    return (int64_t)count;
}
