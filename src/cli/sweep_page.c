/* SPDX-License-Identifier: MIT */
#include "cli/sweep_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/outfile.h"
#include "page/document.h"

struct paging {
    struct json json;
    const struct sweep_rows *rows;
    const bool *is_best; /* by point */
    char *text;          /* of a cell */
};

/* The page shows a point's name, and one row of each. */
static bool is_shown(const struct vs_sweep_column *c)
{
    static const char *const names[] = {"kind", "run", "technique", "config", "rebuild"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(c->of, names[i]))
            return false;
    return true;
}

static void put_number(struct json *j, const char *key, bool known, uint64_t number)
{
    if (known)
        json_u64(j, key, number);
    else
        json_null(j, key);
}

static void put_point(struct paging *p, size_t number)
{
    const struct vs_sweep_table *t = p->rows->table;
    const struct vs_sweep_point *point = &t->sweep->points.items[number];
    struct json *j = &p->json;
    struct vs_sweep_row row;
    uint64_t x = 0, y = 0;
    if (!vs_sweep_table_is_complete(t, number, &row))
        return;
    bool known = vs_sweep_table_objectives(t, number, &row, &x, &y);
    json_object(j, NULL);
    json_str(j, "technique", point->technique);
    json_str(j, "config", point->config);
    json_bool(j, "frontier", p->is_best[number]);
    put_number(j, "x", known, x);
    put_number(j, "y", known, y);
    json_array(j, "cells");
    for (size_t i = 0; i < p->rows->shown; i++) {
        if (!is_shown(&t->columns[i]))
            continue;
        struct vs_sweep_cell cell = vs_sweep_table_cell(t, &row, i, p->text);
        if (cell.text)
            json_str(j, NULL, cell.text);
        else
            put_number(j, NULL, cell.known, cell.number);
    }
    json_end(j);
    json_end(j);
}

static void put_study(struct json *j, const struct vs_sweep *s, const char *study)
{
    json_str(j, "path", study);
    json_u64(j, "runs", s->runs.count);
    json_u64(j, "point_count", s->points.count);
    json_u64(j, "excluded", s->points.excluded);
    json_u64(j, "done", s->done);
    json_u64(j, "failed", s->failed);
    json_u64(j, "missing", s->units - s->done - s->failed);
    json_str(j, "group", s->study->group ? s->study->group : "all");
    json_array(j, "constraints");
    for (size_t i = 0; i < s->study->constraint_count; i++)
        json_str(j, NULL, s->study->constraints[i].text);
    json_end(j);
}

static void put_sweep(struct paging *p, const char *study)
{
    const struct vs_sweep_table *t = p->rows->table;
    struct json *j = &p->json;
    page_begin_sweep(j);
    put_study(j, t->sweep, study);
    json_array(j, "objectives");
    for (size_t i = 0; i < 2; i++)
        json_str(j, NULL, t->columns[t->objectives[i]].of);
    json_end(j);
    json_array(j, "columns");
    for (size_t i = 0; i < p->rows->shown; i++)
        if (is_shown(&t->columns[i])) {
            json_object(j, NULL);
            json_str(j, "name", t->columns[i].name);
            json_str(j, "of", t->columns[i].of);
            json_bool(j, "text", t->columns[i].text);
            json_end(j);
        }
    json_end(j);
    json_array(j, "points");
    for (size_t i = 0; i < t->sweep->points.count; i++)
        put_point(p, i);
    json_end(j);
    page_end_sweep(j);
}

static int write_to(struct cli *cli, struct vs_outfile *f, const char *path, struct paging *p,
                    const char *study)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct out out;
    out_init(&out, f->fd);
    out_enlarge(&out);
    page_begin(&p->json, &out);
    put_sweep(p, study);
    page_end(&p->json, &out);
    errno = out_flush(&out);
    int e = errno ? vs_diag_io(&diag, "write", path) : vs_outfile_commit(f, &diag);
    out_fini(&out);
    return e ? cli_report(cli, path, e, &diag) : CLI_DONE;
}

int sweep_write_page(struct cli *cli, const char *path, bool overwrite, const char *study,
                     const struct sweep_rows *rows, const size_t *frontier, size_t frontier_count)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct vs_outfile f = {.fd = -1};
    bool *is_best = calloc(rows->table->sweep->points.count + 1, sizeof(*is_best));
    struct paging p = {.rows = rows, .is_best = is_best, .text = malloc(VS_CELL_TEXT)};
    int status = CLI_USAGE;
    if (!is_best || !p.text) {
        cli_error(cli, "out of memory");
    } else {
        for (size_t i = 0; i < frontier_count; i++)
            is_best[frontier[i]] = true;
        int e = vs_outfile_open(&f, path, overwrite, &diag);
        status = e ? cli_report_output(cli, path, e, &diag) : write_to(cli, &f, path, &p, study);
        vs_outfile_abort(&f);
    }
    free(is_best);
    free(p.text);
    return status;
}
