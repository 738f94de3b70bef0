/* SPDX-License-Identifier: MIT */
#include "isa/abi.h"
#include "isa/x86_64/x86.h"
#include "isa/x86_64/x86_syscalls.h"

enum { RAX = 0, RDX = 1, RSI = 4, RDI = 5, RSP = 7, R8 = 8, R9 = 9, R10 = 10 };

static const uint16_t calls[] = {
#define CALL(number, name) [number] = VS_SYS_##name,
    VS_X86_SYSCALLS(CALL)
#undef CALL
};

const struct vs_abi vs_x86_abi = {
    .call = RAX,
    .args = {RDI, RSI, RDX, R10, R8, R9},
    .result = RAX,
    .stack = RSP,
    .thread = VS_X86_REG_FS_BASE,
    .modules = 8,
    .call_length = 2,
    .calls = calls,
    .call_count = sizeof(calls) / sizeof(calls[0]),
    .clone_child = 3,
    .clone_tls = 4,
    .stat_size = 144,
    .sigaction_size = 32,
    .epoll_size = 12,
    .machine = "x86_64",
};
