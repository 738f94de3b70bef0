/* SPDX-License-Identifier: MIT */
#include "model/ras.h"

#include <stdlib.h>

#include "base/power.h"

int vs_ras_init(struct vs_ras *r, uint32_t size)
{
    *r = (struct vs_ras){0};
    if (size > VS_RAS_MAX)
        return -VSE_INVAL;
    if (size && !(r->entries = calloc(size, sizeof(*r->entries))))
        return -VSE_NOMEM;
    r->size = size;
    return 0;
}

void vs_ras_fini(struct vs_ras *r)
{
    free(r->entries);
    *r = (struct vs_ras){0};
}

struct vs_cost vs_ras_cost(const struct vs_ras *r, unsigned address_bits)
{
    /* position and depth */
    unsigned pointers = r->size ? vs_log2_ceil(r->size) + vs_log2_ceil((uint64_t)r->size + 1) : 0;

    return (struct vs_cost){.sram = (uint64_t)r->size * address_bits, .registers = pointers};
}
