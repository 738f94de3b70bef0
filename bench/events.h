/* SPDX-License-Identifier: MIT */
/* A run of the simulator, its events in memory. */
#ifndef EVENTS_H
#define EVENTS_H

#include "base/buf.h"
#include "bench.h"
#include "technique/data.h"
#include "vestige/run.h"

struct events {
    struct vs_buf list, wide;
    uint64_t accesses;
    struct vs_technique_setup setup;
};

/* A workload, its size, and its threads: one on each core; NULL if it takes no such option. */
struct events_program {
    const char *name, *size, *threads;
};

/* Records the program. All of it ends the program if something fails. */
void events_record(struct events *s, const struct bench *b, const struct events_program *program);
void events_free(struct events *s);

/* The name of its rows. */
void events_name(const struct events_program *program, char *name, size_t capacity);

/* All events. */
struct vs_batch events_batch(const struct events *s);

/* Ends the program if e is an error. */
void events_must(int64_t e, const char *what);

#endif
