/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The little that must be known about instructions beyond what VEX says. It needs nothing but VEX's
 * types: it runs inside Valgrind, where there is no C library, and also where code is replayed. */
#ifndef X86_DECODE_H
#define X86_DECODE_H

#include "libvex_basictypes.h"

enum { X86_NONE = 0xff, X86_RIP = 0xfe };
struct x86 {
    UInt opcode;       /* for those of two bytes, 0x0f00 is added */
    const UChar *rest; /* after the opcode */
    UChar rex, segment;
    UChar vector;               /* bytes, with a VEX prefix */
    Bool narrow, short_address; /* prefixes 66, 67 */
    /* of instructions with x86_has_modrm */
    Bool memory;
    UChar reg;
    UChar base, index, scale; /* the address: base + (index << scale) + offset */
    Long offset;
};
/* Decodes the instruction at pc, whose bytes lie at `bytes`, and reads no more of them than it has.
 * What it finds refers to the bytes. */
void x86_decode(const UChar *bytes, Addr pc, struct x86 *x);
Bool x86_has_modrm(UInt opcode);
/* loop, loope, loopne, jrcxz, jecxz: Valgrind's blocks continue after them. */
Bool x86_is_loop(const struct x86 *x);
Bool x86_is_direct_branch(const struct x86 *x);
/* A conditional branch to the next instruction. */
Bool x86_goes_to_next(const struct x86 *x);
/* bt, bts, btr and btc with two registers, for which Valgrind uses memory below the stack. */
Bool x86_is_bit_of_register(const struct x86 *x);
/* The size of the memory operand, if Valgrind may leave out this instruction's load because the
 * other operand determines the result: and with 0, or with all ones, cmov with a known condition.
 * Otherwise 0. */
UInt x86_lost_load(const struct x86 *x);
/* VEX takes the sequences with which a program talks to Valgrind for one instruction each. They are
 * five: four rotations, and the exchange of a register with itself, which says what is wanted. */
enum { X86_REQUEST_LENGTH = 19, X86_REQUEST_INSNS = 5 };
extern const UChar x86_request_lengths[X86_REQUEST_INSNS];
/* Whether an instruction of that length is the one that sets rax to where the original of a
 * replaced function is. The one that asks for something, and sets rdx, leaves its block. */
Bool x86_gets_original(const UChar *bytes, UInt length);
/* xgetbv, whose result Valgrind makes up when it translates. */
Bool x86_is_xgetbv(const struct x86 *x);
/* A gather, which loads also where its mask says not to. */
Bool x86_is_gather(const struct x86 *x);

#endif
