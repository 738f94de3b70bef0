/* SPDX-License-Identifier: MIT */
/* Predictors of outcomes and targets as one set: gshare, return address stack, target buffer.
 *
 * An encoder learns what happened and is told whether it was predicted. A decoder asks for the
 * prediction first, and learns afterwards. A conditional indirect branch counts as predicted taken;
 * when it is not taken nothing is learnt. */
#ifndef TECHNIQUE_PREDICTORS_H
#define TECHNIQUE_PREDICTORS_H

#include "model/gshare.h"
#include "model/ibtb.h"
#include "model/lastvalue.h"
#include "model/ras.h"
#include "technique/technique.h"

struct vs_predictors_config {
    uint32_t gshare;
    enum vs_gshare_hash hash;
    uint32_t ras;
    struct vs_ibtb_config ibtb;
    /* How many low bits of a target the buffer keeps; those above come from a register with the
     * upper bits of the last target. 0: all. */
    unsigned ibtb_target;
};

/* The parameters that all techniques with these predictors have, the first member of their structs,
 * and their rows, between which a technique may have others. */
struct vs_predictors_params {
    uint64_t predictors, gshare, hash, ras, ibtb, pir, pir_bits, pir_pc_bits;
};

#define VS_PREDICTORS_AT(field)                                                                    \
    .name = #field, .offset = offsetof(struct vs_predictors_params, field)
#define VS_PREDICTORS_ROWS                                                                         \
    {VS_PREDICTORS_AT(predictors), .words = vs_predictors_sharing,                                 \
     .help = "of each core, or shared by all"},                                                    \
        {VS_PREDICTORS_AT(gshare), .min = 1, .max = VS_GSHARE_MAX, .power = true,                  \
         .help = "entries of gshare"},                                                             \
        {VS_PREDICTORS_AT(hash), .words = vs_predictors_hashes, .help = "index of gshare"},        \
        {VS_PREDICTORS_AT(ras), .max = VS_RAS_MAX,                                                 \
         .help = "entries of the return address stack; 0: none"},                                  \
    {                                                                                              \
        VS_PREDICTORS_AT(ibtb), .max = VS_IBTB_MAX, .power = true,                                 \
                                .help = "entries of the target buffer; 0: none"                    \
    }
#define VS_PREDICTORS_PATH_ROWS                                                                    \
    {VS_PREDICTORS_AT(pir), .words = vs_predictors_paths,                                          \
     .help = "branches that enter the path register"},                                             \
        {VS_PREDICTORS_AT(pir_bits), .words = vs_predictors_path_bits,                             \
         .help = "bits of the path register"},                                                     \
    {                                                                                              \
        VS_PREDICTORS_AT(pir_pc_bits), .words = vs_predictors_path_pc_bits,                        \
                                       .help = "bits of the pc that enter it"                      \
    }

extern const char *const vs_predictors_sharing[], *const vs_predictors_hashes[];
extern const char *const vs_predictors_paths[], *const vs_predictors_path_bits[],
                                                    *const vs_predictors_path_pc_bits[];

struct vs_predictors_config vs_predictors_config(const struct vs_predictors_params *params);

/* One core's predictors, or all cores'. */
struct vs_predictors {
    struct vs_gshare gshare;
    struct vs_ras ras;
    struct vs_ibtb ibtb;
    struct vs_lastvalue upper; /* targets' upper bits; it has no bits if the buffer keeps all */
};

/* Checks that vs_predictors_init takes the configuration. Returns 0; -VSE_INVAL. */
int vs_predictors_check(const struct vs_predictors_config *c, struct vs_diag *diag);

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. p needs fini in any case. */
int vs_predictors_init(struct vs_predictors *p, const struct vs_predictors_config *c,
                       unsigned address_bits);
void vs_predictors_fini(struct vs_predictors *p);

/* Adds one set's structures, `copies` times. Returns 0; -VSE_NOMEM. */
int vs_predictors_cost(const struct vs_predictors_config *c, const struct vs_technique_setup *setup,
                       uint64_t copies, struct vs_cost_list *list);

/* Learns a conditional direct branch. Returns what was predicted. */
static inline bool vs_predictors_outcome(struct vs_predictors *p, uint64_t pc, bool taken)
{
    bool predicted = vs_gshare_update(&p->gshare, pc, taken);
    vs_ibtb_conditional(&p->ibtb, pc, taken);
    return predicted;
}

/* Learns an indirect branch that is taken. Returns whether its target was predicted. */
static inline bool vs_predictors_target(struct vs_predictors *p, uint64_t pc, unsigned flags,
                                        unsigned size, uint64_t target)
{
    uint64_t address;
    bool right;
    if (flags & VS_BR_RETURN) {
        right = vs_ras_pop(&p->ras, &address) && address == target;
    } else {
        bool upper = vs_lastvalue_update(&p->upper, target);
        right = vs_ibtb_update(&p->ibtb, pc, vs_lastvalue_lower(&p->upper, target)) && upper;
    }
    if (flags & VS_BR_CALL)
        vs_ras_push(&p->ras, pc + size);
    return right;
}

/* Tells the predicted target and changes nothing. Returns whether there is one. */
static inline bool vs_predictors_ask(const struct vs_predictors *p, uint64_t pc, unsigned flags,
                                     uint64_t *target)
{
    struct vs_ras copy = p->ras;
    uint64_t lower;
    if (flags & VS_BR_RETURN)
        return vs_ras_pop(&copy, target);
    if (!vs_ibtb_predict(&p->ibtb, pc, &lower))
        return false;
    *target = vs_lastvalue_join(&p->upper, lower);
    return true;
}

#endif
