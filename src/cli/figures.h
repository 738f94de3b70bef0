/* SPDX-License-Identifier: MIT */
/* The figures of a technique on a run, or summed over runs, and how they are printed. */
#ifndef CLI_FIGURES_H
#define CLI_FIGURES_H

#include "front/report.h"
#include "study/bandwidth.h"

struct figures {
    const char *run; /* NULL: the sum over runs */
    const char *technique, *config;
    unsigned serves;              /* enum vs_technique_kind */
    char spec[VS_TECHNIQUE_TEXT]; /* all parameters; "" in a sum */
    unsigned cores;               /* 0 in a sum over runs that differ in it */
    unsigned runs;                /* in a sum: of so many */
    bool timed;                   /* the cycles are known */
    uint64_t bits, instructions, cycles;
    uint64_t baseline; /* bits of the baseline of its kind */
    uint64_t whole;    /* of control flow: the bits of the whole address of every instruction */
    struct vs_port_counts counts;
    struct vs_counts encoded; /* what the encoder met */
    uint64_t storage, gates;  /* 0 in a sum over runs that differ in it */
    uint64_t cache_bits;      /* of data in the caches that the storage is added to; the same */

    bool windowed;
    uint64_t window, end;             /* as in struct vs_bandwidth */
    struct vs_window_summary summary; /* of a sum: the highest peak, the average of all */
    const struct vs_windows *windows; /* NULL in a sum */

    bool buffered;
    uint64_t capacity; /* 0: unlimited */
    bool stalls;       /* when it is full, else drops */
    uint64_t largest, dropped_bits, dropped_messages, stalled;
};

void figures_of(struct figures *f, const char *run, const char *config,
                const struct vs_bandwidth *b, const struct vs_bandwidth_row *row,
                uint64_t baseline);

/* Adds a run's figures to a sum, which is zeroed at first. */
void figures_add(struct figures *sum, const struct figures *f);

/* A row of them is JSON, and a line of CSV. */
extern const struct report_column figures_columns[];

/* A table: the head, then rows of one kind. `fields` adds a line of bits by field under each row.
 */
void figures_text_head(struct out *out, const struct figures *like);
void figures_text(struct out *out, const struct figures *f, bool fields);

#endif
