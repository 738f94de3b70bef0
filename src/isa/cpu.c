/* SPDX-License-Identifier: MIT */
#include "isa/cpu.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "vestige/error.h"
#include "vestige/event.h"

/* Cores begin at cache lines, and may hold vectors that need to be aligned. */
#define ALIGNMENT 64

static size_t stride_of(const struct vs_cpu_ops *ops)
{
    return (ops->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

struct vs_cpu *vs_cpu_at(struct vs_cpu *cpus, unsigned i)
{
    return (struct vs_cpu *)((uint8_t *)cpus + i * stride_of(cpus->ops));
}

struct vs_cpu *vs_cpu_new(const struct vs_cpu_ops *ops, unsigned count, struct vs_cpu_code *code,
                          struct vs_cpu_memory *memory)
{
    size_t stride = stride_of(ops);
    uint8_t *cpus = aligned_alloc(ALIGNMENT, (count ? count : 1) * stride);
    for (unsigned i = 0; cpus && i < count; i++)
        ops->init((struct vs_cpu *)(cpus + i * stride), i, code, memory);
    return (struct vs_cpu *)cpus;
}

void vs_cpu_code_free(struct vs_cpu_code *code)
{
    if (!code)
        return;
    vs_buf_fini(&code->breaks_before);
    code->ops->code_free(code);
}

/* Forgets the code at addresses that only one of two ascending lists has. */
static void flush_differences(struct vs_cpu_code *code, const uint64_t *a, size_t a_count,
                              const uint64_t *b, size_t b_count)
{
    size_t i = 0, j = 0;
    while (i < a_count || j < b_count) {
        uint64_t x = i < a_count ? a[i] : UINT64_MAX, y = j < b_count ? b[j] : UINT64_MAX;
        if (x != y)
            vs_cpu_flush(code, x < y ? x : y, 1);
        i += x <= y;
        j += y <= x;
    }
}

void vs_cpu_break(struct vs_cpu_code *code, const uint64_t *addrs, size_t count)
{
    struct vs_buf *before = &code->breaks_before;
    for (size_t i = 1; i < count; i++)
        invariant(addrs[i - 1] <= addrs[i]);
    if (before->len == code->break_count * sizeof(*addrs))
        flush_differences(code, (const uint64_t *)(const void *)before->data, code->break_count,
                          addrs, count);
    else
        vs_cpu_flush_all(code); /* there was no memory to note them */
    before->len = 0;
    if (count)
        vs_buf_put(before, addrs, count * sizeof(*addrs));
    code->breaks = addrs;
    code->break_count = count;
}

void vs_cpu_copy(struct vs_cpu *to, const struct vs_cpu *from)
{
    _Alignas(ALIGNMENT) uint8_t copy[VS_CPU_SAVED_MAX];
    invariant(to->ops == from->ops && from->ops->saved <= sizeof(copy));
    from->ops->save(from, copy);
    to->ops->restore(to, copy);
}

void vs_cpu_clear(struct vs_cpu *cpu)
{
    uint64_t retired = cpu->retired;
    cpu->ops->init(cpu, cpu->id, cpu->code, cpu->memory);
    cpu->retired = retired;
}

uint64_t vs_cpu_get(const struct vs_cpu *cpu, unsigned number)
{
    union {
        uint64_t value;
        uint8_t bytes[VS_REGISTER_BYTES];
    } got = {0};
    int size = cpu->ops->get(cpu, number, got.bytes);
    return size > 0 && size <= 8 ? got.value : 0;
}

void vs_cpu_put(struct vs_cpu *cpu, unsigned number, uint64_t value)
{
    int err = cpu->ops->set(cpu, number, &value, sizeof(value));
    invariant(!err);
}

int vs_cpu_set_registers(struct vs_cpu *cpu, const uint8_t *bytes, size_t size)
{
    uint64_t iterations = 0;
    bool goes = false, excepts = false;
    unsigned number, width;
    const uint8_t *value;
    int n, err = 0;
    while (!err && (n = vs_regs_next(&bytes, &size, &number, &width, &value)) != 0) {
        if (n < 0)
            return -VSE_CORRUPT;
        if (number == VS_REG_CAUSE)
            excepts = true;
        else if (number == VS_REG_ITERATIONS)
            memcpy(&iterations, value, width < sizeof(iterations) ? width : sizeof(iterations));
        else
            err = cpu->ops->set(cpu, number, value, width);
        goes |= number == VS_REG_PC;
    }
    if (goes)
        cpu->iterations = excepts ? 0 : iterations;
    return err;
}
