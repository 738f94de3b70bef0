/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "page/code.h"
#include "page/data.h"

enum { BRANCHES = 120, WITH_CODE = 60 };

static int by_mispredictions(const void *a, const void *b, void *context)
{
    const struct page_branch *list = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (list[x].mispredicted != list[y].mispredicted)
        return list[x].mispredicted > list[y].mispredicted ? -1 : 1;
    return (x > y) - (x < y);
}

/* The sites with mispredictions, most of them first. Returns how many; -VSE_NOMEM. */
static int64_t list_worst(const struct page_branches *b, uint32_t **list)
{
    size_t n = 0;
    *list = malloc((b->count + 1) * sizeof(**list));
    if (!*list)
        return -VSE_NOMEM;
    for (uint32_t i = 0; i < b->count; i++)
        if (b->list[i].mispredicted)
            (*list)[n++] = i;
    if (n)
        qsort_r(*list, n, sizeof(**list), by_mispredictions, b->list);
    return (int64_t)n;
}

static void put_counts(struct json *j, const struct page_branch *b)
{
    json_u64(j, "executed", b->executed);
    json_u64(j, "taken", b->taken);
    json_u64(j, "mispredicted", b->mispredicted);
}

/* Returns 0; -VSE_NOMEM. */
static int put_branch(struct json *j, struct page_run *run, uint32_t site, bool code)
{
    const struct page_branch *b = &run->branches.list[site];
    struct vs_where *where = &run->places.callers.where;
    const struct vs_where_place *place = NULL;
    int e = site ? vs_where_name(where, site, &place) : 0;
    json_object(j, NULL);
    json_hex(j, "pc", site ? where->sites[site - 1].pc : 0);
    json_str(j, "kind", vs_branch_name(b->flags | (b->flags & VS_BR_COND ? 0 : VS_BR_TAKEN)));
    put_counts(j, b);
    if (place && !e) {
        const struct vs_where_frame *f = &place->frames[0];
        page_text(j, "routine", f->routine ? f->routine : "");
        page_text(j, "file", f->file ? f->file : "");
        json_u64(j, "line", f->line);
        const char *slash = place->path ? strrchr(place->path, '/') : NULL;
        page_text(j, "image", slash ? slash + 1 : place->path ? place->path : "");
    }
    if (place && !e && code) {
        page_put_code(j, "code", run->reader, run->isa, where->sites[site - 1].pc);
        page_put_source(j, "source", &place->frames[0]);
    }
    json_end(j);
    return e == -VSE_NOMEM ? e : 0;
}

int page_put_branches(struct json *j, struct page_run *run)
{
    uint32_t *list;
    int64_t n = list_worst(&run->branches, &list);
    int e = n < 0 ? (int)n : 0;
    json_object(j, "branches_at");
    json_object(j, "predictors");
    json_u64(j, "gshare", page_branch_unit.gshare);
    json_u64(j, "ras", page_branch_unit.ras);
    json_u64(j, "ibtb", page_branch_unit.ibtb);
    json_end(j);
    put_counts(j, &run->branches.sum);
    json_u64(j, "places", (uint64_t)(n > 0 ? n : 0));
    json_array(j, "worst");
    for (int64_t i = 0; i < n && i < BRANCHES && !e; i++)
        e = put_branch(j, run, list[i], i < WITH_CODE);
    json_end(j);
    json_end(j);
    free(list);
    return e;
}
