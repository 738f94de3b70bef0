/* SPDX-License-Identifier: MIT */
#include "target/mirror.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/invariant.h"
#include "vestige/error.h"

#define NO_SLOT UINT32_MAX

void vs_mirror_init(struct vs_mirror *t, uint32_t line, vs_backing_fn *backing, void *context)
{
    *t = (struct vs_mirror){.backing = backing, .context = context, .line = line};
}

void vs_mirror_fini(struct vs_mirror *t)
{
    free(t->slots);
    free(t->bytes);
    free(t->table);
    *t = (struct vs_mirror){0};
}

/* ---- the table ------------------------------------------------------------------------------- */

static uint32_t *find_entry(const struct vs_mirror *t, uint64_t line)
{
    size_t mask = t->table_capacity - 1;
    size_t i = (size_t)(line / t->line * UINT64_C(0x9e3779b97f4a7c15) >> 24) & mask;
    while (t->table[i] != NO_SLOT && t->slots[t->table[i]].line != line)
        i = (i + 1) & mask;
    return &t->table[i];
}

static int grow_table(struct vs_mirror *t)
{
    size_t capacity = t->table_capacity ? 2 * t->table_capacity : 1024;
    uint32_t *table = malloc(capacity * sizeof(*table));
    if (!table)
        return -VSE_NOMEM;
    memset(table, 0xff, capacity * sizeof(*table));
    free(t->table);
    t->table = table;
    t->table_capacity = capacity;
    for (size_t i = 0; i < t->slot_count; i++)
        *find_entry(t, t->slots[i].line) = (uint32_t)i;
    return 0;
}

static int add_slot(struct vs_mirror *t, uint64_t line)
{
    if (t->slot_count == NO_SLOT ||
        vs_array_room((void **)&t->slots, &t->slot_capacity, t->slot_count, 1, sizeof(*t->slots)) ||
        vs_array_room((void **)&t->bytes, &t->byte_capacity, t->slot_count, 1, t->line) ||
        (2 * (t->slot_count + 1) > t->table_capacity && grow_table(t)))
        return -VSE_NOMEM;
    invariant(2 * (t->slot_count + 1) <= t->table_capacity);
    *find_entry(t, line) = (uint32_t)t->slot_count;
    t->slots[t->slot_count++] = (struct vs_mirror_slot){.line = line};
    return 0;
}

/* The slot of the line, or NO_SLOT. */
static uint32_t find_slot(const struct vs_mirror *t, uint64_t line)
{
    return t->table_capacity ? *find_entry(t, line) : NO_SLOT;
}

static uint8_t *bytes_of(const struct vs_mirror *t, uint32_t slot)
{
    return t->bytes + (size_t)slot * t->line;
}

/* ---- access ---------------------------------------------------------------------------------- */

int vs_mirror_get(struct vs_mirror *t, uint64_t line, uint8_t **bytes)
{
    uint32_t slot = find_slot(t, line);
    if (slot == NO_SLOT) {
        int error = add_slot(t, line);
        if (error)
            return error;
        slot = (uint32_t)t->slot_count - 1;
    }
    if (!t->slots[slot].known) {
        int error = t->backing(t->context, line, bytes_of(t, slot), t->line);
        if (error)
            return error;
        t->slots[slot].known = true;
    }
    *bytes = bytes_of(t, slot);
    return 0;
}

/* What [addr, last] is to the line of a slot. */
static int outside_slot(struct vs_mirror *t, uint32_t slot, uint64_t addr, uint64_t last)
{
    struct vs_mirror_slot *s = &t->slots[slot];
    uint64_t end = s->line + (t->line - 1);
    if (!s->known || last < s->line || addr > end)
        return 0;
    if (addr <= s->line && last >= end) {
        s->known = false;
        return 0;
    }
    uint64_t from = addr > s->line ? addr : s->line, to = last < end ? last : end;
    return t->backing(t->context, from, bytes_of(t, slot) + (from - s->line), to - from + 1);
}

int vs_mirror_outside(struct vs_mirror *t, uint64_t addr, uint64_t size)
{
    if (!size)
        return 0;
    uint64_t last = addr + (size - 1), first_line = addr / t->line, lines = last / t->line;
    int error = 0;
    lines -= first_line; /* beyond the first */
    if (lines >= t->slot_count) {
        for (uint32_t slot = 0; slot < t->slot_count && !error; slot++)
            error = outside_slot(t, slot, addr, last);
        return error;
    }
    for (uint64_t n = 0; n <= lines && !error; n++) {
        uint32_t slot = find_slot(t, (first_line + n) * t->line);
        if (slot != NO_SLOT)
            error = outside_slot(t, slot, addr, last);
    }
    return error;
}
