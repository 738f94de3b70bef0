/* SPDX-License-Identifier: MIT */
/* What `valgrind --tool=lackey --trace-mem=yes` prints: a line for each instruction, then one for
 * each of its accesses. A load and a store of the same bytes by one instruction are one line. */
#include "export/insns.h"

struct lackey {
    struct vs_insns insns;
    struct vs_event load; /* that may yet turn out to be followed by a store; kind 0: none */
};

enum { LINE = 64 };

static int begin(struct vs_exporting *x)
{
    struct lackey *l = x->state;

    return vs_insns_init(&l->insns, x, NULL, NULL);
}

static uint8_t *put_line(uint8_t *p, const char head[3], uint64_t addr, unsigned size)
{
    memcpy(p, head, 3);
    p = vs_text_hex(p + 3, addr, 8);
    *p++ = ',';
    p = vs_text_small(p, size);
    *p++ = '\n';
    return p;
}

/* Writes the load that was held back. Returns 0; the sink's error. */
static int put_load(struct vs_exporting *x, struct lackey *l, bool modifies)
{
    uint8_t *p = vs_sink_room(&x->sink, LINE);

    if (!p)
        return x->sink.error;
    x->sink.at = put_line(p, modifies ? " M " : " L ", l->load.addr, l->load.size);
    l->load.kind = 0;
    return 0;
}

static int put_access(struct vs_exporting *x, struct lackey *l, const struct vs_event *e)
{
    uint8_t *p;

    if (e->kind == VS_LOAD) {
        l->load = *e;
        return 0;
    }
    p = vs_sink_room(&x->sink, LINE);
    if (!p)
        return x->sink.error;
    x->sink.at = put_line(p, " S ", e->addr, e->size);
    return 0;
}

static bool modifies(const struct vs_event *load, const struct vs_event *e)
{
    return e->kind == VS_STORE && !e->icount && e->thread == load->thread && e->pc == load->pc &&
           e->addr == load->addr && e->size == load->size;
}

static int take_event(struct vs_exporting *x, const struct vs_batch *b, size_t i)
{
    struct lackey *l = x->state;
    const struct vs_event *e = &b->events[i];
    const struct vs_insns_entry *insn;
    struct vs_insns_walk walk;
    int err;

    if (l->load.kind) {
        bool both = modifies(&l->load, e);

        err = put_load(x, l, both);
        if (both || err)
            return err ? err : 0;
    }
    err = vs_insns_begin(&l->insns, b, i, &walk);
    while (!err && (insn = vs_insns_next(&l->insns, &walk))) {
        uint8_t *p = vs_sink_room(&x->sink, LINE);

        if (!p)
            return x->sink.error;
        x->sink.at = put_line(p, "I  ", insn->pc, insn->length);
    }
    if (!err && (e->kind == VS_LOAD || e->kind == VS_STORE))
        err = put_access(x, l, e);
    return err ? err : vs_insns_end(&l->insns, b, i, &walk);
}

static int take(struct vs_exporting *x, const struct vs_batch *b)
{
    int e = 0;

    for (size_t i = 0; i < b->count && !e; i++)
        if (vs_export_follows(x, &b->events[i]))
            e = take_event(x, b, i);
    return e;
}

static int end(struct vs_exporting *x)
{
    struct lackey *l = x->state;

    return l->load.kind ? put_load(x, l, false) : 0;
}

static void finish(struct vs_exporting *x)
{
    struct lackey *l = x->state;

    vs_insns_fini(&l->insns);
}

const struct vs_export_format vs_to_lackey = {
    .name = "lackey",
    .summary = "instructions and accesses as Valgrind's tool lackey prints them",
    .code = true,
    .state = sizeof(struct lackey),
    .begin = begin,
    .take = take,
    .end = end,
    .close = finish,
};
