/* SPDX-License-Identifier: MIT */
/* Blocked LU factorisation in place, without pivoting, of a diagonally dominant matrix; for the
 * programs lu_cb and lu_ncb, which differ only in where a block lies in memory.
 *
 * The unknowns fall into groups of a few each. A group is coupled to all of itself, to the next
 * group and to some others, so the matrix starts with holes, which fill as elimination proceeds:
 * blocks and multipliers that are zero are passed over. Blocks are dealt to a grid of threads (2-D
 * scatter). Per step two barriers: after the diagonal block, and after the blocks below it and to
 * its right; the update of the rest needs none, because whoever factors the next diagonal block
 * has also updated it.
 *
 * Every element is updated by the pivots in their order, whatever the blocks and threads, so the
 * result is the same, bit for bit, as that of the plain triple loop.
 */
#ifndef LU_H
#define LU_H

#include <math.h>
#include <stdlib.h>

#include "common/wl.h"

#define LU_BLOCK    16 /* rows and columns of a block, except at the right and lower edge */
#define LU_COUPLING 6  /* one in so many pairs of distant groups is coupled */

struct lu {
    unsigned threads, grid_rows, grid_cols;
    size_t n, blocks; /* of one side, in elements and blocks */
    uint64_t seed;
    size_t stride;     /* elements from one row of a block to the next; the program's */
    double **block;    /* [i * blocks + j], where the block is; the program's */
    uint8_t *nonzero;  /* [i * blocks + j], written by the block's owner */
    uint32_t *group;   /* of each unknown */
    uint64_t *row_sum; /* checksum of each row of the result */
    pthread_barrier_t barrier;
};

/* The program's: gives m->block and m->stride memory, and takes it back. */
static void *lu_place(struct lu *m);
static void lu_release(struct lu *m, void *memory);

static inline unsigned lu_owner(const struct lu *m, size_t i, size_t j)
{
    return (unsigned)(i % m->grid_rows * m->grid_cols + j % m->grid_cols);
}

static inline double *lu_at(const struct lu *m, size_t i, size_t j)
{
    return m->block[i / LU_BLOCK * m->blocks + j / LU_BLOCK] + i % LU_BLOCK * m->stride +
           j % LU_BLOCK;
}

/* Rows (or columns) of the blocks of block row (or column) i. */
static inline size_t lu_extent(const struct lu *m, size_t i)
{
    size_t rest = m->n - i * LU_BLOCK;

    return rest < LU_BLOCK ? rest : LU_BLOCK;
}

/* ---- input ----------------------------------------------------------------------------------- */

static void lu_choose_groups(struct lu *m)
{
    struct wl_rng r = wl_rng(m->seed, 0);
    uint32_t group = 0;

    for (size_t i = 0; i < m->n; group++)
        for (size_t end = i + 3 + wl_below(&r, 14); i < end && i < m->n; i++)
            m->group[i] = group;
}

static bool lu_coupled(const struct lu *m, uint32_t g, uint32_t h)
{
    uint32_t low = g < h ? g : h, high = g < h ? h : g;
    struct wl_rng r;

    if (high - low <= 1)
        return true;
    r = wl_rng(m->seed ^ UINT64_C(0x6c75), (uint64_t)high << 32 | low);
    return wl_below(&r, LU_COUPLING) == 0;
}

/* Row i of the input. */
static void lu_generate_row(const struct lu *m, size_t i, double *row)
{
    struct wl_rng r = wl_rng(m->seed, i + 1);
    double sum = 0;

    for (size_t j = 0, end; j < m->n; j = end) {
        bool coupled = lu_coupled(m, m->group[i], m->group[j]);

        for (end = j; end < m->n && m->group[end] == m->group[j]; end++) {
            row[end] = coupled && end != i ? 2 * wl_uniform(&r) - 1 : 0;
            sum += fabs(row[end]);
        }
    }
    row[i] = sum + 0.5 + wl_uniform(&r);
}

static void lu_fill(struct lu *m, unsigned id)
{
    double *row = wl_alloc(m->n * sizeof(*row));
    size_t first, end;

    wl_share(m->n, m->threads, id, &first, &end);
    for (size_t i = first; i < end; i++) {
        lu_generate_row(m, i, row);
        for (size_t j = 0; j < m->n; j++)
            *lu_at(m, i, j) = row[j];
    }
    free(row);
}

static bool lu_any(const double *a, size_t stride, size_t rows, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            if (a[i * stride + j] != 0)
                return true;
    return false;
}

static void lu_mark(struct lu *m, unsigned id)
{
    for (size_t i = 0; i < m->blocks; i++)
        for (size_t j = 0; j < m->blocks; j++)
            if (lu_owner(m, i, j) == id)
                m->nonzero[i * m->blocks + j] = lu_any(m->block[i * m->blocks + j], m->stride,
                                                       lu_extent(m, i), lu_extent(m, j));
}

/* ---- factorisation --------------------------------------------------------------------------- */

/* to -= factor * from */
static inline void lu_eliminate(double *restrict to, const double *restrict from, double factor,
                                size_t n)
{
    for (size_t j = 0; j < n; j++)
        to[j] -= factor * from[j];
}

/* A block on the diagonal: into L below its diagonal and U. */
static void lu_factor(double *a, size_t stride, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++) {
            double *row = a + i * stride;

            if (row[k] == 0)
                continue;
            row[k] /= a[k * stride + k];
            lu_eliminate(row + k + 1, a + k * stride + k + 1, row[k], n - k - 1);
        }
}

/* A block below the diagonal one: a becomes a U^-1. */
static void lu_divide_by_upper(double *a, const double *u, size_t stride, size_t rows, size_t n)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < n; k++) {
            double *row = a + i * stride;

            if (row[k] == 0)
                continue;
            row[k] /= u[k * stride + k];
            lu_eliminate(row + k + 1, u + k * stride + k + 1, row[k], n - k - 1);
        }
}

/* A block to the right of the diagonal one: a becomes L^-1 a. */
static void lu_divide_by_lower(double *a, const double *l, size_t stride, size_t n, size_t cols)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            if (l[i * stride + k] != 0)
                lu_eliminate(a + i * stride, a + k * stride, l[i * stride + k], cols);
}

/* A block of the rest: a -= l u. */
static void lu_update(double *a, const double *l, const double *u, size_t stride, size_t rows,
                      size_t n, size_t cols)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < n; k++)
            if (l[i * stride + k] != 0)
                lu_eliminate(a + i * stride, u + k * stride, l[i * stride + k], cols);
}

/* The blocks of step k below and to the right of the diagonal one. */
static void lu_border(const struct lu *m, size_t k, unsigned id)
{
    const double *diagonal = m->block[k * m->blocks + k];
    size_t n = lu_extent(m, k);

    for (size_t i = k + 1; i < m->blocks; i++) {
        size_t below = i * m->blocks + k, right = k * m->blocks + i;

        if (m->nonzero[below] && lu_owner(m, i, k) == id)
            lu_divide_by_upper(m->block[below], diagonal, m->stride, lu_extent(m, i), n);
        if (m->nonzero[right] && lu_owner(m, k, i) == id)
            lu_divide_by_lower(m->block[right], diagonal, m->stride, n, lu_extent(m, i));
    }
}

/* The blocks of step k that are both below and to the right. */
static void lu_rest(const struct lu *m, size_t k, unsigned id)
{
    for (size_t i = k + 1; i < m->blocks; i++) {
        size_t left = i * m->blocks + k;

        if (i % m->grid_rows != id / m->grid_cols || !m->nonzero[left])
            continue;
        for (size_t j = k + 1; j < m->blocks; j++) {
            size_t above = k * m->blocks + j, here = i * m->blocks + j;

            if (lu_owner(m, i, j) != id || !m->nonzero[above])
                continue;
            lu_update(m->block[here], m->block[left], m->block[above], m->stride, lu_extent(m, i),
                      lu_extent(m, k), lu_extent(m, j));
            m->nonzero[here] = 1;
        }
    }
}

static void lu_sum_rows(struct lu *m, unsigned id)
{
    size_t first, end;

    wl_share(m->n, m->threads, id, &first, &end);
    for (size_t i = first; i < end; i++)
        for (size_t j = 0; j < m->n; j++)
            m->row_sum[i] = wl_sum_double(m->row_sum[i], *lu_at(m, i, j));
}

static void lu_work(unsigned id, void *arg)
{
    struct lu *m = arg;

    lu_fill(m, id);
    pthread_barrier_wait(&m->barrier);
    lu_mark(m, id);
    for (size_t k = 0; k < m->blocks; k++) {
        if (lu_owner(m, k, k) == id)
            lu_factor(m->block[k * m->blocks + k], m->stride, lu_extent(m, k));
        pthread_barrier_wait(&m->barrier);
        lu_border(m, k, id);
        pthread_barrier_wait(&m->barrier);
        lu_rest(m, k, id);
    }
    pthread_barrier_wait(&m->barrier);
    lu_sum_rows(m, id);
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Whether row i of the product of L and U is that of the input, to rounding. */
static bool lu_row_is_right(const struct lu *m, size_t i, double *row, double *product)
{
    lu_generate_row(m, i, row);
    for (size_t j = 0; j < m->n; j++)
        product[j] = j < i ? 0 : *lu_at(m, i, j);
    for (size_t k = 0; k < i; k++) {
        double l = *lu_at(m, i, k);

        for (size_t j = k; j < m->n && l != 0; j++)
            product[j] += l * *lu_at(m, k, j);
    }
    for (size_t j = 0; j < m->n; j++)
        if (!(fabs(product[j] - row[j]) <= 1e-13 * row[i]))
            return false;
    return true;
}

static bool lu_check(const struct lu *m)
{
    double *row = wl_alloc(m->n * sizeof(*row)), *product = wl_alloc(m->n * sizeof(*product));
    bool good = true;

    for (size_t i = 0; good && i < m->n; i++)
        good = lu_row_is_right(m, i, row, product);
    free(row);
    free(product);
    return good;
}

/* ---- program --------------------------------------------------------------------------------- */

/* The grid of threads: as nearly square as their number has divisors for. */
static void lu_choose_grid(struct lu *m)
{
    for (unsigned r = 1; r * r <= m->threads; r++)
        if (m->threads % r == 0)
            m->grid_rows = r;
    m->grid_cols = m->threads / m->grid_rows;
}

static int lu_main(const struct wl_program *program, int argc, char **argv)
{
    struct wl_args a = wl_args(program, argc, argv);
    struct lu m = {.threads = a.threads, .n = a.size, .seed = a.seed};
    uint64_t sum = 0;
    void *memory;
    bool passed;

    m.blocks = (m.n + LU_BLOCK - 1) / LU_BLOCK;
    lu_choose_grid(&m);
    m.block = wl_alloc(m.blocks * m.blocks * sizeof(double *));
    m.nonzero = wl_alloc(m.blocks * m.blocks);
    m.group = wl_alloc(m.n * sizeof(*m.group));
    m.row_sum = wl_alloc(m.n * sizeof(*m.row_sum));
    memory = lu_place(&m);
    lu_choose_groups(&m);
    pthread_barrier_init(&m.barrier, NULL, a.threads);
    wl_run(a.threads, lu_work, &m);
    for (size_t i = 0; i < m.n; i++)
        sum = wl_sum(sum, m.row_sum[i]);
    passed = !a.check || lu_check(&m);
    pthread_barrier_destroy(&m.barrier);
    lu_release(&m, memory);
    free(m.block);
    free(m.nonzero);
    free(m.group);
    free(m.row_sum);
    return wl_finish(program, &a, sum, passed);
}

#endif
