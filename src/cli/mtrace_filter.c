/* SPDX-License-Identifier: MIT */
#include "cli/mtrace_filter.h"

#include <stdlib.h>

#include "base/array.h"

enum { RANGES_MAX = 4096 }; /* routines of one name in one image */

void mtrace_filter_init(struct mtrace_filter *f, bool main_only, const struct option_list *routines,
                        mtrace_find_routine *find)
{
    bool any = !routines || !routines->count;
    *f = (struct mtrace_filter){
        .off = any && !main_only,
        .inside = true,
        .main_only = main_only,
        .routines = any ? NULL : routines,
        .find = find,
    };
    if (f->off)
        f->span = UINT64_MAX;
}

void mtrace_filter_fini(struct mtrace_filter *f)
{
    free(f->ranges);
    *f = (struct mtrace_filter){0};
}

/* Adds a range and keeps the order; ranges that touch become one. */
static int add_range(struct mtrace_filter *f, uint64_t lo, uint64_t hi)
{
    void *array = f->ranges;
    int e = vs_array_room(&array, &f->capacity, f->count, 1, sizeof(*f->ranges));
    f->ranges = array;
    if (e || lo >= hi)
        return e;
    size_t first = 0, last;
    while (first < f->count && f->ranges[first].hi < lo)
        first++;
    for (last = first; last < f->count && f->ranges[last].lo <= hi; last++) {
        lo = lo < f->ranges[last].lo ? lo : f->ranges[last].lo;
        hi = hi > f->ranges[last].hi ? hi : f->ranges[last].hi;
    }
    memmove(f->ranges + first + 1, f->ranges + last, (f->count - last) * sizeof(*f->ranges));
    f->ranges[first] = (struct mtrace_range){lo, hi};
    f->count = f->count + 1 - (last - first);
    return 0;
}

/* Adds what of a routine lies in the addresses that the image occupies. */
static int add_routine(struct mtrace_filter *f, const struct vs_image *image,
                       const struct mtrace_range *r)
{
    uint64_t end = image->start + image->length;
    uint64_t lo = r->lo + image->base, hi = r->hi + image->base;
    if (lo < image->start)
        lo = image->start;
    if (hi > end)
        hi = end;
    return add_range(f, lo, hi);
}

static int add_routines(struct mtrace_filter *f, const struct vs_image *image)
{
    const char *path = image->symbols[0] ? image->symbols : image->path;
    struct mtrace_range *ranges = malloc(RANGES_MAX * sizeof(*ranges));
    int e = ranges ? 0 : -VSE_NOMEM;
    for (size_t i = 0; e == 0 && i < f->routines->count; i++) {
        int64_t n = f->find(path, f->routines->items[i], ranges, RANGES_MAX);
        if (n < 0) {
            f->unreadable++;
            e = n == -VSE_NOMEM ? (int)n : 0;
            break;
        }
        f->found |= (uint64_t)(n > 0) << i;
        for (int64_t k = 0; e == 0 && k < n && k < RANGES_MAX; k++)
            e = add_routine(f, image, &ranges[k]);
    }
    free(ranges);
    return e;
}

int mtrace_filter_image(struct mtrace_filter *f, const struct vs_image *image)
{
    unsigned number = f->images++;
    if (f->off || (f->main_only && number > 0))
        return 0;
    f->span = 0; /* what was answered before may change */
    if (f->routines)
        return add_routines(f, image);
    return add_range(f, image->start, image->start + image->length);
}

const char *mtrace_filter_missing(const struct mtrace_filter *f)
{
    for (size_t i = 0; f->routines && i < f->routines->count; i++)
        if (!(f->found >> i & 1))
            return f->routines->items[i];
    return NULL;
}

bool mtrace_filter_search(struct mtrace_filter *f, uint64_t pc)
{
    size_t below = 0, end = f->count; /* ranges[below - 1] starts at or before pc */
    if (f->off)
        return true;
    while (below < end) {
        size_t middle = below + (end - below) / 2;
        if (f->ranges[middle].lo <= pc)
            below = middle + 1;
        else
            end = middle;
    }
    f->inside = below > 0 && pc < f->ranges[below - 1].hi;
    f->lo = f->inside ? f->ranges[below - 1].lo : below ? f->ranges[below - 1].hi : 0;
    uint64_t hi = f->inside          ? f->ranges[below - 1].hi
                  : below < f->count ? f->ranges[below].lo
                                     : UINT64_MAX;
    f->span = hi - f->lo;
    return f->inside;
}
