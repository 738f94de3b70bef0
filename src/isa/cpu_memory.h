/* SPDX-License-Identifier: MIT */
/* The memory that a CPU executes over, as its owner provides it: plain pages, caches with timing,
 * or the debugger's decoder of a port stream.
 *
 * A memory embeds struct vs_cpu_memory as its first member. Its functions get the core; the core's
 * id, pc and retired are those of the instruction that accesses. They must not run a core
 * themselves.
 *
 * Returns, where nothing else is said: 0; VS_CPU_FAULT if there is no such memory or it may not be
 * used so, with cpu->fault set to the address at fault and nothing changed; a negative error, which
 * the run returns: it ends before the instruction.
 *
 * An instruction that ended so is executed from its beginning when the core runs again, and makes
 * all of its accesses again. A memory that may refuse a later access of an instruction therefore
 * keeps what it did for the earlier ones, which are marked: VS_ACCESS_ATOMIC reads, and
 * VS_ACCESS_PART.
 */
#ifndef ISA_CPU_MEMORY_H
#define ISA_CPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_PAGE_BITS 12
#define VS_PAGE_SIZE (UINT64_C(1) << VS_PAGE_BITS)

#define VS_CPU_ACCESS_MAX 832 /* bytes of one access of any ISA: x86-64's xsave with AVX */

/* Bytes that one instruction gets before its last access. */
#define VS_CPU_PARTS_MAX 1024

struct vs_cpu;
struct vs_cpu_memory;

enum {
    VS_CPU_FAULT = 1,
    VS_CPU_CODE = 2, /* of write and conditional: done, and decoded code is out of date */
};

/* What an access is part of. */
enum vs_access {
    VS_ACCESS_PLAIN,
    VS_ACCESS_RESERVED, /* a read: of load-reserved, which makes the core's reservation */
    VS_ACCESS_ATOMIC,   /* a read that is followed by the write, unless it failed: what lies between
                         * them is atomic. It faults unless the memory may be written as well, and
                         * the write does not fault. */
    VS_ACCESS_PART,     /* plain, and another access of the same instruction follows */
};

/* Values from outside the program that a memory knows. */
enum {
    VS_COUNTER_CYCLE,
    VS_COUNTER_TIME,
    VS_COUNTER_RETIRED,
    VS_COUNTER_OTHER, /* this and what is above: the ISA's own */
};

struct vs_cpu_memory_ops {
    /* Code: the bytes from addr on, at most `size`. Returns how many there are; 0, with cpu->fault,
     * if there are none that may be executed; or a negative error. */
    int (*fetch)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                 size_t size);

    /* 1 to VS_CPU_ACCESS_MAX bytes at any address, little-endian; reserved and atomic ones are
     * aligned. */
    int (*read)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                enum vs_access access, void *bytes);
    int (*write)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                 enum vs_access access, const void *bytes);

    /* Store-conditional, aligned. *stored: whether the reservation held; it is gone afterwards. */
    int (*conditional)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, const void *bytes, int *stored);

    /* A value that neither registers nor memory determine: a VS_COUNTER_x, or another of the ISA's.
     * VS_CPU_FAULT: there is no such value, the instruction is illegal. */
    int (*outside)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what, unsigned size,
                   void *bytes);

    /* Optional. The host's address of the page at addr (a multiple of VS_PAGE_SIZE), if plain reads
     * (or, with `writing`, plain writes) of this core may go there without the memory seeing them;
     * else NULL. The core keeps it until vs_cpu_forget_page. */
    uint8_t *(*page)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, int writing);
};

/* The host's status word of floating point by default: all exceptions masked, to nearest, no
 * flags. */
#define VS_CPU_STATUS UINT32_C(0x1f80)

struct vs_cpu_memory {
    const struct vs_cpu_memory_ops *ops;
    bool integer; /* reads and writes neither compute with floating point nor look at the core's
                   * floating-point flags, some of which may be missing then, and a run begins with
                   * the host's status word at VS_CPU_STATUS, or its flags become the core's: such
                   * accesses cost less */
};

#endif
