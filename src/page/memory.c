/* SPDX-License-Identifier: MIT */
#include "page/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"

const struct vs_cache_config page_cache = {
    .size = 32 << 10, .line = PAGE_LINE, .ways = 4, .policy = VS_CACHE_LRU};

int page_memory_init(struct page_memory *m, unsigned cores)
{
    *m = (struct page_memory){.cores = cores ? cores : 1, .granule = PAGE_HEAT_GRANULE};
    m->shared = m->cores <= VS_MOESI_CORES_MAX;
    for (; m->curve_made < PAGE_CURVE; m->curve_made++) {
        struct vs_cache_config config = page_cache;
        config.size = UINT64_C(1) << (PAGE_CURVE_FIRST + 2 * m->curve_made);
        if (vs_cache_init(&m->curve[m->curve_made], &config, NULL))
            return -VSE_NOMEM;
    }
    if (!m->shared)
        return 0;
    m->core = calloc(m->cores, sizeof(*m->core));
    m->moved = calloc((size_t)m->cores * m->cores, sizeof(*m->moved));
    if (!m->core || !m->moved || vs_moesi_init(&m->group, m->cores, &page_cache, false, NULL))
        return -VSE_NOMEM;
    return 0;
}

void page_memory_fini(struct page_memory *m)
{
    for (unsigned i = 0; i < m->curve_made; i++)
        vs_cache_fini(&m->curve[i]);
    vs_moesi_fini(&m->group);
    vs_map_fini(&m->line_numbers);
    vs_map_fini(&m->heat_numbers);
    free(m->core);
    free(m->moved);
    free(m->lines);
    free(m->line_addresses);
    free(m->heat);
    *m = (struct page_memory){0};
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Returns 0, with *line NULL if there are too many; -VSE_NOMEM. */
static int line_at(struct page_memory *m, uint64_t address, struct page_line **line)
{
    uint64_t known = vs_map_value(&m->line_numbers, address);
    *line = NULL;
    if (!known && m->line_count == PAGE_LINES_MAX) {
        m->lines_untold++;
        return 0;
    }
    if (!known) {
        if (vs_array_room((void **)&m->lines, &m->line_capacity, m->line_count, 1,
                          sizeof(*m->lines)) ||
            vs_array_room((void **)&m->line_addresses, &m->address_capacity, m->line_count, 1,
                          sizeof(*m->line_addresses)) ||
            vs_map_set(&m->line_numbers, address, m->line_count + 1))
            return -VSE_NOMEM;
        m->lines[m->line_count] = (struct page_line){0};
        m->line_addresses[m->line_count] = address;
        known = ++m->line_count;
    }
    *line = &m->lines[known - 1];
    return 0;
}

/* An access that the core's cache could not do by itself. */
static int note_miss(struct page_memory *m, unsigned core, uint64_t address, bool store,
                     const struct vs_moesi_result *r, struct page_access *access)
{
    struct page_line *line;
    int e = line_at(m, address, &line);
    unsigned lost = (unsigned)__builtin_popcountll(r->invalidated);
    if (e)
        return e;
    if (r->outcome == VS_MOESI_UPGRADE) {
        m->core[core].upgrades++;
    } else {
        m->core[core].misses++;
        access->misses++;
    }
    if (r->outcome == VS_MOESI_TRANSFER) {
        m->moved[r->supplier * m->cores + core]++;
        access->coherence++;
    }
    access->coherence += lost;
    if (!line)
        return 0;
    *(store ? &line->writers : &line->readers) |= UINT64_C(1) << core;
    line->moved += r->outcome == VS_MOESI_TRANSFER;
    line->lost += lost;
    /* after a read, the supplier is an owner only if it has written; after a write its state is
     * gone, and what it was is not known */
    if (r->outcome == VS_MOESI_TRANSFER && !store &&
        vs_moesi_state(&m->group, r->supplier, address) == VS_MOESI_O)
        line->writers |= UINT64_C(1) << r->supplier;
    return 0;
}

static int share(struct page_memory *m, unsigned core, uint64_t address, bool store,
                 struct page_access *access)
{
    struct vs_moesi_result r;
    m->core[core].accesses++;
    if (store) {
        if (likely(vs_moesi_write_hit(&m->group, core, address) != VS_CACHE_NONE))
            return 0;
        vs_moesi_write_shared(&m->group, core, address, &r);
    } else {
        if (likely(vs_moesi_read_hit(&m->group, core, address) != VS_CACHE_NONE))
            return 0;
        vs_moesi_read_miss(&m->group, core, address, &r);
    }
    return note_miss(m, core, address, store, &r, access);
}

static void touch_curve(struct page_memory *m, uint64_t address)
{
    for (unsigned i = 0; i < PAGE_CURVE; i++) {
        struct vs_cache *c = &m->curve[i];
        if (likely(vs_cache_hit(c, address) != VS_CACHE_NONE))
            continue;
        m->curve_misses[i]++;
        vs_cache_place(c, vs_cache_victim(c, address), address);
    }
}

/* ---- heat ------------------------------------------------------------------------------------ */

static void add_row(struct page_heat_row *sum, const struct page_heat_row *row)
{
    for (unsigned i = 0; i < PAGE_HEAT_TIMES; i++) {
        sum->loads[i] += row->loads[i];
        sum->stores[i] += row->stores[i];
    }
}

/* Makes granules twice as large, until half of the rows are free. */
static int coarsen(struct page_memory *m)
{
    while (m->heat_count > PAGE_HEAT_ROWS / 2) {
        size_t n = 0;
        m->granule++;
        vs_map_clear(&m->heat_numbers);
        for (size_t i = 0; i < m->heat_count; i++) {
            uint64_t granule = m->heat[i].granule >> 1;
            uint64_t known = vs_map_value(&m->heat_numbers, granule);
            if (known) {
                add_row(&m->heat[known - 1], &m->heat[i]);
                continue;
            }
            m->heat[n] = m->heat[i];
            m->heat[n++].granule = granule;
            if (vs_map_set(&m->heat_numbers, granule, n))
                return -VSE_NOMEM;
        }
        m->heat_count = n;
    }
    return 0;
}

/* Returns the row of an address, or NULL without memory. */
static struct page_heat_row *row_at(struct page_memory *m, uint64_t address)
{
    uint64_t granule = address >> m->granule;
    if (likely(m->heat_count && granule == m->last_granule))
        return &m->heat[m->last_row];
    uint64_t known = vs_map_value(&m->heat_numbers, granule);
    if (!known) {
        if (m->heat_count == PAGE_HEAT_ROWS && coarsen(m))
            return NULL;
        granule = address >> m->granule;
        known = vs_map_value(&m->heat_numbers, granule);
    }
    if (!known) {
        if (vs_array_room((void **)&m->heat, &m->heat_capacity, m->heat_count, 1,
                          sizeof(*m->heat)) ||
            vs_map_set(&m->heat_numbers, granule, m->heat_count + 1))
            return NULL;
        m->heat[m->heat_count] = (struct page_heat_row){.granule = granule};
        known = ++m->heat_count;
    }
    m->last_granule = granule;
    m->last_row = known - 1;
    return &m->heat[known - 1];
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Something outside wrote: nobody's cache has the lines any more. */
static void drop(struct page_memory *m, uint64_t first, uint64_t last)
{
    struct vs_moesi_result r;
    for (uint64_t line = first; m->shared; line += PAGE_LINE) {
        vs_moesi_outside(&m->group, line, &r);
        if (line == last)
            break;
    }
}

int page_memory_take(struct page_memory *m, const struct vs_event *e, uint64_t now, uint64_t span,
                     struct page_access *access)
{
    bool store = e->kind == VS_STORE;
    uint64_t first = e->addr / PAGE_LINE * PAGE_LINE,
             last = (e->addr + (e->size ? e->size - 1 : 0)) / PAGE_LINE * PAGE_LINE;
    int err = 0;
    *access = (struct page_access){0};
    if (e->kind == VS_EXTERNAL) {
        drop(m, first, last);
        return 0;
    }
    struct page_heat_row *row = row_at(m, e->addr);
    if (!row)
        return -VSE_NOMEM;
    /* in steps, as their product may be too large */
    uint64_t step = span / PAGE_HEAT_TIMES + 1, time = now / step;
    (store ? row->stores : row->loads)[time < PAGE_HEAT_TIMES ? time : PAGE_HEAT_TIMES - 1]++;
    *(store ? &m->stores : &m->loads) += 1;
    for (uint64_t line = first; !err; line += PAGE_LINE) {
        m->touched++;
        touch_curve(m, line);
        if (m->shared)
            err = share(m, e->thread, line, store, access);
        if (line == last)
            break;
    }
    return err;
}
