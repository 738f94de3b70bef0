/* SPDX-License-Identifier: MIT */
/* Numbers for the places of a run's events: an instruction on a path of calls. What is counted by
 * them can be summed by routine, by source line and by path. */
#ifndef PAGE_PLACES_H
#define PAGE_PLACES_H

#include "study/callers.h"

/* How many are told apart at most; all further ones are place 0. */
#define PAGE_PLACES_MAX (1u << 19)

struct page_place {
    uint32_t path; /* of the callers */
    uint32_t site; /* of their struct vs_where; 0: not known */
    uint64_t instructions, mispredicted;
};

struct page_places {
    struct vs_callers callers;
    struct page_place *list; /* the first one is where nothing is known */
    size_t count, capacity;

    /* private */
    struct vs_map numbers;  /* by path and site: the number, plus 1 */
    struct page_last *last; /* by thread */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case; it may also follow without init if the struct
 * was zeroed. */
int page_places_init(struct page_places *p, const struct vs_reader *reader);
void page_places_fini(struct page_places *p);

/* Takes the run's next event, in a batch of one. Returns its place's number; -VSE_NOMEM. */
int64_t page_places_take(struct page_places *p, const struct vs_batch *one);

#endif
