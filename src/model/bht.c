/* SPDX-License-Identifier: MIT */
#include "model/bht.h"

#include <stdlib.h>
#include <string.h>

#include "base/power.h"

int vs_bht_init(struct vs_bht *b, uint32_t entries, unsigned shift)
{
    *b = (struct vs_bht){0};
    if (!vs_is_power_of_two(entries) || entries > VS_BHT_MAX)
        return -VSE_INVAL;
    b->states = malloc(entries);
    if (!b->states)
        return -VSE_NOMEM;
    b->mask = entries - 1;
    b->shift = shift;
    vs_bht_clear(b);
    return 0;
}

void vs_bht_fini(struct vs_bht *b)
{
    free(b->states);
    *b = (struct vs_bht){0};
}

void vs_bht_clear(struct vs_bht *b)
{
    memset(b->states, 1, (size_t)b->mask + 1);
}

struct vs_cost vs_bht_cost(const struct vs_bht *b)
{
    return (struct vs_cost){.sram = 2 * ((uint64_t)b->mask + 1)};
}
