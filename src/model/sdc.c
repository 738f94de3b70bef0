/* SPDX-License-Identifier: MIT */
#include "model/sdc.h"

#include <stdlib.h>

#include "base/invariant.h"
#include "base/power.h"

int vs_sdc_init(struct vs_sdc *c, uint32_t sets, uint32_t ways, enum vs_sdc_policy policy)
{
    uint64_t entries = (uint64_t)sets * ways;

    *c = (struct vs_sdc){0};
    if (!vs_is_power_of_two(sets) || ways < 1 || ways > VS_SDC_MAX_WAYS || entries < 2 ||
        entries > VS_SDC_MAX_ENTRIES || policy > VS_SDC_RANDOM)
        return -VSE_INVAL;
    c->entries = calloc(entries, sizeof(*c->entries));
    if (!c->entries)
        return -VSE_NOMEM;
    c->sets = sets;
    c->ways = ways;
    c->policy = policy;
    c->random = 1;
    return 0;
}

void vs_sdc_fini(struct vs_sdc *c)
{
    free(c->entries);
    *c = (struct vs_sdc){0};
}

unsigned vs_sdc_index_bits(const struct vs_sdc *c)
{
    return vs_log2_ceil((uint64_t)c->sets * c->ways);
}

/* A set's usable entries are [first, end). */
static uint32_t set_first(const struct vs_sdc *c, uint32_t set)
{
    return set ? set * c->ways : 1;
}

static uint32_t set_end(const struct vs_sdc *c, uint32_t set)
{
    return (set + 1) * c->ways;
}

uint32_t vs_sdc_find(const struct vs_sdc *c, uint64_t address, uint32_t length)
{
    uint32_t set = vs_sdc_set(c, address, length), end = set_end(c, set);

    for (uint32_t i = set_first(c, set); i < end; i++) {
        const struct vs_sdc_entry *e = &c->entries[i];

        if (e->valid && e->address == address && e->length == length)
            return i;
    }
    return 0;
}

/* ---- replacement --------------------------------------------------------------------------- */

static void mark_recent(struct vs_sdc *c, uint32_t first, uint32_t end, uint32_t used)
{
    bool all = true;

    c->entries[used].rank = 1;
    for (uint32_t i = first; i < end; i++)
        all = all && c->entries[i].rank;
    for (uint32_t i = first; all && i < end; i++)
        c->entries[i].rank = i == used;
}

/* Moves the entries in front of `used` back by one. A fresh entry stood behind all of them. */
static void move_front(struct vs_sdc *c, uint32_t first, uint32_t end, uint32_t used, bool fresh)
{
    unsigned rank = fresh ? VS_SDC_MAX_WAYS : c->entries[used].rank;

    for (uint32_t i = first; i < end; i++)
        if (c->entries[i].valid && c->entries[i].rank < rank)
            c->entries[i].rank++;
    c->entries[used].rank = 0;
}

static void note_use(struct vs_sdc *c, uint32_t index, bool fresh)
{
    uint32_t set = index / c->ways, first = set_first(c, set), end = set_end(c, set);

    switch (c->policy) {
    case VS_SDC_PLRU:
        mark_recent(c, first, end, index);
        break;
    case VS_SDC_LRU:
        move_front(c, first, end, index, fresh);
        break;
    case VS_SDC_FIFO:
        if (fresh)
            move_front(c, first, end, index, fresh);
        break;
    case VS_SDC_RANDOM:
        break;
    }
}

static uint32_t random_victim(struct vs_sdc *c, uint32_t first, uint32_t end)
{
    /* x^16 + x^14 + x^13 + x^11 + 1, which has the longest period */
    c->random = (uint16_t)(c->random >> 1 ^ (c->random & 1 ? 0xb400 : 0));
    return first + c->random % (end - first);
}

static uint32_t victim(struct vs_sdc *c, uint32_t first, uint32_t end)
{
    uint32_t best = first;

    for (uint32_t i = first; i < end; i++)
        if (!c->entries[i].valid)
            return i;
    if (c->policy == VS_SDC_RANDOM)
        return random_victim(c, first, end);
    for (uint32_t i = first; i < end; i++) {
        const struct vs_sdc_entry *e = &c->entries[i];

        if (c->policy == VS_SDC_PLRU ? e->rank < c->entries[best].rank
                                     : e->rank > c->entries[best].rank)
            best = i;
    }
    return best;
}

void vs_sdc_touch(struct vs_sdc *c, uint32_t index)
{
    invariant(index && index < c->sets * c->ways);
    note_use(c, index, false);
}

uint32_t vs_sdc_insert(struct vs_sdc *c, uint64_t address, uint32_t length)
{
    uint32_t set = vs_sdc_set(c, address, length), first = set_first(c, set), i;

    if (first == set_end(c, set))
        return 0;
    i = victim(c, first, set_end(c, set));
    c->entries[i].valid = false; /* what was there does not age with the others */
    note_use(c, i, true);
    c->entries[i].address = address;
    c->entries[i].length = length;
    c->entries[i].valid = true;
    return i;
}

uint32_t vs_sdc_step(struct vs_sdc *c, uint64_t address, uint32_t length)
{
    uint32_t i = vs_sdc_find(c, address, length);

    if (i)
        vs_sdc_touch(c, i);
    else
        vs_sdc_insert(c, address, length);
    return i;
}

int vs_sdc_get(const struct vs_sdc *c, uint32_t index, uint64_t *address, uint32_t *length)
{
    if (!index || index >= c->sets * c->ways || !c->entries[index].valid)
        return -VSE_NOTFOUND;
    *address = c->entries[index].address;
    *length = c->entries[index].length;
    return 0;
}

struct vs_cost vs_sdc_cost(const struct vs_sdc *c, unsigned address_bits, unsigned length_bits)
{
    uint64_t entries = (uint64_t)c->sets * c->ways - 1;
    unsigned rank = vs_log2_ceil(c->ways), valid = 1;
    struct vs_cost cost = {.sram = entries * (address_bits + length_bits + valid)};

    switch (c->policy) {
    case VS_SDC_PLRU:
        cost.sram += entries;
        break;
    case VS_SDC_LRU:
        cost.sram += entries * rank;
        break;
    case VS_SDC_FIFO: /* a set needs only the way that is next */
        cost.sram += (uint64_t)c->sets * rank;
        break;
    case VS_SDC_RANDOM:
        cost.registers += 16;
        break;
    }
    return cost;
}
