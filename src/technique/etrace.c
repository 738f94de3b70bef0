/* SPDX-License-Identifier: MIT */
/* etrace: RISC-V Efficient Trace 2.0. etrace.h says what is sent when, etrace_packet.h how. */
#include "technique/etrace.h"

#include "base/power.h"
#include "technique/registry.h"

static const char *const return_words[] = {"reported", "counter", "stack", NULL};
static const char *const switch_words[] = {"off", "on", NULL};
static const char *const address_words[] = {"delta", "full", NULL};
static const char *const ecall_words[] = {"jump", "plain", NULL};
static const char *const header_words[] = {"reference", "encap", NULL};

#define AT(field) .name = #field, .offset = offsetof(struct vs_etrace_params, field)

static const struct vs_parameter parameters[] = {
    {AT(implicit_return), .words = return_words,
     .help = "returns that are not reported; counter: trusts that they go back to their calls"},
    {AT(depth), .min = 1, .max = VS_RAS_MAX, .power = true,
     .help = "calls that are counted, or entries of the return stack"},
    {AT(tvec), .max = (UINT64_C(1) << 48) - 1,
     .help =
         "address of the trap handler: a trap that leads there has none in its packet; 0: none"},
    {AT(bpred), .max = VS_BHT_MAX, .power = true,
     .help = "entries of the branch predictor; 0: none"},
    {AT(jtc), .max = VS_JTC_MAX, .power = true,
     .help = "entries of the jump target cache; 0: none"},
    {AT(sijump), .words = switch_words, .help = "sequentially inferable jumps are not reported"},
    {AT(addresses), .words = address_words, .help = "full: no differences, a help in debugging"},
    {AT(ecall), .words = ecall_words, .help = "a system call's instruction is reported as a jump"},
    {AT(header), .words = header_words, .help = "the byte before a packet"},
    {AT(resync), .max = UINT32_MAX, .help = "packets after which F3.0 is sent; 0: never"},
    {0},
};

static const struct vs_technique_config configs[] = {
    {"baseline", ""},
    {"ir", "implicit_return=stack depth=32"},
    {"bp", "bpred=128"},
    {"ir_bp", "implicit_return=stack depth=32 bpred=128"},
    {"all", "implicit_return=stack depth=32 bpred=128 jtc=32"},
    {0},
};

/* ---- what both sides share ------------------------------------------------------------------- */

struct vs_etrace_config vs_etrace_config(const struct vs_etrace_params *p,
                                         const struct vs_technique_setup *setup)
{
    enum { RETURNS = 1, TRAPS = 2, FULL = 4, CACHE = 8, PREDICTOR = 16 }; /* of ioptions */
    enum { REFERENCE = 2 << VS_ETRACE_LENGTH_BITS };                      /* te_inst's number */
    unsigned shift = vs_log2_ceil(setup->alignment ? setup->alignment : 1);
    unsigned bits = setup->address_bits - shift;
    return (struct vs_etrace_config){
        .params = *p,
        .layout = {.address_bits = bits,
                   .privilege_bits = 2,
                   .cause_bits = 6,
                   .index_bits = p->jtc ? vs_log2_ceil(p->jtc) : 0,
                   .subformat_bits = p->jtc && p->bpred,
                   .irets_bits = p->implicit_return ? 8 : 0,
                   .indexes = p->jtc,
                   .implicit_trap = p->tvec},
        .shift = shift,
        .mask = UINT64_MAX >> (64 - bits),
        .kind = p->header ? 0 : REFERENCE,
        .options = (uint8_t)((p->implicit_return ? RETURNS : 0) | (p->tvec ? TRAPS : 0) |
                             (p->addresses == VS_ETRACE_FULL ? FULL : 0) | (p->jtc ? CACHE : 0) |
                             (p->bpred ? PREDICTOR : 0)),
        .timed = setup->timed,
    };
}

int vs_etrace_tables_init(struct vs_etrace_tables *t, const struct vs_etrace_config *c)
{
    const struct vs_etrace_params *p = &c->params;
    int err = p->bpred ? vs_bht_init(&t->bht, (uint32_t)p->bpred, c->shift) : 0;
    if (!err && p->jtc)
        err = vs_jtc_init(&t->jtc, (uint32_t)p->jtc, c->shift);
    if (!err && p->implicit_return)
        err = vs_ras_init(&t->ras, (uint32_t)p->depth);
    return err;
}

void vs_etrace_tables_fini(struct vs_etrace_tables *t)
{
    vs_bht_fini(&t->bht);
    vs_jtc_fini(&t->jtc);
    vs_ras_fini(&t->ras);
}

void vs_etrace_tables_clear(struct vs_etrace_tables *t)
{
    if (t->bht.states)
        vs_bht_clear(&t->bht);
    if (t->jtc.targets)
        vs_jtc_clear(&t->jtc);
    vs_ras_clear(&t->ras);
}

/* ---- cost ------------------------------------------------------------------------------------ */

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_etrace_params *p = params;
    const struct vs_etrace_config c = vs_etrace_config(p, setup);
    struct vs_etrace_tables t = {0};
    unsigned width = c.layout.address_bits;
    int err = vs_etrace_tables_init(&t, &c);
    /* the map, how many branches it has, and whether all were predicted right */
    vs_cost_list_add(list, "branch map",
                     (struct vs_cost){.registers = VS_ETRACE_MAP_MAX + 5 + (p->bpred != 0)},
                     setup->cores);
    vs_cost_list_add(list, "last address", (struct vs_cost){.registers = width}, setup->cores);
    /* two instructions wait until it is known what follows them: addresses, and five bits each */
    vs_cost_list_add(list, "previous and current", (struct vs_cost){.registers = 2 * (width + 5)},
                     setup->cores);
    if (p->bpred) {
        vs_cost_list_add(list, "branch predictor", vs_bht_cost(&t.bht), setup->cores);
        vs_cost_list_add(list, "branch count", vs_counter_cost(32), setup->cores);
    }
    if (p->jtc)
        vs_cost_list_add(list, "jump target cache", vs_jtc_cost(&t.jtc, width), setup->cores);
    if (p->implicit_return == VS_ETRACE_COUNTED)
        vs_cost_list_add(list, "call counter", vs_counter_cost(vs_log2_ceil(p->depth + 1)),
                         setup->cores);
    if (p->implicit_return == VS_ETRACE_STACKED)
        vs_cost_list_add(list, "return stack", vs_ras_cost(&t.ras, width), setup->cores);
    if (p->implicit_return)
        vs_cost_list_add(list, "implicit returns", vs_counter_cost(8), setup->cores);
    if (p->tvec)
        vs_cost_list_add(list, "trap handler",
                         (struct vs_cost){.registers = width, .comparators = width}, setup->cores);
    if (p->resync)
        vs_cost_list_add(list, "resync counter", vs_counter_cost(vs_log2_ceil(p->resync + 2)),
                         setup->cores);
    vs_etrace_tables_fini(&t);
    return err;
}

static void framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = shape->per_core = true;
}

const struct vs_technique vs_technique_etrace = {
    .name = "etrace",
    .summary = "RISC-V Efficient Trace 2.0: branch maps, and addresses of indirect jumps",
    .raw = "RISC-V Efficient Trace",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct vs_etrace_params),
    .defaults = "depth=32 sijump=on",
    .configs = configs,
    .framing = framing,
    .cost = cost,
    .encoder = &vs_etrace_encoder_ops,
    .flow_decoder = &vs_etrace_decoder_ops,
};
