/* SPDX-License-Identifier: MIT */
/* Static facts about one instruction of any ISA. */
#ifndef ISA_INSN_H
#define ISA_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "vestige/event.h"

enum vs_insn_kind {
    VS_INSN_PLAIN,   /* goes on to the next instruction, or traps */
    VS_INSN_BRANCH,  /* may go elsewhere; see `branch` */
    VS_INSN_SYSCALL, /* asks the operating system */
    VS_INSN_NONDET,  /* gets a value that neither registers nor memory determine (rdtsc) */
};

/* Fields that a kind does not use are zero. */
struct vs_insn {
    uint64_t target; /* of a direct branch, absolute */
    uint8_t length;  /* bytes */
    uint8_t kind;    /* VS_INSN_* */
    uint8_t branch;  /* a branch's VS_BR_* without VS_BR_TAKEN; 0 is a direct jump */
    bool repeat;     /* a register says how often it executes: its memory events repeat */
    bool locked;     /* its memory events are one atomic read-modify-write */
    bool prefetch;   /* it asks for a line of data that it does not read */
    bool negated;    /* it branches on the opposite of a condition: jne is je negated, since their
                      * encodings differ in one bit */
};

/* Returns whether the instruction is a branch whose target the code tells. */
static inline bool vs_insn_is_direct(const struct vs_insn *insn)
{
    return insn->kind == VS_INSN_BRANCH && !(insn->branch & VS_BR_INDIRECT);
}

#endif
