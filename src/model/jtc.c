/* SPDX-License-Identifier: MIT */
#include "model/jtc.h"

#include <stdlib.h>
#include <string.h>

#include "base/power.h"

int vs_jtc_init(struct vs_jtc *j, uint32_t entries, unsigned shift)
{
    *j = (struct vs_jtc){0};
    if (!vs_is_power_of_two(entries) || entries > VS_JTC_MAX)
        return -VSE_INVAL;
    j->targets = calloc(entries, sizeof(*j->targets));
    if (!j->targets)
        return -VSE_NOMEM;
    j->mask = entries - 1;
    j->shift = shift;
    return 0;
}

void vs_jtc_fini(struct vs_jtc *j)
{
    free(j->targets);
    *j = (struct vs_jtc){0};
}

void vs_jtc_clear(struct vs_jtc *j)
{
    memset(j->targets, 0, ((size_t)j->mask + 1) * sizeof(*j->targets));
}

struct vs_cost vs_jtc_cost(const struct vs_jtc *j, unsigned address_bits)
{
    uint64_t entries = (uint64_t)j->mask + 1;
    return (struct vs_cost){.sram = entries * address_bits,
                            .registers = entries, /* which are valid */
                            .comparators = address_bits};
}
