/* SPDX-License-Identifier: MIT */
#include "base/copy_pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

#define GROUPS_IN_PAGE (sizeof(struct vs_copy_page) / sizeof(struct vs_copy_group))

int vs_copy_pool_init(struct vs_copy_pool *pool, const char *folder, struct vs_diag *diag)
{
    *pool = (struct vs_copy_pool){.cells = 0};
    int err = vs_scratch_open(&pool->scratch, folder, diag);
    if (!err)
        pthread_mutex_init(&pool->lock, NULL);
    return err;
}

void vs_copy_pool_fini(struct vs_copy_pool *pool)
{
    pthread_mutex_destroy(&pool->lock);
    free(pool->free);
    vs_scratch_close(&pool->scratch);
}

/* Makes one more page. Its bit is there beforehand, so that giving it back needs no memory. */
static void *make_page(struct vs_copy_pool *pool)
{
    size_t size = sizeof(struct vs_copy_page), words = pool->cells / 64 + 1;
    if (words > pool->free_words) {
        uint64_t *more = realloc(pool->free, 2 * words * sizeof(*more));
        if (!more)
            return NULL;
        memset(more + pool->free_words, 0, (2 * words - pool->free_words) * sizeof(*more));
        pool->free = more;
        pool->free_words = 2 * words;
    }
    if (vs_scratch_reach(&pool->scratch, (pool->cells + 1) * size))
        return NULL;
    return pool->scratch.data + pool->cells++ * size;
}

/* The first free page is taken, so that those in use stay together. */
static void *take_page(struct vs_copy_pool *pool)
{
    if (!pool->free_count)
        return make_page(pool);
    while (!pool->free[pool->first])
        pool->first++;
    uint64_t *word = &pool->free[pool->first];
    size_t cell = pool->first * 64 + (size_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    pool->free_count--;
    return pool->scratch.data + cell * sizeof(struct vs_copy_page);
}

static void *pop(void **list)
{
    void *first = *list;
    if (first)
        *list = *(void **)first;
    return first;
}

static void push(void **list, void *item)
{
    *(void **)item = *list;
    *list = item;
}

static void *take_group(struct vs_copy_pool *pool)
{
    uint8_t *page = pool->free_group ? NULL : take_page(pool);
    for (size_t i = 0; page && i < GROUPS_IN_PAGE; i++)
        push(&pool->free_group, page + i * sizeof(struct vs_copy_group));
    return pop(&pool->free_group);
}

struct vs_copy_page *vs_copy_pool_page(struct vs_copy_pool *pool)
{
    if (!pool)
        return malloc(sizeof(struct vs_copy_page));
    pthread_mutex_lock(&pool->lock);
    void *page = take_page(pool);
    pthread_mutex_unlock(&pool->lock);
    return page;
}

struct vs_copy_group *vs_copy_pool_group(struct vs_copy_pool *pool)
{
    if (!pool)
        return malloc(sizeof(struct vs_copy_group));
    pthread_mutex_lock(&pool->lock);
    void *group = take_group(pool);
    pthread_mutex_unlock(&pool->lock);
    return group;
}

static void free_page(struct vs_copy_pool *pool, const struct vs_copy_page *page)
{
    size_t cell = (size_t)((const uint8_t *)page - pool->scratch.data) / sizeof(*page);
    invariant(cell < pool->cells && !(pool->free[cell / 64] >> cell % 64 & 1));
    pool->free[cell / 64] |= UINT64_C(1) << cell % 64;
    pool->first = cell / 64 < pool->first ? cell / 64 : pool->first;
    pool->free_count++;
}

void vs_copy_pool_give_page(struct vs_copy_pool *pool, struct vs_copy_page *page)
{
    if (!pool) {
        free(page);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    free_page(pool, page);
    pthread_mutex_unlock(&pool->lock);
}

void vs_copy_pool_give_group(struct vs_copy_pool *pool, struct vs_copy_group *group)
{
    if (!pool) {
        free(group);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    push(&pool->free_group, group);
    pthread_mutex_unlock(&pool->lock);
}

static bool is_free(const struct vs_copy_pool *pool, size_t cell)
{
    return cell < pool->cells && pool->free[cell / 64] >> cell % 64 & 1;
}

void vs_copy_pool_trim(struct vs_copy_pool *pool)
{
    size_t size = sizeof(struct vs_copy_page);
    if (vs_scratch_is_file(&pool->scratch))
        return;
    pthread_mutex_lock(&pool->lock);
    for (size_t from = 0, to; from < pool->cells; from = to + 1) {
        for (to = from; is_free(pool, to); to++)
            ;
        if (to > from)
            vs_scratch_free(&pool->scratch, from * size, to * size);
    }
    pthread_mutex_unlock(&pool->lock);
}
