/* SPDX-License-Identifier: MIT */
/* Coherent caches whose lines carry a trace bit T: the debugger knows the line. T travels with the
 * line from cache to cache. */
#ifndef MODEL_TRACED_H
#define MODEL_TRACED_H

#include <stdbool.h>
#include <stdint.h>

#include "model/moesi.h"

struct vs_traced {
    struct vs_moesi group;
    uint8_t **t; /* by core and index */
};

/* Makes empty caches, with data or without. `sharers`: a line without an owner is supplied by a
 * sharer rather than by the level below. Returns 0; -VSE_INVAL (no such geometry); -VSE_LIMIT (more
 * cores than VS_MOESI_CORES_MAX); -VSE_NOMEM. One that is zeroed before needs fini in any case. */
int vs_traced_init(struct vs_traced *c, unsigned cores, const struct vs_cache_config *config,
                   bool sharers, bool data);
void vs_traced_fini(struct vs_traced *c);

/* Makes `to`, which is zeroed before, the same. Returns as vs_traced_init. */
int vs_traced_clone(struct vs_traced *to, const struct vs_traced *from);

/* After a miss: sets T as the supplying cache had it, or clears it if the line came from below.
 * Returns it. */
bool vs_traced_inherit(struct vs_traced *c, unsigned core, const struct vs_moesi_result *r);

/* For bytes written from outside: the first line, and how far the last one is from it. A size of 0
 * means all of memory. */
void vs_traced_range(const struct vs_traced *c, uint64_t addr, uint64_t size, uint64_t *first,
                     uint64_t *span);

/* Whether the core has a line of a range. */
bool vs_traced_has(const struct vs_traced *c, unsigned core, uint64_t first, uint64_t span);

/* Called for every line that a core loses. `taken`: another took it, so it did not make way for a
 * new line. */
typedef void vs_traced_lost(void *context, unsigned core, uint64_t line, bool taken);

/* The lines of a range leave the core's cache. tell may be NULL. */
void vs_traced_drop(struct vs_traced *c, unsigned core, uint64_t first, uint64_t span,
                    vs_traced_lost *tell, void *context);

#endif
