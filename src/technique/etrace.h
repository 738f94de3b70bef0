/* SPDX-License-Identifier: MIT */
/* What the encoder and the decoder of RISC-V Efficient Trace share: the choice of options, and the
 * structures that both sides keep alike. etrace_packet.h has the packets.
 *
 * Each core has a stream of packets, each of which follows a byte with its length. A core is traced
 * in user mode: it starts with a support packet and F3.0; whatever takes it elsewhere without a
 * branch (a signal, the return from it, a system call that is made again) is an interrupt, F3.1; it
 * ends with a support packet. If the address of the trap handler is known (tvec), F3.1 leaves it
 * out; a trap that leads elsewhere is then reported as one whose handler is not: by F3.1 with
 * thaddr 0 and no address, and by F3.0. In a timed run, the packets of starts, interrupts and ends
 * carry the cycle in their encapsulation. */
#ifndef TECHNIQUE_ETRACE_H
#define TECHNIQUE_ETRACE_H

#include "model/bht.h"
#include "model/jtc.h"
#include "model/ras.h"
#include "technique/etrace_packet.h"
#include "technique/technique.h"

enum vs_etrace_returns { VS_ETRACE_REPORTED, VS_ETRACE_COUNTED, VS_ETRACE_STACKED };

/* The numbers of a spec, in the order of etrace.c's table. */
struct vs_etrace_params {
    uint64_t implicit_return, depth, tvec, bpred, jtc, sijump, addresses, ecall, header, resync;
};

enum { VS_ETRACE_DELTA, VS_ETRACE_FULL };
enum { VS_ETRACE_ECALL_JUMP, VS_ETRACE_ECALL_PLAIN };

struct vs_etrace_config {
    struct vs_etrace_params params;
    struct vs_etrace_layout layout;
    unsigned shift;  /* of addresses: iaddress_lsb_p */
    uint64_t mask;   /* of addresses as they are sent */
    uint8_t kind;    /* what the encapsulation has above the length */
    uint8_t options; /* of support packets */
    bool timed;
};

struct vs_etrace_config vs_etrace_config(const struct vs_etrace_params *params,
                                         const struct vs_technique_setup *setup);

/* The encapsulation: bits of the length, and the one that says that a timestamp follows. */
enum { VS_ETRACE_LENGTH_BITS = 5, VS_ETRACE_EXTEND = 0x80, VS_ETRACE_TIME_BITS = 64 };

/* What a core's sides keep alike; sync packets clear all of it. */
struct vs_etrace_tables {
    struct vs_bht bht;
    struct vs_jtc jtc;
    struct vs_ras ras; /* the encoder's is not there if it only counts */
};

/* Returns 0; -VSE_NOMEM. fini is needed in any case. */
int vs_etrace_tables_init(struct vs_etrace_tables *t, const struct vs_etrace_config *config);
void vs_etrace_tables_fini(struct vs_etrace_tables *t);
void vs_etrace_tables_clear(struct vs_etrace_tables *t);

/* Returns the address of a packet, or the other way round; `last` is the last one in a packet. */
static inline uint64_t vs_etrace_encode_address(const struct vs_etrace_config *c, uint64_t last,
                                                uint64_t address)
{
    uint64_t from = c->params.addresses == VS_ETRACE_FULL ? 0 : last;
    return (address - from) >> c->shift & c->mask;
}

static inline uint64_t vs_etrace_decode_address(const struct vs_etrace_config *c, uint64_t last,
                                                uint64_t sent)
{
    uint64_t from = c->params.addresses == VS_ETRACE_FULL ? 0 : last;
    uint64_t mask = c->mask << c->shift | ((UINT64_C(1) << c->shift) - 1);
    return (from + (sent << c->shift)) & mask;
}

/* As the functions of vs_encoder_ops and vs_flow_decoder_ops. */
extern const struct vs_encoder_ops vs_etrace_encoder_ops;
extern const struct vs_flow_decoder_ops vs_etrace_decoder_ops;

#endif
