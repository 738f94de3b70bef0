/* SPDX-License-Identifier: MIT */
#include "isa/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/likely.h"
#include "base/search.h"
#include "vestige/error.h"

enum { PAGE = 4096 };

int vs_text_add(struct vs_text *c, const struct vs_block *block)
{
    return vs_codemap_add(&c->base, block);
}

void vs_text_fini(struct vs_text *c)
{
    vs_codemap_fini(&c->base);
    for (size_t i = 0; i < c->core_count; i++)
        free(c->cores[i].views);
    free(c->cores);
    free(c->changes);
    free(c->places);
    *c = (struct vs_text){0};
}

/* ---- changes --------------------------------------------------------------------------------- */

static int know_core(struct vs_text *c, unsigned core)
{
    size_t more = core + 1 - c->core_count;
    int err = vs_array_room((void **)&c->cores, &c->core_capacity, c->core_count, more,
                            sizeof(*c->cores));
    if (err)
        return err;
    memset(c->cores + c->core_count, 0, more * sizeof(*c->cores));
    c->core_count += more;
    return 0;
}

static int see_version(struct vs_text *c, struct vs_text_core *core)
{
    int err = vs_array_room((void **)&core->views, &core->view_capacity, core->view_count, 1,
                            sizeof(*core->views));
    if (err)
        return err;
    invariant(!core->view_count || core->views[core->view_count - 1].count <= core->count);
    core->version = (uint32_t)c->change_count;
    core->views[core->view_count++] = (struct vs_text_view){core->count, core->version};
    return 0;
}

int vs_text_change(struct vs_text *c, const struct vs_block *block)
{
    if (c->change_count == UINT32_MAX)
        return -VSE_LIMIT;
    int err = vs_array_room((void **)&c->changes, &c->change_capacity, c->change_count, 1,
                            sizeof(*c->changes));
    if (!err)
        c->changes[c->change_count++] = *block;
    return err;
}

int vs_text_meet(struct vs_text *c, unsigned core)
{
    int err = core >= c->core_count ? know_core(c, core) : 0;
    if (!err && c->cores[core].version != c->change_count)
        err = see_version(c, &c->cores[core]);
    return err;
}

/* ---- the index ------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct vs_text_place *x = a, *y = b;
    if (x->page != y->page)
        return x->page < y->page ? -1 : 1;
    return (x->change > y->change) - (x->change < y->change);
}

static int place_change(struct vs_text *c, uint32_t change)
{
    const struct vs_block *b = &c->changes[change];
    uint64_t pages = (b->addr % PAGE + b->size - 1) / PAGE + 1;
    int err = vs_array_room((void **)&c->places, &c->place_capacity, c->place_count, pages,
                            sizeof(*c->places));
    for (uint64_t i = 0; !err && i < pages; i++)
        c->places[c->place_count++] = (struct vs_text_place){(b->addr + i * PAGE) / PAGE, change};
    return err;
}

int vs_text_index(struct vs_text *c)
{
    int err = 0;
    c->place_count = 0;
    for (size_t i = 0; !err && i < c->change_count; i++)
        err = place_change(c, (uint32_t)i);
    if (!err && c->place_count)
        qsort(c->places, c->place_count, sizeof(*c->places), compare_places);
    return err;
}

/* Returns the index of a page's first place. */
static size_t find_page(const struct vs_text *c, uint64_t page)
{
    return VS_FIRST_FROM(c->places, c->place_count, page, page);
}

static bool overlaps(const struct vs_block *b, uint64_t addr, uint64_t size)
{
    return addr - b->addr < b->size || b->addr - addr < size;
}

/* Copies those bytes of the block that lie on the page. */
static void overlay(const struct vs_block *b, uint64_t page, uint64_t addr, uint8_t *bytes,
                    size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (addr + i - b->addr < b->size && (addr + i) / PAGE == page)
            bytes[i] = b->bytes[addr + i - b->addr];
}

size_t vs_text_fetch(const struct vs_text *c, uint32_t version, uint64_t addr, uint8_t *bytes,
                     size_t capacity)
{
    size_t size = vs_codemap_fetch(&c->base, addr, bytes, capacity);
    if (likely(!c->place_count || !size))
        return size;
    for (uint64_t at = 0; at < size; at += PAGE - (addr + at) % PAGE) {
        uint64_t page = (addr + at) / PAGE;
        for (size_t i = find_page(c, page); i < c->place_count && c->places[i].page == page; i++)
            if (c->places[i].change < version)
                overlay(&c->changes[c->places[i].change], page, addr, bytes, size);
    }
    return size;
}

void vs_text_extent(const struct vs_text *c, uint32_t version, uint64_t addr, uint64_t size,
                    uint32_t *first, uint32_t *last)
{
    *first = 0;
    *last = UINT32_MAX;
    if (likely(!c->place_count || !size))
        return;
    for (uint64_t at = 0; at < size; at += PAGE - (addr + at) % PAGE) {
        uint64_t page = (addr + at) / PAGE;
        for (size_t i = find_page(c, page); i < c->place_count && c->places[i].page == page; i++) {
            uint32_t change = c->places[i].change;
            if (!overlaps(&c->changes[change], addr, size))
                continue;
            if (change < version && change + 1 > *first)
                *first = change + 1;
            if (change >= version && change < *last)
                *last = change;
        }
    }
}
