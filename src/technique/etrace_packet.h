/* SPDX-License-Identifier: MIT */
/* The packets of RISC-V Efficient Trace 2.0 (te_inst), bit for bit.
 *
 *   F0.0 count        format [subformat] branch_count branch_fmt [address flags]
 *   F0.1 index        format [subformat] index branches [branch_map] irreport irets
 *   F1 map            format branches branch_map [address flags]
 *   F2 address        format address flags
 *   F3.0 sync         format subformat branch privilege [context] address
 *   F3.1 trap         format subformat branch privilege [context] ecause interrupt thaddr
 *                     [address] [tval]
 *   F3.3 support      format subformat ienable mode qual_status ioptions denable dloss doptions
 *   flags             notify updiscon irreport irets
 *
 * A packet's top bits that are alike are dropped but for one, and the rest is filled to whole bytes
 * with copies of it. Flags are coded as differences from the bit before, so that they cost nothing
 * if they are not set. `irets` are the returns that were not reported since the last branch or
 * packet: what the standard calls irdepth cannot be decoded, and this is its proposed correction.
 */
#ifndef TECHNIQUE_ETRACE_PACKET_H
#define TECHNIQUE_ETRACE_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "technique/etrace_bits.h"

/* What sizes the fields. */
struct vs_etrace_layout {
    unsigned address_bits;   /* iaddress_width_p - iaddress_lsb_p */
    unsigned privilege_bits; /* 2 */
    unsigned context_bits;   /* context_width_p, or 0 if there is none */
    unsigned cause_bits;     /* ecause_width_p */
    unsigned index_bits;     /* cache_size_p */
    unsigned subformat_bits; /* f0s_width_p */
    unsigned irets_bits;     /* 0 without implicit returns */
    bool indexes;            /* format 0 is F0.1, if there is no subformat */
    bool implicit_trap;      /* F3.1 has no address if that is the trap handler's */
};

enum { VS_ETRACE_SYNC, VS_ETRACE_TRAP, VS_ETRACE_CONTEXT, VS_ETRACE_SUPPORT };
enum { VS_ETRACE_COUNT, VS_ETRACE_INDEX };
enum { VS_ETRACE_ENDED_REP = 1, VS_ETRACE_ENDED_NTR = 3 };
enum { VS_ETRACE_MAP_MAX = 31, VS_ETRACE_IRETS_MAX = 255 };

struct vs_etrace_packet {
    uint8_t format, subformat;
    bool has_address;        /* F0.0, F1, F3.1 */
    bool notify, updiscon;   /* F0.0, F1, F2 */
    bool irreport;           /* F0, F1, F2 */
    uint8_t irets;           /* if irreport */
    uint8_t branches;        /* F0.1: 0 to 31; F1: 1 to 31, or 31 without address */
    uint32_t map;            /* bit 0 is the oldest; 1: not taken */
    uint32_t count;          /* F0.0: branches predicted right, minus 31 */
    bool wrong;              /* F0.0 with address: the branch there was mispredicted */
    uint32_t index;          /* F0.1 */
    bool branch;             /* F3.0, F3.1: not a branch that is taken */
    bool thaddr;             /* F3.1 */
    bool interrupt;          /* F3.1 */
    uint8_t privilege;       /* F3.0, F3.1 */
    uint32_t cause;          /* F3.1 */
    bool enabled;            /* F3.3 */
    uint8_t status, options; /* F3.3 */
    uint64_t address;        /* as it is sent: shifted, and absolute or a difference */
};

/* Whether it belongs to the sync group. */
static inline bool vs_etrace_is_sync(const struct vs_etrace_packet *p)
{
    return p->format == 3;
}

void vs_etrace_pack(const struct vs_etrace_layout *layout, const struct vs_etrace_packet *p,
                    struct vs_etrace_bits *bits);

/* Puts, in one go, what most packets with an address are: F1 or F2, with no flag set. `head` is the
 * byte before the packet, without the length. Returns whether it is such a packet; if not, nothing
 * is put. */
bool vs_etrace_put_plain(struct vs_port_writer *w, const struct vs_etrace_layout *layout,
                         unsigned head, unsigned branches, uint32_t map, uint64_t address);

/* Reads a packet of that many bytes. Returns 0; -VSE_TRUNCATED; -VSE_CORRUPT (no packet is like
 * that, or it could be shorter). */
int vs_etrace_get(struct vs_port_reader *r, const struct vs_etrace_layout *layout, unsigned bytes,
                  struct vs_etrace_packet *p);

#endif
