/* SPDX-License-Identifier: MIT */
/* Where two runs part, thread by thread.
 *
 * The n-th event of a thread in one run is compared with the n-th event of that thread in the
 * other, whatever other threads do in between. An address of code is compared as one of its image,
 * so that images may lie elsewhere; other addresses and values are compared as they are. Cycles,
 * and events that only tell how a run was recorded (maps, code, counts, turns, contents), are not
 * compared.
 *
 * Each run is read twice: first for digests of pieces of each thread's events, and then, unless
 * they are all equal, for the events of each thread's first piece that differs. */
#ifndef STUDY_RUN_DIFF_H
#define STUDY_RUN_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "study/where.h"
#include "vestige/run.h"

/* An event as it is compared. */
struct vs_diff_event {
    uint64_t number;                      /* in its run */
    uint64_t instructions;                /* that its thread has retired by then */
    uint64_t pc, addr;                    /* as they are in the run */
    uint64_t pc_key, addr_key, value_key; /* as they are compared */
    uint64_t value;                       /* up to 8 bytes as a number, or a digest of more */
    uint64_t icount;                      /* since the thread's last event that is compared */
    int64_t site;                         /* of the pc, in the run's places; 0: not known */
    uint16_t size, size_key;
    uint8_t kind, flags;
};

/* A thread's first difference. */
struct vs_diff_thread {
    bool differs;
    uint64_t position; /* number among the thread's events */
    bool has[2];       /* whether the run has an event there */
    struct vs_diff_event events[2];
    uint64_t counts[2]; /* of the thread's events that are compared */
};

struct vs_diff_side;

struct vs_diff {
    struct vs_diff_thread *threads;
    size_t count;             /* threads: as many as the run has that has more */
    uint64_t compared;        /* events that are equal, or at which threads begin to differ */
    struct vs_where where[2]; /* names the events' sites */

    /* private */
    bool values;
    struct vs_diff_side *sides[2];
};

/* Compares the runs; their positions are lost. Returns 0; -VSE_NOMEM; as vs_reader_next, with
 * *failed telling which reader's diag has the reason. fini is needed in any case. */
int vs_diff_init(struct vs_diff *d, struct vs_reader *a, struct vs_reader *b, bool values,
                 unsigned *failed);
void vs_diff_fini(struct vs_diff *d);

#endif
