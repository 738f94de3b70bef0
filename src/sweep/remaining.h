/* SPDX-License-Identifier: MIT */
/* How long what is missing takes, as fast as what is there came. Each file of results says by its
 * time when the work in it was done. Work is counted in instructions of runs. Between two files
 * that lie ten times as far apart as is usual nobody measured. */
#ifndef SWEEP_REMAINING_H
#define SWEEP_REMAINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Work that was done at a time. */
struct vs_done_work {
    int64_t when; /* in nanoseconds */
    double work;
};

/* Sorts the list by time. Returns false if it has fewer than two times. */
bool vs_remaining_seconds(struct vs_done_work *list, size_t count, double missing,
                          uint64_t *seconds);

#endif
