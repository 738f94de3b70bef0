/* SPDX-License-Identifier: MIT */
/* pt: Intel Processor Trace, bit for bit. pt.h describes the packets. */
#include "technique/pt.h"

#include "model/ras.h"
#include "technique/registry.h"

static const char *const tnt_words[] = {"short", "long", NULL};
static const char *const time_words[] = {"cyc", "tsc", NULL};
static const char *const accepts_words[] = {"exact", "any", NULL};

#define AT(field) .name = #field, .offset = offsetof(struct vs_pt_params, field)

static const struct vs_parameter parameters[] = {
    {AT(tnt), .words = tnt_words, .help = "outcomes in packets of up to 6, or of up to 47"},
    {AT(deferred), .max = VS_PT_DEFERRED_MAX, .help = "targets that wait for a full TNT; 0: none"},
    {AT(stack), .max = VS_PT_STACK_MAX, .help = "entries of the stack of calls; 0: none"},
    {AT(psb), .max = 1u << 27, .power = true, .help = "bytes between PSBs; 0: only at starts"},
    {AT(time), .words = time_words, .help = "in a timed stream: CYCs, or TSCs at exceptions"},
    {AT(mtc), .max = VS_PT_MTC_MAX, .power = true,
     .help = "in a timed stream: ticks of the crystal clock between MTCs; 0: there are none"},
    {AT(crystal), .min = 1, .max = VS_PT_CRYSTAL_MAX, .help = "cycles of such a tick"},
    {AT(accepts), .words = accepts_words, .help = "what is read: what is written, or all of PT"},
    {0},
};

static const struct vs_technique_config configs[] = {
    {"long", "tnt=long"},
    {"deferred", "deferred=16"},
    {"uncompressed", "stack=0"},
    {"psb2k", "psb=2048"},
    {"mtc", "mtc=64"},
    {"foreign", "accepts=any"},
    {0},
};

/* Without time, nothing ticks. */
static void settle(void *params, bool timed)
{
    struct vs_pt_params *p = params;
    if (!timed)
        p->mtc = 0;
}

static void framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = shape->per_core = true;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_pt_params *p = params;
    unsigned bits = p->tnt == VS_PT_LONG ? VS_PT_LONG_BITS : VS_PT_SHORT_BITS;
    uint64_t address = setup->address_bits;
    struct vs_ras stack;
    int err = vs_ras_init(&stack, (uint32_t)p->stack);
    if (err)
        return err;
    /* the outcomes with the bit that ends them */
    vs_cost_list_add(list, "TNT", (struct vs_cost){.registers = bits + 1}, setup->cores);
    vs_cost_list_add(list, "last IP",
                     (struct vs_cost){.registers = address, .comparators = address}, setup->cores);
    if (p->stack)
        vs_cost_list_add(list, "stack of calls", vs_ras_cost(&stack, setup->address_bits),
                         setup->cores);
    if (p->deferred)
        vs_cost_list_add(list, "deferred targets",
                         (struct vs_cost){.registers = address * p->deferred}, setup->cores);
    if (p->psb)
        vs_cost_list_add(list, "bytes since PSB", vs_counter_cost(28), setup->cores);
    if (setup->timed)
        vs_cost_list_add(list, "cycles", vs_counter_cost(56), setup->cores);
    if (setup->timed && p->mtc) {
        /* the count, of which a TMA has 16 bits, and the cycles of the tick under way */
        vs_cost_list_add(list, "crystal clock", vs_counter_cost(VS_PT_CLOCK_BITS + 9), 1);
        vs_cost_list_add(list, "last MTC", (struct vs_cost){.registers = 8, .comparators = 8},
                         setup->cores);
    }
    vs_ras_fini(&stack);
    return 0;
}

const struct vs_technique vs_technique_pt = {
    .name = "pt",
    .summary = "Intel Processor Trace",
    .raw = "Intel PT",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct vs_pt_params),
    .defaults = "stack=64 crystal=100",
    .configs = configs,
    .settle = settle,
    .framing = framing,
    .cost = cost,
    .encoder = &vs_pt_encoder_ops,
    .flow_decoder = &vs_pt_decoder_ops,
};
