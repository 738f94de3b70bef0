/* SPDX-License-Identifier: MIT */
/* Sums of what was counted by place: by routine, by source line, by path of calls. Every quantity
 * is a metric: instructions, mispredicted branches, and the bits of each technique. */
#ifndef PAGE_GROUPS_H
#define PAGE_GROUPS_H

#include "page/gather.h"

enum { PAGE_METRIC_INSTRUCTIONS, PAGE_METRIC_MISPREDICTED, PAGE_METRIC_BITS /* of row 0 */ };

unsigned page_metrics(const struct page_run *run);

/* What a place has of a metric. */
uint64_t page_metric(const struct page_run *run, unsigned metric, size_t place);

#define PAGE_NO_GROUP UINT32_MAX

/* Places by group. */
struct page_groups {
    uint32_t *of; /* by place: its group; PAGE_NO_GROUP: it has none, and counts among the others */
    size_t count; /* groups */
};

/* Begins with every place in no group. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int page_groups_init(struct page_groups *g, const struct page_run *run, size_t count);
void page_groups_fini(struct page_groups *g);

/* The groups that have most of something. */
struct page_top {
    uint32_t *groups; /* the one with the largest share of any metric first */
    size_t count;
    uint64_t *values; /* [metric * (count + 1) + i]; the last i is for all other places */
};

/* Chooses at most `most` groups. Returns 0; -VSE_NOMEM. fini is needed in any case. */
int page_top_init(struct page_top *top, const struct page_groups *g, const struct page_run *run,
                  size_t most);
void page_top_fini(struct page_top *top);

#endif
