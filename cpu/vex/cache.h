/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Translated blocks: how they are found, linked to each other and forgotten. The memory of what is
 * forgotten stays until everything is dropped, so what still points there does no harm.
 *
 * When all code may have changed, hardly any has: blocks are then doubted, and believed again when
 * they are looked for and the program's code is as it was. */
#ifndef CACHE_H
#define CACHE_H

#include "core.h"
#include "enter.h"

/* A direct branch that goes to a block without leaving translated code. */
struct link {
    void *site;
    const void *unlinked; /* where it goes when it is not linked */
    struct link *next;
};

struct block {
    uint64_t pc;
    const void *code;
    const uint8_t *bytes; /* the program's code that it was made from */
    uint32_t length;      /* bytes of that */
    uint16_t insns;
    bool single;        /* made to be executed by itself: it is one instruction */
    bool repeats;       /* it is one that repeats itself */
    bool stops;         /* pc is an address to stop at */
    bool dead;          /* it is forgotten */
    uint64_t believed;  /* the cache's `doubts` when its code was last looked at */
    struct link *in;    /* branches that are linked to it */
    struct block *next; /* in its bucket */
};

struct chunk;
struct page_entry;

struct cache {
    struct vs_cpu_code head;
    struct target *targets;
    struct block **buckets; /* 2^bucket_bits */
    unsigned bucket_bits;
    size_t count;              /* of blocks that were added since everything was dropped */
    struct page_entry **pages; /* blocks by page, hashed */
    struct chunk *code, *data; /* memory for code, and for blocks, sites and links */
    size_t held;               /* bytes of both */
    struct link *unused;       /* links */
    uint64_t doubts;           /* how often all code may have changed */
};

struct cache *cache_new(const struct vs_cpu_ops *ops);
void cache_free(struct cache *cache);

/* Forgets blocks that have code in these bytes, or begin there; if these are many, doubts all. */
void cache_flush(struct cache *cache, uint64_t addr, uint64_t size);

/* The block may be in doubt. */
struct block *cache_find(const struct cache *cache, uint64_t pc, bool single);

static inline bool cache_doubts(const struct cache *cache, const struct block *block)
{
    return block->believed != cache->doubts;
}

/* Settles the doubt, now that the program's code is known again. Returns whether the block is as it
 * was; if not, it is forgotten. */
bool cache_believe(struct cache *cache, struct block *block, const uint8_t *bytes);

/* Adds a block with copies of its code and the program's. Returns NULL without memory. */
struct block *cache_add(struct cache *cache, const struct block *block, const void *code,
                        size_t size);

/* Returns room that is valid until everything is dropped; NULL without memory. */
void *cache_room(struct cache *cache, size_t size);

/* Drops everything if too much memory is held. */
void cache_relieve(struct cache *cache);

/* Links the branch at a site, which goes to `unlinked` now, to a block. */
void cache_link(struct cache *cache, void *site, const void *unlinked, struct block *to);

/* Lets indirect branches find the block. */
void cache_aim(struct cache *cache, const struct block *block);

#endif
