/* SPDX-License-Identifier: MIT */
#include "isa/abi.h"
#include "isa/rv64/rv64.h"
#include "isa/rv64/rv64_syscalls.h"

enum { SP = 2, A0 = 10, A7 = 17 };

static const uint16_t calls[] = {
#define CALL(number, name) [number] = VS_SYS_##name,
    VS_RV64_SYSCALLS(CALL)
#undef CALL
};

const struct vs_abi vs_rv64_abi = {
    .call = A7,
    .args = {A0, A0 + 1, A0 + 2, A0 + 3, A0 + 4, A0 + 5},
    .result = A0,
    .stack = SP,
    .calls = calls,
    .call_count = sizeof(calls) / sizeof(calls[0]),
    .clone_child = 4,
    .clone_tls = 3,
    .stat_size = 128,
    .sigaction_size = 24,
};
