/* SPDX-License-Identifier: MIT */
/* A 1-D complex FFT by the six-step method, and the strongest lines of the spectrum.
 *
 * The 2^n points are a matrix of R rows and C columns, R = C or 2R = C. Transpose, FFT of every
 * row, multiplication by the roots of unity that join the two dimensions, transpose, FFT of every
 * row, transpose. Rows are shared out among the threads, so that only the transposes move data
 * between them; a barrier stands on each side of a transpose. Peaks go from a thread's own list
 * into a common one under a lock, by an order that leaves no ties to the order of arrival.
 */
#include <stdlib.h>

#include "common/wl.h"

enum {
    TILE = 8,   /* points on the side of a tile of a transpose */
    TONES = 4,  /* in the input, under noise */
    PEAKS = 16, /* reported */
    PROBES = 4, /* peaks, and other bins, that -c computes directly */
};

struct cplx {
    double re, im;
};

struct peak {
    double power;
    size_t bin;
};

struct peaks {
    unsigned n;
    struct peak at[PEAKS]; /* strongest first */
};

struct tone {
    uint64_t sixteenths; /* frequency in sixteenths of a bin: most tones leak into neighbours */
    double amplitude;
};

struct fft {
    unsigned threads, log_rows, log_cols;
    size_t points, rows, cols;
    uint64_t seed;
    struct tone tones[TONES];
    struct cplx *a, *b;  /* forward() reads a and leaves the result in b */
    struct cplx *coarse; /* e^(-2 pi i j / cols), j < cols */
    struct cplx *fine;   /* e^(-2 pi i j / points), j < cols */
    uint64_t *sums;      /* checksum of each row of the result */
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    struct peaks peaks; /* under lock */
};

static struct cplx mul(struct cplx x, struct cplx y)
{
    return (struct cplx){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static struct cplx add(struct cplx x, struct cplx y)
{
    return (struct cplx){x.re + y.re, x.im + y.im};
}

static struct cplx sub(struct cplx x, struct cplx y)
{
    return (struct cplx){x.re - y.re, x.im - y.im};
}

static double power(struct cplx x)
{
    return x.re * x.re + x.im * x.im;
}

/* e^(-2 pi i j / n) */
static struct cplx root(uint64_t j, uint64_t n)
{
    double angle = 2 * WL_PI * ((double)(j % n) / (double)n);

    return (struct cplx){wl_cos(angle), -wl_sin(angle)};
}

/* ---- input ----------------------------------------------------------------------------------- */

static void choose_tones(struct fft *f)
{
    struct wl_rng r = wl_rng(f->seed, 0);

    for (unsigned i = 0; i < TONES; i++) {
        f->tones[i].sixteenths = wl_below(&r, 16 * f->points);
        f->tones[i].amplitude = 0.25 + wl_uniform(&r);
    }
}

/* Points of one row of the input. Phases are exact at the start of a row and turned from there. */
static void generate_row(const struct fft *f, size_t row, struct cplx *x)
{
    struct wl_rng r = wl_rng(f->seed, row + 1);
    uint64_t turn = 16 * f->points;
    struct cplx at[TONES], step[TONES];

    for (unsigned i = 0; i < TONES; i++) {
        uint64_t k = f->tones[i].sixteenths;

        at[i] = root(turn - k * (row << f->log_cols) % turn, turn);
        at[i].re *= f->tones[i].amplitude;
        at[i].im *= f->tones[i].amplitude;
        step[i] = root(turn - k, turn);
    }
    for (size_t c = 0; c < f->cols; c++) {
        x[c].re = wl_uniform(&r) - 0.5;
        x[c].im = wl_uniform(&r) - 0.5;
        for (unsigned i = 0; i < TONES; i++) {
            x[c] = add(x[c], at[i]);
            at[i] = mul(at[i], step[i]);
        }
    }
}

/* ---- transform ------------------------------------------------------------------------------- */

/* to (cols x rows) = transpose of from (rows x cols), the worker's share of the rows of to. Each
 * worker starts at another place of from, so that they do not all read the same rows at once. */
static void transpose(struct cplx *to, const struct cplx *from, size_t rows, size_t cols,
                      unsigned threads, unsigned id)
{
    size_t tiles = (rows + TILE - 1) / TILE, start = tiles * id / threads, first, end;

    wl_share(cols, threads, id, &first, &end);
    for (size_t t = 0; t < tiles; t++) {
        size_t r0 = (t + start) % tiles * TILE, r1 = r0 + TILE < rows ? r0 + TILE : rows;

        for (size_t c0 = first; c0 < end; c0 += TILE) {
            size_t c1 = c0 + TILE < end ? c0 + TILE : end;

            for (size_t c = c0; c < c1; c++)
                for (size_t r = r0; r < r1; r++)
                    to[c * rows + r] = from[r * cols + c];
        }
    }
}

static void reverse_bits(struct cplx *x, size_t n)
{
    for (size_t i = 0, j = 0; i < n; i++) {
        size_t bit = n >> 1;

        if (i < j) {
            struct cplx t = x[i];

            x[i] = x[j];
            x[j] = t;
        }
        for (; j & bit; bit >>= 1)
            j ^= bit;
        j |= bit;
    }
}

/* Joins four transforms of h points each into one. Bit reversal has put those of the points 0, 2,
 * 1, 3 modulo 4 in this order. roots[step * k] is e^(-2 pi i k / 4h). */
static void join_four(struct cplx *x, size_t h, const struct cplx *roots, size_t step)
{
    for (size_t k = 0; k < h; k++) {
        struct cplx p = x[k], q = x[k + h], r = x[k + 2 * h], s = x[k + 3 * h], t, u;

        if (k > 0) {
            q = mul(q, roots[2 * k * step]);
            r = mul(r, roots[k * step]);
            s = mul(s, roots[3 * k * step]);
        }
        t = sub(p, q);
        p = add(p, q);
        u = sub(r, s);
        r = add(r, s);
        x[k] = add(p, r);
        x[k + 2 * h] = sub(p, r);
        x[k + h] = (struct cplx){t.re + u.im, t.im - u.re};
        x[k + 3 * h] = (struct cplx){t.re - u.im, t.im + u.re};
    }
}

static void transform_row(const struct fft *f, struct cplx *x, unsigned log)
{
    size_t n = (size_t)1 << log, h = 1;

    reverse_bits(x, n);
    if (log & 1) {
        for (size_t i = 0; i < n; i += 2) {
            struct cplx t = x[i];

            x[i] = add(t, x[i + 1]);
            x[i + 1] = sub(t, x[i + 1]);
        }
        h = 2;
    }
    for (; h < n; h *= 4)
        for (size_t i = 0; i < n; i += 4 * h)
            join_four(x + i, h, f->coarse, f->cols / (4 * h));
}

/* Multiplies point k of the row by e^(-2 pi i row k / points). */
static void twiddle_row(const struct fft *f, struct cplx *x, size_t row)
{
    unsigned up = f->log_cols - f->log_rows;

    for (size_t k = 1; k < f->rows && row > 0; k++) {
        size_t j = row * k, high = (j >> f->log_cols) << up, low = j & (f->cols - 1);

        if (high > 0)
            x[k] = mul(x[k], f->coarse[high]);
        if (low > 0)
            x[k] = mul(x[k], f->fine[low]);
    }
}

static void forward(struct fft *f, unsigned id)
{
    size_t first, end;

    transpose(f->b, f->a, f->rows, f->cols, f->threads, id);
    wl_share(f->cols, f->threads, id, &first, &end);
    for (size_t r = first; r < end; r++) {
        transform_row(f, f->b + r * f->rows, f->log_rows);
        twiddle_row(f, f->b + r * f->rows, r);
    }
    pthread_barrier_wait(&f->barrier);
    transpose(f->a, f->b, f->cols, f->rows, f->threads, id);
    wl_share(f->rows, f->threads, id, &first, &end);
    for (size_t r = first; r < end; r++)
        transform_row(f, f->a + r * f->cols, f->log_cols);
    pthread_barrier_wait(&f->barrier);
    transpose(f->b, f->a, f->rows, f->cols, f->threads, id);
    pthread_barrier_wait(&f->barrier);
}

/* ---- spectrum -------------------------------------------------------------------------------- */

static bool stronger(const struct peak *x, const struct peak *y)
{
    return x->power > y->power || (x->power == y->power && x->bin < y->bin);
}

static void offer(struct peaks *list, struct peak p)
{
    unsigned i;

    if (list->n == PEAKS && !stronger(&p, &list->at[PEAKS - 1]))
        return;
    i = list->n < PEAKS ? list->n++ : PEAKS - 1;
    for (; i > 0 && stronger(&p, &list->at[i - 1]); i--)
        list->at[i] = list->at[i - 1];
    list->at[i] = p;
}

/* Bins [first, end) that rise above both neighbours, on the circle of all bins. */
static void find_peaks(const struct fft *f, size_t first, size_t end, struct peaks *list)
{
    const struct cplx *x = f->b;
    double before, here, after;

    if (first >= end)
        return;
    before = power(x[(first + f->points - 1) & (f->points - 1)]);
    here = power(x[first]);
    for (size_t i = first; i < end; i++) {
        after = power(x[(i + 1) & (f->points - 1)]);
        if (here > before && here > after)
            offer(list, (struct peak){here, i});
        before = here;
        here = after;
    }
}

static void analyse(struct fft *f, unsigned id)
{
    struct peaks own = {0};
    size_t first, end;

    wl_share(f->cols, f->threads, id, &first, &end);
    find_peaks(f, first * f->rows, end * f->rows, &own);
    for (size_t r = first; r < end; r++) {
        const struct cplx *x = f->b + r * f->rows;

        for (size_t k = 0; k < f->rows; k++)
            f->sums[r] = wl_sum_double(wl_sum_double(f->sums[r], x[k].re), x[k].im);
    }
    pthread_mutex_lock(&f->lock);
    for (unsigned i = 0; i < own.n; i++)
        offer(&f->peaks, own.at[i]);
    pthread_mutex_unlock(&f->lock);
}

static void work(unsigned id, void *arg)
{
    struct fft *f = arg;
    size_t first, end;

    wl_share(f->cols, f->threads, id, &first, &end);
    for (size_t j = first; j < end; j++) {
        f->coarse[j] = root(j, f->cols);
        f->fine[j] = root(j, f->points);
    }
    wl_share(f->rows, f->threads, id, &first, &end);
    for (size_t r = first; r < end; r++)
        generate_row(f, r, f->a + r * f->cols);
    pthread_barrier_wait(&f->barrier);
    forward(f, id);
    analyse(f, id);
}

static uint64_t checksum(const struct fft *f)
{
    uint64_t sum = 0;

    for (size_t r = 0; r < f->cols; r++)
        sum = wl_sum(sum, f->sums[r]);
    for (unsigned i = 0; i < f->peaks.n; i++)
        sum = wl_sum(sum, f->peaks.at[i].bin);
    return sum;
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Bin k of the transform of x by its definition. */
static bool bin_is_right(const struct fft *f, const struct cplx *x, size_t k)
{
    double tolerance = 1e-11 * (double)f->points;
    struct cplx sum = {0, 0};

    for (size_t i = 0; i < f->points; i++)
        sum = add(sum, mul(x[i], root(k * i, f->points)));
    return power(sub(sum, f->b[k])) <= tolerance * tolerance;
}

static void transform_again(unsigned id, void *arg)
{
    forward(arg, id);
}

/* The inverse is the conjugate of the transform of the conjugate, divided by the points. */
static bool inverse_is(struct fft *f, const struct cplx *x)
{
    double scale = 1.0 / (double)f->points, worst = 0;

    for (size_t i = 0; i < f->points; i++)
        f->a[i] = (struct cplx){f->b[i].re, -f->b[i].im};
    wl_run(f->threads, transform_again, f);
    for (size_t i = 0; i < f->points; i++) {
        double e = power(sub((struct cplx){f->b[i].re * scale, -f->b[i].im * scale}, x[i]));

        worst = e <= worst ? worst : e;
    }
    return worst <= 1e-12 * 1e-12;
}

/* A peak's place in the list, or PEAKS. */
static unsigned place_of(const struct peaks *list, struct peak p)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->at[i].bin == p.bin && list->at[i].power == p.power)
            return i;
    return PEAKS;
}

/* Whether every peak has the place in the list that its strength gives it. */
static bool peaks_are_right(const struct fft *f)
{
    const struct peaks *list = &f->peaks;
    size_t all = 0, listed = 0;

    for (unsigned i = 1; i < list->n; i++)
        if (!stronger(&list->at[i - 1], &list->at[i]))
            return false;
    for (size_t i = 0; i < f->points; i++) {
        struct peak p = {power(f->b[i]), i};
        size_t left = i > 0 ? i - 1 : f->points - 1, right = i + 1 < f->points ? i + 1 : 0;

        if (p.power <= power(f->b[left]) || p.power <= power(f->b[right]))
            continue;
        all++;
        if (place_of(list, p) < PEAKS)
            listed++;
        else if (list->n < PEAKS || stronger(&p, &list->at[PEAKS - 1]))
            return false;
    }
    return listed == list->n && (listed == all || listed == PEAKS);
}

static bool check(struct fft *f)
{
    struct cplx *input = wl_alloc(f->points * sizeof(*input));
    struct wl_rng r = wl_rng(f->seed, UINT64_MAX);
    bool good = peaks_are_right(f);

    for (size_t row = 0; row < f->rows; row++)
        generate_row(f, row, input + row * f->cols);
    for (unsigned i = 0; good && i < PROBES; i++)
        good = bin_is_right(f, input, wl_below(&r, f->points));
    for (unsigned i = 0; good && i < PROBES && i < f->peaks.n; i++)
        good = bin_is_right(f, input, f->peaks.at[i].bin);
    good = good && inverse_is(f, input);
    free(input);
    return good;
}

/* ---- program --------------------------------------------------------------------------------- */

static const struct wl_program program = {
    .name = "fft",
    .about = "Six-step FFT of a noisy signal, and the strongest lines of its spectrum.",
    .size = "log2 of the number of points",
    .size_default = 13,
    .size_min = 2,
    .size_max = 25,
    .threads_max = 64,
};

int main(int argc, char **argv)
{
    struct wl_args a = wl_args(&program, argc, argv);
    struct fft f = {.threads = a.threads, .seed = a.seed};
    uint64_t sum;
    bool passed = true;

    f.log_rows = (unsigned)a.size / 2;
    f.log_cols = (unsigned)a.size - f.log_rows;
    f.points = (size_t)1 << a.size;
    f.rows = (size_t)1 << f.log_rows;
    f.cols = (size_t)1 << f.log_cols;
    f.a = wl_alloc(f.points * sizeof(*f.a));
    f.b = wl_alloc(f.points * sizeof(*f.b));
    f.coarse = wl_alloc(f.cols * sizeof(*f.coarse));
    f.fine = wl_alloc(f.cols * sizeof(*f.fine));
    f.sums = wl_alloc(f.cols * sizeof(*f.sums));
    choose_tones(&f);
    pthread_barrier_init(&f.barrier, NULL, a.threads);
    pthread_mutex_init(&f.lock, NULL);
    wl_run(a.threads, work, &f);
    sum = checksum(&f);
    if (a.check)
        passed = check(&f);
    pthread_mutex_destroy(&f.lock);
    pthread_barrier_destroy(&f.barrier);
    free(f.a);
    free(f.b);
    free(f.coarse);
    free(f.fine);
    free(f.sums);
    return wl_finish(&program, &a, sum, passed);
}
