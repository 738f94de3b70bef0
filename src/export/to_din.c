/* SPDX-License-Identifier: MIT */
/* Dinero's traditional input: a line for each reference, which is a label and an address; 0 reads
 * data, 1 writes data, 2 fetches an instruction. */
#include "export/insns.h"

enum { LINE = 64 };

static int begin(struct vs_exporting *x)
{
    return vs_insns_init(x->state, x, NULL, NULL);
}

static int put(struct vs_sink *s, char label, uint64_t addr)
{
    uint8_t *p = vs_sink_room(s, LINE);

    if (!p)
        return s->error;
    *p++ = (uint8_t)label;
    *p++ = ' ';
    p = vs_text_hex(p, addr, 1);
    *p++ = '\n';
    s->at = p;
    return 0;
}

static int take_event(struct vs_exporting *x, const struct vs_batch *b, size_t i)
{
    const struct vs_event *e = &b->events[i];
    const struct vs_insns_entry *insn;
    struct vs_insns *w = x->state;
    struct vs_insns_walk walk;
    int err = vs_insns_begin(w, b, i, &walk);

    while (!err && (insn = vs_insns_next(w, &walk)))
        err = put(&x->sink, '2', insn->pc);
    if (!err && (e->kind == VS_LOAD || e->kind == VS_STORE))
        err = put(&x->sink, e->kind == VS_LOAD ? '0' : '1', e->addr);
    return err ? err : vs_insns_end(w, b, i, &walk);
}

static int take(struct vs_exporting *x, const struct vs_batch *b)
{
    int e = 0;

    for (size_t i = 0; i < b->count && !e; i++)
        if (vs_export_follows(x, &b->events[i]))
            e = take_event(x, b, i);
    return e;
}

static void finish(struct vs_exporting *x)
{
    vs_insns_fini(x->state);
}

const struct vs_export_format vs_to_din = {
    .name = "din",
    .summary = "references for the cache simulator Dinero, in its traditional form",
    .code = true,
    .state = sizeof(struct vs_insns),
    .begin = begin,
    .take = take,
    .close = finish,
};
