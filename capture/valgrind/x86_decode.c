/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_decode.h"

static Bool is_prefix(UChar byte, struct x86 *x)
{
    switch (byte) {
    case 0x64:
    case 0x65:
        x->segment = byte;
        return True;
    case 0x66:
        x->narrow = True;
        return True;
    case 0x67:
        x->short_address = True;
        return True;
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0xf0:
    case 0xf2:
    case 0xf3:
        return True;
    default:
        return False;
    }
}

static Long take_signed(const UChar *at, UInt size)
{
    return size == 1 ? *(const signed char *)at : *(const Int *)at;
}

/* The bytes of the immediate that follows the operand; an address relative to rip counts from after
 * it. Only for the opcodes of x86_lost_load. */
static UInt immediate_of(const struct x86 *x)
{
    UInt wide = x->narrow ? 2 : 4;

    switch (x->opcode) {
    case 0x80:
    case 0x83:
    case 0x6b:
        return 1;
    case 0x81:
    case 0x69:
        return wide;
    case 0xf6:
        return 1;
    case 0xf7:
        return wide;
    default:
        return 0;
    }
}

static void take_sib(struct x86 *x, UChar sib, UInt mod)
{
    UInt index = (sib >> 3 & 7) | (x->rex & 2 ? 8 : 0);

    x->base = (sib & 7) | (x->rex & 1 ? 8 : 0);
    if ((sib & 7) == 5 && mod == 0)
        x->base = X86_NONE;
    if (index != 4) {
        x->index = index;
        x->scale = sib >> 6;
    }
}

static void take_operand(struct x86 *x, const UChar *bytes, Addr pc)
{
    const UChar *at = x->rest;
    UChar modrm = *at++;
    UInt mod = modrm >> 6, size = mod == 1 ? 1 : mod == 2 ? 4 : 0;

    x->reg = modrm >> 3 & 7;
    x->memory = mod != 3;
    if (!x->memory)
        return;
    x->base = (modrm & 7) | (x->rex & 1 ? 8 : 0);
    if ((modrm & 7) == 4)
        take_sib(x, *at++, mod);
    else if ((modrm & 7) == 5 && mod == 0)
        x->base = X86_RIP;
    if (mod == 0 && (x->base == X86_NONE || x->base == X86_RIP))
        size = 4;
    if (size)
        x->offset = take_signed(at, size);
    if (x->base == X86_RIP) {
        x->offset += pc + (at + size - bytes) + immediate_of(x);
        x->base = X86_NONE;
    }
}

/* Takes a VEX prefix as if its parts stood alone. Returns where the opcode is. The prefix selects
 * what comes before it: 0f, 0f38, or something that is of no interest. */
static const UChar *take_vex(struct x86 *x, const UChar *at)
{
    Bool three = *at == 0xc4;
    UChar first = at[1], last = three ? at[2] : at[1];
    UInt map = three ? first & 31 : 1;

    x->rex = 0x40 | (first & 0x80 ? 0 : 4);
    if (three)
        x->rex |= (first & 0x40 ? 0 : 2) | (first & 0x20 ? 0 : 1) | (last & 0x80 ? 8 : 0);
    x->vector = last & 4 ? 32 : 16;
    x->opcode = map == 1 ? 0x0f00 : map == 2 ? 0x0f3800 : 0xff0000;
    return at + (three ? 3 : 2);
}

void x86_decode(const UChar *bytes, Addr pc, struct x86 *x)
{
    const UChar *at = bytes;

    *x = (struct x86){.base = X86_NONE, .index = X86_NONE};
    while (is_prefix(*at, x))
        at++;
    if ((*at & 0xf0) == 0x40)
        x->rex = *at++;
    if (*at == 0xc4 || *at == 0xc5)
        at = take_vex(x, at);
    else if (*at == 0x0f)
        x->opcode = *at++ << 8;
    x->opcode |= *at++;
    x->rest = at;
    if (x86_has_modrm(x->opcode))
        take_operand(x, bytes, pc);
}

Bool x86_is_loop(const struct x86 *x)
{
    return x->opcode >= 0xe0 && x->opcode <= 0xe3;
}

static Bool is_short_jcc(const struct x86 *x)
{
    return (x->opcode & ~0xfu) == 0x70;
}

static Bool is_near_jcc(const struct x86 *x)
{
    return (x->opcode & ~0xfu) == 0x0f80;
}

Bool x86_is_direct_branch(const struct x86 *x)
{
    return x86_is_loop(x) || is_short_jcc(x) || is_near_jcc(x) || x->opcode == 0xe8 ||
           x->opcode == 0xe9 || x->opcode == 0xeb;
}

Bool x86_goes_to_next(const struct x86 *x)
{
    if (is_short_jcc(x) || x86_is_loop(x))
        return take_signed(x->rest, 1) == 0;
    return is_near_jcc(x) && take_signed(x->rest, 4) == 0;
}

Bool x86_has_modrm(UInt opcode)
{
    switch (opcode) {
    case 0x08 ... 0x0b: /* or */
    case 0x20 ... 0x23: /* and */
    case 0x69:
    case 0x6b: /* imul */
    case 0x80:
    case 0x81:
    case 0x83:
    case 0x84:
    case 0x85: /* test */
    case 0xf6:
    case 0xf7:
    case 0x0f40 ... 0x0f4f: /* cmov */
    case 0x0fa3:            /* bt */
    case 0x0fab:
    case 0x0fb3:
    case 0x0fbb:
    case 0x0faf:            /* imul */
    case 0x0f54 ... 0x0f56: /* andps, andnps, orps, and the same for integers */
    case 0x0fdb:
    case 0x0fdf:
    case 0x0feb:
    case 0x0f38f2: /* andn, bzhi, bextr and what shares their opcodes */
    case 0x0f38f5:
    case 0x0f38f7:
        return True;
    default:
        return False;
    }
}

Bool x86_is_bit_of_register(const struct x86 *x)
{
    return (x->opcode == 0x0fa3 || x->opcode == 0x0fab || x->opcode == 0x0fb3 ||
            x->opcode == 0x0fbb) &&
           !x->memory;
}

UInt x86_lost_load(const struct x86 *x)
{
    UInt wide = x->rex & 8 ? 8 : x->narrow ? 2 : 4;

    if (!x->memory)
        return 0;
    switch (x->opcode) {
    case 0x08:
    case 0x0a:
    case 0x20:
    case 0x22:
    case 0x84:
        return 1;
    case 0x80:
        return x->reg == 1 || x->reg == 4 ? 1 : 0;
    case 0x81:
    case 0x83:
        return x->reg == 1 || x->reg == 4 ? wide : 0;
    case 0xf6:
        return x->reg <= 1 ? 1 : 0;
    case 0xf7:
        return x->reg <= 1 ? wide : 0;
    case 0x0fa3:
    case 0x0fab:
    case 0x0fb3:
    case 0x0fbb:
        return 0;
    case 0x0f54 ... 0x0f56:
        return x->vector ? x->vector : 16;
    case 0x0fdb:
    case 0x0fdf:
    case 0x0feb:
        return x->vector ? x->vector : x->narrow ? 16 : 8;
    default:
        return wide;
    }
}

Bool x86_is_xgetbv(const struct x86 *x)
{
    return x->opcode == 0x0f01 && x->rest[0] == 0xd0;
}

Bool x86_is_gather(const struct x86 *x)
{
    return x->opcode >= 0x0f3890 && x->opcode <= 0x0f3893;
}

const UChar x86_request_lengths[X86_REQUEST_INSNS] = {4, 4, 4, 4, 3};

Bool x86_gets_original(const UChar *bytes, UInt length)
{
    return length == X86_REQUEST_LENGTH && bytes[length - 1] == 0xc9; /* xchg %rcx, %rcx */
}
