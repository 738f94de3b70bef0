/* SPDX-License-Identifier: MIT */
/* A hart: the architectural state of one RV64GC core in user mode, and what it keeps to run fast.
 */
#ifndef ISA_RV64_HART_H
#define ISA_RV64_HART_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/rv64/iss_port.h"

struct vs_code;
struct vs_op_block;

/* x[VS_X_SINK] takes what is written to x0. */
#define VS_X_SINK 32

#define VS_TLB_BITS    8
#define VS_TLB_ENTRIES (1 << VS_TLB_BITS)

/* tag: the address of a page, or VS_TLB_NONE; the host's address of a byte is its own plus delta.
 * VS_TLB_NONE has a bit that no aligned address keeps when its page and alignment are compared. */
struct vs_tlb_entry {
    uint64_t tag;
    uint64_t delta;
};
#define VS_TLB_NONE (VS_PAGE_SIZE / 2)

#define VS_PASSING_NONE 1 /* odd: no instruction's */

struct vs_hart {
    /* The state. The owner may change it between runs, x[0] excepted, which is 0. */
    uint64_t x[33];
    uint64_t f[32]; /* a binary32 is boxed: its upper half is all ones */
    uint64_t pc;
    uint64_t instret; /* instructions retired */
    uint32_t fcsr;    /* flags in bits 4:0, rounding mode in bits 7:5 */

    uint32_t id;          /* for the port */
    struct vs_code *code; /* decoded instructions; may be shared with harts of the same memory, not
                           * across threads. The owner's. */

    uint64_t tval;    /* after a trap: the address at fault, or the illegal instruction; the number
                       * of a mark */
    uint64_t passing; /* VS_PASSING_NONE, or the address at which it is not stopped, once */

    /* Where a run ended inside a block, so that the next finds its way back at once: valid while
     * the code has not been flushed since. */
    struct vs_op_block *in_block; /* or NULL */
    uint32_t in_op;
    uint64_t in_flushes;

    bool host_fma; /* the host multiplies and adds in one instruction */
    struct vs_tlb_entry reads[VS_TLB_ENTRIES], writes[VS_TLB_ENTRIES];
};

/* All registers zero. */
void vs_hart_init(struct vs_hart *hart, unsigned id, struct vs_code *code);

/* Forgets what the port's `page` has given for one page, for writing only or at all. For ports,
 * when they unmap or protect a page or begin to watch it. */
void vs_hart_forget_page(struct vs_hart *hart, uint64_t addr, bool only_writes);

#endif
