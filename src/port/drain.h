/* SPDX-License-Identifier: MIT */
/* The buffer between the trace module and the port. The port takes a fixed number of bits per cycle
 * out; a message goes in whole, at its cycle, before the port takes that cycle's bits.
 *
 * An unlimited buffer shows how large one must be to lose nothing. A limited one either drops a
 * message that does not fit, or stalls all cores until it does, which delays every later cycle by
 * as much. A message larger than the buffer is always dropped, or passes through while the cores
 * stall. */
#ifndef PORT_DRAIN_H
#define PORT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "vestige/error.h"

struct vs_drain_config {
    uint32_t bits, cycles; /* the port takes `bits` every `cycles`; both 1 to 2^20 */
    uint64_t capacity;     /* bits; 0 = unlimited; at most 2^40 */
    bool stall;            /* whether the cores stall; otherwise messages are dropped */
};

struct vs_drain {
    struct vs_drain_config config;
    uint64_t level; /* in 1/cycles bits, so that rates below 1 are exact */
    uint64_t now;   /* cycle of the last message, stalls included */

    uint64_t largest; /* bits: the largest occupancy */
    uint64_t accepted_bits;
    uint64_t dropped_bits, dropped_messages;
    uint64_t stalled; /* cycles */
};

/* Returns 0; -VSE_INVAL. */
int vs_drain_init(struct vs_drain *d, const struct vs_drain_config *config);

/* Puts in a message of fewer than 2^40 bits at a cycle. One that is earlier than the last message
 * counts as simultaneous with it. */
void vs_drain_add(struct vs_drain *d, uint64_t cycle, uint64_t bits);

#endif
