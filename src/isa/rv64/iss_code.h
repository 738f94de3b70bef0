/* SPDX-License-Identifier: MIT */
/* Decoded instructions, in blocks: straight runs of code from one address to a jump, a branch or
 * another instruction after which execution may not simply go on. Blocks are found by address and
 * linked to those that follow them. Decoding fetches from the memory once; the owner flushes when
 * code or mappings change, and so does fence.i. */
#ifndef ISA_RV64_ISS_CODE_H
#define ISA_RV64_ISS_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "isa/cpu.h"
#include "isa/rv64/hart.h"
#include "isa/rv64/iss_pairs.h"
#include "isa/rv64/rv64.h"

#define VS_BLOCK_MAX    64 /* instructions */
#define VS_CODE_BUCKETS 16384

_Static_assert(VS_BLOCK_MAX *VS_RV64_LENGTH_MAX <= VS_CPU_DECODED_MAX, "a block is no longer");

/* Operations beside those of the list, which end blocks. The first two are not instructions. */
enum {
    VS_OP_END = VS_RV64_OPS, /* go on at the next address */
    VS_OP_ILLEGAL,
    VS_OP_MARK, /* the instruction lui x0: ends the run */
    VS_OPS
};

/* Two operations executed as one. */
enum {
    VS_PAIR_BEFORE = VS_OPS - 1,
#define PAIR(first, second) VS_PAIR_##first##_##second,
    VS_RV64_PAIRS(PAIR)
#undef PAIR
        VS_PAIR_END
};

_Static_assert(VS_PAIR_END <= UINT8_MAX + 1, "a byte says how an operation is executed");

/* Up to `length`, which lies where `size` does there, the members are laid out as the end of a
 * struct vs_cpu_record. */
struct vs_op {
    uint16_t op;
    uint8_t rd, rs1, rs2, rs3; /* DWARF numbers; an rd of x0 is VS_REG_SINK */
    uint8_t kind;              /* VS_RECORD_SHORT, or 0 */
    uint8_t length;
    int32_t imm;    /* in csr instructions: csr << 5 | immediate */
    uint8_t offset; /* of the instruction in its block, in halfwords */
    uint8_t how;    /* op, or the pair that it makes with the one behind it */
    uint8_t rm;
    uint8_t index; /* of the op in its block */
};

_Static_assert(sizeof(struct vs_op) == 16, "four to a cache line");

struct vs_op_block {
    uint64_t pc;
    uint64_t need; /* how many instructions a run must have left to enter it at once: count, or
                    * VS_NEED_BREAK */
    struct vs_op_block *next[2]; /* if known: where it falls through to; where it jumped to last */
    struct vs_op_block *chain;   /* the next in its bucket */
    uint32_t count;              /* instructions; a VS_OP_x after them does not count */
    _Alignas(16) struct vs_op ops[];
};

#define VS_NEED_BREAK UINT64_MAX

/* When struct vs_cpu_code's `flushes` changes, pointers to blocks are no longer valid. */
struct vs_code {
    struct vs_cpu_code head;
    struct vs_op_block *buckets[VS_CODE_BUCKETS];
    struct vs_arena arena;
    size_t blocks;
};

/* Functions for struct vs_cpu_ops; flushing forgets everything. */
struct vs_cpu_code *vs_code_new(void);
void vs_code_free(struct vs_cpu_code *code);
void vs_code_flush(struct vs_cpu_code *code, uint64_t addr, uint64_t size);

/* Sets *block to the block at pc, which is decoded now if need be. Returns 0; VS_CPU_FAULT if its
 * first instruction cannot be fetched; -VSE_NOMEM; a negative error of the memory. */
int vs_code_decode(struct vs_code *code, struct vs_cpu_memory *memory, struct vs_hart *hart,
                   uint64_t pc, struct vs_op_block **block);

/* Gets the word of the instruction at pc. If it crosses into a page that is not there, the word is
 * its first half. Returns 0; VS_CPU_FAULT; a negative error of the memory. */
int vs_code_fetch(struct vs_cpu_memory *memory, struct vs_hart *hart, uint64_t pc, uint32_t *word);

static inline struct vs_op_block *vs_code_find(struct vs_code *code, uint64_t pc)
{
    struct vs_op_block *b = code->buckets[pc >> 1 & (VS_CODE_BUCKETS - 1)];
    while (b && b->pc != pc)
        b = b->chain;
    return b;
}

#endif
