/* SPDX-License-Identifier: MIT */
#include "page/groups.h"

#include <stdlib.h>
#include <string.h>

unsigned page_metrics(const struct page_run *run)
{
    return PAGE_METRIC_BITS + (unsigned)run->study.count;
}

uint64_t page_metric(const struct page_run *run, unsigned metric, size_t place)
{
    const struct page_place *p = &run->places.list[place];
    if (metric == PAGE_METRIC_INSTRUCTIONS)
        return p->instructions;
    if (metric == PAGE_METRIC_MISPREDICTED)
        return p->mispredicted;
    const struct vs_attribution *sent = &run->study.rows[metric - PAGE_METRIC_BITS].sent;
    return place < sent->capacity ? sent->sent[place].bits : 0;
}

int page_groups_init(struct page_groups *g, const struct page_run *run, size_t count)
{
    size_t size = run->places.count * sizeof(*g->of);
    *g = (struct page_groups){.of = malloc(size), .count = count};
    if (!g->of)
        return -VSE_NOMEM;
    memset(g->of, 0xff, size);
    return 0;
}

void page_groups_fini(struct page_groups *g)
{
    free(g->of);
    *g = (struct page_groups){0};
}

/* ---- the top --------------------------------------------------------------------------------- */

/* The largest share that each group has of any metric. */
static int find_shares(double *shares, const struct page_groups *g, const struct page_run *run)
{
    uint64_t *sums = malloc((g->count + 1) * sizeof(*sums));
    if (!sums)
        return -VSE_NOMEM;
    for (unsigned m = 0; m < page_metrics(run); m++) {
        uint64_t total = 0;
        memset(sums, 0, (g->count + 1) * sizeof(*sums));
        for (size_t i = 0; i < run->places.count; i++) {
            uint64_t value = page_metric(run, m, i);
            total += value;
            if (g->of[i] != PAGE_NO_GROUP)
                sums[g->of[i]] += value;
        }
        for (size_t i = 0; i < g->count && total; i++) {
            double share = (double)sums[i] / (double)total;
            shares[i] = share > shares[i] ? share : shares[i];
        }
    }
    free(sums);
    return 0;
}

static int by_share(const void *a, const void *b, void *context)
{
    const double *shares = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (shares[x] != shares[y])
        return shares[x] > shares[y] ? -1 : 1;
    return (x > y) - (x < y);
}

/* Sums up what the chosen groups have, and the rest. `slot` has room for a number per group. */
static void sum_up(struct page_top *top, const struct page_groups *g, const struct page_run *run,
                   uint32_t *slot)
{
    for (size_t i = 0; i < g->count; i++)
        slot[i] = (uint32_t)top->count;
    for (size_t i = 0; i < top->count; i++)
        slot[top->groups[i]] = (uint32_t)i;
    for (unsigned m = 0; m < page_metrics(run); m++)
        for (size_t i = 0; i < run->places.count; i++) {
            size_t at = g->of[i] == PAGE_NO_GROUP ? top->count : slot[g->of[i]];
            top->values[m * (top->count + 1) + at] += page_metric(run, m, i);
        }
}

int page_top_init(struct page_top *top, const struct page_groups *g, const struct page_run *run,
                  size_t most)
{
    double *shares = calloc(g->count + 1, sizeof(*shares));
    uint32_t *slot = malloc((g->count + 1) * sizeof(*slot));
    *top = (struct page_top){.groups = malloc((g->count + 1) * sizeof(*top->groups))};
    int e = shares && slot && top->groups ? find_shares(shares, g, run) : -VSE_NOMEM;
    for (size_t i = 0; i < g->count && !e; i++)
        if (shares[i] > 0)
            top->groups[top->count++] = (uint32_t)i;
    if (!e && top->count)
        qsort_r(top->groups, top->count, sizeof(*top->groups), by_share, shares);
    top->count = top->count < most ? top->count : most;
    if (!e) {
        top->values = calloc((top->count + 1) * page_metrics(run), sizeof(*top->values));
        e = top->values ? 0 : -VSE_NOMEM;
    }
    if (!e)
        sum_up(top, g, run, slot);
    free(shares);
    free(slot);
    return e;
}

void page_top_fini(struct page_top *top)
{
    free(top->groups);
    free(top->values);
    *top = (struct page_top){0};
}
