/* SPDX-License-Identifier: MIT */
/* LU factorisation (lu.h) with contiguous blocks: the elements of a block lie side by side, and the
 * blocks of a thread in memory of its own, so that no two threads write to one cache line. */
#include "lu.h"

/* Returns one piece of memory for each thread. */
static void *lu_place(struct lu *m)
{
    size_t cells = (size_t)LU_BLOCK * LU_BLOCK;
    double **piece = wl_alloc(m->threads * sizeof(double *));
    size_t *used = wl_alloc(m->threads * sizeof(*used));

    for (size_t i = 0; i < m->blocks; i++)
        for (size_t j = 0; j < m->blocks; j++)
            used[lu_owner(m, i, j)]++;
    for (unsigned t = 0; t < m->threads; t++) {
        piece[t] = wl_alloc(used[t] * cells * sizeof(double));
        used[t] = 0;
    }
    for (size_t i = 0; i < m->blocks; i++)
        for (size_t j = 0; j < m->blocks; j++) {
            unsigned t = lu_owner(m, i, j);

            m->block[i * m->blocks + j] = piece[t] + used[t]++ * cells;
        }
    m->stride = LU_BLOCK;
    free(used);
    return piece;
}

static void lu_release(struct lu *m, void *memory)
{
    double **piece = memory;

    for (unsigned t = 0; t < m->threads; t++)
        free(piece[t]);
    free(piece);
}

static const struct wl_program program = {
    .name = "lu_cb",
    .about = "Blocked LU factorisation of a matrix whose blocks are contiguous.",
    .size = "rows of the matrix",
    .size_default = 100,
    .size_min = 1,
    .size_max = 12000,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    return lu_main(&program, argc, argv);
}
