/* SPDX-License-Identifier: MIT */
/* The data packets of RISC-V Efficient Trace 2.0 (te_data), of loads and stores, in the unified
 * style:
 *
 *   format size diff address   with addresses only
 *   format size diff data      with data only
 *
 * format says whether it is a load or a store, and whether the address is a multiple of the size;
 * then it is shifted right by that. Packets are serialised like te_inst (technique/etrace_bits.h),
 * and each follows a byte with its length. */
#ifndef TECHNIQUE_ETRACE_DATA_H
#define TECHNIQUE_ETRACE_DATA_H

#include "technique/etrace_bits.h"

/* What sizes the fields. */
struct vs_etrace_data_layout {
    enum vs_field field; /* the last one: VS_FIELD_ADDRESS or VS_FIELD_VALUE */
    unsigned bits;       /* its width: daddress_width_p or data_width_p */
    unsigned size_bits;
    unsigned size_max; /* log2 of the widest transfer's bytes */
};

/* data_bytes is data_width_p / 8: 1 to 64, a power of two. */
struct vs_etrace_data_layout vs_etrace_data_layout(uint64_t data_bytes, enum vs_field field,
                                                   unsigned bits);

/* Returns log2 of a transfer's bytes, the first one of an operand that is not moved at once. */
unsigned vs_etrace_data_size(const struct vs_etrace_data_layout *layout, uint64_t bytes);

struct vs_etrace_data_packet {
    bool store, unaligned;
    uint8_t size;     /* log2 of the bytes */
    bool differs;     /* from the last one of the same size */
    uint64_t content; /* of the last field, as it is sent */
};

void vs_etrace_data_pack(const struct vs_etrace_data_layout *layout,
                         const struct vs_etrace_data_packet *p, struct vs_etrace_bits *bits);

/* What the last field has: what differs, everything, or whichever is shorter. */
enum vs_etrace_data_mode { VS_ETRACE_DATA_DIFFERS, VS_ETRACE_DATA_FULL, VS_ETRACE_DATA_SHORTER };

/* Packs a packet that has everything, or makes it the one that has what differs. */
void vs_etrace_data_choose(const struct vs_etrace_data_layout *layout,
                           enum vs_etrace_data_mode mode, uint64_t differs,
                           struct vs_etrace_data_packet *p, struct vs_etrace_bits *bits);

/* Puts a packet, and the byte before it. */
void vs_etrace_data_put(struct vs_port_writer *w, const struct vs_etrace_bits *bits);

/* Read that byte, and then the packet. Both return 0; -VSE_TRUNCATED; -VSE_CORRUPT. */
int vs_etrace_data_head(struct vs_port_reader *r, unsigned *bytes);
int vs_etrace_data_get(struct vs_port_reader *r, const struct vs_etrace_data_layout *layout,
                       unsigned bytes, struct vs_etrace_data_packet *p);

#endif
