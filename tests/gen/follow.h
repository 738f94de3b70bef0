/* SPDX-License-Identifier: MIT */
/* For unit tests: follows the code of an RV64 run instruction by instruction. The decoder is its
 * own; nothing is shared with the generator. Fails the running case of unittest.h. */
#ifndef GEN_FOLLOW_H
#define GEN_FOLLOW_H

#include "vestige/run.h"

struct follow_run {
    struct vs_batch all; /* every event of the run */
    const struct vs_block *blocks;
    uint64_t block_count;
    bool memory; /* loads and stores were recorded */
};

/* Checks for each thread: it starts and ends with the right events; the instructions between two
 * events are as many as icount says, and cause no events themselves; every event's instruction is
 * of its kind and operand size; direct targets are those encoded; returns match calls, resumptions
 * match exceptions; accesses relative to the stack pointer are where it says. */
void follow_code(const struct follow_run *run);

#endif
