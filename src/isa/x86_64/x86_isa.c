/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "base/bytes.h"
#include "isa/set.h"
#include "isa/x86_64/x86.h"

/* DWARF's order is rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15. */
static const uint8_t dwarf[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

/* [endbr64] [bnd] jmp *slot(%rip) */
static bool find_slot(const uint8_t *stub, size_t size, uint64_t address, uint64_t *slot)
{
    size_t at = memcmp(stub, "\xf3\x0f\x1e\xfa", 4) == 0 ? 4 : 0;

    at += stub[at] == 0xf2;
    if (size - at < 6 || stub[at] != 0xff || stub[at + 1] != 0x25)
        return false;
    *slot = address + at + 6 + (uint64_t)(int32_t)vs_get32(stub + at + 2);
    return true;
}

static const struct vs_isa_stubs stubs = {{R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT}, find_slot};

_Static_assert(VS_X86_LENGTH_MAX <= VS_ISA_LENGTH_MAX, "none is longer");
_Static_assert(VS_X86_TEXT_MAX <= VS_ISA_TEXT_MAX, "none has a longer text");

/* As capture/valgrind has them: general registers in the encoding's order, rip, rflags, ymm. */
static const uint16_t digest[] = {
    0,  2,  1,  3,  7,  6,  4,  5,  8,  9,  10, 11, 12, 13, 14, 15, VS_REG_PC, VS_X86_REG_RFLAGS,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

/* In the order in which the recorder has them. */
static const uint16_t gap[] = {
    0,
    2,
    1,
    3,
    7,
    6,
    4,
    5,
    8,
    9,
    10,
    11,
    12,
    13,
    14,
    15,
    VS_REG_PC,
    VS_X86_REG_RFLAGS,
    VS_X86_REG_FS_BASE,
    VS_X86_REG_GS_BASE,
    17,
    18,
    19,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    30,
    31,
    32,
    VS_X86_REG_MXCSR,
    VS_X86_REG_FCW,
    VS_X86_REG_FSW,
    VS_X86_REG_FTAG,
    VS_X86_REG_MM0,
    VS_X86_REG_MM0 + 1,
    VS_X86_REG_MM0 + 2,
    VS_X86_REG_MM0 + 3,
    VS_X86_REG_MM0 + 4,
    VS_X86_REG_MM0 + 5,
    VS_X86_REG_MM0 + 6,
    VS_X86_REG_MM0 + 7,
};

const struct vs_isa vs_isa_x86_64 = {
    .name = "x86-64",
    .title = "x86-64",
    .address_bits = 64,
    .length_max = VS_X86_LENGTH_MAX,
    .alignment = 1,
    .decode = vs_x86_decode,
    .operands = vs_x86_operands,
    .accessed = vs_x86_accessed,
    .format = vs_x86_format,
    .elf_machine = EM_X86_64,
    .stubs = &stubs,
    .user_end = UINT64_C(1) << 47,
    .syscall_changes = 1 << 0 | 1 << 1 | 1 << 11, /* rax; the instruction itself: rcx and r11 */
    .dwarf = dwarf,
    .dwarf_count = sizeof(dwarf),
    .registers = &vs_x86_registers,
    .debuggers = {"gdb", "gdb-multiarch"},
    .abi = &vs_x86_abi,
    .host = vs_x86_host,
    .unnoted = "interrupted rep instructions, the answers to requests of Valgrind, and x87's "
               "registers as they are",
    .cpu_object = "vestige-vex-amd64.so",
    .digest = digest,
    .digest_count = sizeof(digest) / sizeof(digest[0]),
    .gap = gap,
    .gap_count = sizeof(gap) / sizeof(gap[0]),
    .gap_always = sizeof(gap) / sizeof(gap[0]) - 9,
};
