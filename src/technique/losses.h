/* SPDX-License-Identifier: MIT */
/* Which core lost which line of memory last, and when: what a directory below the caches knows.
 * Times are numbers of messages, from 1; 0 is never. */
#ifndef TECHNIQUE_LOSSES_H
#define TECHNIQUE_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct vs_loss {
    uint64_t time;   /* of the last loss, of `core` */
    uint64_t before; /* of the last loss of another core */
    unsigned core;
};

struct vs_losses {
    struct vs_loss *list;
    size_t count, capacity;
    struct vs_map indices; /* in the list, plus one, by line */
};

/* The core lost the line. Times never decrease. Returns 0; -VSE_NOMEM. */
int vs_losses_note(struct vs_losses *l, uint64_t line, unsigned core, uint64_t time);

/* When a core other than this one lost the line last. */
uint64_t vs_losses_of_others(const struct vs_losses *l, uint64_t line, unsigned core);

/* One that is zeroed is empty. */
void vs_losses_fini(struct vs_losses *l);

#endif
