/* SPDX-License-Identifier: MIT */
#include "cli/shares.h"

#include <stdio.h>

#include "cli/where_print.h"

/* ---- columns --------------------------------------------------------------------------------- */

/* A row to print. */
struct share_row {
    const struct vs_bandwidth_figures *figures;
    struct vs_share share;
    uint64_t others; /* so many places are summed; 0: it is one place */
};

static bool row_at(const void *row, size_t i, void *element)
{
    const struct vs_bandwidth_figures *f = row;
    const struct vs_shares *s = f->shares;
    struct share_row *r = element;
    bool others = i == s->top && s->count > s->top;
    if (i >= s->top && !others)
        return false;
    *r = (struct share_row){.figures = f,
                            .share = others ? s->others : s->list[i],
                            .others = others ? s->count - s->top : 0};
    return true;
}

const struct report_rows shares_rows = {.size = sizeof(struct share_row), .at = row_at};

static const struct share_row *row_of(const void *row)
{
    return row;
}

static struct cell run_name(const void *row)
{
    return cell_text(row_of(row)->figures->run);
}

static struct cell technique(const void *row)
{
    return cell_word(row_of(row)->figures->technique);
}

static struct cell config(const void *row)
{
    return cell_text(row_of(row)->figures->config);
}

static struct cell by(const void *row)
{
    return cell_word(vs_by_name(row_of(row)->figures->shares->by));
}

static bool has_thread(const void *row)
{
    return row_of(row)->share.known && row_of(row)->figures->shares->by == VS_BY_THREAD;
}

static bool has_line(const void *row)
{
    return row_of(row)->share.line;
}

static bool is_others(const void *row)
{
    return row_of(row)->others;
}

#define TEXT(name)                                                                                 \
    {                                                                                              \
        .json = #name, .csv = #name, .kind = CELL_TEXT, REPORT_IN(share_row, share.name)           \
    }

const struct report_column shares_columns[] = {
    {.csv = "run", .get = run_name},
    {.csv = "technique", .get = technique},
    {.csv = "config", .get = config},
    {.csv = "by", .get = by},
    TEXT(image),
    TEXT(routine),
    TEXT(file),
    TEXT(folder),
    {.json = "line", .csv = "line", REPORT_AT(share_row, share.line), .known = has_line},
    {.json = "thread", .csv = "thread", REPORT_AT(share_row, share.thread), .known = has_thread},
    {.json = "others", .csv = "others", REPORT_AT(share_row, others), .known = is_others},
    {.json = "bits", .csv = "bits", REPORT_AT(share_row, share.bits)},
    {.json = "messages", .csv = "messages", REPORT_AT(share_row, share.messages)},
    {.json = "instructions", .csv = "instructions", REPORT_AT(share_row, share.instructions)},
    {0},
};

/* ---- printing -------------------------------------------------------------------------------- */

void shares_csv_head(struct out *out)
{
    report_csv_head(out, shares_columns, &(struct share_row){0});
}

void shares_csv(struct out *out, const struct vs_bandwidth_figures *f)
{
    struct share_row row;
    for (size_t i = 0; row_at(f, i, &row); i++)
        report_csv(out, shares_columns, &row);
}

static void text_place(struct out *out, const struct share_row *row)
{
    const struct vs_share *p = &row->share;
    if (row->others) {
        out_printf(out, "(%s other%s)", DIGITS(row->others), row->others == 1 ? "" : "s");
    } else if (!p->known) {
        out_str(out, "(where is not known)");
    } else if (row->figures->shares->by == VS_BY_THREAD) {
        out_printf(out, "t%u", p->thread);
    } else if (row->figures->shares->by == VS_BY_IMAGE) {
        out_safe(out, p->image ? p->image : "(outside all images)");
    } else if (p->file) {
        out_safe(out, p->file);
        out_printf(out, ":%u  (", p->line);
        out_safe(out, p->routine ? p->routine : "?");
        out_char(out, ')');
    } else if (p->image) {
        out_safe(out, p->routine ? p->routine : "(no name)");
        out_str(out, "  (");
        out_safe(out, where_file_name(p->image));
        out_char(out, ')');
    } else {
        out_str(out, "(outside all images)");
    }
}

void shares_text(struct out *out, const struct vs_bandwidth_figures *f)
{
    uint64_t total = f->bits;
    struct share_row row;
    for (size_t i = 0; row_at(f, i, &row); i++) {
        const struct vs_share *p = &row.share;
        char share[32];
        snprintf(share, sizeof(share), "%.2f", total ? 100 * (double)p->bits / (double)total : 0.0);
        out_printf(out, "  %18s %6s %%  %12s messages  ", DIGITS(p->bits), share,
                   DIGITS(p->messages));
        text_place(out, &row);
        out_char(out, '\n');
    }
}
