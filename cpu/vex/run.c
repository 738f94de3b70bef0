/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A run stops after so many instructions exactly, unless it may pause. VEX's event counter is set
 * so that it is used up before a block could go too far; what remains is done by blocks that are
 * short enough, and at last by single instructions. */
#include <string.h>

#include <config.h>
#include <libvex.h>
#include <libvex_trc_values.h>

#include "base/likely.h"
#include "cache.h"
#include "core.h"
#include "enter.h"
#include "isa/cpu_load.h"
#include "translate.h"
#include "vestige/error.h"

#define COUNTER_MAX (1 << 30)

enum { GO_ON = -10000 }; /* neither a stop nor an error */

static struct cache *cache_of(struct core *c)
{
    return (struct cache *)c->cpu.code;
}

/* Looks whether a block's code is what it was. */
static bool is_same(struct core *c, struct block *block)
{
    struct vs_cpu_memory *memory = c->cpu.memory;
    uint8_t bytes[BLOCK_BYTES];
    uint64_t fault = c->cpu.fault;
    int n = memory->ops->fetch(memory, &c->cpu, c->cpu.pc, bytes, block->length);
    c->cpu.fault = fault;
    if (n != (int)block->length)
        memset(bytes, 0, sizeof(bytes));
    return cache_believe(cache_of(c), block, bytes);
}

/* Finds the block at pc, and translates it if it is new. What was found before may be gone then.
 * Returns 0; as translate. */
static int find(struct core *c, bool single, struct block **block)
{
    struct cache *cache = cache_of(c);
    *block = cache_find(cache, c->cpu.pc, single);
    if (likely(*block) && (likely(!cache_doubts(cache, *block)) || is_same(c, *block)))
        return 0;
    cache_relieve(cache);
    return translate(c, cache, single, block);
}

/* ---- entering -------------------------------------------------------------------------------- */

/* Sets the event counter, and lets `retired` follow from it. */
static void set_counter(struct core *c, int32_t counter)
{
    c->frame.guest.host_EvC_COUNTER = (UInt)counter;
    c->counted = c->cpu.retired + (uint64_t)(int64_t)counter;
}

/* Makes retired and pc what they are after translated code was left between instructions. */
static void settle(struct core *c)
{
    c->cpu.retired = c->counted - (uint64_t)(int64_t)(int32_t)c->frame.guest.host_EvC_COUNTER;
    c->cpu.pc = c->frame.guest.guest_RIP;
}

/* Runs from the block on. Returns enum left. */
static int enter(struct core *c, const struct block *b, int32_t counter, uint64_t *site)
{
    c->frame.guest.guest_RIP = c->cpu.pc;
    c->frame.guest.host_EvC_FAILADDR = (uintptr_t)enter_counter;
    c->frame.lane.targets = (uintptr_t)cache_of(c)->targets;
    set_counter(c, counter);
    int left = enter_code(&c->frame, b->code, site);
    if (left == LEFT_COUNTER)
        c->frame.guest.host_EvC_COUNTER++; /* the block did not begin */
    if (left != LEFT_ESCAPE)
        settle(c);
    return left;
}

/* What an exit with a reason means. */
static int stop_of(uint64_t reason)
{
    switch (reason) {
    case VEX_TRC_JMP_SYS_SYSCALL:
    case VEX_TRC_JMP_SYS_INT32:
    case VEX_TRC_JMP_SYS_INT128:
    case VEX_TRC_JMP_SYS_INT129:
    case VEX_TRC_JMP_SYS_INT130:
    case VEX_TRC_JMP_SYS_INT145:
    case VEX_TRC_JMP_SYS_INT210:
    case VEX_TRC_JMP_SYS_SYSENTER:
        return VS_STOP_CALL;
    case VEX_TRC_JMP_SIGSEGV:
    case VEX_TRC_JMP_SIGBUS:
    case VEX_TRC_JMP_MAPFAIL:
        return VS_STOP_LOAD_FAULT;
    case VEX_TRC_JMP_SIGFPE:
    case VEX_TRC_JMP_SIGFPE_INTDIV:
    case VEX_TRC_JMP_SIGFPE_INTOVF:
        return VS_STOP_ARITHMETIC;
    case VEX_TRC_JMP_SIGILL:
    case VEX_TRC_JMP_NODECODE:
    case VEX_TRC_JMP_EMFAIL:
        return VS_STOP_ILLEGAL;
    default:
        return GO_ON; /* int3, too, retires: the signal comes after it */
    }
}

/* A stop whose address at fault nobody told. */
static int fill_fault(struct core *c, uint64_t reason)
{
    int stop = stop_of(reason);
    if (stop == VS_STOP_ILLEGAL || stop == VS_STOP_LOAD_FAULT)
        c->cpu.fault = 0;
    return stop;
}

/* Links a branch that was just taken to its target, which pc is. */
static void link_branch(struct core *c, void *site, bool fast)
{
    struct cache *cache = cache_of(c);
    uint64_t flushes = cache->head.flushes;
    struct block *to;
    if (find(c, false, &to))
        return; /* if it cannot be executed, its turn will tell */
    if (!to->stops && !to->repeats && cache->head.flushes == flushes)
        cache_link(cache, site, fast ? enter_chain_fast : enter_chain_slow, to);
}

static void aim_branch(struct core *c)
{
    struct block *to;
    if (!find(c, false, &to) && !to->stops && !to->repeats)
        cache_aim(cache_of(c), to);
}

/* Translated code was left; `single` if what ran was made to be executed by itself. */
static int after(struct core *c, bool single, int left, uint64_t site)
{
    switch (left) {
    case LEFT_CHAIN_SLOW:
    case LEFT_CHAIN_FAST:
        if (!single)
            link_branch(c, (void *)(uintptr_t)site, left == LEFT_CHAIN_FAST);
        return GO_ON;
    case LEFT_INDIRECT:
        if (!single)
            aim_branch(c);
        return GO_ON;
    case LEFT_ASSISTED:
        return fill_fault(c, site);
    case LEFT_ESCAPE:
        return c->stop;
    default:
        return GO_ON;
    }
}

/* ---- instructions that repeat themselves ----------------------------------------------------- */

/* Does an iteration of the instruction at pc; cpu.retired counts the first. */
static int iterate(struct core *c, const struct block *b)
{
    uint64_t pc = c->cpu.pc, site;
    int left = enter(c, b, 1, &site);
    if (left == LEFT_ESCAPE)
        return c->stop;
    int stop = left == LEFT_ASSISTED ? fill_fault(c, site) : GO_ON;
    if (stop != GO_ON)
        return stop;
    c->cpu.retired += !c->cpu.iterations;
    c->cpu.iterations = c->cpu.pc == pc ? c->cpu.iterations + 1 : 0;
    return GO_ON;
}

/* Completes an instruction that goes on, or comes to where it has to stop. */
static int complete(struct core *c)
{
    const struct cache *cache = cache_of(c);
    uint64_t flushes = 0;
    struct block *b = NULL; /* as long as there are iterations, pc stays where it is */
    while (c->cpu.iterations) {
        if (c->cpu.iterations == c->cpu.iterate_until)
            return VS_STOP_LIMIT;
        int stop = b && cache->head.flushes == flushes ? 0 : find(c, false, &b);
        if (stop)
            return stop;
        flushes = cache->head.flushes;
        if (!b->repeats) {
            c->cpu.iterations = 0; /* the code is not what it was */
            return GO_ON;
        }
        if ((stop = iterate(c, b)) != GO_ON)
            return stop;
    }
    return GO_ON;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Executes one or more of at most `most` instructions, and about `pause` of them. Returns GO_ON, a
 * stop, or an error. */
static int advance(struct core *c, uint64_t most, uint64_t pause)
{
    struct block *b;
    uint64_t site;
    bool passing = c->cpu.passing == c->cpu.pc;
    int stop = find(c, passing, &b);
    if (!stop && !passing && b->stops)
        return VS_STOP_BREAK;
    if (!stop && b->insns > most)
        stop = find(c, true, &b);
    if (stop)
        return stop;
    if (b->repeats)
        return iterate(c, b);
    /* A block begins only if the counter is above 0: the whole of the largest fits then. */
    int32_t counter = most < BLOCK_INSNS                 ? 1
                      : most - BLOCK_INSNS < COUNTER_MAX ? (int32_t)(most - BLOCK_INSNS + 1)
                                                         : COUNTER_MAX;
    if (pause < (uint64_t)counter)
        counter = (int32_t)pause;
    bool single = b->single;
    int left = enter(c, b, single ? 1 : counter, &site);
    return after(c, single, left, site);
}

static int run_entered(struct core *c, uint64_t most)
{
    uint64_t goal = most < UINT64_MAX - c->cpu.retired ? c->cpu.retired + most : UINT64_MAX;
    uint64_t pause = c->cpu.pause_after ? c->cpu.retired + c->cpu.pause_after : UINT64_MAX;
    for (;;) {
        uint64_t pc = c->cpu.pc, retired = c->cpu.retired;
        int stop = complete(c);
        if (stop != GO_ON)
            return stop;
        if (c->cpu.retired >= goal)
            return VS_STOP_LIMIT;
        stop = advance(c, goal - c->cpu.retired, pause - c->cpu.retired);
        if (c->code_changed) {
            c->code_changed = false;
            cache_flush(cache_of(c), 0, UINT64_MAX);
        }
        if (c->cpu.passing == pc && c->cpu.retired != retired)
            c->cpu.passing = VS_PASSING_NONE;
        if (stop != GO_ON)
            return stop;
        if (c->cpu.retired >= goal || c->cpu.retired >= pause)
            return VS_STOP_LIMIT; /* an instruction that repeats itself is left after its first */
    }
}

static int run(struct vs_cpu *cpu, uint64_t most)
{
    struct core *c = (struct core *)cpu;
    struct enter_words host;
    enter_begin(&host);
    int stop = run_entered(c, most);
    enter_end(&host);
    return stop;
}

/* ---- the CPU --------------------------------------------------------------------------------- */

static struct vs_cpu_code *code_new(void)
{
    struct cache *cache = cache_new(&vex_cpu);
    return cache ? &cache->head : NULL;
}

static void code_free(struct vs_cpu_code *code)
{
    cache_free((struct cache *)code);
}

static void flush(struct vs_cpu_code *code, uint64_t addr, uint64_t size)
{
    cache_flush((struct cache *)code, addr, size);
}

const struct vs_cpu_ops vex_cpu = {
    .size = sizeof(struct core),
    .saved = sizeof(struct core_copy),
    .code_new = code_new,
    .code_free = code_free,
    .flush = flush,
    .init = core_init,
    .run = run,
    .get = core_get,
    .set = core_set,
    .save = core_save,
    .restore = core_restore,
};

__attribute__((visibility("default"))) const struct vs_cpu_object VS_CPU_OBJECT = {
    .version = VS_CPU_OBJECT_VERSION,
    .cpu = sizeof(struct vs_cpu),
    .code = sizeof(struct vs_cpu_code),
    .memory = sizeof(struct vs_cpu_memory_ops),
    .made_from = "LibVEX of Valgrind " VERSION,
    .ops = &vex_cpu,
};
