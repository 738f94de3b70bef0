/* SPDX-License-Identifier: MIT */
#include "model/branch_unit.h"

#include <string.h>

int vs_branch_unit_init(struct vs_branch_unit *u, const struct vs_branch_unit_config *config)
{
    *u = (struct vs_branch_unit){0};
    int err = config->gshare ? vs_gshare_init(&u->gshare, config->gshare, VS_GSHARE_FOLDED) : 0;
    if (!err)
        err = vs_ras_init(&u->ras, config->ras);
    if (!err)
        err = vs_ibtb_init(&u->ibtb, &(struct vs_ibtb_config){.entries = config->ibtb});
    if (err)
        vs_branch_unit_fini(u);
    return err;
}

void vs_branch_unit_fini(struct vs_branch_unit *u)
{
    vs_gshare_fini(&u->gshare);
    vs_ras_fini(&u->ras);
    vs_ibtb_fini(&u->ibtb);
}

void vs_branch_unit_clear(struct vs_branch_unit *u)
{
    if (u->gshare.counters)
        memset(u->gshare.counters, 1, (size_t)u->gshare.mask + 1);
    u->gshare.history = 0;
    vs_ras_clear(&u->ras);
    vs_ibtb_clear(&u->ibtb);
}

struct vs_cost vs_branch_unit_cost(const struct vs_branch_unit *u, unsigned address_bits)
{
    struct vs_cost sum = u->gshare.counters ? vs_gshare_cost(&u->gshare) : (struct vs_cost){0};
    vs_cost_add(&sum, vs_ras_cost(&u->ras, address_bits), 1);
    vs_cost_add(&sum, vs_ibtb_cost(&u->ibtb, address_bits), 1);
    return sum;
}
