/* SPDX-License-Identifier: MIT */
/* Instruction records as ChampSim reads them, 64 bytes for each instruction that retired. Registers
 * have the numbers that its tracer's have, for the simulator tells branches apart by whether they
 * read or write the stack pointer, the flags and the instruction pointer. Each iteration of an
 * instruction that repeats itself has a record of its own. */
#include <stdlib.h>

#include "export/insns.h"

struct record {
    uint64_t ip;
    uint8_t is_branch, taken;
    uint8_t written[2], read[4];
    uint64_t stores[2], loads[4];
};

_Static_assert(sizeof(struct record) == 64, "as ChampSim has it");

/* The numbers of the tracer's registers: rsp, rflags, rip. */
enum { STACK_POINTER = 6, FLAGS = 25, POINTER = 26, VECTOR = 64 };

/* DWARF's numbers on this instruction set. */
enum { DWARF_RSP = 7, DWARF_RIP = 16, DWARF_XMM0 = 17, DWARF_RFLAGS = 49 };

struct champsim {
    struct vs_insns insns;
    struct record *made;   /* by entry of the cache: all but the accesses */
    struct record now;     /* the instruction that retired last; ip 0: none */
    struct record plain;   /* it without accesses */
    unsigned accesses, of; /* accesses of this iteration, and of the first */
    unsigned loads, stores;
};

static uint8_t number_of(uint8_t dwarf)
{
    static const uint8_t integers[16] = {10, 8,  9,  7,  4,  3,  5,  STACK_POINTER,
                                         11, 12, 13, 14, 15, 16, 17, 18};

    if (dwarf < 16)
        return integers[dwarf];
    if (dwarf == DWARF_RIP)
        return POINTER;
    if (dwarf == DWARF_RFLAGS)
        return FLAGS;
    return (uint8_t)(VECTOR + dwarf - DWARF_XMM0);
}

/* Fills the slots, first with the registers by which branches are told apart. */
static void choose(const uint8_t *dwarf, unsigned count, uint8_t *slots, unsigned room)
{
    unsigned used = 0;

    for (unsigned special = 1; special != 2; special = special ? 0 : 2)
        for (unsigned i = 0; i < count && used < room; i++) {
            bool is = dwarf[i] == DWARF_RSP || dwarf[i] == DWARF_RIP || dwarf[i] == DWARF_RFLAGS;

            if (is == special)
                slots[used++] = number_of(dwarf[i]);
        }
}

static void met(void *context, size_t entry, const uint8_t *bytes, size_t size, uint64_t pc)
{
    struct champsim *c = context;
    struct record *r = &c->made[entry];
    struct vs_accessed a = {0};

    *r = (struct record){.ip = pc, .is_branch = c->insns.cache[entry].kind == VS_INSN_BRANCH};
    if (c->insns.isa->accessed(bytes, size, &a) < 0)
        return;
    choose(a.written, a.written_count, r->written, 2);
    choose(a.read, a.read_count, r->read, 4);
}

static int begin(struct vs_exporting *x)
{
    struct champsim *c = x->state;

    c->made = calloc(VS_INSNS_CACHE, sizeof(*c->made));
    if (!c->made)
        return -VSE_NOMEM;
    return vs_insns_init(&c->insns, x, met, c);
}

static int put(struct vs_exporting *x, struct champsim *c)
{
    uint8_t *p;

    if (!c->now.ip)
        return 0;
    p = vs_sink_room(&x->sink, sizeof(c->now));
    if (!p)
        return x->sink.error;
    memcpy(p, &c->now, sizeof(c->now));
    x->sink.at = p + sizeof(c->now);
    c->now.ip = 0;
    return 0;
}

static void start(struct champsim *c, const struct record *r)
{
    c->now = *r;
    c->accesses = c->loads = c->stores = 0;
}

/* Accesses beyond what a record holds are left out. */
static int access(struct vs_exporting *x, struct champsim *c, const struct vs_event *e)
{
    int err = 0;

    if (!(e->flags & VS_MEM_REPEAT)) {
        c->of = c->accesses + 1;
    } else if (c->accesses == c->of || !c->now.ip) {
        err = put(x, c);
        start(c, &c->plain);
    }
    c->accesses++;
    if (e->kind == VS_LOAD && c->loads < 4)
        c->now.loads[c->loads++] = e->addr;
    else if (e->kind == VS_STORE && c->stores < 2)
        c->now.stores[c->stores++] = e->addr;
    return err;
}

static int take_event(struct vs_exporting *x, const struct vs_batch *b, size_t i)
{
    struct champsim *c = x->state;
    const struct vs_event *e = &b->events[i];
    const struct vs_insns_entry *insn;
    struct vs_insns_walk walk;
    int err = vs_insns_begin(&c->insns, b, i, &walk);

    while (!err && (insn = vs_insns_next(&c->insns, &walk))) {
        err = put(x, c);
        start(c, &c->made[vs_insns_place(&c->insns, insn)]);
        c->plain = c->now;
    }
    if (!err && (e->kind == VS_LOAD || e->kind == VS_STORE))
        err = access(x, c, e);
    if (!err && e->kind == VS_BRANCH)
        c->now.taken = e->flags & VS_BR_TAKEN ? 1 : 0;
    return err ? err : vs_insns_end(&c->insns, b, i, &walk);
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
    return put(x, x->state);
}

static void finish(struct vs_exporting *x)
{
    struct champsim *c = x->state;

    vs_insns_fini(&c->insns);
    free(c->made);
}

const struct vs_export_format vs_to_champsim = {
    .name = "champsim",
    .summary = "instruction records for the simulator ChampSim",
    .code = true,
    .single = true,
    .isa = "x86-64",
    .state = sizeof(struct champsim),
    .begin = begin,
    .take = take,
    .end = end,
    .close = finish,
};
