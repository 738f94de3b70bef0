/* SPDX-License-Identifier: MIT */
#include "sweep/guess.h"

#include <math.h>
#include <stdlib.h>

enum { PASSES = 20 };

/* What a setting takes over from those beside it, against what a point of its own tells. */
#define SMOOTHNESS 0.3

/* ---- settings -------------------------------------------------------------------------------- */

/* A group of techniques is one axis. */
static size_t axis_count(const struct vs_sweep_template *t)
{
    return t->group ? 1 : t->of.axis_count;
}

static size_t axis_length(const struct vs_sweep_template *t, size_t axis)
{
    return t->group ? SIZE_MAX : t->of.axes[axis].count;
}

/* Which setting the point has of each axis; the last axis changes first. */
static void settings_of(const struct vs_sweep_template *t, const struct vs_sweep_point *p,
                        size_t settings[VS_TEMPLATE_AXES])
{
    size_t place = p->place;
    for (size_t axis = axis_count(t); axis-- > 0;) {
        settings[axis] = place % axis_length(t, axis);
        place /= axis_length(t, axis);
    }
}

double vs_guess_distance(const struct vs_sweep_study *study, const struct vs_sweep_point *a,
                         const struct vs_sweep_point *b)
{
    const struct vs_sweep_template *t = &study->templates[a->template];
    size_t of_a[VS_TEMPLATE_AXES], of_b[VS_TEMPLATE_AXES];
    double sum = 0;
    if (a->template != b->template)
        return VS_TEMPLATE_AXES + 1;
    if (t->group)
        return a->place != b->place;
    settings_of(t, a, of_a);
    settings_of(t, b, of_b);
    for (size_t axis = 0; axis < axis_count(t); axis++)
        if (of_a[axis] != of_b[axis])
            sum +=
                fabs((double)of_a[axis] - (double)of_b[axis]) / (double)(axis_length(t, axis) - 1);
    return sum;
}

/* ---- the fit --------------------------------------------------------------------------------- */

struct fit {
    const struct vs_sweep_study *study;
    const struct vs_sweep_template *of;
    const struct vs_sweep_points *points;
    uint32_t template;
    const bool *known;
    double *figure;
    double mean;
    size_t begin[VS_TEMPLATE_AXES + 1]; /* of each axis in these: */
    double *effect, *sum, *weight;
};

static double predict(const struct fit *f, const size_t *settings)
{
    double x = f->mean;
    for (size_t axis = 0; axis < axis_count(f->of); axis++)
        x += f->effect[f->begin[axis] + settings[axis]];
    return x;
}

static bool has(const struct fit *f, size_t point)
{
    return f->points->items[point].template == f->template && f->known[point];
}

/* Fits the effects of one axis, given all others. */
static void fit_axis(struct fit *f, size_t axis)
{
    size_t settings[VS_TEMPLATE_AXES], first = f->begin[axis], end = f->begin[axis + 1];
    for (size_t i = first; i < end; i++)
        f->sum[i] = f->weight[i] = 0;
    for (size_t i = 0; i < f->points->count; i++) {
        if (!has(f, i))
            continue;
        settings_of(f->of, &f->points->items[i], settings);
        size_t at = first + settings[axis];
        f->sum[at] += f->figure[i] - predict(f, settings) + f->effect[at];
        f->weight[at]++;
    }
    for (size_t i = first; i < end; i++) {
        double sum = f->sum[i], weight = f->weight[i];
        if (i > first) {
            sum += SMOOTHNESS * f->effect[i - 1];
            weight += SMOOTHNESS;
        }
        if (i + 1 < end) {
            sum += SMOOTHNESS * f->effect[i + 1];
            weight += SMOOTHNESS;
        }
        f->sum[i] = weight > 0 ? sum / weight : 0;
    }
    for (size_t i = first; i < end; i++)
        f->effect[i] = f->sum[i];
}

/* What nearby points are off by. */
static double error_near(const struct fit *f, size_t point, const size_t *recent,
                         const double *error, size_t count)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < count; i++) {
        const struct vs_sweep_point *p = &f->points->items[recent[i]];
        if (!has(f, recent[i]))
            continue;
        double d = vs_guess_distance(f->study, &f->points->items[point], p) + 1e-3;
        double weight = 1 / (d * d * d);
        sum += weight * error[i];
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

static void guess_all(const struct fit *f, const size_t *recent, double *error, size_t count)
{
    size_t settings[VS_TEMPLATE_AXES];
    for (size_t i = 0; i < count; i++) {
        if (!has(f, recent[i]))
            continue;
        settings_of(f->of, &f->points->items[recent[i]], settings);
        error[i] = f->figure[recent[i]] - predict(f, settings);
    }
    for (size_t i = 0; i < f->points->count; i++) {
        if (f->points->items[i].template != f->template || f->known[i])
            continue;
        settings_of(f->of, &f->points->items[i], settings);
        f->figure[i] = predict(f, settings) + error_near(f, i, recent, error, count);
    }
}

static int guess_template(struct fit *f, const size_t *recent, size_t recent_count)
{
    size_t known = 0, most = 0;
    f->mean = 0;
    for (size_t i = 0; i < f->points->count; i++)
        if (has(f, i)) {
            f->mean += f->figure[i];
            known++;
        }
    for (size_t i = 0; i < f->points->count; i++)
        if (f->points->items[i].template == f->template) {
            most = f->points->items[i].place > most ? f->points->items[i].place : most;
            if (!f->known[i])
                f->figure[i] = NAN;
        }
    if (!known)
        return 0;
    f->mean /= (double)known;
    for (size_t axis = 0; axis < axis_count(f->of); axis++)
        f->begin[axis + 1] = f->begin[axis] + (f->of->group ? most + 1 : axis_length(f->of, axis));
    size_t size = f->begin[axis_count(f->of)] + 1;
    double *error = calloc(recent_count + 1, sizeof(*error));
    f->effect = calloc(size, sizeof(*f->effect));
    f->sum = calloc(size, sizeof(*f->sum));
    f->weight = calloc(size, sizeof(*f->weight));
    int e = error && f->effect && f->sum && f->weight ? 0 : -VSE_NOMEM;
    for (unsigned pass = 0; pass < PASSES && !e; pass++)
        for (size_t axis = 0; axis < axis_count(f->of); axis++)
            fit_axis(f, axis);
    if (!e)
        guess_all(f, recent, error, recent_count);
    free(error);
    free(f->effect);
    free(f->sum);
    free(f->weight);
    return e;
}

int vs_guess(const struct vs_sweep_study *study, const struct vs_sweep_points *points,
             const bool *known, const size_t *recent, size_t recent_count, double *figure)
{
    int e = 0;
    for (size_t i = 0; i < study->template_count && !e; i++) {
        struct fit f = {.study = study,
                        .of = &study->templates[i],
                        .points = points,
                        .template = (uint32_t)i,
                        .known = known,
                        .figure = figure};
        e = guess_template(&f, recent, recent_count);
    }
    return e;
}
