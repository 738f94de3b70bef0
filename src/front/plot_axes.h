/* SPDX-License-Identifier: MIT */
/* The axes of a plot, with round numbers on them: time to the right, a rate upwards. */
#ifndef FRONT_PLOT_AXES_H
#define FRONT_PLOT_AXES_H

#include <stdbool.h>

#include "front/out.h"

/* The pixels that they enclose. */
enum { AXES_LEFT = 72, AXES_RIGHT = 936, AXES_TOP = 60, AXES_BOTTOM = 400 };

struct axes {
    const char *time, *rate; /* what they are called */
    double end;              /* the time's, which begins at 0 */
    double lowest, highest;  /* the rate's; the lowest is 0 unless the axis is logarithmic */
    bool log;
};

/* The next of ... 0.5, 1, 2, 5, 10 ... that is not below, or not above, v > 0. */
double axes_round_up(double v);
double axes_round_down(double v);

/* The lowest value not below v > 0 that ends a linear axis at one of its lines. */
double axes_level_up(double v);

double axes_x(const struct axes *a, double time);

/* A rate that the axis does not reach is placed at its end. */
double axes_y(const struct axes *a, double rate);

void axes_draw(struct out *out, const struct axes *a);

/* Prints a number in SVG. `anchor` is "start", "middle" or "end". */
void axes_number(struct out *out, double x, double y, const char *anchor, double number);

#endif
