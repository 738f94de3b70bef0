/* SPDX-License-Identifier: MIT */
/* Sparse Cholesky factorisation, then one solve. The matrix is the weighted Laplacian, made
 * definite by a small addition to the diagonal, of a square mesh with random links, in an order of
 * nested dissection with random cuts.
 *
 * The elimination tree and the pattern of the factor are found serially. A supernode, a chain of
 * columns with one pattern, is a task; it becomes ready when its children in the elimination tree
 * are done, and any worker may take it from the shared stack of ready tasks. A column gathers the
 * updates of all columns to its left in ascending order, so the order of tasks leaves no trace in
 * the rounding.
 */
#include <math.h>
#include <stdlib.h>

#include "wl.h"
#include "mesh_matrix.h"

#define NONE UINT32_MAX

struct entry {
    uint32_t col, at; /* an element of the factor: its column and its index in row[] and val[] */
};

/* The factor by columns, rows ascending, each column's diagonal first; by_row finds a row's
 * elements left of the diagonal, columns ascending. */
struct factor {
    uint32_t n;
    uint32_t *start, *row; /* start: n + 1 */
    double *val;
    uint32_t *row_start; /* n + 1 */
    struct entry *by_row;
    uint32_t *parent; /* in the elimination tree, or NONE */
};

struct task {
    uint32_t first, end; /* columns */
    uint32_t parent;     /* task, or NONE */
    uint32_t waits;      /* children not done, under the lock */
};

struct shared {
    struct factor *f;
    struct task *tasks;
    uint32_t n_tasks;
    double *work; /* n for every worker */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint32_t *ready, n_ready, done; /* under the lock */
    bool indefinite;                /* under the lock */
};

/* ---- the pattern ----------------------------------------------------------------------------- */

/* The parent of k is the first row below k in which column k of the factor is not zero. Row i hangs
 * itself over the roots of the trees of its columns; paths are shortened on the way. */
static uint32_t *elimination_tree(const struct matrix *a)
{
    uint32_t *parent = wl_alloc(a->n * sizeof(*parent)), *up = wl_alloc(a->n * sizeof(*up));

    for (uint32_t i = 0; i < a->n; i++) {
        parent[i] = up[i] = NONE;
        for (uint32_t p = a->start[i]; p < a->start[i + 1]; p++) {
            uint32_t k = a->col[p], above;

            for (; up[k] != NONE && up[k] != i; k = above) {
                above = up[k];
                up[k] = i;
            }
            if (up[k] == NONE)
                up[k] = parent[k] = i;
        }
    }
    free(up);
    return parent;
}

/* Row i of the factor is the paths in the tree from the columns of row i of the matrix up to i.
 * Without next: counts. With next: writes row i into its columns, with the matrix as values. */
static void walk_row(const struct matrix *a, struct factor *f, uint32_t i, uint32_t *mark,
                     uint32_t *next)
{
    mark[i] = i;
    for (uint32_t p = a->start[i]; p < a->start[i + 1]; p++) {
        for (uint32_t k = a->col[p]; mark[k] != i; k = f->parent[k]) {
            mark[k] = i;
            if (next) {
                f->row[next[k]++] = i;
            } else {
                f->start[k + 1]++;
                f->row_start[i + 1]++;
            }
        }
    }
    for (uint32_t p = a->start[i]; next && p < a->start[i + 1]; p++)
        f->val[next[a->col[p]] - 1] = a->val[p];
}

static void fill_pattern(const struct matrix *a, struct factor *f, uint32_t *mark)
{
    uint32_t *next = wl_alloc(f->n * sizeof(*next));

    for (uint32_t j = 0; j < f->n; j++) {
        next[j] = f->start[j];
        f->row[next[j]] = j;
        f->val[next[j]++] = a->diagonal[j];
        mark[j] = NONE;
    }
    for (uint32_t i = 0; i < f->n; i++)
        walk_row(a, f, i, mark, next);
    for (uint32_t i = 0; i < f->n; i++)
        next[i] = f->row_start[i];
    for (uint32_t j = 0; j < f->n; j++)
        for (uint32_t p = f->start[j] + 1; p < f->start[j + 1]; p++)
            f->by_row[next[f->row[p]]++] = (struct entry){j, p};
    free(next);
}

static struct factor make_pattern(const struct matrix *a)
{
    uint32_t n = a->n, *mark = wl_alloc(n * sizeof(*mark));
    struct factor f = {.n = n, .parent = elimination_tree(a)};

    f.start = wl_alloc((n + 1) * sizeof(*f.start));
    f.row_start = wl_alloc((n + 1) * sizeof(*f.row_start));
    for (uint32_t i = 0; i < n; i++) {
        f.start[i + 1]++;
        mark[i] = NONE;
    }
    for (uint32_t i = 0; i < n; i++)
        walk_row(a, &f, i, mark, NULL);
    accumulate(f.start, n);
    accumulate(f.row_start, n);
    f.row = wl_alloc(f.start[n] * sizeof(*f.row));
    f.val = wl_alloc(f.start[n] * sizeof(*f.val));
    f.by_row = wl_alloc(f.row_start[n] * sizeof(*f.by_row));
    fill_pattern(a, &f, mark);
    free(mark);
    return f;
}

static void free_factor(struct factor *f)
{
    free(f->start);
    free(f->row);
    free(f->val);
    free(f->row_start);
    free(f->by_row);
    free(f->parent);
}

/* ---- the factorisation ----------------------------------------------------------------------- */

/* Column j + 1 goes on with j's supernode if it is j's parent and its pattern is j's less j. */
static void make_tasks(struct shared *s)
{
    const struct factor *f = s->f;
    uint32_t *of_column = wl_alloc(f->n * sizeof(*of_column));

    for (uint32_t j = 0; j < f->n; j++) {
        bool joins = j > 0 && f->parent[j - 1] == j &&
                     f->start[j] - f->start[j - 1] == f->start[j + 1] - f->start[j] + 1;

        if (!joins)
            s->tasks[s->n_tasks++].first = j;
        s->tasks[s->n_tasks - 1].end = j + 1;
        of_column[j] = s->n_tasks - 1;
    }
    for (uint32_t t = 0; t < s->n_tasks; t++) {
        uint32_t above = f->parent[s->tasks[t].end - 1];

        s->tasks[t].parent = above == NONE ? NONE : of_column[above];
    }
    /* A column in the middle of a supernode may have children outside it; they count too. */
    for (uint32_t t = 0; t < s->n_tasks; t++)
        if (s->tasks[t].parent != NONE)
            s->tasks[s->tasks[t].parent].waits++;
    for (uint32_t t = s->n_tasks; t-- > 0;)
        if (s->tasks[t].waits == 0)
            s->ready[s->n_ready++] = t;
    free(of_column);
}

static bool eliminate(const struct factor *f, uint32_t j, double *w)
{
    double pivot;

    for (uint32_t p = f->start[j]; p < f->start[j + 1]; p++)
        w[f->row[p]] = f->val[p];
    for (uint32_t r = f->row_start[j]; r < f->row_start[j + 1]; r++) {
        const struct entry *e = &f->by_row[r];
        double factor = f->val[e->at];

        for (uint32_t p = e->at; p < f->start[e->col + 1]; p++)
            w[f->row[p]] -= factor * f->val[p];
    }
    if (!(w[j] > 0))
        return false;
    pivot = sqrt(w[j]);
    f->val[f->start[j]] = pivot;
    for (uint32_t p = f->start[j] + 1; p < f->start[j + 1]; p++)
        f->val[p] = w[f->row[p]] / pivot;
    return true;
}

/* Under the lock. */
static void finish_task(struct shared *s, uint32_t t, bool ok)
{
    uint32_t parent = s->tasks[t].parent;

    s->indefinite |= !ok;
    if (++s->done == s->n_tasks)
        pthread_cond_broadcast(&s->changed);
    if (parent != NONE && --s->tasks[parent].waits == 0) {
        s->ready[s->n_ready++] = parent;
        pthread_cond_signal(&s->changed);
    }
}

static void worker(unsigned id, void *arg)
{
    struct shared *s = arg;
    double *w = s->work + (size_t)id * s->f->n;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        uint32_t t;
        bool ok = true;

        while (s->n_ready == 0 && s->done < s->n_tasks)
            pthread_cond_wait(&s->changed, &s->lock);
        if (s->n_ready == 0)
            break;
        t = s->ready[--s->n_ready];
        pthread_mutex_unlock(&s->lock);
        for (uint32_t j = s->tasks[t].first; ok && j < s->tasks[t].end; j++)
            ok = eliminate(s->f, j, w);
        pthread_mutex_lock(&s->lock);
        finish_task(s, t, ok);
    }
    pthread_mutex_unlock(&s->lock);
}

static bool factorise(struct factor *f, unsigned threads)
{
    struct shared s = {.f = f, .lock = PTHREAD_MUTEX_INITIALIZER};

    pthread_cond_init(&s.changed, NULL);
    s.tasks = wl_alloc(f->n * sizeof(*s.tasks));
    s.ready = wl_alloc(f->n * sizeof(*s.ready));
    s.work = wl_alloc(threads * (size_t)f->n * sizeof(double));
    make_tasks(&s);
    wl_run(threads, worker, &s);
    pthread_cond_destroy(&s.changed);
    free(s.work);
    free(s.ready);
    free(s.tasks);
    return !s.indefinite;
}

/* ---- use of the factor ----------------------------------------------------------------------- */

static double *random_vector(uint32_t n, uint64_t seed, uint64_t stream)
{
    struct wl_rng rng = wl_rng(seed, stream);
    double *v = wl_alloc(n * sizeof(*v));

    for (uint32_t i = 0; i < n; i++)
        v[i] = 2 * wl_uniform(&rng) - 1;
    return v;
}

static void solve(const struct factor *f, double *x)
{
    for (uint32_t j = 0; j < f->n; j++) {
        x[j] /= f->val[f->start[j]];
        for (uint32_t p = f->start[j] + 1; p < f->start[j + 1]; p++)
            x[f->row[p]] -= f->val[p] * x[j];
    }
    for (uint32_t j = f->n; j-- > 0;) {
        for (uint32_t p = f->start[j] + 1; p < f->start[j + 1]; p++)
            x[j] -= f->val[p] * x[f->row[p]];
        x[j] /= f->val[f->start[j]];
    }
}

/* The greatest |y - A v|. */
static double residual(const struct matrix *a, const double *v, const double *y)
{
    double *r = wl_alloc(a->n * sizeof(*r)), worst = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        r[i] += y[i] - a->diagonal[i] * v[i];
        for (uint32_t p = a->start[i]; p < a->start[i + 1]; p++) {
            r[i] -= a->val[p] * v[a->col[p]];
            r[a->col[p]] -= a->val[p] * v[i];
        }
    }
    for (uint32_t i = 0; i < a->n; i++)
        worst = fabs(r[i]) <= worst ? worst : fabs(r[i]);
    free(r);
    return worst;
}

/* Multiplies random vectors by the factor and its transpose, and by the matrix. */
static bool product_is_matrix(const struct matrix *a, const struct factor *f, uint64_t seed)
{
    double worst = 0;

    for (uint64_t k = 0; k < 4; k++) {
        double *v = random_vector(a->n, seed, 10 + k), *y = wl_alloc(a->n * sizeof(*y));

        for (uint32_t j = 0; j < f->n; j++) {
            double t = 0;

            for (uint32_t p = f->start[j]; p < f->start[j + 1]; p++)
                t += f->val[p] * v[f->row[p]];
            for (uint32_t p = f->start[j]; p < f->start[j + 1]; p++)
                y[f->row[p]] += f->val[p] * t;
        }
        worst += residual(a, v, y);
        free(v);
        free(y);
    }
    return worst <= 1e-11;
}

static const struct wl_program program = {
    .name = "cholesky",
    .about = "Sparse Cholesky factorisation, supernodes from a task queue.",
    .size = "points along a side of the mesh",
    .size_default = 28,
    .size_min = 2,
    .size_max = 800,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args args = wl_args(&program, argc, argv);
    struct matrix a = make_matrix((uint32_t)args.size, args.seed);
    struct factor f = make_pattern(&a);
    double *b = random_vector(a.n, args.seed, 2), *x = random_vector(a.n, args.seed, 2);
    bool passed = factorise(&f, args.threads);
    uint64_t sum = wl_sum(0, f.start[f.n]);

    solve(&f, x);
    for (uint32_t i = 0; i < f.n; i++) {
        sum = wl_sum_double(sum, f.val[f.start[i]]);
        sum = wl_sum_double(sum, x[i]);
    }
    if (args.check)
        passed = passed && residual(&a, x, b) <= 1e-10 && product_is_matrix(&a, &f, args.seed);
    free(x);
    free(b);
    free_factor(&f);
    free_matrix(&a);
    return wl_finish(&program, &args, sum, passed);
}
