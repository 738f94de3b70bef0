/* SPDX-License-Identifier: MIT */
/* A CPU of a few instructions that no part of src knows: 8 registers of 8 bytes, one of 32, and
 * instructions of 4 bytes: the operation, and registers or small numbers. */
#ifndef TOY_CPU_H
#define TOY_CPU_H

#include <stdlib.h>
#include <string.h>

#include "isa/cpu.h"

enum { REGS = 8, V = 40, WIDE = 32 }; /* V: the number of the wide register */

/* COPY and FILL repeat themselves, as often as their third register says: they copy 8 bytes from
 * the place that the second one has to that of the first, or fill them with the second one. */
enum { ADD, ADDI, LOAD, STORE, VLOAD, VSTORE, SWAP, OUTSIDE, BRANCH, CALL, DIVIDE, COPY, FILL };

struct toy {
    struct vs_cpu cpu;
    uint64_t r[REGS];
    uint8_t v[WIDE];
};

static void toy_init(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
                     struct vs_cpu_memory *memory);
static int toy_run(struct vs_cpu *cpu, uint64_t most);

static struct vs_cpu_code *toy_code_new(void);

static void toy_code_free(struct vs_cpu_code *code)
{
    free(code);
}

static void toy_flush(struct vs_cpu_code *code, uint64_t addr, uint64_t size)
{
    (void)addr, (void)size;
    code->flushes++;
}

static void *register_of(const struct vs_cpu *cpu, unsigned number)
{
    struct toy *t = (struct toy *)(uintptr_t)cpu;
    return number < REGS ? (void *)&t->r[number] : number == V ? t->v : (void *)&t->cpu.pc;
}

static int toy_get(const struct vs_cpu *cpu, unsigned number, void *bytes)
{
    int size = number == V ? WIDE : 8;
    memcpy(bytes, register_of(cpu, number), (size_t)size);
    return size;
}

static int toy_set(struct vs_cpu *cpu, unsigned number, const void *bytes, size_t size)
{
    memcpy(register_of(cpu, number), bytes, size);
    return 0;
}

static void toy_save(const struct vs_cpu *cpu, void *copy)
{
    memcpy(copy, cpu, sizeof(struct toy));
}

static void toy_restore(struct vs_cpu *cpu, const void *copy)
{
    const struct toy *from = copy;
    struct vs_cpu head = *cpu;
    head.pc = from->cpu.pc;
    head.retired = from->cpu.retired;
    head.iterations = from->cpu.iterations;
    head.passing = VS_PASSING_NONE;
    *(struct toy *)cpu = *from;
    *cpu = head;
}

static const struct vs_cpu_ops toy_ops = {.size = sizeof(struct toy),
                                          .saved = sizeof(struct toy),
                                          .code_new = toy_code_new,
                                          .code_free = toy_code_free,
                                          .flush = toy_flush,
                                          .init = toy_init,
                                          .run = toy_run,
                                          .get = toy_get,
                                          .set = toy_set,
                                          .save = toy_save,
                                          .restore = toy_restore};

static struct vs_cpu_code *toy_code_new(void)
{
    struct vs_cpu_code *code = calloc(1, sizeof(*code));
    if (code)
        code->ops = &toy_ops;
    return code;
}

static void toy_init(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
                     struct vs_cpu_memory *memory)
{
    *(struct toy *)cpu = (struct toy){
        .cpu = {
            .ops = &toy_ops, .memory = memory, .code = code, .passing = VS_PASSING_NONE, .id = id}};
}

/* Both places are read before one is written: an instruction of four accesses. */
static int swap(struct vs_cpu *cpu, uint64_t a, uint64_t b)
{
    struct vs_cpu_memory *m = cpu->memory;
    uint64_t x, y;
    int err = m->ops->read(m, cpu, a, 8, VS_ACCESS_PART, &x);
    if (!err)
        err = m->ops->read(m, cpu, b, 8, VS_ACCESS_PART, &y);
    if (!err)
        err = m->ops->write(m, cpu, a, 8, VS_ACCESS_PART, &y);
    return err ? err : m->ops->write(m, cpu, b, 8, VS_ACCESS_PLAIN, &x);
}

/* Does an iteration of COPY or FILL. Returns as execute. */
static int iterate(struct toy *t, const uint8_t *insn)
{
    struct vs_cpu_memory *m = t->cpu.memory;
    uint64_t *to = &t->r[insn[1] % REGS], *from = &t->r[insn[2] % REGS];
    uint64_t *left = &t->r[insn[3] % REGS], value = *from;
    int err = 0;
    if (*left && insn[0] == COPY)
        err = m->ops->read(m, &t->cpu, *from, 8, VS_ACCESS_PART, &value);
    if (*left && !err)
        err = m->ops->write(m, &t->cpu, *to, 8, VS_ACCESS_PLAIN, &value);
    if (err)
        return err == VS_CPU_FAULT ? VS_STOP_LOAD_FAULT : err;
    if (*left) {
        *to += 8;
        *from += insn[0] == COPY ? 8 : 0;
        --*left;
    }
    t->cpu.retired += !t->cpu.iterations;
    t->cpu.iterations = *left ? t->cpu.iterations + 1 : 0;
    t->cpu.pc += *left ? 0 : 4;
    return 0;
}

/* Returns 0 to go on; a VS_STOP_x; an error of the memory. */
static int execute(struct toy *t, const uint8_t *insn)
{
    struct vs_cpu_memory *m = t->cpu.memory;
    uint64_t *a = &t->r[insn[1] % REGS], addr = t->r[insn[2] % REGS] + 8u * insn[3];
    uint64_t next = t->cpu.pc + 4, got = 0;
    int err = 0;
    switch (insn[0]) {
    case COPY:
    case FILL:
        return iterate(t, insn);
    case ADD:
        got = t->r[insn[2] % REGS] + t->r[insn[3] % REGS];
        break;
    case ADDI:
        got = *a + (uint64_t)(int8_t)insn[2];
        break;
    case LOAD:
        err = m->ops->read(m, &t->cpu, addr, 8, VS_ACCESS_PLAIN, &got);
        break;
    case STORE:
        err = m->ops->write(m, &t->cpu, addr, 8, VS_ACCESS_PLAIN, a);
        break;
    case VLOAD:
        err = m->ops->read(m, &t->cpu, addr, WIDE, VS_ACCESS_PLAIN, t->v);
        break;
    case VSTORE:
        err = m->ops->write(m, &t->cpu, addr, WIDE, VS_ACCESS_PLAIN, t->v);
        break;
    case SWAP:
        err = swap(&t->cpu, *a, addr);
        break;
    case OUTSIDE:
        err = m->ops->outside(m, &t->cpu, VS_COUNTER_OTHER, 8, &got);
        break;
    case BRANCH:
        next = *a ? t->cpu.pc + 4 * (uint64_t)(int8_t)insn[2] : next;
        break;
    case CALL:
        break;
    default:
        return t->r[insn[2] % REGS] ? VS_STOP_ILLEGAL : VS_STOP_ARITHMETIC;
    }
    if (err)
        return err == VS_CPU_FAULT ? VS_STOP_LOAD_FAULT : err;
    if (insn[0] == ADD || insn[0] == ADDI || insn[0] == LOAD || insn[0] == OUTSIDE)
        *a = got;
    t->cpu.pc = next;
    t->cpu.retired++;
    return insn[0] == CALL ? VS_STOP_CALL : 0;
}

static bool is_break(const struct vs_cpu *cpu)
{
    for (size_t i = 0; i < cpu->code->break_count; i++)
        if (cpu->code->breaks[i] == cpu->pc && cpu->passing != cpu->pc)
            return true;
    return false;
}

static int toy_run(struct vs_cpu *cpu, uint64_t most)
{
    uint8_t insn[4];
    while (most || cpu->iterations) {
        uint64_t before = cpu->retired;
        if (!cpu->iterations && is_break(cpu))
            return VS_STOP_BREAK;
        cpu->passing = VS_PASSING_NONE;
        int err = cpu->memory->ops->fetch(cpu->memory, cpu, cpu->pc, insn, sizeof(insn));
        if (err >= 0 && err < (int)sizeof(insn))
            return VS_STOP_FETCH_FAULT;
        if (err > 0)
            err = execute((struct toy *)cpu, insn);
        if (err)
            return err;
        most -= cpu->retired - before;
        if (cpu->iterations &&
            (cpu->iterations == cpu->iterate_until || (!most && cpu->retired != before)))
            break;
    }
    return VS_STOP_LIMIT;
}

#endif
