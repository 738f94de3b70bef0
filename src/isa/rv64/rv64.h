/* SPDX-License-Identifier: MIT */
/* Instructions of RV64GC with Zba, Zbb and Zbs, in user mode.
 *
 * Nothing is kept between calls; any number of threads may decode.
 *
 * What counts as what, where it is not obvious:
 *
 *   call, return  as the ISA manual hints, with x1 and x5 as link registers: a jal or jalr that
 *                 writes one is a call; a jalr that reads one and does not write the same one is a
 *                 return, and also a call if it writes the other
 *   system call   ecall
 *   nondet        reads of cycle, time, instret and the hpmcounters; sc, whose outcome is the
 *                 value; csrrw with rd = x0 reads nothing
 *   plain         ebreak, fence, fence.i; hints, which do nothing; every instruction of the vector
 *                 extension, which vs_rv64_decode knows but the list does not
 *   locked        atomics, and lr and sc
 */
#ifndef ISA_RV64_RV64_H
#define ISA_RV64_RV64_H

#include <stddef.h>
#include <stdint.h>

#include "isa/abi.h"
#include "isa/cpu_log.h"
#include "isa/insn.h"
#include "isa/operand.h"
#include "isa/registers.h"
#include "isa/usage.h"
#include "isa/rv64/rv64_list.h"

#define VS_RV64_LENGTH_MAX 4  /* bytes of an instruction */
#define VS_RV64_TEXT_MAX   64 /* holds the text of every instruction, and its NUL */

/* Operations: the rows of the list. */
enum vs_rv64_op {
#define ROW(name, ...) VS_RV64_##name,
    VS_RV64_LIST(ROW)
#undef ROW
        VS_RV64_OPS
};

/* What an operation occupies a processor with. */
enum vs_rv64_class {
    VS_RV64_CLASS_ALU,
    VS_RV64_CLASS_MUL,
    VS_RV64_CLASS_DIV,
    VS_RV64_CLASS_LOAD,
    VS_RV64_CLASS_STORE,
    VS_RV64_CLASS_LR,
    VS_RV64_CLASS_SC,
    VS_RV64_CLASS_AMO,
    VS_RV64_CLASS_BRANCH, /* conditional */
    VS_RV64_CLASS_JAL,
    VS_RV64_CLASS_JALR,
    VS_RV64_CLASS_FENCE,
    VS_RV64_CLASS_FENCEI,
    VS_RV64_CLASS_CSR,
    VS_RV64_CLASS_ECALL,
    VS_RV64_CLASS_EBREAK,
    VS_RV64_CLASS_FADD,
    VS_RV64_CLASS_FMUL,
    VS_RV64_CLASS_FMA,
    VS_RV64_CLASS_FDIV,
    VS_RV64_CLASS_FSQRT,
    VS_RV64_CLASS_FCVT,
    VS_RV64_CLASS_FMOVE, /* moves, signs, classes */
    VS_RV64_CLASS_FCMP,  /* comparison, minimum, maximum */
    VS_RV64_CLASSES
};

/* The list's formats, by which operands are found and written. */
enum vs_rv64_format {
    VS_RV64_FORMAT_NONE,
    VS_RV64_FORMAT_R,
    VS_RV64_FORMAT_R1,
    VS_RV64_FORMAT_I,
    VS_RV64_FORMAT_SH,
    VS_RV64_FORMAT_SHW,
    VS_RV64_FORMAT_U,
    VS_RV64_FORMAT_J,
    VS_RV64_FORMAT_B,
    VS_RV64_FORMAT_LOAD,
    VS_RV64_FORMAT_STORE,
    VS_RV64_FORMAT_JALR,
    VS_RV64_FORMAT_LR,
    VS_RV64_FORMAT_AMO,
    VS_RV64_FORMAT_FENCE,
    VS_RV64_FORMAT_CSR,
    VS_RV64_FORMAT_CSRI,
    VS_RV64_FORMAT_FLOAD,
    VS_RV64_FORMAT_FSTORE,
    VS_RV64_FORMAT_FFF,
    VS_RV64_FORMAT_FFFR,
    VS_RV64_FORMAT_FFFFR,
    VS_RV64_FORMAT_FFR,
    VS_RV64_FORMAT_XFR,
    VS_RV64_FORMAT_FXR,
    VS_RV64_FORMAT_XF,
    VS_RV64_FORMAT_FX,
    VS_RV64_FORMAT_XFF,
};

enum vs_rv64_extension {
    VS_RV64_EXT_I,
    VS_RV64_EXT_M,
    VS_RV64_EXT_A,
    VS_RV64_EXT_F,
    VS_RV64_EXT_D,
    VS_RV64_EXT_ZICSR,
    VS_RV64_EXT_ZIFENCEI,
    VS_RV64_EXT_ZBA,
    VS_RV64_EXT_ZBB,
    VS_RV64_EXT_ZBS,
};

/* A row of the list. */
struct vs_rv64_row {
    const char *mnemonic;
    uint32_t match, mask;
    uint8_t format, class, extension;
};

/* The values of rm: rounding modes; 5 and 6 are reserved. */
enum {
    VS_RV64_RNE, /* to nearest, ties to even */
    VS_RV64_RTZ, /* towards zero */
    VS_RV64_RDN, /* down */
    VS_RV64_RUP, /* up */
    VS_RV64_RMM, /* to nearest, ties away from zero */
    VS_RV64_DYN = 7
};

/* The CSRs that user code can access. */
enum {
    VS_RV64_FFLAGS = 1,
    VS_RV64_FRM = 2,
    VS_RV64_FCSR = 3,
    VS_RV64_CYCLE = 0xc00,
    VS_RV64_TIME = 0xc01,
    VS_RV64_INSTRET = 0xc02,
    VS_RV64_HPMCOUNTER3 = 0xc03,
    VS_RV64_HPMCOUNTER31 = 0xc1f,
};

/* DWARF's numbers of registers; x0 to x31 are 0 to 31. */
enum {
    VS_RV64_REG_F0 = 32,
    VS_RV64_REG_CSR = 4096,
    VS_RV64_REG_FCSR = VS_RV64_REG_CSR + VS_RV64_FCSR,
};

/* One instruction. A compressed one is described as what it expands to, but with its own length.
 * Fields that the format does not name are zero. */
struct vs_rv64_insn {
    uint16_t op; /* enum vs_rv64_op */
    uint8_t rd, rs1, rs2, rs3;
    uint8_t rm;     /* floating point: the rounding mode; fence: the fm field */
    uint8_t aqrl;   /* atomics: 2 acquire, 1 release */
    uint8_t length; /* 2 or 4 */
    uint16_t csr;
    int32_t imm; /* sign-extended; lui and auipc: shifted to its place; jumps and branches: relative
                  * to the instruction; fence: pred << 4 | succ; csr?i: the number */
};

/* A memory operand at the register `base` plus offset. An atomic's is read and then written. */
struct vs_rv64_memory {
    int32_t offset;
    uint8_t base;
    uint8_t size; /* bytes; 0: there is none */
    bool load, store, atomic;
};

/* Returns the row of an operation, which must be less than VS_RV64_OPS. Static storage. */
const struct vs_rv64_row *vs_rv64_row(unsigned op);

/* Gets the word of the instruction at the start of bytes, with zeros above a compressed one.
 * Returns 0; -VSE_TRUNCATED if the bytes end inside it; -VSE_CORRUPT if it is longer than
 * VS_RV64_LENGTH_MAX. */
int vs_rv64_fetch(const uint8_t *bytes, size_t size, uint32_t *word);

/* Decodes the instruction in a word; a compressed one is in its lower half. Writes insn only on
 * success. Returns 0; -VSE_CORRUPT if the word is no instruction. */
int vs_rv64_insn_decode(uint32_t word, struct vs_rv64_insn *insn);

/* Makes the numbers of the registers those of DWARF; what an instruction lacks stays 0. */
void vs_rv64_number_registers(struct vs_rv64_insn *insn);

/* Tells what the instruction needs of a core. Returns as vs_rv64_decode. */
int vs_rv64_usage(const uint8_t *bytes, size_t size, struct vs_usage *usage);

/* Decodes the instruction at the start of bytes, which lie at address pc; needs no more than
 * VS_RV64_LENGTH_MAX of them. Writes insn only on success.
 * Returns 0; -VSE_CORRUPT if the bytes are no instruction; -VSE_TRUNCATED if they end inside what
 * may be one. */
int vs_rv64_decode(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn);

/* As vs_isa.infer: lui or auipc, then jalr. */
bool vs_rv64_infer(const uint8_t *before, size_t before_size, uint64_t pc, const uint8_t *branch,
                   size_t branch_size, uint64_t *target);

struct vs_rv64_memory vs_rv64_memory(const struct vs_rv64_insn *insn);

/* Tells what the instruction does with integer registers and memory. Works and returns as
 * vs_rv64_decode. The effects of all integer instructions are known; what comes from memory,
 * floating point and CSRs is not. */
int vs_rv64_operands(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_operands *operands);

/* Writes the instruction as text, with a NUL, as GNU objdump does: `addi a0,a0,8`, `jal 10430`.
 * Targets are absolute addresses in hexadecimal. Whatever decodes has a text; so does the word of
 * zeros, `unimp`, which does not decode.
 * Returns the length of the text without its NUL; -VSE_CORRUPT and -VSE_TRUNCATED as above;
 * -VSE_LIMIT if capacity is too small, with out undefined. */
int vs_rv64_format(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity);

/* Returns what an operation of the class occupies a processor with: "alu", "load", ... Static
 * storage. */
const char *vs_rv64_class_name(unsigned class);
/* Returns the same for the instruction at the start of bytes; NULL if they are none. */
const char *vs_rv64_class_of(const uint8_t *bytes, size_t size);

/* Return the ABI's name of an integer ("a0") and of a floating-point ("fs11") register; number is
 * less than 32. Static storage. */
const char *vs_rv64_xname(unsigned number);
const char *vs_rv64_fname(unsigned number);

extern const struct vs_register_set vs_rv64_registers;
extern const struct vs_abi vs_rv64_abi;
extern const struct vs_operations vs_rv64_operation_set;

#endif
