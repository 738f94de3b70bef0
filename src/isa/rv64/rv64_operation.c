/* SPDX-License-Identifier: MIT */
/* Operations as a core's timing sees them. */
#include "isa/rv64/rv64.h"

static unsigned unit_of(unsigned class)
{
    switch (class) {
    case VS_RV64_CLASS_MUL:
        return VS_UNIT_MULTIPLY;
    case VS_RV64_CLASS_DIV:
        return VS_UNIT_DIVIDE;
    case VS_RV64_CLASS_LOAD:
    case VS_RV64_CLASS_LR:
    case VS_RV64_CLASS_SC:
    case VS_RV64_CLASS_AMO:
        return VS_UNIT_MEMORY;
    case VS_RV64_CLASS_STORE:
        return VS_UNIT_STORE;
    case VS_RV64_CLASS_BRANCH:
    case VS_RV64_CLASS_JAL:
    case VS_RV64_CLASS_JALR:
        return VS_UNIT_BRANCH;
    case VS_RV64_CLASS_FENCEI:
        return VS_UNIT_FENCE;
    case VS_RV64_CLASS_FADD:
    case VS_RV64_CLASS_FCMP:
        return VS_UNIT_FP_ADD;
    case VS_RV64_CLASS_FMUL:
        return VS_UNIT_FP_MULTIPLY;
    case VS_RV64_CLASS_FMA:
        return VS_UNIT_FP_FUSED;
    case VS_RV64_CLASS_FDIV:
        return VS_UNIT_FP_DIVIDE;
    case VS_RV64_CLASS_FSQRT:
        return VS_UNIT_FP_ROOT;
    case VS_RV64_CLASS_FCVT:
        return VS_UNIT_FP_CONVERT;
    case VS_RV64_CLASS_FMOVE:
        return VS_UNIT_FP_MOVE;
    default:
        return VS_UNIT_ALU;
    }
}

static struct vs_operation describe(unsigned op)
{
    const struct vs_rv64_row *row = vs_rv64_row(op);
    return (struct vs_operation){.unit = (uint8_t)unit_of(row->class),
                                 .branch = row->class == VS_RV64_CLASS_BRANCH ? VS_BR_COND
                                           : row->class == VS_RV64_CLASS_JALR ? VS_BR_INDIRECT
                                                                              : 0};
}

#define FLOAT VS_RV64_REG_F0

void vs_rv64_number_registers(struct vs_rv64_insn *insn)
{
    switch (vs_rv64_row(insn->op)->format) {
    case VS_RV64_FORMAT_FLOAD:
    case VS_RV64_FORMAT_FXR:
    case VS_RV64_FORMAT_FX:
        insn->rd += FLOAT;
        break;
    case VS_RV64_FORMAT_FSTORE:
        insn->rs2 += FLOAT;
        break;
    case VS_RV64_FORMAT_FFFFR:
        insn->rs3 += FLOAT;
        /* fallthrough */
    case VS_RV64_FORMAT_FFF:
    case VS_RV64_FORMAT_FFFR:
        insn->rs2 += FLOAT;
        /* fallthrough */
    case VS_RV64_FORMAT_FFR:
        insn->rd += FLOAT;
        insn->rs1 += FLOAT;
        break;
    case VS_RV64_FORMAT_XFF:
        insn->rs2 += FLOAT;
        /* fallthrough */
    case VS_RV64_FORMAT_XF:
    case VS_RV64_FORMAT_XFR:
        insn->rs1 += FLOAT;
        break;
    default:
        break;
    }
}

int vs_rv64_usage(const uint8_t *bytes, size_t size, struct vs_usage *usage)
{
    struct vs_rv64_insn insn;
    uint32_t word;
    int err = vs_rv64_fetch(bytes, size, &word);
    if (err || (err = vs_rv64_insn_decode(word, &insn)) < 0)
        return err;
    vs_rv64_number_registers(&insn);
    *usage = (struct vs_usage){.unit = describe(insn.op).unit,
                               .rd = insn.rd,
                               .rs1 = insn.rs1,
                               .rs2 = insn.rs2,
                               .rs3 = insn.rs3};
    return 0;
}

_Static_assert(VS_RV64_OPS <= VS_OPERATIONS_MAX, "room for all");

const struct vs_operations vs_rv64_operation_set = {
    .count = VS_RV64_OPS, .describe = describe, .links = 1 << 1 | 1 << 5};
