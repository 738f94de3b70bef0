/* SPDX-License-Identifier: MIT */
/* The platform: a process on N cores, with or without time.
 *
 * Memory operations and system calls take effect in one order: by cycle, and within a cycle by
 * core. A core runs ahead of others only between them. Untimed, a cycle is an instruction, and
 * cores take turns of a quantum. One thread does everything, and nothing depends on the host: the
 * same program, arguments, configuration and seed give the same run.
 *
 * A thread runs on one core until it waits, or until its slice is over and others wait for a
 * core. */
#ifndef TARGET_MACHINE_H
#define TARGET_MACHINE_H

#include "engine/interrupt.h"
#include "engine/place.h"
#include "engine/windows.h"
#include "target/config.h"
#include "target/hierarchy.h"
#include "target/pipeline.h"
#include "target/process.h"
#include "trace/consumer.h"

struct vs_machine_core {
    uint64_t instructions;
    uint64_t cycles; /* in which a thread was on it */
    struct vs_pipeline_stats branches;
    struct vs_hierarchy_stats caches;
};

/* What happened. In an untimed run, branches and caches stay 0. */
struct vs_machine_stats {
    uint64_t instructions; /* of all cores, recorded or not */
    uint64_t recorded, skipped, events;
    uint64_t cycles; /* of the clock */
    unsigned threads, cores;
    struct vs_machine_core core[VS_CORES_MAX];
};

/* Where recording begins or ends, when the instruction there is reached. */
struct vs_machine_place {
    uint64_t addr;
    bool link;               /* addr is as in the program's file; else as the program runs */
    enum vs_place_kind kind; /* VS_PLACE_FROM or VS_PLACE_TO */
};

struct vs_machine_options {
    struct vs_target_config config;
    struct vs_process_options process;  /* seed, cores and memory_limit are taken from config */
    const struct vs_consumer *consumer; /* NULL: nothing is recorded */
    bool loads, stores;
    bool every; /* as in target/events.h */
    /* Without any, everything is recorded. With marks or places there may be at most one, which
     * starts at 0 and counts what is recorded. */
    const struct vs_window *windows;
    size_t window_count;
    bool marks; /* record only between the program's marks (vestige/mark.h) */
    const struct vs_machine_place *places;
    size_t place_count;
    struct vs_interrupt *interrupt; /* may be NULL */
    /* Called now and then with how far the run is; if it does not return 0, no more is recorded.
     * May be NULL. */
    int (*tick)(void *context, const struct vs_machine_stats *stats);
    void *context;
};

enum vs_machine_end {
    VS_END_EXIT,        /* the program ended */
    VS_END_DEADLOCK,    /* all its threads wait for each other */
    VS_END_INTERRUPTED, /* the user insisted on an end before the program came to its own */
    VS_END_MEMORY,      /* it touched more memory than config.memory */
};

/* Where a simulation stopped, if it did not stop because the program ended. */
struct vs_machine_halt {
    uint32_t thread;
    int core;     /* -1: on none */
    uint64_t pc;  /* of the access, or of the system call */
    bool in_call; /* in the system call with the number `call` */
    uint64_t call;
    uint64_t addr; /* VS_END_MEMORY: what was touched */
};

struct vs_machine_result {
    struct vs_machine_stats stats;
    enum vs_machine_end end;
    struct vs_machine_halt halt; /* VS_END_MEMORY; VS_END_DEADLOCK: the first thread that waits */
    uint64_t memory;             /* MiB that it might touch */
    int status;       /* the program's, as by waitpid; as if killed if it did not end by itself */
    bool interrupted; /* the user ended it, by a signal or by insisting */
    bool stopped;     /* tick said to record no more */
    struct vs_unsupported unsupported[VS_UNSUPPORTED_MAX];
    size_t unsupported_count;
    double seconds;
};

/* Runs the program to its end. Events that were delivered before an error remain valid.
 * Returns 0; as vs_process_open; -VSE_INVAL (the configuration); -VSE_NOMEM; -VSE_LIMIT;
 * -VSE_INTERNAL (coherence was violated: only with config.check); an error of the consumer, with
 * *theirs set and diag not written. */
int vs_machine_run(const struct vs_machine_options *options, struct vs_machine_result *result,
                   struct vs_diag *diag, bool *theirs);

#endif
