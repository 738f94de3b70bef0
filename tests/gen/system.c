/* SPDX-License-Identifier: MIT */
/* What comes from outside the program: system calls, signals, threads, gaps, new code. */
#include "gen/machine.h"

#include <assert.h>
#include <string.h>

#include "gen/rv64.h"

/* ---- registers ---- */

/* A payload of 8-byte registers, written straight into the batch. */
struct payload {
    struct gen *g;
    uint32_t offset, size;
};

static struct payload payload_begin(struct gen *g)
{
    return (struct payload){.g = g, .offset = g->wide_size};
}

static void payload_reg(struct payload *w, unsigned number, uint64_t value)
{
    int64_t n =
        vs_regs_put(w->g->wide + w->offset, WIDE_MAX - w->offset, w->size, number, &value, 8);
    assert(n > 0);
    w->size = (uint32_t)n;
}

static void payload_all(struct payload *w, const struct thread *t, uint64_t pc)
{
    for (unsigned i = 1; i < 32; i++) {
        uint64_t value = rng_next(&w->g->data);
        payload_reg(w, i, i == X_SP ? exec_sp(w->g, t) : i % 4 == 0 ? value : value & 0xffff);
    }
    payload_reg(w, VS_REG_PC, pc);
}

static void emit_payload(struct thread *t, const struct payload *w, struct vs_event e)
{
    e.value = wide_put(w->g, w->size);
    e.size = (uint16_t)w->size;
    emit(w->g, t, e);
}

/* ---- memory from outside ---- */

static void fill(struct gen *g, uint8_t *bytes, uint32_t size)
{
    /* as data is: noise, text, or mostly zero */
    uint64_t mask = 0x1f1f1f1f1f1f1f1fu, base = 0x4040404040404040u;
    uint32_t kind = rng_below(&g->data, 3);
    if (kind == 0)
        mask = UINT64_MAX, base = 0;
    else if (kind == 1)
        mask = 0xff, base = 0;
    for (uint32_t i = 0; i < size; i += 8) {
        uint64_t word = (rng_next(&g->data) & mask) | base;
        memcpy(bytes + i, &word, size - i < 8 ? size - i : 8);
    }
}

static void put_external(struct gen *g, struct thread *t, uint64_t addr, uint32_t size)
{
    struct vs_event e = {.kind = VS_EXTERNAL, .addr = addr, .size = (uint16_t)size};
    uint8_t *bytes = (uint8_t *)&e.value;
    if (size > 8) {
        e.value = wide_put(g, size);
        bytes = g->wide + e.value;
    }
    fill(g, bytes, size);
    memory_write(&g->memory, addr, bytes, size);
    emit(g, t, e);
}

static void external(struct gen *g, struct thread *t, uint64_t addr, uint32_t size)
{
    while (g->options.memory && size > 0) {
        uint32_t n = size < VS_SIZE_MAX ? size : VS_SIZE_MAX;
        put_external(g, t, addr, n);
        addr += n;
        size -= n;
    }
}

/* Unseen: nothing of this is in the run. */
static void disturb(struct gen *g, const struct thread *t)
{
    uint32_t n = rng_range(&g->data, 1, 200);
    for (uint32_t i = 0; g->options.memory && i < n; i++) {
        uint64_t value = rng_next(&g->data), addr;
        uint32_t place = rng_below(&g->data, 3);
        if (place == 0)
            addr = DATA_BASE + rng_below(&g->data, DATA_SIZE);
        else if (place == 1)
            addr = HEAP_BASE + rng_below(&g->data, NODES_OFFSET);
        else
            addr = t->sp + rng_below(&g->data, 512);
        memory_write(&g->memory, addr, &value, 8);
    }
}

static void emit_map(struct gen *g, struct thread *t, uint64_t addr, uint64_t length, uint8_t flags,
                     uint64_t image)
{
    emit(g, t,
         (struct vs_event){
             .kind = VS_MAP, .addr = addr, .value = length, .flags = flags, .pc = image});
}

/* ---- system calls ---- */

enum { SYS_READ = 63, SYS_WRITE = 64, SYS_FUTEX = 98, SYS_CLOCK = 113, SYS_MUNMAP = 215 };
enum { SYS_CLONE = 220, SYS_MMAP = 222, SYS_MPROTECT = 226, SYS_FLUSH = 259, SYS_RANDOM = 278 };

static void emit_syscall(struct gen *g, struct thread *t, uint64_t pc, unsigned number,
                         struct vs_syscall_head head)
{
    struct payload w = payload_begin(g);
    memcpy(g->wide + w.offset, &head, sizeof head);
    w.size = sizeof head;
    payload_reg(&w, X_A0, head.result);
    emit_payload(t, &w, (struct vs_event){.kind = VS_SYSCALL, .pc = pc, .addr = number});
}

/* A call that fills a buffer. The kernel has written before the instruction retires; a recorder
 * may see either first. */
static void sys_fill(struct gen *g, struct thread *t, uint64_t pc, unsigned number, uint64_t addr,
                     uint32_t size)
{
    bool early = rng_one_in(&g->order, 4);
    if (early) {
        t->icount--;
        external(g, t, addr, size);
        t->icount++;
    }
    emit_syscall(g, t, pc, number,
                 (struct vs_syscall_head){.args = {3, addr, size}, .result = size});
    if (!early)
        external(g, t, addr, size);
}

static void sys_read(struct gen *g, struct thread *t, uint64_t pc)
{
    uint32_t size = rng_log(&g->data, 12);
    uint64_t addr = HEAP_BASE + OBJECTS_OFFSET + rng_below(&g->data, OBJECTS_SIZE / 2);
    if (rng_one_in(&g->data, 16))
        size = rng_range(&g->data, 60000, 150000);
    if (g->maps && rng_one_in(&g->data, 2))
        addr = g->map[g->maps - 1].addr;
    sys_fill(g, t, pc, SYS_READ, addr, size);
}

static void sys_mmap(struct gen *g, struct thread *t, uint64_t pc)
{
    struct mapping *m = &g->map[g->maps];
    m->addr = MAP_BASE + (uint64_t)g->maps * MAP_SPACING;
    m->length = rng_range(&g->data, 40, 256) * (uint64_t)PAGE_SIZE;
    g->maps++;
    emit_syscall(g, t, pc, SYS_MMAP,
                 (struct vs_syscall_head){.args = {0, m->length, 3, 0x22}, .result = m->addr});
    emit_map(g, t, m->addr, m->length, VS_MAP_READ | VS_MAP_WRITE, VS_NO_IMAGE);
}

/* One that is no longer the latest goes, or changes its protection. */
static void sys_unmap(struct gen *g, struct thread *t, uint64_t pc)
{
    struct mapping *m = &g->map[rng_below(&g->data, g->maps - 1)];
    bool goes = !m->gone && rng_one_in(&g->data, 2);
    if (m->gone)
        m = &g->map[g->maps - 1];
    m->gone = goes;
    emit_syscall(g, t, pc, goes ? SYS_MUNMAP : SYS_MPROTECT,
                 (struct vs_syscall_head){.args = {m->addr, m->length, 3}});
    emit_map(g, t, m->addr, m->length, goes ? VS_MAP_GONE : VS_MAP_READ | VS_MAP_WRITE,
             VS_NO_IMAGE);
}

static bool in_jit(const struct gen *g, uint32_t block)
{
    const struct program *p = &g->program;
    return p->function[p->block[block].function].image == IMAGE_JIT;
}

static bool jit_in_use(const struct gen *g)
{
    for (uint32_t i = 0; i < g->started; i++) {
        const struct thread *t = &g->threads[i];
        if (t->alive && in_jit(g, t->block))
            return true;
        for (uint32_t k = 0; t->alive && k < t->depth; k++) {
            if (in_jit(g, t->frame[k].block))
                return true;
        }
    }
    return false;
}

static void sys_flush(struct gen *g, struct thread *t, uint64_t pc)
{
    const struct program *p = &g->program;
    emit_syscall(g, t, pc, SYS_FLUSH, (struct vs_syscall_head){.args = {JIT_BASE, JIT_SIZE}});
    if (g->version < 0)
        emit_map(g, t, JIT_BASE, JIT_SIZE, VS_MAP_READ | VS_MAP_WRITE | VS_MAP_EXEC, VS_NO_IMAGE);
    int other = (int)rng_below(&g->data, VERSIONS - 1);
    g->version = other >= g->version && g->version >= 0 ? other + 1 : other;
    const struct function *f = &p->function[p->versions + (uint32_t)g->version];
    for (uint32_t i = 0; i < f->blocks; i++) {
        exec_see(g, f->block + i);
        emit(g, t,
             (struct vs_event){.kind = VS_CODE, .value = (uint64_t)p->block[f->block + i].id});
    }
    g->next_code = next_due(g, g->options.code);
}

void system_call(struct gen *g, struct thread *t, const struct site *s)
{
    if (events_so_far(g) >= g->next_code && !jit_in_use(g)) {
        sys_flush(g, t, s->pc);
        return;
    }
    uint32_t n = rng_below(&g->data, 100);
    if (n < 35)
        sys_read(g, t, s->pc);
    else if (n < 45)
        sys_fill(g, t, s->pc, SYS_RANDOM, t->sp + 16, rng_range(&g->data, 1, 64));
    else if (n < 60)
        sys_fill(g, t, s->pc, SYS_CLOCK, t->sp, 16);
    else if (n < 70)
        sys_fill(g, t, s->pc, SYS_FUTEX, DATA_BASE + SHARED_OFFSET, 4);
    else if (n < 80 && g->maps < MAPS_MAX)
        sys_mmap(g, t, s->pc);
    else if (n < 85 && g->maps > 1)
        sys_unmap(g, t, s->pc);
    else
        emit_syscall(g, t, s->pc, SYS_WRITE,
                     (struct vs_syscall_head){.args = {1, t->sp, 80}, .result = 80});
}

/* ---- signals ---- */

static void push_frame(struct thread *t, uint64_t pc, bool handler)
{
    assert(t->depth < DEPTH_MAX);
    t->frame[t->depth++] = (struct frame){.block = t->block,
                                          .site = t->site,
                                          .skip = t->skip,
                                          .handler = handler,
                                          .sp = t->sp,
                                          .pc = pc};
    t->handlers += handler;
}

void system_signal(struct gen *g, struct thread *t)
{
    enum { NESTED_MAX = 2, FIRST_HANDLER = 2, RED_ZONE = 128 };
    const struct program *p = &g->program;
    if (t->handlers >= NESTED_MAX || t->depth > DEPTH_DEEP + 8)
        return;
    uint64_t pc = exec_advance(g, t);
    const struct function *f = &p->function[FIRST_HANDLER + rng_below(&g->control, HANDLERS)];
    uint32_t size = rng_range(&g->data, 304, 1200);
    push_frame(t, pc, true);
    t->sp = (t->sp - RED_ZONE - size) & ~(uint64_t)15;
    exec_enter(g, t, p->trampoline);
    push_frame(t, p->block[p->trampoline].addr, false);

    struct payload w = payload_begin(g);
    payload_reg(&w, X_RA, p->block[p->trampoline].addr);
    payload_reg(&w, X_SP, t->sp);
    payload_reg(&w, X_A0, 10);
    payload_reg(&w, VS_REG_CAUSE, rng_one_in(&g->data, 4) ? 11 : 10);
    emit_payload(
        t, &w, (struct vs_event){.kind = VS_EXCEPTION, .pc = pc, .addr = p->block[f->block].addr});
    external(g, t, t->sp, size);
    t->sp -= f->frame;
    exec_enter(g, t, f->block);
}

void system_signal_return(struct gen *g, struct thread *t, uint64_t pc)
{
    const struct frame *f = &t->frame[t->depth - 1];
    assert(f->handler);
    exec_unwind(g, t, t->depth - 1);
    struct payload w = payload_begin(g);
    payload_reg(&w, X_RA, rng_next(&g->data) & 0xffff);
    payload_reg(&w, X_SP, exec_sp(g, t));
    payload_reg(&w, X_A0, rng_next(&g->data));
    emit_payload(t, &w, (struct vs_event){.kind = VS_EXCEPTION_RET, .pc = pc, .addr = f->pc});
}

/* ---- gaps ---- */

/* The thread went on unseen: it is where it was, further out, or elsewhere in the function. */
static void wander(struct gen *g, struct thread *t)
{
    const struct function *f = &g->program.function[g->program.block[t->block].function];
    uint32_t n = rng_below(&g->control, 3);
    /* thread 0 must not come by the start of the others again, nor miss it */
    if (f == &g->program.function[g->program.tops[0]])
        return;
    if (n == 1 && t->depth > 0)
        exec_unwind(g, t, rng_below(&g->control, t->depth));
    else if (n == 2 && f->blocks > 1)
        /* not to the first, which moves the stack pointer */
        exec_enter(g, t, f->block + rng_range(&g->control, 1, f->blocks - 1));
}

void system_gap(struct gen *g, struct thread *t)
{
    exec_advance(g, t);
    uint32_t retired = t->icount;
    wander(g, t);
    disturb(g, t);
    uint64_t pc = exec_advance(g, t);
    /* what retired after the gap began is not of the run */
    t->icount = retired;
    struct payload w = payload_begin(g);
    payload_all(&w, t, pc);
    uint64_t unseen = rng_one_in(&g->data, 3) ? 0 : rng_log(&g->data, 20);
    emit_payload(t, &w, (struct vs_event){.kind = VS_GAP, .pc = pc, .addr = unseen});
}

/* ---- threads ---- */

enum { FIRST_TID = 4711 };

static void start(struct gen *g, uint32_t block)
{
    const struct program *p = &g->program;
    uint32_t index = g->started++;
    struct thread *t = &g->threads[index];
    const struct function *f = &p->function[p->block[block].function];
    uint64_t top = STACK_BASE + (index + 1) * (uint64_t)STACK_SIZE - 1024;
    t->index = (uint16_t)index;
    t->alive = true;
    t->node = memory_node(rng_next(&g->data));
    t->quits = UINT64_MAX;
    if (index > 0 && rng_one_in(&g->order, 4))
        t->quits = g->options.events / 2 + rng_below(&g->order, 1000) * (g->options.events / 2000);
    t->sp = top - f->frame;
    t->state = g->states + (size_t)index * p->slots;
    g->alive++;
    exec_enter(g, t, block);
    struct payload w = payload_begin(g);
    uint64_t pc = p->block[block].addr;
    payload_all(&w, t, pc);
    emit_payload(t, &w,
                 (struct vs_event){.kind = VS_THREAD_START, .pc = pc, .addr = FIRST_TID + index});
}

void system_clone(struct gen *g, struct thread *t, const struct site *s)
{
    const struct program *p = &g->program;
    uint64_t tid = FIRST_TID + g->started;
    emit_syscall(g, t, s->pc, SYS_CLONE,
                 (struct vs_syscall_head){.args = {0x3d0f00, t->sp + 8}, .result = tid});
    external(g, t, t->sp + 8, 4);
    uint32_t top = p->tops[1 + g->started % (TOPS - 1)];
    start(g, p->function[top].block);
}

void system_begin(struct gen *g)
{
    const struct program *p = &g->program;
    start(g, g->options.threads > 1 ? p->spawn : p->work);
    struct thread *t = &g->threads[0];
    for (uint32_t i = 0; i < 2; i++)
        emit_map(g, t, g->image[i].start, g->image[i].length, VS_MAP_READ | VS_MAP_EXEC, i);
    g->image_ids = 2;
    emit_map(g, t, DATA_BASE, DATA_SIZE, VS_MAP_READ | VS_MAP_WRITE, 0);
    emit_map(g, t, HEAP_BASE, HEAP_SIZE, VS_MAP_READ | VS_MAP_WRITE, VS_NO_IMAGE);
}

void system_exit(struct gen *g, struct thread *t)
{
    exec_advance(g, t);
    emit(g, t, (struct vs_event){.kind = VS_THREAD_EXIT, .value = rng_below(&g->data, 2)});
    t->alive = false;
    g->alive--;
}
