/* SPDX-License-Identifier: MIT */
#include "page/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/likely.h"

const struct vs_branch_unit_config page_branch_unit = {.gshare = 4096, .ras = 16, .ibtb = 256};

int page_branches_init(struct page_branches *b)
{
    *b = (struct page_branches){.units = calloc(PAGE_UNITS_MAX, sizeof(*b->units)),
                                .there = calloc(PAGE_UNITS_MAX, sizeof(*b->there))};
    return b->units && b->there ? 0 : -VSE_NOMEM;
}

void page_branches_fini(struct page_branches *b)
{
    for (unsigned i = 0; b->units && b->there && i < PAGE_UNITS_MAX; i++)
        if (b->there[i])
            vs_branch_unit_fini(&b->units[i]);
    free(b->units);
    free(b->there);
    free(b->list);
    *b = (struct page_branches){0};
}

/* A conditional branch is asked for its outcome; an indirect one that is taken, for its target. */
static bool predict(struct vs_branch_unit *u, const struct vs_event *e)
{
    bool taken = e->flags & VS_BR_TAKEN, right = true;
    if (e->flags & VS_BR_COND)
        right = vs_branch_unit_outcome(u, e->pc, taken);
    if (taken && e->flags & VS_BR_INDIRECT)
        right = vs_branch_unit_target(u, e->pc, e->flags, e->addr) && right;
    if (taken && e->flags & VS_BR_CALL)
        vs_branch_unit_call(u, e->pc + e->size);
    return right;
}

static void count(struct page_branch *b, const struct vs_event *e, bool right)
{
    b->executed++;
    b->taken += !!(e->flags & VS_BR_TAKEN);
    b->mispredicted += !right;
    b->flags = (uint8_t)(e->flags & ~VS_BR_TAKEN);
}

int page_branches_take(struct page_branches *b, const struct vs_event *e, uint32_t site)
{
    unsigned core = e->thread < PAGE_UNITS_MAX ? e->thread : PAGE_UNITS_MAX - 1;
    if (unlikely(!b->there[core])) {
        if (vs_branch_unit_init(&b->units[core], &page_branch_unit))
            return -VSE_NOMEM;
        b->there[core] = true;
    }
    if (unlikely(site >= b->count)) {
        size_t more = site + 1 - b->count;
        if (vs_array_room((void **)&b->list, &b->capacity, b->count, more, sizeof(*b->list)))
            return -VSE_NOMEM;
        memset(b->list + b->count, 0, more * sizeof(*b->list));
        b->count += more;
    }
    bool right = predict(&b->units[core], e);
    count(&b->list[site], e, right);
    count(&b->sum, e, right);
    return !right;
}
