/* SPDX-License-Identifier: MIT */
#include "technique/losses.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "vestige/error.h"

static struct vs_loss *find(const struct vs_losses *l, uint64_t line)
{
    size_t i = (size_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (l->capacity - 1);
    while (l->table[i].used && l->table[i].line != line)
        i = (i + 1) & (l->capacity - 1);
    return &l->table[i];
}

static int grow(struct vs_losses *l)
{
    struct vs_losses new = {.capacity = l->capacity ? 2 * l->capacity : 1024, .count = l->count};
    new.table = calloc(new.capacity, sizeof(*new.table));
    if (!new.table)
        return -VSE_NOMEM;
    for (size_t i = 0; i < l->capacity; i++)
        if (l->table[i].used)
            *find(&new, l->table[i].line) = l->table[i];
    free(l->table);
    *l = new;
    return 0;
}

int vs_losses_note(struct vs_losses *l, uint64_t line, unsigned core, uint64_t time)
{
    struct vs_loss *entry = l->capacity ? find(l, line) : NULL;
    if (!entry || !entry->used) {
        if (2 * l->count >= l->capacity) {
            if (grow(l))
                return -VSE_NOMEM;
            entry = find(l, line);
        }
        *entry = (struct vs_loss){.line = line, .core = core, .used = true};
        l->count++;
    }
    invariant(entry->time <= time && 2 * (l->count - 1) < l->capacity);
    if (entry->core != core) {
        entry->before = entry->time;
        entry->core = core;
    }
    entry->time = time;
    return 0;
}

uint64_t vs_losses_of_others(const struct vs_losses *l, uint64_t line, unsigned core)
{
    const struct vs_loss *entry = l->capacity ? find(l, line) : NULL;
    if (!entry || !entry->used)
        return 0;
    return entry->core == core ? entry->before : entry->time;
}

void vs_losses_fini(struct vs_losses *l)
{
    free(l->table);
}
