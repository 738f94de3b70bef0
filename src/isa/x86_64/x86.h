/* SPDX-License-Identifier: MIT */
/* Instructions of x86-64, in 64-bit mode.
 *
 * Nothing is kept between calls; any number of threads may decode.
 *
 * What counts as what, where it is not obvious:
 *
 *   conditional   jcc, loop, loope, loopne, jrcxz, jecxz; xbegin, whose target is its fallback,
 *                 where Valgrind always goes, even on processors without transactions
 *   return        ret of every form and prefix, iret, sysret, sysexit, uiret
 *   system call   syscall, sysenter, int 0x80
 *   nondet        rdtsc, rdtscp, rdpmc, rdpru, cpuid, xgetbv, rdpid, rdrand, rdseed; xchg rbx, rbx
 *                 and xchg rcx, rcx, which end requests of Valgrind
 *   plain         every other int, ud2, hlt; xabort and xend, which do nothing or trap where no
 *                 transaction begins
 *   repeat        movs, stos, lods, scas, cmps, ins, outs with an F2 or F3 prefix: processors
 *                 repeat on either, even where only one of them is documented
 *   locked        a LOCK prefix, which is no instruction without a memory operand; xchg with memory
 *
 * Operand-size prefixes of near branches are ignored, as by Intel's processors. AMD's differ;
 * compilers emit only forms on which the two agree.
 */
#ifndef ISA_X86_64_X86_H
#define ISA_X86_64_X86_H

#include <stddef.h>
#include <stdint.h>

#include "isa/abi.h"
#include "isa/insn.h"
#include "isa/operand.h"
#include "isa/registers.h"
#include "isa/set.h"
#include "isa/usage.h"

#define VS_X86_LENGTH_MAX 15  /* bytes of an instruction */
#define VS_X86_TEXT_MAX   128 /* holds the text of every instruction, and its NUL */

/* DWARF's numbers of registers, as the System V ABI has them. */
enum {
    VS_X86_REG_RIP = 16,
    VS_X86_REG_XMM0 = 17,
    VS_X86_REG_ST0 = 33,
    /* The same registers, not by their place on the stack, as Valgrind has them: the 64 bits of mm0
     * and so on, or of a double. */
    VS_X86_REG_MM0 = 41,
    VS_X86_REG_RFLAGS = 49,
    VS_X86_REG_FS_BASE = 58,
    VS_X86_REG_GS_BASE = 59,
    VS_X86_REG_MXCSR = 64,
    VS_X86_REG_FCW = 65,
    VS_X86_REG_FSW = 66,
    /* DWARF has no number for this: which registers of x87 are in use, bit i for mm(i). */
    VS_X86_REG_FTAG = 0xff00,
};

/* Decodes the instruction at the start of bytes, which lie at address pc; needs no more than
 * VS_X86_LENGTH_MAX of them. Writes insn only on success.
 * Returns 0; -VSE_CORRUPT if the bytes are no instruction; -VSE_TRUNCATED if they end inside what
 * may be one. */
int vs_x86_decode(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn);

/* Writes the instruction as text in Intel syntax, with a NUL: `call 0x3f83201130`. Targets and
 * operands relative to pc become absolute addresses. Whatever decodes has a text.
 * Returns the length of the text without its NUL; -VSE_CORRUPT and -VSE_TRUNCATED as above;
 * -VSE_LIMIT if capacity is too small, with out undefined; -VSE_INTERNAL. */
int vs_x86_format(const uint8_t *bytes, size_t size, uint64_t pc, char *out, size_t capacity);

/* Tells what the instruction does with integer registers and memory. Works and returns as
 * vs_x86_decode.
 *
 * Effects are known, in 32 and 64 bits, for mov, movzx, movsx, lea, add, sub, and, or, xor, inc,
 * dec, neg, not, shifts and rotations by a constant, imul with two or three operands, xchg, bswap,
 * cwde, cdqe, cdq and cqo; for cld and std; and for push, pop, call, ret and leave on the stack
 * pointer. */
int vs_x86_operands(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_operands *operands);

/* Tells which registers the instruction reads and writes: integer and vector registers, rip and
 * rflags. Works and returns as vs_x86_decode. */
int vs_x86_accessed(const uint8_t *bytes, size_t size, struct vs_accessed *accessed);

/* Writes this processor's vendor, family, model, stepping and name, as in "GenuineIntel family 6
 * model 85 stepping 7: Intel(R) Xeon(R)"; nothing if it is no x86-64 processor. */
void vs_x86_host(char text[VS_ISA_HOST_MAX]);

extern const struct vs_register_set vs_x86_registers;
extern const struct vs_abi vs_x86_abi;

#endif
