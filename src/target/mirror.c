/* SPDX-License-Identifier: MIT */
#include "target/mirror.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "vestige/error.h"

#define NO_SLOT SIZE_MAX

void vs_mirror_init(struct vs_mirror *t, uint32_t line, vs_backing_fn *backing, void *context)
{
    *t = (struct vs_mirror){.backing = backing, .context = context, .line = line};
}

void vs_mirror_fini(struct vs_mirror *t)
{
    free(t->slots);
    free(t->bytes);
    vs_map_fini(&t->numbers);
    *t = (struct vs_mirror){0};
}

/* ---- slots ----------------------------------------------------------------------------------- */

static int add_slot(struct vs_mirror *t, uint64_t line)
{
    if (vs_array_room((void **)&t->slots, &t->slot_capacity, t->slot_count, 1, sizeof(*t->slots)) ||
        vs_array_room((void **)&t->bytes, &t->byte_capacity, t->slot_count, 1, t->line) ||
        vs_map_set(&t->numbers, line, t->slot_count + 1))
        return -VSE_NOMEM;
    t->slots[t->slot_count++] = (struct vs_mirror_slot){.line = line};
    return 0;
}

/* Returns the slot of the line, or NO_SLOT. */
static size_t find_slot(const struct vs_mirror *t, uint64_t line)
{
    return (size_t)vs_map_value(&t->numbers, line) - 1;
}

static uint8_t *bytes_of(const struct vs_mirror *t, size_t slot)
{
    return t->bytes + slot * t->line;
}

/* ---- access ---------------------------------------------------------------------------------- */

int vs_mirror_get(struct vs_mirror *t, uint64_t line, uint8_t **bytes)
{
    size_t slot = find_slot(t, line);
    if (slot == NO_SLOT) {
        int error = add_slot(t, line);
        if (error)
            return error;
        slot = t->slot_count - 1;
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

/* [addr, last] was written behind the caches: does for the line of a slot what that entails. */
static int outside_slot(struct vs_mirror *t, size_t slot, uint64_t addr, uint64_t last)
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
        for (size_t slot = 0; slot < t->slot_count && !error; slot++)
            error = outside_slot(t, slot, addr, last);
        return error;
    }
    for (uint64_t n = 0; n <= lines && !error; n++) {
        size_t slot = find_slot(t, (first_line + n) * t->line);
        if (slot != NO_SLOT)
            error = outside_slot(t, slot, addr, last);
    }
    return error;
}
