/* SPDX-License-Identifier: MIT */
#include "published/mtrace_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { RANGES_MAX = 4096 }; /* the most routines of one name in one image */

void mtrace_filter_init(struct mtrace_filter *f, bool main_only, const struct option_list *routines,
                        mtrace_find_routine *find)
{
    bool any = !routines || !routines->count;
    *f = (struct mtrace_filter){
        .off = any && !main_only,
        .inside = true,
        .main_only = main_only,
        .main = VS_NO_IMAGE,
        .routines = any ? NULL : routines,
        .find = find,
    };
    if (f->off)
        f->span = UINT64_MAX;
}

void mtrace_filter_fini(struct mtrace_filter *f)
{
    free(f->list);
    free(f->parts);
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

/* Takes [lo, hi) out of the ranges. */
static int remove_range(struct mtrace_filter *f, uint64_t lo, uint64_t hi)
{
    void *array = f->ranges;
    int e = vs_array_room(&array, &f->capacity, f->count, 1, sizeof(*f->ranges));
    f->ranges = array;
    if (e || lo >= hi)
        return e;
    size_t first = 0, last;
    while (first < f->count && f->ranges[first].hi <= lo)
        first++;
    for (last = first; last < f->count && f->ranges[last].lo < hi; last++)
        continue;
    if (first == last)
        return 0;
    struct mtrace_range rest[2];
    size_t n = 0;
    if (f->ranges[first].lo < lo)
        rest[n++] = (struct mtrace_range){f->ranges[first].lo, lo};
    if (f->ranges[last - 1].hi > hi)
        rest[n++] = (struct mtrace_range){hi, f->ranges[last - 1].hi};
    memmove(f->ranges + first + n, f->ranges + last, (f->count - last) * sizeof(*f->ranges));
    memcpy(f->ranges + first, rest, n * sizeof(*rest));
    f->count = f->count + n - (last - first);
    return 0;
}

static int add_part(struct mtrace_filter *f, uint64_t lo, uint64_t hi)
{
    if (lo >= hi)
        return 0;
    void *array = f->parts;
    int e = vs_array_room(&array, &f->part_capacity, f->part_count, 1, sizeof(*f->parts));
    f->parts = array;
    if (e)
        return e;
    f->parts[f->part_count++] = (struct mtrace_range){lo, hi};
    return 0;
}

/* Where [start, start + length) ends. */
static uint64_t end_of(uint64_t start, uint64_t length)
{
    return length > UINT64_MAX - start ? UINT64_MAX : start + length;
}

/* Adds the part of a routine that lies in the addresses that the image occupies. */
static int add_routine(struct mtrace_filter *f, const struct vs_image *image,
                       const struct mtrace_range *r)
{
    uint64_t end = end_of(image->start, image->length);
    uint64_t lo = r->lo + image->base, hi = r->hi + image->base;
    if (lo < image->start)
        lo = image->start;
    if (hi > end)
        hi = end;
    return add_part(f, lo, hi);
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

/* ---- images that come and go ----------------------------------------------------------------- */

/* From now on, those parts of the image's code that are wanted pass, and no other image's in its
 * place. */
static int show(struct mtrace_filter *f, uint64_t number)
{
    struct mtrace_image *image = &f->list[number];
    f->span = 0; /* earlier answers may change */
    image->mapped = true;
    if (f->main == VS_NO_IMAGE)
        f->main = number;
    int e = remove_range(f, image->start, image->end);
    for (size_t i = 0; e == 0 && i < image->count && (!f->main_only || f->main == number); i++)
        e = add_range(f, f->parts[image->first + i].lo, f->parts[image->first + i].hi);
    return e;
}

static int hide(struct mtrace_filter *f, uint64_t lo, uint64_t hi)
{
    bool any = false;
    for (unsigned i = 0; i < f->images; i++) {
        struct mtrace_image *image = &f->list[i];
        image->mapped = image->mapped && (image->start < lo || image->end > hi);
        any |= image->mapped;
    }
    if (!any)
        f->main = VS_NO_IMAGE;
    f->span = 0;
    return remove_range(f, lo, hi);
}

static void follow(struct mtrace_filter *f)
{
    f->follows = true;
    f->main = VS_NO_IMAGE;
    f->count = 0;
    for (unsigned i = 0; i < f->images; i++)
        f->list[i].mapped = false;
}

int mtrace_filter_map(struct mtrace_filter *f, const struct vs_event *e)
{
    bool gone = e->flags & VS_MAP_GONE;
    if (f->off)
        return 0;
    if (gone)
        return f->follows ? hide(f, e->addr, end_of(e->addr, e->value)) : 0;
    if (e->pc >= f->images)
        return 0;
    if (!f->follows)
        follow(f);
    return show(f, e->pc);
}

int mtrace_filter_image(struct mtrace_filter *f, const struct vs_image *image)
{
    uint64_t number = f->images;
    struct mtrace_image own = {
        .start = image->start,
        .end = end_of(image->start, image->length),
        .first = f->part_count,
    };
    if (f->off) {
        f->images++;
        return 0;
    }
    void *array = f->list;
    int e = vs_array_room(&array, &f->list_capacity, f->images, 1, sizeof(*f->list));
    f->list = array;
    if (!e)
        e = f->routines ? add_routines(f, image) : add_part(f, own.start, own.end);
    if (e)
        return e;
    own.count = f->part_count - own.first;
    f->list[f->images++] = own;
    return f->follows ? 0 : show(f, number);
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
