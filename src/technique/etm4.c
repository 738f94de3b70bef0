/* SPDX-License-Identifier: MIT */
/* etm4: Arm's ETMv4, described in etm4.h. */
#include "technique/etm4.h"

#include "model/atoms.h"
#include "model/ras.h"
#include "port/coresight.h"
#include "technique/registry.h"

/* ---- what both sides know -------------------------------------------------------------------- */

struct vs_etm4_form vs_etm4_form(const struct vs_technique_setup *setup)
{
    return (struct vs_etm4_form){.twice = setup->alignment < 2,
                                 .shift = setup->alignment == 4 ? 2 : 1};
}

unsigned vs_etm4_time_bytes(uint64_t last, uint64_t time)
{
    unsigned bytes = 1;
    while (bytes < 9 && (last ^ time) >> 7 * bytes)
        bytes++;
    return bytes;
}

/* ---- parameters ------------------------------------------------------------------------------ */

#define ROW(field, low, high, text)                                                                \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_etm4_params, field), .min = low, .max = high, \
        .help = text                                                                               \
    }
#define WORDS(field, list, text)                                                                   \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct vs_etm4_params, field), .words = list,           \
        .help = text                                                                               \
    }

static const char *const switch_words[] = {"off", "on", NULL};
static const char *const context_words[] = {"state", "core", NULL};

static const struct vs_parameter parameters[] = {
    ROW(stack, 0, VS_ETM4_STACK_MAX, "entries of the return stack; 0: there is none"),
    WORDS(broadcast, switch_words, "branch broadcasting: every taken branch has its target"),
    WORDS(context, context_words, "the processor's state, or also the core's number in 4 bytes"),
    ROW(sync, 0, UINT64_C(1) << 20,
        "bytes of packets from one A-Sync to the next; 0: none follows"),
    WORDS(cycles, switch_words, "cycle counts, in a timed stream"),
    ROW(threshold, 1, 4095, "cycles that a cycle count has at least"),
    ROW(cycle_bits, VS_ETM4_CYCLE_BITS_MIN, VS_ETM4_CYCLE_BITS_MAX, "bits of the cycle counter"),
    WORDS(formatter, switch_words, "CoreSight frames of 16 bytes carry the packets"),
    {0},
};

static const struct vs_technique_config configs[] = {
    {"plain", "stack=0"},
    {"broadcast", "stack=0 broadcast=on"},
    {"cycles", "cycles=on"},
    {"frames", "formatter=on"},
    {"periodic", "sync=4096"},
    {"port", "sync=4096 context=core formatter=on"},
    {NULL, NULL},
};

static void settle(void *params, bool timed)
{
    struct vs_etm4_params *p = params;
    if (!timed)
        p->cycles = VS_ETM4_OFF;
}

static void framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = shape->per_core = true;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static unsigned bits_of(uint64_t n)
{
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_etm4_params *p = params;
    const unsigned cores = setup->cores, wide = setup->address_bits;
    struct vs_ras ras;
    int err = vs_ras_init(&ras, (uint32_t)p->stack);
    struct vs_cost stack = err ? (struct vs_cost){0} : vs_ras_cost(&ras, wide);
    vs_ras_fini(&ras);
    stack.comparators += p->stack ? wide : 0;
    vs_cost_list_add(list, "atoms", vs_atoms_cost(), cores);
    vs_cost_list_add(list, "last addresses", vs_recent_cost(wide), cores);
    vs_cost_list_add(list, "place", (struct vs_cost){.registers = wide}, cores);
    if (p->stack)
        vs_cost_list_add(list, "return stack", stack, cores);
    if (p->sync)
        vs_cost_list_add(list, "bytes since A-Sync", vs_counter_cost(bits_of(p->sync)), cores);
    if (setup->timed)
        vs_cost_list_add(list, "last timestamp", (struct vs_cost){.registers = 64}, cores);
    if (setup->timed && p->cycles)
        vs_cost_list_add(list, "cycles", vs_counter_cost(p->cycle_bits), cores);
    if (p->context == VS_ETM4_CORE)
        vs_cost_list_add(list, "context", (struct vs_cost){.registers = 32}, cores);
    if (p->formatter)
        vs_cost_list_add(list, "frame", (struct vs_cost){.registers = 8 * VS_CORESIGHT_FRAME + 4},
                         cores);
    return err;
}

/* ---- the technique --------------------------------------------------------------------------- */

const struct vs_technique vs_technique_etm4 = {
    .name = "etm4",
    .raw = "Arm ETMv4",
    .summary = "Arm ETMv4: an atom for every branch, addresses of indirect ones, a return stack",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct vs_etm4_params),
    .defaults = "stack=15 broadcast=off context=state sync=0 cycles=off threshold=4 cycle_bits=12 "
                "formatter=off",
    .configs = configs,
    .settle = settle,
    .framing = framing,
    .cost = cost,
    .encoder = &vs_etm4_encoder,
    .flow_decoder = &vs_etm4_decoder,
};
