/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the accesses in VEX's intermediate code are the program's. The recorder's tool asks when
 * it plans what to record, and the processor that replays a run asks when it makes the same
 * accesses again: an event is reproduced only if the two agree. Everything here follows from the
 * code alone and needs nothing but VEX.
 *
 * An instruction's accesses have the order of its statements. What is special about some:
 *
 *   compare and swap   one atomic load, then one atomic store, of the old value if it fails; the
 *                      loads before it that belong to it are not the program's
 *   helper (dirty)     a load, then a store, if it does both
 *   lost load          comes first
 *   masked load        happens only if its mask is set
 *   request            of Valgrind: one mark for five instructions, see x86_request_lengths
 *   bit of a register  the loads and stores of x86_is_bit_of_register are not the program's
 */
#ifndef ACCESS_H
#define ACCESS_H

#include "libvex_guest_amd64.h"
#include "libvex_ir.h"
#include "x86_decode.h"

typedef VexGuestAMD64State GuestState;

/* Helpers through which an instruction gets a value from outside. */
enum nondet { NONDET_NO, NONDET_TEMP, NONDET_CPUID, NONDET_RDTSCP };
enum nondet nondet_of(const IRDirty *d);

/* The registers that such helpers set, in the order in which they are recorded. */
extern const Int cpuid_sets[4], rdtscp_sets[3];

/* What a helper that writes memory writes of its operand, in one or two parts. Returns how many:
 * the helper of xsave that says it writes 160 bytes leaves those alone that belong to SSE. */
struct written {
    UShort offset, size;
};
UInt written_parts(const IRDirty *d, struct written parts[2]);

/* Whether an instruction that is left in this way has not retired. */
Bool faults(IRJumpKind kind);

/* The temporary that the expression is, or IRTemp_INVALID. */
IRTemp temp_of(const IRExpr *e);

/* Whether the expression is a constant of at most 64 bits, and which. */
Bool constant(const IRExpr *e, ULong *value);

/* Whether a load at statement i is of a locked instruction, which is one load and one store: VEX
 * also reads before it compares and swaps. */
Bool belongs_to_cas(const IRSB *in, Int i, const IRExpr *addr, IRType type);
UInt cas_size(const IRSB *in, const IRCAS *cas);

/* A gather loads elements that are masked off too, from where the stack pointer points. Returns the
 * condition under which a load at statement i, of the instruction x, is the program's; NULL =
 * always. */
IRExpr *mask_of(const IRSB *in, Int i, const struct x86 *x, const IRExpr *addr);

/* Whether a statement of the same instruction after the one at i loads. */
Bool loads_something(const IRSB *in, Int i);

/* The size of the load that VEX left out of the instruction x, whose mark is statement `mark`, or
 * 0. Its address is effective_address's. */
UInt lost_load(const IRSB *in, Int mark, const struct x86 *x);

/* Appends what computes the address of x's memory operand; it must come right after x's mark. */
IRTemp effective_address(IRSB *out, const struct x86 *x);

/* A division, which may fail: it is no access, but a handler sees the registers there, too. */
Bool is_division(const IRStmt *st);

#endif
