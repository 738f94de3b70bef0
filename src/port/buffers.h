/* SPDX-License-Identifier: MIT */
/* Many buffers tried at once: each is of one size and behind a port of one width, and does what a
 * struct vs_drain that drops does. For each width there is also a buffer without a limit, whose
 * largest occupancy is known for each window of time. */
#ifndef PORT_BUFFERS_H
#define PORT_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/error.h"

enum {
    VS_BUFFERS_WIDTHS = 6,
    VS_BUFFERS_SIZES = 3, /* the first one is: no limit */
    VS_BUFFERS_LIMITED = VS_BUFFERS_WIDTHS * (VS_BUFFERS_SIZES - 1)
};

/* Widths are in quarters of a bit per cycle: 1/4, 1/2, 1, 2, 4 and 8 bits. */
extern const uint32_t vs_buffers_quarters[VS_BUFFERS_WIDTHS];

/* Bits; the first is 0: no limit. */
extern const uint64_t vs_buffers_sizes[VS_BUFFERS_SIZES];

struct vs_buffers_plan {
    uint64_t window; /* cycles, or instructions of an untimed stream; not 0 */
    size_t count;    /* windows; what comes later counts in the last one */
};

struct vs_buffers_window {
    uint64_t largest[VS_BUFFERS_WIDTHS]; /* quarters of a bit, without a limit */
};

struct vs_buffers {
    struct vs_buffers_plan plan;
    uint64_t now;
    size_t at;                           /* the window that this is in ... */
    uint64_t next;                       /* ... and where the next one begins */
    uint64_t level[VS_BUFFERS_WIDTHS];   /* quarters of a bit, without a limit ... */
    uint64_t largest[VS_BUFFERS_WIDTHS]; /* ... and at most */
    int32_t limited[VS_BUFFERS_LIMITED]; /* with limits: [(size - 1) * VS_BUFFERS_WIDTHS + width] */
    uint64_t dropped_bits[VS_BUFFERS_LIMITED], dropped_messages[VS_BUFFERS_LIMITED];
    struct vs_buffers_window *windows;
};

/* Returns 0; -VSE_INVAL (no window); -VSE_NOMEM. fini is needed in any case; it may also follow
 * without init if the struct was zeroed. */
int vs_buffers_init(struct vs_buffers *b, const struct vs_buffers_plan *plan);
void vs_buffers_fini(struct vs_buffers *b);

/* Puts in a message of fewer than 2^40 bits, as vs_drain_add. */
void vs_buffers_add(struct vs_buffers *b, uint64_t cycle, uint64_t bits);

/* Lets time pass up to a cycle, after the last message. */
void vs_buffers_end(struct vs_buffers *b, uint64_t cycle);

/* The largest occupancy, in bits, behind a port of that width: of a window, or of all. */
uint64_t vs_buffers_largest(const struct vs_buffers *b, unsigned width);
uint64_t vs_buffers_largest_in(const struct vs_buffers *b, unsigned width, size_t window);

#endif
