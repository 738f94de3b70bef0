/* SPDX-License-Identifier: MIT */
/* mcfTA: outcomes and targets, arithmetic-coded under the confidence of tagged predictors. What the
 * encoder (mcfta_encoder.c) and the decoder (mcfta_decoder.c) agree on; mcfta_model.h says how
 * events become bits of code.
 *
 * An event is a conditional or indirect branch, and also a direct call if predictors are shared.
 * Packets, of all cores in one stream:
 *
 *   full            Ti 0   length [dCC] code
 *   discontinuity   Ti 10  bCnt length [dCC] code iCnt [dCC] target
 *   cut             Ti 110 bCnt length [dCC] code iCnt
 *   sync            Ti 111 mark pc iTotal [cycle]
 *
 * The length is that of the code, in bits. A full packet has no count: it ends with the event after
 * which the coder has put size - 36 bytes (size - 64 with points), or with the latency-th event,
 * and the decoder sees both. The others have bCnt events, after which their core goes on for iCnt
 * instructions without another event. Then it goes to `target` (a discontinuity); or a sync of that
 * core follows. A sync clears predictors and probabilities, so that a decoder can begin with it; it
 * tells where the core stands and how many instructions it has executed so far. With shared
 * predictors, the other running cores' syncs follow at once.
 *
 * A timed stream has the cycle of each packet's last event or discontinuity, as the cycles since
 * the core's last packet, before the code; or, if it has points (mcfta_time.h), their cycles within
 * the code, and those of discontinuities, as the cycles since the core's last point, after iCnt. A
 * sync's cycle is that of the last packet, or point.
 *
 * Ti is the core of the first event. With private predictors all events of a packet are that
 * core's; with shared ones the code tells where another core's events begin. */
#ifndef TECHNIQUE_MCFTA_H
#define TECHNIQUE_MCFTA_H

#include "technique/tagged.h"

struct vs_mcfta_params {
    struct vs_tagged_params tagged;
    uint64_t rate, mix, views, sets, size, latency, reset;
    uint64_t dcc, dcc_next;
    uint64_t time, every; /* enum vs_mcfta_times; mcfta_time.h */
    struct vs_mcfta_pipeline {
        uint64_t width, penalty, system;
        uint64_t hit, multiply, divide, fp_add, fp_multiply, fp_fused, fp_divide, fp_root,
            fp_convert, fp_move;
        uint64_t core_gshare, core_ras, core_ibtb;
    } pipeline; /* the core, as its time is modelled */
};

/* What a timed stream tells: the cycles of points, or one of each packet. */
enum vs_mcfta_times { VS_MCFTA_POINTS, VS_MCFTA_PACKETS };

enum {
    VS_MCFTA_MIX_MAX = 1 << 16,
    VS_MCFTA_VIEWS_MAX = 7,
    VS_MCFTA_SETS_MAX = 1 << 12,
    VS_MCFTA_SIZE_MIN = 64,
    VS_MCFTA_SIZE_MAX = 1 << 16,
    /* bytes: more than the code of one event and the end; the same if it may be a point */
    VS_MCFTA_SLACK = 36,
    VS_MCFTA_SLACK_POINTS = 64,
    VS_MCFTA_MARK_BITS = 64,
};

#define VS_MCFTA_MARK UINT64_C(0x9d5c3aa7e1b64f28)

/* The kinds are prefix codes, first bit lowest. */
enum vs_mcfta_kind { VS_MCFTA_FULL, VS_MCFTA_ELSEWHERE, VS_MCFTA_CUT, VS_MCFTA_SYNC };

static const struct vs_unary vs_mcfta_bcnt = {.size = 10, .step = 5};
static const struct vs_chunks vs_mcfta_icnt = {.first = 4, .other = 2};
static const struct vs_chunks vs_mcfta_target = {.first = 3, .other = 5};
static const struct vs_chunks vs_mcfta_total = {.first = 16, .other = 8};

/* How many bits the length has. */
static inline unsigned vs_mcfta_length_bits(const struct vs_mcfta_params *p)
{
    return vs_bit_length(8 * p->size);
}

/* Whether the code has the cycles of points. */
static inline bool vs_mcfta_has_points(const struct vs_mcfta_params *p,
                                       const struct vs_technique_setup *setup)
{
    return setup->timed && p->time == VS_MCFTA_POINTS;
}

/* Whether a packet ends after so many events, with so many bytes put. */
static inline bool vs_mcfta_is_full(const struct vs_mcfta_params *p, bool points, uint64_t events,
                                    size_t bytes)
{
    return bytes + (points ? VS_MCFTA_SLACK_POINTS : VS_MCFTA_SLACK) >= p->size ||
           events == p->latency;
}

extern const struct vs_encoder_ops vs_mcfta_encoder_ops;
extern const struct vs_flow_decoder_ops vs_mcfta_decoder_ops;

#endif
