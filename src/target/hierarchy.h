/* SPDX-License-Identifier: MIT */
/* The caches of the simulated multicore: for each core an instruction cache (L1I) and a data cache
 * (L1D), the data caches coherent by MOESI (model/moesi.h), below them one shared L2 that includes
 * them all, and memory. What an access costs, in cycles:
 *
 *   l1                    it hits in the core's own cache
 *   l1 + upgrade          a store to a line that others may have: they are invalidated
 *   l1 + transfer         another core's L1D supplies it (it has the line in M, O or E)
 *   l1 + l2               the L2 has it
 *   l1 + l2 + memory      nobody has it
 *
 * An access that spans lines accesses each, from the lowest on, and costs the most expensive one
 * plus 1 for each line after the first. Write-backs and invalidations cost nothing by themselves.
 *
 * The L2 sees only what misses above it; a line written back to it is not used by that. When it
 * replaces a line, the copies above go with it (back-invalidation), and what was dirty is written
 * to memory.
 *
 * Instruction caches take no part in the protocol: stores leave stale lines in them, as RISC-V
 * allows, until a fence.i drops all. A fetch that misses gets a line from the L1D that has it dirty
 * (a transfer, and nothing changes there), else from the L2.
 *
 * With `check`, L1D and L2 hold data, which move by the protocol only, so that each load can be
 * compared with what it should return. The callback tells what memory holds that was not accessed
 * before, as of the access that is being made. */
#ifndef TARGET_HIERARCHY_H
#define TARGET_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/likely.h"
#include "model/cache.h"
#include "model/moesi.h"
#include "target/mirror.h"
#include "vestige/error.h"

#define VS_HIERARCHY_LATENCY_MAX 1000000 /* cycles, of each kind */

struct vs_hierarchy_latency {
    uint32_t l1, l2, memory, transfer, upgrade;
};

struct vs_hierarchy_config {
    unsigned cores; /* 1..VS_MOESI_CORES_MAX */
    struct vs_cache_config l1i, l1d, l2;
    struct vs_hierarchy_latency latency;
    bool check;
    vs_backing_fn *backing; /* with check */
    void *context;          /* for backing */
};

/* Of a core. An access that spans lines counts once for each. */
struct vs_hierarchy_stats {
    uint64_t fetches, fetch_misses;
    uint64_t loads, load_misses;
    uint64_t stores, store_misses;
    uint64_t upgrades;           /* of store_misses: those that had the line */
    uint64_t spans;              /* loads and stores that accessed more than one line */
    uint64_t transfers;          /* misses supplied by another core's L1D */
    uint64_t invalidations;      /* L1 lines lost to another core's store or to an outside write */
    uint64_t back_invalidations; /* L1 lines lost to a replacement in the L2 */
    uint64_t write_backs;        /* dirty lines that left the L1D for the L2 or memory */
    uint64_t l2_accesses, l2_misses;
    uint64_t memory_reads, memory_writes; /* lines, caused by this core's accesses */
};

struct vs_hierarchy {
    struct vs_moesi l1d;
    struct vs_hierarchy_stats *stats; /* by core */
    uint64_t line_mask;               /* what of an address is the line's */
    uint32_t line;                    /* bytes */
    struct vs_hierarchy_config config;
    struct vs_cache *l1i; /* by core */
    struct vs_cache l2;
    uint8_t *l2_dirty;       /* by index in the L2: differs from memory */
    uint8_t *l2_data;        /* with check: by index * line */
    struct vs_mirror memory; /* with check */
    uint64_t outside_writes; /* lines written to memory because of outside writes */
    struct vs_diag diag;     /* of the last error */
};

/* All caches empty. 0; -VSE_INVAL, and diag says what is impossible; -VSE_NOMEM. After an error
 * nothing has to be freed, though vs_hierarchy_fini may be called. */
int vs_hierarchy_init(struct vs_hierarchy *h, const struct vs_hierarchy_config *config,
                      struct vs_diag *diag);
void vs_hierarchy_fini(struct vs_hierarchy *h);

/* Accesses return their cost in cycles. Errors, whose text is in h->diag: -VSE_INTERNAL
 * (an L1 line is not in the L2); with check -VSE_NOMEM and what the callback returned. A core is
 * one of config.cores, a size is at least 1. */

int vs_hierarchy_fetch_miss(struct vs_hierarchy *h, unsigned core, uint64_t line);
int vs_hierarchy_load_miss(struct vs_hierarchy *h, unsigned core, uint64_t line);
int vs_hierarchy_store_miss(struct vs_hierarchy *h, unsigned core, uint64_t line);
int vs_hierarchy_load_span(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size);
int vs_hierarchy_store_span(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size);

/* A fetch of the line that the address is in. */
static inline int vs_hierarchy_fetch(struct vs_hierarchy *h, unsigned core, uint64_t addr)
{
    struct vs_cache *c = &h->l1i[core];
    uint64_t line = addr & h->line_mask;
    h->stats[core].fetches++;
    if (unlikely(vs_cache_hit(c, line) == VS_CACHE_NONE))
        return vs_hierarchy_fetch_miss(h, core, line);
    return (int)h->config.latency.l1;
}

static inline int vs_hierarchy_load(struct vs_hierarchy *h, unsigned core, uint64_t addr,
                                    unsigned size)
{
    uint64_t line = addr & h->line_mask;
    if (unlikely(addr - line + size > h->line))
        return vs_hierarchy_load_span(h, core, addr, size);
    h->stats[core].loads++;
    if (unlikely(vs_moesi_read_hit(&h->l1d, core, line) == VS_CACHE_NONE))
        return vs_hierarchy_load_miss(h, core, line);
    return (int)h->config.latency.l1;
}

/* With check: -VSE_INVAL, since the bytes are needed. */
static inline int vs_hierarchy_store(struct vs_hierarchy *h, unsigned core, uint64_t addr,
                                     unsigned size)
{
    uint64_t line = addr & h->line_mask;
    if (unlikely(h->config.check || addr - line + size > h->line))
        return vs_hierarchy_store_span(h, core, addr, size);
    h->stats[core].stores++;
    if (unlikely(vs_moesi_write_hit(&h->l1d, core, line) == VS_CACHE_NONE))
        return vs_hierarchy_store_miss(h, core, line);
    return (int)h->config.latency.l1;
}

/* A fence.i of the core: drops what its L1I holds. */
void vs_hierarchy_fence_i(struct vs_hierarchy *h, unsigned core);

/* Something outside the cores wrote [addr, addr + size), just now: every copy of these lines is
 * dropped, in all caches; dirty ones are written to memory before. To be called for memory that was
 * mapped or unmapped, too. The range does not wrap. 0, or an error with check. */
int vs_hierarchy_outside(struct vs_hierarchy *h, uint64_t addr, uint64_t size);

/* With check: a load and a store that compare. The load compares the bytes that it gets with those
 * that it should; both check the lines that they access: one writer or many readers, all copies
 * equal, L1 lines are in the L2, clean ones equal to what is below.
 * As the accesses above; -VSE_INTERNAL, and h->diag tells core, address, what was expected and what
 * there is; -VSE_INVAL without check. */
int vs_hierarchy_load_checked(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                              const void *expected);
int vs_hierarchy_store_checked(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                               const void *bytes);

/* Checks every line in any cache, as above; the data only with check. 0 or -VSE_INTERNAL, with
 * h->diag. */
int vs_hierarchy_check(struct vs_hierarchy *h);

#endif
