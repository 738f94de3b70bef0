/* SPDX-License-Identifier: MIT */
/* Intel Processor Trace: what the encoder (pt_encoder.c) and the decoder (pt_decoder.c) agree on.
 *
 * Each core has a stream of packets, which are whole bytes:
 *
 *   TNT             outcomes: of conditional branches, and a 1 for each return that goes where the
 *                   stack of calls says; up to 6 in a byte, or up to 47 in 8 bytes
 *   TIP             the target of any other indirect branch
 *   FUP TIP         control left that address for another one: an exception
 *   TIP.PGD TIP.PGE a system call, and where the core goes on after it
 *   [FUP] TIP.PGD   the core ends, or its recording does: after a system call, or else at the FUP's
 *                   address
 *   PSB ... PSBEND MODE TIP.PGE
 *                   the core begins, or its recording does
 *   PSB ... MODE FUP PSBEND
 *                   a synchronisation point
 *
 * In a timed stream CYC has the cycles since the last CYC or TSC, and TSC has the cycle. With MTC,
 * what a clock counts that ticks more slowly is told periodically: MTC has 8 bits of its count,
 * when the lowest of them has changed, and TMA, behind each TSC, how the count and the cycle lie to
 * each other.
 *
 * An instruction pointer is told as what differs from the last one that was told.
 *
 * An instruction that repeats itself is counted when it begins. PT does not tell whether one that
 * was interrupted had begun; here, a PAD before the FUP says so, and other decoders ignore it. */
#ifndef TECHNIQUE_PT_H
#define TECHNIQUE_PT_H

#include "technique/technique.h"

enum vs_pt_tnt { VS_PT_SHORT, VS_PT_LONG };
enum vs_pt_time { VS_PT_CYC, VS_PT_TSC };
enum vs_pt_accepts { VS_PT_EXACT, VS_PT_ANY };

/* The technique's parameters. */
struct vs_pt_params {
    uint64_t tnt;      /* enum vs_pt_tnt */
    uint64_t deferred; /* targets that may wait until a TNT is full */
    uint64_t stack;    /* entries of the stack of calls; 0: returns are not compressed */
    uint64_t psb;      /* bytes from one PSB to the next; 0: only where a core begins */
    uint64_t time;     /* enum vs_pt_time, if the stream is timed */
    uint64_t mtc;      /* ticks of the crystal clock from one MTC to the next; 0: there is none */
    uint64_t crystal;  /* cycles of a tick */
    uint64_t accepts;  /* enum vs_pt_accepts: the decoder reads only what the encoder writes, or all
                        * that PT has */
};

enum {
    VS_PT_STACK_MAX = 64,
    VS_PT_DEFERRED_MAX = 64,
    VS_PT_SHORT_BITS = 6,
    VS_PT_LONG_BITS = 47,
    VS_PT_PSB_PAIRS = 8,
    VS_PT_MTC_MAX = 1 << 15, /* ticks from one MTC to the next */
    VS_PT_CRYSTAL_MAX = 511, /* cycles of a tick, which a TMA can tell */
    VS_PT_MTC_SILENT = 256,  /* so many MTCs could not be told from none */
    VS_PT_CLOCK_BITS = 23,   /* of the crystal clock's count that an MTC may have */
};

/* First bytes; the second byte of those that begin with VS_PT_EXT. */
enum {
    VS_PT_PAD = 0x00,
    VS_PT_EXT = 0x02,
    VS_PT_TSC_BYTE = 0x19,
    VS_PT_MTC_BYTE = 0x59,
    VS_PT_MODE = 0x99,

    VS_PT_EXT_TRACESTOP = 0x83,
    VS_PT_EXT_CBR = 0x03,
    VS_PT_EXT_PSB = 0x82,
    VS_PT_EXT_PSBEND = 0x23,
    VS_PT_EXT_OVF = 0xf3,
    VS_PT_EXT_TNT = 0xa3,
    VS_PT_EXT_PIP = 0x43,
    VS_PT_EXT_TMA = 0x73,
    VS_PT_EXT_MNT = 0xc3,
    VS_PT_EXT_VMCS = 0xc8,
};

/* The low 5 bits of the first byte of a packet with an instruction pointer; the code of its length
 * is in the others. */
enum {
    VS_PT_TIP_PGD = 0x01,
    VS_PT_TIP = 0x0d,
    VS_PT_TIP_PGE = 0x11,
    VS_PT_FUP = 0x1d,
};

enum { VS_PT_MODE_64 = 0x01 }; /* MODE.Exec's second byte */

static inline uint64_t vs_pt_sign_extend(uint64_t ip)
{
    return (uint64_t)((int64_t)(ip << 16) >> 16);
}

/* Returns the code of the shortest form in which `ip` can follow `last`. */
static inline unsigned vs_pt_ip_code(uint64_t last, uint64_t ip)
{
    unsigned part = (63 - (unsigned)__builtin_clzll((last ^ ip) | 1)) / 16; /* that differs */
    if (part < 2)
        return part + 1;
    return vs_pt_sign_extend(ip) == ip ? 3 : part == 2 ? 4 : 6;
}

/* Returns how many bytes an instruction pointer of that code has; -VSE_CORRUPT (no such code). */
static inline int vs_pt_ip_bytes(unsigned code)
{
    static const int8_t bytes[8] = {0, 2, 4, 6, 6, -VSE_CORRUPT, 8, -VSE_CORRUPT};
    return bytes[code & 7];
}

/* Returns how many cycles are from one MTC to the next. */
static inline uint64_t vs_pt_mtc_period(const struct vs_pt_params *p)
{
    return p->mtc * p->crystal;
}

/* Returns the cycle after `cycle` at which the next MTC is due. */
static inline uint64_t vs_pt_mtc_next(const struct vs_pt_params *p, uint64_t cycle)
{
    return (cycle / vs_pt_mtc_period(p) + 1) * vs_pt_mtc_period(p);
}

/* Returns what an MTC has that is due at that cycle: 8 bits of the clock's count. */
static inline uint64_t vs_pt_mtc_payload(const struct vs_pt_params *p, uint64_t cycle)
{
    return cycle / vs_pt_mtc_period(p) & 0xff;
}

/* Returns the 5 bytes of a TMA at that cycle: the clock's count and, behind a byte of 0, the cycles
 * since it ticked. */
static inline uint64_t vs_pt_tma_payload(const struct vs_pt_params *p, uint64_t cycle)
{
    return (cycle / p->crystal & 0xffff) | cycle % p->crystal << 24;
}

/* The ratio of a CBR: cycles of the core to ticks, as far as its 8 bits can say. */
static inline uint64_t vs_pt_cbr_payload(const struct vs_pt_params *p)
{
    return p->crystal < 0xff ? p->crystal : 0xff;
}

/* Returns how many outcomes the short form still has, which is then no longer than the long one;
 * `waiting` targets are to follow one packet. */
static inline unsigned vs_pt_long_least(const struct vs_pt_params *p, uint64_t waiting)
{
    return p->deferred && waiting ? VS_PT_SHORT_BITS : 7 * VS_PT_SHORT_BITS;
}

extern const struct vs_encoder_ops vs_pt_encoder_ops;      /* pt_encoder.c */
extern const struct vs_flow_decoder_ops vs_pt_decoder_ops; /* pt_decoder.c */

#endif
