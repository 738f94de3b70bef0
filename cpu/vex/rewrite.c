/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rewrite.h"

#include <string.h>

#include "accesses.h"
#include "helpers.h"

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

/* Counts for an exit. Whether an instruction that repeats itself retires is not for the block to
 * say. */
static void count_exit(struct work *w, IRJumpKind kind)
{
    count(w, w->r->repeats ? 0 : (Int)w->r->insns - faults(kind));
}

static bool is_string(uint8_t opcode)
{
    return (opcode >= 0xa4 && opcode <= 0xa7) || (opcode >= 0xaa && opcode <= 0xaf) ||
           (opcode >= 0x6c && opcode <= 0x6f);
}

/* A string instruction with a prefix that repeats it. As VEX does, this takes REX for a prefix like
 * any other. */
static bool is_repeated(const uint8_t *bytes, size_t size)
{
    bool repeated = false;
    for (size_t i = 0; i < size; i++) {
        uint8_t b = bytes[i];
        if (b == 0xf2 || b == 0xf3)
            repeated = true;
        else if ((b & 0xf0) != 0x40 && b != 0x66 && b != 0x67 && b != 0x26 && b != 0x2e &&
                 b != 0x36 && b != 0x3e && b != 0x64 && b != 0x65 && b != 0xf0)
            return repeated && is_string(b);
    }
    return false;
}

/* Whether the instruction at the mark may be followed by itself. VEX does not repeat lods, whatever
 * its prefix. */
static bool goes_back(const struct work *w)
{
    const IRSB *in = w->in;
    uint64_t pc = in->stmts[w->mark]->Ist.IMark.addr;
    for (Int i = w->mark + 1; i < in->stmts_used; i++) {
        const IRStmt *st = in->stmts[i];
        if (st->tag == Ist_IMark)
            return false;
        if (st->tag == Ist_Exit && !faults(st->Ist.Exit.jk) && st->Ist.Exit.dst->Ico.U64 == pc)
            return true;
    }
    return in->next->tag == Iex_Const && in->next->Iex.Const.con->Ico.U64 == pc;
}

bool rewrite_is_request(const uint8_t *bytes)
{
    /* rol $3, $13, $61 and $51, %rdi */
    return !memcmp(bytes, "\x48\xc1\xc7\x03\x48\xc1\xc7\x0d\x48\xc1\xc7\x3d\x48\xc1\xc7\x33",
                   REQUEST_LENGTH);
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
    add(w, IRStmt_Put(reg, rd(read_outside(w))));
}

/* VEX leaves out a load if nothing comes of it, as when its register is set again. */
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

/* ---- branches -------------------------------------------------------------------------------- */

/* Whether the owner is to be told about the instruction; `insn` says what it is. */
static bool is_told(const struct work *w, struct vs_insn *insn)
{
    const struct vs_cpu_code *of = w->r->of;
    size_t at = (size_t)(w->pc - w->r->addr);
    return of->branched && of->describe(w->bytes, w->r->size - at, w->pc, insn) == 0 &&
           insn->kind == VS_INSN_BRANCH;
}

static void tell_branch(struct work *w, const struct vs_insn *insn, const IRStmt *exit,
                        IRExpr *next)
{
    IRExpr *taken = u64(0), *to = u64(0);
    w->told = true;
    if (exit) {
        to = u64(exit->Ist.Exit.dst->Ico.U64);
        taken = rd(unop(w, Ity_I64, Iop_1Uto64, exit->Ist.Exit.guard));
    }
    IRExpr **args = mkIRExprVec_6(IRExpr_GSPTR(), u64(spot_in(w, VS_ACCESS_PLAIN)),
                                  u64(branch_of(insn)), taken, to, next);
    add(w, IRStmt_Dirty(CALL(helper_branch, args, NULL)));
}

/* ---- an instruction and its neighbours ------------------------------------------------------- */

static void begin_insn(struct work *w)
{
    look_ahead(w);
    w->cas_loaded = w->outside = IRTemp_INVALID;
    w->told = false;
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
        w->outside = read_outside(w);
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
            return; /* a spot or an exit says where the program is */
        if (!w->undo && i < w->last)
            w->pending[w->pending_count++] = i;
        else
            add(w, st->tag == Ist_Put ? put_half(w, st) : st);
        return;
    }
    if (rewrite_access(w, i))
        return;
    if (st->tag == Ist_Exit) {
        struct vs_insn insn;
        if (!faults(st->Ist.Exit.jk) && !w->told && is_told(w, &insn))
            tell_branch(w, &insn, st,
                        w->end < w->in->stmts_used ? u64(w->pc + insn.length) : w->in->next);
        count_exit(w, st->Ist.Exit.jk);
    }
    add(w, st);
}

/* An instruction that has no exit goes where the block goes. */
static void end_block(struct work *w)
{
    struct vs_insn insn;
    if (!faults(w->in->jumpkind) && !w->told && is_told(w, &insn))
        tell_branch(w, &insn, NULL, w->in->next);
    count_exit(w, w->in->jumpkind);
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
    /* VEX goes on behind jrcxz, and leaves out its exit if it knows that it is not taken. */
    struct vs_insn insn;
    if (w->end < w->in->stmts_used && !w->told && is_told(w, &insn))
        tell_branch(w, &insn, NULL, u64(w->pc + insn.length));
}

/* ---- a block --------------------------------------------------------------------------------- */

/* A branch to the next instruction has to begin a block: otherwise VEX may know from what precedes
 * it whether it is taken, and leave by another exit than its condition says. */
static bool goes_to_next(const uint8_t *bytes, uint64_t pc)
{
    struct x86 x;
    x86_decode(bytes, pc, &x);
    return x86_goes_to_next(&x);
}

/* Whether the block ends before the instruction at the mark. It ends after xgetbv, whose result VEX
 * knows better and has already put into what follows. */
static bool is_cut(struct work *w, const IRStmt *mark)
{
    struct rewrite *r = w->r;
    uint64_t at = mark->Ist.IMark.addr - r->addr;
    const uint8_t *bytes = r->bytes + at;
    if (at + mark->Ist.IMark.len > r->size) {
        r->beyond = !r->insns;
        return true;
    }
    return r->insns &&
           (r->insns == r->most || x86_is_xgetbv(&w->x) || is_repeated(bytes, r->size - at) ||
            rewrite_is_request(bytes) || vs_cpu_stops(r->of, mark->Ist.IMark.addr) ||
            (r->of->branched && goes_to_next(bytes, mark->Ist.IMark.addr)));
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
        r->repeats = is_repeated(w.bytes, r->size - (w.pc - r->addr)) && goes_back(&w);
        x86_decode(w.bytes, w.pc, &w.x);
        r->insns++;
        r->length = (unsigned)(w.pc - r->addr) + mark->Ist.IMark.len;
        rewrite_insn(&w);
    }
    end_block(&w);
    return w.out;
}
