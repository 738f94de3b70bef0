/* SPDX-License-Identifier: GPL-2.0-or-later */
/* VEX is told to keep registers up to date at each instruction, for two reasons: a block can then
 * be cut anywhere, and no load is left out because nobody uses what it loads. But most of these
 * stores into the guest state are overwritten by the next instructions before anybody can look. Now
 * that it is known where that is, they need not be made.
 *
 * Where an access may fail, only a handler looks at more than where the thread is in its code and
 * its stack. Until the program has one, the other registers may be behind there. */
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "plan.h"

/* By byte of the guest state: whether it is set again before it can be seen. */
struct later {
    UChar set[sizeof(GuestState)];
};

static void see_all(struct later *l)
{
    VG_(memset)(l->set, 0, sizeof(l->set));
}

static void see(struct later *l, Int offset, Int size)
{
    if (offset >= 0 && offset + size <= (Int)sizeof(l->set))
        VG_(memset)(l->set + offset, 0, size);
    else
        see_all(l);
}

static void see_access(struct later *l)
{
    static const Int places[] = {offsetof(GuestState, guest_RIP), offsetof(GuestState, guest_RSP),
                                 offsetof(GuestState, guest_RBP)};

    if (the.handles_faults) {
        see_all(l);
        return;
    }
    for (UInt i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        see(l, places[i], 8);
}

/* Whether what a statement puts there is never seen; the place is then set, if it was not. */
static Bool set(struct later *l, Int offset, Int size)
{
    Bool unseen = True;

    if (offset < 0 || offset + size > (Int)sizeof(l->set))
        return False;
    for (Int i = offset; i < offset + size; i++) {
        unseen = unseen && l->set[i];
        l->set[i] = True;
    }
    return unseen;
}

static void see_expression(struct later *l, const IRExpr *e)
{
    if (e->tag == Iex_Get)
        see(l, e->Iex.Get.offset, sizeofIRType(e->Iex.Get.ty));
    else if (e->tag == Iex_GetI)
        see_all(l);
    else if (e->tag == Iex_Load)
        see_access(l);
}

/* The instruction's address is computed from registers as they are at its mark. */
static Bool computes_address(const struct plan *p, Int mark)
{
    Addr pc = p->in->stmts[mark]->Ist.IMark.addr;
    struct x86 x;

    x86_decode((const UChar *)pc, pc, &x);
    return lost_load(p->in, mark, &x) != 0;
}

void find_unseen(struct plan *p, Int first)
{
    static struct later later;

    p->unseen = VG_(calloc)("vestige.plan", p->in->stmts_used + 1, sizeof(*p->unseen));
    see_all(&later);
    for (Int i = p->cut - 1; i >= first; i--) {
        const IRStmt *st = p->in->stmts[i];

        switch (st->tag) {
        case Ist_Put:
            p->unseen[i] = set(&later, st->Ist.Put.offset,
                               sizeofIRType(typeOfIRExpr(p->in->tyenv, st->Ist.Put.data)));
            break;
        case Ist_WrTmp:
            /* Where a division fails, a handler looks at registers, as it does where an access
             * does. */
            if (is_division(st))
                see_all(&later);
            see_expression(&later, st->Ist.WrTmp.data);
            break;
        case Ist_IMark:
            if (computes_address(p, i))
                see_all(&later);
            break;
        case Ist_Store:
            see_access(&later);
            break;
        case Ist_NoOp:
        case Ist_AbiHint:
        case Ist_PutI:
            break;
        default:
            see_all(&later);
            break;
        }
    }
}
