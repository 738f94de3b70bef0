/* SPDX-License-Identifier: MIT */
/* mcfTG: the messages of mcfTR_e (mispredict.h), with tagged predictors (tagged.h). */
#include "technique/mispredict.h"
#include "technique/registry.h"

struct params {
    struct vs_tagged_params tagged;
    struct vs_mispredict_chunks chunks;
    uint64_t bcnt_bits, icnt_bits;
};

static const struct vs_parameter parameters[] = {
    VS_TAGGED_ROWS,
    VS_MISPREDICT_CHUNK_ROWS(struct params),
    VS_MISPREDICT_COUNTERS(struct params),
    {0},
};

/* Sizes that keep a core's storage below so many bytes. */
#define SIZE_2K                                                                                    \
    "base=512 tables=6 entries=128 tag=8 history_min=3 history_max=120 loops=16 "                  \
    "ittage=16 ittage_tables=3 ittage_tag=8 ras=16 target_bits=20"
#define SIZE_8K                                                                                    \
    "base=2048 tables=12 entries=256 tag=10 history_min=3 history_max=250 loops=32 "               \
    "ittage=64 ittage_tables=3 ittage_tag=10 ras=32 target_bits=24"
#define SIZE_64K                                                                                   \
    "base=8192 tables=14 entries=2048 tag=11 history_min=3 history_max=640 loops=64 "              \
    "ittage=128 ittage_tables=4 ittage_tag=11 ras=32 target_bits=32"

static const struct vs_technique_config configs[] = {
    {"2K", SIZE_2K}, {"8K", SIZE_8K}, {"64K", SIZE_64K}, {0}};

/* ---- parameters ------------------------------------------------------------------------------ */

static void settle(void *params, bool timed)
{
    const struct vs_mispredict_chunks chosen = {.bcnt = timed ? 4 : 6,
                                                .bcnt_next = 2,
                                                .target = 3,
                                                .target_next = timed ? 4 : 5,
                                                .icnt = 4,
                                                .icnt_next = 2,
                                                .dcc = 6,
                                                .dcc_next = 2};
    vs_mispredict_choose(&((struct params *)params)->chunks, &chosen);
}

static struct vs_mispredict_config config_of(const void *params)
{
    const struct params *p = params;
    struct vs_mispredict_config config = {
        .is_tagged = true,
        .tagged = vs_tagged_config(&p->tagged),
        .shared = p->tagged.predictors,
        .bcnt_bits = (unsigned)p->bcnt_bits,
        .icnt_bits = (unsigned)p->icnt_bits,
    };
    vs_mispredict_set_chunks(&config, &p->chunks);
    return config;
}

static struct vs_chunks cycles(const void *params)
{
    return vs_mispredict_cycles(&((const struct params *)params)->chunks);
}

static int check(const void *params, struct vs_diag *diag)
{
    return vs_tagged_check(&((const struct params *)params)->tagged, diag);
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    struct vs_mispredict_config config = config_of(params);
    return vs_mispredict_cost(&config, setup, list);
}

/* ---- the technique --------------------------------------------------------------------------- */

VS_MISPREDICT_MACHINES;

const struct vs_technique vs_technique_mcftg = {
    .name = "mcfTG",
    .summary = "mispredictions only, of tagged predictors (TAGE, loops, ITTAGE)",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct params),
    .defaults = SIZE_2K " bcnt_bits=16 icnt_bits=16",
    .configs = configs,
    .check = check,
    .settle = settle,
    .cycles = cycles,
    .ordered = ordered,
    .cost = cost,
    .encoder = &encoder_ops,
    .flow_decoder = &decoder_ops,
};
