/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "accesses.h"

#include <string.h>

#include "helpers.h"

static IRTemp call64(struct work *w, IRDirty *d)
{
    add(w, IRStmt_Dirty(d));
    return d->tmp;
}

/* An access that others of the instruction follow is marked. */
static enum vs_access access_at(const struct work *w, Int i)
{
    return i < w->last ? VS_ACCESS_PART : VS_ACCESS_PLAIN;
}

IRExpr *read_memory(struct work *w, IRType type, IRExpr *addr, enum vs_access access, IRExpr *guard)
{
    IRExpr **args = mkIRExprVec_3(IRExpr_GSPTR(), addr, u64(spot_in(w, access)));
    IRTemp t = newIRTemp(w->out->tyenv, Ity_I64);
    switch (sizeofIRType(type)) {
    case 1:
        call64(w, CALL_FOR(t, helper_read_1, args, guard));
        break;
    case 2:
        call64(w, CALL_FOR(t, helper_read_2, args, guard));
        break;
    case 4:
        call64(w, CALL_FOR(t, helper_read_4, args, guard));
        break;
    case 8:
        call64(w, CALL_FOR(t, helper_read_8, args, guard));
        break;
    case 16:
        add(w, IRStmt_Dirty(CALL(helper_read_16, args, guard)));
        return IRExpr_Get(LANE(wide), type);
    default:
        add(w, IRStmt_Dirty(CALL(helper_read_32, args, guard)));
        return IRExpr_Get(LANE(wide), type);
    }
    return narrow(w, type, t);
}

static void write_memory(struct work *w, IRType type, IRExpr *addr, IRExpr *data,
                         enum vs_access access, IRExpr *guard)
{
    const unsigned size = (unsigned)sizeofIRType(type);
    const bool wide = size > 8;
    if (wide)
        add(w, IRStmt_Put(LANE(wide), data));
    IRExpr *value = wide ? u64(0) : widen(w, type, data);
    IRExpr **args = mkIRExprVec_4(IRExpr_GSPTR(), addr, u64(spot_in(w, access)), value);
    IRDirty *call = size == 1    ? CALL(helper_write_1, args, guard)
                    : size == 2  ? CALL(helper_write_2, args, guard)
                    : size == 4  ? CALL(helper_write_4, args, guard)
                    : size == 8  ? CALL(helper_write_8, args, guard)
                    : size == 16 ? CALL(helper_write_16, args, guard)
                                 : CALL(helper_write_32, args, guard);
    add(w, IRStmt_Dirty(call));
}

static void rewrite_load(struct work *w, Int i)
{
    const IRStmt *st = w->in->stmts[i];
    const IRExpr *e = st->Ist.WrTmp.data;
    IRType type = e->Iex.Load.ty;
    IRTemp t = st->Ist.WrTmp.tmp;
    if (x86_is_bit_of_register(&w->x)) {
        IRTemp got = newIRTemp(w->out->tyenv, Ity_I64);
        call64(w, CALL_FOR(got, helper_scratch_read,
                           mkIRExprVec_3(IRExpr_GSPTR(), e->Iex.Load.addr,
                                         u64((uint64_t)sizeofIRType(type))),
                           NULL));
        add(w, IRStmt_WrTmp(t, narrow(w, type, got)));
        return;
    }
    bool atomic = belongs_to_cas(w->in, i, e->Iex.Load.addr, type);
    add(w, IRStmt_WrTmp(t, read_memory(w, type, e->Iex.Load.addr,
                                       atomic ? VS_ACCESS_ATOMIC : access_at(w, i),
                                       mask_of(w->in, i, &w->x, e->Iex.Load.addr))));
    if (atomic)
        w->cas_loaded = t;
}

static void rewrite_store(struct work *w, Int i)
{
    const IRStmt *st = w->in->stmts[i];
    IRType type = typeOfIRExpr(w->in->tyenv, st->Ist.Store.data);
    if (x86_is_bit_of_register(&w->x))
        add(w, IRStmt_Dirty(CALL(helper_scratch_write,
                                 mkIRExprVec_4(IRExpr_GSPTR(), st->Ist.Store.addr,
                                               u64((uint64_t)sizeofIRType(type)),
                                               widen(w, type, st->Ist.Store.data)),
                                 NULL)));
    else
        write_memory(w, type, st->Ist.Store.addr, st->Ist.Store.data, access_at(w, i), NULL);
}

static void rewrite_guarded_store(struct work *w, Int i)
{
    const IRStoreG *g = w->in->stmts[i]->Ist.StoreG.details;
    write_memory(w, typeOfIRExpr(w->in->tyenv, g->data), g->addr, g->data, access_at(w, i),
                 g->guard);
}

static IRExpr *convert(IRLoadGOp cvt, IRExpr *e)
{
    switch (cvt) {
    case ILGop_16Uto32:
        return IRExpr_Unop(Iop_16Uto32, e);
    case ILGop_16Sto32:
        return IRExpr_Unop(Iop_16Sto32, e);
    case ILGop_8Uto32:
        return IRExpr_Unop(Iop_8Uto32, e);
    case ILGop_8Sto32:
        return IRExpr_Unop(Iop_8Sto32, e);
    default:
        return e;
    }
}

static void rewrite_guarded_load(struct work *w, Int i)
{
    const IRLoadG *g = w->in->stmts[i]->Ist.LoadG.details;
    IRType result, loaded;
    typeOfIRLoadGOp(g->cvt, &result, &loaded);
    IRTemp got = assign(w, loaded, read_memory(w, loaded, g->addr, access_at(w, i), g->guard));
    IRTemp converted = assign(w, result, convert(g->cvt, rd(got)));
    add(w, IRStmt_WrTmp(g->dst, IRExpr_ITE(g->guard, rd(converted), g->alt)));
}

static IROp equal_op(IRType type)
{
    return type == Ity_I8    ? Iop_CmpEQ8
           : type == Ity_I16 ? Iop_CmpEQ16
           : type == Ity_I32 ? Iop_CmpEQ32
                             : Iop_CmpEQ64;
}

static IRTemp both(struct work *w, IRTemp a, IRTemp b)
{
    IRTemp x = unop(w, Ity_I64, Iop_1Uto64, rd(a)), y = unop(w, Ity_I64, Iop_1Uto64, rd(b));
    IRTemp sum = assign(w, Ity_I64, IRExpr_Binop(Iop_And64, rd(x), rd(y)));
    return assign(w, Ity_I1, IRExpr_Binop(Iop_CmpNE64, rd(sum), u64(0)));
}

/* Twice the type: one operand, of which a compare-and-swap names the halves. */
static void rewrite_double_cas(struct work *w, const IRCAS *cas, IRType type)
{
    bool wide = type == Ity_I64;
    IRType whole = wide ? Ity_V128 : Ity_I64;
    IROp equal = equal_op(type);
    IRTemp old = assign(w, whole, read_memory(w, whole, cas->addr, VS_ACCESS_ATOMIC, NULL));
    add(w, IRStmt_WrTmp(cas->oldLo, IRExpr_Unop(wide ? Iop_V128to64 : Iop_64to32, rd(old))));
    add(w, IRStmt_WrTmp(cas->oldHi, IRExpr_Unop(wide ? Iop_V128HIto64 : Iop_64HIto32, rd(old))));
    IRTemp lo = assign(w, Ity_I1, IRExpr_Binop(equal, rd(cas->oldLo), cas->expdLo));
    IRTemp hi = assign(w, Ity_I1, IRExpr_Binop(equal, rd(cas->oldHi), cas->expdHi));
    IRTemp swapped = both(w, lo, hi);
    IRTemp new = assign(
        w, whole, IRExpr_Binop(wide ? Iop_64HLtoV128 : Iop_32HLto64, cas->dataHi, cas->dataLo));
    IRTemp lo_out, hi_out, out;
    if (wide) {
        /* There is no choice between vectors of this size. */
        lo_out = assign(w, type, IRExpr_ITE(rd(swapped), cas->dataLo, rd(cas->oldLo)));
        hi_out = assign(w, type, IRExpr_ITE(rd(swapped), cas->dataHi, rd(cas->oldHi)));
        out = assign(w, whole, IRExpr_Binop(Iop_64HLtoV128, rd(hi_out), rd(lo_out)));
    } else {
        out = assign(w, whole, IRExpr_ITE(rd(swapped), rd(new), rd(old)));
    }
    write_memory(w, whole, cas->addr, rd(out), VS_ACCESS_ATOMIC, NULL);
}

/* What x86 stores if the values differ is the old one. */
static void rewrite_cas(struct work *w, Int i)
{
    const IRCAS *cas = w->in->stmts[i]->Ist.CAS.details;
    IRType type = typeOfIRExpr(w->in->tyenv, cas->dataLo);
    if (cas->dataHi) {
        rewrite_double_cas(w, cas, type);
        return;
    }
    add(w, IRStmt_WrTmp(cas->oldLo, w->cas_loaded != IRTemp_INVALID
                                        ? rd(w->cas_loaded)
                                        : read_memory(w, type, cas->addr, VS_ACCESS_ATOMIC, NULL)));
    IRTemp swapped = assign(w, Ity_I1, IRExpr_Binop(equal_op(type), rd(cas->oldLo), cas->expdLo));
    IRTemp out = assign(w, type, IRExpr_ITE(rd(swapped), cas->dataLo, rd(cas->oldLo)));
    write_memory(w, type, cas->addr, rd(out), VS_ACCESS_ATOMIC, NULL);
}

/* ---- helpers of VEX's own -------------------------------------------------------------------- */

static bool name_is(const IRDirty *d, const char *name)
{
    return strcmp(d->cee->name, name) == 0;
}

static bool is_port(const IRDirty *d)
{
    return name_is(d, "amd64g_dirtyhelper_IN") || name_is(d, "amd64g_dirtyhelper_OUT");
}

/* Goes on with the block as if the instruction could not be decoded. */
void refuse(struct work *w)
{
    IRExpr **args = mkIRExprVec_2(IRExpr_GSPTR(), u64(spot_in(w, VS_ACCESS_PLAIN)));
    add(w, IRStmt_Dirty(CALL(helper_refuse, args, NULL)));
}

/* Copies what a helper does to registers. */
static void copy_effects(IRDirty *to, const IRDirty *from)
{
    if (from->nFxState) {
        to->nFxState = from->nFxState;
        memcpy(to->fxState, from->fxState, sizeof(to->fxState));
    }
}

/* What an address is the sum of. */
struct sum {
    IRTemp root; /* IRTemp_INVALID: nothing but the offset */
    ULong offset;
};

/* Follows copies and additions of constants back from the statement at i. */
static struct sum sum_of(const struct work *w, Int i, const IRExpr *e)
{
    struct sum s = {temp_of(e), 0};
    ULong c;
    if (constant(e, &s.offset))
        return s;
    while (--i >= 0) {
        const IRStmt *st = w->in->stmts[i];
        if (st->tag != Ist_WrTmp || st->Ist.WrTmp.tmp != s.root)
            continue;
        const IRExpr *from = st->Ist.WrTmp.data;
        if (from->tag == Iex_RdTmp) {
            s.root = from->Iex.RdTmp.tmp;
            continue;
        }
        if (from->tag != Iex_Binop || from->Iex.Binop.op != Iop_Add64 ||
            !constant(from->Iex.Binop.arg2, &c) || temp_of(from->Iex.Binop.arg1) == IRTemp_INVALID)
            break;
        s.root = temp_of(from->Iex.Binop.arg1);
        s.offset += c;
    }
    return s;
}

/* Whether an address is at or little above another; the distance is set. */
static bool is_above(const struct work *w, Int i, const IRExpr *e, const IRExpr *other,
                     ULong *distance)
{
    struct sum a = sum_of(w, i, e), b = sum_of(w, i, other);
    *distance = a.offset - b.offset;
    return a.root == b.root && *distance <= VS_CPU_ACCESS_MAX;
}

/* Calls it through helper_call. Its arguments, but for the state, which comes first, are handed on;
 * one of them is the address. */
static void rewrite_accessing(struct work *w, Int i, const IRDirty *d)
{
    IRExpr *args[4] = {u64(0), u64(0), u64(0), u64(0)};
    unsigned n = 0;
    int address = -1;
    ULong offset = 0;
    bool has_state = d->cee && d->args[0] && d->args[0]->tag == Iex_GSPTR;
    for (IRExpr **a = d->args + has_state; *a; a++, n++) {
        if (n == 4 || is_IRExpr_VECRET_or_GSPTR(*a)) {
            refuse(w);
            return;
        }
        args[n] = *a;
        if (address < 0 && is_above(w, i, d->mAddr, *a, &offset))
            address = (int)n;
    }
    struct site *s = new_site(w, (unsigned)d->mSize, access_at(w, i));
    if (address < 0 || d->mSize <= 0 || d->mSize > VS_CPU_ACCESS_MAX) {
        refuse(w);
        return;
    }
    for (unsigned k = 0; k < n; k++)
        args[k] = widen(w, typeOfIRExpr(w->in->tyenv, args[k]), args[k]);
    s->effect = (uint16_t)d->mFx;
    s->address = (uint8_t)address;
    s->offset = (uint16_t)offset;
    s->has_state = has_state;
    struct written parts[2];
    s->parts = (uint8_t)written_parts(d, parts);
    for (unsigned k = 0; k < 2; k++) {
        s->part[k].offset = parts[k].offset;
        s->part[k].size = parts[k].size;
    }
    s->helper = d->cee->addr;
    IRExpr **all = mkIRExprVec_6(IRExpr_GSPTR(), pointer(s), args[0], args[1], args[2], args[3]);
    IRDirty *call = d->tmp == IRTemp_INVALID ? CALL(helper_call, all, d->guard)
                                             : CALL_FOR(d->tmp, helper_call, all, d->guard);
    copy_effects(call, d);
    add(w, IRStmt_Dirty(call));
}

static void rewrite_nondet(struct work *w, const IRDirty *d, enum nondet kind)
{
    unsigned size = kind == NONDET_CPUID ? 8 * sizeof(cpuid_sets) / sizeof(cpuid_sets[0])
                    : kind == NONDET_RDTSCP
                        ? 8 * sizeof(rdtscp_sets) / sizeof(rdtscp_sets[0])
                        : (unsigned)sizeofIRType(typeOfIRTemp(w->in->tyenv, d->tmp));
    IRExpr **args =
        mkIRExprVec_3(IRExpr_GSPTR(), u64(spot_in(w, VS_ACCESS_PLAIN)), u64((uint64_t)size));
    IRDirty *call = kind == NONDET_CPUID    ? CALL(helper_cpuid, args, d->guard)
                    : kind == NONDET_RDTSCP ? CALL(helper_rdtscp, args, d->guard)
                                            : CALL_FOR(d->tmp, helper_outside, args, d->guard);
    if (kind != NONDET_TEMP)
        copy_effects(call, d);
    add(w, IRStmt_Dirty(call));
}

static void rewrite_dirty(struct work *w, Int i)
{
    IRStmt *st = w->in->stmts[i];
    const IRDirty *d = st->Ist.Dirty.details;
    if (is_port(d))
        refuse(w);
    else if (nondet_of(d) != NONDET_NO)
        rewrite_nondet(w, d, nondet_of(d));
    else if (d->mFx != Ifx_None)
        rewrite_accessing(w, i, d);
    else
        add(w, st);
}

/* ---- division -------------------------------------------------------------------------------- */

static void check_division(struct work *w, const IRStmt *st)
{
    const IRExpr *e = st->Ist.WrTmp.data;
    IROp op = e->Iex.Binop.op;
    bool large = op == Iop_DivModU128to64 || op == Iop_DivModS128to64;
    const uint64_t size = large ? 8 : 4;
    IRExpr *dividend = e->Iex.Binop.arg1, *divisor = e->Iex.Binop.arg2;
    IRExpr *high = large ? rd(unop(w, Ity_I64, Iop_128HIto64, dividend)) : u64(0);
    IRExpr *low = large ? rd(unop(w, Ity_I64, Iop_128to64, dividend)) : dividend;
    IRExpr **args = mkIRExprVec_6(IRExpr_GSPTR(), u64(spot_in(w, VS_ACCESS_PLAIN)), high, low,
                                  large ? divisor : widen(w, Ity_I32, divisor), u64(size));
    bool is_signed = op == Iop_DivModS64to32 || op == Iop_DivModS128to64;
    add(w, IRStmt_Dirty(is_signed ? CALL(helper_check_signed, args, NULL)
                                  : CALL(helper_check_unsigned, args, NULL)));
}

/* ---- all of them ----------------------------------------------------------------------------- */

IRTemp read_outside(struct work *w)
{
    IRExpr **args = mkIRExprVec_3(IRExpr_GSPTR(), u64(spot_in(w, VS_ACCESS_PLAIN)), u64(8));
    IRTemp t = newIRTemp(w->out->tyenv, Ity_I64);
    return call64(w, CALL_FOR(t, helper_outside, args, NULL));
}

static bool is_access(const IRStmt *st)
{
    return st->tag == Ist_Store || st->tag == Ist_StoreG || st->tag == Ist_LoadG ||
           st->tag == Ist_CAS || (st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Load);
}

bool may_leave(const struct work *w, const IRStmt *st)
{
    if (st->tag == Ist_Dirty) {
        const IRDirty *d = st->Ist.Dirty.details;
        return d->mFx != Ifx_None || nondet_of(d) != NONDET_NO || is_port(d);
    }
    return is_division(st) || (is_access(st) && !x86_is_bit_of_register(&w->x));
}

bool rewrite_access(struct work *w, Int i)
{
    IRStmt *st = w->in->stmts[i];
    switch (st->tag) {
    case Ist_WrTmp:
        if (st->Ist.WrTmp.data->tag == Iex_Load) {
            rewrite_load(w, i);
            return true;
        }
        if (is_division(st))
            check_division(w, st);
        return false;
    case Ist_Store:
        rewrite_store(w, i);
        return true;
    case Ist_StoreG:
        rewrite_guarded_store(w, i);
        return true;
    case Ist_LoadG:
        rewrite_guarded_load(w, i);
        return true;
    case Ist_CAS:
        rewrite_cas(w, i);
        return true;
    case Ist_Dirty:
        rewrite_dirty(w, i);
        return true;
    default:
        return false;
    }
}
