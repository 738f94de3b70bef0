/* SPDX-License-Identifier: MIT */
#include "capture/blocks.h"

#include <string.h>

/* Far more than VEX puts into a block, and few enough for a count of 16 bits to hold those of two
 * blocks and what a thread may have retired without an event. */
#define INSNS_MOST 4096

uint64_t vs_code_block_pc(const struct vs_code_block *b, unsigned insn)
{
    uint64_t pc = b->addr;

    for (unsigned i = 0; i < insn; i++)
        pc += b->lengths[i];
    return pc;
}

static bool is_recorded(const struct wire_op *op)
{
    return !(op->flags & (WIRE_VALUE_CONST | WIRE_VALUE_OF));
}

/* Whether an operand may take something from operand `of`, which must be an earlier one that always
 * happens. */
static bool is_source(const struct wire_op *ops, unsigned index, uint64_t of)
{
    return of < index && !(ops[of].flags & WIRE_GUARDED);
}

static bool value_fits(const struct wire_block *w, const struct wire_op *ops, unsigned index)
{
    const struct wire_op *op = &ops[index];

    if (is_recorded(op))
        return op->value_at + (op->size < 8 ? 8u : op->size) <= w->length;
    if (op->flags & WIRE_VALUE_CONST)
        return !(op->flags & WIRE_VALUE_OF) && op->size <= 8;
    return is_source(ops, index, op->value) && ops[op->value].size == op->size;
}

static bool addr_fits(const struct wire_block *w, const struct wire_op *ops, unsigned index)
{
    const struct wire_op *op = &ops[index];

    if (op->kind == WIRE_NONDET)
        return !op->addr && !(op->flags & (WIRE_ADDR_CONST | WIRE_ADDR_OF | WIRE_ATOMIC));
    if (op->flags & WIRE_ADDR_CONST)
        return !(op->flags & WIRE_ADDR_OF);
    if (op->flags & WIRE_ADDR_OF)
        return is_source(ops, index, op->of);
    return op->addr_at + 8u <= w->length;
}

static bool op_fits(const struct wire_block *w, const struct wire_op *ops, unsigned index)
{
    const struct wire_op *op = &ops[index];

    return op->insn < w->insns && op->kind >= WIRE_LOAD && op->kind <= WIRE_NONDET && op->size &&
           (!(op->flags & WIRE_GUARDED) || op->guard_at + 8u <= w->length) &&
           addr_fits(w, ops, index) && value_fits(w, ops, index);
}

/* Valgrind uses compare-and-swap for more than what is atomic. */
static bool is_locked(const struct vs_code_block *b, const struct vs_isa *isa, unsigned insn)
{
    uint64_t pc = vs_code_block_pc(b, insn);
    struct vs_insn i;

    return isa->decode(b->code + (pc - b->addr), b->lengths[insn], pc, &i) == 0 && i.locked;
}

static void make_step(struct vs_code_block *b, const struct vs_isa *isa, struct vs_block_step *s,
                      const struct wire_op *op)
{
    static const uint8_t kinds[] = {
        [WIRE_LOAD] = VS_LOAD, [WIRE_STORE] = VS_STORE, [WIRE_NONDET] = VS_NONDET};

    *s = (struct vs_block_step){.insn = op->insn,
                                .addr_at = op->addr_at,
                                .value_at = op->value_at,
                                .guard_at = op->guard_at,
                                .guarded = op->flags & WIRE_GUARDED,
                                .wide = op->size > 8,
                                .mask =
                                    op->size < 8 ? (UINT64_C(1) << 8 * op->size) - 1 : UINT64_MAX};
    s->event = (struct vs_event){
        .pc = vs_code_block_pc(b, op->insn),
        .addr = op->addr,
        .size = op->size,
        .kind = kinds[op->kind],
        .flags = op->flags & WIRE_ATOMIC && is_locked(b, isa, op->insn) ? VS_MEM_ATOMIC : 0};
    s->addr = op->flags & WIRE_ADDR_CONST || op->kind == WIRE_NONDET ? VS_BLOCK_FIXED
              : op->flags & WIRE_ADDR_OF                             ? VS_BLOCK_OF_STEP
                                                                     : VS_BLOCK_RECORDED;
    s->addr_of = op->of;
    s->value = op->flags & WIRE_VALUE_CONST ? VS_BLOCK_FIXED
               : op->flags & WIRE_VALUE_OF  ? VS_BLOCK_OF_STEP
                                            : VS_BLOCK_RECORDED;
    if (s->value == VS_BLOCK_FIXED)
        s->event.value = op->value & s->mask;
    if (s->value == VS_BLOCK_OF_STEP)
        s->value_of = (uint16_t)op->value;
}

static int make_steps(struct vs_code_block *b, struct vs_arena *arena, const struct vs_isa *isa,
                      const struct wire_block *w, const struct wire_op *ops)
{
    unsigned counted = 0, wide = 0;

    b->step_count = w->ops;
    b->steps = vs_arena_alloc(arena, (w->ops + 1u) * sizeof(*b->steps), 8);
    if (!b->steps)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < w->ops; i++) {
        if (!op_fits(w, ops, i) || ops[i].insn + 1u < counted)
            return -VSE_CORRUPT;
        /* Each has a place of its own, so that all of them are never more than the record. */
        if (is_recorded(&ops[i]) && ops[i].size > 8 && (wide += ops[i].size) > w->length)
            return -VSE_CORRUPT;
        make_step(b, isa, &b->steps[i], &ops[i]);
        b->steps[i].event.icount = (uint16_t)(ops[i].insn + 1u - counted);
        counted = ops[i].insn + 1u;
        b->guarded |= b->steps[i].guarded;
    }
    return 0;
}

/* A conditional branch has only two exits, and where it was left tells its outcome, unless both go
 * to the same place: then Valgrind takes the side exit for the condition that is not negated. */
static bool branch_taken(const struct vs_code_block *b, const struct vs_insn *insn,
                         const struct wire_exit *x, uint64_t target)
{
    uint64_t next = b->last_pc + insn->length;

    if (!(insn->branch & VS_BR_COND))
        return true;
    if (insn->target != next)
        return target == insn->target;
    return x->is_end == insn->negated;
}

static void make_leave(const struct vs_code_block *b, struct vs_block_leave *l,
                       const struct wire_exit *x, bool at_last, const struct vs_insn *last)
{
    uint64_t pc = vs_code_block_pc(b, x->insn);
    unsigned counted = x->ops ? b->steps[x->ops - 1].insn + 1u : 0;

    *l = (struct vs_block_leave){
        .steps = x->ops, .insns = at_last ? b->insns : (uint16_t)(x->insn + 1u), .leave = x->leave};
    l->branch = at_last && last->kind == VS_INSN_BRANCH && x->leave == WIRE_BORING;
    l->again = !l->branch && x->leave == WIRE_BORING && !x->target_at && x->target == pc;
    if (x->leave == WIRE_TO_FAULT || x->leave == WIRE_TO_SYSCALL || l->again)
        l->insns--;
    if (l->insns > counted)
        l->after = (uint16_t)(l->insns - counted);
    l->all = (uint16_t)(l->steps + l->branch);
    l->then = l->branch ? 0 : l->after;
    l->plain = !b->guarded && !l->again && x->leave == WIRE_BORING;
    l->hot = l->plain && l->all && l->insns >= counted;
    if (!l->branch)
        return;
    l->event = (struct vs_event){.pc = b->last_pc,
                                 .addr = last->target,
                                 .size = last->length,
                                 .icount = l->after,
                                 .kind = VS_BRANCH,
                                 .flags = last->branch};
    if (branch_taken(b, last, x, x->target))
        l->event.flags |= VS_BR_TAKEN;
    if (last->branch & VS_BR_INDIRECT) {
        l->event.addr = x->target;
        l->target_at = x->target_at;
    }
}

/* Whether all steps before it are loads and stores. */
static bool is_accesses(const struct vs_code_block *b, const struct vs_block_leave *l)
{
    for (unsigned i = 0; i < l->steps; i++)
        if (b->steps[i].event.kind == VS_NONDET)
            return false;
    return true;
}

static int make_leaves(struct vs_code_block *b, struct vs_arena *arena, const struct wire_block *w,
                       const struct wire_exit *exits, const struct vs_insn *last)
{
    b->leave_count = w->exits;
    b->leaves = vs_arena_alloc(arena, w->exits * sizeof(*b->leaves), 8);
    if (!b->leaves)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < w->exits; i++) {
        const struct wire_exit *x = &exits[i];

        if (x->insn >= w->insns || x->ops > w->ops || x->target_at + 8u > w->length ||
            x->leave < WIRE_BORING || x->leave > WIRE_TO_REQUEST)
            return -VSE_CORRUPT;
        make_leave(b, &b->leaves[i], x, x->insn + 1u == w->insns, last);
        b->leaves[i].hot &= is_accesses(b, &b->leaves[i]);
    }
    return 0;
}

/* An address or value that is another step's comes from the same place in the record. */
static void make_recipe_step(const struct vs_block_step *s, const struct vs_recipe_step *before,
                             struct vs_recipe_step *to)
{
    *to = (struct vs_recipe_step){.event = s->event};
    if (s->addr == VS_BLOCK_RECORDED) {
        to->addr_mask = UINT64_MAX;
        to->addr_at = s->addr_at;
        to->event.addr = 0;
    } else if (s->addr == VS_BLOCK_OF_STEP) {
        to->addr_mask = before[s->addr_of].addr_mask;
        to->addr_at = before[s->addr_of].addr_at;
        to->event.addr += before[s->addr_of].event.addr;
    }
    if (s->value == VS_BLOCK_RECORDED) {
        to->value_mask = s->mask;
        to->value_at = s->value_at;
        to->event.value = 0;
    } else if (s->value == VS_BLOCK_OF_STEP) {
        to->value_mask = before[s->value_of].value_mask;
        to->value_at = before[s->value_of].value_at;
        to->event.value = before[s->value_of].event.value;
    }
}

unsigned vs_code_block_recipe(const struct vs_code_block *b, const struct vs_block_leave *l,
                              unsigned since, struct vs_recipe_step *steps)
{
    unsigned n = 0;

    for (; n < l->steps; n++)
        make_recipe_step(&b->steps[n], steps, &steps[n]);
    if (l->branch) {
        steps[n] = (struct vs_recipe_step){.event = l->event};
        if (l->target_at) {
            steps[n].event.addr = 0;
            steps[n].addr_mask = UINT64_MAX;
            steps[n].addr_at = l->target_at;
        }
        n++;
    }
    if (n)
        steps[0].event.icount = (uint16_t)(steps[0].event.icount + since);
    return n;
}

/* Takes the instructions' lengths. What Valgrind cannot decode comes last, and has no length. */
static int make_lengths(struct vs_code_block *b, struct vs_arena *arena, const uint8_t *lengths)
{
    unsigned sum = 0;

    b->lengths = vs_arena_dup(arena, lengths, b->insns);
    if (!b->lengths)
        return -VSE_NOMEM;
    for (unsigned i = 0; i < b->insns; i++) {
        if (!lengths[i] && i + 1u < b->insns)
            return -VSE_CORRUPT;
        sum += lengths[i];
    }
    b->decoded = b->insns - !lengths[b->insns - 1];
    return sum == b->code_size ? 0 : -VSE_CORRUPT;
}

static void decode_last(struct vs_code_block *b, const struct vs_isa *isa, struct vs_insn *last)
{
    b->last_pc = vs_code_block_pc(b, b->insns - 1u);
    /* Bytes that are no instruction fault when they are reached. */
    if (isa->decode(b->code + (b->last_pc - b->addr), b->lengths[b->insns - 1], b->last_pc, last) <
        0)
        *last = (struct vs_insn){.length = b->lengths[b->insns - 1]};
}

int vs_code_block_make(struct vs_code_block *b, struct vs_arena *arena, const struct vs_isa *isa,
                       const void *record, size_t size)
{
    const struct wire_block *w = record;
    const struct wire_op *ops = (const void *)(w + 1);
    const struct wire_exit *exits;
    const uint8_t *lengths;
    struct vs_insn last;
    int e;

    memset(b, 0, sizeof(*b));
    if (size < sizeof(*w) || !w->insns || w->insns > INSNS_MOST || !w->exits ||
        size <
            sizeof(*w) + w->ops * sizeof(*ops) + w->exits * sizeof(*exits) + w->insns + w->code ||
        w->length < sizeof(struct wire_slot) || w->length > WIRE_RECORD_MAX || w->length % 8 ||
        w->addr > UINT64_MAX - w->code)
        return -VSE_CORRUPT;
    exits = (const void *)(ops + w->ops);
    lengths = (const void *)(exits + w->exits);
    b->addr = w->addr;
    b->length = w->length;
    b->insns = w->insns;
    b->code_size = w->code;
    b->code = vs_arena_dup(arena, lengths + w->insns, w->code);
    if (!b->code)
        return -VSE_NOMEM;
    if ((e = make_lengths(b, arena, lengths)) < 0)
        return e;
    decode_last(b, isa, &last);
    if ((e = make_steps(b, arena, isa, w, ops)) < 0)
        return e;
    return make_leaves(b, arena, w, exits, &last);
}
