/* SPDX-License-Identifier: MIT */
/* mcfTRaptor: mispredictions only, and numbers in chunks. mcfTR_b has the baseline's chunks,
 * mcfTR_e has chunks that suit the numbers. mispredict.h describes the messages. */
#include "base/diag.h"
#include "technique/mispredict.h"
#include "technique/registry.h"

struct params {
    struct vs_predictors_params predictors;
    uint64_t ibtb_tags;
    struct vs_mispredict_chunks chunks;
    uint64_t bcnt_bits, icnt_bits, direct;
};

static const char *const tag_words[] = {"tagged", "untagged-oracle", NULL};
static const char *const direct_words[] = {"inferred", "learned", "reported", NULL};

static const struct vs_parameter parameters[] = {
    VS_PREDICTORS_ROWS,
    {.name = "ibtb_tags",
     .offset = offsetof(struct params, ibtb_tags),
     .words = tag_words,
     .help = "untagged-oracle: published counts, not decodable"},
    VS_PREDICTORS_PATH_ROWS,
    VS_MISPREDICT_CHUNK_ROWS(struct params),
    VS_MISPREDICT_COUNTERS(struct params),
    {.name = "direct",
     .offset = offsetof(struct params, direct),
     .words = direct_words,
     .help = "unconditional ones: not predicted; learned; counted, too"},
    {0},
};

static const struct vs_technique_config configs[] = {
    {"small", "gshare=512 ras=8 ibtb=0"},
    {"medium", "gshare=1024 ras=16 ibtb=16"},
    {"large", "gshare=4096 ras=32 ibtb=64"},
    {0},
};

/* ---- parameters ------------------------------------------------------------------------------ */

static void settle_b(void *params, bool timed)
{
    static const struct vs_mispredict_chunks chosen = {.bcnt = 8,
                                                       .bcnt_next = 8,
                                                       .target = 32,
                                                       .target_next = 32,
                                                       .icnt = 8,
                                                       .icnt_next = 8,
                                                       .dcc = 8,
                                                       .dcc_next = 8};
    (void)timed;
    vs_mispredict_choose(&((struct params *)params)->chunks, &chosen);
}

static void settle_e(void *params, bool timed)
{
    const struct vs_mispredict_chunks chosen = {.bcnt = timed ? 3 : 4,
                                                .bcnt_next = 2,
                                                .target = 3,
                                                .target_next = timed ? 4 : 5,
                                                .icnt = 4,
                                                .icnt_next = 2,
                                                .dcc = 4,
                                                .dcc_next = 2};
    vs_mispredict_choose(&((struct params *)params)->chunks, &chosen);
}

static struct vs_mispredict_config config_of(const void *params)
{
    const struct params *p = params;
    struct vs_mispredict_config config = {
        .predictors = vs_predictors_config(&p->predictors),
        .shared = p->predictors.predictors,
        .bcnt_bits = (unsigned)p->bcnt_bits,
        .icnt_bits = (unsigned)p->icnt_bits,
    };
    config.predictors.ibtb.oracle = p->ibtb_tags;
    config.direct = (enum vs_mispredict_direct)p->direct;
    vs_mispredict_set_chunks(&config, &p->chunks);
    return config;
}

static struct vs_chunks cycles(const void *params)
{
    return vs_mispredict_cycles(&((const struct params *)params)->chunks);
}

static const char *undecodable(const void *params)
{
    const struct params *p = params;
    return p->predictors.ibtb && p->ibtb_tags
               ? "without tags no decoder knows which way of the target buffer is meant"
               : NULL;
}

static int check(const void *params, struct vs_diag *diag)
{
    struct vs_mispredict_config config = config_of(params);
    if (config.direct && config.shared)
        return vs_diag_set(
            diag, -VSE_INVAL, -1, -1,
            "direct=%s needs predictors=private: jumps of several cores have no order",
            direct_words[config.direct]);
    return vs_predictors_check(&config.predictors, diag);
}

static unsigned needs(const void *params)
{
    return ((const struct params *)params)->direct ? VS_NEEDS_CODE : 0;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    struct vs_mispredict_config config = config_of(params);
    return vs_mispredict_cost(&config, setup, list);
}

/* ---- the techniques -------------------------------------------------------------------------- */

VS_MISPREDICT_MACHINES;

static const char *const aliases_b[] = {"mcfTRaptor_b", "tmcfTR_b", "tmcfTRaptor_b", NULL};
static const char *const aliases_e[] = {"mcfTRaptor",  "mcfTRaptor_e",  "tmcfTR_e",
                                        "tmcfTRaptor", "tmcfTRaptor_e", NULL};

#define MCFTR(letter, text)                                                                        \
    {                                                                                              \
        .name = "mcfTR_" #letter, .aliases = aliases_##letter, .summary = text,                    \
        .serves = VS_TECHNIQUE_FLOW, .parameters = parameters,                                     \
        .params_size = sizeof(struct params),                                                      \
        .defaults = "gshare=4096 ras=32 ibtb=64 bcnt_bits=16 icnt_bits=16",                        \
        .unnamed = "bcnt_bits=64 icnt_bits=64", .configs = configs, .check = check,                \
        .settle = settle_##letter, .cycles = cycles, .undecodable = undecodable, .needs = needs,   \
        .ordered = ordered, .cost = cost, .encoder = &encoder_ops, .flow_decoder = &decoder_ops    \
    }

const struct vs_technique vs_technique_mcftr_b =
    MCFTR(b, "mcfTRaptor, mispredictions only, in the baseline's chunks");

const struct vs_technique vs_technique_mcftr_e =
    MCFTR(e, "mcfTRaptor, mispredictions only, in chunks that suit the numbers");
