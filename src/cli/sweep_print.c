/* SPDX-License-Identifier: MIT */
#include "cli/sweep_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/json.h"

int sweep_each_row(const struct sweep_rows *r,
                   int (*row)(void *context, const struct vs_sweep_row *row, char *text),
                   void *context)
{
    struct vs_sweep_row at = {0};
    char *text = malloc(VS_CELL_TEXT);
    size_t count = r->points ? r->point_count : 1;
    bool by_run = r->table->sweep->study->by_run && !r->points;
    int e = text ? 0 : -VSE_NOMEM;
    for (size_t i = 0; i < count && !e; i++) {
        size_t point = r->points ? r->points[i] : 0;
        at = (struct vs_sweep_row){.point = point};
        /* Before the first row comes none: whether it is there is asked like for the others. */
        for (bool more = vs_sweep_table_next(r->table, &at, by_run, true);
             more && !e && (!r->points || at.point == point);
             more = vs_sweep_table_next(r->table, &at, by_run, false))
            e = row(context, &at, text);
    }
    free(text);
    return e;
}

struct printing {
    struct out *out;
    const struct sweep_rows *rows;
};

static int csv_row(void *context, const struct vs_sweep_row *row, char *text)
{
    const struct printing *p = context;
    const struct vs_sweep_table *t = p->rows->table;
    for (size_t i = 0; i < p->rows->shown; i++) {
        struct vs_sweep_cell cell = vs_sweep_table_cell(t, row, i, text);
        if (i)
            out_char(p->out, ',');
        if (cell.text)
            out_csv_text(p->out, cell.text);
        else if (cell.known)
            out_dec(p->out, cell.number, 0);
    }
    out_char(p->out, '\n');
    return 0;
}

int sweep_print_csv(struct out *out, const struct sweep_rows *r)
{
    struct printing p = {out, r};
    for (size_t i = 0; i < r->shown; i++)
        out_printf(out, "%s%s", i ? "," : "", r->table->columns[i].name);
    out_char(out, '\n');
    return sweep_each_row(r, csv_row, &p);
}

static int json_row(void *context, const struct vs_sweep_row *row, char *text)
{
    const struct printing *p = context;
    struct json j;
    json_init(&j, p->out, 0);
    json_object(&j, NULL);
    for (size_t i = 0; i < p->rows->shown; i++) {
        const char *name = p->rows->table->columns[i].name;
        struct vs_sweep_cell cell = vs_sweep_table_cell(p->rows->table, row, i, text);
        if (cell.text)
            json_str(&j, name, cell.text);
        else if (cell.known)
            json_u64(&j, name, cell.number);
        else
            json_null(&j, name);
    }
    json_end(&j);
    return 0;
}

int sweep_print_json(struct out *out, const struct sweep_rows *r)
{
    struct printing p = {out, r};
    return sweep_each_row(r, json_row, &p);
}

void sweep_print_frontier(struct out *out, const struct sweep_rows *r)
{
    const struct vs_sweep_table *t = r->table;
    uint64_t x, y;
    struct vs_sweep_row row;
    out_printf(out, "%16s %16s  technique\n", t->columns[t->objectives[0]].name,
               t->columns[t->objectives[1]].name);
    for (size_t i = 0; i < r->point_count; i++) {
        const struct vs_sweep_point *p = &t->sweep->points.items[r->points[i]];
        bool plain = !strcmp(p->config, "default");
        if (vs_sweep_table_objectives(t, r->points[i], &row, &x, &y))
            out_printf(out, "%16s %16s  %s%s%s\n", DIGITS(x), DIGITS(y), p->technique,
                       plain ? "" : ":", plain ? "" : p->config);
    }
}
