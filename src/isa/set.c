/* SPDX-License-Identifier: MIT */
#include "isa/set.h"

#include <string.h>

#include "isa/rv64/rv64.h"
#include "isa/x86_64/x86.h"

/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15 */
static const uint8_t x86_dwarf[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

static const uint8_t rv64_dwarf[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                     11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                     22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static const struct vs_isa sets[] = {
    {
        .name = "x86-64",
        .address_bits = 64,
        .length_max = VS_X86_LENGTH_MAX,
        .decode = vs_x86_decode,
        .operands = vs_x86_operands,
        .syscall_changes = 1 << 0 | 1 << 1 | 1 << 11, /* rax; rcx and r11 by the instruction */
        .dwarf = x86_dwarf,
        .dwarf_count = sizeof(x86_dwarf),
    },
    {
        .name = "rv64",
        .address_bits = 64,
        .length_max = VS_RV64_LENGTH_MAX,
        .decode = vs_rv64_decode,
        .operands = vs_rv64_operands,
        .syscall_changes = 1 << 10, /* a0 */
        .dwarf = rv64_dwarf,
        .dwarf_count = sizeof(rv64_dwarf),
    },
};

_Static_assert(VS_X86_LENGTH_MAX <= VS_ISA_LENGTH_MAX && VS_RV64_LENGTH_MAX <= VS_ISA_LENGTH_MAX,
               "no instruction is longer");

const struct vs_isa *vs_isa_find(const char *name)
{
    for (size_t i = 0; name && i < sizeof(sets) / sizeof(sets[0]); i++)
        if (!strcmp(sets[i].name, name))
            return &sets[i];
    return NULL;
}
