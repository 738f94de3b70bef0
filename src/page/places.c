/* SPDX-License-Identifier: MIT */
#include "page/places.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/likely.h"

struct page_last {
    uint32_t path, site, number;
};

int page_places_init(struct page_places *p, const struct vs_reader *reader)
{
    *p = (struct page_places){0};
    int e = vs_callers_init(&p->callers, reader);
    /* its untouched pages cost nothing */
    p->last = calloc(VS_THREADS_MAX, sizeof(*p->last));
    if (e || !p->last || vs_array_room((void **)&p->list, &p->capacity, 0, 1, sizeof(*p->list)))
        return -VSE_NOMEM;
    p->list[p->count++] = (struct page_place){0};
    return 0;
}

void page_places_fini(struct page_places *p)
{
    vs_callers_fini(&p->callers);
    vs_map_fini(&p->numbers);
    free(p->list);
    free(p->last);
    *p = (struct page_places){0};
}

/* The number of an instruction on a path. Returns it; -VSE_NOMEM. */
static int64_t number_of(struct page_places *p, uint32_t path, uint32_t site)
{
    uint64_t key = (uint64_t)path << 32 | site;
    const struct vs_map_entry *known = vs_map_find(&p->numbers, key);
    if (likely(known))
        return (int64_t)known->value - 1;
    if (p->count == PAGE_PLACES_MAX || !key)
        return 0;
    if (vs_array_room((void **)&p->list, &p->capacity, p->count, 1, sizeof(*p->list)) ||
        vs_map_set(&p->numbers, key, p->count + 1))
        return -VSE_NOMEM;
    p->list[p->count] = (struct page_place){.path = path, .site = site};
    return (int64_t)p->count++;
}

int64_t page_places_take(struct page_places *p, const struct vs_batch *one)
{
    struct page_last *last = &p->last[one->events->thread];
    struct vs_caller_place at;
    int e = vs_callers_take(&p->callers, one, 0, &at);
    if (e)
        return e;
    if (at.path != last->path || at.site != last->site) {
        int64_t number = number_of(p, at.path, at.site);
        if (number < 0)
            return number;
        *last = (struct page_last){at.path, at.site, (uint32_t)number};
    }
    p->list[last->number].instructions += one->events->icount;
    return last->number;
}
