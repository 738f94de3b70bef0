/* SPDX-License-Identifier: MIT */
/* The caches of the simulated multicore. Each core has an instruction cache (L1I) and a data cache
 * (L1D); MOESI (model/moesi.h) keeps the data caches coherent; below them are one shared L2, which
 * includes them all, and memory. An access costs, in cycles:
 *
 *   l1                    it hits in the core's own cache
 *   l1 + upgrade          a store to a line that others may have: they are invalidated
 *   l1 + transfer         another core's L1D, which has the line in M, O or E, supplies it
 *   l1 + l2               the L2 has it
 *   l1 + l2 + memory      nobody has it
 *
 * An access that spans lines accesses each of them, from the lowest on. It costs what the most
 * expensive of them costs, plus 1 for each line after the first. Write-backs and invalidations cost
 * nothing by themselves.
 *
 * The L2 sees only what misses above it; a write-back does not count as a use of its line. When the
 * L2 replaces a line, the copies above go with it (back-invalidation), and what was dirty is
 * written to memory.
 *
 * Instruction caches take no part in the protocol: stores leave stale lines in them, as RISC-V
 * allows, until a fence.i drops all. A fetch that misses gets the line from the L1D that has it
 * dirty (a transfer, which changes nothing there), or else from the L2.
 *
 * With `check`, L1Ds and L2 hold data, which moves only as the protocol says, so that each load can
 * be compared with what it should return. The callback tells what memory that was not accessed
 * before holds, as of the access that is being made. */
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

#define VS_HIERARCHY_LATENCY_MAX 1000000 /* cycles, for each latency */

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

/* What a core did. An access that spans lines counts once for each of them. */
struct vs_hierarchy_stats {
    uint64_t fetches, fetch_misses;
    uint64_t loads, load_misses;
    uint64_t stores, store_misses;
    uint64_t upgrades;           /* those store_misses where the core had the line */
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
    uint64_t line_mask;               /* the bits of an address that name its line */
    uint32_t line;                    /* bytes */
    struct vs_hierarchy_config config;
    struct vs_cache *l1i; /* by core */
    struct vs_cache l2;
    uint8_t *l2_dirty;       /* by index in the L2: whether the line differs from memory */
    uint8_t *l2_data;        /* with check: by index * line */
    struct vs_mirror memory; /* with check */
    uint64_t outside_writes; /* lines written to memory because of outside writes */
    struct vs_diag diag;     /* of the last error */
};

/* Makes a hierarchy with empty caches. Returns 0; -VSE_INVAL, and diag says what is impossible;
 * -VSE_NOMEM. After an error nothing has to be freed, though vs_hierarchy_fini may be called. */
int vs_hierarchy_init(struct vs_hierarchy *h, const struct vs_hierarchy_config *config,
                      struct vs_diag *diag);
void vs_hierarchy_fini(struct vs_hierarchy *h);

/* Accesses return their cost in cycles, or an error, with its text in h->diag: -VSE_INTERNAL
 * (an L1 line is not in the L2); with check also -VSE_NOMEM and what the callback returned. A core
 * is less than config.cores, and a size is at least 1. */

int vs_hierarchy_fetch_miss(struct vs_hierarchy *h, unsigned core, uint64_t line);
int vs_hierarchy_load_miss(struct vs_hierarchy *h, unsigned core, uint64_t line);
int vs_hierarchy_store_miss(struct vs_hierarchy *h, unsigned core, uint64_t line);
int vs_hierarchy_load_span(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size);
int vs_hierarchy_store_span(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size);

/* Fetches the line that the address is in. */
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

/* Returns -VSE_INVAL with check, which needs the bytes. */
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

/* The core does a fence.i: drops everything that its L1I holds. */
void vs_hierarchy_fence_i(struct vs_hierarchy *h, unsigned core);

/* Something outside the cores has just written [addr, addr + size): every copy of these lines is
 * dropped from all caches, after dirty ones are written to memory. To be called also for memory
 * that was mapped or unmapped. The range must not wrap. Returns 0, or with check an error. */
int vs_hierarchy_outside(struct vs_hierarchy *h, uint64_t addr, uint64_t size);

/* A load and a store for use with check. The load compares the bytes that it gets with those that
 * it should get. Both check the lines that they access: there is one writer or any number of
 * readers, all copies are equal, L1 lines are in the L2, and clean ones equal what is below. They
 * return what the accesses above do; -VSE_INTERNAL, where h->diag tells the core, the address, what
 * was expected and what there is; -VSE_INVAL without check. */
int vs_hierarchy_load_checked(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                              const void *expected);
int vs_hierarchy_store_checked(struct vs_hierarchy *h, unsigned core, uint64_t addr, unsigned size,
                               const void *bytes);

/* Checks every line in every cache as above, the data only with check. Returns 0; -VSE_INTERNAL,
 * with h->diag. */
int vs_hierarchy_check(struct vs_hierarchy *h);

#endif
