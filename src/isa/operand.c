/* SPDX-License-Identifier: MIT */
#include "isa/operand.h"

#include <stdbool.h>

const char *vs_form_name(unsigned form)
{
    static const char *const names[VS_FORM_END] = {"base",   "index",    "pc",   "stack",
                                                   "string", "absolute", "other"};
    return form < VS_FORM_END ? names[form] : "?";
}

static uint64_t value_of(unsigned reg, const uint64_t registers[32])
{
    return reg < 32 ? registers[reg] : 0;
}

static uint64_t extend(uint64_t v, unsigned bits, bool sign)
{
    unsigned rest = 64 - bits;
    return sign ? (uint64_t)((int64_t)(v << rest) >> rest) : v << rest >> rest;
}

/* ---- effects --------------------------------------------------------------------------------- */

static uint64_t rotate_left(uint64_t v, unsigned n, unsigned width)
{
    return n ? v << n | v >> (width - n) : v;
}

static uint64_t divide(uint64_t a, uint64_t b)
{
    if (!b)
        return UINT64_MAX;
    return b == UINT64_MAX ? 0 - a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t remainder_of(uint64_t a, uint64_t b)
{
    if (!b)
        return a;
    return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint64_t or_combine(uint64_t v)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < 64; i += 8)
        sum |= v >> i & 0xff ? UINT64_C(0xff) << i : 0;
    return sum;
}

static unsigned leading_zeros(uint64_t v, unsigned width)
{
    return v ? (unsigned)__builtin_clzll(v) - (64 - width) : width;
}

/* a and b are as wide as the operation and zero-extended; sa and sb are the same, sign-extended. */
static uint64_t operate(unsigned op, uint64_t a, uint64_t b, uint64_t sa, uint64_t sb,
                        unsigned width)
{
    unsigned n = (unsigned)b & (width - 1);
    uint64_t bit = UINT64_C(1) << n;
    switch (op) {
    case VS_ALU_MOVE:
        return b;
    case VS_ALU_ADD:
        return a + b;
    case VS_ALU_SUB:
        return a - b;
    case VS_ALU_AND:
        return a & b;
    case VS_ALU_OR:
        return a | b;
    case VS_ALU_XOR:
        return a ^ b;
    case VS_ALU_ANDN:
        return a & ~b;
    case VS_ALU_ORN:
        return a | ~b;
    case VS_ALU_XNOR:
        return ~(a ^ b);
    case VS_ALU_SHL:
        return a << n;
    case VS_ALU_SHR:
        return a >> n;
    case VS_ALU_SAR:
        return (uint64_t)((int64_t)sa >> n);
    case VS_ALU_ROL:
        return rotate_left(a, n, width);
    case VS_ALU_ROR:
        return rotate_left(a, (width - n) & (width - 1), width);
    case VS_ALU_LESS:
        return (int64_t)sa < (int64_t)sb;
    case VS_ALU_BELOW:
        return a < b;
    case VS_ALU_MUL:
        return a * b;
    case VS_ALU_MULH:
        return (uint64_t)(((__int128)(int64_t)sa * (int64_t)sb) >> 64);
    case VS_ALU_MULHSU:
        return (uint64_t)(((__int128)(int64_t)sa * (__int128)b) >> 64);
    case VS_ALU_MULHU:
        return (uint64_t)(((unsigned __int128)a * b) >> 64);
    case VS_ALU_DIV:
        return divide(sa, sb);
    case VS_ALU_DIVU:
        return b ? a / b : UINT64_MAX;
    case VS_ALU_REM:
        return remainder_of(sa, sb);
    case VS_ALU_REMU:
        return b ? a % b : a;
    case VS_ALU_MIN:
        return (int64_t)sa < (int64_t)sb ? a : b;
    case VS_ALU_MINU:
        return a < b ? a : b;
    case VS_ALU_MAX:
        return (int64_t)sa < (int64_t)sb ? b : a;
    case VS_ALU_MAXU:
        return a < b ? b : a;
    case VS_ALU_CLZ:
        return leading_zeros(b, width);
    case VS_ALU_CTZ:
        return b ? (unsigned)__builtin_ctzll(b) : width;
    case VS_ALU_POPCOUNT:
        return (unsigned)__builtin_popcountll(b);
    case VS_ALU_BSWAP:
        return __builtin_bswap64(b) >> (64 - width);
    case VS_ALU_ORCB:
        return or_combine(b);
    case VS_ALU_BCLR:
        return a & ~bit;
    case VS_ALU_BEXT:
        return a >> n & 1;
    case VS_ALU_BINV:
        return a ^ bit;
    case VS_ALU_BSET:
        return a | bit;
    default:
        return 0;
    }
}

uint64_t vs_alu_value(const struct vs_alu *e, const uint64_t registers[32])
{
    uint64_t a = value_of(e->a, registers), b = value_of(e->b, registers);
    if (e->in < 64)
        b = extend(b, e->in, e->in_signed);
    b = (b << e->shift) + e->constant;
    uint64_t v = operate(e->op, extend(a, e->width, false), extend(b, e->width, false),
                         extend(a, e->width, true), extend(b, e->width, true), e->width);
    return extend(v, e->width, e->sign);
}

/* ---- addresses ------------------------------------------------------------------------------- */

uint64_t vs_memory_address(const struct vs_memory_operand *m, const uint64_t registers[32])
{
    return value_of(m->base, registers) + value_of(m->index, registers) * m->scale +
           (uint64_t)m->displacement;
}

unsigned vs_memory_solves(const struct vs_memory_operand *m, uint32_t valid)
{
    uint32_t missing = vs_memory_sources(m) & ~valid;
    if (!missing || missing & (missing - 1))
        return VS_NO_REGISTER;
    unsigned reg = (unsigned)__builtin_ctz(missing);
    unsigned times = (m->base == reg ? 1u : 0u) + (m->index == reg ? m->scale : 0u);
    return times == 1 ? reg : VS_NO_REGISTER; /* a multiple has lost upper bits */
}

uint64_t vs_memory_solution(const struct vs_memory_operand *m, unsigned reg, uint64_t addr,
                            const uint64_t registers[32])
{
    addr -= (uint64_t)m->displacement;
    if (m->base != reg)
        addr -= value_of(m->base, registers);
    if (m->index != reg)
        addr -= value_of(m->index, registers) * m->scale;
    return addr;
}
