/* SPDX-License-Identifier: MIT */
#include "study/mapped.h"

#include <stdlib.h>

#include "base/array.h"
#include "vestige/error.h"

uint64_t vs_mapped_image(const struct vs_mapped *m, uint64_t address)
{
    for (size_t i = m->count; i-- > 0;) {
        const struct vs_mapped_range *r = &m->ranges[i];

        if (!r->gone && r->first <= address && address <= r->last)
            return r->image;
    }
    return VS_NO_IMAGE;
}

bool vs_mapped_change(const struct vs_event *e, struct vs_mapped_change *c)
{
    uint64_t first = e->addr, length = e->value;

    *c = (struct vs_mapped_change){
        .first = first,
        .last = length - 1 > UINT64_MAX - first ? UINT64_MAX : first + (length - 1),
        .image = e->flags & VS_MAP_GONE ? VS_NO_IMAGE : e->pc,
    };
    return length && (c->image != VS_NO_IMAGE || e->flags & VS_MAP_GONE);
}

bool vs_mapped_replaces(const struct vs_mapped *m, const struct vs_mapped_change *c)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct vs_mapped_range *r = &m->ranges[i];

        if (!r->gone && r->image != c->image && r->first <= c->last && c->first <= r->last)
            return true;
    }
    return false;
}

static int put(struct vs_mapped *m, uint64_t first, uint64_t last, uint64_t image)
{
    for (size_t i = 0; i < m->count; i++) {
        struct vs_mapped_range *r = &m->ranges[i];

        if (r->image == image && r->first == first && r->last == last) {
            r->gone = false;
            return 0;
        }
    }
    if (m->count == VS_MAPPED_MAX)
        return 0;
    if (vs_array_room((void **)&m->ranges, &m->capacity, m->count, 1, sizeof(*m->ranges)))
        return -VSE_NOMEM;
    m->ranges[m->count++] = (struct vs_mapped_range){.first = first, .last = last, .image = image};
    return 0;
}

static int unmap(struct vs_mapped *m, uint64_t first, uint64_t last)
{
    int error = 0;

    for (size_t i = 0, n = m->count; i < n && !error; i++) {
        struct vs_mapped_range r = m->ranges[i];

        if (r.gone || r.first > last || first > r.last)
            continue;
        m->ranges[i].gone = true;
        if (r.first < first)
            error = put(m, r.first, first - 1, r.image);
        if (r.last > last && !error)
            error = put(m, last + 1, r.last, r.image);
    }
    return error;
}

int vs_mapped_apply(struct vs_mapped *m, const struct vs_mapped_change *c)
{
    int error = vs_mapped_replaces(m, c) ? unmap(m, c->first, c->last) : 0;

    return error || c->image == VS_NO_IMAGE ? error : put(m, c->first, c->last, c->image);
}

void vs_mapped_fini(struct vs_mapped *m)
{
    free(m->ranges);
    *m = (struct vs_mapped){0};
}
