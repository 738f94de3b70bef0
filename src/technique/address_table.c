/* SPDX-License-Identifier: MIT */
/* DAC and ADAC send every address by means of a table of what the instruction accessed before
 * (model/adac.h), one for each core.
 *
 *   hit in the most recently used way, j = 0   1                       low SHIFT bits
 *   hit in another way, j = 0                  0, way                  low SHIFT bits
 *   hit, j > 0                                 0, MRU way, way, j      low SHIFT + j bits
 *   miss                                       0, MRU way, 0, 0        the whole address
 *
 * The published table has SHIFT bits where j > 0: without the bits between, the debugger could not
 * know the address. DAC has a fixed SHIFT, and no j > 0. */
#include <stdlib.h>

#include "base/diag.h"
#include "base/power.h"
#include "model/adac.h"
#include "technique/address_common.h"

struct state {
    unsigned cores, width;
    unsigned way_bits, j_bits;
    struct vs_adac tables[]; /* by core */
};

static struct vs_adac_config adaptive(const struct vs_address_params *p)
{
    return (struct vs_adac_config){.sets = (uint32_t)p->sets,
                                   .ways = (uint32_t)p->ways,
                                   .low = (uint32_t)p->low,
                                   .window = (uint32_t)p->window,
                                   .max = (uint32_t)p->max,
                                   .min = (uint32_t)p->min,
                                   .tmax = (uint32_t)p->tmax,
                                   .inc = (uint32_t)p->inc,
                                   .dec = (uint32_t)p->dec};
}

static struct vs_adac_config fixed(const struct vs_address_params *p)
{
    return (struct vs_adac_config){.sets = (uint32_t)p->sets,
                                   .ways = (uint32_t)p->ways,
                                   .low = (uint32_t)p->low,
                                   .window = 1,
                                   .max = (uint32_t)p->shift,
                                   .min = (uint32_t)p->shift,
                                   .tmax = 1,
                                   .inc = 1,
                                   .dec = 1};
}

static void close(void *state)
{
    struct state *s = state;
    for (unsigned i = 0; s && i < s->cores; i++)
        vs_adac_fini(&s->tables[i]);
    free(s);
}

static int open(void **state, const struct vs_adac_config *config,
                const struct vs_technique_setup *setup)
{
    struct state *s = calloc(1, sizeof(*s) + setup->cores * sizeof(s->tables[0]));
    int err = s ? 0 : -VSE_NOMEM;
    *state = NULL;
    while (!err && s->cores < setup->cores)
        err = vs_adac_init(&s->tables[s->cores++], config);
    if (err) {
        close(s);
        return err;
    }
    s->width = setup->address_bits;
    s->way_bits = vs_log2_ceil(config->ways);
    s->j_bits = vs_log2_ceil(config->window);
    *state = s;
    return 0;
}

static int dac_open(void **state, const struct vs_address_params *params,
                    const struct vs_technique_setup *setup)
{
    const struct vs_adac_config config = fixed(params);
    return open(state, &config, setup);
}

static int adac_open(void **state, const struct vs_address_params *params,
                     const struct vs_technique_setup *setup)
{
    const struct vs_adac_config config = adaptive(params);
    return open(state, &config, setup);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void count(struct vs_address_counts *c, const struct vs_adac_result *r)
{
    c->hits_mru += r->kind == VS_ADAC_MRU;
    c->hits_other += r->kind == VS_ADAC_OTHER;
    c->hits_wider += r->kind == VS_ADAC_WIDER;
    c->misses += r->kind == VS_ADAC_MISS;
    c->shifts += r->bits - r->j;
}

static void put_miss(const struct state *s, struct vs_port_writer *port, uint32_t mru,
                     uint64_t addr)
{
    vs_port_put(port, VS_FIELD_HEADER, 0, 1);
    vs_port_put(port, VS_FIELD_INDEX, mru, 2 * s->way_bits + s->j_bits);
    vs_port_put(port, VS_FIELD_ADDRESS, addr, s->width);
}

/* A hit in another way, or with j > 0. */
static void put_other(const struct state *s, struct vs_port_writer *port, uint32_t mru,
                      const struct vs_adac_result *r, uint64_t addr)
{
    uint64_t index = r->way;
    unsigned bits = s->way_bits;
    if (r->j) {
        index = mru | index << s->way_bits | (uint64_t)r->j << 2 * s->way_bits;
        bits += s->way_bits + s->j_bits;
    }
    vs_port_put_three(port, VS_FIELD_HEADER, 1, VS_FIELD_INDEX, bits, VS_FIELD_ADDRESS, r->bits,
                      index << 1 | addr << (1 + bits));
}

static inline void put(void *state, struct vs_port_writer *port,
                       const struct vs_address_operand *operand, uint64_t addr,
                       struct vs_address_counts *counts)
{
    struct state *s = state;
    struct vs_adac *table = &s->tables[operand->core];
    uint32_t set = vs_adac_set(table, operand->pc);
    struct vs_adac_result r = vs_adac_find(table, set, addr);
    if (likely(r.kind == VS_ADAC_MRU))
        vs_port_put_three(port, VS_FIELD_HEADER, 1, VS_FIELD_INDEX, 0, VS_FIELD_ADDRESS, r.bits,
                          1 | addr << 1);
    else if (r.kind == VS_ADAC_MISS)
        put_miss(s, port, vs_adac_mru(table, set), addr);
    else
        put_other(s, port, vs_adac_mru(table, set), &r, addr);
    vs_adac_update(table, set, &r, addr);
    count(counts, &r);
}

static int get_index(const struct state *s, struct vs_port_reader *port, uint32_t set,
                     const struct vs_adac *table, struct vs_adac_result *r)
{
    uint64_t hit, way = vs_adac_mru(table, set), mru = way, j = 0;
    int err = vs_port_get(port, VS_FIELD_HEADER, 1, &hit);
    if (!err && !hit)
        err = vs_port_get(port, VS_FIELD_INDEX, s->way_bits, &way);
    bool wide = !hit && way == mru;
    if (!err && wide && !(err = vs_port_get(port, VS_FIELD_INDEX, s->way_bits, &way)))
        err = vs_port_get(port, VS_FIELD_INDEX, s->j_bits, &j);
    if (err)
        return err;
    if (wide && !j && way)
        return vs_port_refuse(port, VS_FIELD_INDEX, "a miss with a way");
    r->kind = hit ? VS_ADAC_MRU : !wide ? VS_ADAC_OTHER : j ? VS_ADAC_WIDER : VS_ADAC_MISS;
    r->way = (uint32_t)way;
    r->j = (uint32_t)j;
    r->bits = r->kind == VS_ADAC_MISS ? 0 : vs_adac_entry(table, set, r->way)->shift + r->j;
    return 0;
}

static int get(void *state, struct vs_port_reader *port, const struct vs_address_operand *operand,
               uint64_t *addr)
{
    struct state *s = state;
    struct vs_adac *table = &s->tables[operand->core];
    uint32_t set = vs_adac_set(table, operand->pc);
    struct vs_adac_result r, should;
    uint64_t low;
    int err = get_index(s, port, set, table, &r);
    if (!err)
        err = vs_port_get(port, VS_FIELD_ADDRESS, r.kind == VS_ADAC_MISS ? s->width : r.bits, &low);
    if (err)
        return err;
    if (r.kind != VS_ADAC_MISS)
        low |= vs_adac_entry(table, set, r.way)->da >> r.bits << r.bits;
    should = vs_adac_find(table, set, low);
    if (should.kind != r.kind || should.way != r.way || should.j != r.j)
        return vs_port_refuse(port, VS_FIELD_ADDRESS, "an address that another entry has");
    vs_adac_update(table, set, &r, low);
    *addr = low;
    return 0;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static void dac_cost_of(const struct vs_address_params *params,
                        const struct vs_technique_setup *setup, struct vs_cost_list *list)
{
    const struct vs_adac_config config = fixed(params);
    vs_cost_list_add(list, "DAC", vs_adac_cost(&config, setup->address_bits), setup->cores);
}

static void adac_cost_of(const struct vs_address_params *params,
                         const struct vs_technique_setup *setup, struct vs_cost_list *list)
{
    const struct vs_adac_config config = adaptive(params);
    vs_cost_list_add(list, "ADAC", vs_adac_cost(&config, setup->address_bits), setup->cores);
}

const struct vs_address_coder vs_address_dac = {
    .open = dac_open, .put = put, .get = get, .close = close, .cost = dac_cost_of};
const struct vs_address_coder vs_address_adac = {
    .open = adac_open, .put = put, .get = get, .close = close, .cost = adac_cost_of};

/* ---- techniques ------------------------------------------------------------------------------ */

VS_ADDRESS_MACHINES(dac, put)
VS_ADDRESS_MACHINES(adac, put)

static const struct vs_parameter dac_parameters[] = {
    VS_ADDRESS_TABLE_ROWS,
    VS_ADDRESS_NUMBER(shift, 0, 24, "low bits of an address that are sent"),
    VS_ADDRESS_CYCLE_ROWS,
    {.name = NULL}};

static const struct vs_parameter adac_parameters[] = {
    VS_ADDRESS_TABLE_ROWS, VS_ADDRESS_TRAINING_ROWS, VS_ADDRESS_CYCLE_ROWS, {.name = NULL}};

static const struct vs_technique_config dac_configs[] = {{"shift0", "shift=0"},
                                                         {"shift4", "shift=4"},
                                                         {"shift8", "shift=8"},
                                                         {"shift12", "shift=12"},
                                                         {0}};

static const struct vs_technique_config adac_configs[] = {{"16x4", "sets=16 ways=4"},
                                                          {"32x4", "sets=32 ways=4"},
                                                          {"64x4", "sets=64 ways=4"},
                                                          {"128x4", "sets=128 ways=4"},
                                                          {0}};

int vs_address_check_table(const void *params, struct vs_diag *diag)
{
    const struct vs_address_params *p = params;
    if (p->min > p->max)
        return vs_diag_set(diag, -VSE_INVAL, -1, -1, "min, %llu, is above max, %llu",
                           (unsigned long long)p->min, (unsigned long long)p->max);
    return 0;
}

const struct vs_technique vs_technique_dac = {
    .serves = VS_TECHNIQUE_ADDRESS,
    .name = "DAC",
    .summary = "addresses by those that the instruction accessed before",
    .parameters = dac_parameters,
    .params_size = sizeof(struct vs_address_params),
    .defaults = "sets=128 ways=4 low=1 shift=8 dcc=8 dcc_next=8",
    .configs = dac_configs,
    .cycles = vs_address_cycle_chunks,
    .cost = dac_cost,
    .encoder = &dac_encoder,
    .address_decoder = &dac_decoder,
};

const struct vs_technique vs_technique_adac = {
    .serves = VS_TECHNIQUE_ADDRESS,
    .name = "ADAC",
    .summary = "the same, with as many low bits as the instruction's addresses differ in",
    .parameters = adac_parameters,
    .params_size = sizeof(struct vs_address_params),
    .defaults = "sets=128 ways=4 low=1 window=4 max=12 min=0 tmax=8 inc=8 dec=1 dcc=8 dcc_next=8",
    .configs = adac_configs,
    .check = vs_address_check_table,
    .cycles = vs_address_cycle_chunks,
    .cost = adac_cost,
    .encoder = &adac_encoder,
    .address_decoder = &adac_decoder,
};
