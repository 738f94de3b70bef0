/* SPDX-License-Identifier: MIT */
/* LU factorisation (lu.h) of one row-major matrix: the rows of a block lie far apart, and blocks of
 * different threads may share a cache line where the rows are no multiple of it. */
#include "lu.h"

static void *lu_place(struct lu *m)
{
    double *cells = wl_alloc(m->n * m->n * sizeof(double));

    for (size_t i = 0; i < m->blocks; i++)
        for (size_t j = 0; j < m->blocks; j++)
            m->block[i * m->blocks + j] = cells + (i * m->n + j) * LU_BLOCK;
    m->stride = m->n;
    return cells;
}

static void lu_release(struct lu *m, void *memory)
{
    m->stride = 0;
    free(memory);
}

static const struct wl_program program = {
    .name = "lu_ncb",
    .about = "Blocked LU factorisation of a matrix in row-major order.",
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
