/* SPDX-License-Identifier: MIT */
#include "page/flame.h"

#include <stdlib.h>
#include <string.h>

/* A smaller share of every metric cannot be seen. */
static const double least_share = 0.0004;

/* For each path, the largest share that it has of any metric, with all that is called from it. A
 * path comes after its parent. */
static int find_shares(float *shares, const struct page_run *run)
{
    const struct vs_callers *c = &run->places.callers;
    uint64_t *sums = malloc(c->path_count * sizeof(*sums));
    if (!sums)
        return -VSE_NOMEM;
    for (unsigned m = 0; m < page_metrics(run); m++) {
        memset(sums, 0, c->path_count * sizeof(*sums));
        for (size_t i = 0; i < run->places.count; i++)
            sums[run->places.list[i].path] += page_metric(run, m, i);
        for (size_t i = c->path_count - 1; i; i--)
            sums[c->paths[i].parent] += sums[i];
        for (size_t i = 0; i < c->path_count && sums[0]; i++) {
            float share = (float)sums[i] / (float)sums[0];
            shares[i] = share > shares[i] ? share : shares[i];
        }
    }
    free(sums);
    return 0;
}

static int downwards(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* The share from which on paths are drawn. Returns it; a negative number without memory. */
static double find_threshold(const float *shares, size_t count)
{
    float *sorted = malloc(count * sizeof(*sorted));
    double least = least_share;
    size_t n = 0;
    if (!sorted)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (shares[i] >= (float)least_share)
            sorted[n++] = shares[i];
    if (n)
        qsort(sorted, n, sizeof(*sorted), downwards);
    /* of equal shares none is drawn if not all can be */
    if (n > PAGE_FLAME_NODES)
        least = (double)sorted[PAGE_FLAME_NODES] * 1.000001;
    free(sorted);
    return least;
}

static uint32_t add_node(struct page_flame *f, uint32_t parent, uint32_t routine)
{
    f->nodes[f->count] = (struct page_flame_node){
        .parent = parent, .routine = routine, .depth = f->count ? f->nodes[parent].depth + 1 : 0};
    return (uint32_t)f->count++;
}

/* Gives each path its node. `rest` has, for each node, the one that sums up what is called from it,
 * or 0. */
static void build(struct page_flame *f, const struct vs_callers *c, const float *shares,
                  double least, uint32_t *node, uint32_t *rest)
{
    node[0] = add_node(f, 0, 0);
    for (size_t i = 1; i < c->path_count; i++) {
        uint32_t parent = node[c->paths[i].parent], routine = c->paths[i].routine;
        const struct page_flame_node *p = &f->nodes[parent];
        bool same = parent && p->routine == routine;
        if (same || p->routine == PAGE_FLAME_REST || p->depth == PAGE_FLAME_DEPTH) {
            node[i] = parent;
        } else if ((double)shares[i] >= least) {
            node[i] = add_node(f, parent, routine);
        } else {
            if (!rest[parent])
                rest[parent] = add_node(f, parent, PAGE_FLAME_REST);
            node[i] = rest[parent];
        }
    }
}

int page_flame_init(struct page_flame *f, const struct page_run *run)
{
    const struct vs_callers *c = &run->places.callers;
    size_t most = 2 * PAGE_FLAME_NODES + 4;
    float *shares = calloc(c->path_count, sizeof(*shares));
    uint32_t *node = malloc(c->path_count * sizeof(*node)), *rest = calloc(most, sizeof(*rest));
    *f = (struct page_flame){.nodes = malloc(most * sizeof(*f->nodes))};
    int e = shares && node && rest && f->nodes ? find_shares(shares, run) : -VSE_NOMEM;
    double least = e ? -1 : find_threshold(shares, c->path_count);
    if (least >= 0) {
        build(f, c, shares, least, node, rest);
        f->values = calloc(f->count * page_metrics(run), sizeof(*f->values));
    }
    e = f->values ? 0 : -VSE_NOMEM;
    for (unsigned m = 0; m < page_metrics(run) && !e; m++)
        for (size_t i = 0; i < run->places.count; i++)
            f->values[m * f->count + node[run->places.list[i].path]] += page_metric(run, m, i);
    free(shares);
    free(node);
    free(rest);
    return e;
}

void page_flame_fini(struct page_flame *f)
{
    free(f->nodes);
    free(f->values);
    *f = (struct page_flame){0};
}
