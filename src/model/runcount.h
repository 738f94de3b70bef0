/* SPDX-License-Identifier: MIT */
/* A counter for runs of the most frequent record, whose width follows the length of the runs.
 *
 * A run record is the technique's one-bit header and a field of `bits` bits: the number of events
 * less one, so that b bits hold 1 to 2^b events, and 0 bits are one event. A longer run
 * takes several records, all of them full but the last.
 *
 * A monitor of 4 bits goes up by 3 when a run exceeds the counter (an event comes when the counter
 * is full) and down by 1 when a run ends that never did and is below the counter's maximum, or
 * below half of it. At 15 the counter grows by a bit, at 0 it shrinks by one, within its limits;
 * the monitor is then set back to 8, where it started.
 *
 * A record's width is fixed when its first event comes, and the decoder knows all that decided it
 * by then. An encoder calls add for each event of a run and end before any other record; a decoder
 * calls width and then read for each run record, and end before any other. */
#ifndef MODEL_RUNCOUNT_H
#define MODEL_RUNCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "vestige/error.h"

enum {
    VS_RUNCOUNT_MONITOR_MAX = 15,
    VS_RUNCOUNT_MONITOR_START = 8,
    VS_RUNCOUNT_MONITOR_UP = 3,
    VS_RUNCOUNT_MONITOR_DOWN = 1,
    VS_RUNCOUNT_BITS_MAX = 32,
};

struct vs_runcount_config {
    unsigned start;       /* bits at first */
    unsigned least, most; /* least <= start <= most <= VS_RUNCOUNT_BITS_MAX */
    bool half;            /* "short" is below half the maximum (SDC-LSP), else below it (DMTF) */
};

struct vs_runcount {
    struct vs_runcount_config config;
    unsigned bits;
    unsigned monitor;
    uint64_t count; /* events in the record under way; 0 between runs */
    bool exceeded;  /* this run has exceeded the counter */
};

/* Returns 0; -VSE_INVAL. */
int vs_runcount_init(struct vs_runcount *r, const struct vs_runcount_config *config);

/* A record to be written. */
struct vs_run_record {
    unsigned bits;
    uint64_t value;
};

/* Encoder: counts one more event. Returns whether *out, a full record, has to be written first. */
bool vs_runcount_add(struct vs_runcount *r, struct vs_run_record *out);

/* Encoder and decoder: no event of the run comes next. Returns whether there was a run; *out is
 * then the record that the encoder has to write. */
bool vs_runcount_end(struct vs_runcount *r, struct vs_run_record *out);

/* Decoder: a run record's header came. Returns the width of its field; -VSE_CORRUPT (the run goes
 * on after a record that was not full, which no encoder writes). */
int vs_runcount_width(struct vs_runcount *r);

/* Decoder: the field. Returns the number of events. */
uint64_t vs_runcount_read(struct vs_runcount *r, uint64_t value);

struct vs_cost vs_runcount_cost(const struct vs_runcount *r);

#endif
