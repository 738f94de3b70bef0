/* SPDX-License-Identifier: MIT */
/* Counts bits by field and core, and how long the numbers were. */
#ifndef PORT_ACCOUNT_H
#define PORT_ACCOUNT_H

#include <stdint.h>

#include "port/code.h"
#include "port/field.h"

/* Holds one core's counts, or a sum of several cores'. */
struct vs_port_counts {
    uint64_t bits[VS_FIELD_END];
    uint64_t frame; /* how many of all these are encapsulation */
    uint64_t messages;
};

uint64_t vs_port_counts_bits(const struct vs_port_counts *c);
uint64_t vs_port_counts_payload(const struct vs_port_counts *c); /* without encapsulation */
void vs_port_counts_add(struct vs_port_counts *sum, const struct vs_port_counts *c);

/* How many numbers of each minimal bit length (0 for the number 0) a field carried. The cost of any
 * code for them follows without seeing them again. */
struct vs_lengths {
    uint64_t count[65];
};

static inline void vs_lengths_note(struct vs_lengths *l, uint64_t v)
{
    l->count[vs_bit_length(v)]++;
}

/* Return the bits that these numbers take in a code; signs are not part of it. A unary code that
 * cannot hold one of them yields UINT64_MAX. */
uint64_t vs_lengths_chunks_bits(const struct vs_lengths *l, struct vs_chunks c);
uint64_t vs_lengths_unary_bits(const struct vs_lengths *l, struct vs_unary u);

/* Find the cheapest code with parameters from 1 to `most` (64 at most). Of equally cheap codes they
 * take the one with the smaller first, then the smaller second parameter. Return its bits. */
uint64_t vs_lengths_best_chunks(const struct vs_lengths *l, unsigned most, struct vs_chunks *best);
uint64_t vs_lengths_best_unary(const struct vs_lengths *l, unsigned most, struct vs_unary *best);

#endif
