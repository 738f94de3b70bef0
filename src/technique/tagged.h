/* SPDX-License-Identifier: MIT */
/* Tagged predictors as one set: TAGE and a loop predictor for outcomes, ITTAGE and a return address
 * stack for targets.
 *
 * The loop predictor decides where it is sure, unless `trust` (a counter of 7 bits that starts at
 * 0) is negative; trust counts up where only the loop predictor was right, and down where only TAGE
 * was. TAGE's history gets each outcome, and of each indirect branch that was taken three bits of
 * the target: the lowest bits of target >> 1 xor target >> 4 xor target >> 7, bit 2 first.
 *
 * Targets and return addresses are kept in `target_bits` bits and a name of the upper ones
 * (model/region.h).
 *
 * A look changes nothing; learning takes what the last look found. Indirect branches learn when
 * they are taken. Returns are predicted by the stack alone; ITTAGE gets all other ones. */
#ifndef TECHNIQUE_TAGGED_H
#define TECHNIQUE_TAGGED_H

#include "model/ittage.h"
#include "model/loop.h"
#include "model/ras.h"
#include "model/region.h"
#include "model/tage.h"
#include "technique/technique.h"

struct vs_tagged_config {
    struct vs_tage_config tage;
    struct vs_ittage_config ittage;
    uint32_t loops, ras;
    unsigned target_bits;
};

struct vs_tagged {
    struct vs_tage tage;
    struct vs_loop loop;
    struct vs_ittage ittage;
    struct vs_ras ras;
    struct vs_region region;
    int8_t trust;
};

struct vs_tagged_guess {
    struct vs_tage_lookup tage;
    struct vs_loop_lookup loop;
    bool prediction;
};

struct vs_tagged_aim {
    struct vs_ittage_lookup ittage;
    bool any;            /* there is a prediction */
    bool second;         /* and another target beside it */
    uint64_t prediction; /* addresses */
    uint64_t other;
};

/* The parameters of techniques that have such predictors begin with these. */
struct vs_tagged_params {
    uint64_t predictors;
    uint64_t base, tables, entries, tag, history_min, history_max;
    uint64_t loops, ittage, ittage_tables, ittage_tag, ras, target_bits;
};

/* Rows of a parameter table whose struct begins with them. */
#define VS_TAGGED_AT(field) .name = #field, .offset = offsetof(struct vs_tagged_params, field)
#define VS_TAGGED_ROWS                                                                             \
    {VS_TAGGED_AT(predictors), .words = vs_tagged_sharing,                                         \
     .help = "of each core, or shared by all"},                                                    \
        {VS_TAGGED_AT(base), .min = 2, .max = VS_TAGE_BASE_MAX, .power = true,                     \
         .help = "entries of TAGE's base table"},                                                  \
        {VS_TAGGED_AT(tables), .min = 1, .max = VS_TAGE_TABLES_MAX,                                \
         .help = "TAGE's tagged tables"},                                                          \
        {VS_TAGGED_AT(entries), .min = 2, .max = VS_TAGE_ENTRIES_MAX, .power = true,               \
         .help = "entries of each of them"},                                                       \
        {VS_TAGGED_AT(tag), .min = VS_TAGE_TAG_MIN, .max = VS_TAGE_TAG_MAX,                        \
         .help = "bits of their tags"},                                                            \
        {VS_TAGGED_AT(history_min), .min = 1, .max = VS_TAGE_HISTORY_MAX,                          \
         .help = "bits of history that the first of them sees"},                                   \
        {VS_TAGGED_AT(history_max), .min = 1, .max = VS_TAGE_HISTORY_MAX,                          \
         .help = "bits that the last of them sees, if that is more"},                              \
        {VS_TAGGED_AT(loops), .max = VS_LOOP_MAX, .power = true,                                   \
         .help = "entries of the loop predictor; 0: none"},                                        \
        {VS_TAGGED_AT(ittage), .max = VS_ITTAGE_ENTRIES_MAX, .power = true,                        \
         .help = "entries of each table of ITTAGE; 0: none"},                                      \
        {VS_TAGGED_AT(ittage_tables), .min = 1, .max = VS_ITTAGE_TABLES_MAX,                       \
         .help = "ITTAGE's tables"},                                                               \
        {VS_TAGGED_AT(ittage_tag), .min = VS_ITTAGE_TAG_MIN, .max = VS_ITTAGE_TAG_MAX,             \
         .help = "bits of their tags"},                                                            \
        {VS_TAGGED_AT(ras), .max = VS_RAS_MAX,                                                     \
         .help = "entries of the return address stack; 0: none"},                                  \
    {                                                                                              \
        VS_TAGGED_AT(target_bits),                                                                 \
            .min = 4, .max = 64,                                                                   \
            .help = "low bits of targets that are kept, beside a name of the others"               \
    }

extern const char *const vs_tagged_sharing[];

struct vs_tagged_config vs_tagged_config(const struct vs_tagged_params *params);

/* Checks that vs_tagged_init takes the parameters. Returns 0; -VSE_INVAL. */
int vs_tagged_check(const struct vs_tagged_params *params, struct vs_diag *diag);

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. t needs fini in any case. */
int vs_tagged_init(struct vs_tagged *t, const struct vs_tagged_config *c, unsigned address_bits);
void vs_tagged_fini(struct vs_tagged *t);

/* Makes all as it was at first. */
void vs_tagged_clear(struct vs_tagged *t);

/* Adds one set's structures, `copies` times. Returns 0; -VSE_NOMEM. */
int vs_tagged_cost(const struct vs_tagged_config *c, const struct vs_technique_setup *setup,
                   uint64_t copies, struct vs_cost_list *list);

static inline void vs_tagged_look(const struct vs_tagged *t, uint64_t pc, struct vs_tagged_guess *o)
{
    vs_tage_look(&t->tage, pc, &o->tage);
    vs_loop_look(&t->loop, pc, &o->loop);
    o->prediction = o->loop.sure && t->trust >= 0 ? o->loop.prediction : o->tage.prediction;
}

static inline void vs_tagged_learn(struct vs_tagged *t, const struct vs_tagged_guess *o, bool taken)
{
    enum { TRUST_MIN = -64, TRUST_MAX = 63 };
    if (o->loop.sure && o->loop.prediction != o->tage.prediction) {
        bool right = o->loop.prediction == taken;
        t->trust = (int8_t)(t->trust + (right & (t->trust < TRUST_MAX)) -
                            (!right & (t->trust > TRUST_MIN)));
    }
    vs_loop_learn(&t->loop, &o->loop, taken, o->tage.prediction);
    vs_tage_learn(&t->tage, &o->tage, taken);
    vs_tage_push(&t->tage, taken, 1);
}

/* flags: the branch's VS_BR_*. */
void vs_tagged_look_target(const struct vs_tagged *t, uint64_t pc, unsigned flags,
                           struct vs_tagged_aim *o);
void vs_tagged_learn_target(struct vs_tagged *t, const struct vs_tagged_aim *o, uint64_t pc,
                            unsigned flags, unsigned size, uint64_t target);

/* ---- for those who only ask whether it was predicted ---- */

/* Learns a conditional direct branch. Returns what was predicted. */
static inline bool vs_tagged_outcome(struct vs_tagged *t, uint64_t pc, bool taken)
{
    struct vs_tagged_guess o;
    vs_tagged_look(t, pc, &o);
    vs_tagged_learn(t, &o, taken);
    return o.prediction;
}

/* Learns an indirect branch that is taken. Returns whether its target was predicted. */
bool vs_tagged_target(struct vs_tagged *t, uint64_t pc, unsigned flags, unsigned size,
                      uint64_t target);

/* Tells the predicted target and changes nothing. Returns whether there is one. */
bool vs_tagged_ask(const struct vs_tagged *t, uint64_t pc, unsigned flags, uint64_t *target);

/* A direct call. */
static inline void vs_tagged_call(struct vs_tagged *t, uint64_t return_address)
{
    vs_ras_push(&t->ras, vs_region_name(&t->region, return_address));
}

#endif
