/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the record of a block will hold, and where; see instrument.c. */
#ifndef PLAN_H
#define PLAN_H

#include "libvex_ir.h"
#include "tool.h"

/* More than a block of VEX can have: VEX puts at most 100 instructions into one. */
#define INSNS_MAX 128
#define OPS_MAX   2048
#define EXITS_MAX 256

struct plan {
    IRSB *in;
    Addr addr;
    UInt insns, ops, exits;
    UInt length; /* of the record */
    UInt code;   /* bytes of the instructions */
    Int cut;     /* statements from here on are left out; in->stmts_used = none */
    Addr cut_to; /* where the block then goes on */
    UChar lengths[INSNS_MAX];
    Addr pc;      /* of the instruction that is looked at */
    struct x86 x; /* the same */
    struct wire_op op[OPS_MAX];
    struct wire_exit exit[EXITS_MAX];
    UInt retired[EXITS_MAX]; /* instructions that have, at an exit */

    /* Of each temporary: where it came from. */
    IRTemp *root;    /* itself, or what it is a sum of ... */
    Long *offset;    /* ... with this */
    UShort *value;   /* 1 + the operand whose value it is */
    UShort *address; /* 1 + the operand whose address was recorded as this root's */
    Long *recorded;  /* the offset of that one */
    IRTemp *chosen;  /* the condition by which it is one or another value, if it is */
};

/* Helpers through which an instruction gets something from outside. */
enum nondet { NONDET_NO, NONDET_TEMP, NONDET_CPUID, NONDET_RDTSCP };

/* Of those that set registers: which, in the order in which they are recorded. */
extern const Int cpuid_sets[4], rdtscp_sets[3];

/* Makes the plan of a block from its first instruction on. Statements before that are Valgrind's
 * own. */
void open_plan(struct plan *p, IRSB *in);
void make_plan(struct plan *p, Int first, Bool wanted);
void close_plan(struct plan *p);

/* Notes the block and tells the recorder. Returns its number. */
UInt announce(const struct plan *p);

/* ---- what planning and emitting must see alike ---- */
enum nondet nondet_of(const IRDirty *d);
Bool belongs_to_cas(const IRSB *in, Int i, const IRExpr *addr, IRType type);
IRExpr *mask_of(const struct plan *p, const IRExpr *addr);
Bool loads_something(const IRSB *in, Int i);
UInt lost_load(const IRSB *in, Int mark, const struct x86 *x);
Bool is_xgetbv(const struct x86 *x);

#endif
