/* SPDX-License-Identifier: MIT */
/* What an event of mcfTA becomes as a sequence of bits, each under an adaptive probability. Encoder
 * and decoder run the same code; only the coder at its end differs. Functions that take `decoding`
 * are compiled for either value, and ignore what a decoder does not know yet.
 *
 * Outcome. One bit: whether the prediction is wrong. Its context is, if the loop predictor decides,
 * whether TAGE agrees; else TAGE's provider, the distance of its counter from the middle, whether
 * its entry is useful, and whether the alternative agrees.
 *
 * Indirect branch. If it is conditional, whether it is taken. If there is a prediction, whether it
 * is wrong, under the provider and its confidence, or under a context of its own for returns. If it
 * is wrong, and there is another target beside it, whether that is wrong. Then the target: its
 * difference to the branch's address: a sign, a quarter of the number of bits rounded up, at most
 * 15 (4 bits, the highest first, each under those before it), and the bits of that class (4 times
 * as many, or 64), at even odds, the highest first.
 *
 * Order, between events if predictors are shared: whether the next event is another core's, and
 * then which one's, at even odds. */
#ifndef TECHNIQUE_MCFTA_MODEL_H
#define TECHNIQUE_MCFTA_MODEL_H

#include "model/mixer.h"
#include "model/probability.h"
#include "model/rangecoder.h"
#include "technique/mcfta.h"
#include "technique/mcfta_time.h"

enum {
    VS_MCFTA_LOOP_CONTEXTS = 2,
    VS_MCFTA_TABLE_CONTEXTS = 16,
    VS_MCFTA_OUTCOMES = VS_MCFTA_LOOP_CONTEXTS + (1 + VS_TAGE_TABLES_MAX) * VS_MCFTA_TABLE_CONTEXTS,
    VS_MCFTA_TARGETS = 1 + VS_ITTAGE_TABLES_MAX * 4,
    VS_MCFTA_CLASS_BITS = 4,
};

enum { VS_MCFTA_MIXERS = 6 };

/* What a view sees of a branch's past, beside the branch and its prediction: the newest bits of
 * history, or of the branch's own outcomes. */
struct vs_mcfta_view {
    uint8_t history, own; /* bits */
};

static const struct vs_mcfta_view vs_mcfta_views[VS_MCFTA_VIEWS_MAX] = {
    {0, 0}, {8, 0}, {0, 8}, {14, 0}, {0, 16}, {24, 0}, {5, 0}};

/* How many own outcomes are kept of a branch. */
static inline unsigned vs_mcfta_own_bits(uint64_t views)
{
    unsigned most = 0;
    for (uint64_t i = 0; i < views; i++)
        most = vs_mcfta_views[i].own > most ? vs_mcfta_views[i].own : most;
    return most;
}

/* Probabilities by branch, that are mixed with the one by confidence. */
struct vs_mcfta_mix {
    struct vs_probability *tables[VS_MCFTA_VIEWS_MAX]; /* of each view */
    uint16_t *own;                                     /* outcomes of branches */
    struct vs_mixer *sets;                             /* of weights by branch; NULL: none */
    unsigned log,
        sets_log; /* log2 of the entries of a table, of the sets; log 0: nothing is mixed */
    unsigned views;
    struct vs_mixer mixers[VS_MCFTA_MIXERS];
};

/* Predictors and probabilities, of one core or of all. */
struct vs_mcfta_model {
    struct vs_tagged tagged;
    unsigned rate; /* the limit of all probabilities */
    unsigned core_bits;
    struct vs_mcfta_mix mix;
    struct vs_probability outcomes[VS_MCFTA_OUTCOMES];
    struct vs_probability targets[VS_MCFTA_TARGETS];
    struct vs_probability classes[1 << VS_MCFTA_CLASS_BITS];
    struct vs_probability taken, second, sign, order;
    struct vs_mcfta_surprises surprises; /* of a timed stream with points */
};

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. fini is needed in any case. */
int vs_mcfta_model_init(struct vs_mcfta_model *m, const struct vs_mcfta_params *params,
                        const struct vs_technique_setup *setup);
void vs_mcfta_model_fini(struct vs_mcfta_model *m);

/* Makes all as it was at first. */
void vs_mcfta_model_clear(struct vs_mcfta_model *m);

/* Adds the structures of one model, `copies` times. Returns 0; -VSE_NOMEM. */
int vs_mcfta_model_cost(const struct vs_mcfta_params *params,
                        const struct vs_technique_setup *setup, uint64_t copies,
                        struct vs_cost_list *list);

/* Either side's coder. */
struct vs_mcfta_coder {
    struct vs_range_encoder out;
    struct vs_range_decoder in;
};

#define VS_MCFTA_INLINE static inline __attribute__((always_inline))

VS_MCFTA_INLINE bool vs_mcfta_even(struct vs_mcfta_coder *c, bool bit, bool decoding)
{
    if (decoding)
        return vs_range_decode(&c->in, 1u << 15);
    vs_range_encode_even(&c->out, bit);
    return bit;
}

VS_MCFTA_INLINE bool vs_mcfta_bit(struct vs_mcfta_coder *c, struct vs_probability *p, unsigned rate,
                                  bool bit, bool decoding)
{
    uint32_t one = vs_probability_of_one(p);
    if (decoding)
        bit = vs_range_decode(&c->in, one);
    else
        vs_range_encode(&c->out, one, bit);
    vs_probability_learn(p, bit, rate);
    return bit;
}

VS_MCFTA_INLINE unsigned vs_mcfta_outcome_context(const struct vs_mcfta_model *m,
                                                  const struct vs_tagged_guess *g)
{
    if (unlikely(g->loop.sure && m->tagged.trust >= 0))
        return g->loop.prediction == g->tage.prediction;
    int counter = g->tage.counter;
    unsigned distance = (unsigned)(counter < 0 ? ~counter : counter);
    return VS_MCFTA_LOOP_CONTEXTS + (unsigned)(g->tage.provider + 1) * VS_MCFTA_TABLE_CONTEXTS +
           distance * 4 + (g->tage.useful > 0) * 2u + (g->tage.longest == g->tage.other);
}

/* The places of a branch in the tables. */
struct vs_mcfta_places {
    struct vs_probability *p[VS_MCFTA_VIEWS_MAX];
    struct vs_mixer *mixer, *set; /* set: or NULL */
    uint16_t *own;
};

static inline uint32_t vs_mcfta_hash(uint64_t v, unsigned log)
{
    return (uint32_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log));
}

VS_MCFTA_INLINE void vs_mcfta_find(struct vs_mcfta_model *m, unsigned views, uint64_t pc,
                                   const struct vs_tagged_guess *g, struct vs_mcfta_places *at)
{
    struct vs_mcfta_mix *x = &m->mix;
    at->own = &x->own[vs_mcfta_hash(pc, x->log)];
    VS_UNROLL
    for (unsigned i = 0; i < views; i++) {
        const struct vs_mcfta_view *v = &vs_mcfta_views[i];
        uint64_t seen = (m->tagged.tage.recent & ((UINT64_C(1) << v->history) - 1)) |
                        (*at->own & ((UINT64_C(1) << v->own) - 1));
        at->p[i] = &x->tables[i][vs_mcfta_hash((pc << 1 | g->prediction) ^ seen << 40, x->log)];
    }
    int counter = g->tage.counter;
    unsigned distance = (unsigned)(counter < 0 ? ~counter : counter);
    at->mixer = &x->mixers[g->loop.sure ? 5 : g->tage.provider < 0 ? 4 : distance];
    at->set = x->sets ? &x->sets[vs_mcfta_hash(pc, x->sets_log)] : NULL;
}

/* Codes a bit under the mixture of `first` and the tables. */
VS_MCFTA_INLINE bool vs_mcfta_mixed(struct vs_mcfta_model *m, unsigned views,
                                    struct vs_mcfta_coder *c, struct vs_probability *first,
                                    const struct vs_mcfta_places *at, bool bit, bool decoding)
{
    int32_t odds[1 + VS_MCFTA_VIEWS_MAX];
    struct vs_mixed set = {0};
    odds[0] = vs_mixer_odds(vs_probability_of_one(first));
    VS_UNROLL
    for (unsigned i = 0; i < views; i++)
        odds[1 + i] = vs_mixer_odds(vs_probability_of_one(at->p[i]));
    const struct vs_mixed state = vs_mixer_mix(at->mixer, odds, 1 + views);
    uint32_t one = state.one;
    if (at->set) {
        set = vs_mixer_mix(at->set, odds, 1 + views);
        one = vs_mixer_both(&state, &set);
    }
    if (decoding)
        bit = vs_range_decode(&c->in, one);
    else
        vs_range_encode(&c->out, one, bit);
    vs_mixer_learn(at->mixer, odds, 1 + views, state.one, bit);
    if (at->set)
        vs_mixer_learn(at->set, odds, 1 + views, set.one, bit);
    vs_probability_learn(first, bit, m->rate);
    VS_UNROLL
    for (unsigned i = 0; i < views; i++)
        vs_probability_learn(at->p[i], bit, m->rate);
    return bit;
}

/* Codes whether a prediction is wrong under a mixture. */
VS_MCFTA_INLINE bool vs_mcfta_wrong(struct vs_mcfta_model *m, unsigned views,
                                    struct vs_mcfta_coder *c, uint64_t pc,
                                    const struct vs_tagged_guess *g, struct vs_probability *first,
                                    bool wrong, bool decoding)
{
    struct vs_mcfta_places at;
    vs_mcfta_find(m, views, pc, g, &at);
    wrong = vs_mcfta_mixed(m, views, c, first, &at, wrong, decoding);
    *at.own = (uint16_t)(*at.own << 1 | (g->prediction != wrong));
    return wrong;
}

/* Codes and learns a conditional direct branch. Returns whether it is taken; *wrong is whether that
 * was not predicted. */
VS_MCFTA_INLINE bool vs_mcfta_outcome(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                                      uint64_t pc, bool taken, bool *wrong, bool decoding)
{
    struct vs_tagged_guess g;
    vs_tagged_look(&m->tagged, pc, &g);
    struct vs_probability *p = &m->outcomes[vs_mcfta_outcome_context(m, &g)];
    const bool differs = taken != g.prediction;
    const unsigned views = m->mix.log ? m->mix.views : 0;
    /* compiled for each number of views, so that loops over them are written out */
    switch (views) {
    case 0:
        *wrong = vs_mcfta_bit(c, p, m->rate, differs, decoding);
        break;
    case 1:
        *wrong = vs_mcfta_wrong(m, 1, c, pc, &g, p, differs, decoding);
        break;
    case 2:
        *wrong = vs_mcfta_wrong(m, 2, c, pc, &g, p, differs, decoding);
        break;
    case 3:
        *wrong = vs_mcfta_wrong(m, 3, c, pc, &g, p, differs, decoding);
        break;
    case 4:
        *wrong = vs_mcfta_wrong(m, 4, c, pc, &g, p, differs, decoding);
        break;
    case 5:
        *wrong = vs_mcfta_wrong(m, 5, c, pc, &g, p, differs, decoding);
        break;
    case 6:
        *wrong = vs_mcfta_wrong(m, 6, c, pc, &g, p, differs, decoding);
        break;
    default:
        *wrong = vs_mcfta_wrong(m, VS_MCFTA_VIEWS_MAX, c, pc, &g, p, differs, decoding);
        break;
    }
    taken = g.prediction != *wrong;
    vs_tagged_learn(&m->tagged, &g, taken);
    return taken;
}

/* An indirect branch. */
struct vs_mcfta_jump {
    uint64_t pc;
    uint64_t target; /* if taken */
    unsigned flags;  /* its VS_BR_* */
    unsigned size;
    bool taken;
    bool wrong; /* its target was not predicted */
};

void vs_mcfta_encode_jump(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                          struct vs_mcfta_jump *jump);

/* Returns 0; -VSE_CORRUPT (no encoder writes that). */
int vs_mcfta_decode_jump(struct vs_mcfta_model *m, struct vs_mcfta_coder *c,
                         struct vs_mcfta_jump *jump);

/* Between two events of shared predictors: codes the core of the second one. The decoder may return
 * a core that does not exist. */
void vs_mcfta_encode_core(struct vs_mcfta_model *m, struct vs_mcfta_coder *c, unsigned before,
                          unsigned core);
unsigned vs_mcfta_decode_core(struct vs_mcfta_model *m, struct vs_mcfta_coder *c, unsigned before);

#endif
