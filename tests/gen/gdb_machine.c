/* SPDX-License-Identifier: MIT */
#include "gen/gdb_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/diag.h"
#include "isa/isa.h"
#include "vestige/event.h"

/* ---- the run ------------------------------------------------------------------------------- */

static unsigned thread_of(unsigned step)
{
    return step >= FAKE_STARTS && step < FAKE_ENDS ? step % 2 : 0;
}

/* Steps of the thread among the first ones. */
static unsigned done(unsigned thread, unsigned steps)
{
    unsigned n = 0;

    for (unsigned i = 0; i < steps; i++)
        n += thread_of(i) == thread;
    return n;
}

static uint64_t pc_of(unsigned thread, unsigned steps)
{
    return FAKE_CODE + thread * FAKE_CODE_STEP + 4 * done(thread, steps);
}

static uint64_t addr_of(unsigned step)
{
    return FAKE_DATA + 8 * (step % 4);
}

static bool stores(unsigned step)
{
    return step % 3 == 0;
}

static bool loads(unsigned step)
{
    return step % 3 == 1;
}

/* ---- looking ------------------------------------------------------------------------------- */

static unsigned threads(void *machine)
{
    (void)machine;
    return FAKE_THREADS;
}

static bool is_alive(void *machine, unsigned thread)
{
    const struct fake_machine *f = machine;

    return thread == 0 || (thread == 1 && f->at >= FAKE_STARTS && f->at < FAKE_ENDS);
}

static unsigned current(void *machine)
{
    return ((const struct fake_machine *)machine)->current;
}

static int get_register(void *machine, unsigned thread, unsigned number,
                        uint8_t bytes[VS_REGISTER_BYTES])
{
    const struct fake_machine *f = machine;
    uint64_t value;

    if (thread > 1 || (thread == 1 && f->at < FAKE_STARTS))
        return -VSE_NOTFOUND;
    if (number == VS_REG_PC)
        value = pc_of(thread, f->at);
    else if (number == 10)
        value = done(thread, f->at);
    else if (number < 32)
        value = number ? UINT64_C(0x1111111111111111) * (number % 16) : 0;
    else if (number < 64)
        value = 0x4000000000000000 + (number - 32); /* 2 and a bit */
    else
        value = 0x61 + thread;
    vs_put64(bytes, value);
    return 8;
}

static void describe(void *machine, unsigned thread, struct vs_gdb_thread *t)
{
    const struct fake_machine *f = machine;

    snprintf(t->name, sizeof(t->name), "core %u", thread);
    t->id = f->at < FAKE_STARTS ? 0 : 1000 + thread;
}

static void process(void *machine, struct vs_gdb_process *p)
{
    static const struct vs_gdb_library library = {"/lib/a & b.so", 0x7000, 0x7e00};
    const struct fake_machine *f = machine;
    bool replaced = f->other && f->at >= FAKE_REPLACED;

    *p = (struct vs_gdb_process){.program = replaced ? f->other : f->program,
                                 .dynamic = 0x10e00,
                                 .entry = FAKE_CODE,
                                 .headers = 0x10040,
                                 .header_count = 3,
                                 .libraries = &library,
                                 .library_count = f->at >= FAKE_LOADED && !replaced};
    if (!f->program)
        *p = (struct vs_gdb_process){0};
}

static int thread_local(void *machine, unsigned thread, uint64_t dynamic, uint64_t *addr)
{
    (void)machine;
    *addr = FAKE_DATA + 8 * thread;
    return dynamic == 0x7e00 ? 0 : -VSE_NOTFOUND;
}

static bool byte_at(const struct fake_machine *f, uint64_t addr, uint8_t *byte)
{
    uint8_t word[8] = {0x13}; /* nop */

    if (addr >= FAKE_CODE && addr < FAKE_CODE + 2 * FAKE_CODE_STEP) {
        *byte = word[addr % 4];
        return true;
    }
    if (addr < FAKE_DATA || addr >= FAKE_DATA + FAKE_DATA_SIZE)
        return false;
    for (unsigned i = f->at; i-- > 0;) {
        if (stores(i) && addr - addr_of(i) < 8) {
            vs_put64(word, i);
            *byte = word[addr % 8];
            return true;
        }
    }
    return false;
}

static size_t read_bytes(void *machine, unsigned thread, uint64_t addr, uint8_t *bytes, size_t size)
{
    size_t n = 0;

    (void)thread;
    while (n < size && byte_at(machine, addr + n, &bytes[n]))
        n++;
    return n;
}

/* ---- points -------------------------------------------------------------------------------- */

static int insert(void *machine, enum vs_gdb_point point, uint64_t addr, uint64_t size)
{
    struct fake_machine *f = machine;

    for (unsigned i = 0; i < FAKE_POINTS; i++) {
        if (f->points[i].set)
            continue;
        f->points[i].set = true;
        f->points[i].kind = point;
        f->points[i].addr = addr;
        f->points[i].size = size;
        return 0;
    }
    return -VSE_LIMIT;
}

static int remove_point(void *machine, enum vs_gdb_point point, uint64_t addr, uint64_t size)
{
    struct fake_machine *f = machine;

    for (unsigned i = 0; i < FAKE_POINTS; i++) {
        if (f->points[i].set && f->points[i].kind == point && f->points[i].addr == addr &&
            f->points[i].size == size) {
            f->points[i].set = false;
            return 0;
        }
    }
    return -VSE_NOTFOUND;
}

static void pass(void *machine, uint64_t signals)
{
    ((struct fake_machine *)machine)->passed = signals;
}

static void detach(void *machine)
{
    struct fake_machine *f = machine;

    f->detached++;
    for (unsigned i = 0; i < FAKE_POINTS; i++)
        f->points[i].set = false;
}

static bool is_watched(enum vs_gdb_point kind, unsigned step)
{
    return (kind == VS_GDB_POINT_WRITE && stores(step)) ||
           (kind == VS_GDB_POINT_READ && loads(step)) ||
           (kind == VS_GDB_POINT_ACCESS && (stores(step) || loads(step)));
}

/* What the step just done or undone came to. */
static bool hits(const struct fake_machine *f, unsigned step, struct vs_gdb_stop *stop)
{
    uint64_t pc = pc_of(thread_of(step), f->at), addr = addr_of(step);

    for (unsigned i = 0; i < FAKE_POINTS; i++) {
        bool is_break = f->points[i].kind <= VS_GDB_POINT_HARD_BREAK;

        if (!f->points[i].set)
            continue;
        if (is_break ? f->points[i].addr != pc
                     : !is_watched(f->points[i].kind, step) || addr + 8 <= f->points[i].addr ||
                           addr >= f->points[i].addr + f->points[i].size)
            continue;
        stop->kind = is_break ? VS_GDB_BREAK : VS_GDB_WATCH;
        stop->point = f->points[i].kind;
        stop->addr = f->points[i].addr;
        return true;
    }
    return false;
}

/* ---- moving -------------------------------------------------------------------------------- */

static bool is_over(const struct fake_machine *f, const struct vs_gdb_resume *how,
                    struct vs_gdb_stop *stop)
{
    if (how->backwards ? f->at > 0 : f->at < FAKE_STEPS)
        return false;
    stop->kind = how->backwards ? VS_GDB_BEGINNING : VS_GDB_END;
    return true;
}

static bool is_asked(struct fake_machine *f, const struct vs_gdb_resume *how,
                     struct vs_gdb_stop *stop)
{
    do {
        f->polled++;
        if (how->poll && how->poll(how->context)) {
            stop->kind = VS_GDB_INTERRUPTED;
            return true;
        }
    } while (f->polled < f->endless);
    return false;
}

static bool move(struct fake_machine *f, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop)
{
    unsigned step = how->backwards ? --f->at : f->at++;

    stop->thread = thread_of(step);
    if (hits(f, step, stop))
        return true;
    if (!how->backwards && f->at == FAKE_SIGNALLED) {
        *stop = (struct vs_gdb_stop){.kind = VS_GDB_SIGNAL, .signal = FAKE_SIGNAL};
        return true;
    }
    if (f->other && f->at + how->backwards == FAKE_REPLACED) {
        stop->kind = VS_GDB_EXEC;
        return true;
    }
    stop->kind = VS_GDB_STEPPED;
    return how->step && stop->thread == how->thread;
}

static int resume(void *machine, const struct vs_gdb_resume *how, struct vs_gdb_stop *stop,
                  struct vs_diag *diag)
{
    struct fake_machine *f = machine;

    if (how->step && how->thread >= FAKE_THREADS)
        abort();
    stop->thread = f->current;
    do {
        if (is_over(f, how, stop) || is_asked(f, how, stop))
            break;
        if (f->broken && !how->backwards && f->at >= f->broken)
            return vs_diag_set(diag, -VSE_CORRUPT, 1234, -1, "message 7 names no branch");
    } while (!move(f, how, stop));
    f->current = stop->thread;
    return 0;
}

/* ---- commands ------------------------------------------------------------------------------ */

static int monitor(void *machine, const char *command, void (*say)(void *context, const char *text),
                   void *context, bool *moved, struct vs_diag *diag)
{
    struct fake_machine *f = machine;
    char text[64];

    if (!strcmp(command, "where")) {
        snprintf(text, sizeof(text), "step %u ", f->at);
        say(context, text);
        say(context, "of the run\n");
    } else if (!strncmp(command, "goto ", 5)) {
        f->at = (unsigned)strtoul(command + 5, NULL, 10) % (FAKE_STEPS + 1);
        f->current = 0;
        *moved = true;
    } else if (!strcmp(command, "much")) {
        char lines[40001];

        memset(lines, 'x', sizeof(lines) - 1);
        lines[sizeof(lines) - 1] = 0;
        say(context, lines);
    } else if (!strcmp(command, "fail")) {
        return vs_diag_set(diag, -VSE_CORRUPT, -1, -1, "it failed: $#}*");
    } else {
        return -VSE_NOTFOUND;
    }
    return 0;
}

static void forget(void *machine, bool all)
{
    struct fake_machine *f = machine;

    f->forgot[all]++;
}

struct vs_gdb_machine fake_machine(struct fake_machine *f)
{
    static const struct vs_gdb_machine_ops ops = {
        .threads = threads,
        .is_alive = is_alive,
        .current = current,
        .get_register = get_register,
        .describe = describe,
        .process = process,
        .thread_local = thread_local,
        .read = read_bytes,
        .insert = insert,
        .remove = remove_point,
        .forget = forget,
        .resume = resume,
        .monitor = monitor,
        .pass = pass,
        .detach = detach,
    };

    *f = (struct fake_machine){.program = "/bin/fake"};
    return (struct vs_gdb_machine){
        .ops = &ops, .machine = f, .registers = vs_isa_find("rv64")->registers};
}
