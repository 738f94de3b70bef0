/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libvex.h>

#define CHUNK   ((size_t)1 << 20)
#define HELD    ((size_t)256 << 20) /* bytes after which everything is dropped */
#define BUCKETS ((size_t)1 << BUCKET_BITS)
#define PAGES   64 /* if more are to be forgotten, all blocks are looked at */

enum { BUCKET_BITS = 14 };

struct chunk {
    struct chunk *next;
    size_t used;
    _Alignas(64) uint8_t bytes[];
};

#define CHUNK_ROOM (CHUNK - sizeof(struct chunk))

struct page_entry {
    struct block *block;
    uint64_t page;
    struct page_entry *next;
};

/* ---- memory ---------------------------------------------------------------------------------- */

static void *take(struct cache *cache, struct chunk **list, size_t size, int rights)
{
    size = (size + 15) & ~(size_t)15;
    if (size > CHUNK_ROOM)
        return NULL;
    if (!*list || size > CHUNK_ROOM - (*list)->used) {
        struct chunk *c = mmap(NULL, CHUNK, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (c == MAP_FAILED)
            return NULL;
        c->next = *list;
        *list = c;
        cache->held += CHUNK;
    }
    uint8_t *room = (*list)->bytes + (*list)->used;
    (*list)->used += size;
    return room;
}

static void drop(struct chunk **list)
{
    while (*list) {
        struct chunk *next = (*list)->next;
        munmap(*list, CHUNK);
        *list = next;
    }
}

void *cache_room(struct cache *cache, size_t size)
{
    return take(cache, &cache->data, size, PROT_READ | PROT_WRITE);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void clear_targets(struct cache *cache)
{
    for (size_t i = 0; i < TARGETS; i++)
        cache->targets[i].pc = NO_TARGET;
}

static void clear(struct cache *cache)
{
    memset(cache->buckets, 0, BUCKETS * sizeof(*cache->buckets));
    memset(cache->pages, 0, BUCKETS * sizeof(*cache->pages));
    clear_targets(cache);
}

struct cache *cache_new(const struct vs_cpu_ops *ops)
{
    struct cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->head.ops = ops;
    cache->targets = malloc(TARGETS * sizeof(*cache->targets));
    cache->buckets = malloc(BUCKETS * sizeof(*cache->buckets));
    cache->pages = malloc(BUCKETS * sizeof(*cache->pages));
    if (!cache->targets || !cache->buckets || !cache->pages) {
        cache_free(cache);
        return NULL;
    }
    clear(cache);
    return cache;
}

void cache_free(struct cache *cache)
{
    drop(&cache->code);
    drop(&cache->data);
    free(cache->targets);
    free(cache->buckets);
    free(cache->pages);
    free(cache);
}

/* ---- finding --------------------------------------------------------------------------------- */

static size_t bucket_of(uint64_t key)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - BUCKET_BITS));
}

struct block *cache_find(const struct cache *cache, uint64_t pc, bool single)
{
    for (struct block *b = cache->buckets[bucket_of(pc)]; b; b = b->next)
        if (b->pc == pc && b->single == single)
            return b;
    return NULL;
}

void cache_aim(struct cache *cache, const struct block *block)
{
    cache->targets[block->pc & (TARGETS - 1)] = (struct target){block->pc, block->code};
}

/* ---- adding ---------------------------------------------------------------------------------- */

static uint64_t last_page(const struct block *b)
{
    uint64_t length = b->length ? b->length : 1;
    return (b->pc + length - 1) >> VS_PAGE_BITS;
}

struct block *cache_add(struct cache *cache, const struct block *block, const void *code,
                        size_t size)
{
    struct block *b = cache_room(cache, sizeof(*b));
    void *copy = take(cache, &cache->code, size, PROT_READ | PROT_WRITE | PROT_EXEC);
    uint8_t *bytes = cache_room(cache, block->length);
    uint64_t first = block->pc >> VS_PAGE_BITS, last = last_page(block);
    if (!b || !copy || !bytes)
        return NULL;
    memcpy(copy, code, size);
    memcpy(bytes, block->bytes, block->length);
    *b = *block;
    b->code = copy;
    b->bytes = bytes;
    b->believed = cache->doubts;
    for (uint64_t page = first; page == first || page == last; page++) {
        struct page_entry *e = cache_room(cache, sizeof(*e));
        struct page_entry **place = &cache->pages[bucket_of(page)];
        if (!e)
            return NULL; /* what is on the first page already is never found */
        *e = (struct page_entry){b, page, *place};
        *place = e;
    }
    struct block **place = &cache->buckets[bucket_of(b->pc)];
    b->next = *place;
    *place = b;
    return b;
}

void cache_link(struct cache *cache, void *site, const void *unlinked, struct block *to)
{
    struct link *l = cache->unused ? cache->unused : cache_room(cache, sizeof(*l));
    if (!l)
        return;
    if (l == cache->unused)
        cache->unused = l->next;
    *l = (struct link){site, unlinked, to->in};
    to->in = l;
    LibVEX_Chain(VexArchAMD64, VexEndnessLE, site, unlinked, to->code);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static void unlink_all(struct cache *cache, struct block *b)
{
    struct link *next;
    for (struct link *l = b->in; l; l = next) {
        next = l->next;
        LibVEX_UnChain(VexArchAMD64, VexEndnessLE, l->site, b->code, l->unlinked);
        l->next = cache->unused;
        cache->unused = l;
    }
    b->in = NULL;
}

static void forget(struct cache *cache, struct block *b)
{
    struct target *t = &cache->targets[b->pc & (TARGETS - 1)];
    struct block **place = &cache->buckets[bucket_of(b->pc)];
    b->dead = true;
    unlink_all(cache, b);
    if (t->pc == b->pc && t->code == b->code)
        t->pc = NO_TARGET;
    while (*place && *place != b)
        place = &(*place)->next;
    if (*place)
        *place = b->next;
}

static bool lies_in(const struct block *b, uint64_t addr, uint64_t size)
{
    return b->pc - addr < size || addr - b->pc < b->length;
}

static void flush_page(struct cache *cache, uint64_t page, uint64_t addr, uint64_t size)
{
    struct page_entry **place = &cache->pages[bucket_of(page)];
    while (*place) {
        struct block *b = (*place)->block;
        if (!b->dead && (*place)->page == page && lies_in(b, addr, size))
            forget(cache, b);
        if (b->dead)
            *place = (*place)->next;
        else
            place = &(*place)->next;
    }
}

static void doubt_all(struct cache *cache)
{
    cache->doubts++;
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct block *b = cache->buckets[i]; b; b = b->next)
            unlink_all(cache, b);
    clear_targets(cache);
}

bool cache_believe(struct cache *cache, struct block *block, const uint8_t *bytes)
{
    if (memcmp(block->bytes, bytes, block->length) == 0)
        block->believed = cache->doubts;
    else
        forget(cache, block);
    return !block->dead;
}

void cache_relieve(struct cache *cache)
{
    if (cache->held < HELD)
        return;
    drop(&cache->code);
    drop(&cache->data);
    cache->held = 0;
    cache->unused = NULL;
    cache->head.flushes++;
    clear(cache);
}

void cache_flush(struct cache *cache, uint64_t addr, uint64_t size)
{
    uint64_t first = addr >> VS_PAGE_BITS;
    uint64_t pages = size ? ((addr & (VS_PAGE_SIZE - 1)) + size - 1) / VS_PAGE_SIZE + 1 : 0;
    cache->head.flushes++;
    if (pages > PAGES || size > UINT64_MAX - VS_PAGE_SIZE) {
        doubt_all(cache);
        return;
    }
    for (uint64_t i = 0; i < pages; i++)
        flush_page(cache, first + i, addr, size);
}
