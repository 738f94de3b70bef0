/* SPDX-License-Identifier: MIT */
/* Encodings of the RV64GCV instructions that generated programs are made of. Every function returns
 * the instruction word; a compressed one (rvc_) is in its low 16 bits. Offsets must fit. */
#ifndef GEN_RV64_H
#define GEN_RV64_H

#include <stdint.h>

/* x5 is an alternate link register: a jalr through it reads as a return. Indirect jumps and calls
 * therefore go through X_A5. */
enum { X_ZERO = 0, X_RA = 1, X_SP = 2, X_A0 = 10, X_A5 = 15, X_A7 = 17 };

enum { RV_ECALL = 0x73, CSR_CYCLE = 0xc00, CSR_TIME = 0xc01 };
enum { AMO_ADD = 0, AMO_SWAP = 1, AMO_LR = 2, AMO_SC = 3 };

static inline uint32_t rv_i(uint32_t opcode, uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return (uint32_t)imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | opcode;
}

static inline uint32_t rv_addi(uint32_t rd, uint32_t rs1, int32_t imm)
{
    return rv_i(0x13, 0, rd, rs1, imm);
}

/* log2 of the operand's size is f3 for integer and floating-point accesses alike. */
static inline uint32_t rv_load(uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return rv_i(0x03, f3, rd, rs1, imm);
}

static inline uint32_t rv_fload(uint32_t f3, uint32_t rd, uint32_t rs1, int32_t imm)
{
    return rv_i(0x07, f3, rd, rs1, imm);
}

static inline uint32_t rv_s(uint32_t opcode, uint32_t f3, uint32_t rs2, uint32_t rs1, int32_t imm)
{
    uint32_t u = (uint32_t)imm;
    return (u >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | (u & 0x1f) << 7 | opcode;
}

static inline uint32_t rv_store(uint32_t f3, uint32_t rs2, uint32_t rs1, int32_t imm)
{
    return rv_s(0x23, f3, rs2, rs1, imm);
}

static inline uint32_t rv_fstore(uint32_t f3, uint32_t rs2, uint32_t rs1, int32_t imm)
{
    return rv_s(0x27, f3, rs2, rs1, imm);
}

static inline uint32_t rv_amo(uint32_t op, uint32_t f3, uint32_t rd, uint32_t rs1, uint32_t rs2)
{
    return op << 27 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | 0x2f;
}

/* vl<n>re8.v and vs<n>r.v: n whole registers, n = 1, 2, 4, 8; v is a multiple of n. */
static inline uint32_t rv_vload(uint32_t n, uint32_t v, uint32_t rs1)
{
    return (n - 1) << 29 | 1u << 25 | 8u << 20 | rs1 << 15 | v << 7 | 0x07;
}

static inline uint32_t rv_vstore(uint32_t n, uint32_t v, uint32_t rs1)
{
    return (n - 1) << 29 | 1u << 25 | 8u << 20 | rs1 << 15 | v << 7 | 0x27;
}

static inline uint32_t rv_csr_read(uint32_t rd, uint32_t csr)
{
    return csr << 20 | 2u << 12 | rd << 7 | 0x73;
}

static inline uint32_t rv_branch(uint32_t f3, uint32_t rs1, uint32_t rs2, int32_t offset)
{
    uint32_t u = (uint32_t)offset;
    return (u >> 12 & 1) << 31 | (u >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 |
           (u >> 1 & 0xf) << 8 | (u >> 11 & 1) << 7 | 0x63;
}

static inline uint32_t rv_jal(uint32_t rd, int32_t offset)
{
    uint32_t u = (uint32_t)offset;
    return (u >> 20 & 1) << 31 | (u >> 1 & 0x3ff) << 21 | (u >> 11 & 1) << 20 |
           (u >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}

static inline uint32_t rv_jalr(uint32_t rd, uint32_t rs1)
{
    return rv_i(0x67, 0, rd, rs1, 0);
}

/* imm is -32 to 31, not 0 */
static inline uint32_t rvc_addi(uint32_t rd, int32_t imm)
{
    uint32_t u = (uint32_t)imm;
    return (u >> 5 & 1) << 12 | rd << 7 | (u & 0x1f) << 2 | 1;
}

/* c.lw, c.ld, c.fld and their stores at offset 0; a and b are registers x8 to x15 (f8 to f15). */
static inline uint32_t rvc_mem(uint32_t f3, uint32_t a, uint32_t b)
{
    return f3 << 13 | (b - 8) << 7 | (a - 8) << 2;
}

/* offset is a multiple of 8 below 512 */
static inline uint32_t rvc_ldsp(uint32_t rd, uint32_t offset)
{
    return 3u << 13 | (offset >> 5 & 1) << 12 | rd << 7 | (offset >> 3 & 3) << 5 |
           (offset >> 6 & 7) << 2 | 2;
}

static inline uint32_t rvc_sdsp(uint32_t rs2, uint32_t offset)
{
    return 7u << 13 | (offset >> 3 & 7) << 10 | (offset >> 6 & 7) << 7 | rs2 << 2 | 2;
}

static inline uint32_t rvc_j(int32_t offset)
{
    uint32_t u = (uint32_t)offset;
    return 5u << 13 | (u >> 11 & 1) << 12 | (u >> 4 & 1) << 11 | (u >> 8 & 3) << 9 |
           (u >> 10 & 1) << 8 | (u >> 6 & 1) << 7 | (u >> 7 & 1) << 6 | (u >> 1 & 7) << 3 |
           (u >> 5 & 1) << 2 | 1;
}

/* c.beqz, or c.bnez; rs1 is x8 to x15 */
static inline uint32_t rvc_branch(uint32_t nonzero, uint32_t rs1, int32_t offset)
{
    uint32_t u = (uint32_t)offset;
    return (6u | nonzero) << 13 | (u >> 8 & 1) << 12 | (u >> 3 & 3) << 10 | (rs1 - 8) << 7 |
           (u >> 6 & 3) << 5 | (u >> 1 & 3) << 3 | (u >> 5 & 1) << 2 | 1;
}

static inline uint32_t rvc_jr(uint32_t rs1)
{
    return 4u << 13 | rs1 << 7 | 2;
}

static inline uint32_t rvc_jalr(uint32_t rs1)
{
    return 4u << 13 | 1u << 12 | rs1 << 7 | 2;
}

#endif
