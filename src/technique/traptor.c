/* SPDX-License-Identifier: MIT */
/* mcfTRaptor: mispredictions only, and numbers in chunks. mcfTR_b has the baseline's chunks,
 * mcfTR_e has chunks that suit the numbers. mispredict.h describes the messages. */
#include "technique/mispredict.h"
#include "technique/registry.h"

/* Chunks of 0 bits are chosen when it is known whether the stream is timed. */
struct params {
    uint64_t predictors, gshare, hash, ras, ibtb, ibtb_tags, pir, pir_bits, pir_pc_bits;
    uint64_t bcnt, bcnt_next, target, target_next, icnt, icnt_next, dcc, dcc_next;
    uint64_t bcnt_bits, icnt_bits;
};

static const char *const sharing_words[] = {"private", "shared", NULL};
static const char *const hash_words[] = {"published", "folded", NULL};
static const char *const tag_words[] = {"tagged", "untagged-oracle", NULL};
static const char *const pir_words[] = {"indirect", "all", NULL};
static const char *const pir_bit_words[] = {"16", "13", NULL};
static const char *const pir_pc_words[] = {"13", "8", NULL};

#define AT(field) .name = #field, .offset = offsetof(struct params, field)
#define CHUNK(field, text)                                                                         \
    {                                                                                              \
        AT(field), .max = 64, .help = text                                                         \
    }

static const struct vs_parameter parameters[] = {
    {AT(predictors), .words = sharing_words, .help = "of each core, or shared by all"},
    {AT(gshare), .min = 1, .max = VS_GSHARE_MAX, .power = true, .help = "entries of gshare"},
    {AT(hash), .words = hash_words, .help = "index of gshare"},
    {AT(ras), .max = VS_RAS_MAX, .help = "entries of the return address stack; 0: none"},
    {AT(ibtb), .max = VS_IBTB_MAX, .power = true, .help = "entries of the target buffer; 0: none"},
    {AT(ibtb_tags), .words = tag_words, .help = "untagged-oracle: published counts, not decodable"},
    {AT(pir), .words = pir_words, .help = "branches that enter the path register"},
    {AT(pir_bits), .words = pir_bit_words, .help = "bits of the path register"},
    {AT(pir_pc_bits), .words = pir_pc_words, .help = "bits of the pc that enter it"},
    CHUNK(bcnt, "bits of the first chunk of bCnt; 0: chosen"),
    CHUNK(bcnt_next, "bits of its other chunks"),
    CHUNK(target, "bits of the first chunk of |diffTA|; 0: chosen"),
    CHUNK(target_next, "bits of its other chunks"),
    CHUNK(icnt, "bits of the first chunk of iCnt; 0: chosen"),
    CHUNK(icnt_next, "bits of its other chunks"),
    CHUNK(dcc, "bits of the first chunk of dCC; 0: chosen"),
    CHUNK(dcc_next, "bits of its other chunks"),
    VS_MISPREDICT_COUNTERS(struct params),
    {0},
};

static const struct vs_technique_config configs[] = {
    {"small", "gshare=512 ras=8 ibtb=0"},
    {"medium", "gshare=1024 ras=16 ibtb=16"},
    {"large", "gshare=4096 ras=32 ibtb=64"},
    {0},
};

/* ---- parameters ------------------------------------------------------------------------------ */

static void choose(uint64_t *value, uint64_t chosen)
{
    if (!*value)
        *value = chosen;
}

static void settle_b(void *params, bool timed)
{
    struct params *p = params;
    (void)timed;
    choose(&p->bcnt, 8);
    choose(&p->bcnt_next, 8);
    choose(&p->target, 32);
    choose(&p->target_next, 32);
    choose(&p->icnt, 8);
    choose(&p->icnt_next, 8);
    choose(&p->dcc, 8);
    choose(&p->dcc_next, 8);
}

static void settle_e(void *params, bool timed)
{
    struct params *p = params;
    choose(&p->bcnt, timed ? 3 : 4);
    choose(&p->bcnt_next, 2);
    choose(&p->target, 3);
    choose(&p->target_next, timed ? 4 : 5);
    choose(&p->icnt, 4);
    choose(&p->icnt_next, 2);
    choose(&p->dcc, 4);
    choose(&p->dcc_next, 2);
}

static struct vs_chunks chunks(uint64_t first, uint64_t other)
{
    return (struct vs_chunks){(uint8_t)first, (uint8_t)other};
}

static struct vs_mispredict_config config_of(const void *params)
{
    const struct params *p = params;
    return (struct vs_mispredict_config){
        .predictors = {.gshare = (uint32_t)p->gshare,
                       .hash = p->hash ? VS_GSHARE_FOLDED : VS_GSHARE_PUBLISHED,
                       .ras = (uint32_t)p->ras,
                       .ibtb = {.entries = (uint32_t)p->ibtb,
                                .oracle = p->ibtb_tags,
                                .pir_all = p->pir,
                                .pir_bits = p->pir_bits ? 13 : 16,
                                .pir_pc_bits = p->pir_pc_bits ? 8 : 13}},
        .shared = p->predictors,
        .bcnt_bits = (unsigned)p->bcnt_bits,
        .icnt_bits = (unsigned)p->icnt_bits,
        .chunks = {.bcnt = chunks(p->bcnt, p->bcnt_next),
                   .icnt = chunks(p->icnt, p->icnt_next),
                   .target = chunks(p->target, p->target_next)},
    };
}

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return chunks(p->dcc, p->dcc_next);
}

static const char *undecodable(const void *params)
{
    const struct params *p = params;
    return p->ibtb && p->ibtb_tags
               ? "without tags no decoder knows which way of the target buffer is meant"
               : NULL;
}

static int check(const void *params, struct vs_diag *diag)
{
    struct vs_mispredict_config config = config_of(params);
    return vs_predictors_check(&config.predictors, diag);
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
        .settle = settle_##letter, .cycles = cycles, .undecodable = undecodable,                   \
        .ordered = ordered, .cost = cost, .encoder = &encoder_ops, .flow_decoder = &decoder_ops    \
    }

const struct vs_technique vs_technique_mcftr_b =
    MCFTR(b, "mcfTRaptor, mispredictions only, in the baseline's chunks");

const struct vs_technique vs_technique_mcftr_e =
    MCFTR(e, "mcfTRaptor, mispredictions only, in chunks that suit the numbers");
