/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "access.h"

#include <stddef.h>

IRTemp temp_of(const IRExpr *e)
{
    return e && e->tag == Iex_RdTmp ? e->Iex.RdTmp.tmp : IRTemp_INVALID;
}

Bool constant(const IRExpr *e, ULong *value)
{
    if (!e || e->tag != Iex_Const)
        return False;
    switch (e->Iex.Const.con->tag) {
    case Ico_U8:
        *value = e->Iex.Const.con->Ico.U8;
        return True;
    case Ico_U16:
        *value = e->Iex.Const.con->Ico.U16;
        return True;
    case Ico_U32:
        *value = e->Iex.Const.con->Ico.U32;
        return True;
    case Ico_U64:
        *value = e->Iex.Const.con->Ico.U64;
        return True;
    default:
        return False;
    }
}

static Bool starts_with(const HChar *s, const HChar *prefix)
{
    while (*prefix && *s == *prefix) {
        s++;
        prefix++;
    }
    return !*prefix;
}

const Int cpuid_sets[4] = {offsetof(GuestState, guest_RAX), offsetof(GuestState, guest_RBX),
                           offsetof(GuestState, guest_RCX), offsetof(GuestState, guest_RDX)};
const Int rdtscp_sets[3] = {offsetof(GuestState, guest_RAX), offsetof(GuestState, guest_RCX),
                            offsetof(GuestState, guest_RDX)};

enum nondet nondet_of(const IRDirty *d)
{
    if (starts_with(d->cee->name, "amd64g_dirtyhelper_CPUID"))
        return NONDET_CPUID;
    if (starts_with(d->cee->name, "amd64g_dirtyhelper_RDTSCP"))
        return NONDET_RDTSCP;
    if (d->tmp != IRTemp_INVALID && (starts_with(d->cee->name, "amd64g_dirtyhelper_RDTSC") ||
                                     starts_with(d->cee->name, "amd64g_dirtyhelper_RDRAND") ||
                                     starts_with(d->cee->name, "amd64g_dirtyhelper_RDSEED")))
        return NONDET_TEMP;
    return NONDET_NO;
}

Bool faults(IRJumpKind kind)
{
    switch (kind) {
    case Ijk_NoDecode:
    case Ijk_MapFail:
    case Ijk_SigILL:
    case Ijk_SigSEGV:
    case Ijk_SigBUS:
    case Ijk_SigFPE:
    case Ijk_SigFPE_IntDiv:
    case Ijk_SigFPE_IntOvf:
        return True;
    default:
        return False;
    }
}

enum { XSAVE_SSE = 24, XSAVE_SSE_END = 32 };

UInt written_parts(const IRDirty *d, struct written parts[2])
{
    Bool two = starts_with(d->cee->name, "amd64g_dirtyhelper_XSAVE_COMPONENT_0");

    parts[0] = (struct written){0, two ? XSAVE_SSE : d->mSize};
    parts[1] = (struct written){XSAVE_SSE_END, two ? d->mSize - XSAVE_SSE_END : 0};
    return two ? 2 : 1;
}

/* What the temporary was set to before the statement at i; NULL if it was not set there. */
static const IRExpr *set_to(const IRSB *in, Int i, IRTemp t)
{
    while (--i >= 0)
        if (in->stmts[i]->tag == Ist_WrTmp && in->stmts[i]->Ist.WrTmp.tmp == t)
            return in->stmts[i]->Ist.WrTmp.data;
    return NULL;
}

/* What the expression, at the statement at i, is a copy of. VEX leaves copies behind. */
static const IRExpr *original_of(const IRSB *in, Int i, const IRExpr *e)
{
    const IRExpr *from;

    while (temp_of(e) != IRTemp_INVALID) {
        from = set_to(in, i, temp_of(e));
        if (!from || temp_of(from) == IRTemp_INVALID)
            break;
        e = from;
    }
    return e;
}

/* Finds the compare-and-swap with which an instruction with a lock prefix stores, if there is
 * one. */
static const IRCAS *cas_after(const IRSB *in, Int i)
{
    for (i++; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
        if (in->stmts[i]->tag == Ist_CAS)
            return in->stmts[i]->Ist.CAS.details;
    return NULL;
}

UInt cas_size(const IRSB *in, const IRCAS *cas)
{
    return sizeofIRType(typeOfIRExpr(in->tyenv, cas->dataLo)) * (cas->dataHi ? 2 : 1);
}

Bool belongs_to_cas(const IRSB *in, Int i, const IRExpr *addr, IRType type)
{
    const IRCAS *cas = cas_after(in, i);

    return cas && cas_size(in, cas) == (UInt)sizeofIRType(type) &&
           eqIRAtom(original_of(in, in->stmts_used, cas->addr), original_of(in, i, addr));
}

/* The mask selects the address; a segment's base may be added to it, and its upper half may be cut
 * off. */
IRExpr *mask_of(const IRSB *in, Int i, const struct x86 *x, const IRExpr *addr)
{
    if (!x86_is_gather(x))
        return NULL;
    while (temp_of(addr) != IRTemp_INVALID) {
        const IRExpr *e = set_to(in, i, temp_of(addr));

        if (e && e->tag == Iex_ITE)
            return temp_of(e->Iex.ITE.cond) == IRTemp_INVALID ? NULL : e->Iex.ITE.cond;
        addr = !e                    ? NULL
               : e->tag == Iex_RdTmp ? e
               : e->tag == Iex_Unop  ? e->Iex.Unop.arg
               : e->tag == Iex_Binop ? e->Iex.Binop.arg1
                                     : NULL;
    }
    return NULL;
}

Bool loads_something(const IRSB *in, Int i)
{
    for (i++; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++) {
        const IRStmt *st = in->stmts[i];

        if (st->tag == Ist_LoadG || st->tag == Ist_CAS ||
            (st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Load))
            return True;
    }
    return False;
}

UInt lost_load(const IRSB *in, Int mark, const struct x86 *x)
{
    return loads_something(in, mark) ? 0 : x86_lost_load(x);
}

static IRTemp set(IRSB *out, IRExpr *expr)
{
    IRTemp t = newIRTemp(out->tyenv, Ity_I64);

    addStmtToIRSB(out, IRStmt_WrTmp(t, expr));
    return t;
}

static IRTemp add(IRSB *out, IRTemp a, IRTemp b)
{
    return set(out, IRExpr_Binop(Iop_Add64, IRExpr_RdTmp(a), IRExpr_RdTmp(b)));
}

static IRTemp get(IRSB *out, Int offset)
{
    return set(out, IRExpr_Get(offset, Ity_I64));
}

static IRTemp gpr(IRSB *out, UInt number)
{
    return get(out, offsetof(GuestState, guest_RAX) + 8 * number);
}

IRTemp effective_address(IRSB *out, const struct x86 *x)
{
    IRTemp sum = set(out, IRExpr_Const(IRConst_U64(x->offset))), t;

    if (x->base != X86_NONE)
        sum = add(out, sum, gpr(out, x->base));
    if (x->index != X86_NONE) {
        t = gpr(out, x->index);
        t = set(out, IRExpr_Binop(Iop_Shl64, IRExpr_RdTmp(t), IRExpr_Const(IRConst_U8(x->scale))));
        sum = add(out, sum, t);
    }
    if (x->short_address)
        sum = set(
            out, IRExpr_Binop(Iop_And64, IRExpr_RdTmp(sum), IRExpr_Const(IRConst_U64(0xffffffff))));
    if (x->segment)
        sum = add(out, sum,
                  get(out, x->segment == 0x64 ? offsetof(GuestState, guest_FS_CONST)
                                              : offsetof(GuestState, guest_GS_CONST)));
    return sum;
}

Bool is_division(const IRStmt *st)
{
    if (st->tag != Ist_WrTmp || st->Ist.WrTmp.data->tag != Iex_Binop)
        return False;
    switch (st->Ist.WrTmp.data->Iex.Binop.op) {
    case Iop_DivModU64to32:
    case Iop_DivModS64to32:
    case Iop_DivModU128to64:
    case Iop_DivModS128to64:
        return True;
    default:
        return False;
    }
}
