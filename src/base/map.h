/* SPDX-License-Identifier: MIT */
/* A map from 64-bit keys to 64-bit values or pointers: a hash table with open addressing that
 * doubles when it is half full.
 *
 * Any number is a key; a value is never 0 and a pointer never NULL, since these mark free entries.
 * Something larger than a value goes into an array, and the map has its index plus one.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/likely.h"

struct vs_map_entry {
    uint64_t key;
    union {
        uint64_t value; /* 0: the entry is free */
        void *pointer;
    };
};

_Static_assert(sizeof(void *) == sizeof(uint64_t), "a free entry has neither value nor pointer");

/* A zeroed struct is an empty map. */
struct vs_map {
    struct vs_map_entry *entries;
    size_t count;    /* entries that are not free */
    size_t capacity; /* all entries: 0 or a power of two */
};

/* The index of the entry at which the search for a key begins. */
static inline size_t vs_map_start(const struct vs_map *m, uint64_t key)
{
    return (size_t)(vs_hash(key) >> 32) & (m->capacity - 1);
}

/* The key's entry, or NULL. The caller may change its value, but not to 0. It stays where it is
 * until the map is changed by one of the functions below. */
static inline struct vs_map_entry *vs_map_find(const struct vs_map *m, uint64_t key)
{
    if (!m->capacity)
        return NULL;
    for (size_t i = vs_map_start(m, key);; i = (i + 1) & (m->capacity - 1)) {
        struct vs_map_entry *e = &m->entries[i];
        if (likely(e->key == key))
            return e->value ? e : NULL;
        if (!e->value)
            return NULL;
    }
}

/* The key's value, or 0. */
static inline uint64_t vs_map_value(const struct vs_map *m, uint64_t key)
{
    const struct vs_map_entry *e = vs_map_find(m, key);
    return e ? e->value : 0;
}

/* The key's pointer, or NULL. */
static inline void *vs_map_pointer(const struct vs_map *m, uint64_t key)
{
    const struct vs_map_entry *e = vs_map_find(m, key);
    return e ? e->pointer : NULL;
}

/* Gives the key this value or pointer, whether or not it had another. Return 0; -VSE_NOMEM, with
 * the map as it was; not for a key that is in the map. */
int vs_map_set(struct vs_map *m, uint64_t key, uint64_t value);
int vs_map_set_pointer(struct vs_map *m, uint64_t key, void *pointer);

/* Does nothing if the key is not in the map. */
void vs_map_remove(struct vs_map *m, uint64_t key);

/* Walks over all entries: the one after `entry`, the first if that is NULL, or NULL after the last.
 * The order is arbitrary, but the same for the same calls. The map must not change meanwhile,
 * except in the values of its entries. */
struct vs_map_entry *vs_map_next(const struct vs_map *m, const struct vs_map_entry *entry);

/* Makes `to`, which is not initialised before, the same map. Returns 0; -VSE_NOMEM, with `to`
 * empty. */
int vs_map_clone(struct vs_map *to, const struct vs_map *from);

/* Removes all keys; the memory stays. */
void vs_map_clear(struct vs_map *m);

/* Frees the map, which is empty then. What the pointers point to stays. */
void vs_map_fini(struct vs_map *m);

#endif
