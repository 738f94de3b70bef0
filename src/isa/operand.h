/* SPDX-License-Identifier: MIT */
/* What an instruction does with integer registers and memory, as far as a debugger that has neither
 * memory nor other registers can follow it.
 *
 * Registers are the ISA's numbers below 32. For RV64 they are x0 to x31, of which x0 is never
 * named; for x86-64 rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, as instructions encode them,
 * and one more for the direction flag. */
#ifndef ISA_OPERAND_H
#define ISA_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

#define VS_NO_REGISTER 0xff
#define VS_DIRECTION   16 /* x86-64's direction flag */

/* How an address is formed. */
enum vs_form {
    VS_FORM_BASE,     /* register + displacement */
    VS_FORM_INDEX,    /* [register +] register * scale + displacement */
    VS_FORM_PC,       /* instruction + displacement */
    VS_FORM_STACK,    /* from the stack pointer, which the instruction implies: push, call */
    VS_FORM_STRING,   /* a register, then step by step: rep stos */
    VS_FORM_ABSOLUTE, /* it is in the instruction */
    VS_FORM_OTHER,    /* not from integer registers alone, or unknown */
    VS_FORM_END
};

/* Returns "base", "index", "pc", "stack", "string", "absolute" or "other". Static storage. */
const char *vs_form_name(unsigned form);

struct vs_memory_operand {
    uint8_t form; /* VS_FORM_*; with VS_FORM_OTHER only load and store are set as well */
    uint8_t base, index;
    uint8_t scale; /* of the index: 1, 2, 4, 8 */
    bool load, store;
    uint8_t step;         /* VS_FORM_STRING: bytes to the next iteration's address, upwards if the
                           * register VS_DIRECTION is 0, otherwise downwards */
    int64_t displacement; /* VS_FORM_PC, VS_FORM_ABSOLUTE: the address */
};

/* How a destination's value follows from registers and the instruction. */
enum vs_alu_op {
    VS_ALU_UNKNOWN, /* it does not: memory, other registers, flags, or not modelled */
    VS_ALU_MOVE,    /* b */
    VS_ALU_ADD,
    VS_ALU_SUB,
    VS_ALU_AND,
    VS_ALU_OR,
    VS_ALU_XOR,
    VS_ALU_ANDN, /* a and not b */
    VS_ALU_ORN,
    VS_ALU_XNOR,
    VS_ALU_SHL,
    VS_ALU_SHR,
    VS_ALU_SAR,
    VS_ALU_ROL,
    VS_ALU_ROR,
    VS_ALU_LESS,  /* signed: 1 or 0 */
    VS_ALU_BELOW, /* the same, unsigned */
    VS_ALU_MUL,
    VS_ALU_MULH, /* the upper half; both signed */
    VS_ALU_MULHSU,
    VS_ALU_MULHU,
    VS_ALU_DIV, /* as on RV64, also by 0 and on overflow */
    VS_ALU_DIVU,
    VS_ALU_REM,
    VS_ALU_REMU,
    VS_ALU_MIN,
    VS_ALU_MINU,
    VS_ALU_MAX,
    VS_ALU_MAXU,
    VS_ALU_CLZ, /* of b's lower `width` bits */
    VS_ALU_CTZ,
    VS_ALU_POPCOUNT,
    VS_ALU_BSWAP,
    VS_ALU_ORCB,
    VS_ALU_BCLR, /* bit b of a */
    VS_ALU_BEXT,
    VS_ALU_BINV,
    VS_ALU_BSET,
    VS_ALU_OPS
};

/* register = extend(op(a, (b << shift) + constant)). With a width of 32, both operands are cut to
 * 32 bits and the result is extended from 32 bits. An operand without a register is 0. */
struct vs_alu {
    uint8_t op;
    uint8_t to;
    uint8_t a, b;      /* registers */
    uint8_t shift;     /* of b */
    uint8_t in;        /* bits of b that count before the shift: 8, 16, 32, 64 */
    bool in_signed;    /* whether these are sign-extended */
    uint8_t width;     /* of the operation: 32 or 64 */
    bool sign;         /* whether a result of 32 bits is sign-extended */
    uint64_t constant; /* added to b */
};

enum { VS_OPERANDS_MEMORY = 3, VS_OPERANDS_EFFECTS = 3 };

/* If an instruction's accesses are not exactly those listed here, their forms are VS_FORM_OTHER;
 * accesses of VS_FORM_STRING may occur any number of times. Effects take place all at once, after
 * memory was accessed. */
struct vs_operands {
    uint8_t length; /* bytes of the instruction */
    uint8_t memory_count, effect_count;
    uint32_t sources;                                    /* integer registers that are read */
    uint32_t destinations;                               /* integer registers that are written */
    uint32_t clobbers;                                   /* destinations without an effect */
    struct vs_memory_operand memory[VS_OPERANDS_MEMORY]; /* in the order of the accesses */
    struct vs_alu effects[VS_OPERANDS_EFFECTS];
};

/* Return the registers that an effect, or an address, is computed from. */
static inline uint32_t vs_alu_sources(const struct vs_alu *e)
{
    return (e->a < 32 ? UINT32_C(1) << e->a : 0) | (e->b < 32 ? UINT32_C(1) << e->b : 0);
}

static inline uint32_t vs_memory_sources(const struct vs_memory_operand *m)
{
    if (m->form == VS_FORM_OTHER)
        return 0;
    return (m->base < 32 ? UINT32_C(1) << m->base : 0) |
           (m->index < 32 ? UINT32_C(1) << m->index : 0);
}

/* Returns the value of a destination; the effect must not be VS_ALU_UNKNOWN. */
uint64_t vs_alu_value(const struct vs_alu *e, const uint64_t registers[32]);

/* Returns the address of an operand, which must not be VS_FORM_OTHER. */
uint64_t vs_memory_address(const struct vs_memory_operand *m, const uint64_t registers[32]);

/* Returns the register whose value follows from the address of an operand: the only one in it that
 * is not known (in `valid`), provided that the address can be solved for it. VS_NO_REGISTER: there
 * is none. */
unsigned vs_memory_solves(const struct vs_memory_operand *m, uint32_t valid);

/* Returns that register's value. */
uint64_t vs_memory_solution(const struct vs_memory_operand *m, unsigned reg, uint64_t addr,
                            const uint64_t registers[32]);

#endif
