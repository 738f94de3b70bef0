/* SPDX-License-Identifier: MIT */
/* Straight code: which instructions, and what memory they touch. */
#include "gen/memory.h"
#include "gen/program.h"
#include "gen/rv64.h"

/* Percent of the instructions of a block; lengths of blocks. */
struct density {
    uint8_t loads, stores, shortest, longest;
};

static const struct density densities[GEN_PROFILE_END] = {
    [GEN_MIXED] = {24, 11, 1, 7},
    [GEN_LOOPS] = {26, 10, 4, 18},
    [GEN_BRANCHY] = {26, 9, 1, 4},
};

/* Percent, in the order of enum place. */
static const uint8_t places[GEN_PROFILE_END][7] = {
    [GEN_MIXED] = {32, 14, 18, 14, 7, 8, 7},
    [GEN_LOOPS] = {6, 4, 78, 4, 1, 1, 6},
    [GEN_BRANCHY] = {22, 10, 4, 18, 22, 20, 4},
};

/* Percent, in the order of enum content. */
static const uint8_t contents[GEN_PROFILE_END][5] = {
    [GEN_MIXED] = {25, 25, 25, 15, 10},
    [GEN_LOOPS] = {10, 10, 5, 5, 70},
    [GEN_BRANCHY] = {20, 35, 25, 15, 5},
};

static unsigned weighted(struct rng *r, const uint8_t *percent, unsigned count)
{
    uint32_t n = rng_below(r, 100);
    unsigned i = 0;
    while (i + 1 < count && n >= percent[i])
        n -= percent[i++];
    return i;
}

void body_filler(struct program *p)
{
    uint32_t rd = rng_range(&p->rng, 5, 15), rs1 = rng_range(&p->rng, 5, 15);
    if (rng_percent(&p->rng, 45))
        insn_put(p, rvc_addi(rd, (int32_t)rng_range(&p->rng, 1, 31)), 2);
    else
        insn_put(p, rv_addi(rd, rs1, (int32_t)rng_below(&p->rng, 2048)), 4);
}

/* ---- where ---- */

static void place_array(struct program *p, struct site *s)
{
    static const uint8_t element[] = {1, 1, 1, 1, 2, 4, 8};
    s->count = rng_log(&p->rng, 12) + 7;
    s->step = s->size * element[rng_below(&p->rng, 7)];
    if (s->count * s->step > ARRAYS_SIZE / 16)
        s->count = ARRAYS_SIZE / 16 / s->step;
    s->spread = rng_percent(&p->rng, 75) ? s->count * s->step : 0;
    s->base = HEAP_BASE + rng_below(&p->rng, ARRAYS_SIZE / 2 / 128) * 128;
}

static void place_random(struct program *p, struct site *s)
{
    s->step = s->size;
    if (rng_percent(&p->rng, 25)) {
        s->base = DATA_BASE + SHARED_OFFSET;
        s->count = SHARED_SIZE / s->step;
        return;
    }
    uint32_t span = 256u << rng_below(&p->rng, 12);
    s->count = span / s->step;
    s->base = HEAP_BASE + OBJECTS_OFFSET + rng_below(&p->rng, OBJECTS_SIZE / span) * span;
}

static void place_fixed(struct program *p, struct site *s)
{
    uint64_t offset = rng_percent(&p->rng, 30) ? SHARED_OFFSET + rng_below(&p->rng, 32) * 64
                                               : rng_below(&p->rng, SHARED_OFFSET / 128) * 128;
    s->base = DATA_BASE + offset;
}

static void place(struct program *p, struct site *s, enum place where)
{
    s->place = (uint8_t)where;
    switch (where) {
    case PLACE_STACK:
        s->base = rng_below(&p->rng, p->now->frame / 8) * 8;
        break;
    case PLACE_FIXED:
        place_fixed(p, s);
        break;
    case PLACE_STRIDE:
        place_array(p, s);
        break;
    case PLACE_RANDOM:
        place_random(p, s);
        break;
    case PLACE_CHASE:
        break;
    case PLACE_NODE:
        s->base = rng_range(&p->rng, 1, 6) * 8;
        break;
    case PLACE_MAP:
        s->step = s->size;
        s->count = 16384 / s->size;
        break;
    }
}

static enum place choose_place(struct program *p, bool store)
{
    enum place where = weighted(&p->rng, places[p->options.profile], 7);
    /* a list is read; what hangs on its nodes is written */
    return store && where == PLACE_CHASE ? PLACE_NODE : where;
}

/* ---- with which instruction ---- */

static uint8_t choose_size(struct program *p)
{
    static const uint8_t mixed[] = {1, 1, 2, 4, 4, 4, 8, 8, 8, 8};
    static const uint8_t loops[] = {1, 2, 4, 4, 8, 8, 8, 8, 8, 8};
    return (p->options.profile == GEN_LOOPS ? loops : mixed)[rng_below(&p->rng, 10)];
}

static bool percent(struct program *p, uint32_t knob)
{
    return knob != GEN_NEVER && rng_percent(&p->rng, knob);
}

static uint32_t log2_size(uint32_t size)
{
    uint32_t log = 0;
    while (size >> log > 1)
        log++;
    return log;
}

static uint32_t scratch(struct program *p)
{
    return rng_range(&p->rng, 8, 15);
}

static void put_stack(struct program *p, const struct site *s, bool store)
{
    uint32_t f3 = log2_size(s->size), reg = scratch(p), offset = (uint32_t)s->base;
    bool small = s->size == 8 && rng_percent(&p->rng, 60);
    if (small)
        insn_put(p, store ? rvc_sdsp(reg, offset) : rvc_ldsp(reg, offset), 2);
    else if (store)
        insn_put(p, rv_store(f3, reg, X_SP, (int32_t)offset), 4);
    else
        insn_put(p, rv_load(f3, reg, X_SP, (int32_t)offset), 4);
}

/* Floating point above all where doubles live. */
static bool choose_float(struct program *p, const struct site *s)
{
    return s->size >= 4 && rng_percent(&p->rng, p->options.profile == GEN_LOOPS ? 70 : 10);
}

static void put_plain(struct program *p, const struct site *s, bool store)
{
    uint32_t f3 = log2_size(s->size), reg = scratch(p), base = scratch(p);
    bool fp = choose_float(p, s);
    /* c.flw does not exist on RV64 */
    bool small = (s->size == 8 || (s->size == 4 && !fp)) && rng_percent(&p->rng, 35);
    int32_t offset = (int32_t)rng_below(&p->rng, 64) * 8;
    if (small) {
        uint32_t load = s->size == 4 ? 2 : fp ? 1 : 3;
        insn_put(p, rvc_mem(load + (store ? 4 : 0), reg, base), 2);
    } else if (fp) {
        insn_put(p, store ? rv_fstore(f3, reg, base, offset) : rv_fload(f3, reg, base, offset), 4);
    } else if (store) {
        insn_put(p, rv_store(f3, reg, base, offset), 4);
    } else {
        uint32_t no_sign = s->size < 8 && rng_one_in(&p->rng, 2) ? 4 : 0;
        insn_put(p, rv_load(f3 | no_sign, reg, base, offset), 4);
    }
}

static void put_access(struct program *p, const struct site *s)
{
    bool store = s->kind == SITE_STORE;
    if (s->size > 8) {
        uint32_t n = s->size / 16u;
        insn_put(p, store ? rv_vstore(n, 8, scratch(p)) : rv_vload(n, 8, scratch(p)), 4);
    } else if (s->place == PLACE_STACK) {
        put_stack(p, s, store);
    } else {
        put_plain(p, s, store);
    }
}

/* A memory site is one only if memory is recorded; the instruction is there either way. */
static struct site *memory_site(struct program *p, enum site_kind kind, struct site *other)
{
    if (p->options.memory)
        return site_put(p, kind);
    *other = (struct site){.kind = (uint8_t)kind};
    return other;
}

static void put_simple(struct program *p, bool store)
{
    struct site other, *s = memory_site(p, store ? SITE_STORE : SITE_LOAD, &other);
    enum place where = choose_place(p, store);
    bool wide = where != PLACE_CHASE && where != PLACE_NODE && where != PLACE_STACK &&
                percent(p, p->options.wide);
    s->size = where == PLACE_CHASE ? 8 : choose_size(p);
    if (wide)
        s->size = (uint8_t)(16u << weighted(&p->rng, (const uint8_t[]){40, 25, 20, 15}, 4));
    place(p, s, where);
    s->content = (uint8_t)weighted(&p->rng, contents[p->options.profile], 5);
    /* what a stack instruction encodes must stay true, and a node's pointer whole */
    s->unaligned = where != PLACE_STACK && where != PLACE_CHASE && where != PLACE_NODE &&
                   s->size > 1 && percent(p, p->options.unaligned);
    put_access(p, s);
}

static void place_lock(struct program *p, struct site *s)
{
    s->size = rng_one_in(&p->rng, 2) ? 4 : 8;
    place(p, s, rng_one_in(&p->rng, 2) ? PLACE_RANDOM : PLACE_FIXED);
}

static void put_amo(struct program *p)
{
    struct site other, *s = memory_site(p, SITE_AMO, &other);
    place_lock(p, s);
    s->content = rng_one_in(&p->rng, 3) ? CONTENT_SMALL : CONTENT_COUNTER;
    uint32_t op = s->content == CONTENT_SMALL ? AMO_SWAP : AMO_ADD;
    uint32_t rd = scratch(p), rs1 = scratch(p), rs2 = scratch(p);
    insn_put(p, rv_amo(op, log2_size(s->size), rd, rs1, rs2), 4);
}

static void memory(struct program *p)
{
    const struct density *d = &densities[p->options.profile];
    if (percent(p, p->options.atomics) && p->multiplier <= 64)
        put_amo(p);
    else
        put_simple(p, rng_below(&p->rng, d->loads + d->stores) < d->stores);
}

void body_straight(struct program *p)
{
    const struct density *d = &densities[p->options.profile];
    uint32_t n = rng_range(&p->rng, d->shortest, d->longest);
    for (uint32_t i = 0; i < n; i++) {
        if (rng_percent(&p->rng, d->loads + d->stores))
            memory(p);
        else
            body_filler(p);
    }
    if (p->multiplier == 1 && rng_one_in(&p->rng, 48))
        body_csr(p);
}

void body_csr(struct program *p)
{
    site_put(p, SITE_CSR)->size = 8;
    uint32_t rd = scratch(p);
    insn_put(p, rv_csr_read(rd, rng_one_in(&p->rng, 2) ? CSR_CYCLE : CSR_TIME), 4);
}

void body_ecall(struct program *p, enum site_kind kind)
{
    insn_put(p, rv_addi(X_A7, X_ZERO, (int32_t)rng_below(&p->rng, 300)), 4);
    body_filler(p);
    site_put(p, kind);
    insn_put(p, RV_ECALL, 4);
    body_filler(p);
}

void body_reserve(struct program *p)
{
    uint32_t head = block_label(p), rd = scratch(p), base = scratch(p), rs2 = scratch(p);
    struct site other, *s = memory_site(p, SITE_LR, &other);
    place_lock(p, s);
    /* the same word twice, so not one at random */
    place(p, s, PLACE_FIXED);
    uint32_t f3 = log2_size(s->size);
    struct site lr = *s;
    insn_put(p, rv_amo(AMO_LR, f3, rd, base, X_ZERO), 4);
    body_filler(p);
    s = site_put(p, SITE_SC);
    s->base = lr.base;
    s->place = lr.place;
    s->size = lr.size;
    s->content = CONTENT_COUNTER;
    insn_put(p, rv_amo(AMO_SC, f3, rd, base, rs2), 4);
    struct block *b = &p->block[block_end(p, TERM_COND)];
    b->outcome = OUT_SC;
    b->target = head;
}
