/* SPDX-License-Identifier: MIT */
/* mcfTG: the messages of mcfTR_e (mispredict.h), with tagged predictors (tagged.h). */
#include "technique/mispredict.h"
#include "technique/registry.h"

/* Chunks of 0 bits are chosen when it is known whether the stream is timed. */
struct params {
    struct vs_tagged_params tagged;
    uint64_t bcnt, bcnt_next, target, target_next, icnt, icnt_next, dcc, dcc_next;
    uint64_t bcnt_bits, icnt_bits;
};

#define CHUNK(field, text)                                                                         \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct params, field), .max = 64, .help = text          \
    }

static const struct vs_parameter parameters[] = {
    VS_TAGGED_ROWS,
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

static void choose(uint64_t *value, uint64_t chosen)
{
    if (!*value)
        *value = chosen;
}

static void settle(void *params, bool timed)
{
    struct params *p = params;
    choose(&p->bcnt, timed ? 4 : 6);
    choose(&p->bcnt_next, 2);
    choose(&p->target, 3);
    choose(&p->target_next, timed ? 4 : 5);
    choose(&p->icnt, 4);
    choose(&p->icnt_next, 2);
    choose(&p->dcc, 6);
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
        .is_tagged = true,
        .tagged = vs_tagged_config(&p->tagged),
        .shared = p->tagged.predictors,
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
