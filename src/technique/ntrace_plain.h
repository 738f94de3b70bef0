/* SPDX-License-Identifier: MIT */
/* What most messages of RISC-V N-Trace are: branches and histories, of eight bytes at most. They
 * are made in one go. */
#ifndef TECHNIQUE_NTRACE_PLAIN_H
#define TECHNIQUE_NTRACE_PLAIN_H

#include "base/likely.h"
#include "technique/ntrace_message.h"

enum { VS_NTRACE_MDO = 6, VS_NTRACE_PLAIN_BYTES = 8 };

struct vs_ntrace_plain {
    uint64_t bits, above;               /* the first bytes, eight at most, and those after them */
    unsigned beyond;                    /* how many these are */
    unsigned bytes, icnt, target, hist; /* all of them, and those of fields */
};

/* Whether branches and histories may be such messages. */
static inline bool vs_ntrace_is_plain(const struct vs_ntrace_layout *layout)
{
    return !layout->timed && !layout->extended;
}

/* Returns how many bytes a number takes that is not 0. */
static inline unsigned vs_ntrace_length(uint64_t v)
{
    return (63 + VS_NTRACE_MDO - (unsigned)__builtin_clzll(v)) / VS_NTRACE_MDO;
}

/* Spreads 48 bits over eight bytes, above the two bits that say what a byte ends. */
static inline uint64_t vs_ntrace_spread(uint64_t v)
{
    v = (v & 0xffffff) | (v & 0xffffff000000) << 8;
    v = (v & 0x00000fff00000fff) | (v & 0x00fff00000fff000) << 4;
    v = (v & 0x003f003f003f003f) | (v & 0x0fc00fc00fc00fc0) << 2;
    return v << 2;
}

/* Makes DirectBranch, IndirectBranch, IndirectBranchHist, or ResourceFull with a history. Returns
 * whether it fits. */
static inline bool vs_ntrace_pack_plain(const struct vs_ntrace_message *m,
                                        struct vs_ntrace_plain *p)
{
    enum { MDO = VS_NTRACE_MDO, FIELD = 1, MESSAGE = 3 };
    const bool full = m->number == VS_NTRACE_FULL, direct = m->number == VS_NTRACE_DIRECT;
    /* the first field follows bits of its byte, if it has room for them */
    uint64_t first = full ? m->hist << 4 | m->code : direct ? m->icnt : m->icnt << 2 | m->code;
    unsigned one = vs_ntrace_length(first | 1), two = 0, three = 0;
    uint64_t v = m->number | first << MDO, ends = 0;
    *p = (struct vs_ntrace_plain){.icnt = full ? 0 : one, .hist = full ? one : 0};
    if (!full && !direct) {
        two = vs_ntrace_length(m->address | 1);
        three = m->hist ? vs_ntrace_length(m->hist) : 0;
        if (unlikely(1 + one + two > VS_NTRACE_PLAIN_BYTES || three > VS_NTRACE_PLAIN_BYTES))
            return false;
        p->target = two;
        p->hist = three;
        v |= m->address << MDO * (1 + one);
        ends = (uint64_t)FIELD << 8 * one;
    } else if (unlikely(1 + one > VS_NTRACE_PLAIN_BYTES)) {
        return false;
    }
    p->bytes = 1 + one + two + three;
    if (three)
        ends |= (uint64_t)FIELD << 8 * (one + two);
    if (likely(p->bytes <= VS_NTRACE_PLAIN_BYTES)) {
        v |= three ? m->hist << MDO * (1 + one + two) : 0;
        ends |= (uint64_t)MESSAGE << 8 * (p->bytes - 1);
    } else {
        p->above = vs_ntrace_spread(m->hist) | (uint64_t)MESSAGE << 8 * (three - 1);
        p->beyond = three;
    }
    p->bits = vs_ntrace_spread(v) | ends;
    return true;
}

/* What the bytes of several messages are for. */
struct vs_ntrace_tally {
    uint64_t messages, icnt, target, hist; /* as in vs_ntrace_plain */
};

static inline void vs_ntrace_tally(struct vs_ntrace_tally *t, const struct vs_ntrace_plain *p)
{
    t->messages++;
    t->icnt += p->icnt;
    t->target += p->target;
    t->hist += p->hist;
}

void vs_ntrace_count_plain(struct vs_port_counts *counts, const struct vs_ntrace_tally *t);

#endif
