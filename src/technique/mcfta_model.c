/* SPDX-License-Identifier: MIT */
#include "technique/mcfta_model.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"

static int open_mix(struct vs_mcfta_mix *x, const struct vs_mcfta_params *p)
{
    x->log = vs_log2_ceil(p->mix);
    if (!x->log)
        return 0;
    x->views = (unsigned)p->views;
    for (unsigned i = 0; i < x->views; i++)
        if (!(x->tables[i] = malloc(p->mix * sizeof(*x->tables[i]))))
            return -VSE_NOMEM;
    x->own = malloc(p->mix * sizeof(*x->own));
    if (!x->own)
        return -VSE_NOMEM;
    x->sets_log = vs_log2_ceil(p->sets);
    if (x->sets_log)
        x->sets = malloc(p->sets * sizeof(*x->sets));
    return !x->sets_log || x->sets ? 0 : -VSE_NOMEM;
}

int vs_mcfta_model_init(struct vs_mcfta_model *m, const struct vs_mcfta_params *params,
                        const struct vs_technique_setup *setup)
{
    const struct vs_tagged_config config = vs_tagged_config(&params->tagged);
    *m = (struct vs_mcfta_model){.rate = (unsigned)params->rate,
                                 .core_bits = vs_port_core_bits(setup->cores)};
    int err = vs_tagged_init(&m->tagged, &config, setup->address_bits);
    if (!err)
        err = open_mix(&m->mix, params);
    if (!err)
        vs_mcfta_model_clear(m);
    return err;
}

void vs_mcfta_model_fini(struct vs_mcfta_model *m)
{
    vs_tagged_fini(&m->tagged);
    for (unsigned i = 0; i < VS_MCFTA_VIEWS_MAX; i++)
        free(m->mix.tables[i]);
    free(m->mix.own);
    free(m->mix.sets);
}

#define CLEAR(array) vs_probabilities_init(array, sizeof(array) / sizeof((array)[0]))

static void clear_mix(struct vs_mcfta_mix *x)
{
    for (unsigned i = 0; i < VS_MCFTA_MIXERS; i++)
        vs_mixer_init(&x->mixers[i]);
    if (!x->log)
        return;
    for (unsigned i = 0; i < x->views; i++)
        vs_probabilities_init(x->tables[i], (size_t)1 << x->log);
    memset(x->own, 0, sizeof(*x->own) << x->log);
    for (size_t i = 0; x->sets && i < (size_t)1 << x->sets_log; i++)
        vs_mixer_init(&x->sets[i]);
}

void vs_mcfta_model_clear(struct vs_mcfta_model *m)
{
    vs_tagged_clear(&m->tagged);
    clear_mix(&m->mix);
    CLEAR(m->outcomes);
    CLEAR(m->targets);
    CLEAR(m->classes);
    vs_probability_init(&m->taken);
    vs_probability_init(&m->second);
    vs_probability_init(&m->sign);
    vs_probability_init(&m->order);
    vs_mcfta_surprises_clear(&m->surprises);
}

int vs_mcfta_model_cost(const struct vs_mcfta_params *p, const struct vs_technique_setup *setup,
                        uint64_t copies, struct vs_cost_list *list)
{
    const struct vs_tagged_config config = vs_tagged_config(&p->tagged);
    uint64_t tables = p->tagged.tables, jumps = p->tagged.ittage ? p->tagged.ittage_tables : 0;
    /* the base table's counters have two distances, no useful bits and no alternative */
    uint64_t outcomes = VS_MCFTA_LOOP_CONTEXTS + 2 + tables * VS_MCFTA_TABLE_CONTEXTS;
    uint64_t others = 1 + 4 * jumps + 3 + (1u << VS_MCFTA_CLASS_BITS) - 1;
    int err = vs_tagged_cost(&config, setup, copies, list);
    struct vs_cost one = vs_probability_cost((unsigned)p->rate), sum = {0};
    vs_cost_add(&sum, one, outcomes + others + (p->tagged.predictors ? 1 : 0));
    vs_cost_list_add(list, "probabilities", sum, copies);
    if (p->mix) {
        struct vs_cost mix = {.sram = p->mix * vs_mcfta_own_bits(p->views)};
        vs_cost_add(&mix, one, p->views * p->mix);
        vs_cost_add(&mix, vs_mixer_cost(1 + (unsigned)p->views), VS_MCFTA_MIXERS + p->sets);
        vs_cost_list_add(list, "mixed probabilities", mix, copies);
    }
    vs_cost_list_add(list, "coder", vs_range_cost(), copies);
    return err;
}

/* ---- targets --------------------------------------------------------------------------------- */

/* At even odds; the highest bit comes first. */
VS_MCFTA_INLINE uint64_t code_bits(struct vs_mcfta_coder *c, uint64_t v, unsigned count,
                                   bool decoding)
{
    uint64_t got = 0;
    for (unsigned i = count; i-- > 0;)
        got |= (uint64_t)vs_mcfta_even(c, v >> i & 1, decoding) << i;
    return got;
}

VS_MCFTA_INLINE unsigned code_class(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                                    unsigned class, bool decoding)
{
    unsigned node = 1;
    for (unsigned i = VS_MCFTA_CLASS_BITS; i-- > 0;)
        node = node << 1 | vs_mcfta_bit(c, &m->classes[node], m->rate, class >> i & 1, decoding);
    return node - (1u << VS_MCFTA_CLASS_BITS);
}

/* Numbers of class k have at most 4 k bits, but those of the last class up to 64. */
static unsigned class_of(uint64_t number)
{
    unsigned class = (vs_bit_length(number) + 3) / 4, most = (1u << VS_MCFTA_CLASS_BITS) - 1;
    return class < most ? class : most;
}

static unsigned bits_of(unsigned class)
{
    return class < (1u << VS_MCFTA_CLASS_BITS) - 1 ? 4 * class : 64;
}

/* Codes where the branch goes. Returns whether that is as an encoder writes it. */
VS_MCFTA_INLINE bool code_target(struct vs_mcfta_model *m, struct vs_mcfta_coder *c, uint64_t pc,
                                 uint64_t *target, bool decoding)
{
    uint64_t there = *target - pc, back = pc - *target;
    bool negative = vs_mcfta_bit(c, &m->sign, m->rate, *target < pc, decoding);
    uint64_t number = negative ? back : there;
    unsigned class = code_class(m, c, class_of(number), decoding);
    number = code_bits(c, number, bits_of(class), decoding);
    *target = negative ? pc - number : pc + number;
    return class_of(number) == class && negative == (*target < pc);
}

static struct vs_probability *hit_of(struct vs_mcfta_model *m, const struct vs_mcfta_jump *j,
                                     const struct vs_tagged_aim *aim)
{
    return &m->targets[j->flags & VS_BR_RETURN
                           ? 0
                           : 1 + 4 * aim->ittage.provider + aim->ittage.confidence];
}

/* Codes a target that was not predicted. Returns as code_target. */
VS_MCFTA_INLINE bool code_wrong(struct vs_mcfta_model *m, struct vs_mcfta_coder *c, uint64_t pc,
                                const struct vs_tagged_aim *aim, uint64_t *target, bool decoding)
{
    bool second = aim->any && aim->second;
    if (second && !vs_mcfta_bit(c, &m->second, m->rate, *target != aim->other, decoding)) {
        *target = aim->other;
        return true;
    }
    return code_target(m, c, pc, target, decoding) && !(aim->any && *target == aim->prediction) &&
           !(second && *target == aim->other);
}

/* Returns whether that is as an encoder writes it. */
VS_MCFTA_INLINE bool jump(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                          struct vs_mcfta_jump *j, bool decoding)
{
    struct vs_tagged_aim aim;
    bool fine = true;
    j->wrong = true;
    if (!(j->flags & VS_BR_COND))
        j->taken = true;
    else if (!(j->taken = vs_mcfta_bit(c, &m->taken, m->rate, j->taken, decoding)))
        return true;
    vs_tagged_look_target(&m->tagged, j->pc, j->flags, &aim);
    if (aim.any)
        j->wrong =
            vs_mcfta_bit(c, hit_of(m, j, &aim), m->rate, j->target != aim.prediction, decoding);
    if (j->wrong)
        fine = code_wrong(m, c, j->pc, &aim, &j->target, decoding);
    else
        j->target = aim.prediction;
    vs_tagged_learn_target(&m->tagged, &aim, j->pc, j->flags, j->size, j->target);
    return fine;
}

void vs_mcfta_encode_jump(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                          struct vs_mcfta_jump *j)
{
    jump(m, c, j, false);
}

int vs_mcfta_decode_jump(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                         struct vs_mcfta_jump *j)
{
    return jump(m, c, j, true) ? 0 : -VSE_CORRUPT;
}

/* ---- order ----------------------------------------------------------------------------------- */

VS_MCFTA_INLINE unsigned code_core(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                                   unsigned before, unsigned core, bool decoding)
{
    if (!vs_mcfta_bit(c, &m->order, m->rate, core != before, decoding))
        return before;
    core = (unsigned)code_bits(c, core, m->core_bits, decoding);
    return core != before ? core : UINT_MAX;
}

void vs_mcfta_encode_core(struct vs_mcfta_model *m, struct vs_mcfta_coder *c, unsigned before,
                          unsigned core)
{
    code_core(m, c, before, core, false);
}

unsigned vs_mcfta_decode_core(struct vs_mcfta_model *m, struct vs_mcfta_coder *c, unsigned before)
{
    return code_core(m, c, before, 0, true);
}
