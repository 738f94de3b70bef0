/* SPDX-License-Identifier: MIT */
#include "front/plot_axes.h"

#include <math.h>

enum { LEFT = AXES_LEFT, RIGHT = AXES_RIGHT, TOP = AXES_TOP, BOTTOM = AXES_BOTTOM };

enum { TERMS = 10 };

/* The largest power of ten that is not above v, apart from rounding. */
static double decade(double v)
{
    double power = 1;
    while (power * 10 <= v * (1 + 1e-9))
        power *= 10;
    while (power > v * (1 + 1e-9))
        power /= 10;
    return power;
}

double axes_round_up(double v)
{
    double power = decade(v), m = v / power * (1 - 1e-9);
    return power * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

double axes_round_down(double v)
{
    double power = decade(v), m = v / power * (1 + 1e-9);
    return power * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
}

static double level_step(double highest)
{
    return axes_round_up(highest / 10);
}

double axes_level_up(double v)
{
    double step = level_step(v), levels = 1;
    while (levels * step < v * (1 - 1e-9))
        levels++;
    return levels * step;
}

/* The natural logarithm, more exact than a pixel needs, by elementary arithmetic alone, so that
 * charts are the same whatever C library draws them. v is 2^e m with m from 1/2 to 1, and the
 * logarithm of m is 2 artanh((m - 1) / (m + 1)). */
static double log_of(double v)
{
    int e;
    double m = frexp(v, &e), z = (m - 1) / (m + 1), power = z, sum = 0;
    for (int i = 0; i < TERMS; i++, power *= z * z)
        sum += power / (2 * i + 1);
    return 2 * sum + e * 0.69314718055994531;
}

double axes_x(const struct axes *a, double time)
{
    return LEFT + (RIGHT - LEFT) * (time < a->end ? time / a->end : 1);
}

static double share(const struct axes *a, double rate)
{
    if (rate <= a->lowest)
        return 0;
    if (rate >= a->highest)
        return 1;
    return a->log ? log_of(rate / a->lowest) / log_of(a->highest / a->lowest) : rate / a->highest;
}

double axes_y(const struct axes *a, double rate)
{
    return BOTTOM - (BOTTOM - TOP) * share(a, rate);
}

void axes_number(struct out *out, double x, double y, const char *anchor, double number)
{
    out_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%.4g</text>\n", x, y, anchor,
               number);
}

static void draw_time(struct out *out, const struct axes *a)
{
    static const struct {
        double size;
        const char *name;
    } units[] = {{1e9, "billion "}, {1e6, "million "}, {1e3, "thousand "}, {1, ""}};
    double step = a->end > 10 ? axes_round_up(a->end / 10) : 1;
    unsigned unit = 0;
    while (units[unit].size > 1 && a->end < 2 * units[unit].size)
        unit++;
    for (unsigned i = 0; i * step <= a->end; i++) {
        double x = axes_x(a, i * step);
        out_printf(out, "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>\n", x, TOP, BOTTOM);
        axes_number(out, x, BOTTOM + 16, "middle", i * step / units[unit].size);
    }
    out_printf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s%s</text>\n",
               (LEFT + RIGHT) / 2, BOTTOM + 36, units[unit].name, a->time);
}

static void draw_level(struct out *out, const struct axes *a, double rate, bool labelled)
{
    double y = axes_y(a, rate);
    out_printf(out, "<path d=\"M%d %.1fH%d\" stroke=\"%s\"/>\n", LEFT, y, RIGHT,
               labelled ? "#ddd" : "#f2f2f2");
    if (labelled)
        axes_number(out, LEFT - 6, y + 4, "end", rate);
}

static void draw_linear(struct out *out, const struct axes *a)
{
    double step = level_step(a->highest);
    for (unsigned i = 0; i * step <= a->highest * (1 + 1e-9); i++)
        draw_level(out, a, i * step, true);
}

static void draw_log(struct out *out, const struct axes *a)
{
    bool few = a->highest < 1001 * a->lowest; /* there is then room for labels at 2 and 5, too */
    for (double power = decade(a->lowest); power <= a->highest * (1 + 1e-9); power *= 10)
        for (unsigned m = 1; m < 10; m++) {
            double rate = m * power;
            if (rate >= a->lowest * (1 - 1e-9) && rate <= a->highest * (1 + 1e-9))
                draw_level(out, a, rate, m == 1 || (few && (m == 2 || m == 5)));
        }
}

void axes_draw(struct out *out, const struct axes *a)
{
    draw_time(out, a);
    (a->log ? draw_log : draw_linear)(out, a);
    out_printf(out,
               "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s%s"
               "</text>\n",
               (TOP + BOTTOM) / 2, a->rate, a->log ? ", logarithmic" : "");
    out_printf(out, "<path d=\"M%d %dV%dH%d\" stroke=\"#333\" fill=\"none\"/>\n", LEFT, TOP, BOTTOM,
               RIGHT);
}
