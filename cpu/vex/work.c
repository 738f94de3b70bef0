/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "work.h"

#include <string.h>

void add(struct work *w, IRStmt *st)
{
    addStmtToIRSB(w->out, st);
}

IRExpr *rd(IRTemp t)
{
    return IRExpr_RdTmp(t);
}

IRExpr *u64(uint64_t v)
{
    return IRExpr_Const(IRConst_U64(v));
}

IRTemp assign(struct work *w, IRType type, IRExpr *e)
{
    IRTemp t = newIRTemp(w->out->tyenv, type);
    add(w, IRStmt_WrTmp(t, e));
    return t;
}

IRTemp unop(struct work *w, IRType type, IROp op, IRExpr *e)
{
    return assign(w, type, IRExpr_Unop(op, e));
}

Spot spot_in(const struct work *w, enum vs_access access)
{
    return spot_of(w->pc, (Int)w->r->insns - 1 - w->taken - 1, access, w->undo);
}

struct site *new_site(struct work *w, unsigned size, enum vs_access access)
{
    static struct site none;
    struct site *s = w->r->new_site(w->r->context);
    if (!s) {
        w->r->failed = true;
        return &none;
    }
    *s = (struct site){.spot = spot_in(w, access), .size = (uint16_t)size};
    return s;
}

IRExpr *pointer(const void *p)
{
    return u64((uintptr_t)p);
}

IRDirty *declare(IRDirty *d, IRExpr *guard)
{
    d->nFxState = 1;
    memset(d->fxState, 0, sizeof(d->fxState));
    d->fxState[0].fx = Ifx_Modify;
    d->fxState[0].offset = (UShort)LANE(wide);
    d->fxState[0].size = sizeof(((struct lane *)0)->wide);
    if (guard)
        d->guard = guard;
    return d;
}

IRExpr *widen(struct work *w, IRType type, IRExpr *e)
{
    switch (type) {
    case Ity_I8:
        return rd(unop(w, Ity_I64, Iop_8Uto64, e));
    case Ity_I16:
        return rd(unop(w, Ity_I64, Iop_16Uto64, e));
    case Ity_I32:
        return rd(unop(w, Ity_I64, Iop_32Uto64, e));
    case Ity_F64:
        return rd(unop(w, Ity_I64, Iop_ReinterpF64asI64, e));
    case Ity_F32:
        return rd(unop(w, Ity_I64, Iop_32Uto64, rd(unop(w, Ity_I32, Iop_ReinterpF32asI32, e))));
    default:
        return e;
    }
}

IRExpr *narrow(struct work *w, IRType type, IRTemp t)
{
    switch (type) {
    case Ity_I8:
        return IRExpr_Unop(Iop_64to8, rd(t));
    case Ity_I16:
        return IRExpr_Unop(Iop_64to16, rd(t));
    case Ity_I32:
        return IRExpr_Unop(Iop_64to32, rd(t));
    case Ity_F64:
        return IRExpr_Unop(Iop_ReinterpI64asF64, rd(t));
    case Ity_F32:
        return IRExpr_Unop(Iop_ReinterpI32asF32, rd(unop(w, Ity_I32, Iop_64to32, rd(t))));
    default:
        return rd(t);
    }
}
