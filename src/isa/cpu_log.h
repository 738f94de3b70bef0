/* SPDX-License-Identifier: MIT */
/* What a core did, instruction by instruction. */
#ifndef ISA_CPU_LOG_H
#define ISA_CPU_LOG_H

#include <stddef.h>
#include <stdint.h>

/* One retired instruction; an atomic is two, its load and its store. */
struct vs_cpu_record {
    uint64_t pc;
    uint64_t addr;             /* of a memory operand; of a branch its target, taken or not */
    uint64_t value;            /* loaded, stored, or got from outside; upper bytes zero */
    uint16_t op;               /* the ISA's number of the operation; RV64: enum vs_rv64_op */
    uint8_t rd, rs1, rs2, rs3; /* the ISA's numbers of registers; RV64: struct vs_rv64_insn's */
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
    VS_RECORD_AMO_STORE, /* the same instruction as the record before */
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

#define VS_CPU_LOG_MIN 129 /* a CPU that has that much room can go on */

#endif
