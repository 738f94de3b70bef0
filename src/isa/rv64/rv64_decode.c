/* SPDX-License-Identifier: MIT */
#include "isa/rv64/rv64.h"

#include "vestige/error.h"

/* ---- which row ------------------------------------------------------------------------------ */

/* There is a switch for each mask, in which only the rows with that mask can be reached: the labels
 * of all others lie beyond 32 bits, and the compiler drops them. */
#define LABEL(match, mask, number)                                                                 \
    ((mask) == MASK ? (match) : UINT64_C(1) << 32 | (uint64_t)(number))
#define SWITCH(mask, cases)                                                                        \
    {                                                                                              \
        enum { MASK = (mask) };                                                                    \
        switch ((uint64_t)(word & MASK)) {                                                         \
            cases default : break;                                                                 \
        }                                                                                          \
    }

static int find_op(uint32_t word)
{
#define CASE(name, mnemonic, match, mask, ...)                                                     \
    case LABEL(match, mask, VS_RV64_##name):                                                       \
        return VS_RV64_##name;
#define SWITCH_OPS(mask) SWITCH(mask, VS_RV64_LIST(CASE))
    VS_RV64_MASKS(SWITCH_OPS)
#undef CASE
    return -VSE_CORRUPT;
}

/* The rows of the second list. */
enum compressed_row {
#define ROW(name, ...) name,
    VS_RV64C_LIST(ROW)
#undef ROW
};

static int find_compressed(uint32_t word)
{
#define CASE(name, match, mask, ...)                                                               \
    case LABEL(match, mask, name):                                                                 \
        return name;
#define SWITCH_ROWS(mask) SWITCH(mask, VS_RV64C_LIST(CASE))
    VS_RV64C_MASKS(SWITCH_ROWS)
#undef CASE
    return -VSE_CORRUPT;
}

static const struct vs_rv64_row rows[] = {
#define ROW(name, mnemonic, match, mask, format, class, extension)                                 \
    {mnemonic,                                                                                     \
     match,                                                                                        \
     mask,                                                                                         \
     VS_RV64_FORMAT_##format,                                                                      \
     VS_RV64_CLASS_##class,                                                                        \
     VS_RV64_EXT_##extension},
    VS_RV64_LIST(ROW)
#undef ROW
};

const struct vs_rv64_row *vs_rv64_row(unsigned op)
{
    return &rows[op];
}

/* ---- fields --------------------------------------------------------------------------------- */

/* Returns bits high:low of a word, shifted to place `at`. */
static uint32_t bits(uint32_t word, unsigned high, unsigned low, unsigned at)
{
    return ((word >> low) & ((UINT32_C(2) << (high - low)) - 1)) << at;
}

static int32_t sign(uint32_t value, unsigned width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* Immediates of an instruction, by where their bits lie. */
enum imm { IMM_NONE, IMM_I, IMM_S, IMM_B, IMM_U, IMM_J, IMM_SH, IMM_SHW, IMMS };

/* All immediates are made and one is taken, which is cheaper than a jump to where each is made. */
static int32_t immediate(uint32_t w, enum imm kind)
{
    const int32_t all[IMMS] = {
        [IMM_NONE] = 0,
        [IMM_I] = (int32_t)w >> 20,
        [IMM_S] = sign(bits(w, 31, 25, 5) | bits(w, 11, 7, 0), 12),
        [IMM_B] = sign(
            bits(w, 31, 31, 12) | bits(w, 7, 7, 11) | bits(w, 30, 25, 5) | bits(w, 11, 8, 1), 13),
        [IMM_U] = (int32_t)(w & 0xfffff000),
        [IMM_J] = sign(bits(w, 31, 31, 20) | bits(w, 19, 12, 12) | bits(w, 20, 20, 11) |
                           bits(w, 30, 21, 1),
                       21),
        [IMM_SH] = (int32_t)bits(w, 25, 20, 0),
        [IMM_SHW] = (int32_t)bits(w, 24, 20, 0),
    };
    return all[kind];
}

/* Masks for the fields that a format may have: HAS, or 0. */
enum { HAS = 31 };

static const struct shape {
    uint8_t rd, rs1, rs2, rs3, rm, imm;
    bool special; /* it has fields that few formats have */
} shapes[] = {
    [VS_RV64_FORMAT_NONE] = {0},
    [VS_RV64_FORMAT_R] = {HAS, HAS, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_R1] = {HAS, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_I] = {HAS, HAS, .imm = IMM_I},
    [VS_RV64_FORMAT_SH] = {HAS, HAS, .imm = IMM_SH},
    [VS_RV64_FORMAT_SHW] = {HAS, HAS, .imm = IMM_SHW},
    [VS_RV64_FORMAT_U] = {HAS, .imm = IMM_U},
    [VS_RV64_FORMAT_J] = {HAS, .imm = IMM_J},
    [VS_RV64_FORMAT_B] = {0, HAS, HAS, .imm = IMM_B},
    [VS_RV64_FORMAT_LOAD] = {HAS, HAS, .imm = IMM_I},
    [VS_RV64_FORMAT_STORE] = {0, HAS, HAS, .imm = IMM_S},
    [VS_RV64_FORMAT_JALR] = {HAS, HAS, .imm = IMM_I},
    [VS_RV64_FORMAT_LR] = {HAS, HAS, .special = true},
    [VS_RV64_FORMAT_AMO] = {HAS, HAS, HAS, .special = true},
    [VS_RV64_FORMAT_FENCE] = {.special = true},
    [VS_RV64_FORMAT_CSR] = {HAS, HAS, .special = true},
    [VS_RV64_FORMAT_CSRI] = {HAS, .special = true},
    [VS_RV64_FORMAT_FLOAD] = {HAS, HAS, .imm = IMM_I},
    [VS_RV64_FORMAT_FSTORE] = {0, HAS, HAS, .imm = IMM_S},
    [VS_RV64_FORMAT_FFF] = {HAS, HAS, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_FFFR] = {HAS, HAS, HAS, 0, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_FFFFR] = {HAS, HAS, HAS, HAS, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_FFR] = {HAS, HAS, 0, 0, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_XFR] = {HAS, HAS, 0, 0, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_FXR] = {HAS, HAS, 0, 0, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_XF] = {HAS, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_FX] = {HAS, HAS, .imm = IMM_NONE},
    [VS_RV64_FORMAT_XFF] = {HAS, HAS, HAS, .imm = IMM_NONE},
};

static void special_fields(uint32_t w, unsigned format, struct vs_rv64_insn *insn)
{
    switch (format) {
    case VS_RV64_FORMAT_LR:
    case VS_RV64_FORMAT_AMO:
        insn->aqrl = (uint8_t)bits(w, 26, 25, 0);
        break;
    case VS_RV64_FORMAT_FENCE:
        insn->rm = (uint8_t)bits(w, 31, 28, 0);
        insn->imm = (int32_t)bits(w, 27, 20, 0);
        break;
    case VS_RV64_FORMAT_CSRI:
        insn->imm = (int32_t)bits(w, 19, 15, 0);
        insn->csr = (uint16_t)bits(w, 31, 20, 0);
        break;
    default:
        insn->csr = (uint16_t)bits(w, 31, 20, 0);
    }
}

static struct vs_rv64_insn fields(uint32_t w, unsigned op)
{
    const struct shape *shape = &shapes[rows[op].format];
    struct vs_rv64_insn insn = {
        .op = (uint16_t)op,
        .rd = (uint8_t)(w >> 7 & shape->rd),
        .rs1 = (uint8_t)(w >> 15 & shape->rs1),
        .rs2 = (uint8_t)(w >> 20 & shape->rs2),
        .rs3 = (uint8_t)(w >> 27 & shape->rs3),
        .rm = (uint8_t)(w >> 12 & 7 & shape->rm),
        .length = 4,
        .imm = immediate(w, shape->imm),
    };
    if (shape->special)
        special_fields(w, rows[op].format, &insn);
    return insn;
}

/* ---- compressed ----------------------------------------------------------------------------- */

/* The registers of a compressed instruction: fixed ones, and those that its fields name. */
enum reg { ZERO, RA, SP, FULL1, FULL2, PRIME1, PRIME2, REGS };

/* Immediates, by where their bits lie. */
enum cimm {
    CIMM_NONE,
    CIMM_SIGNED, /* 6 bits */
    CIMM_SHAMT,
    CIMM_UPPER,
    CIMM_16SP,
    CIMM_4SPN,
    CIMM_JUMP,
    CIMM_BRANCH,
    CIMM_WORD, /* this and the rest: of loads and stores, at a register and at sp */
    CIMM_DOUBLE,
    CIMM_LWSP,
    CIMM_LDSP,
    CIMM_SWSP,
    CIMM_SDSP
};

enum compressed_format {
    ADDI4SPN,
    LW,
    LD,
    SW,
    SD,
    CI,
    LI,
    LUI,
    ADDI16SP,
    SHIFT,
    ANDI,
    CA,
    J,
    BZ,
    SLLI,
    LWSP,
    LDSP,
    SWSP,
    SDSP,
    JR,
    LINK,
    MV,
    ADD,
    EBREAK
};

static const struct {
    uint8_t rd, rs1, rs2, imm;
} compressed_shapes[] = {
    [ADDI4SPN] = {PRIME2, SP, ZERO, CIMM_4SPN},   [LW] = {PRIME2, PRIME1, ZERO, CIMM_WORD},
    [LD] = {PRIME2, PRIME1, ZERO, CIMM_DOUBLE},   [SW] = {ZERO, PRIME1, PRIME2, CIMM_WORD},
    [SD] = {ZERO, PRIME1, PRIME2, CIMM_DOUBLE},   [CI] = {FULL1, FULL1, ZERO, CIMM_SIGNED},
    [LI] = {FULL1, ZERO, ZERO, CIMM_SIGNED},      [LUI] = {FULL1, ZERO, ZERO, CIMM_UPPER},
    [ADDI16SP] = {SP, SP, ZERO, CIMM_16SP},       [SHIFT] = {PRIME1, PRIME1, ZERO, CIMM_SHAMT},
    [ANDI] = {PRIME1, PRIME1, ZERO, CIMM_SIGNED}, [CA] = {PRIME1, PRIME1, PRIME2, CIMM_NONE},
    [J] = {ZERO, ZERO, ZERO, CIMM_JUMP},          [BZ] = {ZERO, PRIME1, ZERO, CIMM_BRANCH},
    [SLLI] = {FULL1, FULL1, ZERO, CIMM_SHAMT},    [LWSP] = {FULL1, SP, ZERO, CIMM_LWSP},
    [LDSP] = {FULL1, SP, ZERO, CIMM_LDSP},        [SWSP] = {ZERO, SP, FULL2, CIMM_SWSP},
    [SDSP] = {ZERO, SP, FULL2, CIMM_SDSP},        [JR] = {ZERO, FULL1, ZERO, CIMM_NONE},
    [LINK] = {RA, FULL1, ZERO, CIMM_NONE},        [MV] = {FULL1, ZERO, FULL2, CIMM_NONE},
    [ADD] = {FULL1, FULL1, FULL2, CIMM_NONE},     [EBREAK] = {ZERO, ZERO, ZERO, CIMM_NONE},
};

enum needs { NOTHING, IMM, RD, RS1 };

static const struct {
    uint8_t format, op, needs;
} compressed_rows[] = {
#define ROW(name, match, mask, format, expansion, needs) {format, VS_RV64_##expansion, needs},
    VS_RV64C_LIST(ROW)
#undef ROW
};

_Static_assert(VS_RV64_OPS <= 256, "an operation fits a byte");

static int32_t compressed_immediate(uint32_t w, enum cimm kind)
{
    const uint32_t low = bits(w, 6, 2, 0), top = bits(w, 12, 12, 5);
    switch (kind) {
    case CIMM_NONE:
        break;
    case CIMM_SIGNED:
        return sign(top | low, 6);
    case CIMM_SHAMT:
        return (int32_t)(top | low);
    case CIMM_UPPER:
        return sign(top | low, 6) * 4096;
    case CIMM_16SP:
        return sign(bits(w, 12, 12, 9) | bits(w, 6, 6, 4) | bits(w, 5, 5, 6) | bits(w, 4, 3, 7) |
                        bits(w, 2, 2, 5),
                    10);
    case CIMM_4SPN:
        return (int32_t)(bits(w, 12, 11, 4) | bits(w, 10, 7, 6) | bits(w, 6, 6, 2) |
                         bits(w, 5, 5, 3));
    case CIMM_JUMP:
        return sign(bits(w, 12, 12, 11) | bits(w, 11, 11, 4) | bits(w, 10, 9, 8) |
                        bits(w, 8, 8, 10) | bits(w, 7, 7, 6) | bits(w, 6, 6, 7) | bits(w, 5, 3, 1) |
                        bits(w, 2, 2, 5),
                    12);
    case CIMM_BRANCH:
        return sign(bits(w, 12, 12, 8) | bits(w, 11, 10, 3) | bits(w, 6, 5, 6) | bits(w, 4, 3, 1) |
                        bits(w, 2, 2, 5),
                    9);
    case CIMM_WORD:
        return (int32_t)(bits(w, 12, 10, 3) | bits(w, 6, 6, 2) | bits(w, 5, 5, 6));
    case CIMM_DOUBLE:
        return (int32_t)(bits(w, 12, 10, 3) | bits(w, 6, 5, 6));
    case CIMM_LWSP:
        return (int32_t)(top | bits(w, 6, 4, 2) | bits(w, 3, 2, 6));
    case CIMM_LDSP:
        return (int32_t)(top | bits(w, 6, 5, 3) | bits(w, 4, 2, 6));
    case CIMM_SWSP:
        return (int32_t)(bits(w, 12, 9, 2) | bits(w, 8, 7, 6));
    case CIMM_SDSP:
        return (int32_t)(bits(w, 12, 10, 3) | bits(w, 9, 7, 6));
    }
    return 0;
}

static struct vs_rv64_insn compressed_fields(uint32_t w, int row)
{
    const unsigned format = compressed_rows[row].format;
    const uint8_t regs[REGS] = {
        [RA] = 1,
        [SP] = 2,
        [FULL1] = (uint8_t)bits(w, 11, 7, 0),
        [FULL2] = (uint8_t)bits(w, 6, 2, 0),
        [PRIME1] = (uint8_t)(8 + bits(w, 9, 7, 0)),
        [PRIME2] = (uint8_t)(8 + bits(w, 4, 2, 0)),
    };
    return (struct vs_rv64_insn){
        .op = compressed_rows[row].op,
        .rd = regs[compressed_shapes[format].rd],
        .rs1 = regs[compressed_shapes[format].rs1],
        .rs2 = regs[compressed_shapes[format].rs2],
        .length = 2,
        .imm = compressed_immediate(w, compressed_shapes[format].imm),
    };
}

static bool has_what_it_needs(const struct vs_rv64_insn *insn, unsigned needs)
{
    switch ((enum needs)needs) {
    case IMM:
        return insn->imm;
    case RD:
        return insn->rd;
    case RS1:
        return insn->rs1;
    case NOTHING:
        break;
    }
    return true;
}

static int decode_compressed(uint32_t word, struct vs_rv64_insn *insn)
{
    int row = find_compressed(word & 0xffff);
    if (row < 0)
        return row;
    struct vs_rv64_insn got = compressed_fields(word, row);
    if (!has_what_it_needs(&got, compressed_rows[row].needs))
        return -VSE_CORRUPT;
    *insn = got;
    return 0;
}

int vs_rv64_insn_decode(uint32_t word, struct vs_rv64_insn *insn)
{
    if ((word & 3) != 3)
        return decode_compressed(word, insn);
    int op = find_op(word);
    if (op < 0)
        return op;
    *insn = fields(word, (unsigned)op);
    return 0;
}
