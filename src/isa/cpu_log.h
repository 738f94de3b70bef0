/* SPDX-License-Identifier: MIT */
/* What a core did, instruction by instruction. */
#ifndef ISA_CPU_LOG_H
#define ISA_CPU_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "vestige/event.h"

/* One retired instruction; an atomic has two records, for its load and its store. */
struct vs_cpu_record {
    uint64_t pc;
    uint64_t addr;             /* of a memory operand; a branch's target, taken or not */
    uint64_t value;            /* loaded, stored, or got from outside; upper bytes zero */
    uint16_t op;               /* the ISA's number of the operation; RV64: enum vs_rv64_op */
    uint8_t rd, rs1, rs2, rs3; /* registers by DWARF number; 0: none, or one that is always 0 */
    uint8_t kind;              /* VS_RECORD_x, and flags */
    uint8_t size;              /* bytes of a memory operand, at most 8 */
};

_Static_assert(sizeof(struct vs_cpu_record) == 32, "two to a cache line");

enum {
    VS_RECORD_PLAIN,
    VS_RECORD_LOAD,
    VS_RECORD_STORE,
    VS_RECORD_LR,
    VS_RECORD_SC, /* flag VS_RECORD_DONE: it stored */
    VS_RECORD_AMO_LOAD,
    VS_RECORD_AMO_STORE, /* of the same instruction as the record before */
    VS_RECORD_BRANCH,    /* of any kind; flag VS_RECORD_DONE: taken */
    VS_RECORD_COUNTER,   /* value: what the memory's `outside` gave */
    VS_RECORD_ECALL,
    VS_RECORD_KIND = 15,  /* mask of the above */
    VS_RECORD_DONE = 16,  /* flag */
    VS_RECORD_SHORT = 32, /* flag: a compressed instruction, 2 bytes */
};

/* Records are appended from `count` on. */
struct vs_cpu_log {
    struct vs_cpu_record *records;
    size_t capacity; /* at least VS_CPU_LOG_MIN */
    size_t count;
};

#define VS_CPU_LOG_MIN 129 /* with so much room a CPU can always go on */

/* What an operation occupies a core with. */
enum vs_unit {
    VS_UNIT_ALU, /* and whatever else takes a cycle */
    VS_UNIT_MULTIPLY,
    VS_UNIT_DIVIDE,
    VS_UNIT_MEMORY, /* with a result: loads, atomics */
    VS_UNIT_STORE,
    VS_UNIT_FP_ADD, /* and comparison */
    VS_UNIT_FP_MULTIPLY,
    VS_UNIT_FP_FUSED,
    VS_UNIT_FP_DIVIDE,
    VS_UNIT_FP_ROOT,
    VS_UNIT_FP_CONVERT,
    VS_UNIT_FP_MOVE,
    VS_UNIT_BRANCH, /* of any kind; this unit and those after it do more than a latency says */
    VS_UNIT_FENCE,  /* of code: from here on, what was stored is fetched */
};

/* An operation that records name. */
struct vs_operation {
    uint8_t unit;   /* enum vs_unit */
    uint8_t branch; /* a branch's VS_BR_x, as far as the operation alone tells */
};

#define VS_OPERATIONS_MAX 256

/* All operations of an ISA. */
struct vs_operations {
    unsigned count; /* at most VS_OPERATIONS_MAX */
    struct vs_operation (*describe)(unsigned op);
    uint32_t links; /* the registers that a call leaves its return address in */
};

/* Returns a branch's VS_BR_x, without VS_BR_TAKEN. A jump that writes a link register is a call;
 * one that goes where a link register says, and does not write the same one, is a return. */
static inline unsigned vs_record_branch(const struct vs_cpu_record *r,
                                        const struct vs_operation *op, uint32_t links)
{
    unsigned flags = op->branch;
    if (flags & VS_BR_COND)
        return flags;
    if (links >> (r->rd & 31) & 1)
        flags |= VS_BR_CALL;
    if (flags & VS_BR_INDIRECT && links >> (r->rs1 & 31) & 1 && r->rd != r->rs1)
        flags |= VS_BR_RETURN;
    return flags;
}

#endif
