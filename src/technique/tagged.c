/* SPDX-License-Identifier: MIT */
#include "technique/tagged.h"

#include "base/diag.h"
#include "base/power.h"

enum { PATH_BITS = 3, TRUST_BITS = 7 };

const char *const vs_tagged_sharing[] = {"private", "shared", NULL};

struct vs_tagged_config vs_tagged_config(const struct vs_tagged_params *p)
{
    return (struct vs_tagged_config){
        .tage = {.base = (uint32_t)p->base,
                 .entries = (uint32_t)p->entries,
                 .tables = (unsigned)p->tables,
                 .tag_bits = (unsigned)p->tag,
                 .history_min = (unsigned)p->history_min,
                 .history_max =
                     (unsigned)(p->history_max > p->history_min ? p->history_max : p->history_min)},
        .ittage = {.entries = (uint32_t)p->ittage,
                   .tables = (unsigned)p->ittage_tables,
                   .tag_bits = (unsigned)p->ittage_tag},
        .loops = (uint32_t)p->loops,
        .ras = (uint32_t)p->ras,
        .target_bits = (unsigned)p->target_bits,
    };
}

int vs_tagged_check(const struct vs_tagged_params *p, struct vs_diag *diag)
{
    if (p->base < 2 || p->entries < 2)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "base and entries need at least 2");
    if (p->ittage == 1)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "ittage needs at least 2 entries, or none");
    return 0;
}

int vs_tagged_init(struct vs_tagged *t, const struct vs_tagged_config *c, unsigned address_bits)
{
    *t = (struct vs_tagged){0};
    vs_region_init(&t->region, address_bits, c->target_bits);
    int err = vs_tage_init(&t->tage, &c->tage);
    if (!err)
        err = vs_loop_init(&t->loop, c->loops);
    if (!err)
        err = vs_ittage_init(&t->ittage, &c->ittage);
    return err ? err : vs_ras_init(&t->ras, c->ras);
}

void vs_tagged_fini(struct vs_tagged *t)
{
    vs_tage_fini(&t->tage);
    vs_loop_fini(&t->loop);
    vs_ittage_fini(&t->ittage);
    vs_ras_fini(&t->ras);
}

void vs_tagged_clear(struct vs_tagged *t)
{
    vs_tage_clear(&t->tage);
    vs_loop_clear(&t->loop);
    vs_ittage_clear(&t->ittage);
    vs_ras_clear(&t->ras);
    vs_region_clear(&t->region);
    t->trust = 0;
}

int vs_tagged_cost(const struct vs_tagged_config *c, const struct vs_technique_setup *setup,
                   uint64_t copies, struct vs_cost_list *list)
{
    struct vs_tagged t;
    int err = vs_tagged_init(&t, c, setup->address_bits);
    if (!err) {
        unsigned bits = vs_region_name_bits(&t.region);
        vs_cost_list_add(list, "TAGE", vs_tage_cost(&t.tage), copies);
        vs_cost_list_add(list, "loops", vs_loop_cost(&t.loop), copies);
        vs_cost_list_add(list, "trust in loops", (struct vs_cost){.registers = TRUST_BITS}, copies);
        vs_cost_list_add(list, "ITTAGE", vs_ittage_cost(&t.ittage, bits), copies);
        vs_cost_list_add(list, "RAS", vs_ras_cost(&t.ras, bits), copies);
        vs_cost_list_add(list, "upper target bits", vs_region_cost(&t.region), copies);
    }
    vs_tagged_fini(&t);
    return err;
}

/* ---- targets --------------------------------------------------------------------------------- */

void vs_tagged_look_target(const struct vs_tagged *t, uint64_t pc, unsigned flags,
                           struct vs_tagged_aim *o)
{
    if (flags & VS_BR_RETURN) {
        struct vs_ras copy = t->ras;
        uint64_t name;
        o->any = vs_ras_pop(&copy, &name);
        o->second = false;
        o->prediction = vs_region_address(&t->region, name);
        return;
    }
    vs_ittage_look(&t->ittage, pc, t->tage.recent, &o->ittage);
    o->any = o->ittage.any;
    o->second = o->ittage.second;
    o->prediction = vs_region_address(&t->region, o->ittage.prediction);
    o->other = vs_region_address(&t->region, o->ittage.other);
}

void vs_tagged_learn_target(struct vs_tagged *t, const struct vs_tagged_aim *o, uint64_t pc,
                            unsigned flags, unsigned size, uint64_t target)
{
    uint64_t name;
    if (flags & VS_BR_RETURN)
        vs_ras_pop(&t->ras, &name);
    else
        vs_ittage_learn(&t->ittage, &o->ittage, vs_region_name(&t->region, target));
    if (flags & VS_BR_CALL)
        vs_tagged_call(t, pc + size);
    uint64_t path = target >> 1 ^ target >> 4 ^ target >> 7;
    vs_tage_push(&t->tage, (unsigned)path & ((1u << PATH_BITS) - 1), PATH_BITS);
}

bool vs_tagged_target(struct vs_tagged *t, uint64_t pc, unsigned flags, unsigned size,
                      uint64_t target)
{
    struct vs_tagged_aim o;
    vs_tagged_look_target(t, pc, flags, &o);
    vs_tagged_learn_target(t, &o, pc, flags, size, target);
    return o.any && o.prediction == target;
}

bool vs_tagged_ask(const struct vs_tagged *t, uint64_t pc, unsigned flags, uint64_t *target)
{
    struct vs_tagged_aim o;
    vs_tagged_look_target(t, pc, flags, &o);
    *target = o.prediction;
    return o.any;
}
