/* SPDX-License-Identifier: MIT */
/* Where the instructions of a run retired.
 *
 * Every transfer of control is an event, so the instructions that an event counts are contiguous
 * code that ends at its pc; they are counted there. Events without a pc of their own count where
 * their thread was last known to be.
 */
#ifndef STUDY_PROFILE_H
#define STUDY_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

/* Places that are told apart, at most; a file can hold any number. */
#define VS_PROFILE_PLACES_MAX (1u << 22)

struct vs_profile_place {
    uint64_t pc;                /* 0: nothing is here */
    uint64_t instructions : 63; /* may be 0, where something was only entered */
    uint64_t entry : 1;         /* was called, or a thread or a handler began here */
};

struct vs_profile_thread;

struct vs_profile {
    struct vs_profile_place *places; /* hashed by pc */
    size_t capacity, used;
    uint64_t unknown; /* instructions of places not known, or too many */

    /* A repeated (string) instruction counts once. How often one went on to a further iteration;
     * known as far as its operands were recorded. */
    uint64_t iterations;

    struct vs_profile_thread *threads; /* private */
};

/* Returns 0; -VSE_NOMEM. Needs vs_profile_fini in either case. */
int vs_profile_init(struct vs_profile *p);

/* The next events in global order. Returns 0; -VSE_NOMEM. */
int vs_profile_batch(struct vs_profile *p, const struct vs_batch *batch);

void vs_profile_fini(struct vs_profile *p);

#endif
