/* SPDX-License-Identifier: MIT */
/* Where a run's instructions retired.
 *
 * Every transfer of control is an event, so the instructions that an event counts are contiguous
 * code that ends at its pc; they are counted there. Events without a pc of their own count where
 * their thread was last known to be.
 *
 * Code of several images may lie at one address, one after the other. What was counted in an image
 * is set aside when it is unmapped or replaced.
 */
#ifndef STUDY_PROFILE_H
#define STUDY_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "study/mapped.h"
#include "vestige/event.h"

/* How many places are told apart at most; a file can hold any number of them. */
#define VS_PROFILE_PLACES_MAX (1u << 22)

struct vs_profile_place {
    uint64_t pc; /* never 0 */
    uint64_t instructions;
    bool entry; /* it was called, or a thread or a handler began here */
};

/* Unpacks a place of the map, which is one number for speed: instructions << 2 | entry << 1 | 1. A
 * place that was set aside has neither instructions nor entry left. */
static inline struct vs_profile_place vs_profile_place(const struct vs_map_entry *e)
{
    return (struct vs_profile_place){e->key, e->value >> 2, e->value >> 1 & 1};
}

/* How often something is set aside, at most. Beyond that, what is unmapped is taken to stay. */
#define VS_PROFILE_EPOCHS_MAX 1024

/* A place as it was when its code went away. */
struct vs_profile_old {
    struct vs_profile_place place;
    uint64_t image; /* or VS_NO_IMAGE */
    uint32_t epoch; /* the same for places that went away together; counted from 0 */
};

struct vs_profile_thread;

struct vs_profile {
    struct vs_map places; /* by pc (see vs_profile_place), without what was set aside */
    uint64_t unknown;     /* instructions whose place is not known, or is beyond the limit */

    /* How often a repeated (string) instruction, which counts once, went on to a further iteration;
     * this is known as far as its operands were recorded. */
    uint64_t iterations;

    struct vs_profile_old *old;
    size_t old_count, old_capacity;
    uint32_t epochs;
    struct vs_mapped mapped; /* the images after the events so far */

    struct vs_profile_thread *threads; /* private */
};

/* Returns 0; -VSE_NOMEM. vs_profile_fini is needed in any case. */
int vs_profile_init(struct vs_profile *p);

/* Takes the next events in global order. Returns 0; -VSE_NOMEM. */
int vs_profile_batch(struct vs_profile *p, const struct vs_batch *batch);

void vs_profile_fini(struct vs_profile *p);

#endif
