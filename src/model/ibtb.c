/* SPDX-License-Identifier: MIT */
#include "model/ibtb.h"

#include <stdlib.h>

#include "base/power.h"

static bool is_valid(const struct vs_ibtb_config *c)
{
    return c->entries <= VS_IBTB_MAX &&
           (!c->entries || (c->entries % 2 == 0 && vs_is_power_of_two(c->entries))) &&
           (!c->pir_bits || c->pir_bits == 16 || c->pir_bits == 13) &&
           (!c->pir_pc_bits || c->pir_pc_bits == 13 || c->pir_pc_bits == 8);
}

int vs_ibtb_init(struct vs_ibtb *b, const struct vs_ibtb_config *c)
{
    uint32_t sets = c->entries / 2;

    *b = (struct vs_ibtb){0};
    if (!is_valid(c))
        return -VSE_INVAL;
    b->oracle = c->oracle;
    b->pir_all = c->pir_all;
    b->pir_mask = c->pir_bits == 13 ? 0x1fff : 0xffff;
    b->pc_mask = c->pir_pc_bits == 8 ? 0xff : 0x1fff;
    if (!sets)
        return 0;
    b->sets = calloc(sets, sizeof(*b->sets));
    if (!b->sets)
        return -VSE_NOMEM;
    b->mask = sets - 1;
    vs_ibtb_clear(b);
    return 0;
}

void vs_ibtb_clear(struct vs_ibtb *b)
{
    for (uint32_t i = 0; b->sets && i <= b->mask; i++)
        b->sets[i] = (struct vs_ibtb_set){.tag = {VS_IBTB_NO_TAG, VS_IBTB_NO_TAG}};
    b->pir = 0;
}

void vs_ibtb_fini(struct vs_ibtb *b)
{
    free(b->sets);
    *b = (struct vs_ibtb){0};
}

struct vs_cost vs_ibtb_cost(const struct vs_ibtb *b, unsigned target_bits)
{
    uint64_t sets = b->sets ? (uint64_t)b->mask + 1 : 0;
    unsigned tag = b->oracle ? 0 : 8, valid = 1, oldest = 1;

    if (!sets)
        return (struct vs_cost){0};
    return (struct vs_cost){
        .sram = sets * (2 * (target_bits + tag + valid) + oldest),
        .registers = (unsigned)__builtin_popcount(b->pir_mask),
        .comparators = 2 * (b->oracle ? target_bits : tag),
    };
}
