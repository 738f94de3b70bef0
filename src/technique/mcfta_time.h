/* SPDX-License-Identifier: MIT */
/* Exact cycles in mcfTA's code: at some branches, the points, it says by how much the branch
 * committed later, or earlier, than a model of the core expects (technique/timing.h). The model's
 * clock is then set right, so that an error does not last.
 *
 * Points of a core are its branches whose outcome or target was predicted wrongly, and each branch
 * that is the `every`-th since the last point. A discontinuity tells its cycle in its packet, and
 * everything begins anew there. With each point goes a surprise r, its cycle less the model's:
 *
 *   r = 0        0
 *   else         1, then
 *     recent     1, its place among the last 16 different ones (4 bits, the first highest)
 *     other      0, sign, class (5 bits, the first highest), the bits below the highest one
 *
 * The class is the number of bits of |r|; 31 stands for 31 or more, and then come 64 bits. Places
 * and classes go bit by bit, each under the bits before it, and the bits of |r| at even odds. A
 * surprise of at most 16 bits, with its sign, is the most recent from then on. Whether r is 0 is
 * coded under what kind of surprise this place in the code had last (0, up to 63, other), what kind
 * the core's last point had, and the number of bits of the instructions since then, up to 7.
 * Whether it is recent is coded under the first of these. */
#ifndef TECHNIQUE_MCFTA_TIME_H
#define TECHNIQUE_MCFTA_TIME_H

#include "model/probability.h"
#include "technique/mcfta.h"
#include "technique/timing.h"

enum {
    VS_MCFTA_SITES = 256,
    VS_MCFTA_KINDS = 3,
    VS_MCFTA_DISTANCES = 8,
    VS_MCFTA_PLACE_BITS = 4,
    VS_MCFTA_RECENT = 1 << VS_MCFTA_PLACE_BITS,
    VS_MCFTA_LENGTH_BITS = 5,
};

/* No cycle is as large. */
#define VS_MCFTA_CYCLES (UINT64_C(1) << 62)

/* What surprises are coded under, of one core or of all. */
struct vs_mcfta_surprises {
    uint8_t sites[VS_MCFTA_SITES]; /* the kind of the last surprise, by hash of the pc */
    int16_t recent[VS_MCFTA_RECENT];
    struct vs_probability none[VS_MCFTA_KINDS][VS_MCFTA_KINDS][VS_MCFTA_DISTANCES];
    struct vs_probability found[VS_MCFTA_KINDS];
    struct vs_probability place[VS_MCFTA_RECENT];
    struct vs_probability length[1 << VS_MCFTA_LENGTH_BITS];
    struct vs_probability sign;
};

/* Makes all as it was at first. */
void vs_mcfta_surprises_clear(struct vs_mcfta_surprises *s);

/* A core since its last point. */
struct vs_mcfta_clock {
    uint64_t cycle; /* the point's */
    uint64_t instructions, branches;
    uint8_t kind; /* of its surprise */
};

/* The time of all cores, on either side. */
struct vs_mcfta_time {
    struct vs_timing timing;
    struct vs_mcfta_clock *clocks;
    uint64_t every; /* 0: no number of branches makes a point */
};

struct vs_timing_config vs_mcfta_timing(const struct vs_mcfta_params *params);

/* Returns 0; -VSE_INVAL; -VSE_NOMEM. fini is needed in any case. */
int vs_mcfta_time_init(struct vs_mcfta_time *t, const struct vs_mcfta_params *params,
                       unsigned cores);
void vs_mcfta_time_fini(struct vs_mcfta_time *t);

/* Adds what the cores' clocks and the surprises keep. */
void vs_mcfta_time_cost(const struct vs_mcfta_params *params,
                        const struct vs_technique_setup *setup, uint64_t packers,
                        struct vs_cost_list *list);

/* The core executes straight code. */
static inline void vs_mcfta_time_pass(struct vs_mcfta_time *t, unsigned core, uint32_t version,
                                      uint64_t pc, uint64_t count)
{
    vs_timing_pass(&t->timing, core, version, pc, count);
    t->clocks[core].instructions += count;
}

/* It meets a branch, which was predicted wrongly or not. Returns whether it is a point. */
static inline bool vs_mcfta_time_branch(struct vs_mcfta_time *t, unsigned core, bool wrong)
{
    return ++t->clocks[core].branches == t->every || wrong;
}

/* The core goes elsewhere at that cycle. */
void vs_mcfta_time_go(struct vs_mcfta_time *t, unsigned core, uint64_t cycle);

/* The core is at a synchronisation point, which tells its last point's cycle. Its model begins anew
 * in that cycle: the next surprise has all that has passed since. */
void vs_mcfta_time_sync(struct vs_mcfta_time *t, unsigned core, uint64_t cycle);

struct vs_mcfta_model;
struct vs_mcfta_coder;

/* Code the cycle of a point at pc. The encoder returns 0; -VSE_INVAL (a cycle before the last
 * point's, or too large). The decoder returns 0; -VSE_CORRUPT (no encoder writes that). */
int vs_mcfta_encode_point(struct vs_mcfta_time *t, struct vs_mcfta_model *m,
                          struct vs_mcfta_coder *c, unsigned core, uint64_t pc, uint64_t cycle);
int vs_mcfta_decode_point(struct vs_mcfta_time *t, struct vs_mcfta_model *m,
                          struct vs_mcfta_coder *c, unsigned core, uint64_t pc, uint64_t *cycle);

#endif
