/* SPDX-License-Identifier: MIT */
/* Counting what the events of a run are: the figures of `vestige info`. */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "vestige/event.h"

/* Distinct numbers that a tally tells apart, at most; a file can hold any number. */
#define STATS_TALLY_MAX 1024

/* Operand sizes 1, 2, 4, 8, 10, 16, 32, and other. */
enum { STATS_SIZES = 8 };

/* Classes of branches. The last does not exist on every ISA. */
enum stats_class {
    STATS_COND_TAKEN,
    STATS_COND_NOT_TAKEN,
    STATS_DIRECT,
    STATS_INDIRECT,
    STATS_COND_INDIRECT,
    STATS_CLASSES
};

struct stats_number {
    uint64_t number, count;
};

/* How often each of some numbers occurs. */
struct stats_tally {
    struct vs_map counts; /* by number */
    uint64_t untold;      /* the others, beyond STATS_TALLY_MAX */
};

/* All zero is a valid start. To be freed with stats_fini. */
struct stats {
    uint64_t kinds[16];
    uint64_t branches[VS_BR_ALL + 1]; /* by flags */
    uint64_t sizes[2][256]
                  [VS_MEM_ALL + 1]; /* [0] loads, [1] stores; by size, 0 if 256 up; by flags */
    uint64_t operand_bytes[2];
    uint64_t external_bytes;
    uint64_t gap_instructions;
    struct stats_tally syscalls;
    struct stats_tally causes; /* of exceptions */
    uint64_t causeless;        /* exceptions that tell none */
};

_Static_assert(VS_KIND_END <= 16, "every kind has a counter");

/* Returns 0; -VSE_NOMEM. */
int stats_add(struct stats *s, const struct vs_batch *batch);
void stats_fini(struct stats *s);

/* Sums over the counters. */
uint64_t stats_branch_class(const struct stats *s, enum stats_class c);
uint64_t stats_operands(const struct stats *s, bool stores, unsigned size_class);
uint64_t stats_flagged(const struct stats *s, bool stores, unsigned flag);

/* "1", "2", ... "other"; static storage. */
const char *stats_size_name(unsigned size_class);

/* Branches by the name of vs_branch_name: the six plain ones always and first, others as they
 * occur. Fills at most 32 rows, returns how many. */
struct stats_named {
    const char *name;
    uint64_t count;
};
unsigned stats_branch_kinds(const struct stats *s, struct stats_named rows[32]);

/* The n most frequent numbers, most frequent first, ties by number. Returns how many. */
unsigned stats_top(const struct stats_tally *t, struct stats_number *top, unsigned n);

#endif
