/* SPDX-License-Identifier: MIT */
/* Where a run's loads and stores go: how local they are, which lines cores share, and which memory
 * is in use when.
 *
 * The caches are models of their own, whatever the run was recorded on: each core has one of 32 KiB
 * with four ways and lines of 64 bytes, kept coherent by MOESI; and all cores together have one of
 * each size of a row, which shows how the rate of misses falls with the size. */
#ifndef PAGE_MEMORY_H
#define PAGE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "model/cache.h"
#include "model/moesi.h"
#include "vestige/run.h"

enum {
    PAGE_LINE = 64,
    PAGE_CURVE = 7,        /* sizes */
    PAGE_CURVE_FIRST = 10, /* 2^10 bytes; each further one is four times as large */
    PAGE_HEAT_TIMES = 128,
    PAGE_HEAT_ROWS = 4096,   /* granules of memory that are told apart at most */
    PAGE_HEAT_GRANULE = 12,  /* the smallest: 2^12 bytes */
    PAGE_LINES_MAX = 1 << 18 /* lines that are told apart at most */
};

extern const struct vs_cache_config page_cache;

/* A line of memory. A core that only ever wrote it within its own cache counts as a writer as soon
 * as somebody else has to get the line from it. */
struct page_line {
    uint64_t readers, writers; /* cores, by bit */
    uint64_t moved;            /* times that it came from another core's cache */
    uint64_t lost;             /* copies that others lost because of a write */
};

struct page_heat_row {
    uint64_t granule; /* its address, shifted */
    uint64_t loads[PAGE_HEAT_TIMES], stores[PAGE_HEAT_TIMES];
};

struct page_memory_core {
    uint64_t accesses, misses, upgrades;
};

/* What an access was. */
struct page_access {
    unsigned misses, coherence;
};

struct page_memory {
    unsigned cores;
    uint64_t loads, stores; /* operands */
    uint64_t touched;       /* lines that operands touched, one by one */
    bool shared;            /* the cores have caches, which are not too many */
    struct page_memory_core *core;
    uint64_t *moved;         /* [from * cores + to]: lines */
    struct page_line *lines; /* in the order in which they were met */
    size_t line_count, line_capacity;
    uint64_t lines_untold;      /* accesses to further ones that a core's cache did not have */
    struct vs_map line_numbers; /* by address: the number, plus 1 */
    uint64_t *line_addresses;
    size_t address_capacity;
    uint64_t curve_misses[PAGE_CURVE];
    struct page_heat_row *heat;
    size_t heat_count, heat_capacity;
    unsigned granule; /* log2 of bytes */

    /* private */
    struct vs_moesi group;
    struct vs_cache curve[PAGE_CURVE];
    unsigned curve_made;
    struct vs_map heat_numbers; /* by granule: the row, plus 1 */
    uint64_t last_granule;
    size_t last_row;
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case; it may also follow without init if the struct
 * was zeroed. */
int page_memory_init(struct page_memory *m, unsigned cores);
void page_memory_fini(struct page_memory *m);

/* Takes the run's next load or store, or what came from outside, at a time that is a share `now` of
 * `span`. Returns 0; -VSE_NOMEM. */
int page_memory_take(struct page_memory *m, const struct vs_event *e, uint64_t now, uint64_t span,
                     struct page_access *access);

#endif
