/* SPDX-License-Identifier: MIT */
#include "isa/rv64/rv64.h"

/* What those integer instructions compute whose operands follow from their format. Instructions
 * that are not here take something else, or are handled below. */
static const struct {
    uint8_t op;
    bool word; /* it computes in 32 bits */
} effects[VS_RV64_OPS] = {
    [VS_RV64_ADDI] = {VS_ALU_ADD, false},      [VS_RV64_SLTI] = {VS_ALU_LESS, false},
    [VS_RV64_SLTIU] = {VS_ALU_BELOW, false},   [VS_RV64_XORI] = {VS_ALU_XOR, false},
    [VS_RV64_ORI] = {VS_ALU_OR, false},        [VS_RV64_ANDI] = {VS_ALU_AND, false},
    [VS_RV64_ADDIW] = {VS_ALU_ADD, true},      [VS_RV64_SLLI] = {VS_ALU_SHL, false},
    [VS_RV64_SRLI] = {VS_ALU_SHR, false},      [VS_RV64_SRAI] = {VS_ALU_SAR, false},
    [VS_RV64_SLLIW] = {VS_ALU_SHL, true},      [VS_RV64_SRLIW] = {VS_ALU_SHR, true},
    [VS_RV64_SRAIW] = {VS_ALU_SAR, true},      [VS_RV64_ADD] = {VS_ALU_ADD, false},
    [VS_RV64_SUB] = {VS_ALU_SUB, false},       [VS_RV64_SLL] = {VS_ALU_SHL, false},
    [VS_RV64_SLT] = {VS_ALU_LESS, false},      [VS_RV64_SLTU] = {VS_ALU_BELOW, false},
    [VS_RV64_XOR] = {VS_ALU_XOR, false},       [VS_RV64_SRL] = {VS_ALU_SHR, false},
    [VS_RV64_SRA] = {VS_ALU_SAR, false},       [VS_RV64_OR] = {VS_ALU_OR, false},
    [VS_RV64_AND] = {VS_ALU_AND, false},       [VS_RV64_ADDW] = {VS_ALU_ADD, true},
    [VS_RV64_SUBW] = {VS_ALU_SUB, true},       [VS_RV64_SLLW] = {VS_ALU_SHL, true},
    [VS_RV64_SRLW] = {VS_ALU_SHR, true},       [VS_RV64_SRAW] = {VS_ALU_SAR, true},
    [VS_RV64_MUL] = {VS_ALU_MUL, false},       [VS_RV64_MULH] = {VS_ALU_MULH, false},
    [VS_RV64_MULHSU] = {VS_ALU_MULHSU, false}, [VS_RV64_MULHU] = {VS_ALU_MULHU, false},
    [VS_RV64_DIV] = {VS_ALU_DIV, false},       [VS_RV64_DIVU] = {VS_ALU_DIVU, false},
    [VS_RV64_REM] = {VS_ALU_REM, false},       [VS_RV64_REMU] = {VS_ALU_REMU, false},
    [VS_RV64_MULW] = {VS_ALU_MUL, true},       [VS_RV64_DIVW] = {VS_ALU_DIV, true},
    [VS_RV64_DIVUW] = {VS_ALU_DIVU, true},     [VS_RV64_REMW] = {VS_ALU_REM, true},
    [VS_RV64_REMUW] = {VS_ALU_REMU, true},     [VS_RV64_ANDN] = {VS_ALU_ANDN, false},
    [VS_RV64_ORN] = {VS_ALU_ORN, false},       [VS_RV64_XNOR] = {VS_ALU_XNOR, false},
    [VS_RV64_CLZ] = {VS_ALU_CLZ, false},       [VS_RV64_CTZ] = {VS_ALU_CTZ, false},
    [VS_RV64_CPOP] = {VS_ALU_POPCOUNT, false}, [VS_RV64_CLZW] = {VS_ALU_CLZ, true},
    [VS_RV64_CTZW] = {VS_ALU_CTZ, true},       [VS_RV64_CPOPW] = {VS_ALU_POPCOUNT, true},
    [VS_RV64_ORC_B] = {VS_ALU_ORCB, false},    [VS_RV64_REV8] = {VS_ALU_BSWAP, false},
    [VS_RV64_MAX] = {VS_ALU_MAX, false},       [VS_RV64_MAXU] = {VS_ALU_MAXU, false},
    [VS_RV64_MIN] = {VS_ALU_MIN, false},       [VS_RV64_MINU] = {VS_ALU_MINU, false},
    [VS_RV64_ROL] = {VS_ALU_ROL, false},       [VS_RV64_ROR] = {VS_ALU_ROR, false},
    [VS_RV64_ROLW] = {VS_ALU_ROL, true},       [VS_RV64_RORW] = {VS_ALU_ROR, true},
    [VS_RV64_RORI] = {VS_ALU_ROR, false},      [VS_RV64_RORIW] = {VS_ALU_ROR, true},
    [VS_RV64_BCLR] = {VS_ALU_BCLR, false},     [VS_RV64_BEXT] = {VS_ALU_BEXT, false},
    [VS_RV64_BINV] = {VS_ALU_BINV, false},     [VS_RV64_BSET] = {VS_ALU_BSET, false},
    [VS_RV64_BCLRI] = {VS_ALU_BCLR, false},    [VS_RV64_BEXTI] = {VS_ALU_BEXT, false},
    [VS_RV64_BINVI] = {VS_ALU_BINV, false},    [VS_RV64_BSETI] = {VS_ALU_BSET, false},
    [VS_RV64_SEXT_B] = {VS_ALU_MOVE, false},   [VS_RV64_SEXT_H] = {VS_ALU_MOVE, false},
    [VS_RV64_ZEXT_H] = {VS_ALU_MOVE, false},
};

static uint8_t named(unsigned reg)
{
    return reg ? (uint8_t)reg : VS_NO_REGISTER;
}

static uint32_t set_of(unsigned reg)
{
    return reg ? UINT32_C(1) << reg : 0;
}

/* Returns whether the operation is (rs1 << shift) + rs2, where only `in` bits of rs1 may count. */
static bool shifts_and_adds(unsigned op, unsigned *shift, unsigned *in)
{
    switch (op) {
    case VS_RV64_ADD_UW:
        *shift = 0, *in = 32;
        return true;
    case VS_RV64_SH1ADD:
    case VS_RV64_SH2ADD:
    case VS_RV64_SH3ADD:
        *shift = 1 + op - VS_RV64_SH1ADD, *in = 64;
        return true;
    case VS_RV64_SH1ADD_UW:
    case VS_RV64_SH2ADD_UW:
    case VS_RV64_SH3ADD_UW:
        *shift = 1 + op - VS_RV64_SH1ADD_UW, *in = 32;
        return true;
    default:
        return false;
    }
}

/* Returns an effect of VS_ALU_UNKNOWN if there is none. */
static struct vs_alu effect_of(const struct vs_rv64_insn *i, uint64_t pc)
{
    struct vs_alu e = {.op = effects[i->op].op,
                       .to = i->rd,
                       .a = VS_NO_REGISTER,
                       .b = VS_NO_REGISTER,
                       .in = 64,
                       .width = effects[i->op].word ? 32 : 64,
                       .sign = true};
    unsigned shift, in, format = vs_rv64_row(i->op)->format;
    if (i->op == VS_RV64_LUI || i->op == VS_RV64_AUIPC) {
        e.op = VS_ALU_MOVE;
        e.constant = (uint64_t)(int64_t)i->imm + (i->op == VS_RV64_AUIPC ? pc : 0);
    } else if (format == VS_RV64_FORMAT_J || format == VS_RV64_FORMAT_JALR) {
        e.op = VS_ALU_MOVE;
        e.constant = pc + i->length;
    } else if (shifts_and_adds(i->op, &shift, &in)) {
        e.op = VS_ALU_ADD;
        e.a = named(i->rs2);
        e.b = named(i->rs1);
        e.shift = (uint8_t)shift;
        e.in = (uint8_t)in;
    } else if (i->op == VS_RV64_SLLI_UW) {
        e.op = VS_ALU_MOVE;
        e.b = named(i->rs1);
        e.shift = (uint8_t)i->imm;
        e.in = 32;
    } else if (format == VS_RV64_FORMAT_R1) {
        e.b = named(i->rs1);
        e.in = i->op == VS_RV64_SEXT_B                              ? 8
               : i->op == VS_RV64_SEXT_H || i->op == VS_RV64_ZEXT_H ? 16
                                                                    : 64;
        e.in_signed = i->op != VS_RV64_ZEXT_H;
    } else {
        e.a = named(i->rs1);
        e.b = format == VS_RV64_FORMAT_R ? named(i->rs2) : VS_NO_REGISTER;
        e.constant = format == VS_RV64_FORMAT_R ? 0 : (uint64_t)(int64_t)i->imm;
    }
    return e;
}

/* The following tell which operands are integer registers. */
static bool has_integer_rd(unsigned format)
{
    switch (format) {
    case VS_RV64_FORMAT_R:
    case VS_RV64_FORMAT_R1:
    case VS_RV64_FORMAT_I:
    case VS_RV64_FORMAT_SH:
    case VS_RV64_FORMAT_SHW:
    case VS_RV64_FORMAT_U:
    case VS_RV64_FORMAT_J:
    case VS_RV64_FORMAT_LOAD:
    case VS_RV64_FORMAT_JALR:
    case VS_RV64_FORMAT_LR:
    case VS_RV64_FORMAT_AMO:
    case VS_RV64_FORMAT_CSR:
    case VS_RV64_FORMAT_CSRI:
    case VS_RV64_FORMAT_XFR:
    case VS_RV64_FORMAT_XF:
    case VS_RV64_FORMAT_XFF:
        return true;
    default:
        return false;
    }
}

static uint32_t integer_sources(const struct vs_rv64_insn *i, unsigned format)
{
    switch (format) {
    case VS_RV64_FORMAT_R:
    case VS_RV64_FORMAT_B:
    case VS_RV64_FORMAT_STORE:
    case VS_RV64_FORMAT_AMO:
        return set_of(i->rs1) | set_of(i->rs2);
    case VS_RV64_FORMAT_R1:
    case VS_RV64_FORMAT_I:
    case VS_RV64_FORMAT_SH:
    case VS_RV64_FORMAT_SHW:
    case VS_RV64_FORMAT_LOAD:
    case VS_RV64_FORMAT_JALR:
    case VS_RV64_FORMAT_LR:
    case VS_RV64_FORMAT_CSR:
    case VS_RV64_FORMAT_FLOAD:
    case VS_RV64_FORMAT_FSTORE:
    case VS_RV64_FORMAT_FXR:
    case VS_RV64_FORMAT_FX:
        return set_of(i->rs1);
    default:
        return 0;
    }
}

static void describe(const struct vs_rv64_insn *i, uint64_t pc, struct vs_operands *o)
{
    unsigned format = vs_rv64_row(i->op)->format;
    struct vs_rv64_memory m = vs_rv64_memory(i);
    *o = (struct vs_operands){.length = i->length, .sources = integer_sources(i, format)};
    if (m.size)
        o->memory[o->memory_count++] =
            (struct vs_memory_operand){.form = m.base ? VS_FORM_BASE : VS_FORM_ABSOLUTE,
                                       .base = named(m.base),
                                       .index = VS_NO_REGISTER,
                                       .scale = 1,
                                       .load = m.load,
                                       .store = m.store,
                                       .displacement = m.offset};
    if (!i->rd || !has_integer_rd(format))
        return;
    struct vs_alu e = effect_of(i, pc);
    o->destinations = set_of(i->rd);
    if (e.op == VS_ALU_UNKNOWN)
        o->clobbers = o->destinations;
    else
        o->effects[o->effect_count++] = e;
}

int vs_rv64_operands(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_operands *operands)
{
    struct vs_rv64_insn insn;
    struct vs_insn known;
    uint32_t word = 0;
    int err = vs_rv64_decode(bytes, size, pc, &known);
    if (err)
        return err;
    if (vs_rv64_fetch(bytes, size, &word) == 0 && vs_rv64_insn_decode(word, &insn) == 0)
        describe(&insn, pc, operands);
    else /* an instruction of the vector extension, which is not on the list */
        *operands = (struct vs_operands){
            .length = known.length, .destinations = 0xfffffffe, .clobbers = 0xfffffffe};
    return 0;
}
