/* SPDX-License-Identifier: MIT */
/* Caches whose lines carry a flag per granule of some bytes: set if the debugger knows the granule
 * as this cache's core sees it.
 *
 *   read    If all lines are there and all granules flagged, nothing changes. Otherwise missing
 *           lines are brought in without flags, and then the operand's granules are flagged.
 *   write   Missing lines are brought in. Granules that are written whole are flagged; with
 *           `partial`, so are those that are written in part.
 * Coherent caches lose a line that another one writes. An operand may span lines, which are visited
 * in order; addresses wrap around at 2^64.
 *
 * Flags leave with their line, unless each cache has tables of known lines (model/known.h). A line
 * is noted there when its last flag is set, and again when it makes way; when it returns it gets
 * its flags back. A page of which all lines are noted moves to R. The tables of coherent caches are
 * coherent too: they lose a line that another cache writes, and until then no other cache has it
 * alone. */
#ifndef MODEL_GRANULES_H
#define MODEL_GRANULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/cache.h"
#include "model/known.h"
#include "vestige/error.h"

struct vs_granules_cache {
    struct vs_cache cache;
    uint64_t *flags; /* by index * words */
    uint8_t *alone;  /* by index: no other cache has or knows the line */
};

struct vs_granules {
    struct vs_granules_cache *caches;
    struct vs_known *known; /* by cache; NULL: none is kept */
    unsigned count;
    bool coherent;
    uint8_t line_bits, granule_bits;
    uint32_t words; /* words of flags per line */
    struct vs_cache_config config;
};

enum {
    VS_GRANULES_NO_LINE = 1, /* a line was not there */
    VS_GRANULES_NO_FLAG = 2, /* a granule was not flagged */
};

/* Makes so many empty caches. Returns 0; -VSE_INVAL, with diag (a granule must be a power of two
 * and no larger than a line); -VSE_NOMEM. After an error nothing has to be freed, though
 * vs_granules_fini may be called. */
int vs_granules_init(struct vs_granules *g, unsigned count, const struct vs_cache_config *config,
                     uint32_t granule, bool coherent, struct vs_diag *diag);
void vs_granules_fini(struct vs_granules *g);

/* Gives each cache tables of known lines, of this configuration with the caches' lines. Nothing has
 * been read or written before. Returns 0; -VSE_INVAL, with diag; -VSE_NOMEM. */
int vs_granules_remember(struct vs_granules *g, const struct vs_known_config *config,
                         struct vs_diag *diag);

/* Return VS_GRANULES_*, or 0: a read found all lines and flags, a write all lines. size is not 0.
 */
unsigned vs_granules_read(struct vs_granules *g, unsigned cache, uint64_t addr, size_t size);
unsigned vs_granules_write(struct vs_granules *g, unsigned cache, uint64_t addr, size_t size,
                           bool partial);

enum { VS_GRANULES_ALL = -1 }; /* in place of a cache */

/* The lines of these bytes leave every cache and table but one's, or all of them. */
void vs_granules_drop(struct vs_granules *g, int but, uint64_t addr, uint64_t size);

/* Clears all flags and tables; the lines stay. */
void vs_granules_forget(struct vs_granules *g);

#endif
