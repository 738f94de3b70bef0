/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A block that is being rewritten, and what its statements are made of. */
#ifndef WORK_H
#define WORK_H

#include "access.h"
#include "rewrite.h"

/* A block under way. */
struct work {
    struct rewrite *r;
    const IRSB *in;
    IRSB *out;
    uint64_t pc;
    const uint8_t *bytes;
    struct x86 x;
    Int mark, end, last; /* the instruction's statements: its mark, one past the last of them, and
                          * the last at which it may be left */
    bool undo;           /* it keeps all registers beforehand */
    Int taken;           /* what the event counter lost so far beside VEX's one */
    IRTemp cas_loaded;   /* what a load before a compare-and-swap got */
    IRTemp outside;      /* xgetbv's result */
    bool told;           /* the owner was told about the branch that it is */
    Int pending[256];    /* statements that set registers, to be done after `last` */
    unsigned pending_count;
};

void add(struct work *w, IRStmt *st);
IRExpr *rd(IRTemp t);
IRExpr *u64(uint64_t v);
IRExpr *pointer(const void *p);
IRTemp assign(struct work *w, IRType type, IRExpr *e);
IRTemp unop(struct work *w, IRType type, IROp op, IRExpr *e);

/* Where the instruction calls a helper. */
Spot spot_in(const struct work *w, enum vs_access access);

/* A site of what the instruction does. */
struct site *new_site(struct work *w, unsigned size, enum vs_access access);

/* A helper may use the lane; what else it does to registers is said by whoever calls it. `guard`
 * may be NULL: always. */
IRDirty *declare(IRDirty *d, IRExpr *guard);

#define CALL(name, args, guard) declare(unsafeIRDirty_0_N(0, #name, (void *)(name), (args)), guard)
#define CALL_FOR(tmp, name, args, guard)                                                           \
    declare(unsafeIRDirty_1_N((tmp), 0, #name, (void *)(name), (args)), guard)

/* Makes 64 bits of a value that has at most as many. */
IRExpr *widen(struct work *w, IRType type, IRExpr *e);
/* The reverse, as an expression. */
IRExpr *narrow(struct work *w, IRType type, IRTemp t);

#endif
