/* SPDX-License-Identifier: MIT */
/* ntrace: RISC-V N-Trace 1.0. ntrace.h says what is sent when, ntrace_message.h how. */
#include "technique/ntrace.h"

#include "base/power.h"
#include "technique/registry.h"

static const char *const mode_words[] = {"btm", "htm", NULL};
static const char *const return_words[] = {"reported", "counter", "partial", "stack", NULL};
static const char *const switch_words[] = {"off", "on", NULL};

#define AT(field) .name = #field, .offset = offsetof(struct vs_ntrace_params, field)

static const struct vs_parameter parameters[] = {
    {AT(mode), .words = mode_words, .help = "branch trace, or history trace"},
    {AT(implicit_return), .words = return_words,
     .help = "returns that are not reported; counter, partial: trusts that they go back"},
    {AT(depth), .min = 1, .max = VS_NTRACE_STACK,
     .help = "calls that are counted, or entries of the return stack"},
    {AT(partial), .min = 4, .max = 32, .help = "bits of an address in a stack of partial ones"},
    {AT(repeat_history), .words = switch_words, .help = "a history that repeats itself is counted"},
    {AT(repeat_branch), .words = switch_words, .help = "a message that repeats itself is counted"},
    {AT(sijump), .words = switch_words, .help = "sequentially inferable jumps are not reported"},
    {AT(all_jumps), .words = switch_words,
     .help = "direct jumps and calls are reported, as branches that are taken"},
    {AT(extend_address), .words = switch_words,
     .help = "ones on top of an address are left out too, and not only zeros"},
    {AT(icnt_bits), .min = 8, .max = 22,
     .help = "bits of the counter iCnt; a message if it is full"},
    {0},
};

static const struct vs_technique_config configs[] = {
    {"btm", "mode=btm"},
    {"btm_repeat", "mode=btm repeat_branch=on"},
    {"htm", "mode=htm"},
    {"htm_ir", "implicit_return=stack"},
    {"best", "implicit_return=stack repeat_history=on"},
    {"all", "implicit_return=stack depth=32 repeat_history=on repeat_branch=on sijump=on"},
    {0},
};

struct vs_ntrace_config vs_ntrace_config(const struct vs_ntrace_params *params,
                                         const struct vs_technique_setup *setup)
{
    unsigned shift = setup->alignment >= 2;
    return (struct vs_ntrace_config){.params = *params,
                                     .layout = {.timed = setup->timed,
                                                .extended = params->extend_address,
                                                .address_bits = setup->address_bits - shift},
                                     .shift = shift,
                                     .mask = UINT64_MAX >> (64 - setup->address_bits)};
}

static int cost(const void *params, const struct vs_technique_setup *setup,
                struct vs_cost_list *list)
{
    const struct vs_ntrace_params *p = params;
    unsigned width = vs_ntrace_config(p, setup).layout.address_bits;
    struct vs_ras ras;
    int err = vs_ras_init(&ras, (uint32_t)p->depth);
    bool htm = p->mode == VS_NTRACE_HTM;
    vs_cost_list_add(list, "iCnt", vs_counter_cost(p->icnt_bits), setup->cores);
    vs_cost_list_add(list, "last address", (struct vs_cost){.registers = width}, setup->cores);
    if (htm)
        vs_cost_list_add(list, "hist", (struct vs_cost){.registers = VS_NTRACE_HIST_BITS + 1},
                         setup->cores);
    if (htm && p->repeat_history) /* the pattern, which of three widths it has, and how often */
        vs_cost_list_add(
            list, "repeated hist",
            (struct vs_cost){.registers = VS_NTRACE_HIST_BITS + 1 + 2 + VS_NTRACE_REPEAT_BITS,
                             .comparators = VS_NTRACE_HIST_BITS},
            setup->cores);
    if (p->repeat_branch) /* the message's iCnt, hist and target, and how often */
        vs_cost_list_add(list, "repeated branch",
                         (struct vs_cost){.registers = p->icnt_bits +
                                                       (htm ? VS_NTRACE_HIST_BITS + 1 : 0) + width +
                                                       VS_NTRACE_REPEAT_BITS,
                                          .comparators = width},
                         setup->cores);
    if (p->implicit_return == VS_NTRACE_COUNTED)
        vs_cost_list_add(list, "call counter", vs_counter_cost(vs_log2_ceil(p->depth + 1)),
                         setup->cores);
    if (p->implicit_return >= VS_NTRACE_PARTIAL)
        vs_cost_list_add(list, "return stack",
                         vs_ras_cost(&ras, p->implicit_return == VS_NTRACE_PARTIAL
                                               ? (unsigned)p->partial
                                               : width),
                         setup->cores);
    if (setup->timed)
        vs_cost_list_add(list, "last timestamp", vs_counter_cost(64), setup->cores);
    vs_ras_fini(&ras);
    return err;
}

static void framing(const void *params, struct vs_port_shape *shape)
{
    (void)params;
    shape->packets = shape->per_core = true;
}

const struct vs_technique vs_technique_ntrace = {
    .name = "ntrace",
    .summary = "RISC-V N-Trace 1.0: branch histories, and addresses of indirect jumps",
    .raw = "RISC-V N-Trace",
    .serves = VS_TECHNIQUE_FLOW,
    .parameters = parameters,
    .params_size = sizeof(struct vs_ntrace_params),
    .defaults = "mode=htm depth=8 partial=16 icnt_bits=22",
    .configs = configs,
    .framing = framing,
    .cost = cost,
    .encoder = &vs_ntrace_encoder_ops,
    .flow_decoder = &vs_ntrace_decoder_ops,
};
