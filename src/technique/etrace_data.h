/* SPDX-License-Identifier: MIT */
/* The data packets of RISC-V Efficient Trace 2.0 (te_data), of loads and stores, in the unified
 * style:
 *
 *   format size diff address   with addresses only
 *
 * format says whether it is a load or a store, and whether the address is a multiple of the size;
 * then it is shifted right by that. Packets are serialised like te_inst (technique/etrace_bits.h),
 * and each follows a byte with its length. */
#ifndef TECHNIQUE_ETRACE_DATA_H
#define TECHNIQUE_ETRACE_DATA_H

#include "technique/etrace_bits.h"

/* What sizes the fields. */
struct vs_etrace_data_layout {
    unsigned address_bits; /* daddress_width_p */
    unsigned size_bits;
    unsigned size_max; /* log2 of the widest transfer's bytes */
};

/* data_bytes is data_width_p / 8: 1 to 64, a power of two. */
struct vs_etrace_data_layout vs_etrace_data_layout(uint64_t data_bytes, unsigned address_bits);

/* Returns log2 of a transfer's bytes, the first one of an operand that is not moved at once. */
unsigned vs_etrace_data_size(const struct vs_etrace_data_layout *layout, uint64_t bytes);

struct vs_etrace_data_packet {
    bool store, unaligned;
    uint8_t size;     /* log2 of the bytes */
    bool differs;     /* the address is a difference */
    uint64_t address; /* as it is sent */
};

void vs_etrace_data_pack(const struct vs_etrace_data_layout *layout,
                         const struct vs_etrace_data_packet *p, struct vs_etrace_bits *bits);

/* Puts a packet, and the byte before it. */
void vs_etrace_data_put(struct vs_port_writer *w, const struct vs_etrace_bits *bits);

/* Reads both. Returns 0; -VSE_TRUNCATED; -VSE_CORRUPT. */
int vs_etrace_data_get(struct vs_port_reader *r, const struct vs_etrace_data_layout *layout,
                       struct vs_etrace_data_packet *p);

#endif
