/* SPDX-License-Identifier: MIT */
/* Where the events of a run are, in instructions. A place is tT:N, where thread T has retired N. */
#ifndef TRACE_RETIRED_H
#define TRACE_RETIRED_H

#include <stdbool.h>
#include <stdint.h>

#include "vestige/run.h"

/* Tells how many instructions each thread had retired before the event that is delivered next, all
 * threads being selected; there must be room for as many as the run has. The position is kept.
 * Returns 0; as vs_reader_next. */
int vs_reader_retired(struct vs_reader *r, uint64_t *retired);

/* Counts an event. Returns what its thread had retired just before the instruction of the event, or
 * before the event if it is no instruction's. */
static inline uint64_t vs_event_place(const struct vs_event *e, uint64_t *retired)
{
    const uint32_t with = 1u << VS_BRANCH | 1u << VS_LOAD | 1u << VS_STORE | 1u << VS_SYSCALL |
                          1u << VS_NONDET | 1u << VS_EXCEPTION_RET;
    uint64_t after = retired[e->thread] += e->icount;
    return with >> e->kind & 1 && after ? after - 1 : after;
}

#endif
