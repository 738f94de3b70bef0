/* SPDX-License-Identifier: MIT */
#include "isa/rv64/iss.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "vestige/error.h"

/* When there are so many blocks, all are forgotten before more is decoded, so that a program that
 * keeps generating code does not use memory without bound. */
#define BLOCKS_MAX (1 << 16)

struct vs_cpu_code *vs_code_new(void)
{
    struct vs_code *code = calloc(1, sizeof(*code));
    if (!code)
        return NULL;
    code->head.ops = &vs_rv64_cpu;
    return &code->head;
}

void vs_code_free(struct vs_cpu_code *code)
{
    vs_arena_fini(&((struct vs_code *)code)->arena);
    free(code);
}

void vs_code_flush(struct vs_cpu_code *head, uint64_t addr, uint64_t size)
{
    struct vs_code *code = (struct vs_code *)head;
    (void)addr, (void)size; /* blocks are linked to each other, so all of them go */
    vs_arena_fini(&code->arena);
    memset(code->buckets, 0, sizeof(code->buckets));
    code->blocks = 0;
    code->head.flushes++;
}

static bool ends_block(unsigned op)
{
    switch (vs_rv64_row(op)->class) {
    case VS_RV64_CLASS_BRANCH:
    case VS_RV64_CLASS_JAL:
    case VS_RV64_CLASS_JALR:
    case VS_RV64_CLASS_ECALL:
    case VS_RV64_CLASS_EBREAK:
    case VS_RV64_CLASS_FENCEI:
        return true;
    default:
        return false;
    }
}

/* Fetches 2 bytes. */
static int fetch_parcel(struct vs_cpu_memory *memory, struct vs_hart *hart, uint64_t pc,
                        uint16_t *parcel)
{
    int got = memory->ops->fetch(memory, &hart->cpu, pc, parcel, sizeof(*parcel));
    return got < 0 ? got : got < (int)sizeof(*parcel) ? VS_CPU_FAULT : 0;
}

int vs_code_fetch(struct vs_cpu_memory *memory, struct vs_hart *hart, uint64_t pc, uint32_t *word)
{
    uint16_t low = 0, high = 0;
    int err = fetch_parcel(memory, hart, pc, &low);
    *word = low;
    if (err || (low & 3) != 3)
        return err;
    err = fetch_parcel(memory, hart, pc + 2, &high);
    *word |= (uint32_t)high << 16;
    return err;
}

/* Makes an op that is no instruction. */
static struct vs_op end_op(unsigned op, int index, unsigned offset)
{
    return (struct vs_op){.op = (uint16_t)op,
                          .offset = (uint8_t)(offset / 2),
                          .how = (uint8_t)op,
                          .index = (uint8_t)index};
}

static struct vs_op make_op(const struct vs_rv64_insn *insn, int index, unsigned offset)
{
    struct vs_rv64_insn numbered = *insn;
    bool is_csr = vs_rv64_row(insn->op)->class == VS_RV64_CLASS_CSR;
    vs_rv64_number_registers(&numbered);
    return (struct vs_op){
        .op = insn->op,
        .rd = numbered.rd ? numbered.rd : VS_REG_SINK,
        .rs1 = numbered.rs1,
        .rs2 = numbered.rs2,
        .rs3 = numbered.rs3,
        .kind = insn->length == 2 ? VS_RECORD_SHORT : 0,
        .length = insn->length,
        .imm = is_csr ? insn->csr << 5 | insn->imm : insn->imm,
        .offset = (uint8_t)(offset / 2),
        .how = (uint8_t)insn->op,
        .rm = insn->rm,
        .index = (uint8_t)index,
    };
}

/* Makes pairs of the operations of a block, from the first on. */
static void pair_ops(struct vs_op *ops, unsigned count)
{
    static const uint8_t pairs[VS_OPS][VS_OPS] = {
#define PAIR(first, second) [VS_RV64_##first][VS_RV64_##second] = VS_PAIR_##first##_##second,
        VS_RV64_PAIRS(PAIR)
#undef PAIR
    };
    for (unsigned i = 0; i + 1 < count; i++) {
        uint8_t pair = pairs[ops[i].op][ops[i + 1].op];
        if (pair)
            ops[i++].how = pair;
    }
}

static bool is_mark(const struct vs_code *code, const struct vs_rv64_insn *insn)
{
    return code->head.marks && insn->op == VS_RV64_LUI && insn->rd == 0;
}

/* Fills ops from pc on. Returns the number of instructions, after which there may be one more op
 * that is none; or a negative error. What cannot be fetched is left to the next block, which begins
 * there. */
static int decode_ops(const struct vs_code *code, struct vs_cpu_memory *memory,
                      struct vs_hart *hart, uint64_t pc, struct vs_op *ops)
{
    unsigned offset = 0;
    for (int count = 0;; count++) {
        struct vs_rv64_insn insn;
        uint32_t word;
        if (count == VS_BLOCK_MAX || (count && vs_cpu_stops(&code->head, pc + offset))) {
            ops[count] = end_op(VS_OP_END, count, offset);
            return count;
        }
        int err = vs_code_fetch(memory, hart, pc + offset, &word);
        if (err && count) {
            ops[count] = end_op(VS_OP_END, count, offset);
            return count;
        }
        if (err)
            return err < 0 ? err : -VSE_NOTFOUND;
        if (vs_rv64_insn_decode(word, &insn)) {
            ops[count] = end_op(VS_OP_ILLEGAL, count, offset);
            return count;
        }
        ops[count] = make_op(&insn, count, offset);
        offset += insn.length;
        if (is_mark(code, &insn))
            ops[count].op = ops[count].how = VS_OP_MARK;
        if (ends_block(insn.op) || ops[count].op == VS_OP_MARK)
            return count + 1;
    }
}

int vs_code_decode(struct vs_code *code, struct vs_cpu_memory *memory, struct vs_hart *hart,
                   uint64_t pc, struct vs_op_block **block)
{
    struct vs_op ops[VS_BLOCK_MAX + 1];
    *block = vs_code_find(code, pc);
    if (*block)
        return 0;
    memset(ops, 0, sizeof(ops));
    int count = decode_ops(code, memory, hart, pc, ops);
    if (count < 0)
        return count == -VSE_NOTFOUND ? VS_CPU_FAULT : count;
    invariant(count <= VS_BLOCK_MAX);
    if (code->blocks == BLOCKS_MAX)
        vs_cpu_flush_all(&code->head);
    size_t size = ((size_t)count + 1) * sizeof(struct vs_op);
    struct vs_op_block *b = vs_arena_alloc(&code->arena, sizeof(*b) + size, 64);
    if (!b)
        return -VSE_NOMEM;
    struct vs_op_block **bucket = &code->buckets[pc >> 1 & (VS_CODE_BUCKETS - 1)];
    *b = (struct vs_op_block){.pc = pc,
                              .need = count && vs_cpu_stops(&code->head, pc) ? VS_NEED_BREAK
                                                                             : (uint64_t)count,
                              .chain = *bucket,
                              .count = (uint32_t)count};
    memcpy(b->ops, ops, size);
    pair_ops(b->ops, b->count);
    if (code->head.decoded && count) {
        const struct vs_op *last = &ops[count - 1];
        int err = code->head.decoded(code->head.context, &hart->cpu, pc,
                                     2U * last->offset + last->length, (unsigned)count);
        if (err)
            return err;
    }
    *bucket = *block = b;
    code->blocks++;
    return 0;
}
