/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <libvex.h>

#define CHUNK ((size_t)1 << 20)
#define HELD  ((size_t)512 << 20) /* bytes after which everything is dropped */
#define PAGES 64                  /* blocks in more pages are doubted, not forgotten */

enum { BUCKET_BITS = 14, PAGE_BUCKET_BITS = 14 };
#define PAGE_BUCKETS ((size_t)1 << PAGE_BUCKET_BITS)

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

static size_t bucket_count(const struct cache *cache)
{
    return (size_t)1 << cache->bucket_bits;
}

static void clear(struct cache *cache)
{
    memset(cache->buckets, 0, bucket_count(cache) * sizeof(*cache->buckets));
    memset(cache->pages, 0, PAGE_BUCKETS * sizeof(*cache->pages));
    clear_targets(cache);
    cache->count = 0;
}

struct cache *cache_new(const struct vs_cpu_ops *ops)
{
    struct cache *cache = calloc(1, sizeof(*cache));
    if (!cache)
        return NULL;
    cache->head.ops = ops;
    cache->bucket_bits = BUCKET_BITS;
    cache->targets = malloc(TARGETS * sizeof(*cache->targets));
    cache->buckets = malloc(bucket_count(cache) * sizeof(*cache->buckets));
    cache->pages = malloc(PAGE_BUCKETS * sizeof(*cache->pages));
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

static size_t hash(uint64_t key, unsigned bits)
{
    return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

static struct block **bucket_of(const struct cache *cache, uint64_t pc)
{
    return &cache->buckets[hash(pc, cache->bucket_bits)];
}

static struct page_entry **page_bucket_of(const struct cache *cache, uint64_t page)
{
    return &cache->pages[hash(page, PAGE_BUCKET_BITS)];
}

struct block *cache_find(const struct cache *cache, uint64_t pc, bool single)
{
    for (struct block *b = *bucket_of(cache, pc); b; b = b->next)
        if (b->pc == pc && b->single == single)
            return b;
    return NULL;
}

static struct target *target_of(const struct cache *cache, uint64_t pc)
{
    return &cache->targets[target_index(pc)];
}

void cache_aim(struct cache *cache, const struct block *block)
{
    *target_of(cache, block->pc) = (struct target){block->pc, block->code};
}

/* ---- adding ---------------------------------------------------------------------------------- */

static uint64_t last_page(const struct block *b)
{
    uint64_t length = b->length ? b->length : 1;
    return (b->pc + length - 1) >> VS_PAGE_BITS;
}

/* Finding a block takes as long with many as with few. If there is no memory, it takes longer. */
static void grow(struct cache *cache)
{
    struct cache larger = *cache;
    larger.bucket_bits++;
    larger.buckets = calloc(bucket_count(&larger), sizeof(*larger.buckets));
    if (!larger.buckets)
        return;
    for (size_t i = 0; i < bucket_count(cache); i++) {
        struct block *next;
        for (struct block *b = cache->buckets[i]; b; b = next) {
            struct block **place = bucket_of(&larger, b->pc);
            next = b->next;
            b->next = *place;
            *place = b;
        }
    }
    free(cache->buckets);
    cache->buckets = larger.buckets;
    cache->bucket_bits = larger.bucket_bits;
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
        struct page_entry **place = page_bucket_of(cache, page);
        if (!e)
            return NULL; /* what is on the first page already is never found */
        *e = (struct page_entry){b, page, *place};
        *place = e;
    }
    if (cache->count++ >= bucket_count(cache))
        grow(cache);
    struct block **place = bucket_of(cache, b->pc);
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

/* From now on the block has to be looked for. */
static void part(struct cache *cache, struct block *b)
{
    struct target *t = target_of(cache, b->pc);
    unlink_all(cache, b);
    if (t->pc == b->pc && t->code == b->code)
        t->pc = NO_TARGET;
}

static void forget(struct cache *cache, struct block *b)
{
    struct block **place = bucket_of(cache, b->pc);
    b->dead = true;
    part(cache, b);
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
    struct page_entry **place = page_bucket_of(cache, page);
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

static void doubt(struct cache *cache, struct block *b, uint64_t addr, uint64_t size)
{
    if (b->dead || !lies_in(b, addr, size))
        return;
    b->believed = cache->doubts - 1;
    part(cache, b);
}

/* The blocks in many pages: what is mapped anew is mostly memory without any. */
static void doubt_range(struct cache *cache, uint64_t addr, uint64_t size, uint64_t pages)
{
    const uint64_t first = addr >> VS_PAGE_BITS;
    if (pages > cache->count) {
        for (size_t i = 0; i < bucket_count(cache); i++)
            for (struct block *b = cache->buckets[i]; b; b = b->next)
                doubt(cache, b, addr, size);
        return;
    }
    for (uint64_t i = 0; i < pages; i++)
        for (struct page_entry *e = *page_bucket_of(cache, first + i); e; e = e->next)
            if (e->page == first + i)
                doubt(cache, e->block, addr, size);
}

static void doubt_all(struct cache *cache)
{
    cache->doubts++;
    for (size_t i = 0; i < bucket_count(cache); i++)
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
    if (size > UINT64_MAX - VS_PAGE_SIZE)
        doubt_all(cache);
    else if (pages > PAGES)
        doubt_range(cache, addr, size, pages);
    else
        for (uint64_t i = 0; i < pages; i++)
            flush_page(cache, first + i, addr, size);
}
