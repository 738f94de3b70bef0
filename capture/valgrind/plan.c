/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_mallocfree.h"

/* ---- blocks announced so far --------------------------------------------------------------- */

/* A block is announced once, however often it is translated: when a window begins, and whenever
 * Valgrind's table of translations is full, all of it is translated again. */
struct made {
    struct made *next; /* these two are the hash table's */
    UWord key;
    UInt size; /* of what follows, as it was sent */
    struct wire_block block;
};

static struct made **made; /* by number, from 1 up */
static UInt made_capacity;
static VgHashTable *made_by_content;

static const UChar *lengths_of(const struct wire_block *b)
{
    return (const UChar *)(b + 1) + b->ops * sizeof(struct wire_op) +
           b->exits * sizeof(struct wire_exit);
}

UInt block_length(UInt number)
{
    return made[number]->block.length;
}

UInt block_insns_before(UInt number, Addr pc)
{
    const struct wire_block *b = &made[number]->block;
    const UChar *lengths = lengths_of(b);
    Addr at = b->addr;
    UInt n = 0;

    pc = shown_address(pc);
    while (n < b->insns && at != pc)
        at += lengths[n++];
    return n < b->insns ? n : 0;
}

static Bool goes_back(const struct wire_exit *x, Addr pc)
{
    return x->leave == WIRE_BORING && !x->target_at && x->target == pc;
}

/* The address of an instruction of the block. */
static Addr insn_address(const struct wire_block *b, UInt insn)
{
    const UChar *lengths = lengths_of(b);
    Addr at = b->addr;

    while (insn)
        at += lengths[--insn];
    return at;
}

UInt block_counted_before(UInt number, Addr pc)
{
    const struct wire_block *b = &made[number]->block;
    const struct wire_exit *x =
        (const struct wire_exit *)((const UChar *)(b + 1) + b->ops * sizeof(struct wire_op));
    UInt at = block_insns_before(number, pc), counted = 0;

    for (; !x->is_end && x->insn <= at; x++) {
        Bool back = goes_back(x, insn_address(b, x->insn));

        if (back && x->insn == at)
            break; /* it comes after the accesses of its instruction */
        counted = x->insn + (x->leave != WIRE_TO_FAULT && !back);
    }
    return counted;
}

/* ---- the plan ------------------------------------------------------------------------------ */

static void follow_sum(struct plan *p, IRTemp to, const IRExpr *e)
{
    ULong c;
    IRTemp from;

    if (e->tag == Iex_RdTmp) {
        from = e->Iex.RdTmp.tmp;
        p->root[to] = p->root[from];
        p->offset[to] = p->offset[from];
        return;
    }
    if (e->tag != Iex_Binop)
        return;
    from = temp_of(e->Iex.Binop.arg1);
    if (from == IRTemp_INVALID || !constant(e->Iex.Binop.arg2, &c))
        return;
    if (e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64)
        return;
    p->root[to] = p->root[from];
    p->offset[to] = p->offset[from] + (e->Iex.Binop.op == Iop_Add64 ? (Long)c : -(Long)c);
}

static UInt take_room(struct plan *p, UInt size)
{
    UInt at = p->length;

    p->length += (size + 7) & ~7u;
    return at;
}

/* The operand is `more` bytes above the address. */
static void place_address(struct plan *p, struct wire_op *op, const IRExpr *addr, UInt more)
{
    IRTemp t = temp_of(addr), root;
    ULong c;

    if (constant(addr, &c)) {
        op->flags |= WIRE_ADDR_CONST;
        op->addr = c + more;
        return;
    }
    root = p->root[t];
    if (p->address[root]) {
        op->flags |= WIRE_ADDR_OF;
        op->of = p->address[root] - 1;
        op->addr = p->offset[t] + more - p->recorded[root];
        return;
    }
    op->addr_at = take_room(p, 8);
    p->address[root] = p->ops + 1;
    p->recorded[root] = p->offset[t] + more;
}

/* data: the value, if it has at most 8 bytes; NULL for what is always recorded */
static void place_value(struct plan *p, struct wire_op *op, const IRExpr *data)
{
    IRTemp t = temp_of(data);
    ULong c;

    if (op->size <= 8 && constant(data, &c)) {
        op->flags |= WIRE_VALUE_CONST;
        op->value = c;
        return;
    }
    if (t != IRTemp_INVALID && p->value[t]) {
        op->flags |= WIRE_VALUE_OF;
        op->value = p->value[t] - 1;
        return;
    }
    op->value_at = take_room(p, op->size);
    if (t != IRTemp_INVALID)
        p->value[t] = p->ops + 1;
}

/* Plans an operand, which is `more` bytes above the address. If it is a load, its result `data`
 * counts as recorded with it. */
static void plan_part(struct plan *p, UInt kind, UInt flags, UInt size, const IRExpr *addr,
                      UInt more, const IRExpr *data, Bool guarded)
{
    struct wire_op *op = &p->op[p->ops];

    tl_assert(p->ops < OPS_MAX);
    if (x86_is_bit_of_register(&p->x))
        return;
    if ((kind == WIRE_LOAD && !the.loads) || (kind == WIRE_STORE && !the.stores))
        return;
    *op = (struct wire_op){.insn = p->insns - 1, .kind = kind, .flags = flags, .size = size};
    if (guarded) {
        op->flags |= WIRE_GUARDED;
        op->guard_at = take_room(p, 8);
        if (addr && addr->tag == Iex_Const) {
            place_address(p, op, addr, more);
        } else if (addr) {
            op->addr_at = take_room(p, 8);
        }
        op->value_at = take_room(p, size);
    } else {
        if (addr)
            place_address(p, op, addr, more);
        place_value(p, op, data);
    }
    p->ops++;
}

static void plan_op(struct plan *p, UInt kind, UInt flags, UInt size, const IRExpr *addr,
                    const IRExpr *data, Bool guarded)
{
    plan_part(p, kind, flags, size, addr, 0, data, guarded);
}

static UInt leave_of(IRJumpKind kind)
{
    switch (kind) {
    case Ijk_Sys_syscall:
    case Ijk_Sys_int32:
    case Ijk_Sys_int128:
    case Ijk_Sys_int129:
    case Ijk_Sys_int130:
    case Ijk_Sys_int145:
    case Ijk_Sys_int210:
    case Ijk_Sys_sysenter:
        return WIRE_TO_SYSCALL;
    case Ijk_SigTRAP:
        return WIRE_TO_TRAP;
    case Ijk_ClientReq:
        return WIRE_TO_REQUEST;
    default:
        return faults(kind) ? WIRE_TO_FAULT : WIRE_BORING;
    }
}

static void plan_exit(struct plan *p, IRJumpKind kind, Bool end, const IRExpr *next, ULong target)
{
    struct wire_exit *x = &p->exit[p->exits];
    ULong c;

    tl_assert(p->exits < EXITS_MAX);
    *x = (struct wire_exit){.insn = p->insns - 1,
                            .ops = p->ops,
                            .leave = leave_of(kind),
                            .is_end = end,
                            .target = shown_address(target)};
    if (next && !constant(next, &c))
        x->target_at = take_room(p, 8);
    else if (next)
        x->target = shown_address(c);
    /* A repeated instruction goes back to itself, and one that faults has not completed either. */
    p->again[p->exits] = goes_back(x, shown_address(p->pc)) && !x86_is_direct_branch(&p->x);
    p->repeats |= p->again[p->exits];
    p->retired[p->exits] = p->insns - (x->leave == WIRE_TO_FAULT || p->again[p->exits]);
    p->exits++;
}

static Bool always(const IRExpr *guard)
{
    return guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1;
}

static void plan_dirty(struct plan *p, const IRDirty *d)
{
    Bool guarded = !always(d->guard);
    struct written parts[2];

    if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
        plan_op(p, WIRE_LOAD, 0, d->mSize, d->mAddr, NULL, guarded);
    if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
        for (UInt i = 0; i < written_parts(d, parts); i++)
            plan_part(p, WIRE_STORE, 0, parts[i].size, d->mAddr, parts[i].offset, NULL, guarded);
    if (nondet_of(d) == NONDET_CPUID)
        plan_op(p, WIRE_NONDET, 0, 8 * sizeof(cpuid_sets) / sizeof(Int), NULL, NULL, False);
    if (nondet_of(d) == NONDET_RDTSCP)
        plan_op(p, WIRE_NONDET, 0, 8 * sizeof(rdtscp_sets) / sizeof(Int), NULL, NULL, False);
    if (nondet_of(d) == NONDET_TEMP)
        plan_op(p, WIRE_NONDET, 0, sizeofIRType(typeOfIRTemp(p->in->tyenv, d->tmp)), NULL, NULL,
                guarded);
}

static IRType loaded_type(IRLoadGOp cvt)
{
    IRType result, loaded;

    typeOfIRLoadGOp(cvt, &result, &loaded);
    return loaded;
}

static void plan_stmt(struct plan *p, Int i)
{
    const IRStmt *st = p->in->stmts[i];
    IRTypeEnv *types = p->in->tyenv;
    const IRExpr *data;
    IRTemp t;

    switch (st->tag) {
    case Ist_WrTmp:
        data = st->Ist.WrTmp.data;
        t = st->Ist.WrTmp.tmp;
        if (data->tag != Iex_Load) {
            follow_sum(p, t, data);
        } else if (!belongs_to_cas(p->in, i, data->Iex.Load.addr, data->Iex.Load.ty)) {
            plan_op(p, WIRE_LOAD, 0, sizeofIRType(data->Iex.Load.ty), data->Iex.Load.addr,
                    IRExpr_RdTmp(t), mask_of(p->in, i, &p->x, data->Iex.Load.addr) != NULL);
        }
        break;
    case Ist_Store:
        plan_op(p, WIRE_STORE, 0, sizeofIRType(typeOfIRExpr(types, st->Ist.Store.data)),
                st->Ist.Store.addr, st->Ist.Store.data, False);
        break;
    case Ist_StoreG:
        plan_op(p, WIRE_STORE, 0, sizeofIRType(typeOfIRExpr(types, st->Ist.StoreG.details->data)),
                st->Ist.StoreG.details->addr, NULL, True);
        break;
    case Ist_LoadG:
        plan_op(p, WIRE_LOAD, 0, sizeofIRType(loaded_type(st->Ist.LoadG.details->cvt)),
                st->Ist.LoadG.details->addr, NULL, True);
        break;
    case Ist_CAS:
        plan_op(p, WIRE_LOAD, WIRE_ATOMIC, cas_size(p->in, st->Ist.CAS.details),
                st->Ist.CAS.details->addr, NULL, False);
        plan_op(p, WIRE_STORE, WIRE_ATOMIC, cas_size(p->in, st->Ist.CAS.details),
                st->Ist.CAS.details->addr, NULL, False);
        break;
    case Ist_Dirty:
        plan_dirty(p, st->Ist.Dirty.details);
        break;
    case Ist_Exit:
        plan_exit(p, st->Ist.Exit.jk, False, NULL, st->Ist.Exit.dst->Ico.U64);
        break;
    default:
        break;
    }
}

/* Whether the block must end before the instruction at pc, which is not its first. A branch ends a
 * block. A branch to the next instruction also begins one: otherwise Valgrind could tell from what
 * precedes it whether it is taken, and leave by another exit than branch_taken in
 * src/capture/blocks.c expects. A block can only be cut if registers are up to date at each
 * instruction, which tool.c asks for unless blocks are not recorded, and inputs.c where it has to
 * be. */
static Bool must_cut(const struct plan *p, Addr pc, Bool wanted)
{
    struct x86 x;

    if (the.light)
        return the.exact && region_parts(pc);
    x86_decode((const UChar *)pc, pc, &x);
    return x86_is_loop(&p->x) || x86_goes_to_next(&x) || region_parts(pc) ||
           (the.regions && region_wants(pc) != wanted);
}

static void plan_lost_load(struct plan *p, UInt size)
{
    p->op[p->ops++] = (struct wire_op){.insn = p->insns - 1,
                                       .kind = WIRE_LOAD,
                                       .size = size,
                                       .addr_at = take_room(p, 8),
                                       .value_at = take_room(p, size)};
}

/* xgetbv: Valgrind knows its result, and keeps it in two registers. */
static void plan_xgetbv(struct plan *p, Int mark)
{
    ULong low = 0, high = 0;

    for (Int i = mark + 1; i < p->in->stmts_used && p->in->stmts[i]->tag != Ist_IMark; i++) {
        const IRStmt *st = p->in->stmts[i];

        if (st->tag == Ist_Put && st->Ist.Put.offset == offsetof(GuestState, guest_RAX))
            constant(st->Ist.Put.data, &low);
        if (st->tag == Ist_Put && st->Ist.Put.offset == offsetof(GuestState, guest_RDX))
            constant(st->Ist.Put.data, &high);
    }
    p->op[p->ops++] = (struct wire_op){.insn = p->insns - 1,
                                       .kind = WIRE_NONDET,
                                       .flags = WIRE_VALUE_CONST,
                                       .size = 8,
                                       .value = high << 32 | (low & 0xffffffff)};
}

static void plan_lengths(struct plan *p, UInt length)
{
    tl_assert(p->insns + X86_REQUEST_INSNS <= INSNS_MAX);
    p->code += length;
    if (length != X86_REQUEST_LENGTH) {
        p->lengths[p->insns++] = length;
        return;
    }
    for (UInt i = 0; i < X86_REQUEST_INSNS; i++)
        p->lengths[p->insns++] = x86_request_lengths[i];
}

static void plan_insn(struct plan *p, Int i)
{
    const IRStmt *mark = p->in->stmts[i];

    p->pc = mark->Ist.IMark.addr;
    x86_decode((const UChar *)p->pc, p->pc, &p->x);
    if (p->insns == 0)
        p->addr = p->pc;
    plan_lengths(p, mark->Ist.IMark.len);
    if (the.loads && lost_load(p->in, i, &p->x))
        plan_lost_load(p, x86_lost_load(&p->x));
    if (x86_is_xgetbv(&p->x))
        plan_xgetbv(p, i);
    if (x86_gets_original((const UChar *)p->pc, mark->Ist.IMark.len))
        plan_op(p, WIRE_NONDET, 0, 8, NULL, NULL, False);
}

/* The statements before the first instruction are Valgrind's own. */
void make_plan(struct plan *p, Int first, Bool wanted)
{
    IRSB *in = p->in;

    p->length = sizeof(struct wire_slot);
    p->cut = in->stmts_used;
    for (Int i = first; i < in->stmts_used; i++) {
        if (in->stmts[i]->tag == Ist_IMark) {
            if (p->insns && must_cut(p, in->stmts[i]->Ist.IMark.addr, wanted)) {
                p->cut = i;
                p->cut_to = in->stmts[i]->Ist.IMark.addr;
                break;
            }
            plan_insn(p, i);
        } else {
            plan_stmt(p, i);
        }
    }
    tl_assert(p->length < WIRE_RECORD_MAX);
    if (p->cut < in->stmts_used)
        plan_exit(p, Ijk_Boring, True, NULL, p->cut_to);
    else
        plan_exit(p, in->jumpkind, True, in->next, 0);
}

void open_plan(struct plan *p, IRSB *in)
{
    UInt n = in->tyenv->types_used + 1;

    VG_(memset)(p, 0, sizeof(*p));
    p->in = in;
    p->root = VG_(malloc)("vestige.plan", n * sizeof(*p->root));
    p->offset = VG_(calloc)("vestige.plan", n, sizeof(*p->offset));
    p->value = VG_(calloc)("vestige.plan", n, sizeof(*p->value));
    p->address = VG_(calloc)("vestige.plan", n, sizeof(*p->address));
    p->recorded = VG_(calloc)("vestige.plan", n, sizeof(*p->recorded));
    for (UInt i = 0; i < n; i++)
        p->root[i] = i;
}

void close_plan(struct plan *p)
{
    VG_(free)(p->root);
    VG_(free)(p->offset);
    VG_(free)(p->value);
    VG_(free)(p->address);
    VG_(free)(p->recorded);
    VG_(free)(p->unseen);
}

/* ---- announcing ---------------------------------------------------------------------------- */

static Word compare_made(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    struct wire_block head = y->block;

    head.number = x->block.number; /* the one that is looked up has none yet */
    if (x->size != y->size || VG_(memcmp)(&x->block, &head, sizeof(head)))
        return 1;
    return VG_(memcmp)(&x->block + 1, &y->block + 1, x->size - sizeof(head));
}

static UWord hash_of(const struct wire_block *b)
{
    const UChar *bytes = lengths_of(b);
    UWord h = b->addr ^ (UWord)b->length << 32 ^ b->ops;

    for (UInt i = 0; i < (UInt)b->insns + b->code; i++)
        h = (h ^ bytes[i]) * 0x100000001b3ull;
    return h;
}

/* The description of the block, without a number. */
static struct made *describe(const struct plan *p)
{
    UInt ops = p->ops * sizeof(struct wire_op), exits = p->exits * sizeof(struct wire_exit);
    UInt size = sizeof(struct wire_block) + ops + exits + p->insns + p->code;
    struct made *m = VG_(malloc)("vestige.block", offsetof(struct made, block) + size);
    UChar *to = (UChar *)(&m->block + 1);

    m->size = size;
    m->block = (struct wire_block){.addr = shown_address(p->addr),
                                   .length = p->length,
                                   .insns = p->insns,
                                   .ops = p->ops,
                                   .exits = p->exits,
                                   .code = p->code};
    VG_(memcpy)(to, p->op, ops);
    VG_(memcpy)(to + ops, p->exit, exits);
    VG_(memcpy)(to + ops + exits, p->lengths, p->insns);
    VG_(memcpy)(to + ops + exits + p->insns, (const void *)p->addr, p->code);
    m->key = hash_of(&m->block);
    return m;
}

static void add_made(struct made *m)
{
    m->block.number = ++the.blocks;
    if (the.blocks >= made_capacity) {
        made_capacity = made_capacity ? 2 * made_capacity : 4096;
        made = VG_(realloc)("vestige.blocks", made, made_capacity * sizeof(*made));
    }
    made[the.blocks] = m;
    VG_(HT_add_node)(made_by_content, m);
}

static void send(UInt kind, const void *data, UInt size)
{
    void *to = ring_record(kind, the.stream, size);

    if (to) {
        VG_(memcpy)(to, data, size);
        ring_done();
    }
}

void blocks_forget(void)
{
    if (made_by_content)
        VG_(HT_destruct)(made_by_content, VG_(free));
    made_by_content = NULL;
    the.blocks = 0;
}

UInt announce(const struct plan *p)
{
    struct made *m = describe(p), *same;
    ULong number;

    if (!made_by_content)
        made_by_content = VG_(HT_construct)("vestige.blocks");
    same = VG_(HT_gen_lookup)(made_by_content, m, compare_made);
    if (!same) {
        add_made(m);
        send(WIRE_BLOCK, &m->block, m->size);
        return m->block.number;
    }
    VG_(free)(m);
    number = same->block.number;
    send(WIRE_AGAIN, &number, sizeof(number));
    return number;
}
