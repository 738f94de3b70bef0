/* SPDX-License-Identifier: MIT */
/* Execution: what the sites and terminators of the program do. */
#include "gen/machine.h"

#include <assert.h>
#include <string.h>

void exec_see(struct gen *g, uint32_t block)
{
    struct block *b = &g->program.block[block];
    if (b->id >= 0)
        return;
    b->id = (int32_t)g->block_ids;
    g->block_of_id[g->block_ids++] = block;
}

void exec_enter(struct gen *g, struct thread *t, uint32_t block)
{
    exec_see(g, block);
    t->block = block;
    t->site = 0;
    t->skip = 0;
}

static inline void retire(struct thread *t, uint32_t instructions)
{
    t->icount += instructions - t->skip;
    t->skip = 0;
}

/* ---- memory ---- */

static uint64_t stride(struct thread *t, const struct site *s)
{
    uint64_t *position = &t->state[s->slot];
    uint64_t offset = *position * s->step + (t->index & 7) * (uint64_t)s->spread;
    *position = *position + 1 == s->count ? 0 : *position + 1;
    return offset;
}

static uint64_t misalign(struct gen *g, const struct site *s, uint64_t addr)
{
    uint32_t n = rng_below(&g->data, 16);
    if (n < 3)
        return addr + 1 + n % (s->size - 1u);
    /* across the end of a line of 64 bytes */
    return n == 3 ? (addr | 63) + 1 - s->size / 2u : addr;
}

static uint64_t locate(struct gen *g, struct thread *t, const struct site *s)
{
    switch (s->place) {
    case PLACE_STACK:
        return t->sp + s->base;
    case PLACE_FIXED:
        return s->base;
    case PLACE_STRIDE:
        return s->base + stride(t, s);
    case PLACE_RANDOM:
        return s->base + (uint64_t)rng_below(&g->data, s->count) * s->step;
    case PLACE_CHASE:
        return t->node;
    case PLACE_NODE:
        return t->node + s->base;
    default:
        return (g->maps ? g->map[g->maps - 1].addr : HEAP_BASE) + stride(t, s);
    }
}

static inline uint64_t address(struct gen *g, struct thread *t, const struct site *s)
{
    uint64_t addr = locate(g, t, s);
    return s->unaligned ? misalign(g, s, addr) : addr;
}

static uint64_t content(struct gen *g, struct thread *t, const struct site *s)
{
    switch (s->content) {
    case CONTENT_COUNTER:
        return t->state[s->slot + 1] += 1 + (s->slot & 15);
    case CONTENT_COPY:
        return t->loaded;
    case CONTENT_SMALL:
        return rng_next(&g->data) & 0x3f;
    case CONTENT_RANDOM:
        return rng_next(&g->data);
    default:
        return memory_double(rng_next(&g->data));
    }
}

static uint64_t low_bytes(uint64_t value, unsigned size)
{
    return value & (UINT64_MAX >> (64 - 8 * size));
}

static void emit_load(struct gen *g, struct thread *t, const struct site *s, uint64_t addr,
                      uint8_t flags)
{
    uint64_t value;
    if (s->size <= 8) {
        value = memory_load(&g->memory, addr, s->size);
        t->loaded = value;
    } else {
        value = wide_put(g, s->size);
        memory_read(&g->memory, addr, g->wide + value, s->size);
    }
    emit(g, t,
         (struct vs_event){.kind = VS_LOAD,
                           .pc = s->pc,
                           .addr = addr,
                           .size = s->size,
                           .value = value,
                           .flags = flags});
}

static void exec_load(struct gen *g, struct thread *t, const struct site *s, uint8_t flags)
{
    emit_load(g, t, s, address(g, t, s), flags);
    if (s->place != PLACE_CHASE)
        return;
    /* whatever was written over the pointer, the thread stays among the nodes */
    bool node = t->loaded - (HEAP_BASE + NODES_OFFSET) < NODES_SIZE && t->loaded % NODE_SIZE == 0;
    t->node = node ? t->loaded : memory_node(rng_mix(t->loaded));
}

static void emit_store(struct gen *g, struct thread *t, const struct site *s, uint64_t addr,
                       uint64_t value, uint8_t flags)
{
    if (s->size <= 8) {
        value = low_bytes(value, s->size);
        memory_store(&g->memory, addr, value, s->size);
    } else {
        uint32_t offset = wide_put(g, s->size);
        for (uint32_t i = 0; i < s->size; i += 8, value = content(g, t, s))
            memcpy(g->wide + offset + i, &value, 8);
        memory_write(&g->memory, addr, g->wide + offset, s->size);
        value = offset;
    }
    emit(g, t,
         (struct vs_event){.kind = VS_STORE,
                           .pc = s->pc,
                           .addr = addr,
                           .size = s->size,
                           .value = value,
                           .flags = flags});
}

static void exec_store(struct gen *g, struct thread *t, const struct site *s)
{
    uint64_t addr = address(g, t, s);
    emit_store(g, t, s, addr, content(g, t, s), 0);
}

static void exec_amo(struct gen *g, struct thread *t, const struct site *s)
{
    uint64_t addr = address(g, t, s);
    emit_load(g, t, s, addr, VS_MEM_ATOMIC);
    uint64_t operand = content(g, t, s);
    uint64_t value = s->content == CONTENT_COUNTER ? t->loaded + 1 : operand;
    emit_store(g, t, s, addr, value, VS_MEM_ATOMIC);
}

static void exec_sc(struct gen *g, struct thread *t, const struct site *s)
{
    t->sc_failed = rng_one_in(&g->control, 12);
    emit(g, t, (struct vs_event){.kind = VS_NONDET, .pc = s->pc, .size = 8, .value = t->sc_failed});
    if (!t->sc_failed && g->options.memory)
        emit_store(g, t, s, address(g, t, s), t->loaded + 1, VS_MEM_ATOMIC);
}

static void exec_csr(struct gen *g, struct thread *t, const struct site *s)
{
    uint64_t value = 1000000 + events_so_far(g) * 3 + rng_below(&g->data, 3);
    emit(g, t, (struct vs_event){.kind = VS_NONDET, .pc = s->pc, .size = 8, .value = value});
}

static void exec_site(struct gen *g, struct thread *t, const struct site *s)
{
    retire(t, s->delta);
    switch (s->kind) {
    case SITE_LOAD:
        exec_load(g, t, s, 0);
        break;
    case SITE_STORE:
        exec_store(g, t, s);
        break;
    case SITE_AMO:
        exec_amo(g, t, s);
        break;
    case SITE_LR:
        exec_load(g, t, s, VS_MEM_ATOMIC);
        break;
    case SITE_SC:
        exec_sc(g, t, s);
        break;
    case SITE_CSR:
        exec_csr(g, t, s);
        break;
    case SITE_ECALL:
        system_call(g, t, s);
        break;
    default:
        system_clone(g, t, s);
        break;
    }
}

/* ---- control flow ---- */

/* Whether this was the last of the trips. */
static bool last_trip(struct gen *g, struct thread *t, const struct block *b, uint32_t extra)
{
    uint64_t *left = &t->state[b->slot];
    if (*left == 0)
        *left = b->a + (b->b ? rng_below(&g->control, b->b) : 0) + extra;
    return --*left == 0;
}

static bool period(struct thread *t, const struct block *b)
{
    uint64_t *position = &t->state[b->slot];
    bool taken = b->a >> *position & 1;
    *position = *position + 1 == b->b ? 0 : *position + 1;
    return taken;
}

static bool syscall_due(struct gen *g)
{
    if (events_so_far(g) < g->next_syscall)
        return false;
    g->next_syscall = next_due(g, g->options.syscalls);
    return true;
}

static bool decide(struct gen *g, struct thread *t, const struct block *b)
{
    switch (b->outcome) {
    case OUT_LOOP:
        return !last_trip(g, t, b, 0);
    case OUT_LEAVE:
        return last_trip(g, t, b, 1);
    case OUT_BIASED:
        return (rng_next(&g->control) & 0xffff) < b->a;
    case OUT_PERIOD:
        return period(t, b);
    case OUT_SAME:
        return ((t->history >> b->a & 1) ^ b->b) != rng_one_in(&g->control, 32);
    case OUT_GUARD:
        return !syscall_due(g);
    case OUT_DEPTH:
        return t->depth >= DEPTH_DEEP || rng_one_in(&g->control, 3);
    case OUT_SC:
        return t->sc_failed;
    default:
        return g->started < g->options.threads;
    }
}

static uint32_t pick(struct gen *g, struct thread *t, const struct block *b)
{
    uint32_t n = 0;
    if (b->pick == PICK_ROBIN)
        n = (uint32_t)(t->state[b->slot]++ % b->targets);
    else if (b->pick == PICK_RANDOM || rng_one_in(&g->control, 16))
        n = rng_below(&g->control, b->targets);
    uint32_t block = g->program.targets[b->target + n];
    if (block != TARGET_JIT)
        return block;
    if (g->version < 0)
        return g->program.targets[b->target];
    return g->program.function[g->program.versions + (uint32_t)g->version].block;
}

static void emit_branch(struct gen *g, struct thread *t, const struct block *b, uint64_t target,
                        uint8_t flags)
{
    emit(g, t,
         (struct vs_event){.kind = VS_BRANCH,
                           .pc = b->addr + b->size - b->term_size,
                           .addr = target,
                           .size = b->term_size,
                           .flags = b->flags | flags});
}

static void go(struct gen *g, struct thread *t, const struct block *b, uint32_t target)
{
    emit_branch(g, t, b, g->program.block[target].addr, 0);
    exec_enter(g, t, target);
}

static void exec_cond(struct gen *g, struct thread *t, const struct block *b)
{
    bool taken = decide(g, t, b);
    t->history = t->history << 1 | taken;
    emit_branch(g, t, b, g->program.block[b->target].addr, taken ? VS_BR_TAKEN : 0);
    exec_enter(g, t, taken ? b->target : t->block + 1);
}

static void exec_call(struct gen *g, struct thread *t, const struct block *b, uint32_t target)
{
    assert(t->depth < DEPTH_MAX);
    struct frame *f = &t->frame[t->depth++];
    f->block = t->block + 1;
    f->site = 0;
    f->skip = 0;
    f->handler = false;
    f->sp = t->sp;
    f->pc = b->addr + b->size;
    t->sp -= g->program.function[g->program.block[target].function].frame;
    go(g, t, b, target);
}

void exec_unwind(struct gen *g, struct thread *t, uint32_t frame)
{
    const struct frame *f = &t->frame[frame];
    while (t->depth > frame)
        t->handlers -= t->frame[--t->depth].handler;
    exec_enter(g, t, f->block);
    t->site = f->site;
    t->skip = f->skip;
    t->sp = f->sp;
}

static void exec_return(struct gen *g, struct thread *t, const struct block *b)
{
    emit_branch(g, t, b, t->frame[t->depth - 1].pc, 0);
    exec_unwind(g, t, t->depth - 1);
}

/* The innermost frame of those that return to the same place: with recursion there are several, and
 * who follows the run could not tell them apart. */
static uint32_t innermost(const struct thread *t, uint32_t frame)
{
    uint32_t k = t->depth - 1;
    while (t->frame[k].handler || t->frame[k].pc != t->frame[frame].pc)
        k--;
    return k;
}

static void exec_jump(struct gen *g, struct thread *t, const struct block *b)
{
    if (b->escapes && t->depth >= 2 && rng_one_in(&g->control, 150)) {
        uint32_t frame = rng_below(&g->control, t->depth - 1);
        if (!t->frame[frame].handler) {
            emit_branch(g, t, b, t->frame[frame].pc, 0);
            exec_unwind(g, t, innermost(t, frame));
            return;
        }
    }
    go(g, t, b, pick(g, t, b));
}

static void exec_term(struct gen *g, struct thread *t, const struct block *b)
{
    retire(t, b->tail);
    switch (b->term) {
    case TERM_FALL:
        exec_enter(g, t, t->block + 1);
        break;
    case TERM_COND:
        exec_cond(g, t, b);
        break;
    case TERM_JUMP:
        go(g, t, b, b->target);
        break;
    case TERM_CALL:
        exec_call(g, t, b, b->target);
        break;
    case TERM_IJUMP:
        exec_jump(g, t, b);
        break;
    case TERM_ICALL:
        exec_call(g, t, b, pick(g, t, b));
        break;
    case TERM_RET:
        exec_return(g, t, b);
        break;
    default:
        system_signal_return(g, t, b->addr + b->size - b->term_size);
        break;
    }
}

void exec_run(struct gen *g, struct thread *t)
{
    while (g->count < g->limit) {
        const struct block *b = &g->program.block[t->block];
        if (t->site < b->sites)
            exec_site(g, t, &g->program.site[b->site + t->site++]);
        else
            exec_term(g, t, b);
    }
}

/* ---- between steps ---- */

static uint32_t length_at(const uint8_t *insn)
{
    return (*insn & 3) == 3 ? 4 : 2;
}

uint64_t exec_advance(struct gen *g, struct thread *t)
{
    const struct program *p = &g->program;
    const struct block *b = &p->block[t->block];
    while (t->site == b->sites && t->skip == b->tail) {
        /* only a block that falls through can be over between steps */
        exec_enter(g, t, t->block + 1);
        b = &p->block[t->block];
    }
    uint32_t stretch = t->site < b->sites ? p->site[b->site + t->site].delta : b->tail;
    uint32_t more = rng_below(&g->order, stretch - t->skip);
    t->icount += more;
    t->skip += more;
    uint32_t retired = t->skip, offset = 0;
    for (uint32_t i = 0; i < t->site; i++)
        retired += p->site[b->site + i].delta;
    while (retired-- > 0)
        offset += length_at(p->code + b->code + offset);
    return b->addr + offset;
}

uint64_t exec_sp(const struct gen *g, const struct thread *t)
{
    const struct block *b = &g->program.block[t->block];
    const struct function *f = &g->program.function[b->function];
    uint32_t lead = f->image == IMAGE_JIT ? 2 : 1;
    bool before = t->block == f->block && t->site == 0 && t->skip < lead;
    bool after = b->term == TERM_RET && t->site == b->sites && t->skip + 1 == b->tail;
    return t->sp + (before || after ? f->frame : 0);
}
