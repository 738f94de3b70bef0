/* SPDX-License-Identifier: MIT */
#include "technique/mcfta_time.h"

#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "technique/mcfta_model.h"

enum {
    RATE = 5,
    SMALL = 64, /* surprises below it are of a kind */
    LONG = 31,  /* the class of all that have as many bits or more */
    NONE = 0,   /* kinds */
    LITTLE = 1,
    OTHER = 2,
};

/* ---- opening --------------------------------------------------------------------------------- */

void vs_mcfta_surprises_clear(struct vs_mcfta_surprises *s)
{
    memset(s, 0, sizeof(*s));
    vs_probabilities_init(&s->none[0][0][0], sizeof(s->none) / sizeof(s->none[0][0][0]));
    vs_probabilities_init(s->found, VS_MCFTA_KINDS);
    vs_probabilities_init(s->place, VS_MCFTA_RECENT);
    vs_probabilities_init(s->length, 1 << VS_MCFTA_LENGTH_BITS);
    vs_probability_init(&s->sign);
}

struct vs_timing_config vs_mcfta_timing(const struct vs_mcfta_params *p)
{
    const struct vs_mcfta_pipeline *line = &p->pipeline;
    struct vs_timing_config config = {
        .width = (unsigned)line->width,
        .penalty = (unsigned)line->penalty,
        .system = (unsigned)line->system,
        .predictors = {.gshare = (uint32_t)line->core_gshare,
                       .ras = (uint32_t)line->core_ras,
                       .ibtb = (uint32_t)line->core_ibtb},
    };
    for (unsigned i = 0; i < VS_TIMING_UNITS; i++)
        config.latency[i] = 1;
    config.latency[VS_UNIT_MEMORY] = (uint16_t)line->hit;
    config.latency[VS_UNIT_MULTIPLY] = (uint16_t)line->multiply;
    config.latency[VS_UNIT_DIVIDE] = (uint16_t)line->divide;
    config.latency[VS_UNIT_FP_ADD] = (uint16_t)line->fp_add;
    config.latency[VS_UNIT_FP_MULTIPLY] = (uint16_t)line->fp_multiply;
    config.latency[VS_UNIT_FP_FUSED] = (uint16_t)line->fp_fused;
    config.latency[VS_UNIT_FP_DIVIDE] = (uint16_t)line->fp_divide;
    config.latency[VS_UNIT_FP_ROOT] = (uint16_t)line->fp_root;
    config.latency[VS_UNIT_FP_CONVERT] = (uint16_t)line->fp_convert;
    config.latency[VS_UNIT_FP_MOVE] = (uint16_t)line->fp_move;
    return config;
}

int vs_mcfta_time_init(struct vs_mcfta_time *t, const struct vs_mcfta_params *params,
                       unsigned cores)
{
    const struct vs_timing_config config = vs_mcfta_timing(params);
    int err = vs_timing_init(&t->timing, &config, cores);
    t->every = params->every;
    t->clocks = calloc(cores, sizeof(*t->clocks));
    return err || t->clocks ? err : -VSE_NOMEM;
}

void vs_mcfta_time_fini(struct vs_mcfta_time *t)
{
    vs_timing_fini(&t->timing);
    free(t->clocks);
    t->clocks = NULL;
}

void vs_mcfta_time_cost(const struct vs_mcfta_params *p, const struct vs_technique_setup *setup,
                        uint64_t packers, struct vs_cost_list *list)
{
    const struct vs_timing_config config = vs_mcfta_timing(p);
    const uint64_t probabilities = VS_MCFTA_KINDS * VS_MCFTA_KINDS * VS_MCFTA_DISTANCES +
                                   VS_MCFTA_KINDS + (VS_MCFTA_RECENT - 1) +
                                   ((1 << VS_MCFTA_LENGTH_BITS) - 1) + 1;
    struct vs_cost surprises = {.sram = 2 * VS_MCFTA_SITES,
                                .registers = 16 * VS_MCFTA_RECENT,
                                .comparators = 16 * VS_MCFTA_RECENT};
    vs_cost_add(&surprises, vs_probability_cost(RATE), probabilities);
    vs_cost_list_add(list, "surprises", surprises, packers);
    vs_cost_list_add(list, "model of the core", vs_timing_cost(&config), setup->cores);
    /* its cycle, branches, the bits of its instructions that tell, its kind */
    vs_cost_list_add(list, "last point",
                     vs_counter_cost(64 + vs_bit_length(p->every) + VS_MCFTA_DISTANCES + 2),
                     setup->cores);
    if (p->reset)
        vs_cost_list_add(list, "copy of the core's predictors",
                         vs_timing_predictors_cost(&config, setup->address_bits), setup->cores);
}

/* ---- cores ----------------------------------------------------------------------------------- */

void vs_mcfta_time_go(struct vs_mcfta_time *t, unsigned core, uint64_t cycle)
{
    vs_timing_restart(&t->timing, core, cycle);
    t->clocks[core] = (struct vs_mcfta_clock){.cycle = cycle};
}

void vs_mcfta_time_sync(struct vs_mcfta_time *t, unsigned core, uint64_t cycle)
{
    vs_timing_forget(&t->timing, core);
    vs_mcfta_time_go(t, core, cycle);
}

/* ---- surprises ------------------------------------------------------------------------------- */

static uint8_t *site_of(struct vs_mcfta_surprises *s, uint64_t pc)
{
    return &s->sites[(pc >> 1 ^ pc >> 9) % VS_MCFTA_SITES];
}

static unsigned kind_of(int64_t r)
{
    return !r ? NONE : r > 0 && r < SMALL ? LITTLE : OTHER;
}

/* Codes a number of so many bits under a tree of probabilities. */
VS_MCFTA_INLINE unsigned code_tree(struct vs_mcfta_coder *c, struct vs_probability *tree,
                                   unsigned bits, unsigned number, bool decoding)
{
    unsigned node = 1;
    for (unsigned i = bits; i-- > 0;)
        node = node << 1 | vs_mcfta_bit(c, &tree[node], RATE, number >> i & 1, decoding);
    return node - (1u << bits);
}

/* Returns its place, or VS_MCFTA_RECENT. */
static unsigned place_of(const struct vs_mcfta_surprises *s, int64_t r)
{
    unsigned i = 0;
    while (i < VS_MCFTA_RECENT && s->recent[i] != r)
        i++;
    return i;
}

static void make_recent(struct vs_mcfta_surprises *s, int64_t r, unsigned place)
{
    if (r != (int16_t)r)
        return;
    if (place == VS_MCFTA_RECENT)
        place--;
    memmove(s->recent + 1, s->recent, place * sizeof(s->recent[0]));
    s->recent[0] = (int16_t)r;
}

/* Codes |r|, which is not 0. A decoder gets 0 for what no encoder writes. */
VS_MCFTA_INLINE uint64_t code_magnitude(struct vs_mcfta_surprises *s, struct vs_mcfta_coder *c,
                                        uint64_t v, bool decoding)
{
    unsigned length = vs_bit_length(v), bits;
    length = code_tree(c, s->length, VS_MCFTA_LENGTH_BITS, length < LONG ? length : LONG, decoding);
    if (!length)
        return 0;
    bits = length < LONG ? length - 1 : 64;
    uint64_t got = length < LONG ? UINT64_C(1) << bits : 0;
    for (unsigned i = bits; i-- > 0;)
        got |= (uint64_t)vs_mcfta_even(c, v >> i & 1, decoding) << i;
    return length < LONG || got >> (LONG - 1) ? got : 0;
}

/* Codes r, which is not 0. A decoder gets 0 for what no encoder writes. */
VS_MCFTA_INLINE int64_t code_other(struct vs_mcfta_surprises *s, struct vs_mcfta_coder *c,
                                   unsigned site, int64_t r, bool decoding)
{
    unsigned place = decoding ? 0 : place_of(s, r);
    if (vs_mcfta_bit(c, &s->found[site], RATE, place < VS_MCFTA_RECENT, decoding)) {
        place = code_tree(c, s->place, VS_MCFTA_PLACE_BITS, place, decoding);
        r = s->recent[place];
    } else {
        bool negative = vs_mcfta_bit(c, &s->sign, RATE, r < 0, decoding);
        uint64_t v = negative ? 0 - (uint64_t)r : (uint64_t)r;
        v = code_magnitude(s, c, v, decoding);
        r = (int64_t)(negative ? 0 - v : v);
        if (decoding && place_of(s, r) < VS_MCFTA_RECENT)
            return 0;
        place = VS_MCFTA_RECENT;
    }
    if (r)
        make_recent(s, r, place);
    return r;
}

/* Returns r; *valid is whether an encoder may write it. */
VS_MCFTA_INLINE int64_t code_surprise(struct vs_mcfta_surprises *s, struct vs_mcfta_coder *c,
                                      struct vs_mcfta_clock *clock, uint64_t pc, int64_t r,
                                      bool *valid, bool decoding)
{
    uint8_t *site = site_of(s, pc);
    unsigned distance = vs_bit_length(clock->instructions);
    if (distance >= VS_MCFTA_DISTANCES)
        distance = VS_MCFTA_DISTANCES - 1;
    *valid = true;
    if (vs_mcfta_bit(c, &s->none[*site][clock->kind][distance], RATE, r != 0, decoding)) {
        r = code_other(s, c, *site, r, decoding);
        *valid = r != 0;
    } else {
        r = 0;
    }
    *site = clock->kind = (uint8_t)kind_of(r);
    return r;
}

static void arrive(struct vs_mcfta_time *t, unsigned core, uint64_t cycle)
{
    struct vs_mcfta_clock *clock = &t->clocks[core];
    vs_timing_set(&t->timing, core, cycle);
    *clock = (struct vs_mcfta_clock){.cycle = cycle, .kind = clock->kind};
}

int vs_mcfta_encode_point(struct vs_mcfta_time *t, struct vs_mcfta_model *m,
                          struct vs_mcfta_coder *c, unsigned core, uint64_t pc, uint64_t cycle)
{
    struct vs_mcfta_clock *clock = &t->clocks[core];
    int64_t r = (int64_t)(cycle - vs_timing_now(&t->timing, core));
    bool valid;
    if (cycle < clock->cycle || cycle >= VS_MCFTA_CYCLES)
        return -VSE_INVAL;
    code_surprise(&m->surprises, c, clock, pc, r, &valid, false);
    arrive(t, core, cycle);
    return 0;
}

int vs_mcfta_decode_point(struct vs_mcfta_time *t, struct vs_mcfta_model *m,
                          struct vs_mcfta_coder *c, unsigned core, uint64_t pc, uint64_t *cycle)
{
    struct vs_mcfta_clock *clock = &t->clocks[core];
    bool valid;
    int64_t r = code_surprise(&m->surprises, c, clock, pc, 0, &valid, true);
    *cycle = vs_timing_now(&t->timing, core) + (uint64_t)r;
    if (!valid || *cycle < clock->cycle || *cycle >= VS_MCFTA_CYCLES)
        return -VSE_CORRUPT;
    arrive(t, core, *cycle);
    return 0;
}
