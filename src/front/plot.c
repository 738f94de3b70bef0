/* SPDX-License-Identifier: MIT */
#include "front/plot.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "front/plot_axes.h"

/* In pixels. The legend is below the axes, in columns. */
enum {
    WIDTH = 960,
    LEGEND = 466,
    ROW = 18,
    COLUMN = 438,
    LEGEND_COLUMNS = 2,
    TITLE_BYTES = 84,
    LABEL_BYTES = 34,
};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

uint64_t plot_window(uint64_t length)
{
    return length > 250 ? (uint64_t)(axes_round_up((double)length / 250) + 0.5) : 1;
}

static size_t window_count(const struct plot *p, const struct plot_line *l)
{
    uint64_t end = vs_windows_end(l->windows, p->end);
    return (size_t)(end / p->window + (end % p->window != 0));
}

/* The rate's axis is logarithmic if averages differ by more than 10 times. It then begins at the
 * lowest rate, but not far below the lowest average. It ends above the peak, which is that of the
 * window with the most bits: the last window may have any rate, if the run's end leaves little of
 * it. */
static void find_axes(const struct plot *p, struct axes *a)
{
    double least = INFINITY, most = 0, low = INFINITY;
    struct vs_window_summary s;
    *a = (struct axes){.time = p->timed ? "cycles" : "instructions",
                       .rate = p->timed ? "bits per cycle" : "bits per instruction",
                       .end = (double)(p->end ? p->end : 1)};
    for (const struct plot_line *l = p->lines; l < p->lines + p->count; l++) {
        uint64_t end = vs_windows_end(l->windows, p->end);
        vs_windows_summary(l->windows, l->core, p->end, &s);
        a->end = larger(a->end, (double)end);
        a->highest = larger(a->highest, s.peak_rate);
        if (!s.bits)
            continue;
        least = smaller(least, s.average);
        most = larger(most, s.average);
        for (size_t i = 0; i < l->windows->count; i++) {
            double rate = vs_windows_rate(l->windows, i, l->core, p->end);
            low = rate > 0 ? smaller(low, rate) : low;
        }
    }
    a->log = most > 10 * least;
    a->lowest = a->log ? axes_round_down(larger(low, least / 20)) : 0;
    a->highest = !a->highest ? 1 : a->log ? axes_round_up(a->highest) : axes_level_up(a->highest);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Whether XML can have the character: it has no way to write control characters, nor what is no
 * character. */
static bool is_xml(const char *s, size_t n)
{
    return n == 1   ? (unsigned char)*s >= 0x20 && *s != 0x7f
           : n == 2 ? memcmp(s, "\xc2\xa0", 2) >= 0
                    : n && memcmp(s, "\xef\xbf\xbe", 3) && memcmp(s, "\xef\xbf\xbf", 3);
}

/* Prints up to `end` bytes, and dots if that is not all. */
static void put_text(struct out *out, const char *s, size_t end)
{
    const char *stop = s + strnlen(s, end);
    while (s < stop) {
        size_t n = utf8_length(s);
        if (!is_xml(s, n))
            out_str(out, "\xef\xbf\xbd");
        else if (strchr("<>&\"'", *s))
            out_printf(out, "&#%d;", *s);
        else
            out_mem(out, s, n);
        s += n ? n : 1;
    }
    if (*s)
        out_str(out, "\xe2\x80\xa6");
}

/* A path's end says more than its beginning. */
static void put_title(struct out *out, const char *s)
{
    size_t size = strlen(s);
    if (size > TITLE_BYTES) {
        out_str(out, "\xe2\x80\xa6");
        for (s += size - TITLE_BYTES; ((unsigned char)*s & 0xc0) == 0x80;)
            s++;
    }
    put_text(out, s, TITLE_BYTES);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Each line has a colour and dashes of its own. The sum over cores that are shown is wider, so that
 * both are seen where a single core makes up all of it. */
static void put_stroke(struct out *out, const struct plot *p, size_t number)
{
    static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd",
                                          "#17becf", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22"};
    static const char *const dashes[] = {"", "6 3", "2 2", "8 3 2 3"};
    enum { COLOURS = sizeof(colours) / sizeof(colours[0]) };
    _Static_assert(COLOURS * sizeof(dashes) / sizeof(dashes[0]) == PLOT_LINES, "each line its own");
    bool sum = !number && p->lines[p->count - 1].core != VS_WINDOW_ALL;
    out_printf(out, " stroke=\"%s\" stroke-width=\"%s\"", colours[number % COLOURS],
               sum ? "4" : "1.5");
    if (number >= COLOURS)
        out_printf(out, " stroke-dasharray=\"%s\"", dashes[number / COLOURS]);
}

/* Draws a step for each window; if there are more windows than pixels, a stroke for those in a
 * pixel. */
static void draw_line(struct out *out, const struct plot *p, const struct axes *a, size_t number)
{
    const struct plot_line *l = &p->lines[number];
    size_t count = window_count(p, l), group = 1 + count / (AXES_RIGHT - AXES_LEFT);
    if (!count)
        return;
    out_str(out, "<path fill=\"none\" stroke-linejoin=\"round\"");
    put_stroke(out, p, number);
    for (size_t i = 0; i < count; i += group) {
        double low = INFINITY, high = 0;
        for (size_t k = i; k < i + group && k < count; k++) {
            double rate = vs_windows_rate(l->windows, k, l->core, p->end);
            low = smaller(low, rate);
            high = larger(high, rate);
        }
        if (!i)
            out_printf(out, " d=\"M%d %.1f", AXES_LEFT, axes_y(a, high));
        else
            out_printf(out, "V%.1f", axes_y(a, high));
        if (low < high)
            out_printf(out, "V%.1f", axes_y(a, low));
        out_printf(out, "H%.1f", axes_x(a, (double)(i + group) * (double)p->window));
    }
    out_str(out, "\"/>\n");
}

static size_t legend_rows(const struct plot *p)
{
    return (p->count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
}

static void draw_legend(struct out *out, const struct plot *p)
{
    size_t rows = legend_rows(p);
    struct vs_window_summary s;
    for (size_t i = 0; i < p->count; i++) {
        int x = AXES_LEFT + (int)(i / rows) * COLUMN, y = LEGEND + (int)(i % rows + 1) * ROW;
        if (i % rows == 0)
            out_printf(out,
                       "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">average</text>\n"
                       "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">peak</text>\n",
                       x + 338, LEGEND, x + 408, LEGEND);
        out_printf(out, "<path d=\"M%d %dh30\"", x, y - 4);
        put_stroke(out, p, i);
        out_printf(out, "/>\n<text x=\"%d\" y=\"%d\">", x + 38, y);
        put_text(out, p->lines[i].label, LABEL_BYTES);
        out_str(out, "</text>\n");
        vs_windows_summary(p->lines[i].windows, p->lines[i].core, p->end, &s);
        axes_number(out, x + 338, y, "end", s.average);
        axes_number(out, x + 408, y, "end", s.peak_rate);
    }
}

static void draw(struct out *out, const struct plot *p)
{
    size_t height = LEGEND + (legend_rows(p) + 1) * ROW;
    struct axes a;
    char width[32];
    find_axes(p, &a);
    out_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" viewBox=\"0 "
               "0 %d %zu\" font-family=\"sans-serif\" font-size=\"12\">\n<title>",
               WIDTH, height, WIDTH, height);
    put_title(out, p->title);
    out_printf(out,
               "</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
               "<text x=\"%d\" y=\"24\" font-size=\"15\" font-weight=\"bold\">",
               AXES_LEFT);
    put_title(out, p->title);
    out_printf(out, "</text>\n<text x=\"%d\" y=\"44\">%u core%s, windows of %s %s</text>\n",
               AXES_LEFT, p->cores, p->cores == 1 ? "" : "s", group_digits(width, p->window),
               p->timed ? "cycles" : "instructions");
    axes_draw(out, &a);
    for (size_t i = 0; i < p->count; i++)
        draw_line(out, p, &a, i);
    draw_legend(out, p);
    out_str(out, "</svg>\n");
}

/* ---- the file -------------------------------------------------------------------------------- */

int plot_open(struct plot *p, struct cli *cli, const char *path, bool overwrite)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    *p = (struct plot){.path = path};
    int e = vs_outfile_open(&p->file, path, overwrite, &diag);
    return e ? cli_report_output(cli, path, e, &diag) : CLI_DONE;
}

int plot_write(struct plot *p, struct cli *cli)
{
    struct vs_diag diag = {.offset = -1, .chunk = -1};
    struct out out;
    out_init(&out, p->file.fd);
    draw(&out, p);
    errno = out_flush(&out);
    int e = errno ? vs_diag_io(&diag, "write", p->path) : vs_outfile_commit(&p->file, &diag);
    return e ? cli_report(cli, p->path, e, &diag) : CLI_DONE;
}

void plot_close(struct plot *p)
{
    vs_outfile_abort(&p->file);
}
