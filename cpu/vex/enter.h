/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way into translated code and out of it. */
#ifndef ENTER_H
#define ENTER_H

#include "core.h"

/* How translated code was left. */
enum left {
    LEFT_CHAIN_SLOW = 1, /* by a branch that can be linked to its target; *site is its place */
    LEFT_CHAIN_FAST,     /* the same, of another kind */
    LEFT_INDIRECT,       /* by an indirect branch, whose target is not in the table */
    LEFT_ASSISTED,       /* with a VEX_TRC_x, *site */
    LEFT_COUNTER,        /* at the beginning of a block, since the counter was used up */
    LEFT_ESCAPE,         /* by enter_escape */
};

/* Runs translated code. Only one thread at a time may use a frame. VEX demands that x87 computes
 * with 53 bits and that SSE rounds to nearest: enter_begin and enter_end go around. */
int enter_code(struct frame *frame, const void *code, uint64_t *site);

struct enter_words {
    uint16_t x87;
    uint32_t sse;
};

static inline void enter_begin(struct enter_words *host)
{
    const uint16_t x87 = 0x27f;
    const uint32_t sse = 0x1f80;
    __asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(host->x87), "=m"(host->sse));
    __asm__ volatile("fldcw %0\n\tldmxcsr %1" : : "m"(x87), "m"(sse));
}

/* VEX leaves numbers on the x87 stack, which has to be empty for everybody else. */
static inline void enter_end(const struct enter_words *host)
{
    __asm__ volatile("emms\n\tfldcw %0\n\tldmxcsr %1" : : "m"(host->x87), "m"(host->sse));
}

/* To be called by helpers: ends enter_code, which returns LEFT_ESCAPE. */
_Noreturn void enter_escape(struct frame *frame);

/* Where translated code goes when it is left. */
extern const char enter_chain_slow[], enter_chain_fast[], enter_indirect[], enter_assisted[],
    enter_counter[];

/* The table of targets of indirect branches. */
#define TARGETS 16384 /* entries; a power of 2 */
struct target {
    uint64_t pc;
    const void *code;
};

/* Where a target is in the table: as enter_indirect finds it. */
static inline size_t target_index(uint64_t pc)
{
    return (size_t)((uint32_t)pc ^ (uint32_t)(pc >> 14)) & (TARGETS - 1);
}

#define NO_TARGET UINT64_MAX /* no instruction's address */

#endif
