/* SPDX-License-Identifier: MIT */
#include "sweep/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/random.h"

struct search {
    struct vs_sweep *sweep;
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

int vs_sweep_search(struct vs_sweep *sweep, vs_sweep_measurer *measure, void *context,
                    struct vs_search_result *result, struct vs_diag *diag)
{
    const struct vs_sweep_study *study = sweep->study;
    struct search s = {.sweep = sweep,
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
        e = try_at_random(&s);
    if (!e)
        conclude(&s, result);
    free(s.wanted);
    free(s.order);
    return e;
}
