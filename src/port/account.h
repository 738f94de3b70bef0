/* SPDX-License-Identifier: MIT */
/* Bits by field and core, and how long the numbers were. */
#ifndef PORT_ACCOUNT_H
#define PORT_ACCOUNT_H

#include <stdint.h>

#include "port/code.h"
#include "port/field.h"

/* Of one core, or a sum. */
struct vs_port_counts {
    uint64_t bits[VS_FIELD_END];
    uint64_t frame; /* of all these: encapsulation */
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

/* The bits that these numbers take in a code; signs are not part of it. Of a unary code that cannot
 * hold one of them: UINT64_MAX. */
uint64_t vs_lengths_chunks_bits(const struct vs_lengths *l, struct vs_chunks c);
uint64_t vs_lengths_unary_bits(const struct vs_lengths *l, struct vs_unary u);

/* The cheapest code with parameters of 1 to `most` (64 at most); of equals the one with the smaller
 * first, then the smaller second parameter. Returns its bits. */
uint64_t vs_lengths_best_chunks(const struct vs_lengths *l, unsigned most, struct vs_chunks *best);
uint64_t vs_lengths_best_unary(const struct vs_lengths *l, unsigned most, struct vs_unary *best);

#endif
