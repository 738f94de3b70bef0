/* SPDX-License-Identifier: MIT */
#include "model/gshare.h"

#include <stdlib.h>
#include <string.h>

#include "base/power.h"

int vs_gshare_init(struct vs_gshare *g, uint32_t entries, enum vs_gshare_hash hash)
{
    *g = (struct vs_gshare){0};
    if (!vs_is_power_of_two(entries) || entries > VS_GSHARE_MAX)
        return -VSE_INVAL;
    g->counters = malloc(entries);
    if (!g->counters)
        return -VSE_NOMEM;
    memset(g->counters, 1, entries);
    g->mask = entries - 1;
    g->fold = hash == VS_GSHARE_FOLDED ? UINT64_MAX : 0;
    g->fold_shift = 4 + vs_log2_ceil(entries);
    return 0;
}

void vs_gshare_fini(struct vs_gshare *g)
{
    free(g->counters);
    *g = (struct vs_gshare){0};
}

struct vs_cost vs_gshare_cost(const struct vs_gshare *g)
{
    uint64_t entries = (uint64_t)g->mask + 1;

    return (struct vs_cost){.sram = 2 * entries, .registers = vs_log2_ceil(entries)};
}
