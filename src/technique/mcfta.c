/* SPDX-License-Identifier: MIT */
/* mcfTA: outcomes and targets, arithmetic-coded. mcfta.h describes the packets. */
#include "base/diag.h"
#include "technique/mcfta_model.h"
#include "technique/mcfta_time.h"
#include "technique/registry.h"

#define AT(field) .name = #field, .offset = offsetof(struct vs_mcfta_params, field)

#define CORE_AT(field) .name = #field, .offset = offsetof(struct vs_mcfta_params, pipeline.field)
#define PIPELINE(field, least, most, text)                                                         \
    {                                                                                              \
        CORE_AT(field), .min = least, .max = most, .help = text                                    \
    }

/* The platform of docs/simulation.md. */
#define CORE                                                                                       \
    " width=1 penalty=8 system=200 hit=4 multiply=3 divide=20 fp_add=4 fp_multiply=4 fp_fused=5"   \
    " fp_divide=20 fp_root=25 fp_convert=2 fp_move=1 core_gshare=1024 core_ras=8 core_ibtb=64"

static const char *const time_words[] = {"points", "packet", NULL};

static const struct vs_parameter parameters[] = {
    VS_TAGGED_ROWS,
    {AT(rate), .min = VS_PROBABILITY_LIMIT_MIN, .max = VS_PROBABILITY_LIMIT_MAX,
     .help = "probabilities move by at least 2^-rate of the distance"},
    {AT(mix), .max = VS_MCFTA_MIX_MAX, .power = true,
     .help = "entries of each table of probabilities by branch that is mixed in; 0: none"},
    {AT(views), .min = 1, .max = VS_MCFTA_VIEWS_MAX,
     .help = "tables that are mixed in, each of which sees more of the branch's past"},
    {AT(sets), .max = VS_MCFTA_SETS_MAX, .power = true,
     .help = "sets of weights by branch, beside those by confidence; 0: none"},
    {AT(size), .min = VS_MCFTA_SIZE_MIN, .max = VS_MCFTA_SIZE_MAX,
     .help = "bytes of code that a packet has at most"},
    {AT(latency), .min = 1, .max = UINT32_MAX, .help = "branches that a packet has at most"},
    {AT(reset), .max = UINT32_MAX,
     .help = "packets of a core until all is reset for a new decoder; 0: never"},
    {AT(dcc), .min = 1, .max = 64, .help = "bits of the first chunk of dCC"},
    {AT(dcc_next), .min = 1, .max = 64, .help = "bits of its other chunks"},
    {AT(time), .words = time_words, .help = "cycles, of a timed run: of points or of packets"},
    {AT(every), .max = UINT32_MAX,
     .help = "branches after which one is a point; 0: only wrong ones"},
    PIPELINE(width, 1, 8, "model of the core: instructions that issue in a cycle"),
    PIPELINE(penalty, 0, 1000, "cycles of a branch that the core mispredicted"),
    PIPELINE(system, 0, 1000000, "cycles of a system call"),
    PIPELINE(hit, 1, 10000, "latency of a load that hits"),
    PIPELINE(multiply, 1, 1000, "latency of multiplication"),
    PIPELINE(divide, 1, 1000, "latency of division"),
    PIPELINE(fp_add, 1, 1000, "latency of floating-point addition and comparison"),
    PIPELINE(fp_multiply, 1, 1000, "latency of floating-point multiplication"),
    PIPELINE(fp_fused, 1, 1000, "latency of fused multiplication and addition"),
    PIPELINE(fp_divide, 1, 1000, "latency of floating-point division"),
    PIPELINE(fp_root, 1, 1000, "latency of square roots"),
    PIPELINE(fp_convert, 1, 1000, "latency of conversions"),
    PIPELINE(fp_move, 1, 1000, "latency of floating-point moves and signs"),
    PIPELINE(core_ras, 0, 1024, "entries of the core's return address stack"),
    {CORE_AT(core_gshare), .max = 1 << 20, .power = true,
     .help = "counters of its branch predictor; 0: none"},
    {CORE_AT(core_ibtb), .max = 1 << 16, .power = true,
     .help = "entries of its buffer of indirect targets; 0: none"},
    {0},
};

/* Sizes that keep a core's storage below so many bytes. */
#define SIZE_2K                                                                                    \
    "base=512 tables=8 entries=64 tag=8 history_min=3 history_max=120 loops=16 "                   \
    "ittage=16 ittage_tables=3 ittage_tag=8 ras=16 target_bits=20 rate=7 mix=0 size=128"
#define SIZE_8K                                                                                    \
    "base=2048 tables=10 entries=256 tag=10 history_min=3 history_max=250 loops=32 "               \
    "ittage=32 ittage_tables=3 ittage_tag=10 ras=32 target_bits=24 rate=7 mix=64 size=512"
#define SIZE_64K                                                                                   \
    "base=8192 tables=15 entries=1024 tag=11 history_min=3 history_max=640 loops=64 "              \
    "ittage=128 ittage_tables=4 ittage_tag=11 ras=64 target_bits=32 rate=7 mix=2048 size=1024"

static const struct vs_technique_config configs[] = {
    {"2K", SIZE_2K}, {"8K", SIZE_8K}, {"64K", SIZE_64K}, {0}};

static struct vs_chunks cycles(const void *params)
{
    const struct vs_mcfta_params *p = params;
    return (struct vs_chunks){(uint8_t)p->dcc, (uint8_t)p->dcc_next};
}

static int check(const void *params, struct vs_diag *diag)
{
    const struct vs_mcfta_params *p = params;
    const struct vs_timing_config timing = vs_mcfta_timing(p);
    int err = vs_timing_check(&timing, diag);
    if (!err && (p->mix == 1 || p->sets == 1))
        err = vs_diag_set(diag, -VSE_INVAL, -1, -1, "mix and sets need at least 2, or none");
    return err ? err : vs_tagged_check(&p->tagged, diag);
}

static bool ordered(const void *params)
{
    return ((const struct vs_mcfta_params *)params)->tagged.predictors;
}

static void framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = true;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_mcfta_params *p = params;
    uint64_t packers = p->tagged.predictors ? 1 : setup->cores;
    int err = vs_mcfta_model_cost(p, setup, packers, list);
    vs_cost_list_add(list, "packet", (struct vs_cost){.sram = 8 * p->size}, packers);
    /* events and bytes so far, packets since the last sync */
    vs_cost_list_add(list, "packet's counters",
                     vs_counter_cost(vs_bit_length(p->latency) + vs_bit_length(p->size) +
                                     vs_bit_length(p->reset)),
                     packers);
    if (vs_mcfta_has_points(p, setup))
        vs_mcfta_time_cost(p, setup, packers, list);
    else if (setup->timed)
        vs_cost_list_add(list, "cycle of the last packet", vs_counter_cost(64), packers);
    if (p->tagged.predictors)
        vs_cost_list_add(list, "first and running core",
                         (struct vs_cost){.registers = 2 * vs_port_core_bits(setup->cores)}, 1);
    vs_cost_list_add(list, "iCnt", vs_counter_cost(64), setup->cores);
    vs_cost_list_add(list, "iTotal", vs_counter_cost(64), setup->cores);
    vs_cost_list_add(list, "pc", (struct vs_cost){.registers = setup->address_bits}, setup->cores);
    vs_cost_list_add(list, "last target", (struct vs_cost){.registers = setup->address_bits},
                     setup->cores);
    return err;
}

const struct vs_technique vs_technique_mcfta = {
    .name = "mcfTA",
    .summary = "outcomes and targets, arithmetic-coded under tagged predictors",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct vs_mcfta_params),
    .defaults =
        SIZE_2K " views=3 sets=0 latency=1048576 dcc=12 dcc_next=4 time=points every=64" CORE,
    .configs = configs,
    .check = check,
    .cycles = cycles,
    .framing = framing,
    .ordered = ordered,
    .cost = cost,
    .encoder = &vs_mcfta_encoder_ops,
    .flow_decoder = &vs_mcfta_decoder_ops,
};
