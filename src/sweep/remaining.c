/* SPDX-License-Identifier: MIT */
#include "sweep/remaining.h"

#include <stdlib.h>

enum { PAUSE = 10 };

static int by_time(const void *a, const void *b)
{
    const struct vs_done_work *p = a, *q = b;
    return (p->when > q->when) - (p->when < q->when);
}

static int by_length(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* The time between two files that are next to each other, of which as many are longer as shorter;
 * 0 if there is no memory. */
static double usual_gap(const struct vs_done_work *list, size_t count)
{
    double *gaps = calloc(count, sizeof(*gaps)), usual = 0;
    if (!gaps)
        return 0;
    for (size_t i = 1; i < count; i++)
        gaps[i - 1] = (double)(list[i].when - list[i - 1].when);
    qsort(gaps, count - 1, sizeof(*gaps), by_length);
    usual = gaps[(count - 1) / 2];
    free(gaps);
    return usual;
}

bool vs_remaining_seconds(struct vs_done_work *list, size_t count, double missing,
                          uint64_t *seconds)
{
    double time = 0, work = 0;
    if (count < 2)
        return false;
    qsort(list, count, sizeof(*list), by_time);
    double usual = usual_gap(list, count);
    for (size_t i = 1; i < count; i++) {
        double gap = (double)(list[i].when - list[i - 1].when);
        if (gap > PAUSE * usual)
            continue;
        time += gap;
        work += list[i].work;
    }
    if (!(work > 0))
        return false;
    *seconds = (uint64_t)(missing / work * time / 1e9 + 0.5);
    return true;
}
