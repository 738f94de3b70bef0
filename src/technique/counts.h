/* SPDX-License-Identifier: MIT */
/* What an encoder met, as a table: rows name the numbers of a struct, so that whoever prints or
 * adds them need not know the struct. */
#ifndef TECHNIQUE_COUNTS_H
#define TECHNIQUE_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define VS_COUNTS_MAX 64

/* A row without a name ends a table. */
struct vs_count_row {
    const char *name;
    const char *help;
    size_t offset; /* in the struct */
};

struct vs_counts {
    const struct vs_count_row *rows; /* NULL: there are none yet */
    uint64_t values[VS_COUNTS_MAX];  /* starts with the struct */
};

struct vs_encoder_ops;

/* Takes an encoder's counts. */
void vs_counts_take(struct vs_counts *c, const struct vs_encoder_ops *ops, const void *encoder);

/* Returns the number of that name; 0 if there is no such row. */
uint64_t vs_counts_get(const struct vs_counts *c, const char *name);

/* Adds c to a sum that has the same rows or is zeroed. Counts without rows add nothing. */
void vs_counts_add(struct vs_counts *sum, const struct vs_counts *c);

#endif
