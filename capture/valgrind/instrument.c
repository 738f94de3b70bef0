/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each block is visited twice. The plan determines what its record will hold, and where; then the
 * statements are copied, with stores into the record between them. The record has the same length
 * whichever exit is taken, so its end (the next slot) is known beforehand.
 *
 * While a block runs, the slot at the cursor holds its number and the cursor does not move; at an
 * exit, the next slot gets the exit's number and the cursor moves there. After a fault in between,
 * the block in which it happened can therefore be found (ring_fault).
 */
#include "pub_tool_machine.h"
#include "plan.h"

/* Operands up to this size are copied by inline code. */
#define INLINE_MAX 64

struct emit {
    IRSB *out;
    const struct plan *plan;
    Int lane;               /* offset of struct lane in the guest state */
    IRTemp cursor;          /* the record */
    UInt ops, exits;        /* so far */
    struct x86 x;           /* the instruction */
    IRTemp saved, saved_at; /* see emit_bit_of_register */
    Bool moved;             /* the cursor is past the record: an exit was passed */
    UInt counted;           /* instructions counted so far */
    IRTemp iterations;      /* of the repeated instruction, when it began or went on */
    Bool gets_original;     /* the instruction is such a request */
    Addr pc;                /* the instruction's */
};

static IRExpr *u64(ULong v)
{
    return IRExpr_Const(IRConst_U64(v));
}

static IRExpr *rd(IRTemp t)
{
    return IRExpr_RdTmp(t);
}

static IRTemp assign(struct emit *e, IRType type, IRExpr *expr)
{
    IRTemp t = newIRTemp(e->out->tyenv, type);

    addStmtToIRSB(e->out, IRStmt_WrTmp(t, expr));
    return t;
}

static void store(struct emit *e, UInt at, IRExpr *value)
{
    IRTemp to = assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, rd(e->cursor), u64(at)));

    addStmtToIRSB(e->out, IRStmt_Store(Iend_LE, rd(to), value));
}

static void put_cursor(struct emit *e, UInt at)
{
    IRTemp to = e->cursor;

    if (at)
        to = assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, rd(e->cursor), u64(at)));
    addStmtToIRSB(e->out, IRStmt_Put(e->lane + offsetof(struct lane, cursor), rd(to)));
}

static IRExpr *i64_of_bit(struct emit *e, IRExpr *bit)
{
    return rd(assign(e, Ity_I64, IRExpr_Unop(Iop_1Uto64, bit)));
}

static void declare_lane(IRDirty *d, Int lane, IREffect fx)
{
    d->nFxState = 1;
    VG_(memset)(d->fxState, 0, sizeof(d->fxState));
    d->fxState[0].fx = fx;
    d->fxState[0].offset = lane;
    d->fxState[0].size = sizeof(struct lane);
}

static void copy_operand(UChar *to, const UChar *from, ULong size)
{
    VG_(memcpy)(to, from, size);
}

/* If the guard holds, goes to the scheduler and from there to the block again; to its translation
 * in another mode, if guest_CMLEN is not 0. */
static void emit_remake(struct emit *e, IRExpr *guard)
{
    addStmtToIRSB(e->out, IRStmt_Exit(guard, Ijk_InvalICache, IRConst_U64(e->plan->addr),
                                      offsetof(GuestState, guest_RIP)));
}

/* Starts a recorded block. If the buffer is full, or the thread comes out of a gap, the scheduler
 * is asked to start the block again after tool.c has made room. */
static void emit_entry(struct emit *e, UInt number)
{
    Int limit_at = e->lane + offsetof(struct lane, limit);
    IRTemp limit = assign(e, Ity_I64, IRExpr_Get(limit_at, Ity_I64)), full;

    e->cursor = assign(e, Ity_I64, IRExpr_Get(e->lane + offsetof(struct lane, cursor), Ity_I64));
    full = assign(e, Ity_I1, IRExpr_Binop(Iop_CmpLT64U, rd(limit), rd(e->cursor)));
    emit_remake(e, rd(full));
    store(e, offsetof(struct wire_slot, what), IRExpr_Const(IRConst_U32(number)));
}

/* Adds to a counter of instructions. */
static void emit_count(struct emit *e, Long n)
{
    IRExpr *at = u64((Addr)&the.count);
    IRTemp old, sum;

    if (n == 0)
        return;
    old = assign(e, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, at));
    sum = assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, rd(old), u64(n)));
    addStmtToIRSB(e->out, IRStmt_Store(Iend_LE, at, rd(sum)));
}

static void put_lane(struct emit *e, UInt member, IRExpr *value)
{
    addStmtToIRSB(e->out, IRStmt_Put(e->lane + member, value));
}

/* Counts in the thread's lane. */
static void emit_counted(struct emit *e, Long n)
{
    Int at = e->lane + offsetof(struct lane, counted);
    IRTemp old, sum;

    if (n == 0)
        return;
    old = assign(e, Ity_I64, IRExpr_Get(at, Ity_I64));
    sum = assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, rd(old), u64(n)));
    addStmtToIRSB(e->out, IRStmt_Put(at, rd(sum)));
}

static void declare_remake(IRDirty *d, Int lane)
{
    declare_lane(d, lane, Ifx_Modify);
    d->nFxState = 3;
    d->fxState[1].fx = d->fxState[2].fx = Ifx_Write;
    d->fxState[1].offset = offsetof(GuestState, guest_CMSTART);
    d->fxState[2].offset = offsetof(GuestState, guest_CMLEN);
    d->fxState[1].size = d->fxState[2].size = 8;
}

static void emit_threshold(struct emit *e)
{
    IRTemp count = assign(e, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, u64((Addr)&the.count)));
    IRTemp at = assign(e, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, u64((Addr)&the.threshold)));
    IRTemp due = assign(e, Ity_I1, IRExpr_Binop(Iop_CmpLE64U, rd(at), rd(count)));
    IRDirty *d = unsafeIRDirty_0_N(0, "region_due", VG_(fnptr_to_fnentry)(region_due),
                                   mkIRExprVec_1(IRExpr_GSPTR()));

    d->guard = rd(due);
    declare_remake(d, e->lane);
    addStmtToIRSB(e->out, IRStmt_Dirty(d));
    emit_remake(e, rd(due));
}

static void emit_trigger(struct emit *e, UInt kind)
{
    IRTemp changed = newIRTemp(e->out->tyenv, Ity_I64), go;
    IRDirty *d =
        unsafeIRDirty_1_N(changed, 0, "region_triggered", VG_(fnptr_to_fnentry)(region_triggered),
                          mkIRExprVec_2(IRExpr_GSPTR(), u64(kind)));

    declare_remake(d, e->lane);
    addStmtToIRSB(e->out, IRStmt_Dirty(d));
    go = assign(e, Ity_I1, IRExpr_Binop(Iop_CmpNE64, rd(changed), u64(0)));
    emit_remake(e, rd(go));
}

/* Returns the next planned operand if it is of this kind: kinds that are not recorded are not in
 * the plan. */
static const struct wire_op *next_op(struct emit *e, UInt kind)
{
    if ((kind == WIRE_LOAD && !the.loads) || (kind == WIRE_STORE && !the.stores))
        return NULL;
    tl_assert(e->ops < e->plan->ops);
    return &e->plan->op[e->ops++];
}

static void emit_address(struct emit *e, const struct wire_op *op, IRExpr *addr)
{
    if (op->addr_at)
        store(e, op->addr_at, addr);
}

static void declare_note(IRDirty *d, Int lane, const Int *places, UInt count)
{
    declare_lane(d, lane, Ifx_Modify);
    for (UInt i = 0; i < count; i++) {
        d->fxState[1 + i].fx = Ifx_Read;
        d->fxState[1 + i].offset = places[i];
        d->fxState[1 + i].size = 8;
    }
    d->nFxState = 1 + count;
}

/* What inputs.c wants to know about a value's operand. */
static IRExpr *how_much(const struct emit *e, const struct wire_op *op)
{
    return u64((ULong)(op->insn + 1 - e->counted) << 16 | op->size);
}

/* Tells at once what the instruction gets from outside. */
static void emit_value(struct emit *e, const struct wire_op *op, IRExpr *value, IRExpr *guard)
{
    /* The exchange that ends a request gets it. */
    Addr pc = shown_address(e->pc) + (e->gets_original ? X86_REQUEST_LENGTH - 3 : 0);
    IRType type = typeOfIRExpr(e->out->tyenv, value);
    IRTemp wide = type == Ity_I64 ? assign(e, Ity_I64, value)
                                  : assign(e, Ity_I64,
                                           IRExpr_Unop(type == Ity_I32   ? Iop_32Uto64
                                                       : type == Ity_I16 ? Iop_16Uto64
                                                                         : Iop_8Uto64,
                                                       value));
    IRDirty *d =
        unsafeIRDirty_0_N(0, "inputs_value", VG_(fnptr_to_fnentry)(inputs_value),
                          mkIRExprVec_4(IRExpr_GSPTR(), how_much(e, op), u64(pc), rd(wide)));

    declare_note(d, e->lane, NULL, 0);
    if (guard)
        d->guard = guard;
    addStmtToIRSB(e->out, IRStmt_Dirty(d));
}

static void emit_op(struct emit *e, const struct wire_op *op, IRExpr *addr, IRExpr *value,
                    IRExpr *guard)
{
    if (!op)
        return;
    if (the.light) {
        emit_value(e, op, value, guard);
        return;
    }
    if (guard)
        store(e, op->guard_at, i64_of_bit(e, guard));
    emit_address(e, op, addr);
    if (op->value_at)
        store(e, op->value_at, value);
}

/* Copies an operand out of memory, piece by piece. */
static void emit_copy(struct emit *e, const struct wire_op *op, IRExpr *addr)
{
    static const IRType types[] = {Ity_I8, Ity_I16, Ity_I32, Ity_I64};
    UInt done = 0;

    for (Int log = 3; log >= 0; log--)
        for (; op->size - done >= 1u << log; done += 1u << log) {
            IRTemp from = assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, addr, u64(done)));
            IRTemp piece = assign(e, types[log], IRExpr_Load(Iend_LE, types[log], rd(from)));

            store(e, op->value_at + done, rd(piece));
        }
}

/* The operand is `more` bytes above the helper's. */
static void emit_memory_op(struct emit *e, const struct wire_op *op, const IRDirty *of, UInt more)
{
    IRExpr *addr = of->mAddr;
    IRTemp to;
    IRDirty *d;

    if (!op)
        return;
    if (more)
        addr = rd(assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, addr, u64(more))));
    if (op->guard_at)
        store(e, op->guard_at, i64_of_bit(e, of->guard));
    emit_address(e, op, addr);
    if (!op->guard_at && op->size <= INLINE_MAX) {
        emit_copy(e, op, addr);
        return;
    }
    to = assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, rd(e->cursor), u64(op->value_at)));
    d = unsafeIRDirty_0_N(0, "copy_operand", VG_(fnptr_to_fnentry)(copy_operand),
                          mkIRExprVec_3(rd(to), addr, u64(op->size)));
    d->guard = of->guard;
    d->mFx = Ifx_Read;
    d->mAddr = addr;
    d->mSize = op->size;
    addStmtToIRSB(e->out, IRStmt_Dirty(d));
}

static void emit_registers(struct emit *e, const struct wire_op *op, const Int *regs)
{
    IRDirty *d;

    if (the.light) {
        d = unsafeIRDirty_0_N(0, "inputs_registers", VG_(fnptr_to_fnentry)(inputs_registers),
                              mkIRExprVec_4(IRExpr_GSPTR(), how_much(e, op),
                                            u64(shown_address(e->pc)), u64((Addr)regs)));
        declare_note(d, e->lane, regs, op->size / 8);
        addStmtToIRSB(e->out, IRStmt_Dirty(d));
        return;
    }
    for (UInt i = 0; i < op->size / 8; i++)
        store(e, op->value_at + 8 * i, rd(assign(e, Ity_I64, IRExpr_Get(regs[i], Ity_I64))));
}

static void emit_dirty(struct emit *e, IRStmt *st)
{
    IRDirty *d = st->Ist.Dirty.details;
    const struct wire_op *op;
    struct written parts[2];

    if (d->mFx == Ifx_Modify)
        emit_memory_op(e, next_op(e, WIRE_LOAD), d, 0);
    addStmtToIRSB(e->out, st);
    if (d->mFx == Ifx_Read)
        emit_memory_op(e, next_op(e, WIRE_LOAD), d, 0);
    if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
        for (UInt i = 0; i < written_parts(d, parts); i++)
            emit_memory_op(e, next_op(e, WIRE_STORE), d, parts[i].offset);
    if (nondet_of(d) == NONDET_CPUID)
        emit_registers(e, next_op(e, WIRE_NONDET), cpuid_sets);
    if (nondet_of(d) == NONDET_RDTSCP)
        emit_registers(e, next_op(e, WIRE_NONDET), rdtscp_sets);
    if (nondet_of(d) == NONDET_TEMP) {
        op = next_op(e, WIRE_NONDET);
        emit_op(e, op, NULL, rd(d->tmp), op->guard_at ? d->guard : NULL);
    }
}

/* What an instruction stores by compare-and-swap: the new value, or else, on x86, the old one
 * again. */
static void emit_cas(struct emit *e, IRStmt *st)
{
    const IRCAS *cas = st->Ist.CAS.details;
    IRType type = typeOfIRExpr(e->out->tyenv, cas->dataLo);
    UInt size = sizeofIRType(type);
    IROp equal = size == 1   ? Iop_CmpEQ8
                 : size == 2 ? Iop_CmpEQ16
                 : size == 4 ? Iop_CmpEQ32
                             : Iop_CmpEQ64;
    const struct wire_op *load, *written;
    IRTemp swapped;

    addStmtToIRSB(e->out, st);
    load = next_op(e, WIRE_LOAD);
    emit_op(e, load, cas->addr, rd(cas->oldLo), NULL);
    if (load && cas->dataHi)
        store(e, load->value_at + size, rd(cas->oldHi));
    written = next_op(e, WIRE_STORE);
    if (!written)
        return;
    emit_address(e, written, cas->addr);
    swapped = assign(e, Ity_I1, IRExpr_Binop(equal, rd(cas->oldLo), cas->expdLo));
    if (cas->dataHi) {
        IRTemp hi = assign(e, Ity_I1, IRExpr_Binop(equal, rd(cas->oldHi), cas->expdHi));
        IRTemp lo64 = assign(e, Ity_I64, IRExpr_Unop(Iop_1Uto64, rd(swapped)));
        IRTemp hi64 = assign(e, Ity_I64, IRExpr_Unop(Iop_1Uto64, rd(hi)));
        IRTemp both = assign(e, Ity_I64, IRExpr_Binop(Iop_And64, rd(lo64), rd(hi64)));

        swapped = assign(e, Ity_I1, IRExpr_Binop(Iop_CmpNE64, rd(both), u64(0)));
        store(e, written->value_at + size,
              rd(assign(e, type, IRExpr_ITE(rd(swapped), cas->dataHi, rd(cas->oldHi)))));
    }
    store(e, written->value_at,
          rd(assign(e, type, IRExpr_ITE(rd(swapped), cas->dataLo, rd(cas->oldLo)))));
}

static void emit_counts(struct emit *e, Bool wanted)
{
    /* This is negative at the end of a repeated instruction, which the exit before has counted. */
    Long n = (Long)e->plan->retired[e->exits] - (Long)e->counted;

    if (the.mode != MODE_ON || the.counting)
        emit_count(e, n);
    if (!wanted || the.inputs)
        emit_counted(e, n);
}

/* Notes what struct wire_ran is to say about an exit that is not yet taken. */
static void emit_special(struct emit *e)
{
    const struct wire_exit *x = &e->plan->exit[e->exits];
    Addr pc = shown_address(e->pc) + (x->leave == WIRE_TO_REQUEST ? X86_REQUEST_LENGTH - 3 : 0);

    if (x->leave != WIRE_BORING) {
        put_lane(e, offsetof(struct lane, left), u64(x->leave));
        put_lane(e, offsetof(struct lane, at), u64(pc));
    }
    if (!e->plan->repeats || x->insn + 1u != e->plan->insns)
        return;
    if (e->iterations == IRTemp_INVALID)
        e->iterations =
            assign(e, Ity_I64, IRExpr_Get(e->lane + offsetof(struct lane, iterations), Ity_I64));
    put_lane(e, offsetof(struct lane, iterations),
             e->plan->again[e->exits]
                 ? rd(assign(e, Ity_I64, IRExpr_Binop(Iop_Add64, rd(e->iterations), u64(1))))
                 : u64(0));
}

/* Takes back what it noted about an exit that was not taken. */
static void emit_plain(struct emit *e)
{
    const struct wire_exit *x = &e->plan->exit[e->exits];

    if (x->leave != WIRE_BORING)
        put_lane(e, offsetof(struct lane, left), u64(0));
    if (e->iterations != IRTemp_INVALID)
        put_lane(e, offsetof(struct lane, iterations), rd(e->iterations));
}

/* At an exit that is not yet taken. */
static void emit_leave(struct emit *e, Bool wanted)
{
    const struct wire_exit *x = &e->plan->exit[e->exits];

    emit_counts(e, wanted);
    if (wanted && the.inputs)
        emit_special(e);
    if (wanted && x->leave == WIRE_TO_REQUEST)
        put_lane(e, offsetof(struct lane, requested), u64(1));
    if (wanted && !the.light) {
        if (x->target_at)
            store(e, x->target_at, e->plan->in->next);
        store(e, e->plan->length, u64(e->exits + 1));
        if (!e->moved)
            put_cursor(e, e->plan->length);
        e->moved = True;
    }
}

/* Whether anything can fault, or be recorded, after the statement at i. */
static Bool more_follows(const struct plan *p, Int i)
{
    for (i++; i < p->cut; i++)
        if (p->in->stmts[i]->tag != Ist_WrTmp && p->in->stmts[i]->tag != Ist_Put &&
            p->in->stmts[i]->tag != Ist_NoOp && p->in->stmts[i]->tag != Ist_AbiHint &&
            p->in->stmts[i]->tag != Ist_Exit)
            return True;
        else if (p->in->stmts[i]->tag == Ist_WrTmp &&
                 p->in->stmts[i]->Ist.WrTmp.data->tag == Iex_Load)
            return True;
    return False;
}

static void emit_exit(struct emit *e, Int i, Bool wanted)
{
    UInt n = e->plan->retired[e->exits];

    emit_leave(e, wanted);
    addStmtToIRSB(e->out, e->plan->in->stmts[i]);
    e->counted = n;
    if (wanted && the.inputs)
        emit_plain(e);
    e->exits++;
    if (wanted && !the.light && more_follows(e->plan, i)) {
        put_cursor(e, 0);
        e->moved = False;
    }
}

static void emit_lost_load(struct emit *e, UInt size)
{
    const struct wire_op *op = next_op(e, WIRE_LOAD);
    IRType type = size == 1    ? Ity_I8
                  : size == 2  ? Ity_I16
                  : size == 4  ? Ity_I32
                  : size == 8  ? Ity_I64
                  : size == 16 ? Ity_V128
                               : Ity_V256;
    IRTemp at = effective_address(e->out, &e->x);

    emit_op(e, op, rd(at), rd(assign(e, type, IRExpr_Load(Iend_LE, type, rd(at)))), NULL);
}

/* The record has no room for it, since its description says it. */
static void emit_constant(struct emit *e, const struct wire_op *op)
{
    if (the.light)
        emit_value(e, op, u64(op->value), NULL);
}

static void emit_mark(struct emit *e, Int i)
{
    const IRSB *in = e->plan->in;
    const UChar *pc = (const UChar *)in->stmts[i]->Ist.IMark.addr;

    x86_decode(pc, (Addr)pc, &e->x);
    if (the.loads && lost_load(in, i, &e->x))
        emit_lost_load(e, x86_lost_load(&e->x));
    e->pc = (Addr)pc;
    if (x86_is_xgetbv(&e->x))
        emit_constant(e, next_op(e, WIRE_NONDET));
    e->gets_original = x86_gets_original(pc, in->stmts[i]->Ist.IMark.len);
    e->saved = IRTemp_INVALID;
}

/* Valgrind puts the register below the stack in order to load a byte of it; this is not an operand
 * of the program. What was there before is put back. */
static void emit_bit_of_register(struct emit *e, Int i)
{
    IRStmt *st = e->plan->in->stmts[i];
    IRType type;

    if (st->tag == Ist_Store && e->saved == IRTemp_INVALID) {
        type = typeOfIRExpr(e->out->tyenv, st->Ist.Store.data);
        e->saved_at = assign(e, Ity_I64, st->Ist.Store.addr);
        e->saved = assign(e, type, IRExpr_Load(Iend_LE, type, rd(e->saved_at)));
    }
    addStmtToIRSB(e->out, st);
    if (st->tag == Ist_WrTmp && st->Ist.WrTmp.data->tag == Iex_Load && e->saved != IRTemp_INVALID &&
        !loads_something(e->plan->in, i))
        addStmtToIRSB(e->out, IRStmt_Store(Iend_LE, rd(e->saved_at), rd(e->saved)));
}

static void emit_stmt(struct emit *e, Int i)
{
    IRStmt *st = e->plan->in->stmts[i];
    IRExpr *data;

    if (st->tag != Ist_IMark && x86_is_bit_of_register(&e->x)) {
        emit_bit_of_register(e, i);
        return;
    }
    switch (st->tag) {
    case Ist_IMark:
        addStmtToIRSB(e->out, st);
        emit_mark(e, i);
        break;
    case Ist_WrTmp:
        addStmtToIRSB(e->out, st);
        data = st->Ist.WrTmp.data;
        if (data->tag == Iex_Load &&
            !belongs_to_cas(e->plan->in, i, data->Iex.Load.addr, data->Iex.Load.ty))
            emit_op(e, next_op(e, WIRE_LOAD), data->Iex.Load.addr, rd(st->Ist.WrTmp.tmp),
                    mask_of(e->plan->in, i, &e->x, data->Iex.Load.addr));
        break;
    case Ist_Put:
        if (!e->plan->unseen[i])
            addStmtToIRSB(e->out, st);
        if (e->gets_original && st->Ist.Put.offset == offsetof(GuestState, guest_RAX))
            emit_op(e, next_op(e, WIRE_NONDET), NULL, st->Ist.Put.data, NULL);
        break;
    case Ist_Store:
        addStmtToIRSB(e->out, st);
        emit_op(e, next_op(e, WIRE_STORE), st->Ist.Store.addr, st->Ist.Store.data, NULL);
        break;
    case Ist_StoreG:
        addStmtToIRSB(e->out, st);
        emit_op(e, next_op(e, WIRE_STORE), st->Ist.StoreG.details->addr,
                st->Ist.StoreG.details->data, st->Ist.StoreG.details->guard);
        break;
    case Ist_LoadG:
        addStmtToIRSB(e->out, st);
        emit_op(e, next_op(e, WIRE_LOAD), st->Ist.LoadG.details->addr,
                rd(st->Ist.LoadG.details->dst), st->Ist.LoadG.details->guard);
        break;
    case Ist_CAS:
        emit_cas(e, st);
        break;
    case Ist_Dirty:
        emit_dirty(e, st);
        break;
    default:
        addStmtToIRSB(e->out, st);
        break;
    }
}

static void emit_body(struct emit *e, Int first, Bool wanted)
{
    const struct plan *p = e->plan;

    for (Int i = first; i < p->cut; i++) {
        if (p->in->stmts[i]->tag == Ist_Exit)
            emit_exit(e, i, wanted);
        else if (wanted)
            emit_stmt(e, i);
        else if (!p->unseen[i])
            addStmtToIRSB(e->out, p->in->stmts[i]);
    }
    if (p->cut < p->in->stmts_used) {
        e->out->next = u64(p->cut_to);
        e->out->jumpkind = Ijk_Boring;
    }
    emit_leave(e, wanted);
}

/* The mark of the first instruction is in place. */
static void emit_first(struct emit *e, Int first)
{
    UInt number = announce(e->plan);

    if (the.light)
        put_lane(e, offsetof(struct lane, block), u64(number));
    else
        emit_entry(e, number);
    emit_mark(e, first);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word)
{
    static struct plan plan; /* too large for Valgrind's stack */
    struct emit e = {.plan = &plan, .lane = layout->total_sizeB, .iterations = IRTemp_INVALID};
    Bool wanted, on = the.mode == MODE_ON;
    UInt trigger;
    Int first = 0;

    /* The program needs its registers also when nothing is recorded any more. */
    if ((the.light && inputs_need_exact(in)) || the.mode == MODE_DONE || the.silent)
        return in;
    e.out = deepCopyIRSBExceptStmts(in);
    while (first < in->stmts_used && in->stmts[first]->tag != Ist_IMark)
        addStmtToIRSB(e.out, in->stmts[first++]);
    if (first == in->stmts_used)
        return in;
    wanted = on && region_wants(in->stmts[first]->Ist.IMark.addr);
    open_plan(&plan, in);
    make_plan(&plan, first, region_wants(in->stmts[first]->Ist.IMark.addr));
    find_unseen(&plan, first);
    addStmtToIRSB(e.out, in->stmts[first]);
    trigger = region_trigger(plan.addr);
    if (trigger)
        emit_trigger(&e, trigger);
    if (!on || the.counting)
        emit_threshold(&e);
    if (wanted)
        emit_first(&e, first);
    else
        addStmtToIRSB(e.out, IRStmt_Put(e.lane + offsetof(struct lane, limit), u64(0)));
    emit_body(&e, first + 1, wanted);
    close_plan(&plan);
    return e.out;
}
