/* SPDX-License-Identifier: MIT */
/* Which core was the last to lose which line of memory, and when: what a directory below the caches
 * knows. Times are numbers of messages, from 1; 0 means never. */
#ifndef TECHNIQUE_LOSSES_H
#define TECHNIQUE_LOSSES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct vs_loss {
    uint64_t time;   /* when `core` lost it, which was the last loss */
    uint64_t before; /* when another core last lost it */
    unsigned core;
};

struct vs_losses {
    struct vs_loss *list;
    size_t count, capacity;
    struct vs_map indices; /* in the list, plus one, by line */
};

/* Notes that the core lost the line. Times never decrease. Returns 0; -VSE_NOMEM. */
int vs_losses_note(struct vs_losses *l, uint64_t line, unsigned core, uint64_t time);

/* Returns when a core other than this one last lost the line. */
uint64_t vs_losses_of_others(const struct vs_losses *l, uint64_t line, unsigned core);

/* A zeroed struct is empty. */
void vs_losses_fini(struct vs_losses *l);

#endif
