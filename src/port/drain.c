/* SPDX-License-Identifier: MIT */
#include "port/drain.h"

int vs_drain_init(struct vs_drain *d, const struct vs_drain_config *c)
{
    *d = (struct vs_drain){.config = *c};
    return c->bits >= 1 && c->bits <= 1u << 20 && c->cycles >= 1 && c->cycles <= 1u << 20 &&
                   c->capacity <= UINT64_C(1) << 40
               ? 0
               : -VSE_INVAL;
}

static void advance(struct vs_drain *d, uint64_t cycle)
{
    uint64_t passed = cycle > d->now ? cycle - d->now : 0;

    d->level = passed > d->level / d->config.bits ? 0 : d->level - passed * d->config.bits;
    d->now += passed;
}

/* Waits until the level has fallen to `most` or below; both are in the level's units. */
static void stall(struct vs_drain *d, uint64_t most)
{
    uint64_t excess = d->level - most,
             cycles = excess / d->config.bits + (excess % d->config.bits != 0);

    d->stalled += cycles;
    advance(d, d->now + cycles);
}

void vs_drain_add(struct vs_drain *d, uint64_t cycle, uint64_t bits)
{
    uint64_t unit = d->config.cycles, capacity = d->config.capacity * unit, occupied;

    advance(d, cycle + d->stalled);
    if (capacity && !d->config.stall && d->level + bits * unit > capacity) {
        d->dropped_bits += bits;
        d->dropped_messages++;
        return;
    }
    d->accepted_bits += bits;
    d->level += bits * unit;
    if (capacity && d->level > capacity)
        stall(d, capacity);
    occupied = (d->level + unit - 1) / unit;
    if (occupied > d->largest)
        d->largest = occupied;
}
