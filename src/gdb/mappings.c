/* SPDX-License-Identifier: MIT */
#include "gdb/mappings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"

/* ---- the list -------------------------------------------------------------------------------- */

static uint64_t end_of(const struct vs_gdb_mapping *m)
{
    return m->addr + m->size;
}

/* The index of the first mapping that ends after addr. */
static size_t first_after(const struct vs_gdb_mappings *m, uint64_t addr)
{
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (end_of(&m->list[middle]) > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static int insert(struct vs_gdb_mappings *m, size_t at, struct vs_gdb_mapping what)
{
    int err = vs_array_room((void **)&m->list, &m->capacity, m->count, 1, sizeof(*m->list));
    if (err)
        return err;
    memmove(m->list + at + 1, m->list + at, (m->count++ - at) * sizeof(*m->list));
    m->list[at] = what;
    return 0;
}

/* Makes [addr, addr + size) free; what lies across its ends is cut. */
static int take_away(struct vs_gdb_mappings *m, uint64_t addr, uint64_t size)
{
    uint64_t end = addr + size;
    size_t at = first_after(m, addr), to = at;
    if (at < m->count && m->list[at].addr < addr) {
        struct vs_gdb_mapping rest = m->list[at];
        m->list[at].size = addr - rest.addr;
        if (end_of(&rest) > end) {
            rest.size = end_of(&rest) - end;
            rest.addr = end;
            return insert(m, at + 1, rest);
        }
        to = ++at;
    }
    while (to < m->count && end_of(&m->list[to]) <= end)
        to++;
    if (to < m->count && m->list[to].addr < end) {
        m->list[to].size = end_of(&m->list[to]) - end;
        m->list[to].addr = end;
    }
    if (to > at)
        memmove(m->list + at, m->list + to, (m->count - to) * sizeof(*m->list));
    m->count -= to - at;
    return 0;
}

static int put(struct vs_gdb_mappings *m, struct vs_gdb_mapping what)
{
    int err = what.size ? take_away(m, what.addr, what.size) : 0;
    return err || !what.size ? err : insert(m, first_after(m, what.addr), what);
}

/* ---- what is known --------------------------------------------------------------------------- */

static bool is_here(const struct vs_replay *r, const struct vs_loaded_part *part)
{
    const struct vs_present *present = &r->outside.present;
    return vs_present_has(present, present->program_count - 1, part->image);
}

/* The pages that a part of a file lies in. */
static struct vs_gdb_mapping pages_of(const struct vs_replay *r, const struct vs_loaded_part *part)
{
    const struct vs_loaded *l = r->config.loaded;
    uint64_t low = part->addr & ~(uint64_t)(VS_PAGE_SIZE - 1);
    uint64_t high = (part->addr + part->size + VS_PAGE_SIZE - 1) & ~(uint64_t)(VS_PAGE_SIZE - 1);
    bool code = part->image < l->image_count && l->images[part->image].code - low < high - low;
    return (struct vs_gdb_mapping){
        .addr = low,
        .size = high - low,
        .rights = PROT_READ | (part->writable ? PROT_WRITE : 0) | (code ? PROT_EXEC : 0),
        .image = part->image < l->image_count ? part->image : VS_PRESENT_NONE,
    };
}

/* The first map of the program that now runs: exec took everything before it away. */
static size_t first_map(const struct vs_replay *r)
{
    size_t i = r->map_count;
    while (i && (r->maps[i - 1].there || r->maps[i - 1].size < r->config.isa->user_end))
        i--;
    return i;
}

/* Addresses and sizes are a stream's, and may be anything. */
static int apply(struct vs_gdb_mappings *m, const struct vs_replay_map *map)
{
    uint64_t most = UINT64_MAX - map->addr, size = map->size < most ? map->size : most;
    return map->there
               ? put(m, (struct vs_gdb_mapping){map->addr, size, map->rights, VS_PRESENT_NONE})
               : take_away(m, map->addr, size);
}

/* Says which parts are files'. A call that mapped or protected them did not tell. */
static void name_images(struct vs_gdb_mappings *m, const struct vs_replay *r)
{
    const struct vs_loaded *l = r->config.loaded;
    for (size_t i = 0; i < l->count; i++) {
        const struct vs_gdb_mapping pages = pages_of(r, &l->parts[i]);
        for (size_t k = first_after(m, pages.addr);
             is_here(r, &l->parts[i]) && k < m->count && m->list[k].addr < end_of(&pages); k++)
            m->list[k].image = pages.image;
    }
}

static bool is_continued(const struct vs_gdb_mapping *a, const struct vs_gdb_mapping *b)
{
    return end_of(a) == b->addr && a->rights == b->rights && a->image == b->image;
}

static void join(struct vs_gdb_mappings *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->count; i++)
        if (kept && is_continued(&m->list[kept - 1], &m->list[i]))
            m->list[kept - 1].size += m->list[i].size;
        else
            m->list[kept++] = m->list[i];
    m->count = kept;
}

int vs_gdb_mappings_init(struct vs_gdb_mappings *m, const struct vs_replay *r)
{
    const struct vs_loaded *l = r->config.loaded;
    int err = 0;
    *m = (struct vs_gdb_mappings){0};
    for (size_t i = 0; l && i < l->count && !err; i++)
        if (is_here(r, &l->parts[i]))
            err = put(m, pages_of(r, &l->parts[i]));
    if (!err)
        err = put(m, (struct vs_gdb_mapping){r->config.stack, r->config.stack_size,
                                             PROT_READ | PROT_WRITE, VS_PRESENT_NONE});
    for (size_t i = first_map(r); i < r->map_count && !err; i++)
        err = apply(m, &r->maps[i]);
    if (l)
        name_images(m, r);
    join(m);
    return err;
}

void vs_gdb_mappings_fini(struct vs_gdb_mappings *m)
{
    free(m->list);
    *m = (struct vs_gdb_mappings){0};
}
