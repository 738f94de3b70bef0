/* SPDX-License-Identifier: MIT */
/* Benchmarks: each file measures one thing and adds rows; main prints them as a table and as JSON.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;

/* Adds a figure. group and name make the row, metric the column. better: +1 more is better, -1
 * less, 0 neither. target 0 = none. Exits on lack of memory: nothing here is worth saving then. */
void bench_row(struct bench *b, const char *group, const char *name, const char *metric,
               double value, const char *unit, int better, double target);

/* Seconds on the monotonic clock. */
double bench_now(void);

/* Ends the program with a message and status 2. */
void bench_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* How often a measurement is repeated; the best is taken, since other load only ever adds. What
 * takes very long (xz) is measured once. */
unsigned bench_repeats(const struct bench *b);

/* Multiplies amounts of work; 1 unless --scale was given. */
double bench_scale(const struct bench *b);

/* A folder for scratch files. */
const char *bench_folder(const struct bench *b);
/* Whether this one of a benchmark's programs is to be measured. */
bool bench_wants(const struct bench *b, const char *run);

/* The benchmarks. */
void bench_vest(struct bench *b);
void bench_record(struct bench *b);
void bench_long(struct bench *b);
void bench_sim(struct bench *b);
void bench_flow(struct bench *b);
void bench_standards(struct bench *b);
void bench_data(struct bench *b);
void bench_address(struct bench *b);
void bench_replay(struct bench *b);
void bench_debug(struct bench *b);
void bench_export(struct bench *b);

#endif
