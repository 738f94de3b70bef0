/* SPDX-License-Identifier: MIT */
#include "export/insns.h"

#include <stdlib.h>

int vs_insns_init(struct vs_insns *w, const struct vs_exporting *x, vs_insns_met *met,
                  void *context)
{
    struct vs_block block;
    int e = 0;

    *w = (struct vs_insns){.met = met,
                           .context = context,
                           .isa = x->isa,
                           .reader = x->reader,
                           .diag = x->diag,
                           .thread = x->options->thread};
    w->cache = calloc(VS_INSNS_CACHE, sizeof(*w->cache));
    w->threads = calloc(VS_THREADS_MAX, sizeof(*w->threads));
    if (!w->cache || !w->threads)
        return -VSE_NOMEM;
    for (uint64_t i = 0; !e && vs_reader_block(x->reader, i, &block) == 0; i++)
        e = vs_codemap_add(&w->code, &block);
    return e;
}

void vs_insns_fini(struct vs_insns *w)
{
    free(w->cache);
    free(w->threads);
    vs_codemap_fini(&w->code);
    *w = (struct vs_insns){0};
}

const struct vs_insns_entry *vs_insns_decode(struct vs_insns *w, uint64_t pc)
{
    struct vs_insns_entry *e = &w->cache[pc % VS_INSNS_CACHE];
    uint8_t bytes[VS_ISA_LENGTH_MAX];
    size_t size = vs_codemap_fetch(&w->code, pc, bytes, w->isa->length_max);
    struct vs_insn insn;

    if (w->isa->decode(bytes, size, pc, &insn) < 0)
        return NULL;
    *e = (struct vs_insns_entry){.pc = pc,
                                 .target = insn.target,
                                 .length = insn.length,
                                 .kind = insn.kind,
                                 .branch = insn.branch,
                                 .repeat = insn.repeat};
    if (w->met)
        w->met(w->context, vs_insns_place(w, e), bytes, insn.length, pc);
    return e;
}

/* Forgets what was decoded from, or across the start of, a block's bytes, which are replaced. */
static int replace_code(struct vs_insns *w, uint64_t id)
{
    struct vs_block block;
    uint64_t n;

    if (vs_reader_block(w->reader, id, &block) < 0)
        return -VSE_CORRUPT;
    n = block.size + (uint64_t)VS_ISA_LENGTH_MAX;
    for (uint64_t i = 0; i < n && i < VS_INSNS_CACHE; i++)
        w->cache[(block.addr - VS_ISA_LENGTH_MAX + i) % VS_INSNS_CACHE].length = 0;
    return vs_codemap_replace(&w->code, &block);
}

static int strange(const struct vs_insns *w, uint64_t number, const char *what, uint64_t pc)
{
    return vs_diag_set(w->diag, -VSE_CORRUPT, -1, -1,
                       "event %llu: %s 0x%llx; 'vestige check --flow' tells more",
                       (unsigned long long)number, what, (unsigned long long)pc);
}

/* Whether an instruction retires with such an event, at its pc. */
static bool is_own(const struct vs_event *e)
{
    const uint32_t with = 1u << VS_BRANCH | 1u << VS_LOAD | 1u << VS_STORE | 1u << VS_SYSCALL |
                          1u << VS_NONDET | 1u << VS_EXCEPTION_RET;

    return with >> e->kind & 1 && e->pc;
}

int vs_insns_begin_unknown(struct vs_insns *w, const struct vs_event *e, struct vs_insns_walk *walk)
{
    if (e->icount != 1 || !is_own(e))
        return strange(w, walk->number, "instructions whose place is not known before", e->pc);
    walk->next = e->pc;
    return 0;
}

/* The thread returns from a handler. A repeated instruction that had begun goes on, and has already
 * retired. */
static void come_back(struct vs_insns *w, struct vs_insns_thread *t, uint64_t pc)
{
    unsigned k = --t->depth % VS_INSNS_NESTED;
    const struct vs_insns_entry *insn;

    vs_insns_go(t, pc);
    if (!t->left[k].begun || t->left[k].pc != pc)
        return;
    t->left[k].begun = false;
    insn = vs_insns_at(w, pc);
    if (!insn)
        return;
    t->last = pc;
    t->repeats = true;
    t->next = pc + insn->length;
}

int vs_insns_end_other(struct vs_insns *w, const struct vs_batch *b, size_t i,
                       const struct vs_insns_walk *walk)
{
    const struct vs_event *e = &b->events[i];
    struct vs_insns_thread *t = &w->threads[e->thread];
    uint64_t pc;

    if (unlikely(walk->error))
        return strange(w, walk->number, "no instruction is known at", walk->next);
    if (unlikely(e->icount && is_own(e) && walk->last != e->pc &&
                 (w->thread < 0 || e->thread == w->thread)))
        return strange(w, walk->number, "it is not of the instruction that retired, at",
                       walk->last);
    t->next = walk->next;
    t->last = walk->last;
    t->repeats = walk->repeats;
    switch (e->kind) {
    case VS_LOAD:
    case VS_STORE:
        return 0;
    case VS_BRANCH:
        vs_insns_go(t, e->flags & VS_BR_TAKEN ? e->addr : e->pc + e->size);
        return 0;
    case VS_SYSCALL:
        if (vs_syscall_resumes(b, e, &pc))
            vs_insns_go(t, pc);
        return 0;
    case VS_EXCEPTION:
        t->left[t->depth % VS_INSNS_NESTED].pc = e->pc;
        t->left[t->depth++ % VS_INSNS_NESTED].begun = t->repeats && t->last == e->pc;
        vs_insns_go(t, e->addr);
        return 0;
    case VS_EXCEPTION_RET:
        come_back(w, t, e->addr);
        return 0;
    case VS_THREAD_START:
    case VS_GAP:
        *t = (struct vs_insns_thread){.next = e->pc};
        return 0;
    case VS_CODE:
        return replace_code(w, e->value);
    default:
        return 0;
    }
}
