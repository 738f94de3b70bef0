/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "isa/rv64/iss.h"
#include "isa/rv64/rv64.h"
#include "isa/set.h"

static const uint8_t dwarf[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

_Static_assert(VS_RV64_LENGTH_MAX <= VS_ISA_LENGTH_MAX, "none is longer");
_Static_assert(VS_RV64_TEXT_MAX <= VS_ISA_TEXT_MAX, "none has a longer text");

const struct vs_isa vs_isa_rv64 = {
    .name = "rv64",
    .title = "64-bit RISC-V",
    .address_bits = 64,
    .length_max = VS_RV64_LENGTH_MAX,
    .alignment = 2,
    .decode = vs_rv64_decode,
    .operands = vs_rv64_operands,
    .infer = vs_rv64_infer,
    .format = vs_rv64_format,
    .class_name = vs_rv64_class_of,
    .elf_machine = EM_RISCV,
    .user_end = UINT64_C(1) << 38,
    .syscall_changes = 1 << 10, /* a0 */
    .dwarf = dwarf,
    .dwarf_count = sizeof(dwarf),
    .registers = &vs_rv64_registers,
    .debuggers = {"gdb-multiarch", "gdb"},
    .cpu = &vs_rv64_cpu,
    .operations = &vs_rv64_operation_set,
    .usage = vs_rv64_usage,
    .abi = &vs_rv64_abi,
};
