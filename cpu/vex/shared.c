/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shared.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HELD    ((size_t)256 << 20) /* bytes after which nothing is added */
#define PIECE   ((size_t)1 << 20)
#define BUCKETS ((size_t)1 << 16)

struct piece {
    struct piece *next;
    size_t used;
    _Alignas(16) uint8_t bytes[];
};

/* LibVEX's translations are the whole process's, as it is. */
static struct {
    pthread_mutex_t lock;
    unsigned caches;
    struct piece *pieces;
    size_t held;
    const struct shared_block **buckets; /* NULL: there are no blocks */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void shared_enter(void)
{
    pthread_mutex_lock(&all.lock);
    all.caches++;
    pthread_mutex_unlock(&all.lock);
}

void shared_leave(void)
{
    pthread_mutex_lock(&all.lock);
    if (--all.caches == 0) {
        while (all.pieces) {
            struct piece *next = all.pieces->next;
            free(all.pieces);
            all.pieces = next;
        }
        free(all.buckets);
        all.buckets = NULL;
        all.held = 0;
    }
    pthread_mutex_unlock(&all.lock);
}

static void *room(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!all.pieces || size > PIECE - sizeof(*all.pieces) - all.pieces->used) {
        struct piece *p = size > PIECE - sizeof(*p) ? NULL : malloc(PIECE);
        if (!p)
            return NULL;
        p->next = all.pieces;
        p->used = 0;
        all.pieces = p;
        all.held += PIECE;
    }
    void *at = all.pieces->bytes + all.pieces->used;
    all.pieces->used += size;
    return at;
}

static const struct shared_block **bucket_of(uint64_t pc)
{
    return &all.buckets[pc * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

bool shared_wanted(const struct rewrite *r)
{
    pthread_mutex_lock(&all.lock);
    bool wanted =
        (all.caches > 1 || all.buckets) && all.held < HELD && !r->of->break_count && !r->of->stops;
    pthread_mutex_unlock(&all.lock);
    return wanted;
}

static bool is_same(const struct shared_block *b, const struct rewrite *r, bool single)
{
    return b->pc == r->addr && b->single == single && b->tells == (r->of->branched != NULL) &&
           b->describe == (const void *)(uintptr_t)r->of->describe && b->length <= r->size &&
           memcmp(b->bytes, r->bytes - REQUEST_LENGTH, REQUEST_LENGTH + b->length) == 0;
}

const struct shared_block *shared_find(const struct rewrite *r, bool single)
{
    const struct shared_block *b = NULL;
    pthread_mutex_lock(&all.lock);
    if (all.buckets)
        for (b = *bucket_of(r->addr); b && !is_same(b, r, single);)
            b = b->next;
    pthread_mutex_unlock(&all.lock);
    return b;
}

static void add(const struct rewrite *r, bool single, const void *code, size_t size)
{
    if (!all.buckets)
        all.buckets = calloc(BUCKETS, sizeof(*all.buckets));
    struct shared_block *b = all.buckets ? room(sizeof(*b)) : NULL;
    uint8_t *copy = b ? room(size) : NULL;
    uint8_t *bytes = copy ? room(REQUEST_LENGTH + r->length) : NULL;
    if (!bytes)
        return;
    memcpy(copy, code, size);
    memcpy(bytes, r->bytes - REQUEST_LENGTH, REQUEST_LENGTH + r->length);
    const struct shared_block **place = bucket_of(r->addr);
    *b = (struct shared_block){.pc = r->addr,
                               .bytes = bytes,
                               .code = copy,
                               .size = size,
                               .length = r->length,
                               .insns = r->insns,
                               .single = single,
                               .repeats = r->repeats,
                               .tells = r->of->branched != NULL,
                               .describe = (const void *)(uintptr_t)r->of->describe,
                               .next = *place};
    *place = b;
}

void shared_add(const struct rewrite *r, bool single, const void *code, size_t size)
{
    pthread_mutex_lock(&all.lock);
    add(r, single, code, size);
    pthread_mutex_unlock(&all.lock);
}

struct site *shared_site(void *context)
{
    (void)context;
    pthread_mutex_lock(&all.lock);
    struct site *s = room(sizeof(*s));
    pthread_mutex_unlock(&all.lock);
    return s;
}
