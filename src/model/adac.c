/* SPDX-License-Identifier: MIT */
#include "model/adac.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/power.h"

static bool is_valid(const struct vs_adac_config *g)
{
    return vs_is_power_of_two(g->sets) && g->sets <= VS_ADAC_SETS_MAX &&
           vs_is_power_of_two(g->ways) && g->ways <= VS_ADAC_WAYS_MAX && g->low < 16 &&
           g->window >= 1 && g->window <= VS_ADAC_WINDOW_MAX && g->max <= VS_ADAC_SHIFT_MAX &&
           g->min <= g->max && g->tmax >= 1 && g->tmax <= VS_ADAC_TCNT_MAX && g->inc >= 1 &&
           g->dec >= 1;
}

int vs_adac_init(struct vs_adac *c, const struct vs_adac_config *config)
{
    *c = (struct vs_adac){0};
    if (!is_valid(config))
        return -VSE_INVAL;
    size_t entries = (size_t)config->sets * config->ways;
    c->entries = calloc(entries, sizeof(*c->entries));
    if (!c->entries)
        return -VSE_NOMEM;
    c->config = *config;
    c->set_bits = vs_log2_ceil(config->sets);
    for (size_t i = 0; i < entries; i++) {
        c->entries[i].shift = (uint8_t)config->max;
        c->entries[i].tcnt = (uint8_t)config->tmax;
        c->entries[i].rank = (uint8_t)(config->ways - 1 - i % config->ways);
    }
    return 0;
}

void vs_adac_fini(struct vs_adac *c)
{
    free(c->entries);
    *c = (struct vs_adac){0};
}

static struct vs_adac_entry *ways_of(const struct vs_adac *c, uint32_t set)
{
    return &c->entries[set * c->config.ways];
}

static uint32_t way_of_rank(const struct vs_adac *c, uint32_t set, uint32_t rank)
{
    const struct vs_adac_entry *e = ways_of(c, set);
    uint32_t way = 0;
    while (e[way].rank != rank)
        way++;
    return way;
}

uint32_t vs_adac_mru(const struct vs_adac *c, uint32_t set)
{
    return way_of_rank(c, set, 0);
}

/* After a hit with j > 0. */
static void grow(const struct vs_adac_config *g, struct vs_adac_entry *e)
{
    e->tcnt = (uint8_t)(g->tmax - e->tcnt > g->inc ? e->tcnt + g->inc : g->tmax);
    if (e->tcnt < g->tmax)
        return;
    e->shift = (uint8_t)(e->shift + (e->shift < g->max));
    e->tcnt = 0;
}

static void use(const struct vs_adac *c, uint32_t set, uint32_t way)
{
    struct vs_adac_entry *e = ways_of(c, set);
    uint8_t rank = e[way].rank;
    if (!rank)
        return;
    for (uint32_t i = 0; i < c->config.ways; i++)
        e[i].rank = (uint8_t)(e[i].rank + (e[i].rank < rank));
    e[way].rank = 0;
}

void vs_adac_update_rest(struct vs_adac *c, uint32_t set, const struct vs_adac_result *r,
                         uint64_t addr)
{
    bool miss = r->kind == VS_ADAC_MISS;
    uint32_t way = miss ? way_of_rank(c, set, c->config.ways - 1) : r->way;
    struct vs_adac_entry *e = &ways_of(c, set)[way];
    if (miss) {
        e->shift = (uint8_t)c->config.max;
        e->tcnt = (uint8_t)c->config.tmax;
    } else if (r->j) {
        grow(&c->config, e);
    } else {
        vs_adac_shrink(&c->config, e);
    }
    e->da = addr;
    use(c, set, way);
}

/* ceil(log2 n!) */
static unsigned order_bits(uint32_t n)
{
    uint64_t orders = 1; /* 16! is less than 2^45 */
    for (uint32_t i = 2; i <= n; i++)
        orders *= i;
    return vs_log2_ceil(orders);
}

struct vs_cost vs_adac_cost(const struct vs_adac_config *g, unsigned address_bits)
{
    uint64_t entries = (uint64_t)g->sets * g->ways;
    /* SHIFT stays between min and max, TCNT between 0 and tmax: both saturate */
    unsigned trained =
        g->max > g->min || g->window > 1 ? vs_log2_ceil(g->max + 1) + vs_log2_ceil(g->tmax + 1) : 0;
    return (struct vs_cost){.sram =
                                entries * (address_bits + trained) + g->sets * order_bits(g->ways)};
}
