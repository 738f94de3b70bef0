/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the record of a block will hold, and where; see instrument.c. */
#ifndef PLAN_H
#define PLAN_H

#include "access.h"
#include "tool.h"

/* More than one of VEX's blocks can have: VEX puts at most 100 instructions into a block, and takes
 * five for one in a request. */
#define INSNS_MAX 512
#define OPS_MAX   2048
#define EXITS_MAX 256

struct plan {
    IRSB *in;
    Addr addr;
    UInt insns, ops, exits;
    UInt length; /* of the record */
    UInt code;   /* bytes of the instructions */
    Int cut;     /* statements from here on are left out; in->stmts_used: none is */
    Addr cut_to; /* where the block then goes on */
    UChar lengths[INSNS_MAX];
    Addr pc;      /* of the instruction under consideration */
    struct x86 x; /* the same */
    struct wire_op op[OPS_MAX];
    struct wire_exit exit[EXITS_MAX];
    UInt retired[EXITS_MAX]; /* instructions retired at each exit */
    Bool again[EXITS_MAX];   /* whether the exit's instruction is then repeated */
    Bool repeats;            /* whether there is such an exit */
    Bool *unseen; /* by statement: it sets a register that is set again before anybody looks */

    /* By temporary: where its value came from. */
    IRTemp *root;    /* itself, or the temporary that it is the sum of ... */
    Long *offset;    /* ... and this offset */
    UShort *value;   /* 1 + the operand whose value it is */
    UShort *address; /* 1 + the operand whose recorded address has this root */
    Long *recorded;  /* that operand's offset */
};

/* Plans a block from its first instruction on. The statements before that are Valgrind's own. */
void open_plan(struct plan *p, IRSB *in);
void make_plan(struct plan *p, Int first, Bool wanted);
void close_plan(struct plan *p);

/* Finds what sets registers in vain, of a block that is planned (unseen.c). */
void find_unseen(struct plan *p, Int first);

/* Tells the recorder that the block was translated, and describes it if it is new. Returns its
 * number. */
UInt announce(const struct plan *p);

#endif
