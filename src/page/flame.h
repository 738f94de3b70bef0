/* SPDX-License-Identifier: MIT */
/* The tree of calls as it is drawn: paths that have next to nothing of any metric are summed up,
 * and a routine that calls itself directly is there once. */
#ifndef PAGE_FLAME_H
#define PAGE_FLAME_H

#include "page/groups.h"

enum {
    PAGE_FLAME_NODES = 2500, /* without those that sum up */
    PAGE_FLAME_DEPTH = 120,  /* what is called further in counts for its caller */
};

#define PAGE_FLAME_REST UINT32_MAX /* in place of a routine: what was summed up */

struct page_flame_node {
    uint32_t parent;  /* an earlier node; of the first one, itself */
    uint32_t routine; /* of the callers; or PAGE_FLAME_REST */
    uint32_t depth;
};

struct page_flame {
    struct page_flame_node *nodes; /* the first one is the root, which is no routine */
    size_t count;
    uint64_t *values; /* [metric * count + node]: what the node has itself */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case. */
int page_flame_init(struct page_flame *f, const struct page_run *run);
void page_flame_fini(struct page_flame *f);

#endif
