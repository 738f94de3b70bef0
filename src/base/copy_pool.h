/* SPDX-License-Identifier: MIT */
/* Where copies of memory (base/copy.h) get their pages and groups from, if there are many copies
 * that share them. What one gives back, any other takes, so that no memory is lost between pieces
 * of other sizes or in a thread's own store; and all of it can be in a file. Any number of threads
 * may use it. */
#ifndef BASE_COPY_POOL_H
#define BASE_COPY_POOL_H

#include <pthread.h>

#include "base/copy.h"
#include "base/scratch.h"

struct vs_copy_pool {
    struct vs_scratch scratch;

    /* private */
    pthread_mutex_t lock; /* for all below, and for making more of the scratch usable */
    size_t cells;         /* pages that were made, also those that became groups */
    size_t free_count;    /* of which so many are free, */
    uint64_t *free;       /* those with a bit here, */
    size_t free_words;
    size_t first;     /* and none before this word */
    void *free_group; /* groups that were given back: each has the next one's address */
};

/* Makes an empty pool, in memory or in a file in `folder`. Returns as vs_scratch_open; fini is
 * needed after 0 only, when no copy has anything of it. */
int vs_copy_pool_init(struct vs_copy_pool *pool, const char *folder, struct vs_diag *diag);
void vs_copy_pool_fini(struct vs_copy_pool *pool);

/* Return room for one, with any content; or NULL without memory, or on a full disk. `pool` may be
 * NULL, here and below: malloc then serves. */
struct vs_copy_page *vs_copy_pool_page(struct vs_copy_pool *pool);
struct vs_copy_group *vs_copy_pool_group(struct vs_copy_pool *pool);

void vs_copy_pool_give_page(struct vs_copy_pool *pool, struct vs_copy_page *page);
void vs_copy_pool_give_group(struct vs_copy_pool *pool, struct vs_copy_group *group);

/* Gives the memory of free pages back to the system; in a file they stay. */
void vs_copy_pool_trim(struct vs_copy_pool *pool);

#endif
