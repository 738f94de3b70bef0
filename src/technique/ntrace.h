/* SPDX-License-Identifier: MIT */
/* What the encoder and the decoder of RISC-V N-Trace share. ntrace_message.h has the messages.
 *
 * Each core has a stream of messages. iCnt counts half-words of instructions (whole bytes where
 * instructions are not aligned), so that it is known exactly how far a message reaches. With branch
 * trace (btm), taken branches have a message each; with history trace (htm), outcomes are gathered
 * in hist. Traps, signals and what else moves a core without a branch are indirect branches of type
 * 1; a core starts with ProgTraceSync and ends with ProgTraceCorrelation. */
#ifndef TECHNIQUE_NTRACE_H
#define TECHNIQUE_NTRACE_H

#include "model/ras.h"
#include "technique/ntrace_message.h"
#include "technique/technique.h"

enum { VS_NTRACE_BTM, VS_NTRACE_HTM };
enum vs_ntrace_returns {
    VS_NTRACE_REPORTED,
    VS_NTRACE_COUNTED,
    VS_NTRACE_PARTIAL,
    VS_NTRACE_STACKED
};

enum {
    VS_NTRACE_STACK = 32,      /* entries that a decoder has */
    VS_NTRACE_HIST_BITS = 31,  /* outcomes in hist */
    VS_NTRACE_REPEAT_BITS = 18 /* of a repeat count */
};

/* The numbers of a spec, in the order of ntrace.c's table. */
struct vs_ntrace_params {
    uint64_t mode, implicit_return, depth, partial, repeat_history, repeat_branch, sijump;
    uint64_t all_jumps, extend_address, icnt_bits;
};

struct vs_ntrace_config {
    struct vs_ntrace_params params;
    struct vs_ntrace_layout layout;
    unsigned shift; /* of addresses and counts: by half-words, or not at all */
    uint64_t mask;  /* of addresses */
};

struct vs_ntrace_config vs_ntrace_config(const struct vs_ntrace_params *params,
                                         const struct vs_technique_setup *setup);

static inline uint64_t vs_ntrace_repeat_most(void)
{
    return (UINT64_C(1) << VS_NTRACE_REPEAT_BITS) - 1;
}

/* As the functions of vs_encoder_ops and vs_flow_decoder_ops. */
extern const struct vs_encoder_ops vs_ntrace_encoder_ops;
extern const struct vs_flow_decoder_ops vs_ntrace_decoder_ops;

#endif
