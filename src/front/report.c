/* SPDX-License-Identifier: MIT */
#include "front/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct cell cell_real(double value)
{
    return (struct cell){.kind = isfinite(value) ? CELL_REAL : CELL_UNKNOWN, .real = value};
}

struct cell cell_ratio(uint64_t a, uint64_t b)
{
    return b ? cell_real((double)a / (double)b) : (struct cell){0};
}

static const void *member_of(const struct report_column *c, const void *row)
{
    return (const char *)row + c->offset;
}

static struct cell member_cell(const struct report_column *c, const void *row)
{
    const void *p = member_of(c, row);
    struct cell cell = {.kind = c->kind};

    switch (c->kind) {
    case CELL_TEXT:
        return cell_text(*(const char *const *)p);
    case CELL_WORD:
        return cell_word(*(const char *const *)p);
    case CELL_REAL:
        return cell_real(*(const double *)p);
    case CELL_UNKNOWN:
        break;
    case CELL_COUNT:
    case CELL_HEX:
    case CELL_BOOL:
        invariant(c->size && c->size <= sizeof(cell.count));
        memcpy(&cell.count, p, c->size); /* little-endian */
        break;
    }
    return cell;
}

struct cell report_cell(const struct report_column *column, const void *row)
{
    if (column->known && !column->known(row))
        return (struct cell){0};
    if (column->get_by)
        return column->get_by(row, column->by);
    return column->get ? column->get(row) : member_cell(column, row);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static bool is_last(const struct report_column *c)
{
    return !c->json && !c->csv && !c->text && !c->group;
}

/* Has room for an element of any rows. */
union element {
    char bytes[REPORT_ROW_MAX];
    uint64_t number;
    const void *pointer;
};

static bool element_at(const struct report_rows *rows, const void *row, size_t i,
                       union element *element)
{
    invariant(rows->size <= sizeof(element->bytes));
    return rows->at(row, i, element);
}

static bool is_shown(const struct report_column *c, const void *row)
{
    return !c->when || c->when(row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_cell(struct json *j, const char *key, const struct report_column *c,
                      struct cell cell)
{
    switch (cell.kind) {
    case CELL_UNKNOWN:
        json_null(j, key);
        break;
    case CELL_TEXT:
    case CELL_WORD:
        json_str(j, key, cell.text);
        break;
    case CELL_COUNT:
        json_u64(j, key, cell.count);
        break;
    case CELL_REAL:
        json_double(j, key, cell.real, c->json_places ? c->json_places : 6);
        break;
    case CELL_HEX:
        json_hex(j, key, cell.count);
        break;
    case CELL_BOOL:
        json_bool(j, key, cell.count);
        break;
    }
}

static void json_rows(struct json *j, const char *key, const struct report_column *c,
                      const void *row)
{
    const struct report_rows *rows = c->rows;
    union element element;

    (rows->name ? json_object : json_array)(j, key);
    for (size_t i = 0; element_at(rows, member_of(c, row), i, &element); i++)
        if (!rows->shown || rows->shown(&element))
            report_json(j, rows->name ? rows->name(&element) : NULL, c->group, &element);
    json_end(j);
}

static void json_column(struct json *j, const char *key, const struct report_column *c,
                        const void *row)
{
    if (c->known && !c->known(row))
        json_null(j, key);
    else if (c->rows)
        json_rows(j, key, c, row);
    else if (c->group)
        report_json(j, key, c->group, member_of(c, row));
    else
        json_cell(j, key, c, report_cell(c, row));
}

void report_json(struct json *j, const char *key, const struct report_column *columns,
                 const void *row)
{
    if (columns->json && !*columns->json) {
        json_column(j, key, columns, row);
        return;
    }
    json_object(j, key);
    for (const struct report_column *c = columns; !is_last(c); c++)
        if (c->json && is_shown(c, row))
            json_column(j, c->json, c, row);
    json_end(j);
}

void report_json_line(struct out *o, const struct report_column *columns, const void *row)
{
    struct json j;

    json_init(&j, o, 0);
    report_json(&j, NULL, columns, row);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv_cell(struct out *o, struct cell cell)
{
    switch (cell.kind) {
    case CELL_UNKNOWN:
        break;
    case CELL_TEXT:
        out_csv_text(o, cell.text);
        break;
    case CELL_WORD:
        out_str(o, cell.text);
        break;
    case CELL_REAL:
        out_printf(o, "%.6f", cell.real);
        break;
    case CELL_HEX:
        out_hex(o, cell.count, 0);
        break;
    case CELL_COUNT:
    case CELL_BOOL:
        out_dec(o, cell.count, 0);
        break;
    }
}

/* Prints a list in one value. */
static void csv_list(struct out *o, const struct report_column *c, const void *row)
{
    union element element;

    for (size_t i = 0; element_at(c->rows, member_of(c, row), i, &element); i++) {
        if (c->group->rows) {
            out_str(o, i ? ";" : "");
            csv_list(o, c->group, &element);
        } else {
            out_str(o, i ? " " : "");
            csv_cell(o, report_cell(c->group, &element));
        }
    }
}

/* Prints the columns of one place: their names, or the row's values. Returns the highest place that
 * there is. */
static int csv_columns(struct out *o, const struct report_column *columns, const void *row,
                       bool names, int place, bool *some)
{
    int highest = 0;

    for (const struct report_column *c = columns; !is_last(c); c++) {
        union element element;

        if (c->csv_when && !c->csv_when(row))
            continue;
        highest = c->csv_place > highest ? c->csv_place : highest;
        if (c->group && !c->rows) {
            int inside = csv_columns(o, c->group, member_of(c, row), names, place, some);
            highest = inside > highest ? inside : highest;
            continue;
        }
        if (!c->csv || c->csv_place != place)
            continue;
        for (size_t i = 0; c->spread && element_at(c->rows, member_of(c, row), i, &element); i++) {
            out_str(o, *some ? "," : "");
            *some = true;
            if (names)
                out_printf(o, "%s%s", c->csv, c->rows->name(&element));
            else
                csv_cell(o, report_cell(c->group, &element));
        }
        if (c->spread)
            continue;
        out_str(o, *some ? "," : "");
        *some = true;
        if (names)
            out_str(o, c->csv);
        else if (c->rows)
            csv_list(o, c, row);
        else
            csv_cell(o, report_cell(c, row));
    }
    return highest;
}

static void csv_line(struct out *o, const struct report_column *columns, const void *row,
                     bool names)
{
    bool some = false;

    for (int place = 0, highest = 0; place <= highest; place++)
        highest = csv_columns(o, columns, row, names, place, &some);
    out_char(o, '\n');
}

void report_csv_head(struct out *o, const struct report_column *columns, const void *like)
{
    csv_line(o, columns, like, true);
}

void report_csv(struct out *o, const struct report_column *columns, const void *row)
{
    csv_line(o, columns, row, false);
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { SHORT = 48 };

/* Writes a value that needs no escaping into buf; NULL if it is a text. */
static const char *cell_digits(char buf[SHORT], const struct report_column *c, struct cell cell)
{
    switch (cell.kind) {
    case CELL_UNKNOWN:
        return "-";
    case CELL_TEXT:
        return NULL;
    case CELL_WORD:
        return cell.text;
    case CELL_COUNT:
        if (!c->plain)
            return group_digits(buf, cell.count);
        snprintf(buf, SHORT, "%llu", (unsigned long long)cell.count);
        return buf;
    case CELL_REAL:
        snprintf(buf, SHORT, "%.*f", c->places, c->percent ? 100 * cell.real : cell.real);
        return buf;
    case CELL_HEX:
        snprintf(buf, SHORT, "0x%llx", (unsigned long long)cell.count);
        return buf;
    case CELL_BOOL:
        return cell.count ? "yes" : "no";
    }
    return "";
}

static void text_cell(struct out *o, const struct report_column *c, struct cell cell, int width)
{
    char buf[SHORT];
    const char *text = cell_digits(buf, c, cell);

    if (text)
        out_printf(o, "%*s", width, text);
    else
        out_safe(o, cell.text);
}

void report_text(struct out *o, const struct report_column *column, const void *row)
{
    text_cell(o, column, report_cell(column, row), column->width);
}

static void table_columns(struct out *o, const struct report_column *columns, const void *row,
                          bool names, bool *some)
{
    for (const struct report_column *c = columns; !is_last(c); c++) {
        bool nested = c->group && !c->rows;

        if ((!nested && !c->text) || !is_shown(c, row))
            continue;
        if (nested)
            table_columns(o, c->group, member_of(c, row), names, some);
        if (!c->text)
            continue;
        out_str(o, c->before ? c->before : *some ? " " : "");
        *some = true;
        if (names)
            out_printf(o, "%*s", c->width, c->text);
        else
            report_text(o, c, row);
    }
}

void report_table_names(struct out *o, const struct report_column *columns, const void *like,
                        unsigned indent)
{
    bool some = false;

    out_pad(o, indent);
    table_columns(o, columns, like, true, &some);
}

void report_table_cells(struct out *o, const struct report_column *columns, const void *row,
                        unsigned indent)
{
    bool some = false;

    out_pad(o, indent);
    table_columns(o, columns, row, false, &some);
}

void report_table_head(struct out *o, const struct report_column *columns, const void *like,
                       unsigned indent)
{
    report_table_names(o, columns, like, indent);
    out_char(o, '\n');
}

void report_table_row(struct out *o, const struct report_column *columns, const void *row,
                      unsigned indent)
{
    report_table_cells(o, columns, row, indent);
    out_char(o, '\n');
}

/* Finds the column of that name, and the row that it belongs to. */
static const struct report_column *find_column(const struct report_column *columns,
                                               const void **row, const char *name, size_t length)
{
    const char *dot = memchr(name, '.', length);
    size_t first = dot ? (size_t)(dot - name) : length;

    for (const struct report_column *c = columns; !is_last(c); c++) {
        const char *called = c->json && *c->json ? c->json : c->text;

        if (!called || strlen(called) != first || strncmp(called, name, first) != 0)
            continue;
        if (!dot)
            return c;
        *row = member_of(c, *row);
        return find_column(c->group, row, dot + 1, length - first - 1);
    }
    return NULL;
}

static void say_column(struct out *o, const struct report_column *columns, const void *row,
                       const char *name, size_t length)
{
    bool wide = *name == '>';
    name += wide;
    length -= wide;
    const char *things = memchr(name, ':', length);
    size_t n = things ? (size_t)(things - name) : length;
    const struct report_column *c = find_column(columns, &row, name, n);

    invariant(c);
    struct cell cell = report_cell(c, row);
    text_cell(o, c, cell, wide ? c->width : 0);
    if (things)
        out_printf(o, " %.*s%s", (int)(length - n - 1), things + 1,
                   cell.kind == CELL_COUNT && cell.count == 1 ? "" : "s");
}

void report_say(struct out *o, const struct report_column *columns, const void *row,
                const char *text)
{
    for (size_t n; *text; text += n) {
        n = strcspn(text, "{");
        out_mem(o, text, n);
        if (!text[n])
            break;
        text += n + 1;
        n = strcspn(text, "}");
        invariant(text[n]);
        say_column(o, columns, row, text, n++);
    }
}
