/* SPDX-License-Identifier: MIT */
/* TMBP: mispredictions only, and numbers with a unary prefix. mispredict.h describes the
 * messages. */
#include "technique/mispredict.h"
#include "technique/registry.h"

struct params {
    struct vs_predictors_params predictors;
    uint64_t ibtb_target;
    uint64_t bsize, bstep, tasize, tastep, esize, estep, dcc, dcc_next;
    uint64_t bcnt_bits, icnt_bits;
};

#define AT(field) .name = #field, .offset = offsetof(struct params, field)
#define SIZE(field, most, text)                                                                    \
    {                                                                                              \
        AT(field), .min = 1, .max = most, .help = text                                             \
    }

static const struct vs_parameter parameters[] = {
    VS_PREDICTORS_ROWS,
    {AT(ibtb_target), .max = 64,
     .help = "low bits of targets kept in it, the last one's upper bits in a register; 0: all"},
    VS_PREDICTORS_PATH_ROWS,
    SIZE(bsize, 32, "least bits of bCnt"),
    SIZE(bstep, 64, "bits of bCnt for each one before it"),
    SIZE(tasize, 32, "least bits of |diffTA|"),
    SIZE(tastep, 64, "bits of |diffTA| for each one before it"),
    SIZE(esize, 32, "least bits of iCnt"),
    SIZE(estep, 64, "bits of iCnt for each one before it"),
    SIZE(dcc, 64, "bits of the first chunk of dCC"),
    SIZE(dcc_next, 64, "bits of its other chunks"),
    VS_MISPREDICT_COUNTERS(struct params),
    {0},
};

/* ---- parameters ------------------------------------------------------------------------------ */

static struct vs_unary unary(uint64_t size, uint64_t step)
{
    return (struct vs_unary){(uint8_t)size, (uint8_t)step, 0};
}

static struct vs_mispredict_config config_of(const void *params)
{
    const struct params *p = params;
    struct vs_mispredict_config config = {
        .predictors = vs_predictors_config(&p->predictors),
        .shared = p->predictors.predictors,
        .bcnt_bits = (unsigned)p->bcnt_bits,
        .icnt_bits = (unsigned)p->icnt_bits,
        .unary = true,
        .prefix = {.bcnt = unary(p->bsize, p->bstep),
                   .icnt = unary(p->esize, p->estep),
                   .target = unary(p->tasize, p->tastep)},
    };
    config.predictors.ibtb_target = (unsigned)p->ibtb_target;
    return config;
}

static struct vs_chunks cycles(const void *params)
{
    const struct params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
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
    int err = vs_mispredict_cost(&config, setup, list);
    vs_cost_list_add(list, "output buffer", (struct vs_cost){.registers = 128}, 1);
    return err;
}

/* ---- the techniques -------------------------------------------------------------------------- */

VS_MISPREDICT_MACHINES;

#define TMBP(title, text, values)                                                                  \
    {                                                                                              \
        .name = title, .summary = text, .serves = VS_TECHNIQUE_FLOW, .parameters = parameters,     \
        .params_size = sizeof(struct params),                                                      \
        .defaults = values                                                                         \
            " pir=all pir_bits=13 esize=2 estep=4 dcc=4 dcc_next=2 bcnt_bits=16 icnt_bits=16",     \
        .unnamed = "bcnt_bits=64 icnt_bits=64", .check = check, .cycles = cycles,                  \
        .ordered = ordered, .cost = cost, .encoder = &encoder_ops, .flow_decoder = &decoder_ops    \
    }

const struct vs_technique vs_technique_ttmbp =
    TMBP("tTMBP", "mispredictions only, unary prefixes; tiny: no target buffer",
         "gshare=512 ras=8 ibtb=0 bsize=3 bstep=1 tasize=8 tastep=6");

const struct vs_technique vs_technique_stmbp =
    TMBP("sTMBP", "mispredictions only, unary prefixes; small: 32 targets",
         "gshare=512 ras=8 ibtb=32 bsize=3 bstep=2 tasize=12 tastep=4");

const struct vs_technique vs_technique_btmbp =
    TMBP("bTMBP", "mispredictions only, unary prefixes; big: 64 targets",
         "gshare=512 ras=8 ibtb=64 bsize=3 bstep=2 tasize=12 tastep=4");
