/* SPDX-License-Identifier: MIT */
/* How encoders of control flow are measured, on a run that lies in memory. */
#ifndef BENCH_FLOW_H
#define BENCH_FLOW_H

#include "bench.h"
#include "study/verify.h"

/* The run's steps. A zeroed struct has none; the caller frees the list. */
struct bench_steps {
    struct vs_step *list;
    size_t count, capacity;
    uint64_t branches, streams, instructions;
};

void bench_steps_load(struct bench_steps *s, struct vs_reader *reader);

/* Seconds to encode all of the run, bits counted and thrown away; the best of several. */
double bench_flow_encode(const struct bench *b, const struct vs_verify *v,
                         const struct vs_technique_spec *spec, const struct vs_slice *slice);

#endif
