/* SPDX-License-Identifier: MIT */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "vestige/error.h"

enum { FIRST_CAPACITY = 256 };

/* Puts an entry where its key belongs. The key is not in the map, which has a free entry. */
static void place(struct vs_map *m, struct vs_map_entry entry)
{
    size_t i = vs_map_start(m, entry.key);
    while (m->entries[i].value)
        i = (i + 1) & (m->capacity - 1);
    m->entries[i] = entry;
}

static int grow(struct vs_map *m)
{
    struct vs_map larger = {.count = m->count,
                            .capacity = m->capacity ? 2 * m->capacity : FIRST_CAPACITY};
    larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
    if (!larger.entries)
        return -VSE_NOMEM;
    for (size_t i = 0; i < m->capacity; i++)
        if (m->entries[i].value)
            place(&larger, m->entries[i]);
    free(m->entries);
    *m = larger;
    return 0;
}

static int set(struct vs_map *m, struct vs_map_entry entry)
{
    invariant(entry.value);
    struct vs_map_entry *old = vs_map_find(m, entry.key);
    if (old) {
        *old = entry;
        return 0;
    }
    if (2 * m->count >= m->capacity && grow(m))
        return -VSE_NOMEM;
    place(m, entry);
    m->count++;
    return 0;
}

int vs_map_set(struct vs_map *m, uint64_t key, uint64_t value)
{
    return set(m, (struct vs_map_entry){.key = key, .value = value});
}

int vs_map_set_pointer(struct vs_map *m, uint64_t key, void *pointer)
{
    return set(m, (struct vs_map_entry){.key = key, .pointer = pointer});
}

void vs_map_remove(struct vs_map *m, uint64_t key)
{
    struct vs_map_entry *e = vs_map_find(m, key);
    if (!e)
        return;
    e->value = 0;
    m->count--;
    /* Entries up to the next free one may have been put there because this one was taken. */
    size_t mask = m->capacity - 1;
    for (size_t i = (size_t)(e - m->entries + 1) & mask; m->entries[i].value; i = (i + 1) & mask) {
        struct vs_map_entry moved = m->entries[i];
        m->entries[i].value = 0;
        place(m, moved);
    }
}

struct vs_map_entry *vs_map_next(const struct vs_map *m, const struct vs_map_entry *entry)
{
    for (size_t i = entry ? (size_t)(entry - m->entries) + 1 : 0; i < m->capacity; i++)
        if (m->entries[i].value)
            return &m->entries[i];
    return NULL;
}

int vs_map_clone(struct vs_map *to, const struct vs_map *from)
{
    *to = (struct vs_map){0};
    if (!from->capacity)
        return 0;
    to->entries = malloc(from->capacity * sizeof(*to->entries));
    if (!to->entries)
        return -VSE_NOMEM;
    memcpy(to->entries, from->entries, from->capacity * sizeof(*to->entries));
    to->count = from->count;
    to->capacity = from->capacity;
    return 0;
}

void vs_map_clear(struct vs_map *m)
{
    if (m->count)
        memset(m->entries, 0, m->capacity * sizeof(*m->entries));
    m->count = 0;
}

void vs_map_fini(struct vs_map *m)
{
    free(m->entries);
    *m = (struct vs_map){0};
}
