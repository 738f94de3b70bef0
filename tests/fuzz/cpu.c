/* SPDX-License-Identifier: MIT */
/* Any bytes as native code, over memory that is never the same and sometimes refuses: 8 bytes that
 * decide what memory holds, then the code. It must do the same however often it is stopped on the
 * way, and never anything to us. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/random.h"
#include "isa/cpu_load.h"
#include "isa/x86_64/x86.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE UINT64_C(0x7000)

enum { INSNS = 300, WRITTEN = 64, REFUSED = -4242 };

static const struct vs_cpu_ops *ops;

static void must(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[PATH_MAX + sizeof("/lib/vestige")] = "", *slash;
    struct vs_diag diag = {0};
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    (void)argc, (void)argv;
    must(n > 0);
    for (int up = 0; up < 3 && (slash = strrchr(path, '/')); up++)
        *slash = 0;
    strcat(path, "/lib/vestige");
    if (vs_cpu_load(vs_isa_find("x86-64"), path, &ops, NULL, &diag)) {
        fprintf(stderr, "%s\n", diag.text);
        exit(2);
    }
    return 0;
}

static uint64_t mix(uint64_t x)
{
    return vs_random(&x);
}

/* ---- a memory -------------------------------------------------------------------------------- */

struct memory {
    struct vs_cpu_memory seen; /* first */
    const uint8_t *code;
    size_t size;
    uint64_t seed;
    uint64_t asked, refuse; /* accesses, and one in how many is refused; 0: none */
};

static int fetch(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                 size_t size)
{
    const struct memory *m = (const struct memory *)memory;
    if (addr - CODE >= m->size) {
        cpu->fault = addr;
        return 0;
    }
    size_t left = m->size - (size_t)(addr - CODE), n = left < size ? left : size;
    memcpy(bytes, m->code + (addr - CODE), n);
    return (int)n;
}

/* What is there depends on where, and on how far the core is: a program reads anything. */
static int read_bytes(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                      unsigned size, enum vs_access access, void *bytes)
{
    struct memory *m = (struct memory *)memory;
    uint8_t *to = bytes;
    (void)access;
    must(size > 0 && size <= VS_CPU_ACCESS_MAX);
    if (m->refuse && ++m->asked % m->refuse == 0)
        return REFUSED;
    uint64_t h = mix(m->seed ^ addr ^ cpu->retired << 40 ^ cpu->iterations << 20);
    if (h % 61 == 0) {
        cpu->fault = addr;
        return VS_CPU_FAULT;
    }
    for (unsigned i = 0; i < size; i++)
        to[i] = (uint8_t)(mix(h + i / 8) >> (i % 8 * 8));
    return 0;
}

static int write_bytes(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, enum vs_access access, const void *bytes)
{
    struct memory *m = (struct memory *)memory;
    (void)access, (void)bytes;
    must(size > 0 && size <= VS_CPU_ACCESS_MAX);
    if (m->refuse && ++m->asked % m->refuse == 0)
        return REFUSED;
    if (mix(m->seed + addr) % 67 == 0) {
        cpu->fault = addr;
        return VS_CPU_FAULT;
    }
    return 0;
}

static int outside(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what, unsigned size,
                   void *bytes)
{
    const struct memory *m = (const struct memory *)memory;
    (void)what;
    must(size > 0 && size <= WRITTEN);
    memset(bytes, (int)mix(m->seed - cpu->retired), size);
    return 0;
}

static const struct vs_cpu_memory_ops memory_ops = {
    .fetch = fetch, .read = read_bytes, .write = write_bytes, .outside = outside};

/* ---- a core ---------------------------------------------------------------------------------- */

static uint64_t look(const struct vs_cpu *cpu)
{
    uint64_t sum = mix(cpu->pc) ^ cpu->retired;
    uint8_t bytes[VS_REGISTER_BYTES];
    for (unsigned i = 0; i <= VS_X86_REG_FSW; i++) {
        int n = cpu->ops->get(cpu, i, bytes);
        for (int k = 0; k < n; k++)
            sum = mix(sum + bytes[k]);
    }
    return sum;
}

/* Runs in slices. Returns the last stop. */
static int run(struct vs_cpu *cpu, unsigned slice)
{
    int stop = VS_STOP_LIMIT;
    unsigned refused = 0;
    while (stop == VS_STOP_LIMIT && cpu->retired < INSNS) {
        uint64_t before = cpu->retired, left = INSNS - before;
        stop = vs_cpu_run(cpu, left < slice ? left : slice);
        must(cpu->retired - before <= slice);
        /* An instruction that makes more accesses than are ever granted in a row cannot be done. */
        if (stop == REFUSED && ++refused < 100000)
            stop = VS_STOP_LIMIT;
        /* Iterations may be endless: 2^64 of them. */
        if (cpu->iterations)
            return stop;
    }
    return stop;
}

static void execute(const uint8_t *data, size_t size, unsigned slice, unsigned refuse, int *stop,
                    uint64_t *sum)
{
    struct memory m = {.seen = {.ops = &memory_ops},
                       .code = data + 8,
                       .size = size - 8,
                       .seed = vs_get64(data),
                       .refuse = refuse};
    struct vs_cpu_code *code = ops->code_new();
    struct vs_cpu *cpu = vs_cpu_new(ops, 1, code, &m.seen);
    must(code && cpu);
    for (unsigned i = 0; i < 16; i++)
        vs_cpu_put(cpu, i, mix(m.seed + i) >> (i % 4 * 16));
    vs_cpu_put(cpu, 2, 40); /* rcx: what repeats comes to an end */
    cpu->pc = CODE;
    *stop = run(cpu, slice);
    *sum = cpu->iterations ? 0 : look(cpu);
    free(cpu);
    vs_cpu_code_free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int whole, parts;
    uint64_t sum, other;
    if (size < 9 || size > 4096)
        return 0;
    execute(data, size, INSNS, 0, &whole, &sum);
    execute(data, size, 7, 0, &parts, &other);
    must(!sum || !other || (whole == parts && sum == other));
    execute(data, size, 50, 29, &parts, &other);
    must(!sum || !other || parts == REFUSED || (whole == parts && sum == other));
    return 0;
}
