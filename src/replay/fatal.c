/* SPDX-License-Identifier: MIT */
/* Finds which signal ended the program. A stream says where cores end, but not why; the instruction
 * that a core would have executed next, or its last call, shows it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

static bool is_there(const struct vs_replay *r, uint64_t addr, bool writes);

/* An instruction is tried over a memory in which nothing is there, to see what it accesses. */
struct trial {
    struct vs_cpu_memory memory; /* first */
    struct vs_replay *r;
    struct vs_cpu_code *code;
    struct vs_cpu *cpu;
    uint64_t addr, size;
    bool accesses, writes;
};

static int try_fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                     size_t size)
{
    struct vs_replay *r = ((struct trial *)memory)->r;
    return r->memory.ops->fetch(&r->memory, cpu, addr, bytes, size);
}

static int note(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                bool writes)
{
    struct trial *t = (struct trial *)memory;
    t->addr = cpu->fault = addr;
    t->size = size;
    t->accesses = true;
    t->writes = writes;
    return VS_CPU_FAULT;
}

static int try_read(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                    enum vs_access access, void *bytes)
{
    (void)bytes;
    return note(memory, cpu, addr, size, access == VS_ACCESS_ATOMIC);
}

/* An instruction that repeats itself goes on as long as there is memory. */
static int try_write(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                     enum vs_access access, const void *bytes)
{
    const struct vs_replay *r = ((struct trial *)memory)->r;
    (void)access, (void)bytes;
    if (cpu->iterations && is_there(r, addr, true) && is_there(r, addr + size - 1, true))
        return 0;
    return note(memory, cpu, addr, size, true);
}

static int try_conditional(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                           unsigned size, const void *bytes, int *stored)
{
    (void)bytes, (void)stored;
    return note(memory, cpu, addr, size, true);
}

static int try_outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what,
                       unsigned size, void *bytes)
{
    (void)memory, (void)cpu, (void)what;
    memset(bytes, 0, size);
    return 0;
}

static const struct vs_cpu_memory_ops trial_ops = {.fetch = try_fetch,
                                                   .read = try_read,
                                                   .write = try_write,
                                                   .conditional = try_conditional,
                                                   .outside = try_outside};

static void trial_init(struct trial *t, struct vs_replay *r)
{
    const struct vs_cpu_ops *ops = r->config.cpu;
    *t = (struct trial){.memory = {.ops = &trial_ops}, .r = r, .code = ops->code_new()};
    t->cpu = vs_cpu_new(ops, 1, t->code, &t->memory);
}

static void trial_fini(struct trial *t)
{
    vs_cpu_code_free(t->code);
    free(t->cpu);
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum { RIGHT_READ = 1, RIGHT_WRITE = 2 };

#define LOWEST UINT64_C(0x10000) /* the lowest address that mmap gives */

enum presence {
    ABSENT,
    PRESENT,
    UNCERTAIN,
};

/* Returns what the last call about that address said. */
static enum presence ask_maps(const struct vs_replay *r, uint64_t addr, unsigned right)
{
    for (size_t i = r->map_count; i--;)
        if (addr - r->maps[i].addr < r->maps[i].size)
            return r->maps[i].there && r->maps[i].rights & right ? PRESENT : ABSENT;
    return UNCERTAIN;
}

static bool is_stack(const struct vs_replay *r, uint64_t addr)
{
    uint64_t stack = r->config.stack, size = r->config.stack_size;
    return addr - stack < size && r->cores[0].first_sp - stack < size;
}

static bool is_seen(const struct vs_replay *r, uint64_t addr)
{
    for (unsigned i = 0; i < r->view_count; i++) {
        const struct vs_copy_page *page = vs_copy_look(&r->views[i], addr >> VS_COPY_BITS);
        for (size_t k = 0; page && k < VS_COPY_PAGE / 8; k++)
            if (page->known[k])
                return true;
    }
    return false;
}

/* Returns whether a byte may be accessed. The parts of files may begin and end within pages. */
static bool is_there(const struct vs_replay *r, uint64_t addr, bool writes)
{
    unsigned program = r->outside.present.program_count - 1;
    const struct vs_loaded *l = r->config.loaded;
    uint64_t page = addr & ~(VS_PAGE_SIZE - 1);
    enum presence said = ask_maps(r, addr, writes ? RIGHT_WRITE : RIGHT_READ);
    if (said != UNCERTAIN)
        return said == PRESENT;
    if (is_stack(r, addr))
        return true;
    for (size_t i = 0; l && i < l->count; i++)
        if (vs_present_has(&r->outside.present, program, l->parts[i].image) &&
            page - (l->parts[i].addr & ~(VS_PAGE_SIZE - 1)) <
                l->parts[i].size + (l->parts[i].addr & (VS_PAGE_SIZE - 1)))
            return !writes || l->parts[i].writable;
    /* What calls did while the core was not traced is not known. */
    return is_seen(r, addr) || (r->outside.all && addr >= LOWEST && addr < r->config.isa->user_end);
}

/* ---- cores ----------------------------------------------------------------------------------- */

/* Returns the signal that the core's next instruction causes, or 0. */
static int next_fault(struct trial *t, unsigned core)
{
    vs_cpu_copy(t->cpu, t->r->cores[core].cpu);
    t->cpu->id = core;
    t->accesses = false;
    vs_cpu_flush_all(t->code);
    switch (vs_cpu_run(t->cpu, !t->cpu->iterations)) {
    case VS_STOP_TRAP:
        return SIGTRAP;
    case VS_STOP_ILLEGAL:
        return SIGILL;
    case VS_STOP_ARITHMETIC:
        return SIGFPE;
    case VS_STOP_FETCH_FAULT:
        return SIGSEGV;
    case VS_STOP_LOAD_ALIGN:
    case VS_STOP_STORE_ALIGN:
        return SIGBUS;
    case VS_STOP_LOAD_FAULT:
    case VS_STOP_STORE_FAULT:
        return t->accesses && is_there(t->r, t->addr, t->writes) &&
                       is_there(t->r, t->addr + t->size - 1, t->writes)
                   ? 0
                   : SIGSEGV;
    default:
        return 0;
    }
}

/* Returns the signal that the core's last call causes, if that was the last thing it did; or 0. */
static int call_signal(const struct vs_replay_core *c)
{
    if (c->since || !c->states || c->called)
        return 0;
    switch (c->call.what) {
    case VS_SYS_write:
    case VS_SYS_writev:
    case VS_SYS_pwrite64:
        return (int64_t)c->call.result == -EPIPE ? SIGPIPE : 0;
    default:
        return (int64_t)c->call.result < 0 ? 0 : vs_call_signal(&c->call);
    }
}

static bool ended_itself(const struct vs_replay *r)
{
    bool all = true;
    for (unsigned i = 0; i < r->count; i++) {
        const struct vs_replay_core *c = &r->cores[i];
        if (!c->since && c->states && c->call.what == VS_SYS_exit_group)
            return true;
        all &= c->exited || !c->started;
    }
    return all;
}

int vs_replay_fatal(struct vs_replay *r, unsigned *core)
{
    struct trial t;
    int signal = 0;
    if (ended_itself(r))
        return 0;
    trial_init(&t, r);
    bool made = t.code && t.cpu;
    for (unsigned i = 0; made && i < r->count && !signal; i++)
        if (r->cores[i].started && !r->cores[i].exited && !r->cores[i].called) {
            signal = next_fault(&t, i);
            *core = i;
        }
    for (unsigned i = 0; made && i < r->count && !signal; i++)
        if (r->cores[i].started && !r->cores[i].exited) {
            signal = call_signal(&r->cores[i]);
            *core = i;
        }
    trial_fini(&t);
    return signal;
}
