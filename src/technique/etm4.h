/* SPDX-License-Identifier: MIT */
/* Arm's Embedded Trace Macrocell, version 4 (ETMv4): what the encoder (etm4_encoder.c) and the
 * decoder (etm4_decoder.c) agree on.
 *
 * Each core has a stream of packets, which are whole bytes:
 *
 *   atoms       one for every branch, direct jumps and calls included: model/atoms.h
 *   address     where a taken indirect branch goes, unless the return stack says so; with branch
 *               broadcasting, where every taken branch goes
 *   exception   06 type, and two addresses: where control left, and where it went. There is no
 *               second one if the core halts, which stands for a core's end and for a gap
 *   trace on    04, and an address with context: a core begins, or goes on after a gap
 *   A-Sync      eleven times 00, and 80; Trace Info follows, and trace on or an address with
 * context Trace Info  01 01 00, or 01 09 01 and the threshold if cycles are counted cycle count 0E
 * n, 0F or 1n: so many cycles since the last cycle count, less the threshold; 0F: more than the
 * counter holds timestamp   02 t, or 03 t n if cycles are counted, n of them since the last cycle
 * count
 *
 * Nothing is speculative: the module traces what has retired, so that every element is committed as
 * it comes (TRCIDR8 is 0), and cycle counts have no number of commits (TRCIDR0.COMMOPT is 1).
 *
 * Addresses go out as the standard has them for instructions at even addresses (IS1) or at
 * multiples of four (IS0). An ISA whose instructions lie anywhere uses IS1 for twice the address.
 */
#ifndef TECHNIQUE_ETM4_H
#define TECHNIQUE_ETM4_H

#include "model/recent.h"
#include "technique/technique.h"

/* The technique's parameters. */
struct vs_etm4_params {
    uint64_t stack;     /* entries of the return stack */
    uint64_t broadcast; /* enum vs_etm4_switch */
    uint64_t context;   /* enum vs_etm4_context */
    uint64_t sync;      /* bytes from one synchronisation point to the next; 0: only at the start */
    uint64_t cycles;    /* enum vs_etm4_switch: cycles are counted, if the stream is timed */
    uint64_t threshold; /* cycles that are counted at least */
    uint64_t cycle_bits; /* of the counter of cycles */
    uint64_t formatter;  /* enum vs_etm4_switch: port/coresight.h carries the stream */
};

enum vs_etm4_switch { VS_ETM4_OFF, VS_ETM4_ON };
enum vs_etm4_context { VS_ETM4_STATE, VS_ETM4_CORE };

enum {
    VS_ETM4_STACK_MAX = 15,
    VS_ETM4_CYCLE_BITS_MIN = 12,
    VS_ETM4_CYCLE_BITS_MAX = 20,
    VS_ETM4_ZEROS = 11, /* of A-Sync */
    VS_ETM4_NEAR = 3,   /* cycles above the threshold that a packet of one byte counts */
};

/* First bytes. */
enum {
    VS_ETM4_ASYNC = 0x00,
    VS_ETM4_ASYNC_END = 0x80,
    VS_ETM4_INFO = 0x01,
    VS_ETM4_TIME = 0x02, /* + 1 if it has a cycle count */
    VS_ETM4_TRACE_ON = 0x04,
    VS_ETM4_EXCEPTION = 0x06,
    VS_ETM4_CYCLES_FAR = 0x0E, /* + 1 if they are not known */
    VS_ETM4_CYCLES_NEAR = 0x10,
    VS_ETM4_CONTEXT = 0x85, /* an address of 64 bits with context: + 1 for IS1, as below */
    VS_ETM4_MATCH = 0x90,   /* + place: the address is one of the last three */
    VS_ETM4_SHORT = 0x95,
    VS_ETM4_LONG_32 = 0x9A,
    VS_ETM4_LONG_64 = 0x9D,
    VS_ETM4_ATOMS = 0xC0, /* and above */
};

/* Types of exceptions: twice the number, and 1 for "an address follows, up to which instructions
 * were executed". */
enum { VS_ETM4_HALT = 0x03, VS_ETM4_CALL = 0x05, VS_ETM4_INTERRUPT = 0x1D };

/* The context's first byte: not secure, 64 bits, EL0; and whether a number of 4 bytes follows. */
enum { VS_ETM4_EL0 = 0x30, VS_ETM4_NUMBERED = 0x80 };

/* An address as packets carry it. */
struct vs_etm4_form {
    bool twice;     /* the address is sent times two */
    unsigned shift; /* low bits that are not sent: 1 (IS1) or 2 (IS0) */
};

struct vs_etm4_form vs_etm4_form(const struct vs_technique_setup *setup);

/* Turns an address into what packets carry. Returns whether they can. */
static inline bool vs_etm4_sendable(struct vs_etm4_form f, uint64_t address, uint64_t *sent)
{
    *sent = f.twice ? address << 1 : address;
    return f.twice ? (int64_t)*sent >> 1 == (int64_t)address
                   : !(address & ((UINT64_C(1) << f.shift) - 1));
}

static inline uint64_t vs_etm4_received(struct vs_etm4_form f, uint64_t sent)
{
    return f.twice ? (uint64_t)((int64_t)sent >> 1) : sent;
}

static inline unsigned vs_etm4_is1(struct vs_etm4_form f)
{
    return f.shift == 1;
}

/* The kinds of address packets, and how many bytes follow the first. */
enum vs_etm4_address {
    VS_ETM4_ADDRESS_MATCH,   /* 0 */
    VS_ETM4_ADDRESS_SHORT_1, /* 1: 7 bits */
    VS_ETM4_ADDRESS_SHORT_2, /* 2: 15 bits */
    VS_ETM4_ADDRESS_32,      /* 4 */
    VS_ETM4_ADDRESS_64,      /* 8 */
};

/* Returns the shortest packet for an address, as it is sent, after those; `place` is where it is
 * among them. */
static inline enum vs_etm4_address vs_etm4_shortest(const struct vs_recent *recent,
                                                    struct vs_etm4_form f, uint64_t sent,
                                                    unsigned place)
{
    uint64_t differs = recent->addresses[0] ^ sent;
    if (place < VS_RECENT_SIZE)
        return VS_ETM4_ADDRESS_MATCH;
    return !recent->count                 ? VS_ETM4_ADDRESS_64
           : !(differs >> (7 + f.shift))  ? VS_ETM4_ADDRESS_SHORT_1
           : !(differs >> (15 + f.shift)) ? VS_ETM4_ADDRESS_SHORT_2
           : !(differs >> 32)             ? VS_ETM4_ADDRESS_32
                                          : VS_ETM4_ADDRESS_64;
}

/* Returns how many bytes a timestamp has after another, or after 0 if none is known. */
unsigned vs_etm4_time_bytes(uint64_t last, uint64_t time);

extern const struct vs_encoder_ops vs_etm4_encoder;
extern const struct vs_flow_decoder_ops vs_etm4_decoder;

#endif
