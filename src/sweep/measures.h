/* SPDX-License-Identifier: MIT */
/* What is measured: integers with names. A store has every one of them; a table some. */
#ifndef SWEEP_MEASURES_H
#define SWEEP_MEASURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/bandwidth_figures.h"

/* A number that is not known, such as the cycles of a run without time. */
#define VS_MEASURE_UNKNOWN UINT64_MAX

/* How the numbers of several runs become one. */
enum vs_measure_sum {
    VS_MEASURE_ADD,
    VS_MEASURE_LARGEST, /* a size, such as the storage */
};

/* Is told every number that is not 0 of one technique on one run. */
typedef int vs_measure_sink(void *context, const char *name, uint64_t value);

/* Hands over all numbers; `compared` is how many things a proof compared, 0 without one. Returns 0;
 * what the sink returns. */
int vs_measures_give(const struct vs_bandwidth_figures *f, uint64_t compared, vs_measure_sink *sink,
                     void *context);

/* Whether anything has that name: a figure, a field, or what an encoder of any technique counts. */
bool vs_measure_exists(const char *name);

/* The names of figures by number, then NULL. */
const char *vs_measure_name(unsigned number);

enum vs_measure_sum vs_measure_sum(const char *name);

/* What a name stands for that was not handed over. */
uint64_t vs_measure_missing(const char *name);

#endif
