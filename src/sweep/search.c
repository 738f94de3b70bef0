/* SPDX-License-Identifier: MIT */
#include "sweep/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/random.h"
#include "sweep/guess.h"

enum {
    DRAWS = 12,       /* points of which the one that is farthest from all others is taken */
    ROUNDS = 8,       /* at least, after the first */
    ROUND_MAX = 256,  /* points in one */
    RECENT_MAX = 512, /* points whose errors tell something of others */
};

struct search {
    struct vs_sweep *sweep;
    const struct vs_sweep_table *table;
    vs_sweep_measurer *measure;
    void *context;
    bool *wanted;    /* by unit: tried, or to be tried now */
    uint64_t budget; /* units that are left */
    size_t *order;   /* all points that can be tried, in random order */
    size_t count, next;
    struct vs_diag *diag;
};

/* ---- trying ---------------------------------------------------------------------------------- */

/* How many of the first `runs` runs the point was not yet tried on. */
static uint64_t cost(const struct search *s, size_t point, size_t runs)
{
    uint64_t n = 0;
    for (size_t run = 0; run < runs; run++)
        n += !s->wanted[vs_sweep_unit_of(s->sweep, point, run)];
    return n;
}

/* Marks the point on the first `runs` runs, if the budget allows it. */
static bool want(struct search *s, size_t point, size_t runs)
{
    uint64_t n = cost(s, point, runs);
    if (n > s->budget)
        return false;
    s->budget -= n;
    for (size_t run = 0; run < runs; run++)
        s->wanted[vs_sweep_unit_of(s->sweep, point, run)] = true;
    return true;
}

static int try_wanted(struct search *s)
{
    const struct vs_sweep_wanted wanted = {.units = s->wanted};
    return s->measure(s->context, &wanted, s->diag);
}

static bool was_tried(const struct search *s, size_t point)
{
    return s->wanted[vs_sweep_unit_of(s->sweep, point, 0)];
}

/* The next point in random order that was not tried; count if there is none. */
static bool draw(struct search *s, size_t *point)
{
    while (s->next < s->count && was_tried(s, s->order[s->next]))
        s->next++;
    if (s->next == s->count)
        return false;
    *point = s->order[s->next++];
    return true;
}

static int try_at_random(struct search *s)
{
    size_t point;
    while (s->budget >= s->sweep->runs.count && draw(s, &point))
        want(s, point, s->sweep->runs.count);
    return try_wanted(s);
}

/* ---- guided ---------------------------------------------------------------------------------- */

struct guide {
    struct search *search;
    size_t *tried; /* in this order */
    size_t tried_count;
    bool *known;       /* by point: both figures were measured */
    double *figure[2]; /* logarithms, measured or guessed */
    double worst[2];   /* of what was measured */
    struct corner {
        double x, y;
    } * front; /* by growing x; of what was measured, and what this round is to try */
    size_t front_count;
};

/* How much of the plane a point would add to what the frontier dominates. */
static double gain(const struct guide *g, double x, double y)
{
    double area = 0, left = x;
    size_t i = 0;
    if (!(x < g->worst[0]) || !(y < g->worst[1]))
        return 0;
    while (i < g->front_count && g->front[i].x <= x)
        i++;
    double top = i ? g->front[i - 1].y : g->worst[1];
    for (; y < top; i++) {
        double right = i < g->front_count ? g->front[i].x : g->worst[0];
        area += (right - left) * (top - y);
        if (i == g->front_count)
            break;
        left = right;
        top = g->front[i].y;
    }
    return area;
}

static void add_to_front(struct guide *g, double x, double y)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < g->front_count; i++)
        if (g->front[i].x <= x && g->front[i].y <= y)
            return;
    for (size_t i = 0; i < g->front_count; i++)
        if (g->front[i].x < x || g->front[i].y < y)
            g->front[kept++] = g->front[i];
    while (at < kept && g->front[at].x < x)
        at++;
    memmove(g->front + at + 1, g->front + at, (kept - at) * sizeof(*g->front));
    g->front[at] = (struct corner){x, y};
    g->front_count = kept + 1;
}

static bool want_guided(struct guide *g, size_t point)
{
    if (!want(g->search, point, g->search->sweep->runs.count))
        return false;
    g->tried[g->tried_count++] = point;
    return true;
}

/* Of a few points that are drawn, takes the one that is farthest from all that were taken. */
static bool want_far(struct guide *g)
{
    const struct vs_sweep *sweep = g->search->sweep;
    double farthest = -1;
    size_t best = 0, point;
    for (unsigned i = 0; i < DRAWS && draw(g->search, &point); i++) {
        double nearest = INFINITY;
        for (size_t k = 0; k < g->tried_count; k++)
            nearest = fmin(nearest, vs_guess_distance(sweep->study, &sweep->points.items[point],
                                                      &sweep->points.items[g->tried[k]]));
        if (nearest > farthest) {
            farthest = nearest;
            best = point;
        }
    }
    return farthest >= 0 && want_guided(g, best);
}

/* Takes the figures of what was tried. */
static void learn(struct guide *g)
{
    struct vs_sweep_row row;
    uint64_t x, y;
    g->front_count = 0;
    g->worst[0] = g->worst[1] = -INFINITY;
    for (size_t i = 0; i < g->tried_count; i++) {
        size_t p = g->tried[i];
        g->known[p] = vs_sweep_table_objectives(g->search->table, p, &row, &x, &y);
        if (!g->known[p])
            continue;
        g->figure[0][p] = log1p((double)x);
        g->figure[1][p] = log1p((double)y);
        g->worst[0] = fmax(g->worst[0], g->figure[0][p]);
        g->worst[1] = fmax(g->worst[1], g->figure[1][p]);
        add_to_front(g, g->figure[0][p], g->figure[1][p]);
    }
}

/* Guesses the figures of all other points. Gates need no guess. */
static int guess(struct guide *g)
{
    const struct vs_sweep *sweep = g->search->sweep;
    const struct vs_sweep_table *t = g->search->table;
    size_t first = g->tried_count > RECENT_MAX ? g->tried_count - RECENT_MAX : 0;
    int e = 0;
    for (unsigned i = 0; i < 2 && !e; i++) {
        if (strcmp(t->columns[t->objectives[i]].name, "gates") != 0)
            e = vs_guess(sweep->study, &sweep->points, g->known, g->tried + first,
                         g->tried_count - first, g->figure[i]);
        else
            for (size_t p = 0; p < sweep->points.count; p++)
                if (!g->known[p])
                    g->figure[i][p] = log1p((double)sweep->points.items[p].gates);
    }
    return e ? vs_diag_set(g->search->diag, e, -1, -1, "out of memory") : 0;
}

/* Takes the point of which the most is expected; if nothing is, the one that would be the nearest
 * to both axes. */
static bool want_best(struct guide *g)
{
    const struct search *s = g->search;
    double most = -1, least = INFINITY;
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < s->count; i++) {
        size_t p = s->order[i];
        if (was_tried(s, p))
            continue;
        double x = g->figure[0][p], y = g->figure[1][p], sum = isnan(x + y) ? INFINITY : x + y;
        double area = isnan(x + y) ? 0 : gain(g, x, y);
        if (best == SIZE_MAX || area > most || (area == most && sum < least)) {
            most = area;
            least = sum;
            best = p;
        }
    }
    if (best == SIZE_MAX || !want_guided(g, best))
        return false;
    if (isfinite(least))
        add_to_front(g, g->figure[0][best], g->figure[1][best]);
    return true;
}

static int rounds(struct guide *g)
{
    struct search *s = g->search;
    uint64_t all = s->budget / s->sweep->runs.count, first = (all * 2 + 4) / 5;
    for (uint64_t i = 0; i < first && want_far(g); i++)
        ;
    s->next = 0; /* points that were drawn and not taken may be taken later */
    int e = try_wanted(s);
    uint64_t size = (all - first + ROUNDS - 1) / ROUNDS;
    size = size > ROUND_MAX ? ROUND_MAX : size;
    for (bool more = true; more && !e && s->budget >= s->sweep->runs.count;) {
        learn(g);
        e = guess(g);
        for (uint64_t i = 0; i < size && more && !e; i++)
            more = want_best(g);
        e = e ? e : try_wanted(s);
    }
    return e;
}

static int try_guided(struct search *s)
{
    size_t n = s->sweep->points.count + 1;
    struct guide g = {.search = s,
                      .tried = calloc(n, sizeof(*g.tried)),
                      .known = calloc(n, sizeof(*g.known)),
                      .figure = {calloc(n, sizeof(double)), calloc(n, sizeof(double))},
                      .front = calloc(n, sizeof(*g.front))};
    int e = g.tried && g.known && g.figure[0] && g.figure[1] && g.front
                ? rounds(&g)
                : vs_diag_set(s->diag, -VSE_NOMEM, -1, -1, "out of memory");
    free(g.tried);
    free(g.known);
    free(g.figure[0]);
    free(g.figure[1]);
    free(g.front);
    return e;
}

/* ---- the search ------------------------------------------------------------------------------ */

static void shuffle(struct search *s, uint64_t seed)
{
    for (size_t i = 0; i < s->sweep->points.count; i++)
        if (!s->sweep->points.items[i].wrong)
            s->order[s->count++] = i;
    for (size_t i = s->count; i > 1; i--) {
        size_t k = (size_t)(vs_random(&seed) % i), swapped = s->order[k];
        s->order[k] = s->order[i - 1];
        s->order[i - 1] = swapped;
    }
}

/* What was not tried is not shown, though an earlier sweep may have measured it. */
static void conclude(const struct search *s, struct vs_search_result *r)
{
    size_t runs = s->sweep->runs.count;
    *r = (struct vs_search_result){0};
    for (size_t i = 0; i < s->count; i++) {
        uint64_t left = cost(s, s->order[i], runs);
        r->units += runs - left;
        r->whole += !left;
        r->partly += left && left < runs;
        r->untried += left == runs;
    }
    vs_sweep_forget(s->sweep, s->wanted);
}

int vs_sweep_search(struct vs_sweep *sweep, const struct vs_sweep_table *table,
                    vs_sweep_measurer *measure, void *context, struct vs_search_result *result,
                    struct vs_diag *diag)
{
    const struct vs_sweep_study *study = sweep->study;
    struct search s = {.sweep = sweep,
                       .table = table,
                       .measure = measure,
                       .context = context,
                       .wanted = calloc(sweep->points.count * sweep->runs.count + 1, sizeof(bool)),
                       .budget = study->budget,
                       .order = calloc(sweep->points.count + 1, sizeof(size_t)),
                       .diag = diag};
    int e = s.wanted && s.order ? 0 : vs_diag_set(diag, -VSE_NOMEM, -1, -1, "out of memory");
    if (!e)
        shuffle(&s, study->seed);
    if (!e)
        e = study->search == VS_SWEEP_GUIDED ? try_guided(&s) : try_at_random(&s);
    if (!e)
        conclude(&s, result);
    free(s.wanted);
    free(s.order);
    return e;
}
