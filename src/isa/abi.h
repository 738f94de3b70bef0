/* SPDX-License-Identifier: MIT */
/* What Linux programs of an ISA and their kernel agree on, where ISAs differ. Registers are by
 * DWARF's numbers. */
#ifndef ISA_ABI_H
#define ISA_ABI_H

#include <stdint.h>

#include "isa/syscalls.h"

struct vs_abi {
    /* A system call: registers of its number, arguments and result. */
    uint16_t call, args[6], result;
    uint16_t stack; /* pointer */

    const uint16_t *calls; /* enum vs_syscall by number */
    unsigned call_count;

    uint8_t clone_child, clone_tls;     /* which arguments of clone they are */
    uint16_t stat_size, sigaction_size; /* bytes of structures */
};

static inline enum vs_syscall vs_abi_call(const struct vs_abi *abi, uint64_t number)
{
    return number < abi->call_count ? (enum vs_syscall)abi->calls[number] : VS_SYS_none;
}

#endif
