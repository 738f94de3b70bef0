/* SPDX-License-Identifier: MIT */
/* What a core's predictors (model/branch_unit.h) make of each branch. */
#ifndef PAGE_BRANCHES_H
#define PAGE_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/branch_unit.h"

/* Cores from there on share predictors. */
enum { PAGE_UNITS_MAX = 256 };

extern const struct vs_branch_unit_config page_branch_unit;

struct page_branch {
    uint64_t executed, taken, mispredicted;
    uint8_t flags; /* VS_BR_*, without VS_BR_TAKEN */
};

struct page_branches {
    struct page_branch *list; /* by site */
    size_t count, capacity;
    struct page_branch sum;

    /* private */
    struct vs_branch_unit *units;
    bool *there;
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case; it may also follow without init if the struct
 * was zeroed. */
int page_branches_init(struct page_branches *b);
void page_branches_fini(struct page_branches *b);

/* Takes the run's next branch, at a site of that number. Returns whether it was mispredicted;
 * -VSE_NOMEM. */
int page_branches_take(struct page_branches *b, const struct vs_event *e, uint32_t site);

#endif
