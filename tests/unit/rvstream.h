/* SPDX-License-Identifier: MIT */
/* Random RV64 programs for tests of the simulator: static ELF files that execute blocks of random
 * instructions, every one of the list among them, on special operands, and after each block write
 * all registers to standard output; at the end, the data they stored to. */
#ifndef RVSTREAM_H
#define RVSTREAM_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "isa/rv64/rv64.h"
#include "rng.h"
#include "unittest.h"

/* Registers with a purpose; all others are random. */
enum {
    RV_ZERO = 0,
    RV_DATA = 2, /* in the middle of the data: constants below, variables above */
    RV_DUMP = 3, /* where registers are written to */
    RV_LINK = 4, /* return address of the routine that does it */
    RV_A0 = 10,
    RV_A7 = 17,
};

#define RV_BASE      UINT64_C(0x10000)
#define RV_CODE      (RV_BASE + 0x1000)
#define RV_HALF      2048                /* bytes of constants, and of variables */
#define RV_DUMP_SIZE ((32 + 32 + 1) * 8) /* x, f, fcsr */
#define RV_BLOCK     24                  /* random choices in a block */

struct rvstream {
    struct rng rng;
    uint8_t *image; /* from RV_BASE on */
    size_t size, capacity;
    uint64_t data; /* value of RV_DATA */
    uint64_t dump; /* value of RV_DUMP */
    uint64_t routine;
    uint64_t *blocks; /* address of each */
    size_t block_count;
    uint16_t *compressed; /* words that compute, or access memory */
    size_t compressed_count;
    unsigned used[VS_RV64_OPS]; /* how often each operation was emitted */
};

static inline uint64_t rv_here(const struct rvstream *s)
{
    return RV_BASE + s->size;
}

static inline void rv_bytes(struct rvstream *s, const void *bytes, size_t size)
{
    CHECK(s->size + size <= s->capacity);
    memcpy(s->image + s->size, bytes, size);
    s->size += size;
}

static inline void rv_word(struct rvstream *s, uint32_t word)
{
    struct vs_rv64_insn insn;
    if (vs_rv64_insn_decode(word, &insn))
        unittest_fail(__FILE__, __LINE__, "%08x is no instruction", word);
    s->used[insn.op]++;
    rv_bytes(s, &word, insn.length);
}

/* ---- encoding ------------------------------------------------------------------------------- */

static inline uint32_t rv_match(unsigned op)
{
    return vs_rv64_row(op)->match;
}

static inline uint32_t rv_i(unsigned op, unsigned rd, unsigned rs1, int imm)
{
    return rv_match(op) | rd << 7 | rs1 << 15 | (uint32_t)imm << 20;
}

static inline uint32_t rv_s(unsigned op, unsigned rs2, unsigned rs1, int imm)
{
    uint32_t i = (uint32_t)imm;
    return rv_match(op) | (i & 31) << 7 | rs1 << 15 | rs2 << 20 | (i >> 5 & 127) << 25;
}

static inline uint32_t rv_b(unsigned op, unsigned rs1, unsigned rs2, int imm)
{
    uint32_t i = (uint32_t)imm;
    return rv_match(op) | (i >> 11 & 1) << 7 | (i >> 1 & 15) << 8 | rs1 << 15 | rs2 << 20 |
           (i >> 5 & 63) << 25 | (i >> 12 & 1) << 31;
}

static inline uint32_t rv_j(unsigned rd, int imm)
{
    uint32_t i = (uint32_t)imm;
    return rv_match(VS_RV64_JAL) | rd << 7 | (i & 0xff000) | (i >> 11 & 1) << 20 |
           (i >> 1 & 1023) << 21 | (i >> 20 & 1) << 31;
}

static inline void rv_load_address(struct rvstream *s, unsigned rd, uint64_t addr)
{
    uint64_t offset = addr - rv_here(s);
    rv_word(s, rv_match(VS_RV64_AUIPC) | rd << 7 | ((uint32_t)(offset + 0x800) & 0xfffff000));
    rv_word(s, rv_i(VS_RV64_ADDI, rd, rd, (int)(offset << 52 >> 52 & 0xfff)));
}

/* ---- operands ------------------------------------------------------------------------------- */

/* Any register that may be changed. */
static inline unsigned rv_target(struct rvstream *s)
{
    unsigned r = (unsigned)rng_below(&s->rng, 32);
    return r == RV_DATA || r == RV_DUMP || r == RV_LINK ? 5 : r;
}

/* One that is not x0 either. */
static inline unsigned rv_pointer(struct rvstream *s)
{
    unsigned r = rv_target(s);
    return r ? r : 6;
}

static inline unsigned rv_any(struct rvstream *s)
{
    return (unsigned)rng_below(&s->rng, 32);
}

static inline uint64_t rv_special_double(struct rng *r)
{
    static const uint64_t special[] = {
        0,
        0x0000000000000001, /* denormals */
        0x0008000000000000,
        0x000fffffffffffff,
        0x0010000000000000, /* smallest normal */
        0x0010000000000001,
        0x3ca0000000000000, /* about half a unit in the last place of 1 */
        0x3fe0000000000000, /* 0.5, 1, 1.5, 2.5 */
        0x3ff0000000000000,
        0x3ff0000000000001,
        0x3ff8000000000000,
        0x4004000000000000,
        0x36a0000000000000, /* about the smallest denormal single */
        0x380fffffffffffff, /* below the smallest normal single */
        0x3810000000000000,
        0x47efffffe0000000, /* the largest single, and what rounds beyond it */
        0x47efffffefffffff,
        0x47effffff0000000,
        0x41dfffffffc00000, /* 2^31 - 1, 2^31, 2^32 - 1, 2^32 */
        0x41dfffffffe00000,
        0x41e0000000000000,
        0x41e0000000100000,
        0x41efffffffe00000,
        0x41efffffffffffff,
        0x41f0000000000000,
        0x43dfffffffffffff, /* below 2^63, 2^63, below 2^64, 2^64 */
        0x43e0000000000000,
        0x43efffffffffffff,
        0x43f0000000000000,
        0x7fefffffffffffff, /* the largest */
        0x7ff0000000000000, /* infinity */
        0x7ff0000000000001, /* signalling NaNs */
        0x7ff7ffffffffffff,
        0x7ff8000000000000, /* quiet NaNs */
        0x7fffffffffffffff,
    };
    uint64_t v = special[rng_below(r, sizeof(special) / sizeof(special[0]))];
    return v | (rng_next(r) & 1) << 63;
}

static inline uint64_t rv_special_single(struct rng *r)
{
    static const uint32_t special[] = {
        0,          0x00000001, 0x00400000, 0x007fffff, 0x00800000, 0x00800001, 0x33800000,
        0x3f000000, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40200000, 0x4effffff, 0x4f000000,
        0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f7fffff, 0x5f800000, 0x7f7fffff,
        0x7f800000, 0x7f800001, 0x7fbfffff, 0x7fc00000, 0x7fffffff,
    };
    uint64_t v = special[rng_below(r, sizeof(special) / sizeof(special[0]))];
    return v | (rng_next(r) & 1) << 31 | UINT64_C(0xffffffff00000000);
}

static inline uint64_t rv_special_integer(struct rng *r)
{
    uint64_t v = UINT64_C(1) << rng_below(r, 64);
    switch (rng_below(r, 4)) {
    case 0:
        return v - rng_below(r, 2);
    case 1:
        return UINT64_C(0) - v;
    case 2:
        return (uint64_t)(int64_t)(int32_t)rng_any(r);
    default:
        return rng_below(r, 2) ? UINT64_MAX : 0;
    }
}

/* Finite numbers of similar magnitude, so that sums cancel and products stay in range. */
static inline uint64_t rv_near_double(struct rng *r)
{
    uint64_t fraction = rng_next(r) >> 12;
    if (rng_below(r, 2))
        fraction &= UINT64_MAX << rng_below(r, 53);
    return (rng_next(r) & 1) << 63 | (1023 - 30 + rng_below(r, 60)) << 52 | fraction;
}

static inline uint64_t rv_near_single(struct rng *r)
{
    uint64_t fraction = rng_next(r) >> 41;
    if (rng_below(r, 2))
        fraction &= UINT64_MAX << rng_below(r, 24);
    return UINT64_C(0xffffffff00000000) | (rng_next(r) & 1) << 31 |
           (127 - 15 + rng_below(r, 30)) << 23 | fraction;
}

static inline uint64_t rv_operand(struct rng *r)
{
    switch (rng_below(r, 8)) {
    case 0:
    case 1:
        return rv_special_double(r);
    case 2:
    case 3:
        return rv_special_single(r);
    case 4:
        return rv_special_integer(r);
    case 5:
        return rv_near_double(r);
    case 6:
        return rv_near_single(r);
    default:
        return rng_next(r);
    }
}

/* Offset of a load or store of any alignment from RV_DATA. */
static inline int rv_load_offset(struct rvstream *s)
{
    return (int)rng_below(&s->rng, 2 * RV_HALF - 8) - RV_HALF;
}

static inline int rv_store_offset(struct rvstream *s)
{
    return (int)rng_below(&s->rng, RV_HALF - 8);
}

/* ---- instructions --------------------------------------------------------------------------- */

/* Instructions that neither jump nor need a prepared register, of `length` bytes in all. */
static inline void rv_fill(struct rvstream *s, unsigned length)
{
    for (; length >= 4 && rng_below(&s->rng, 2); length -= 4)
        rv_word(s, rv_match(VS_RV64_XOR) | rv_target(s) << 7 | rv_any(s) << 15 | rv_any(s) << 20);
    for (; length >= 2; length -= 2)
        rv_word(s, 0x0005 | rv_target(s) << 7 | (uint32_t)rng_below(&s->rng, 32) << 2);
}

static inline void rv_jump(struct rvstream *s, unsigned op)
{
    unsigned skip = 2 * (unsigned)rng_below(&s->rng, 6);
    if (op == VS_RV64_JAL) {
        rv_word(s, rv_j(rv_target(s), (int)(4 + skip)));
    } else if (op == VS_RV64_JALR && rng_below(&s->rng, 2)) {
        unsigned via = rv_pointer(s);
        bool link = rng_below(&s->rng, 2);
        rv_word(s, rv_match(VS_RV64_AUIPC) | via << 7);
        rv_word(s, rv_i(VS_RV64_ADDI, via, via, (int)(4 + 4 + 2 + skip)));
        rv_word(s, (link ? 0x9002u : 0x8002u) | via << 7);
    } else if (op == VS_RV64_JALR) {
        unsigned via = rv_pointer(s);
        rv_word(s, rv_match(VS_RV64_AUIPC) | via << 7);
        /* The lowest bit of the target is ignored. */
        rv_word(s, rv_i(op, rv_target(s), via, (int)(4 + 4 + skip + rng_below(&s->rng, 2))));
    } else if (rng_below(&s->rng, 3) == 0 && skip && (op == VS_RV64_BEQ || op == VS_RV64_BNE)) {
        /* c.beqz, c.bnez by at most 2 + 10 bytes: bits 3:1 of the offset are at 11:10 and 4:3. */
        uint32_t by = 2 + skip;
        rv_word(s, (op == VS_RV64_BEQ ? 0xc001u : 0xe001u) | (uint32_t)rng_below(&s->rng, 8) << 7 |
                       (by >> 3 & 3) << 10 | (by >> 1 & 3) << 3);
    } else {
        rv_word(s, rv_b(op, rv_any(s), rv_any(s), (int)(4 + skip)));
    }
    rv_fill(s, skip);
}

static inline void rv_atomic(struct rvstream *s, unsigned op)
{
    unsigned size = vs_rv64_row(op)->match >> 12 & 1 ? 8 : 4, base = rv_pointer(s);
    uint32_t ordering = (uint32_t)rng_below(&s->rng, 4) << 25;
    unsigned class = vs_rv64_row(op)->class, rd = rv_target(s);
    int offset = rv_store_offset(s) & -(int)size;
    rv_word(s, rv_i(VS_RV64_ADDI, base, RV_DATA, offset));
    if (class == VS_RV64_CLASS_SC) {
        unsigned lr = size == 8 ? VS_RV64_LR_D : VS_RV64_LR_W;
        unsigned got = rv_target(s) == base ? 0 : rv_target(s);
        rv_word(s, rv_match(lr) | (got == base ? 0 : got) << 7 | base << 15 | ordering);
    }
    rd = rd == base && class == VS_RV64_CLASS_SC ? 0 : rd;
    uint32_t rs2 = class == VS_RV64_CLASS_LR ? 0 : rv_any(s);
    rv_word(s, rv_match(op) | rd << 7 | base << 15 | rs2 << 20 | ordering);
    if (class == VS_RV64_CLASS_SC && rng_below(&s->rng, 2)) /* fails */
        rv_word(s, rv_match(op) | rd << 7 | base << 15 | rs2 << 20 | ordering);
}

/* Flags are set, cleared and read in all ways; rounding modes only to what exists. */
static inline void rv_csr(struct rvstream *s, unsigned op)
{
    unsigned rd = rv_target(s), source = rv_any(s), via = rv_pointer(s);
    bool immediate = op >= VS_RV64_CSRRWI;
    switch (rng_below(&s->rng, 4)) {
    case 0:
        rv_word(s, rv_i(VS_RV64_CSRRWI, rd, (unsigned)rng_below(&s->rng, 5), VS_RV64_FRM));
        break;
    case 1:
        rv_word(s, rv_i(VS_RV64_ANDI, via, source, 0x9f));
        rv_word(s, rv_i(VS_RV64_CSRRW, rd, via, VS_RV64_FCSR));
        break;
    case 2:
        rv_word(s, rv_i(VS_RV64_CSRRS, rd, 0, (int)(1 + rng_below(&s->rng, 3))));
        break;
    default:
        rv_word(
            s, rv_i(op, rd, immediate ? (unsigned)rng_below(&s->rng, 32) : source, VS_RV64_FFLAGS));
    }
}

static inline bool rv_rounds(unsigned format)
{
    return format == VS_RV64_FORMAT_FFFR || format == VS_RV64_FORMAT_FFFFR ||
           format == VS_RV64_FORMAT_FFR || format == VS_RV64_FORMAT_XFR ||
           format == VS_RV64_FORMAT_FXR;
}

/* An instruction that only computes: all fields that the mask leaves open are random. */
static inline void rv_compute(struct rvstream *s, unsigned op)
{
    const struct vs_rv64_row *row = vs_rv64_row(op);
    uint32_t word = (uint32_t)rng_next(&s->rng);
    word = (word & ~UINT32_C(0xf80)) | rv_target(s) << 7;
    if (rv_rounds(row->format)) {
        uint32_t rm = (uint32_t)rng_below(&s->rng, 6);
        word = (word & ~UINT32_C(0x7000)) | (rm == 5 ? VS_RV64_DYN : rm) << 12;
    }
    rv_word(s, (word & ~row->mask) | row->match);
}

static inline void rv_compressed(struct rvstream *s)
{
    uint16_t word = s->compressed[rng_below(&s->rng, s->compressed_count)];
    struct vs_rv64_insn insn;
    CHECK_EQ(vs_rv64_insn_decode(word, &insn), 0);
    struct vs_rv64_memory m = vs_rv64_memory(&insn);
    if (m.size && m.base != RV_DATA) {
        int room = RV_HALF - 8 - insn.imm;
        rv_word(s, rv_i(VS_RV64_ADDI, m.base, RV_DATA, (int)rng_below(&s->rng, (uint64_t)room)));
    }
    rv_word(s, word);
}

/* On a word that is not zero: qemu before 8.0 goes on counting in the upper half. */
static inline void rv_ctzw(struct rvstream *s)
{
    unsigned via = rv_pointer(s);
    rv_word(s, rv_i(VS_RV64_BSETI, via, rv_any(s), (int)rng_below(&s->rng, 32)));
    rv_word(s, rv_match(VS_RV64_CTZW) | rv_target(s) << 7 | via << 15);
}

static inline void rv_instruction(struct rvstream *s, unsigned op)
{
    const struct vs_rv64_row *row = vs_rv64_row(op);
    if (op == VS_RV64_CTZW)
        return rv_ctzw(s);
    switch (row->class) {
    case VS_RV64_CLASS_ECALL:
    case VS_RV64_CLASS_EBREAK:
        return rv_compressed(s);
    case VS_RV64_CLASS_BRANCH:
    case VS_RV64_CLASS_JAL:
    case VS_RV64_CLASS_JALR:
        return rv_jump(s, op);
    case VS_RV64_CLASS_LOAD:
        return rv_word(s, rv_i(op, row->format == VS_RV64_FORMAT_LOAD ? rv_target(s) : rv_any(s),
                               RV_DATA, rv_load_offset(s)));
    case VS_RV64_CLASS_STORE:
        return rv_word(s, rv_s(op, rv_any(s), RV_DATA, rv_store_offset(s)));
    case VS_RV64_CLASS_LR:
    case VS_RV64_CLASS_SC:
    case VS_RV64_CLASS_AMO:
        return rv_atomic(s, op);
    case VS_RV64_CLASS_CSR:
        return rv_csr(s, op);
    case VS_RV64_CLASS_FENCE:
        return rv_word(s, 0x0ff0000f);
    case VS_RV64_CLASS_FENCEI:
        return rv_word(s, 0x0000100f);
    default:
        return rv_compute(s, op);
    }
}

/* ---- the program ---------------------------------------------------------------------------- */

/* Compressed words that neither jump, trap nor change a register with a purpose. */
static inline void rv_list_compressed(struct rvstream *s)
{
    s->compressed = malloc(65536 * sizeof(*s->compressed));
    CHECK(s->compressed);
    for (uint32_t word = 0; word < 65536; word++) {
        struct vs_rv64_insn insn;
        if ((word & 3) == 3 || vs_rv64_insn_decode(word, &insn))
            continue;
        unsigned class = vs_rv64_row(insn.op)->class;
        bool is_float = insn.op == VS_RV64_FLD;
        bool purpose = insn.rd == RV_DATA || insn.rd == RV_DUMP || insn.rd == RV_LINK;
        if (class != VS_RV64_CLASS_BRANCH && class != VS_RV64_CLASS_JAL &&
            class != VS_RV64_CLASS_JALR && class != VS_RV64_CLASS_EBREAK && (is_float || !purpose))
            s->compressed[s->compressed_count++] = (uint16_t)word;
    }
}

/* Writes all registers to standard output; changes none but fcsr's copy in memory. */
static inline void rv_emit_routine(struct rvstream *s)
{
    s->routine = rv_here(s);
    for (unsigned r = 0; r < 32; r++)
        rv_word(s, rv_s(VS_RV64_SD, r, RV_DUMP, (int)r * 8));
    for (unsigned r = 0; r < 32; r++)
        rv_word(s, rv_s(VS_RV64_FSD, r, RV_DUMP, 256 + (int)r * 8));
    rv_word(s, rv_i(VS_RV64_CSRRS, 5, 0, VS_RV64_FCSR));
    rv_word(s, rv_s(VS_RV64_SD, 5, RV_DUMP, 512));
    rv_word(s, rv_i(VS_RV64_ADDI, RV_A0, 0, 1));
    rv_word(s, rv_i(VS_RV64_ADDI, 11, RV_DUMP, 0));
    rv_word(s, rv_i(VS_RV64_ADDI, 12, 0, RV_DUMP_SIZE));
    rv_word(s, rv_i(VS_RV64_ADDI, RV_A7, 0, 64));
    rv_word(s, 0x00000073);
    rv_word(s, rv_i(VS_RV64_LD, 5, RV_DUMP, 5 * 8));
    for (unsigned r = RV_A0; r <= RV_A7; r++)
        rv_word(s, rv_i(VS_RV64_LD, r, RV_DUMP, (int)r * 8));
    rv_word(s, rv_i(VS_RV64_JALR, 0, RV_LINK, 0));
}

static inline void rv_emit_block(struct rvstream *s)
{
    s->blocks[s->block_count++] = rv_here(s);
    for (unsigned i = 0; i < 4; i++)
        rv_word(s, rv_i(VS_RV64_LD, rv_target(s), RV_DATA, -8 - 8 * (int)rng_below(&s->rng, 256)));
    for (unsigned i = 0; i < 8; i++)
        rv_word(s, rv_i(VS_RV64_FLD, rv_any(s), RV_DATA, -8 - 8 * (int)rng_below(&s->rng, 256)));
    for (unsigned i = 0; i < RV_BLOCK; i++)
        rv_instruction(s, (unsigned)rng_below(&s->rng, VS_RV64_OPS));
    rv_word(s, rv_j(RV_LINK, (int)(s->routine - rv_here(s))));
}

static inline void rv_emit_end(struct rvstream *s)
{
    rv_word(s, rv_i(VS_RV64_ADDI, RV_A0, 0, 1));
    rv_word(s, rv_i(VS_RV64_ADDI, 11, RV_DATA, 0));
    rv_word(s, rv_i(VS_RV64_ADDI, 12, 0, RV_HALF - 1));
    rv_word(s, rv_i(VS_RV64_ADDI, RV_A7, 0, 64));
    rv_word(s, 0x00000073);
    rv_word(s, rv_i(VS_RV64_ADDI, RV_A0, 0, 0));
    rv_word(s, rv_i(VS_RV64_ADDI, RV_A7, 0, 93));
    rv_word(s, 0x00000073);
}

static inline void rv_emit_header(struct rvstream *s, size_t size)
{
    Elf64_Ehdr e = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_RISCV,
        .e_version = EV_CURRENT,
        .e_entry = RV_CODE,
        .e_phoff = sizeof(e),
        .e_flags = 5, /* compressed, double-precision ABI */
        .e_ehsize = sizeof(e),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
    };
    Elf64_Phdr p = {.p_type = PT_LOAD,
                    .p_flags = PF_R | PF_W | PF_X,
                    .p_vaddr = RV_BASE,
                    .p_paddr = RV_BASE,
                    .p_filesz = size,
                    .p_memsz = size,
                    .p_align = 0x1000};
    memcpy(s->image, &e, sizeof(e));
    memcpy(s->image + sizeof(e), &p, sizeof(p));
}

/* A program of that many blocks. Its code ends before the page of its data. */
static inline void rvstream_make(struct rvstream *s, uint64_t seed, size_t blocks)
{
    memset(s, 0, sizeof(*s));
    s->rng = rng_init(seed);
    size_t code = 0x2000 + blocks * (RV_BLOCK * 32 + 64);
    code = (code + 4095) & ~(size_t)4095;
    s->capacity = code + 4 * 4096;
    s->image = calloc(1, s->capacity);
    s->blocks = malloc(blocks * sizeof(*s->blocks));
    CHECK(s->image && s->blocks);
    rv_list_compressed(s);
    /* Variables cross into another page. */
    s->data = RV_BASE + code + 4096 - 1024 + 4096;
    s->dump = RV_BASE + code;
    s->size = RV_CODE - RV_BASE + 16;
    rv_emit_routine(s);
    uint64_t start = rv_here(s);
    rv_load_address(s, RV_DATA, s->data);
    rv_load_address(s, RV_DUMP, s->dump);
    for (size_t i = 0; i < blocks; i++) {
        rv_emit_block(s);
        /* jal reaches a million bytes. */
        if (rv_here(s) - s->routine > 900000) {
            uint64_t jump = rv_here(s);
            rv_word(s, rv_j(0, 0));
            rv_emit_routine(s);
            uint32_t word = rv_j(0, (int)(rv_here(s) - jump));
            memcpy(s->image + (jump - RV_BASE), &word, 4);
        }
    }
    rv_emit_end(s);
    CHECK(s->size <= code);
    s->size = RV_CODE - RV_BASE;
    rv_word(s, rv_j(0, (int)(start - RV_CODE)));
    for (uint64_t at = s->data - RV_HALF; at < s->data + RV_HALF; at += 8) {
        uint64_t v = rv_operand(&s->rng);
        memcpy(s->image + (at - RV_BASE), &v, 8);
    }
    s->size = s->capacity;
    rv_emit_header(s, s->size);
}

static inline void rvstream_free(struct rvstream *s)
{
    free(s->image);
    free(s->blocks);
    free(s->compressed);
}

#endif
