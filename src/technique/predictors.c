/* SPDX-License-Identifier: MIT */
#include "technique/predictors.h"

#include "base/diag.h"
#include "base/power.h"

const char *const vs_predictors_sharing[] = {"private", "shared", NULL};
const char *const vs_predictors_hashes[] = {"published", "folded", NULL};
const char *const vs_predictors_paths[] = {"indirect", "all", NULL};
const char *const vs_predictors_path_bits[] = {"16", "13", NULL};
const char *const vs_predictors_path_pc_bits[] = {"13", "8", NULL};

struct vs_predictors_config vs_predictors_config(const struct vs_predictors_params *p)
{
    return (struct vs_predictors_config){
        .gshare = (uint32_t)p->gshare,
        .hash = p->hash ? VS_GSHARE_FOLDED : VS_GSHARE_PUBLISHED,
        .ras = (uint32_t)p->ras,
        .ibtb = {.entries = (uint32_t)p->ibtb,
                 .pir_all = p->pir,
                 .pir_bits = p->pir_bits ? 13 : 16,
                 .pir_pc_bits = p->pir_pc_bits ? 8 : 13},
    };
}

int vs_predictors_check(const struct vs_predictors_config *c, struct vs_diag *diag)
{
    if (!vs_is_power_of_two(c->gshare))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "gshare needs a power of two of entries");
    if (c->ibtb.entries == 1 || (c->ibtb.entries && !vs_is_power_of_two(c->ibtb.entries)))
        return vs_diag_set(diag, -VSE_INVAL, -1, -1,
                           "ibtb needs twice a power of two of entries, or none");
    return 0;
}

static unsigned target_bits(const struct vs_predictors_config *c, unsigned address_bits)
{
    return c->ibtb_target && c->ibtb_target < address_bits ? c->ibtb_target : address_bits;
}

int vs_predictors_init(struct vs_predictors *p, const struct vs_predictors_config *c,
                       unsigned address_bits)
{
    *p = (struct vs_predictors){0};
    vs_lastvalue_init(&p->upper, address_bits, address_bits - target_bits(c, address_bits));
    int err = vs_gshare_init(&p->gshare, c->gshare, c->hash);
    if (!err)
        err = vs_ras_init(&p->ras, c->ras);
    return err ? err : vs_ibtb_init(&p->ibtb, &c->ibtb);
}

void vs_predictors_fini(struct vs_predictors *p)
{
    vs_gshare_fini(&p->gshare);
    vs_ras_fini(&p->ras);
    vs_ibtb_fini(&p->ibtb);
}

int vs_predictors_cost(const struct vs_predictors_config *c, const struct vs_technique_setup *setup,
                       uint64_t copies, struct vs_cost_list *list)
{
    struct vs_predictors p;
    int err = vs_predictors_init(&p, c, setup->address_bits);
    if (!err) {
        vs_cost_list_add(list, "gshare", vs_gshare_cost(&p.gshare), copies);
        vs_cost_list_add(list, "RAS", vs_ras_cost(&p.ras, setup->address_bits), copies);
        vs_cost_list_add(list, "iBTB", vs_ibtb_cost(&p.ibtb, target_bits(c, setup->address_bits)),
                         copies);
        if (p.ibtb.sets && target_bits(c, setup->address_bits) < setup->address_bits)
            vs_cost_list_add(list, "upper target bits", vs_lastvalue_cost(&p.upper), copies);
    }
    vs_predictors_fini(&p);
    return err;
}
