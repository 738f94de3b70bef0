/* SPDX-License-Identifier: MIT */
/* What the traced programs share: arguments, threads, random numbers, checksums, mathematics.
 *
 * A program's result depends on its size and seed alone: not on the number of threads, the host or
 * the instruction set. So sums are made in a fixed order, floating point is compiled without
 * contraction, and what libm computes differently from one machine to the next (everything but
 * sqrt and the like, which IEEE 754 defines) is computed here instead.
 */
#ifndef WL_H
#define WL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- a program and its arguments ------------------------------------------------------------ */

struct wl_program {
    const char *name;
    const char *about;     /* one line */
    const char *size;      /* what -n counts, e.g. "log2 of the number of points" */
    uint64_t size_default; /* the tiny size */
    uint64_t size_min, size_max;
    unsigned threads_max;     /* 1: no -p */
    const char *const *modes; /* names for -m, NULL-terminated, the first is the default; or NULL */
};

struct wl_args {
    unsigned threads; /* default 1 */
    uint64_t size;
    uint64_t seed; /* default 1 */
    unsigned mode; /* index into modes */
    bool check;    /* -c: verify the result */
};

/* Reads the command line. Ends the program with a usage message: status 0 after -h, 2 after
 * anything that is not understood or out of range. */
struct wl_args wl_args(const struct wl_program *p, int argc, char **argv);

/* Prints "<name>: checksum <16 hex digits>" and, after -c, the verdict. Returns main's status: 0,
 * or 1 if a check was asked for and failed. */
int wl_finish(const struct wl_program *p, const struct wl_args *a, uint64_t checksum, bool passed);

/* Memory, zeroed, at a multiple of 64 bytes. Ends the program with status 1 if there is none. */
void *wl_alloc(size_t bytes);

/* ---- threads -------------------------------------------------------------------------------- */

/* Runs body(id, arg) for id 0 to threads - 1: 0 in the caller, the others in threads of their own.
 * Returns when all have. */
void wl_run(unsigned threads, void (*body)(unsigned id, void *arg), void *arg);

/* The part [*first, *end) of 0 .. n-1 that is worker id's: contiguous, as equal as possible. */
void wl_share(size_t n, unsigned threads, unsigned id, size_t *first, size_t *end);

/* ---- random numbers -------------------------------------------------------------------------- */

struct wl_rng {
    uint64_t state;
};

/* stream: independent sequences of one seed. */
struct wl_rng wl_rng(uint64_t seed, uint64_t stream);
uint64_t wl_random(struct wl_rng *r);
uint64_t wl_below(struct wl_rng *r, uint64_t n); /* 0 .. n-1 */
double wl_uniform(struct wl_rng *r);             /* 0 <= x < 1 */

/* ---- checksums ------------------------------------------------------------------------------- */

/* Order matters. Start with 0. Doubles count bit for bit, except that -0 is 0. */
uint64_t wl_sum(uint64_t sum, uint64_t value);
uint64_t wl_sum_double(uint64_t sum, double value);
uint64_t wl_sum_bytes(uint64_t sum, const void *bytes, size_t n);

/* ---- mathematics, the same everywhere -------------------------------------------------------- */

#define WL_PI 3.14159265358979323846

double wl_sin(double x); /* |x| up to some thousands */
double wl_cos(double x);
double wl_exp(double x);
double wl_log(double x); /* x > 0 */

#endif
