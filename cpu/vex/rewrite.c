/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rewrite.h"

#include <string.h>

#include <libvex.h>

#include "access.h"
#include "helpers.h"

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
    Int pending[256];    /* statements that set registers, to be done after `last` */
    unsigned pending_count;
};

/* ---- building blocks ------------------------------------------------------------------------- */

static void add(struct work *w, IRStmt *st)
{
    addStmtToIRSB(w->out, st);
}

static IRExpr *rd(IRTemp t)
{
    return IRExpr_RdTmp(t);
}

static IRExpr *u64(uint64_t v)
{
    return IRExpr_Const(IRConst_U64(v));
}

static IRTemp assign(struct work *w, IRType type, IRExpr *e)
{
    IRTemp t = newIRTemp(w->out->tyenv, type);
    add(w, IRStmt_WrTmp(t, e));
    return t;
}

static IRTemp unop(struct work *w, IRType type, IROp op, IRExpr *e)
{
    return assign(w, type, IRExpr_Unop(op, e));
}

static struct site *new_site(struct work *w, unsigned size, enum vs_access access)
{
    static struct site none;
    struct site *s = w->r->new_site(w->r->context);
    if (!s) {
        w->r->failed = true;
        return &none;
    }
    *s = (struct site){.pc = w->pc,
                       .retired = (Int)w->r->insns - 1 - w->taken - 1,
                       .size = (uint16_t)size,
                       .access = (uint8_t)access,
                       .undo = w->undo};
    return s;
}

/* An access that others of the instruction follow is marked. */
static enum vs_access access_at(const struct work *w, Int i)
{
    return i < w->last ? VS_ACCESS_PART : VS_ACCESS_PLAIN;
}

static IRExpr *pointer(const void *p)
{
    return u64((uintptr_t)p);
}

/* A helper may use the lane; what else it does to registers is said by whoever calls it. */
static IRDirty *declare(IRDirty *d, IRExpr *guard)
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

#define CALL(name, args, guard) declare(unsafeIRDirty_0_N(0, #name, (void *)(name), (args)), guard)
#define CALL_FOR(tmp, name, args, guard)                                                           \
    declare(unsafeIRDirty_1_N((tmp), 0, #name, (void *)(name), (args)), guard)

static IRTemp call64(struct work *w, IRDirty *d)
{
    add(w, IRStmt_Dirty(d));
    return d->tmp;
}

static Bool is_wide(IRType type)
{
    return sizeofIRType(type) > 8;
}

/* Makes 64 bits of a value that has at most as many. */
static IRExpr *widen(struct work *w, IRType type, IRExpr *e)
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

/* The reverse, as an expression. */
static IRExpr *narrow(struct work *w, IRType type, IRTemp t)
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

/* ---- accesses -------------------------------------------------------------------------------- */

/* Returns an expression for what was read. */
static IRExpr *read_memory(struct work *w, IRType type, IRExpr *addr, enum vs_access access,
                           IRExpr *guard)
{
    const struct site *s = new_site(w, (unsigned)sizeofIRType(type), access);
    IRExpr **args = mkIRExprVec_3(IRExpr_GSPTR(), addr, pointer(s));
    if (is_wide(type)) {
        add(w, IRStmt_Dirty(CALL(helper_read_wide, args, guard)));
        return IRExpr_Get(LANE(wide), type);
    }
    IRTemp t = newIRTemp(w->out->tyenv, Ity_I64);
    call64(w, CALL_FOR(t, helper_read, args, guard));
    return narrow(w, type, t);
}

static void write_memory(struct work *w, IRType type, IRExpr *addr, IRExpr *data,
                         enum vs_access access, IRExpr *guard)
{
    const struct site *s = new_site(w, (unsigned)sizeofIRType(type), access);
    if (is_wide(type)) {
        add(w, IRStmt_Put(LANE(wide), data));
        add(w, IRStmt_Dirty(CALL(helper_write_wide, mkIRExprVec_3(IRExpr_GSPTR(), addr, pointer(s)),
                                 guard)));
        return;
    }
    IRExpr *value = widen(w, type, data);
    add(w, IRStmt_Dirty(
               CALL(helper_write, mkIRExprVec_4(IRExpr_GSPTR(), addr, pointer(s), value), guard)));
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
static void refuse(struct work *w)
{
    const struct site *s = new_site(w, 0, VS_ACCESS_PLAIN);
    add(w, IRStmt_Dirty(CALL(helper_refuse, mkIRExprVec_2(IRExpr_GSPTR(), pointer(s)), NULL)));
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
    const struct site *s = new_site(w, size, VS_ACCESS_PLAIN);
    IRExpr **args = mkIRExprVec_2(IRExpr_GSPTR(), pointer(s));
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

static bool is_division(const IRStmt *st)
{
    if (st->tag != Ist_WrTmp || st->Ist.WrTmp.data->tag != Iex_Binop)
        return false;
    switch (st->Ist.WrTmp.data->Iex.Binop.op) {
    case Iop_DivModU64to32:
    case Iop_DivModS64to32:
    case Iop_DivModU128to64:
    case Iop_DivModS128to64:
        return true;
    default:
        return false;
    }
}

static void check_division(struct work *w, const IRStmt *st)
{
    const IRExpr *e = st->Ist.WrTmp.data;
    IROp op = e->Iex.Binop.op;
    bool large = op == Iop_DivModU128to64 || op == Iop_DivModS128to64;
    const struct site *s = new_site(w, large ? 8 : 4, VS_ACCESS_PLAIN);
    IRExpr *dividend = e->Iex.Binop.arg1, *divisor = e->Iex.Binop.arg2;
    IRExpr *high = large ? rd(unop(w, Ity_I64, Iop_128HIto64, dividend)) : u64(0);
    IRExpr *low = large ? rd(unop(w, Ity_I64, Iop_128to64, dividend)) : dividend;
    IRExpr **args = mkIRExprVec_5(IRExpr_GSPTR(), pointer(s), high, low,
                                  large ? divisor : widen(w, Ity_I32, divisor));
    bool is_signed = op == Iop_DivModS64to32 || op == Iop_DivModS128to64;
    add(w, IRStmt_Dirty(is_signed ? CALL(helper_check_signed, args, NULL)
                                  : CALL(helper_check_unsigned, args, NULL)));
}

/* ---- where registers change ------------------------------------------------------------------ */

struct range {
    Int from, to; /* bytes of the guest's state */
};

static bool overlap(struct range a, struct range b)
{
    return a.from < b.to && b.from < a.to;
}

static struct range array_range(const IRRegArray *a)
{
    return (struct range){a->base, a->base + a->nElems * sizeofIRType(a->elemTy)};
}

/* The registers that a statement sets, other than through a helper. */
static bool sets(const struct work *w, const IRStmt *st, struct range *r)
{
    if (st->tag == Ist_Put) {
        Int size = sizeofIRType(typeOfIRExpr(w->in->tyenv, st->Ist.Put.data));
        *r = (struct range){st->Ist.Put.offset, st->Ist.Put.offset + size};
        return true;
    }
    if (st->tag != Ist_PutI)
        return false;
    *r = array_range(st->Ist.PutI.details->descr);
    return true;
}

static bool gets(const IRStmt *st, struct range *r)
{
    if (st->tag != Ist_WrTmp)
        return false;
    const IRExpr *e = st->Ist.WrTmp.data;
    if (e->tag == Iex_Get) {
        *r = (struct range){e->Iex.Get.offset, e->Iex.Get.offset + sizeofIRType(e->Iex.Get.ty)};
        return true;
    }
    if (e->tag != Iex_GetI)
        return false;
    *r = array_range(e->Iex.GetI.descr);
    return true;
}

static bool is_access(const IRStmt *st)
{
    return st->tag == Ist_Store || st->tag == Ist_StoreG || st->tag == Ist_LoadG ||
           st->tag == Ist_CAS || (st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Load);
}

/* Whether translated code may be left at the statement. */
static bool may_leave(const struct work *w, const IRStmt *st)
{
    if (st->tag == Ist_Dirty) {
        const IRDirty *d = st->Ist.Dirty.details;
        return d->mFx != Ifx_None || nondet_of(d) != NONDET_NO || is_port(d);
    }
    return is_division(st) || (is_access(st) && !x86_is_bit_of_register(&w->x));
}

static bool changes_state(const IRDirty *d)
{
    for (Int i = 0; i < d->nFxState; i++)
        if (d->fxState[i].fx != Ifx_Read)
            return true;
    return false;
}

/* Whether what the statement at i does to registers cannot wait until after the last access. */
static bool cannot_wait(const struct work *w, Int i)
{
    const IRStmt *st = w->in->stmts[i];
    struct range set, got;
    if (st->tag == Ist_Dirty && changes_state(st->Ist.Dirty.details))
        return i < w->last || st->Ist.Dirty.details->mFx == Ifx_Write ||
               st->Ist.Dirty.details->mFx == Ifx_Modify;
    if (!sets(w, st, &set))
        return false;
    for (Int k = i + 1; k < w->last; k++) {
        const IRStmt *other = w->in->stmts[k];
        if (other->tag == Ist_Exit ||
            (other->tag == Ist_Dirty && other->Ist.Dirty.details->nFxState))
            return true;
        if (gets(other, &got) && overlap(set, got))
            return true;
    }
    const IRStmt *last = w->in->stmts[w->last];
    return last->tag == Ist_Dirty && last->Ist.Dirty.details->nFxState;
}

/* Finds the instruction's statements, and how its registers are kept. */
static void look_ahead(struct work *w)
{
    unsigned waiting = 0;
    w->last = w->mark;
    for (w->end = w->mark + 1; w->end < w->in->stmts_used; w->end++) {
        const IRStmt *st = w->in->stmts[w->end];
        if (st->tag == Ist_IMark)
            break;
        if (may_leave(w, st))
            w->last = w->end;
    }
    w->undo = false;
    for (Int i = w->mark + 1; i <= w->last; i++) {
        struct range r;
        w->undo |= cannot_wait(w, i);
        waiting += sets(w, w->in->stmts[i], &r);
    }
    w->undo |= waiting > sizeof(w->pending) / sizeof(w->pending[0]);
}

/* ---- an instruction -------------------------------------------------------------------------- */

/* Takes from the event counter what `retired` instructions of the block, with VEX's own one, ask
 * for. */
static void count(struct work *w, Int retired)
{
    Int wanted = retired - 1;
    if (wanted == w->taken)
        return;
    IRTemp old = assign(w, Ity_I32, IRExpr_Get(offsetof(Guest, host_EvC_COUNTER), Ity_I32));
    IRTemp new = assign(
        w, Ity_I32,
        IRExpr_Binop(Iop_Sub32, rd(old), IRExpr_Const(IRConst_U32((UInt)(wanted - w->taken)))));
    add(w, IRStmt_Put(offsetof(Guest, host_EvC_COUNTER), rd(new)));
    w->taken = wanted;
}

static bool is_fault(IRJumpKind kind)
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
    case Ijk_EmFail:
        return true;
    default:
        return false;
    }
}

/* Counts for an exit. Whether an instruction that repeats itself retires is not for the block to
 * say. */
static void count_exit(struct work *w, IRJumpKind kind)
{
    count(w, w->r->repeats ? 0 : (Int)w->r->insns - is_fault(kind));
}

static bool is_string(uint8_t opcode)
{
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
           (opcode >= 0x6c && opcode <= 0x6f);
}

/* A string instruction with a prefix that repeats it. */
static bool is_repeated(const uint8_t *bytes, size_t size)
{
    bool repeated = false;
    for (size_t i = 0; i < size; i++) {
        uint8_t b = bytes[i];
        if (b == 0xf2 || b == 0xf3)
            repeated = true;
        else if ((b & 0xf0) == 0x40)
            return repeated && i + 1 < size && is_string(bytes[i + 1]);
        else if (b != 0x66 && b != 0x67 && b != 0x26 && b != 0x2e && b != 0x36 && b != 0x3e &&
                 b != 0x64 && b != 0x65 && b != 0xf0)
            return repeated && is_string(b);
    }
    return false;
}

bool rewrite_is_request(const uint8_t *bytes)
{
    /* rol $3, $13, $61 and $51, %rdi */
    return !memcmp(bytes, "\x48\xc1\xc7\x03\x48\xc1\xc7\x0d\x48\xc1\xc7\x3d\x48\xc1\xc7\x33",
                   REQUEST_LENGTH);
}

static IRTemp get_outside(struct work *w)
{
    const struct site *s = new_site(w, 8, VS_ACCESS_PLAIN);
    IRTemp t = newIRTemp(w->out->tyenv, Ity_I64);
    return call64(w, CALL_FOR(t, helper_outside, mkIRExprVec_2(IRExpr_GSPTR(), pointer(s)), NULL));
}

/* The exchange that ends a request. Its answer comes from outside. */
static void end_request(struct work *w)
{
    Int reg;
    if (!rewrite_is_request(w->bytes - REQUEST_LENGTH) || w->bytes[0] != 0x48 ||
        w->bytes[1] != 0x87)
        return;
    switch (w->bytes[2]) {
    case 0xdb:
        reg = offsetof(Guest, guest_RDX);
        break;
    case 0xc9:
        reg = offsetof(Guest, guest_RAX);
        break;
    case 0xd2: /* a call that is not redirected */
        refuse(w);
        return;
    default:
        return;
    }
    add(w, IRStmt_Put(reg, rd(get_outside(w))));
}

static void lose_load(struct work *w)
{
    static const IRType types[] = {[1] = Ity_I8,  [2] = Ity_I16,   [4] = Ity_I32,
                                   [8] = Ity_I64, [16] = Ity_V128, [32] = Ity_V256};
    UInt size = lost_load(w->in, w->mark, &w->x);
    if (!size)
        return;
    IRTemp addr = effective_address(w->out, &w->x);
    assign(w, types[size],
           read_memory(w, types[size], rd(addr),
                       w->last > w->mark ? VS_ACCESS_PART : VS_ACCESS_PLAIN, NULL));
}

static void begin_insn(struct work *w)
{
    look_ahead(w);
    w->cas_loaded = w->outside = IRTemp_INVALID;
    w->pending_count = 0;
    add(w, w->in->stmts[w->mark]);
    if (w->undo) {
        IRDirty *keep = CALL(helper_keep, mkIRExprVec_1(IRExpr_GSPTR()), NULL);
        keep->fxState[0].fx = Ifx_Read;
        keep->fxState[0].offset = offsetof(Guest, guest_RAX);
        keep->fxState[0].size = sizeof(Guest) - offsetof(Guest, guest_RAX);
        add(w, IRStmt_Dirty(keep));
    }
    lose_load(w);
    end_request(w);
    if (x86_is_xgetbv(&w->x))
        w->outside = get_outside(w);
}

/* xgetbv's registers are the halves of what came from outside. */
static IRStmt *put_half(struct work *w, IRStmt *st)
{
    bool low = st->Ist.Put.offset == offsetof(Guest, guest_RAX);
    if (w->outside == IRTemp_INVALID || (!low && st->Ist.Put.offset != offsetof(Guest, guest_RDX)))
        return st;
    IRTemp half =
        low ? assign(w, Ity_I64, IRExpr_Binop(Iop_And64, rd(w->outside), u64(0xffffffff)))
            : assign(w, Ity_I64,
                     IRExpr_Binop(Iop_Shr64, rd(w->outside), IRExpr_Const(IRConst_U8(32))));
    return IRStmt_Put(st->Ist.Put.offset, rd(half));
}

static void rewrite_stmt(struct work *w, Int i)
{
    IRStmt *st = w->in->stmts[i];
    struct range r;
    if (sets(w, st, &r)) {
        if (st->tag == Ist_Put && st->Ist.Put.offset == w->in->offsIP)
            return; /* a site or an exit says where the program is */
        if (!w->undo && i < w->last)
            w->pending[w->pending_count++] = i;
        else
            add(w, st->tag == Ist_Put ? put_half(w, st) : st);
        return;
    }
    switch (st->tag) {
    case Ist_WrTmp:
        if (st->Ist.WrTmp.data->tag == Iex_Load) {
            rewrite_load(w, i);
            return;
        }
        if (is_division(st))
            check_division(w, st);
        add(w, st);
        return;
    case Ist_Store:
        rewrite_store(w, i);
        return;
    case Ist_StoreG:
        rewrite_guarded_store(w, i);
        return;
    case Ist_LoadG:
        rewrite_guarded_load(w, i);
        return;
    case Ist_CAS:
        rewrite_cas(w, i);
        return;
    case Ist_Dirty:
        rewrite_dirty(w, i);
        return;
    case Ist_Exit:
        count_exit(w, st->Ist.Exit.jk);
        add(w, st);
        return;
    default:
        add(w, st);
        return;
    }
}

static void rewrite_insn(struct work *w)
{
    begin_insn(w);
    for (Int i = w->mark + 1; i < w->end; i++) {
        rewrite_stmt(w, i);
        if (i == w->last)
            for (unsigned k = 0; k < w->pending_count; k++)
                add(w, w->in->stmts[w->pending[k]]);
    }
}

/* ---- a block --------------------------------------------------------------------------------- */

static bool is_break(const struct vs_cpu_code *code, uint64_t pc)
{
    size_t lo = 0, hi = code->break_count;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (code->breaks[mid] < pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < code->break_count && code->breaks[lo] == pc;
}

/* Whether the block ends before the instruction at the mark. */
static bool is_cut(struct work *w, const IRStmt *mark)
{
    struct rewrite *r = w->r;
    uint64_t at = mark->Ist.IMark.addr - r->addr;
    const uint8_t *bytes = r->bytes + at;
    if (at + mark->Ist.IMark.len > r->size) {
        r->beyond = !r->insns;
        return true;
    }
    return r->insns && (r->insns == r->most || is_repeated(bytes, r->size - at) ||
                        rewrite_is_request(bytes) || is_break(r->of, mark->Ist.IMark.addr));
}

IRSB *rewrite_block(void *rewrite, IRSB *in, const VexGuestLayout *layout,
                    const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                    IRType host_word)
{
    struct rewrite *r = rewrite;
    struct work w = {.r = r, .in = in, .out = deepCopyIRSBExceptStmts(in)};
    (void)layout, (void)extents, (void)host, (void)guest_word, (void)host_word;
    r->insns = r->length = 0;
    r->repeats = r->beyond = false;
    while (w.mark < in->stmts_used && in->stmts[w.mark]->tag != Ist_IMark)
        w.mark++;
    for (; w.mark < in->stmts_used; w.mark = w.end) {
        const IRStmt *mark = in->stmts[w.mark];
        if (is_cut(&w, mark)) {
            count(&w, (Int)r->insns);
            w.out->next = u64(mark->Ist.IMark.addr);
            w.out->jumpkind = Ijk_Boring;
            return w.out;
        }
        w.pc = mark->Ist.IMark.addr;
        w.bytes = r->bytes + (w.pc - r->addr);
        r->repeats = is_repeated(w.bytes, r->size - (w.pc - r->addr));
        x86_decode(w.bytes, w.pc, &w.x);
        r->insns++;
        r->length = (unsigned)(w.pc - r->addr) + mark->Ist.IMark.len;
        rewrite_insn(&w);
    }
    count_exit(&w, in->jumpkind);
    return w.out;
}
