/* SPDX-License-Identifier: MIT */
/* Which core lost which line of memory last, and when: what a directory below the caches knows.
 * Times are numbers of messages, from 1; 0 is never. */
#ifndef TECHNIQUE_LOSSES_H
#define TECHNIQUE_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vs_loss {
    uint64_t line;
    uint64_t time;   /* of the last loss, of `core` */
    uint64_t before; /* of the last loss of another core */
    unsigned core;
    bool used;
};

struct vs_losses {
    struct vs_loss *table;
    size_t capacity, count; /* capacity: a power of two */
};

/* The core lost the line. Times never decrease. Returns 0; -VSE_NOMEM. */
int vs_losses_note(struct vs_losses *l, uint64_t line, unsigned core, uint64_t time);

/* When a core other than this one lost the line last. */
uint64_t vs_losses_of_others(const struct vs_losses *l, uint64_t line, unsigned core);

/* One that is zeroed is empty. */
void vs_losses_fini(struct vs_losses *l);

#endif
