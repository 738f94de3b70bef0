/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "isa/set.h"
#include "isa/x86_64/x86.h"

/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15 */
static const uint8_t dwarf[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

_Static_assert(VS_X86_LENGTH_MAX <= VS_ISA_LENGTH_MAX, "none is longer");
_Static_assert(VS_X86_TEXT_MAX <= VS_ISA_TEXT_MAX, "none has a longer text");

const struct vs_isa vs_isa_x86_64 = {
    .name = "x86-64",
    .address_bits = 64,
    .length_max = VS_X86_LENGTH_MAX,
    .decode = vs_x86_decode,
    .operands = vs_x86_operands,
    .format = vs_x86_format,
    .elf_machine = EM_X86_64,
    .user_end = UINT64_C(1) << 47,
    .syscall_changes = 1 << 0 | 1 << 1 | 1 << 11, /* rax; rcx and r11 by the instruction */
    .dwarf = dwarf,
    .dwarf_count = sizeof(dwarf),
    .calls = {.number = 0, .result = 0, .args = {5, 4, 1, 10, 8, 9}},
    .stack_pointer = 7,
    .registers = &vs_x86_registers,
};
