/* SPDX-License-Identifier: MIT */
#include "base/copy.h"

#include <stdatomic.h>

#include "base/copy_pool.h"
#include "base/invariant.h"

static void forget_recent(struct vs_copy *c)
{
    c->noted = false;
    for (size_t i = 0; i < VS_COPY_RECENT; i++)
        c->recent[i].number = c->shared[i].number = UINT64_MAX; /* no page has it */
}

void vs_copy_init(struct vs_copy *c)
{
    *c = (struct vs_copy){.count = 0};
    forget_recent(c);
}

static uint64_t key_of(uint64_t number)
{
    return number / VS_COPY_GROUP;
}

/* What only one has is its to write: others that had it have read it before. */
static bool is_shared(_Atomic uint64_t *refs)
{
    return atomic_load_explicit(refs, memory_order_acquire) > 1;
}

static void share(_Atomic uint64_t *refs)
{
    atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
}

/* Returns whether nobody has it any more. */
static bool release(_Atomic uint64_t *refs)
{
    uint64_t had = atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel);
    invariant(had);
    return had == 1;
}

static void drop_page(struct vs_copy_pool *pool, struct vs_copy_page *page)
{
    if (page && release(&page->refs))
        vs_copy_pool_give_page(pool, page);
}

static void drop_group(struct vs_copy_pool *pool, struct vs_copy_group *group)
{
    if (!release(&group->refs))
        return;
    for (size_t i = 0; i < VS_COPY_GROUP; i++)
        drop_page(pool, group->pages[i]);
    vs_copy_pool_give_group(pool, group);
}

void vs_copy_fini(struct vs_copy *c)
{
    struct vs_copy_pool *pool = c->pool;
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&c->groups, e));)
        drop_group(pool, e->pointer);
    vs_map_fini(&c->groups);
    vs_copy_init(c);
    c->pool = pool;
}

void vs_copy_use(struct vs_copy *c, struct vs_copy_pool *pool)
{
    invariant(!c->groups.count);
    c->pool = pool;
}

int vs_copy_clone(struct vs_copy *to, struct vs_copy *from)
{
    vs_copy_init(to);
    to->pool = from->pool;
    if (vs_map_clone(&to->groups, &from->groups))
        return -VSE_NOMEM;
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&from->groups, e));)
        share(&((struct vs_copy_group *)e->pointer)->refs);
    to->count = from->count;
    if (from->noted)
        forget_recent(from);
    return 0;
}

/* Only groups of its own can have pages that nobody else has. */
static size_t group_alone(struct vs_copy_group *group)
{
    size_t n = sizeof(*group);
    if (is_shared(&group->refs))
        return 0;
    for (size_t i = 0; i < VS_COPY_GROUP; i++)
        if (group->pages[i] && !is_shared(&group->pages[i]->refs))
            n += sizeof(struct vs_copy_page);
    return n;
}

size_t vs_copy_alone(const struct vs_copy *c)
{
    size_t n = vs_copy_table(c);
    for (const struct vs_map_entry *e = NULL; (e = vs_map_next(&c->groups, e));)
        n += group_alone(e->pointer);
    return n;
}

struct vs_copy_page *vs_copy_next(const struct vs_copy *c, struct vs_copy_walk *walk)
{
    for (;;) {
        if (!walk->entry || walk->next == VS_COPY_GROUP) {
            walk->entry = vs_map_next(&c->groups, walk->entry);
            walk->next = 0;
        }
        if (!walk->entry)
            return NULL;
        const struct vs_copy_group *group = walk->entry->pointer;
        while (walk->next < VS_COPY_GROUP)
            if (group->pages[walk->next++])
                return group->pages[walk->next - 1];
    }
}

static void note_recent(struct vs_copy *c, struct vs_copy_page *page, bool shared)
{
    struct vs_copy_recent *recent = shared ? c->shared : c->recent;
    recent[page->number % VS_COPY_RECENT] = (struct vs_copy_recent){page->number, page};
    c->noted = true;
}

const struct vs_copy_page *vs_copy_look(const struct vs_copy *c, uint64_t number)
{
    const struct vs_copy_group *group = vs_map_pointer(&c->groups, key_of(number));
    return group ? group->pages[number % VS_COPY_GROUP] : NULL;
}

const struct vs_copy_page *vs_copy_find_other(struct vs_copy *c, uint64_t number)
{
    struct vs_copy_group *group = vs_map_pointer(&c->groups, key_of(number));
    struct vs_copy_page *page = group ? group->pages[number % VS_COPY_GROUP] : NULL;
    if (page)
        note_recent(c, page, is_shared(&group->refs) || is_shared(&page->refs));
    return page;
}

/* Gives the copy a group of its own in place of a shared one. */
static struct vs_copy_group *separate_group(struct vs_copy *c, struct vs_map_entry *entry)
{
    struct vs_copy_group *own = vs_copy_pool_group(c->pool), *group = entry->pointer;
    if (!own)
        return NULL;
    atomic_init(&own->refs, 1);
    memcpy(own->pages, group->pages, sizeof(own->pages));
    for (size_t i = 0; i < VS_COPY_GROUP; i++)
        if (own->pages[i])
            share(&own->pages[i]->refs);
    drop_group(c->pool, group);
    c->made += sizeof(*own);
    return entry->pointer = own;
}

/* Gives the copy a page of its own in place of a shared one. */
static struct vs_copy_page *separate_page(struct vs_copy *c, struct vs_copy_page **slot)
{
    struct vs_copy_page *own = vs_copy_pool_page(c->pool), *page = *slot;
    if (!own)
        return NULL;
    own->number = page->number;
    own->since = page->since;
    memcpy(own->known, page->known, sizeof(own->known));
    memcpy(own->bytes, page->bytes, sizeof(own->bytes));
    atomic_init(&own->refs, 1);
    if (c->shared[page->number % VS_COPY_RECENT].page == page)
        c->shared[page->number % VS_COPY_RECENT].number = UINT64_MAX;
    drop_page(c->pool, page);
    c->made += sizeof(*own);
    return *slot = own;
}

static struct vs_copy_group *add_group(struct vs_copy *c, uint64_t number)
{
    struct vs_copy_group *group = vs_copy_pool_group(c->pool);
    if (!group)
        return NULL;
    memset(group, 0, sizeof(*group));
    if (vs_map_set_pointer(&c->groups, key_of(number), group)) {
        vs_copy_pool_give_group(c->pool, group);
        return NULL;
    }
    atomic_init(&group->refs, 1);
    c->made += sizeof(*group);
    return group;
}

static struct vs_copy_page *add_page(struct vs_copy *c, struct vs_copy_page **slot, uint64_t number)
{
    struct vs_copy_page *page = vs_copy_pool_page(c->pool);
    if (!page)
        return NULL;
    memset(page, 0, sizeof(*page));
    page->number = number;
    atomic_init(&page->refs, 1);
    c->count++;
    c->made += sizeof(*page);
    return *slot = page;
}

struct vs_copy_page *vs_copy_make(struct vs_copy *c, uint64_t number, bool *made)
{
    *made = false;
    if (c->recent[number % VS_COPY_RECENT].number == number)
        return c->recent[number % VS_COPY_RECENT].page;
    /* A page that exists takes no room in the map, and memory only if it is shared. */
    struct vs_map_entry *entry = vs_map_find(&c->groups, key_of(number));
    struct vs_copy_group *group = entry ? entry->pointer : NULL;
    if (!group)
        group = add_group(c, number);
    else if (is_shared(&group->refs))
        group = separate_group(c, entry);
    if (!group)
        return NULL;
    struct vs_copy_page **slot = &group->pages[number % VS_COPY_GROUP], *page = *slot;
    if (!page)
        *made = (page = add_page(c, slot, number));
    else if (is_shared(&page->refs))
        page = separate_page(c, slot);
    if (page)
        note_recent(c, page, false);
    return page;
}

void vs_copy_know(struct vs_copy_page *page, size_t offset, size_t size)
{
    invariant(offset <= VS_COPY_PAGE && size <= VS_COPY_PAGE - offset);
    for (; size && offset % 8; offset++, size--)
        page->known[offset / 8] |= (uint8_t)(1 << offset % 8);
    memset(page->known + offset / 8, 0xff, size / 8);
    offset += size / 8 * 8;
    if (size % 8)
        page->known[offset / 8] |= (uint8_t)((1 << size % 8) - 1);
}

/* How many bytes of an access lie in the page of its first byte. */
static size_t part_in_page(uint64_t addr, size_t size)
{
    size_t rest = VS_COPY_PAGE - (addr & (VS_COPY_PAGE - 1));
    return size < rest ? size : rest;
}

int vs_copy_write_other(struct vs_copy *c, uint64_t addr, const uint8_t *bytes, size_t size)
{
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        bool made;
        struct vs_copy_page *page = vs_copy_make(c, addr >> VS_COPY_BITS, &made);
        if (!page)
            return -VSE_NOMEM;
        memcpy(page->bytes + offset, bytes, n);
        vs_copy_know(page, offset, n);
        addr += n;
        bytes += n;
        size -= n;
    }
    return 0;
}

/* Makes bytes of an existing page unknown. */
static int forget_part(struct vs_copy *c, uint64_t number, size_t offset, size_t size)
{
    bool made;
    struct vs_copy_page *page = vs_copy_make(c, number, &made);
    if (!page)
        return -VSE_NOMEM;
    memset(page->bytes + offset, 0, size);
    for (size_t i = offset; i < offset + size; i++)
        page->known[i / 8] &= (uint8_t) ~(1 << i % 8);
    return 0;
}

/* Forgets `count` whole pages from `first` on. Since the copy has fewer, it walks over its own. */
static int forget_pages(struct vs_copy *c, uint64_t first, uint64_t count)
{
    const struct vs_copy_page *page;
    int err = 0;
    for (struct vs_copy_walk w = {0}; !err && (page = vs_copy_next(c, &w));)
        if (page->number - first < count)
            err = forget_part(c, page->number, 0, VS_COPY_PAGE);
    return err;
}

int vs_copy_forget(struct vs_copy *c, uint64_t addr, uint64_t size)
{
    int err = 0;
    while (size && !err) {
        uint64_t number = addr >> VS_COPY_BITS, whole = size >> VS_COPY_BITS;
        size_t offset = addr & (VS_COPY_PAGE - 1), rest = VS_COPY_PAGE - offset;
        uint64_t n = size < rest ? size : rest;
        if (!offset && whole > c->count) {
            n = whole << VS_COPY_BITS;
            err = forget_pages(c, number, whole);
        } else if (vs_copy_look(c, number)) {
            err = forget_part(c, number, offset, (size_t)n);
        }
        addr += n;
        size -= n;
    }
    return err;
}

static size_t count_known(const struct vs_copy_page *page, size_t offset, size_t size)
{
    size_t known = 0;
    for (; size >= 8; offset += 8, size -= 8)
        known += (size_t)__builtin_popcount(vs_copy_known_bits(page, offset));
    for (; size; offset++, size--)
        known += page->known[offset / 8] >> offset % 8 & 1;
    return known;
}

size_t vs_copy_peek(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size)
{
    size_t known = 0;
    while (size) {
        size_t n = part_in_page(addr, size), offset = addr & (VS_COPY_PAGE - 1);
        const struct vs_copy_page *page = vs_copy_find(c, addr >> VS_COPY_BITS);
        if (page) {
            memcpy(bytes, page->bytes + offset, n);
            known += count_known(page, offset, n);
        } else {
            memset(bytes, 0, n);
        }
        addr += n;
        bytes += n;
        size -= n;
    }
    return known;
}

int vs_copy_read_other(struct vs_copy *c, uint64_t addr, uint8_t *bytes, size_t size)
{
    return vs_copy_peek(c, addr, bytes, size) == size ? 0 : -VSE_NOTFOUND;
}
