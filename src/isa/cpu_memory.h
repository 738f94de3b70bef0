/* SPDX-License-Identifier: MIT */
/* The memory that a CPU executes over, as its owner provides it: plain pages, caches with timing,
 * or the debugger's decoder of a port stream.
 *
 * A memory embeds struct vs_cpu_memory as its first member. Its functions get the core, whose id,
 * pc and retired are as the accessing instruction has them. They must not run a core themselves.
 *
 * Where nothing else is said, the functions return 0; VS_CPU_FAULT if there is no such memory or it
 * may not be used so, with cpu->fault set to the address at fault and nothing changed; a negative
 * error, which ends the run before the instruction and is what the run returns.
 *
 * An instruction that ended in an error is executed from its beginning when the core runs again,
 * and makes all of its accesses again. A memory that may refuse a later access of an instruction
 * therefore keeps what it did for the earlier ones, which are marked: VS_ACCESS_ATOMIC reads, and
 * VS_ACCESS_PART. */
#ifndef ISA_CPU_MEMORY_H
#define ISA_CPU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VS_PAGE_BITS 12
#define VS_PAGE_SIZE (UINT64_C(1) << VS_PAGE_BITS)

#define VS_CPU_ACCESS_MAX 832 /* bytes of one access on any ISA: x86-64's xsave with AVX */

/* The most bytes that an instruction gets before its last access. */
#define VS_CPU_PARTS_MAX 1024

struct vs_cpu;
struct vs_cpu_memory;

enum {
    VS_CPU_FAULT = 1,
    VS_CPU_CODE = 2, /* from write and conditional: it is done, and decoded code is out of date */
};

/* What an access is part of. */
enum vs_access {
    VS_ACCESS_PLAIN,
    VS_ACCESS_RESERVED, /* a load-reserved's read, which makes the core's reservation */
    VS_ACCESS_ATOMIC,   /* an atomic's read, or its write, which follows unless the read failed;
                         * nothing comes between them. The read faults unless the memory may also
                         * be written, and the write does not fault. */
    VS_ACCESS_PART,     /* plain; another access of the same instruction follows */
};

/* Values from outside the program that a memory knows. */
enum {
    VS_COUNTER_CYCLE,
    VS_COUNTER_TIME,
    VS_COUNTER_RETIRED,
    VS_COUNTER_OTHER, /* this and greater numbers are the ISA's own */
};

struct vs_cpu_memory_ops {
    /* Gets code: the bytes from addr on, at most `size`. Returns how many there are; 0, with
     * cpu->fault set, if there are none that may be executed; a negative error. */
    int (*fetch)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, void *bytes,
                 size_t size);

    /* Access 1 to VS_CPU_ACCESS_MAX bytes at any address, little-endian; reserved and atomic
     * accesses are aligned. */
    int (*read)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                enum vs_access access, void *bytes);
    int (*write)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, unsigned size,
                 enum vs_access access, const void *bytes);

    /* Does an aligned store-conditional, and sets *stored to whether the reservation held; it is
     * gone afterwards. */
    int (*conditional)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr,
                       unsigned size, const void *bytes, int *stored);

    /* Gets a value that neither registers nor memory determine: a VS_COUNTER_x, or another of the
     * ISA's. VS_CPU_FAULT: there is no such value, and the instruction is illegal. */
    int (*outside)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, unsigned what, unsigned size,
                   void *bytes);

    /* Optional. Returns the host's address of the page at addr (a multiple of VS_PAGE_SIZE) if this
     * core's plain reads or, with `writing`, plain writes may go there without the memory seeing
     * them; otherwise NULL. The core keeps the address until vs_cpu_forget_page. */
    uint8_t *(*page)(struct vs_cpu_memory *memory, struct vs_cpu *cpu, uint64_t addr, int writing);
};

/* The default of the host's floating-point status word: all exceptions masked, rounding to nearest,
 * no flags. */
#define VS_CPU_STATUS UINT32_C(0x1f80)

struct vs_cpu_memory {
    const struct vs_cpu_memory_ops *ops;
    bool integer; /* reads and writes neither compute with floating point nor look at the core's
                   * floating-point flags, some of which may be missing then; and a run begins with
                   * the host's status word at VS_CPU_STATUS, or else its flags become the core's,
                   * and leaves it so. Such accesses cost less */
    bool simple; /* it is `integer`, and plain reads and writes do not look at pc and retired, which
                  * may be old then; it gives no pages away. Accesses of observed runs cost even
                  * less */
};

#endif
