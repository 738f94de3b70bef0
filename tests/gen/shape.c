/* SPDX-License-Identifier: MIT */
/* Control flow: functions as nested structures of blocks. */
#include "gen/program.h"
#include "gen/rv64.h"

enum item {
    ITEM_STRAIGHT,
    ITEM_IF,
    ITEM_ELSE,
    ITEM_LOOP,
    ITEM_WHILE,
    ITEM_SWITCH,
    ITEM_CALL,
    ITEM_ICALL,
    ITEM_GUARD,
    ITEM_RESERVE,
    ITEM_RECURSE,
    ITEMS
};

struct style {
    uint8_t items[ITEMS];                           /* weights */
    uint32_t steady, wavering, periodic, following; /* conditionals: weights */
    uint8_t fixed_trips;                            /* percent of the loops */
    uint8_t trip_bits;                              /* loops run up to 2^(this + 1) times */
    uint8_t nesting;
    uint32_t multiplier; /* at most */
    uint64_t cost;       /* of a call, at most */
};

static const struct style styles[GEN_PROFILE_END] = {
    [GEN_MIXED] = {.items = {10, 22, 12, 10, 5, 6, 24, 7, 7, 2, 4},
                   .steady = 64,
                   .wavering = 4,
                   .periodic = 22,
                   .following = 10,
                   .fixed_trips = 60,
                   .trip_bits = 4,
                   .nesting = 3,
                   .multiplier = 128,
                   .cost = 4000},
    [GEN_LOOPS] = {.items = {22, 10, 3, 36, 8, 1, 8, 2, 6, 1, 1},
                   .steady = 80,
                   .wavering = 1,
                   .periodic = 17,
                   .following = 2,
                   .fixed_trips = 90,
                   .trip_bits = 7,
                   .nesting = 3,
                   .multiplier = 4096,
                   .cost = 20000},
    [GEN_BRANCHY] = {.items = {8, 30, 18, 6, 4, 10, 16, 7, 5, 2, 4},
                     .steady = 40,
                     .wavering = 32,
                     .periodic = 10,
                     .following = 18,
                     .fixed_trips = 15,
                     .trip_bits = 3,
                     .nesting = 4,
                     .multiplier = 64,
                     .cost = 2000},
};

static const struct style *style(const struct program *p)
{
    return &styles[p->options.profile];
}

static void region(struct program *p, unsigned depth);

/* ---- decisions ---- */

static void decide_biased(struct program *p, struct block *b, uint32_t low, uint32_t high)
{
    uint32_t share = rng_range(&p->rng, low, high);
    b->outcome = OUT_BIASED;
    b->a = rng_one_in(&p->rng, 2) ? share : 65536 - share;
}

static void decide(struct program *p, struct block *b)
{
    const struct style *s = style(p);
    uint32_t n = rng_below(&p->rng, s->steady + s->wavering + s->periodic + s->following);
    if (n < s->steady) {
        decide_biased(p, b, 200, 3000);
    } else if (n < s->steady + s->wavering) {
        decide_biased(p, b, 13000, 32768);
    } else if (n < s->steady + s->wavering + s->periodic) {
        b->outcome = OUT_PERIOD;
        b->b = rng_range(&p->rng, 2, 12);
        b->a = rng_below(&p->rng, 1u << b->b);
    } else {
        b->outcome = OUT_SAME;
        b->a = rng_below(&p->rng, 4);
        b->b = rng_below(&p->rng, 2);
    }
}

/* Returns the mean number of trips. */
static uint32_t decide_trips(struct program *p, uint32_t *a, uint32_t *b)
{
    const struct style *s = style(p);
    uint32_t room = (uint32_t)(s->multiplier / p->multiplier);
    uint32_t trips = rng_log(&p->rng, s->trip_bits) + 1;
    if (trips > room)
        trips = room > 2 ? room : 2;
    *b = rng_percent(&p->rng, s->fixed_trips) ? 0 : trips;
    *a = *b ? 1 : trips;
    return *b ? trips / 2 + 1 : trips;
}

/* ---- structures ---- */

static void put_if(struct program *p, unsigned depth)
{
    uint32_t test = block_end(p, TERM_COND);
    decide(p, &p->block[test]);
    region(p, depth + 1);
    p->block[test].target = block_label(p);
}

static void put_else(struct program *p, unsigned depth)
{
    uint32_t test = block_end(p, TERM_COND);
    decide(p, &p->block[test]);
    region(p, depth + 1);
    uint32_t skip = block_end(p, TERM_JUMP);
    p->block[test].target = block_label(p);
    region(p, depth + 1);
    p->block[skip].target = block_label(p);
}

static void put_loop(struct program *p, unsigned depth)
{
    uint64_t outer = p->multiplier;
    uint32_t a, b, head = block_label(p);
    p->multiplier *= decide_trips(p, &a, &b);
    body_straight(p);
    if (rng_one_in(&p->rng, 2))
        region(p, depth + 1);
    struct block *bottom = &p->block[block_end(p, TERM_COND)];
    bottom->outcome = OUT_LOOP;
    bottom->a = a;
    bottom->b = b;
    bottom->target = head;
    p->multiplier = outer;
}

static void put_while(struct program *p, unsigned depth)
{
    uint64_t outer = p->multiplier;
    uint32_t a, b, head = block_label(p);
    p->multiplier *= decide_trips(p, &a, &b);
    body_filler(p);
    uint32_t test = block_end(p, TERM_COND);
    p->block[test].outcome = OUT_LEAVE;
    p->block[test].a = a;
    p->block[test].b = b;
    region(p, depth + 1);
    p->block[block_end(p, TERM_JUMP)].target = head;
    p->block[test].target = block_label(p);
    p->multiplier = outer;
}

static void put_switch(struct program *p, unsigned depth)
{
    uint32_t cases = rng_range(&p->rng, 2, 6), leave[6];
    uint32_t head = block_end(p, TERM_IJUMP);
    p->block[head].pick = (uint8_t)rng_below(&p->rng, 3);
    p->block[head].escapes = 1;
    uint32_t label[6];
    for (uint32_t i = 0; i < cases; i++) {
        label[i] = block_label(p);
        body_straight(p);
        if (depth < 2 && rng_one_in(&p->rng, 3))
            region(p, depth + 2);
        leave[i] = block_end(p, TERM_JUMP);
    }
    uint32_t join = block_label(p);
    /* nested switches have taken theirs by now: these lie in a row */
    p->block[head].target = p->target_count;
    for (uint32_t i = 0; i < cases; i++) {
        target_add(p, &p->block[head], label[i]);
        p->block[leave[i]].target = join;
    }
}

static void put_guard(struct program *p)
{
    uint32_t test = block_end(p, TERM_COND);
    p->block[test].outcome = OUT_GUARD;
    /* it is due rarely, whatever the loop around it */
    uint64_t outer = p->multiplier;
    p->multiplier = 1;
    body_ecall(p, SITE_ECALL);
    if (rng_one_in(&p->rng, 3))
        body_csr(p);
    p->multiplier = outer;
    p->block[test].target = block_label(p);
}

/* ---- calls ---- */

/* A function that may be called here, or NULL. */
static struct function *callee(struct program *p)
{
    enum { FIRST = 2, TRIES = 6, LEVELS = 5 };
    uint32_t self = (uint32_t)(p->now - p->function);
    uint32_t end = self < FIRST + FUNCTIONS ? self : FIRST + FUNCTIONS;
    for (int i = 0; end > FIRST && i < TRIES; i++) {
        struct function *f = &p->function[rng_range(&p->rng, FIRST, end - 1)];
        if (f->level < LEVELS && p->now->cost + f->cost * p->multiplier <= style(p)->cost)
            return f;
    }
    return NULL;
}

static void note_call(struct program *p, const struct function *f)
{
    p->now->cost += f->cost * p->multiplier;
    if (p->now->level <= f->level)
        p->now->level = f->level + 1;
}

static void put_call(struct program *p)
{
    struct function *f = callee(p);
    if (!f) {
        body_straight(p);
        return;
    }
    note_call(p, f);
    body_filler(p);
    bool near = f->image == p->now->image;
    uint32_t number = block_end(p, near ? TERM_CALL : TERM_ICALL);
    if (near)
        p->block[number].target = f->block;
    else
        target_add(p, &p->block[number], f->block);
}

/* extra: one more target, never the first; 0 for none. */
static void put_icall(struct program *p, uint32_t extra)
{
    struct function *f = callee(p);
    if (!f) {
        body_straight(p);
        return;
    }
    body_filler(p);
    uint32_t number = block_end(p, TERM_ICALL), more = rng_range(&p->rng, 1, 4);
    struct block *b = &p->block[number];
    b->pick = (uint8_t)(extra ? PICK_MOSTLY : rng_below(&p->rng, 3));
    for (uint32_t i = 0; f && i < more; i++, f = callee(p)) {
        note_call(p, f);
        target_add(p, b, f->block);
    }
    if (rng_one_in(&p->rng, 2))
        target_add(p, b, TARGET_JIT);
    if (extra)
        target_add(p, b, extra);
}

/* A call of the function by itself, which ends by itself. Only outside loops, where one
 * activation makes less than one more on average. */
static void put_recursion(struct program *p)
{
    /* the threads' top functions, which come after the versions, are entered once only */
    if (p->multiplier > 1 || p->versions != 0 || p->now->level > 2) {
        body_straight(p);
        return;
    }
    uint32_t test = block_end(p, TERM_COND);
    p->block[test].outcome = OUT_DEPTH;
    body_straight(p);
    p->block[block_end(p, TERM_CALL)].target = p->now->block;
    p->block[test].target = block_label(p);
    p->now->cost *= 3;
    p->multiplier = 3;
}

/* ---- functions ---- */

static enum item choose_item(struct program *p, unsigned depth)
{
    const struct style *s = style(p);
    uint32_t total = 0, i = 0;
    if (depth > s->nesting || function_full(p))
        return ITEM_STRAIGHT;
    for (uint32_t k = 0; k < ITEMS; k++)
        total += s->items[k];
    uint32_t n = rng_below(&p->rng, total);
    while (n >= s->items[i])
        n -= s->items[i++];
    return (enum item)i;
}

static void put_item(struct program *p, enum item item, unsigned depth)
{
    switch (item) {
    case ITEM_IF:
        put_if(p, depth);
        break;
    case ITEM_ELSE:
        put_else(p, depth);
        break;
    case ITEM_LOOP:
        put_loop(p, depth);
        break;
    case ITEM_WHILE:
        put_while(p, depth);
        break;
    case ITEM_SWITCH:
        put_switch(p, depth);
        break;
    case ITEM_CALL:
        put_call(p);
        break;
    case ITEM_ICALL:
        put_icall(p, 0);
        break;
    case ITEM_GUARD:
        put_guard(p);
        break;
    case ITEM_RESERVE:
        if (p->options.atomics != GEN_NEVER)
            body_reserve(p);
        break;
    case ITEM_RECURSE:
        put_recursion(p);
        break;
    default:
        body_straight(p);
        break;
    }
}

static void region(struct program *p, unsigned depth)
{
    uint32_t n = rng_range(&p->rng, 1, 3);
    for (uint32_t i = 0; i < n; i++) {
        if (rng_one_in(&p->rng, 2))
            body_straight(p);
        put_item(p, choose_item(p, depth), depth);
    }
}

static void prologue(struct program *p)
{
    insn_put(p, rv_addi(X_SP, X_SP, -(int32_t)p->now->frame), 4);
}

static void epilogue(struct program *p)
{
    insn_put(p, rv_addi(X_SP, X_SP, (int32_t)p->now->frame), 4);
    block_last(p, TERM_RET);
    function_end(p);
}

void shape_function(struct program *p, int image, bool calls)
{
    function_begin(p, image);
    prologue(p);
    uint32_t n = rng_range(&p->rng, 2, 6);
    for (uint32_t i = 0; i < n; i++) {
        /* those that call nothing are what handlers are taken from */
        if (calls)
            region(p, 1);
        else if (i == 0)
            put_switch(p, 2);
        else
            put_loop(p, style(p)->nesting);
    }
    epilogue(p);
}

void shape_version(struct program *p, uint32_t number)
{
    function_begin(p, IMAGE_JIT);
    prologue(p);
    body_straight(p);
    uint32_t test = block_end(p, TERM_COND);
    decide(p, &p->block[test]);
    for (uint32_t i = 0; i <= number % 3; i++)
        body_straight(p);
    p->block[test].target = block_label(p);
    uint32_t a, b, head = block_label(p);
    p->multiplier = decide_trips(p, &a, &b);
    body_straight(p);
    uint32_t bottom = block_end(p, TERM_COND);
    p->block[bottom].target = head;
    p->block[bottom].outcome = OUT_LOOP;
    p->block[bottom].a = a;
    p->block[bottom].b = b;
    epilogue(p);
}

void shape_giant(struct program *p)
{
    enum { PARTS = 3 };
    p->giant = p->blocks;
    function_begin(p, IMAGE_MAIN);
    prologue(p);
    for (uint32_t i = 0; i < PARTS; i++) {
        for (uint32_t k = 0; k < GIANT_INSNS / PARTS; k++)
            insn_put(p, rvc_addi(8, (int32_t)(1 + k % 31)), 2);
        block_end(p, TERM_FALL);
    }
    epilogue(p);
}

void shape_trampoline(struct program *p)
{
    p->trampoline = p->blocks;
    function_begin(p, IMAGE_LIB);
    p->now->frame = 0;
    insn_put(p, rv_addi(X_A7, X_ZERO, 139), 4);
    block_last(p, TERM_SIGRET);
    function_end(p);
}

static void shape_spawn(struct program *p)
{
    uint32_t head = block_label(p);
    p->spawn = p->now->block;
    body_ecall(p, SITE_CLONE);
    struct block *b = &p->block[block_end(p, TERM_COND)];
    b->outcome = OUT_SPAWN;
    b->target = head;
    p->work = p->blocks - 1;
}

/* So long that every fourth of the occasions is more than enough. */
static void put_rare_giant(struct program *p)
{
    uint32_t test = block_end(p, TERM_COND);
    p->block[test].outcome = OUT_BIASED;
    p->block[test].a = 49152;
    put_icall(p, p->giant);
    p->block[test].target = block_label(p);
}

static void shape_top(struct program *p, bool spawns)
{
    function_begin(p, IMAGE_MAIN);
    prologue(p);
    if (spawns)
        shape_spawn(p);
    uint32_t head = block_label(p);
    for (uint32_t i = 0; i < 6; i++) {
        /* a fresh allowance for each, so that all are likely to call something */
        p->now->cost = 0;
        if (i == 3)
            put_rare_giant(p);
        else if (i % 2)
            put_icall(p, 0);
        else
            put_call(p);
        region(p, 2);
        p->multiplier = 1;
        put_guard(p);
    }
    body_filler(p);
    block_last(p, TERM_JUMP);
    open_block(p)->target = head;
    function_end(p);
}

void shape_tops(struct program *p)
{
    for (uint32_t i = 0; i < TOPS; i++) {
        p->tops[i] = p->functions;
        shape_top(p, i == 0);
    }
}
