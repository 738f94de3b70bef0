/* SPDX-License-Identifier: MIT */
#include "target/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "base/search.h"
#include "target/linux.h"

#define PAGE_OF(addr) ((addr) & ~(VS_PAGE_SIZE - 1))

void vs_space_fini(struct vs_space *s)
{
    free(s->areas);
    *s = (struct vs_space){0};
}

bool vs_space_is_range(uint64_t addr, uint64_t size)
{
    return !((addr | size) & (VS_PAGE_SIZE - 1)) && size && addr <= VS_LINUX_TOP &&
           size <= VS_LINUX_TOP - addr;
}

/* ---- areas ----------------------------------------------------------------------------------- */

/* Returns the index of the first area that ends after addr. */
static size_t find_area(const struct vs_space *s, uint64_t addr)
{
    return VS_FIRST_AFTER(s->areas, s->count, end, addr);
}

const struct vs_area *vs_space_at(const struct vs_process *p, uint64_t addr)
{
    const struct vs_space *s = &p->linux_state->space;
    size_t i = find_area(s, addr);
    return i < s->count ? &s->areas[i] : NULL;
}

static void insert_area(struct vs_space *s, size_t at, struct vs_area area)
{
    invariant(at <= s->count && s->count < s->capacity && area.start < area.end);
    invariant(!at || s->areas[at - 1].end <= area.start);
    invariant(at == s->count || area.end <= s->areas[at].start);
    memmove(s->areas + at + 1, s->areas + at, (s->count - at) * sizeof(area));
    s->areas[at] = area;
    s->count++;
}

static void remove_area(struct vs_space *s, size_t at)
{
    s->count--;
    memmove(s->areas + at, s->areas + at + 1, (s->count - at) * sizeof(s->areas[0]));
}

/* Makes room for what a change can add: two ends that are split off, and one area. */
static int make_room(struct vs_process *p)
{
    struct vs_space *s = &p->linux_state->space;
    if (s->count + 3 > VS_SPACE_AREAS)
        return -ENOMEM;
    if (vs_array_room((void **)&s->areas, &s->capacity, s->count, 3, sizeof(s->areas[0]))) {
        p->linux_state->nomem = true;
        return -ENOMEM;
    }
    return 0;
}

/* Splits the area that addr lies in, if there is one, at addr. */
static void split(struct vs_space *s, uint64_t addr)
{
    size_t i = find_area(s, addr);
    if (i == s->count || s->areas[i].start >= addr)
        return;
    struct vs_area upper = s->areas[i];
    s->areas[i].end = addr;
    upper.start = addr;
    insert_area(s, i + 1, upper);
}

static bool alike(const struct vs_area *a, const struct vs_area *b)
{
    return a->end == b->start && a->flags == b->flags && a->kind == b->kind;
}

/* Joins alike neighbours, from the area before [start, end) to the one after it. */
static void join(struct vs_space *s, uint64_t start, uint64_t end)
{
    size_t i = find_area(s, start);
    for (i = i ? i - 1 : 0; i + 1 < s->count && s->areas[i].start <= end;)
        if (alike(&s->areas[i], &s->areas[i + 1])) {
            s->areas[i].end = s->areas[i + 1].end;
            remove_area(s, i + 1);
        } else
            i++;
}

uint64_t vs_space_free(const struct vs_process *p, uint64_t hint, uint64_t size)
{
    const struct vs_space *s = &p->linux_state->space;
    if (hint >= VS_LINUX_LOWEST && vs_space_is_range(hint, size)) {
        const struct vs_area *a = vs_space_at(p, hint);
        if (!a || a->start >= hint + size)
            return hint;
    }
    uint64_t top = VS_LINUX_MMAP_TOP;
    size_t i = find_area(s, top);
    if (i < s->count && s->areas[i].start < top)
        top = s->areas[i].start; /* the area continues above the addresses that are given out */
    for (;; i--) {
        uint64_t bottom = i ? s->areas[i - 1].end : VS_LINUX_LOWEST;
        if (bottom < top && top - bottom >= size && top - size >= VS_LINUX_LOWEST)
            return top - size;
        if (!i)
            return 0;
        if (s->areas[i - 1].start < top)
            top = s->areas[i - 1].start;
    }
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Calls take for each page of [start, end), but only for those that exist if the range is large:
 * take must do nothing for the others. */
static void each_page(struct vs_process *p, uint64_t start, uint64_t end,
                      void (*take)(struct vs_process *p, uint64_t page, unsigned flags),
                      unsigned flags)
{
    struct vs_ram *m = &p->memory;
    if ((end - start) / VS_PAGE_SIZE <= m->pages.capacity) {
        for (uint64_t page = start; page < end; page += VS_PAGE_SIZE)
            take(p, page, flags);
        return;
    }
    /* taking pages out moves others, so the addresses are collected first */
    uint64_t *pages = malloc((m->pages.count + 1) * sizeof(*pages));
    size_t count = 0;
    if (!pages) {
        p->linux_state->nomem = true;
        return;
    }
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&m->pages, e));)
        if (e->key >= start && e->key < end)
            pages[count++] = e->key;
    while (count)
        take(p, pages[--count], flags);
    free(pages);
}

static void drop_page(struct vs_process *p, uint64_t page, unsigned flags)
{
    (void)flags;
    vs_ram_unmap(&p->memory, page, VS_PAGE_SIZE);
}

static void protect_page(struct vs_process *p, uint64_t page, unsigned flags)
{
    vs_ram_protect(&p->memory, page, VS_PAGE_SIZE, flags);
}

static bool has_page(const struct vs_process *p, uint64_t page)
{
    uint8_t byte;
    return vs_ram_get(&p->memory, page, &byte, 1) == 0;
}

bool vs_space_touch(struct vs_process *p, uint64_t addr, unsigned flags)
{
    const struct vs_area *a = vs_space_at(p, addr);
    uint64_t page = PAGE_OF(addr);
    if (!a || a->start > addr || (a->flags & flags) != flags)
        return false;
    if (has_page(p, page))
        return a->flags & VS_MAP_READ;
    if (vs_ram_map(&p->memory, page, VS_PAGE_SIZE, a->flags))
        p->linux_state->nomem = true;
    if (vs_space_used(p) > p->linux_state->space.limit && !p->full) {
        p->full = true;
        p->full_addr = addr;
    }
    return true;
}

uint64_t vs_space_used(const struct vs_process *p)
{
    return p->memory.pages.count * VS_PAGE_SIZE;
}

uint64_t vs_space_left(const struct vs_process *p)
{
    uint64_t used = vs_space_used(p), limit = p->linux_state->space.limit;
    return used < limit ? limit - used : 0;
}

/* ---- changes --------------------------------------------------------------------------------- */

static void note(struct vs_process *p, struct vs_task *t, enum vs_effect_kind kind,
                 const struct vs_area *a)
{
    struct vs_effect *e = vs_effect_add(p, kind, t);
    e->addr = a->start;
    e->size = a->end - a->start;
    e->flags = kind == VS_EFFECT_UNMAPPED ? 0 : a->flags;
    e->image = kind == VS_EFFECT_MAPPED && a->kind == VS_AREA_IMAGE;
}

/* Takes out what lies in [start, end), at whose ends areas are already split. */
static void clear(struct vs_process *p, struct vs_task *t, uint64_t start, uint64_t end)
{
    struct vs_space *s = &p->linux_state->space;
    bool code = false;
    size_t first = find_area(s, start), i = first;
    for (; i < s->count && s->areas[i].start < end; i++) {
        const struct vs_area *a = &s->areas[i];
        each_page(p, a->start, a->end, drop_page, 0);
        note(p, t, VS_EFFECT_UNMAPPED, a);
        code |= a->flags & VS_MAP_EXEC;
    }
    memmove(s->areas + first, s->areas + i, (s->count - i) * sizeof(s->areas[0]));
    s->count -= i - first;
    if (code)
        vs_cpu_flush_all(p->code);
}

int vs_space_map(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size,
                 unsigned flags, enum vs_area_kind kind)
{
    struct vs_space *s = &p->linux_state->space;
    struct vs_area area = {addr, addr + size, flags, kind};
    int err = make_room(p);
    if (err)
        return err;
    split(s, addr);
    split(s, addr + size);
    clear(p, t, addr, addr + size);
    insert_area(s, find_area(s, addr), area);
    note(p, t, VS_EFFECT_MAPPED, &area);
    if (flags & VS_MAP_EXEC)
        vs_cpu_flush_all(p->code);
    join(s, addr, addr + size);
    return 0;
}

int vs_space_unmap(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size)
{
    struct vs_space *s = &p->linux_state->space;
    int err = make_room(p);
    if (err)
        return err;
    split(s, addr);
    split(s, addr + size);
    clear(p, t, addr, addr + size);
    return 0;
}

static void protect_area(struct vs_process *p, struct vs_task *t, struct vs_area *a, unsigned flags)
{
    unsigned before = a->flags;
    if (before == flags)
        return;
    a->flags = flags;
    each_page(p, a->start, a->end, protect_page, flags);
    note(p, t, VS_EFFECT_PROTECTED, a);
    if ((before | flags) & VS_MAP_EXEC)
        vs_cpu_flush_all(p->code);
}

int vs_space_protect(struct vs_process *p, struct vs_task *t, uint64_t addr, uint64_t size,
                     unsigned flags)
{
    struct vs_space *s = &p->linux_state->space;
    int err = make_room(p);
    if (err)
        return err;
    if (vs_space_span(p, addr, size, 0) < size)
        return -ENOMEM;
    split(s, addr);
    split(s, addr + size);
    for (size_t i = find_area(s, addr); i < s->count && s->areas[i].start < addr + size; i++)
        protect_area(p, t, &s->areas[i], flags);
    join(s, addr, addr + size);
    return 0;
}

/* ---- the kernel's own accesses --------------------------------------------------------------- */

uint64_t vs_space_span(const struct vs_process *p, uint64_t addr, uint64_t size, unsigned flags)
{
    const struct vs_space *s = &p->linux_state->space;
    uint64_t at = addr;
    if (addr >= VS_LINUX_TOP)
        return 0;
    uint64_t end = size < VS_LINUX_TOP - addr ? addr + size : VS_LINUX_TOP;
    for (size_t i = find_area(s, addr); i < s->count && at < end; i++) {
        const struct vs_area *a = &s->areas[i];
        if (a->start > at || (a->flags & flags) != flags)
            break;
        at = a->end;
    }
    return (at < end ? at : end) - addr;
}

int vs_guest_get(const struct vs_process *p, uint64_t addr, void *bytes, uint64_t size)
{
    uint8_t *to = bytes;
    if (vs_space_span(p, addr, size, VS_MAP_READ) < size)
        return -EFAULT;
    while (size) {
        uint64_t room = VS_PAGE_SIZE - (addr & (VS_PAGE_SIZE - 1)),
                 part = size < room ? size : room;
        if (vs_ram_get(&p->memory, addr, to, part))
            memset(to, 0, part); /* not touched yet */
        addr += part;
        to += part;
        size -= part;
    }
    return 0;
}

/* Copies to mapped pages. Returns whether code was among them. */
static bool copy_in(struct vs_process *p, uint64_t addr, const void *bytes, uint64_t size)
{
    bool code = false;
    for (uint64_t page = PAGE_OF(addr); page < addr + size; page += VS_PAGE_SIZE) {
        vs_space_touch(p, page, 0);
        code |= vs_space_at(p, page)->flags & VS_MAP_EXEC;
    }
    if (vs_ram_put(&p->memory, addr, bytes, size))
        p->linux_state->nomem = true; /* the only reason for a page to be missing */
    return code;
}

static int put(struct vs_process *p, struct vs_task *t, uint64_t pc, uint64_t addr,
               const void *bytes, uint64_t size)
{
    if (vs_space_span(p, addr, size, VS_MAP_WRITE) < size)
        return -EFAULT;
    if (!size)
        return 0;
    if (copy_in(p, addr, bytes, size))
        vs_cpu_flush_all(p->code);
    struct vs_effect *e = vs_effect_add(p, VS_EFFECT_WROTE, t);
    e->pc = pc;
    e->addr = addr;
    e->size = size;
    return 0;
}

int vs_guest_put(struct vs_process *p, struct vs_task *t, uint64_t addr, const void *bytes,
                 uint64_t size)
{
    return put(p, t, t->call.pc, addr, bytes, size);
}

int vs_guest_put_quiet(struct vs_process *p, struct vs_task *t, uint64_t addr, const void *bytes,
                       uint64_t size)
{
    return put(p, t, 0, addr, bytes, size);
}

int64_t vs_guest_string(const struct vs_process *p, uint64_t addr, char *text, size_t room)
{
    uint64_t span = vs_space_span(p, addr, room, VS_MAP_READ);
    if (!span || vs_guest_get(p, addr, text, span))
        return -EFAULT;
    const char *end = memchr(text, 0, span);
    if (!end)
        return span < room ? -EFAULT : -ENAMETOOLONG;
    return end - text;
}

void vs_space_load(struct vs_process *p, uint64_t addr, const void *bytes, uint64_t size)
{
    if (size && copy_in(p, addr, bytes, size))
        vs_cpu_flush_all(p->code);
}
