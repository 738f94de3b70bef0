/* SPDX-License-Identifier: MIT */
/* A hart: the architectural state of an RV64GC core in user mode, and what it keeps to run fast. */
#ifndef ISA_RV64_HART_H
#define ISA_RV64_HART_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/cpu.h"

struct vs_op_block;

/* regs[VS_REG_SINK] takes what is written to x0. */
#define VS_REG_SINK 64

#define VS_TLB_BITS    8
#define VS_TLB_ENTRIES (1 << VS_TLB_BITS)

/* tag is the address of a page, or VS_TLB_NONE; the host's address of a byte is the byte's own plus
 * delta. VS_TLB_NONE has a bit that is always 0 when an address's page and alignment are
 * compared. */
struct vs_tlb_entry {
    uint64_t tag;
    uint64_t delta;
};
#define VS_TLB_NONE (VS_PAGE_SIZE / 2)

struct vs_hart {
    struct vs_cpu cpu;

    /* Registers. The owner may change them between runs, except for x[0], which is 0. */
    union {
        uint64_t regs[VS_REG_SINK + 1]; /* by DWARF number */
        struct {
            uint64_t x[32];
            uint64_t f[32]; /* a binary32 is boxed: its upper half is all ones */
        };
    };
    uint32_t fcsr; /* flags in bits 4:0, rounding mode in bits 7:5 */

    /* Where a run ended inside a block, so that the next run finds its way back at once. It is
     * valid as long as the code has not been flushed since. */
    struct vs_op_block *in_block; /* or NULL */
    uint32_t in_op;
    uint64_t in_flushes;

    bool host_fma; /* the host multiplies and adds in one instruction */
    struct vs_tlb_entry reads[VS_TLB_ENTRIES], writes[VS_TLB_ENTRIES];
};

/* Functions for struct vs_cpu_ops. */
void vs_hart_init(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
                  struct vs_cpu_memory *memory);
int vs_hart_get(const struct vs_cpu *cpu, unsigned number, void *bytes);
int vs_hart_set(struct vs_cpu *cpu, unsigned number, const void *bytes, size_t size);
void vs_hart_forget_page(struct vs_cpu *cpu, uint64_t addr, bool only_writes);

/* A checkpoint. */
struct vs_hart_copy {
    uint64_t x[32], f[32], pc, retired;
    uint32_t fcsr;
};
void vs_hart_save(const struct vs_cpu *cpu, void *copy);
void vs_hart_restore(struct vs_cpu *cpu, const void *copy);

#endif
