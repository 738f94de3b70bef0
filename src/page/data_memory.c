/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "page/data.h"

enum { SHARED_LINES = 60, HEAT_ROWS = 96 };

static void put_cores(struct json *j, const struct page_memory *m)
{
    json_array(j, "cores");
    for (unsigned i = 0; m->shared && i < m->cores; i++) {
        json_array(j, NULL);
        json_u64(j, NULL, m->core[i].accesses);
        json_u64(j, NULL, m->core[i].misses);
        json_u64(j, NULL, m->core[i].upgrades);
        json_end(j);
    }
    json_end(j);
    json_array(j, "moved"); /* rows: from whom */
    for (unsigned from = 0; m->shared && from < m->cores; from++) {
        json_array(j, NULL);
        for (unsigned to = 0; to < m->cores; to++)
            json_u64(j, NULL, m->moved[from * m->cores + to]);
        json_end(j);
    }
    json_end(j);
}

static void put_curve(struct json *j, const struct page_memory *m)
{
    json_array(j, "curve");
    for (unsigned i = 0; i < PAGE_CURVE; i++) {
        json_array(j, NULL);
        json_u64(j, NULL, m->curve[i].config.size);
        json_u64(j, NULL, m->curve_misses[i]);
        json_end(j);
    }
    json_end(j);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static uint64_t traffic(const struct page_line *l)
{
    return l->moved + l->lost;
}

static int by_traffic(const void *a, const void *b, void *context)
{
    const struct page_line *lines = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (traffic(&lines[x]) != traffic(&lines[y]))
        return traffic(&lines[x]) > traffic(&lines[y]) ? -1 : 1;
    return (x > y) - (x < y);
}

static void put_classes(struct json *j, const struct page_memory *m)
{
    uint64_t private = 0, read = 0, written = 0;
    for (size_t i = 0; i < m->line_count; i++) {
        const struct page_line *l = &m->lines[i];
        if (__builtin_popcountll(l->readers | l->writers) < 2)
        private++;
        else if (l->writers) written++;
        else read++;
    }
    json_object(j, "lines");
    json_u64(j, "private", private);
    json_u64(j, "read", read);
    json_u64(j, "written", written);
    json_u64(j, "untold", m->lines_untold);
    json_end(j);
}

static int put_lines(struct json *j, const struct page_memory *m)
{
    uint32_t *list = malloc((m->line_count + 1) * sizeof(*list));
    size_t n = 0;
    if (!list)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < m->line_count; i++)
        if (traffic(&m->lines[i]))
            list[n++] = i;
    if (n)
        qsort_r(list, n, sizeof(*list), by_traffic, m->lines);
    put_classes(j, m);
    json_array(j, "contended");
    for (size_t i = 0; i < n && i < SHARED_LINES; i++) {
        const struct page_line *l = &m->lines[list[i]];
        json_array(j, NULL);
        json_hex(j, NULL, m->line_addresses[list[i]]);
        json_u64(j, NULL, l->moved);
        json_u64(j, NULL, l->lost);
        json_u64(j, NULL, (uint64_t)__builtin_popcountll(l->readers | l->writers));
        json_u64(j, NULL, (uint64_t)__builtin_popcountll(l->writers));
        json_end(j);
    }
    json_end(j);
    free(list);
    return 0;
}

/* ---- heat ------------------------------------------------------------------------------------ */

static int by_address(const void *a, const void *b)
{
    const struct page_heat_row *x = a, *y = b;
    return (x->granule > y->granule) - (x->granule < y->granule);
}

/* Puts several rows, which need not lie next to each other, into one. */
static void put_heat_row(struct json *j, const struct page_memory *m, size_t from, size_t to)
{
    json_object(j, NULL);
    json_hex(j, "from", m->heat[from].granule << m->granule);
    json_hex(j, "to", ((m->heat[to - 1].granule + 1) << m->granule) - 1);
    json_u64(j, "bytes", (uint64_t)(to - from) << m->granule);
    for (unsigned stores = 0; stores < 2; stores++) {
        json_array(j, stores ? "stores" : "loads");
        for (unsigned t = 0; t < PAGE_HEAT_TIMES; t++) {
            uint64_t sum = 0;
            for (size_t i = from; i < to; i++)
                sum += stores ? m->heat[i].stores[t] : m->heat[i].loads[t];
            json_u64(j, NULL, sum);
        }
        json_end(j);
    }
    json_end(j);
}

static void put_heat(struct json *j, struct page_memory *m)
{
    size_t rows = m->heat_count < HEAT_ROWS ? m->heat_count : HEAT_ROWS;
    if (m->heat_count)
        qsort(m->heat, m->heat_count, sizeof(*m->heat), by_address);
    json_u64(j, "granule", UINT64_C(1) << m->granule);
    json_u64(j, "granules", m->heat_count);
    json_array(j, "heat");
    for (size_t i = 0; i < rows; i++)
        put_heat_row(j, m, i * m->heat_count / rows, (i + 1) * m->heat_count / rows);
    json_end(j);
}

int page_put_memory(struct json *j, struct page_run *run)
{
    struct page_memory *m = &run->memory;
    json_object(j, "memory");
    json_u64(j, "loads", m->loads);
    json_u64(j, "stores", m->stores);
    json_u64(j, "touched", m->touched);
    json_u64(j, "cache", page_cache.size);
    json_u64(j, "ways", page_cache.ways);
    json_u64(j, "line", page_cache.line);
    json_bool(j, "shared", m->shared);
    json_u64(j, "heat_step", run->timeline.span / PAGE_HEAT_TIMES + 1);
    put_cores(j, m);
    put_curve(j, m);
    put_heat(j, m);
    int e = put_lines(j, m);
    json_end(j);
    return e;
}
