/* SPDX-License-Identifier: MIT */
/* Counts what a run's events are: the figures of `vestige info`. */
#ifndef STUDY_EVENT_COUNTS_H
#define STUDY_EVENT_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "vestige/event.h"

/* How many distinct numbers a tally tells apart at most; a file can hold any number of them. */
#define VS_COUNT_TALLY_MAX 1024

/* Operand sizes 1, 2, 4, 8, 10, 16, 32, and other. */
enum { VS_SIZE_CLASSES = 8 };

/* Classes of branches. The last does not exist on every ISA. */
enum vs_branch_class {
    VS_CLASS_COND_TAKEN,
    VS_CLASS_COND_NOT_TAKEN,
    VS_CLASS_DIRECT,
    VS_CLASS_INDIRECT,
    VS_CLASS_COND_INDIRECT,
    VS_BRANCH_CLASSES
};

struct vs_count_number {
    uint64_t number, count;
};

/* How often each of some numbers occurs. */
struct vs_count_tally {
    struct vs_map counts; /* by number */
    uint64_t untold;      /* occurrences of all others, beyond VS_COUNT_TALLY_MAX */
};

/* A zeroed struct is a valid start; it is freed with vs_event_counts_fini. */
struct vs_event_counts {
    uint64_t kinds[32];
    uint64_t branches[VS_BR_ALL + 1];       /* by flags */
    uint64_t sizes[2][256][VS_MEM_ALL + 1]; /* [loads, stores][size, 0 from 256 up][flags] */
    uint64_t operand_bytes[2];
    uint64_t external_bytes;
    uint64_t gap_instructions;
    struct vs_count_tally syscalls;
    struct vs_count_tally causes; /* of exceptions */
    uint64_t causeless;           /* exceptions that do not tell their cause */
};

_Static_assert(VS_KIND_END <= 32, "every kind has a counter");

/* Returns 0; -VSE_NOMEM. */
int vs_event_counts_add(struct vs_event_counts *s, const struct vs_batch *batch);
void vs_event_counts_fini(struct vs_event_counts *s);

/* Sums over the counters. */
uint64_t vs_event_counts_branch_class(const struct vs_event_counts *s, enum vs_branch_class c);
uint64_t vs_event_counts_operands(const struct vs_event_counts *s, bool stores,
                                  unsigned size_class);
uint64_t vs_event_counts_flagged(const struct vs_event_counts *s, bool stores, unsigned flag);

/* "1", "2", ... "other", in static storage. */
const char *vs_event_counts_size_name(unsigned size_class);

/* Counts branches by their vs_branch_name. The six plain ones always come, and come first; the
 * others come if they occur. Fills at most 32 rows and returns how many. */
struct vs_count_named {
    const char *name;
    uint64_t count;
};
unsigned vs_event_counts_branch_kinds(const struct vs_event_counts *s,
                                      struct vs_count_named rows[32]);

/* Fills in the n most frequent numbers, the most frequent first, and those that are as frequent by
 * number. Returns how many there are. */
unsigned vs_event_counts_top(const struct vs_count_tally *t, struct vs_count_number *top,
                             unsigned n);

#endif
