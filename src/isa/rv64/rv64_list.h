/* SPDX-License-Identifier: MIT */
/* The instructions of RV64GC with Zba, Zbb and Zbs: the one list from which the operation numbers,
 * the decoder, the classification, the text and the simulator's dispatch derive.
 *
 * VS_RV64_LIST(X): X(NAME, mnemonic, match, mask, format, class, extension). A word w is that
 * instruction if (w & mask) == match. No two rows match the same word. Memory operands need no
 * column, since bits 13:12 of every load, store and atomic are the logarithm of its size.
 *
 * VS_RV64C_LIST(X): X(NAME, match, mask, format, EXPANSION, needs). A compressed instruction is the
 * row of the list above that it expands to, with the operands that `format` finds. `needs` names
 * a field that must not be zero, or else the word is reserved. Where two rows match a word, the one
 * whose mask comes first in VS_RV64C_MASKS is meant.
 */
#ifndef ISA_RV64_RV64_LIST_H
#define ISA_RV64_RV64_LIST_H

/* clang-format off */

/* Formats: where operands lie, and how they are written.
 *   NONE              -
 *   R    rd,rs1,rs2       R1   rd,rs1          I    rd,rs1,imm      SH  rd,rs1,shamt (6 bits)
 *   SHW  rd,rs1,shamt(5)  U    rd,imm          J    rd,target       B   rs1,rs2,target
 *   LOAD rd,imm(rs1)      STORE rs2,imm(rs1)   JALR rd,imm(rs1)     LR  rd,(rs1)
 *   AMO  rd,rs2,(rs1)     FENCE pred,succ      CSR  rd,csr,rs1      CSRI rd,csr,imm
 *   FLOAD, FSTORE         like LOAD and STORE, with a floating-point register
 *   FFF  fd,fs1,fs2       FFFR, FFFFR, FFR, XFR, FXR: f or x for each operand, with a rounding mode
 *   XF, FX, XFF           the same, without a rounding mode
 */
#define VS_RV64_LIST(X) \
    X(LUI,       "lui",       0x00000037, 0x0000007f, U,     ALU,    I) \
    X(AUIPC,     "auipc",     0x00000017, 0x0000007f, U,     ALU,    I) \
    X(JAL,       "jal",       0x0000006f, 0x0000007f, J,     JAL,    I) \
    X(JALR,      "jalr",      0x00000067, 0x0000707f, JALR,  JALR,   I) \
    X(BEQ,       "beq",       0x00000063, 0x0000707f, B,     BRANCH, I) \
    X(BNE,       "bne",       0x00001063, 0x0000707f, B,     BRANCH, I) \
    X(BLT,       "blt",       0x00004063, 0x0000707f, B,     BRANCH, I) \
    X(BGE,       "bge",       0x00005063, 0x0000707f, B,     BRANCH, I) \
    X(BLTU,      "bltu",      0x00006063, 0x0000707f, B,     BRANCH, I) \
    X(BGEU,      "bgeu",      0x00007063, 0x0000707f, B,     BRANCH, I) \
    X(LB,        "lb",        0x00000003, 0x0000707f, LOAD,  LOAD,   I) \
    X(LH,        "lh",        0x00001003, 0x0000707f, LOAD,  LOAD,   I) \
    X(LW,        "lw",        0x00002003, 0x0000707f, LOAD,  LOAD,   I) \
    X(LD,        "ld",        0x00003003, 0x0000707f, LOAD,  LOAD,   I) \
    X(LBU,       "lbu",       0x00004003, 0x0000707f, LOAD,  LOAD,   I) \
    X(LHU,       "lhu",       0x00005003, 0x0000707f, LOAD,  LOAD,   I) \
    X(LWU,       "lwu",       0x00006003, 0x0000707f, LOAD,  LOAD,   I) \
    X(SB,        "sb",        0x00000023, 0x0000707f, STORE, STORE,  I) \
    X(SH,        "sh",        0x00001023, 0x0000707f, STORE, STORE,  I) \
    X(SW,        "sw",        0x00002023, 0x0000707f, STORE, STORE,  I) \
    X(SD,        "sd",        0x00003023, 0x0000707f, STORE, STORE,  I) \
    X(ADDI,      "addi",      0x00000013, 0x0000707f, I,     ALU,    I) \
    X(SLTI,      "slti",      0x00002013, 0x0000707f, I,     ALU,    I) \
    X(SLTIU,     "sltiu",     0x00003013, 0x0000707f, I,     ALU,    I) \
    X(XORI,      "xori",      0x00004013, 0x0000707f, I,     ALU,    I) \
    X(ORI,       "ori",       0x00006013, 0x0000707f, I,     ALU,    I) \
    X(ANDI,      "andi",      0x00007013, 0x0000707f, I,     ALU,    I) \
    X(ADDIW,     "addiw",     0x0000001b, 0x0000707f, I,     ALU,    I) \
    X(SLLI,      "slli",      0x00001013, 0xfc00707f, SH,    ALU,    I) \
    X(SRLI,      "srli",      0x00005013, 0xfc00707f, SH,    ALU,    I) \
    X(SRAI,      "srai",      0x40005013, 0xfc00707f, SH,    ALU,    I) \
    X(SLLIW,     "slliw",     0x0000101b, 0xfe00707f, SHW,   ALU,    I) \
    X(SRLIW,     "srliw",     0x0000501b, 0xfe00707f, SHW,   ALU,    I) \
    X(SRAIW,     "sraiw",     0x4000501b, 0xfe00707f, SHW,   ALU,    I) \
    X(ADD,       "add",       0x00000033, 0xfe00707f, R,     ALU,    I) \
    X(SUB,       "sub",       0x40000033, 0xfe00707f, R,     ALU,    I) \
    X(SLL,       "sll",       0x00001033, 0xfe00707f, R,     ALU,    I) \
    X(SLT,       "slt",       0x00002033, 0xfe00707f, R,     ALU,    I) \
    X(SLTU,      "sltu",      0x00003033, 0xfe00707f, R,     ALU,    I) \
    X(XOR,       "xor",       0x00004033, 0xfe00707f, R,     ALU,    I) \
    X(SRL,       "srl",       0x00005033, 0xfe00707f, R,     ALU,    I) \
    X(SRA,       "sra",       0x40005033, 0xfe00707f, R,     ALU,    I) \
    X(OR,        "or",        0x00006033, 0xfe00707f, R,     ALU,    I) \
    X(AND,       "and",       0x00007033, 0xfe00707f, R,     ALU,    I) \
    X(ADDW,      "addw",      0x0000003b, 0xfe00707f, R,     ALU,    I) \
    X(SUBW,      "subw",      0x4000003b, 0xfe00707f, R,     ALU,    I) \
    X(SLLW,      "sllw",      0x0000103b, 0xfe00707f, R,     ALU,    I) \
    X(SRLW,      "srlw",      0x0000503b, 0xfe00707f, R,     ALU,    I) \
    X(SRAW,      "sraw",      0x4000503b, 0xfe00707f, R,     ALU,    I) \
    X(FENCE,     "fence",     0x0000000f, 0x0000707f, FENCE, FENCE,  I) \
    X(ECALL,     "ecall",     0x00000073, 0xffffffff, NONE,  ECALL,  I) \
    X(EBREAK,    "ebreak",    0x00100073, 0xffffffff, NONE,  EBREAK, I) \
    X(FENCE_I,   "fence.i",   0x0000100f, 0x0000707f, NONE,  FENCEI, ZIFENCEI) \
    X(CSRRW,     "csrrw",     0x00001073, 0x0000707f, CSR,   CSR,    ZICSR) \
    X(CSRRS,     "csrrs",     0x00002073, 0x0000707f, CSR,   CSR,    ZICSR) \
    X(CSRRC,     "csrrc",     0x00003073, 0x0000707f, CSR,   CSR,    ZICSR) \
    X(CSRRWI,    "csrrwi",    0x00005073, 0x0000707f, CSRI,  CSR,    ZICSR) \
    X(CSRRSI,    "csrrsi",    0x00006073, 0x0000707f, CSRI,  CSR,    ZICSR) \
    X(CSRRCI,    "csrrci",    0x00007073, 0x0000707f, CSRI,  CSR,    ZICSR) \
    X(MUL,       "mul",       0x02000033, 0xfe00707f, R,     MUL,    M) \
    X(MULH,      "mulh",      0x02001033, 0xfe00707f, R,     MUL,    M) \
    X(MULHSU,    "mulhsu",    0x02002033, 0xfe00707f, R,     MUL,    M) \
    X(MULHU,     "mulhu",     0x02003033, 0xfe00707f, R,     MUL,    M) \
    X(DIV,       "div",       0x02004033, 0xfe00707f, R,     DIV,    M) \
    X(DIVU,      "divu",      0x02005033, 0xfe00707f, R,     DIV,    M) \
    X(REM,       "rem",       0x02006033, 0xfe00707f, R,     DIV,    M) \
    X(REMU,      "remu",      0x02007033, 0xfe00707f, R,     DIV,    M) \
    X(MULW,      "mulw",      0x0200003b, 0xfe00707f, R,     MUL,    M) \
    X(DIVW,      "divw",      0x0200403b, 0xfe00707f, R,     DIV,    M) \
    X(DIVUW,     "divuw",     0x0200503b, 0xfe00707f, R,     DIV,    M) \
    X(REMW,      "remw",      0x0200603b, 0xfe00707f, R,     DIV,    M) \
    X(REMUW,     "remuw",     0x0200703b, 0xfe00707f, R,     DIV,    M) \
    X(LR_W,      "lr.w",      0x1000202f, 0xf9f0707f, LR,    LR,     A) \
    X(SC_W,      "sc.w",      0x1800202f, 0xf800707f, AMO,   SC,     A) \
    X(AMOSWAP_W, "amoswap.w", 0x0800202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOADD_W,  "amoadd.w",  0x0000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOXOR_W,  "amoxor.w",  0x2000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOAND_W,  "amoand.w",  0x6000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOOR_W,   "amoor.w",   0x4000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMIN_W,  "amomin.w",  0x8000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMAX_W,  "amomax.w",  0xa000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMINU_W, "amominu.w", 0xc000202f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMAXU_W, "amomaxu.w", 0xe000202f, 0xf800707f, AMO,   AMO,    A) \
    X(LR_D,      "lr.d",      0x1000302f, 0xf9f0707f, LR,    LR,     A) \
    X(SC_D,      "sc.d",      0x1800302f, 0xf800707f, AMO,   SC,     A) \
    X(AMOSWAP_D, "amoswap.d", 0x0800302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOADD_D,  "amoadd.d",  0x0000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOXOR_D,  "amoxor.d",  0x2000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOAND_D,  "amoand.d",  0x6000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOOR_D,   "amoor.d",   0x4000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMIN_D,  "amomin.d",  0x8000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMAX_D,  "amomax.d",  0xa000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMINU_D, "amominu.d", 0xc000302f, 0xf800707f, AMO,   AMO,    A) \
    X(AMOMAXU_D, "amomaxu.d", 0xe000302f, 0xf800707f, AMO,   AMO,    A) \
    X(FLW,       "flw",       0x00002007, 0x0000707f, FLOAD, LOAD,   F) \
    X(FSW,       "fsw",       0x00002027, 0x0000707f, FSTORE,STORE,  F) \
    X(FMADD_S,   "fmadd.s",   0x00000043, 0x0600007f, FFFFR, FMA,    F) \
    X(FMSUB_S,   "fmsub.s",   0x00000047, 0x0600007f, FFFFR, FMA,    F) \
    X(FNMSUB_S,  "fnmsub.s",  0x0000004b, 0x0600007f, FFFFR, FMA,    F) \
    X(FNMADD_S,  "fnmadd.s",  0x0000004f, 0x0600007f, FFFFR, FMA,    F) \
    X(FADD_S,    "fadd.s",    0x00000053, 0xfe00007f, FFFR,  FADD,   F) \
    X(FSUB_S,    "fsub.s",    0x08000053, 0xfe00007f, FFFR,  FADD,   F) \
    X(FMUL_S,    "fmul.s",    0x10000053, 0xfe00007f, FFFR,  FMUL,   F) \
    X(FDIV_S,    "fdiv.s",    0x18000053, 0xfe00007f, FFFR,  FDIV,   F) \
    X(FSQRT_S,   "fsqrt.s",   0x58000053, 0xfff0007f, FFR,   FSQRT,  F) \
    X(FSGNJ_S,   "fsgnj.s",   0x20000053, 0xfe00707f, FFF,   FMOVE,  F) \
    X(FSGNJN_S,  "fsgnjn.s",  0x20001053, 0xfe00707f, FFF,   FMOVE,  F) \
    X(FSGNJX_S,  "fsgnjx.s",  0x20002053, 0xfe00707f, FFF,   FMOVE,  F) \
    X(FMIN_S,    "fmin.s",    0x28000053, 0xfe00707f, FFF,   FCMP,   F) \
    X(FMAX_S,    "fmax.s",    0x28001053, 0xfe00707f, FFF,   FCMP,   F) \
    X(FCVT_W_S,  "fcvt.w.s",  0xc0000053, 0xfff0007f, XFR,   FCVT,   F) \
    X(FCVT_WU_S, "fcvt.wu.s", 0xc0100053, 0xfff0007f, XFR,   FCVT,   F) \
    X(FCVT_L_S,  "fcvt.l.s",  0xc0200053, 0xfff0007f, XFR,   FCVT,   F) \
    X(FCVT_LU_S, "fcvt.lu.s", 0xc0300053, 0xfff0007f, XFR,   FCVT,   F) \
    X(FMV_X_W,   "fmv.x.w",   0xe0000053, 0xfff0707f, XF,    FMOVE,  F) \
    X(FEQ_S,     "feq.s",     0xa0002053, 0xfe00707f, XFF,   FCMP,   F) \
    X(FLT_S,     "flt.s",     0xa0001053, 0xfe00707f, XFF,   FCMP,   F) \
    X(FLE_S,     "fle.s",     0xa0000053, 0xfe00707f, XFF,   FCMP,   F) \
    X(FCLASS_S,  "fclass.s",  0xe0001053, 0xfff0707f, XF,    FMOVE,  F) \
    X(FCVT_S_W,  "fcvt.s.w",  0xd0000053, 0xfff0007f, FXR,   FCVT,   F) \
    X(FCVT_S_WU, "fcvt.s.wu", 0xd0100053, 0xfff0007f, FXR,   FCVT,   F) \
    X(FCVT_S_L,  "fcvt.s.l",  0xd0200053, 0xfff0007f, FXR,   FCVT,   F) \
    X(FCVT_S_LU, "fcvt.s.lu", 0xd0300053, 0xfff0007f, FXR,   FCVT,   F) \
    X(FMV_W_X,   "fmv.w.x",   0xf0000053, 0xfff0707f, FX,    FMOVE,  F) \
    X(FLD,       "fld",       0x00003007, 0x0000707f, FLOAD, LOAD,   D) \
    X(FSD,       "fsd",       0x00003027, 0x0000707f, FSTORE,STORE,  D) \
    X(FMADD_D,   "fmadd.d",   0x02000043, 0x0600007f, FFFFR, FMA,    D) \
    X(FMSUB_D,   "fmsub.d",   0x02000047, 0x0600007f, FFFFR, FMA,    D) \
    X(FNMSUB_D,  "fnmsub.d",  0x0200004b, 0x0600007f, FFFFR, FMA,    D) \
    X(FNMADD_D,  "fnmadd.d",  0x0200004f, 0x0600007f, FFFFR, FMA,    D) \
    X(FADD_D,    "fadd.d",    0x02000053, 0xfe00007f, FFFR,  FADD,   D) \
    X(FSUB_D,    "fsub.d",    0x0a000053, 0xfe00007f, FFFR,  FADD,   D) \
    X(FMUL_D,    "fmul.d",    0x12000053, 0xfe00007f, FFFR,  FMUL,   D) \
    X(FDIV_D,    "fdiv.d",    0x1a000053, 0xfe00007f, FFFR,  FDIV,   D) \
    X(FSQRT_D,   "fsqrt.d",   0x5a000053, 0xfff0007f, FFR,   FSQRT,  D) \
    X(FSGNJ_D,   "fsgnj.d",   0x22000053, 0xfe00707f, FFF,   FMOVE,  D) \
    X(FSGNJN_D,  "fsgnjn.d",  0x22001053, 0xfe00707f, FFF,   FMOVE,  D) \
    X(FSGNJX_D,  "fsgnjx.d",  0x22002053, 0xfe00707f, FFF,   FMOVE,  D) \
    X(FMIN_D,    "fmin.d",    0x2a000053, 0xfe00707f, FFF,   FCMP,   D) \
    X(FMAX_D,    "fmax.d",    0x2a001053, 0xfe00707f, FFF,   FCMP,   D) \
    X(FCVT_S_D,  "fcvt.s.d",  0x40100053, 0xfff0007f, FFR,   FCVT,   D) \
    X(FCVT_D_S,  "fcvt.d.s",  0x42000053, 0xfff0007f, FFR,   FCVT,   D) \
    X(FEQ_D,     "feq.d",     0xa2002053, 0xfe00707f, XFF,   FCMP,   D) \
    X(FLT_D,     "flt.d",     0xa2001053, 0xfe00707f, XFF,   FCMP,   D) \
    X(FLE_D,     "fle.d",     0xa2000053, 0xfe00707f, XFF,   FCMP,   D) \
    X(FCLASS_D,  "fclass.d",  0xe2001053, 0xfff0707f, XF,    FMOVE,  D) \
    X(FCVT_W_D,  "fcvt.w.d",  0xc2000053, 0xfff0007f, XFR,   FCVT,   D) \
    X(FCVT_WU_D, "fcvt.wu.d", 0xc2100053, 0xfff0007f, XFR,   FCVT,   D) \
    X(FCVT_L_D,  "fcvt.l.d",  0xc2200053, 0xfff0007f, XFR,   FCVT,   D) \
    X(FCVT_LU_D, "fcvt.lu.d", 0xc2300053, 0xfff0007f, XFR,   FCVT,   D) \
    X(FMV_X_D,   "fmv.x.d",   0xe2000053, 0xfff0707f, XF,    FMOVE,  D) \
    X(FCVT_D_W,  "fcvt.d.w",  0xd2000053, 0xfff0007f, FXR,   FCVT,   D) \
    X(FCVT_D_WU, "fcvt.d.wu", 0xd2100053, 0xfff0007f, FXR,   FCVT,   D) \
    X(FCVT_D_L,  "fcvt.d.l",  0xd2200053, 0xfff0007f, FXR,   FCVT,   D) \
    X(FCVT_D_LU, "fcvt.d.lu", 0xd2300053, 0xfff0007f, FXR,   FCVT,   D) \
    X(FMV_D_X,   "fmv.d.x",   0xf2000053, 0xfff0707f, FX,    FMOVE,  D) \
    X(ADD_UW,    "add.uw",    0x0800003b, 0xfe00707f, R,     ALU,    ZBA) \
    X(SH1ADD,    "sh1add",    0x20002033, 0xfe00707f, R,     ALU,    ZBA) \
    X(SH2ADD,    "sh2add",    0x20004033, 0xfe00707f, R,     ALU,    ZBA) \
    X(SH3ADD,    "sh3add",    0x20006033, 0xfe00707f, R,     ALU,    ZBA) \
    X(SH1ADD_UW, "sh1add.uw", 0x2000203b, 0xfe00707f, R,     ALU,    ZBA) \
    X(SH2ADD_UW, "sh2add.uw", 0x2000403b, 0xfe00707f, R,     ALU,    ZBA) \
    X(SH3ADD_UW, "sh3add.uw", 0x2000603b, 0xfe00707f, R,     ALU,    ZBA) \
    X(SLLI_UW,   "slli.uw",   0x0800101b, 0xfc00707f, SH,    ALU,    ZBA) \
    X(ANDN,      "andn",      0x40007033, 0xfe00707f, R,     ALU,    ZBB) \
    X(ORN,       "orn",       0x40006033, 0xfe00707f, R,     ALU,    ZBB) \
    X(XNOR,      "xnor",      0x40004033, 0xfe00707f, R,     ALU,    ZBB) \
    X(CLZ,       "clz",       0x60001013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(CTZ,       "ctz",       0x60101013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(CPOP,      "cpop",      0x60201013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(CLZW,      "clzw",      0x6000101b, 0xfff0707f, R1,    ALU,    ZBB) \
    X(CTZW,      "ctzw",      0x6010101b, 0xfff0707f, R1,    ALU,    ZBB) \
    X(CPOPW,     "cpopw",     0x6020101b, 0xfff0707f, R1,    ALU,    ZBB) \
    X(SEXT_B,    "sext.b",    0x60401013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(SEXT_H,    "sext.h",    0x60501013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(ZEXT_H,    "zext.h",    0x0800403b, 0xfff0707f, R1,    ALU,    ZBB) \
    X(ORC_B,     "orc.b",     0x28705013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(REV8,      "rev8",      0x6b805013, 0xfff0707f, R1,    ALU,    ZBB) \
    X(MAX,       "max",       0x0a006033, 0xfe00707f, R,     ALU,    ZBB) \
    X(MAXU,      "maxu",      0x0a007033, 0xfe00707f, R,     ALU,    ZBB) \
    X(MIN,       "min",       0x0a004033, 0xfe00707f, R,     ALU,    ZBB) \
    X(MINU,      "minu",      0x0a005033, 0xfe00707f, R,     ALU,    ZBB) \
    X(ROL,       "rol",       0x60001033, 0xfe00707f, R,     ALU,    ZBB) \
    X(ROR,       "ror",       0x60005033, 0xfe00707f, R,     ALU,    ZBB) \
    X(ROLW,      "rolw",      0x6000103b, 0xfe00707f, R,     ALU,    ZBB) \
    X(RORW,      "rorw",      0x6000503b, 0xfe00707f, R,     ALU,    ZBB) \
    X(RORI,      "rori",      0x60005013, 0xfc00707f, SH,    ALU,    ZBB) \
    X(RORIW,     "roriw",     0x6000501b, 0xfe00707f, SHW,   ALU,    ZBB) \
    X(BCLR,      "bclr",      0x48001033, 0xfe00707f, R,     ALU,    ZBS) \
    X(BEXT,      "bext",      0x48005033, 0xfe00707f, R,     ALU,    ZBS) \
    X(BINV,      "binv",      0x68001033, 0xfe00707f, R,     ALU,    ZBS) \
    X(BSET,      "bset",      0x28001033, 0xfe00707f, R,     ALU,    ZBS) \
    X(BCLRI,     "bclri",     0x48001013, 0xfc00707f, SH,    ALU,    ZBS) \
    X(BEXTI,     "bexti",     0x48005013, 0xfc00707f, SH,    ALU,    ZBS) \
    X(BINVI,     "binvi",     0x68001013, 0xfc00707f, SH,    ALU,    ZBS) \
    X(BSETI,     "bseti",     0x28001013, 0xfc00707f, SH,    ALU,    ZBS)

/* Every mask of VS_RV64_LIST. */
#define VS_RV64_MASKS(X) \
    X(0x0000707f) X(0x0000007f) X(0xfe00707f) X(0xfff0707f) X(0xfc00707f) X(0xf800707f) \
    X(0xf9f0707f) X(0xfe00007f) X(0xfff0007f) X(0x0600007f) X(0xffffffff)

/* Formats of compressed instructions. A register is full (5 bits), or prime (3 bits: x8 to x15).
 *   ADDI4SPN rd' = sp+imm           LW LD FLD rd',imm(rs1')      SW SD FSD rs2',imm(rs1')
 *   CI       rd = rd op imm         LI rd = x0 op imm            LUI rd = imm
 *   ADDI16SP sp = sp+imm            SHIFT rd' op shamt           ANDI rd' op imm
 *   CA       rd' = rd' op rs2'      J target                     BZ rs1',target
 *   SLLI     rd = rd << shamt       LWSP LDSP FLDSP rd,imm(sp)   SWSP SDSP FSDSP rs2,imm(sp)
 *   JR JALR  rs1                    MV rd = x0+rs2               ADD rd = rd+rs2
 *   EBREAK   -
 */
#define VS_RV64C_LIST(X) \
    X(C_ADDI4SPN, 0x0000, 0xe003, ADDI4SPN, ADDI,   IMM) \
    X(C_FLD,      0x2000, 0xe003, LD,       FLD,    NOTHING) \
    X(C_LW,       0x4000, 0xe003, LW,       LW,     NOTHING) \
    X(C_LD,       0x6000, 0xe003, LD,       LD,     NOTHING) \
    X(C_FSD,      0xa000, 0xe003, SD,       FSD,    NOTHING) \
    X(C_SW,       0xc000, 0xe003, SW,       SW,     NOTHING) \
    X(C_SD,       0xe000, 0xe003, SD,       SD,     NOTHING) \
    X(C_ADDI,     0x0001, 0xe003, CI,       ADDI,   NOTHING) \
    X(C_ADDIW,    0x2001, 0xe003, CI,       ADDIW,  RD) \
    X(C_LI,       0x4001, 0xe003, LI,       ADDI,   NOTHING) \
    X(C_ADDI16SP, 0x6101, 0xef83, ADDI16SP, ADDI,   IMM) \
    X(C_LUI,      0x6001, 0xe003, LUI,      LUI,    IMM) \
    X(C_SRLI,     0x8001, 0xec03, SHIFT,    SRLI,   NOTHING) \
    X(C_SRAI,     0x8401, 0xec03, SHIFT,    SRAI,   NOTHING) \
    X(C_ANDI,     0x8801, 0xec03, ANDI,     ANDI,   NOTHING) \
    X(C_SUB,      0x8c01, 0xfc63, CA,       SUB,    NOTHING) \
    X(C_XOR,      0x8c21, 0xfc63, CA,       XOR,    NOTHING) \
    X(C_OR,       0x8c41, 0xfc63, CA,       OR,     NOTHING) \
    X(C_AND,      0x8c61, 0xfc63, CA,       AND,    NOTHING) \
    X(C_SUBW,     0x9c01, 0xfc63, CA,       SUBW,   NOTHING) \
    X(C_ADDW,     0x9c21, 0xfc63, CA,       ADDW,   NOTHING) \
    X(C_J,        0xa001, 0xe003, J,        JAL,    NOTHING) \
    X(C_BEQZ,     0xc001, 0xe003, BZ,       BEQ,    NOTHING) \
    X(C_BNEZ,     0xe001, 0xe003, BZ,       BNE,    NOTHING) \
    X(C_SLLI,     0x0002, 0xe003, SLLI,     SLLI,   NOTHING) \
    X(C_FLDSP,    0x2002, 0xe003, LDSP,     FLD,    NOTHING) \
    X(C_LWSP,     0x4002, 0xe003, LWSP,     LW,     RD) \
    X(C_LDSP,     0x6002, 0xe003, LDSP,     LD,     RD) \
    X(C_JR,       0x8002, 0xf07f, JR,       JALR,   RS1) \
    X(C_MV,       0x8002, 0xf003, MV,       ADD,    NOTHING) \
    X(C_EBREAK,   0x9002, 0xffff, EBREAK,   EBREAK, NOTHING) \
    X(C_JALR,     0x9002, 0xf07f, LINK,     JALR,   NOTHING) \
    X(C_ADD,      0x9002, 0xf003, ADD,      ADD,    NOTHING) \
    X(C_FSDSP,    0xa002, 0xe003, SDSP,     FSD,    NOTHING) \
    X(C_SWSP,     0xc002, 0xe003, SWSP,     SW,     NOTHING) \
    X(C_SDSP,     0xe002, 0xe003, SDSP,     SD,     NOTHING)

#define VS_RV64C_MASKS(X) \
    X(0xffff) X(0xf07f) X(0xef83) X(0xfc63) X(0xec03) X(0xf003) X(0xe003)

/* clang-format on */

#endif
