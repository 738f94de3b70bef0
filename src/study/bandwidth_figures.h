/* SPDX-License-Identifier: MIT */
/* What a technique cost on a run, and sums of such figures over runs. */
#ifndef STUDY_BANDWIDTH_FIGURES_H
#define STUDY_BANDWIDTH_FIGURES_H

#include "study/attribution.h"
#include "study/bandwidth.h"

struct vs_bandwidth_figures {
    const char *run; /* NULL: the sum over runs */
    const char *technique, *config;
    unsigned serves;              /* enum vs_technique_kind */
    char spec[VS_TECHNIQUE_TEXT]; /* all parameters; "" in a sum */
    unsigned cores;               /* 0 in a sum over runs that differ in it */
    unsigned runs;                /* in a sum: over how many runs */
    bool timed;                   /* the cycles are known */
    uint64_t bits, instructions, cycles;
    uint64_t baseline; /* bits that the baseline of its kind takes */
    uint64_t whole;    /* for control flow: the bits that every instruction's whole address takes */
    struct vs_port_counts counts;
    struct vs_counts encoded; /* what the encoder met */
    uint64_t storage, gates;  /* 0 in a sum over runs that differ in it */
    uint64_t cache_bits;      /* data bits of the caches that the storage is added to; 0 as above */

    bool sampled; /* bits, fields and messages are estimates from windows */
    struct vs_estimate sample;
    double bits_error; /* half the width of the bits' 95 % confidence interval */

    const struct vs_shares
        *shares; /* where the bits are sent; NULL in a sum, or if it is not asked */

    bool windowed;
    uint64_t window, end;             /* as in struct vs_bandwidth */
    struct vs_window_summary summary; /* in a sum: the highest peak, and the average of all */
    const struct vs_windows *windows; /* NULL in a sum */

    bool buffered;
    uint64_t capacity; /* 0: unlimited */
    bool stalls;       /* when the buffer is full; if false, it drops */
    uint64_t largest, dropped_bits, dropped_messages, stalled;
};

/* The bits that the run takes, or is estimated to take if only a sample was read. */
uint64_t vs_bandwidth_bits(const struct vs_bandwidth *b, const struct vs_bandwidth_row *row);

/* Fills in the figures from a study's row. `run` and `config` must outlive the figures, as must the
 * study if it has windows. `baseline` is the number of bits that the baseline of its kind takes. */
void vs_bandwidth_figures_of(struct vs_bandwidth_figures *f, const char *run, const char *config,
                             const struct vs_bandwidth *b, const struct vs_bandwidth_row *row,
                             uint64_t baseline);

/* Adds a run's figures to a sum, which starts out zeroed. */
void vs_bandwidth_figures_add(struct vs_bandwidth_figures *sum,
                              const struct vs_bandwidth_figures *f);

#endif
