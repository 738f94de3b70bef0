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

/* A run that was recorded to be measured, and is open. */
struct bench_flow_run {
    struct vs_reader *reader;
    struct vs_verify verify;
    struct bench_steps steps;
};

/* Records the control flow of a workload: "rv64" or "host", by its name and its size. The file is
 * gone when it is closed. */
void bench_flow_open(struct bench *b, struct bench_flow_run *run, const char *kind,
                     const char *name, const char *size);
void bench_flow_close(struct bench *b, struct bench_flow_run *run);

/* Where that file is. */
void bench_flow_path(const struct bench *b, char *path, size_t capacity);

/* Seconds to encode all of the run, bits counted and thrown away; the best of several. */
double bench_flow_encode(const struct bench *b, const struct vs_verify *v,
                         const struct vs_technique_spec *spec, const struct vs_slice *slice);

#endif
