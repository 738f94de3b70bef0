/* SPDX-License-Identifier: MIT */
/* The instruction sets that can be decoded, by the name in a run's fact "isa": one row each. */
#ifndef ISA_SET_H
#define ISA_SET_H

#include <stddef.h>

#include "isa/insn.h"
#include "isa/operand.h"

#define VS_ISA_LENGTH_MAX 15 /* bytes of an instruction of any of them */

struct vs_isa {
    const char *name;
    unsigned address_bits;
    unsigned length_max; /* bytes of an instruction */
    /* As vs_x86_decode and vs_rv64_decode. */
    int (*decode)(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn);
    /* What the instruction does with registers and memory. As decode. */
    int (*operands)(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_operands *operands);

    uint32_t syscall_changes; /* registers of isa/operand.h that any system call may change */
    const uint8_t *dwarf;     /* their numbers, by DWARF's from 0 to dwarf_count - 1 */
    unsigned dwarf_count;
};

/* NULL if there is none, or name is NULL. Static storage. */
const struct vs_isa *vs_isa_find(const char *name);

#endif
