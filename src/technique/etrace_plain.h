/* SPDX-License-Identifier: MIT */
/* What most packets of RISC-V Efficient Trace are: F1 or F2, with an address and no flag that is
 * set. They are made in one go.
 *
 * Flags that are not set, and all bits after them, are copies of the address's last bit. So what is
 * sent is the address with its sign, below it the map, and what the sign repeats is left out, which
 * an address that is nothing but its sign may go on with into the map. */
#ifndef TECHNIQUE_ETRACE_PLAIN_H
#define TECHNIQUE_ETRACE_PLAIN_H

#include "base/likely.h"
#include "technique/etrace_packet.h"

enum { VS_ETRACE_PLAIN_HEAD = 8 }; /* bits of the byte before a packet */

/* A packet and the byte before it. */
struct vs_etrace_plain {
    uint64_t bits, above; /* the first 64, and those after them */
    unsigned bytes;       /* of the packet */
    unsigned before;      /* bits before the address, */
    unsigned map;         /* and those of the map among them */
};

/* Makes a packet as vs_etrace_put_plain does. Returns whether there is one. */
static inline bool vs_etrace_pack_plain(const struct vs_etrace_layout *layout, unsigned head,
                                        unsigned branches, uint32_t map, uint64_t address,
                                        struct vs_etrace_plain *p)
{
    enum { HEAD = VS_ETRACE_PLAIN_HEAD, FORMAT = 2, BRANCHES = 5 };
    static const uint8_t widths[VS_ETRACE_MAP_MAX + 1] = {
        0,  1,  3,  3,  7,  7,  7,  7,  15, 15, 15, 15, 15, 15, 15, 15,
        31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31};
    unsigned unused = 64 - layout->address_bits, width = widths[branches];
    unsigned before = branches ? FORMAT + BRANCHES + width : FORMAT;
    uint64_t low = branches ? 1 | branches << FORMAT | (uint64_t)map << (FORMAT + BRANCHES) : 2;
    int64_t value = (int64_t)(address << unused) >> unused;
    uint64_t sign = (uint64_t)(value >> 63), differs = (uint64_t)value ^ sign;
    uint64_t whole = low | (uint64_t)value << before;
    unsigned size; /* in bits, without the sign */
    if (likely(differs)) {
        size = before + 64 - (unsigned)__builtin_clzll(differs);
    } else {
        size = 64 - (unsigned)__builtin_clzll(whole ^ sign);
        if (unlikely(8 * (size / 8 + 1) < before))
            return false;
    }
    unsigned bytes = size / 8 + 1;
    *p = (struct vs_etrace_plain){
        .bits = head | bytes | whole << HEAD, .bytes = bytes, .before = before, .map = width};
    if (likely(bytes < 8))
        p->bits &= ~UINT64_C(0) >> (64 - HEAD - 8 * bytes);
    else
        p->above = (whole >> (64 - HEAD) | (uint64_t)(value >> (64 - before)) << HEAD) &
                   (~UINT64_C(0) >> (128 - HEAD - 8 * bytes));
    return true;
}

/* How many bits there are in `bits`, and in `above`. */
static inline unsigned vs_etrace_plain_first(const struct vs_etrace_plain *p)
{
    return p->bytes < 8 ? VS_ETRACE_PLAIN_HEAD + 8 * p->bytes : 64;
}

static inline unsigned vs_etrace_plain_second(const struct vs_etrace_plain *p)
{
    return p->bytes < 8 ? 0 : VS_ETRACE_PLAIN_HEAD + 8 * p->bytes - 64;
}

/* What the bits of several packets are for. */
struct vs_etrace_tally {
    uint64_t packets, bytes, before, map; /* as in vs_etrace_plain */
    uint64_t beyond;                      /* bits after the address and notify and updiscon */
};

static inline void vs_etrace_tally(struct vs_etrace_tally *t, const struct vs_etrace_layout *layout,
                                   const struct vs_etrace_plain *p)
{
    unsigned target = 8 * p->bytes - p->before, most = layout->address_bits + 2;
    t->packets++;
    t->bytes += p->bytes;
    t->before += p->before;
    t->map += p->map;
    if (unlikely(target > most))
        t->beyond += target - most;
}

void vs_etrace_count_plain(struct vs_port_counts *counts, const struct vs_etrace_tally *t);

#endif
