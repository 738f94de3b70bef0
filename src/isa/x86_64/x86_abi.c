/* SPDX-License-Identifier: MIT */
#include "isa/abi.h"
#include "isa/x86_64/x86.h"
#include "isa/x86_64/x86_syscalls.h"
#include "vestige/event.h"

enum {
    RAX = 0,
    RDX = 1,
    RCX = 2,
    RBX = 3,
    RSI = 4,
    RDI = 5,
    RBP = 6,
    RSP = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10
};

static const uint16_t calls[] = {
#define CALL(number, name) [number] = VS_SYS_##name,
    VS_X86_SYSCALLS(CALL)
#undef CALL
};

/* gettimeofday, time and getcpu as programs once called them: mov $number, %rax; syscall; ret.
 * Linux keeps them, and Valgrind runs the same. */
static const uint8_t old_calls[] = {
    [0x000] = 0x48, 0xc7, 0xc0, 0x60, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3,
    [0x400] = 0x48, 0xc7, 0xc0, 0xc9, 0x00, 0x00, 0x00, 0x0f, 0x05, 0xc3,
    [0x800] = 0x48, 0xc7, 0xc0, 0x35, 0x01, 0x00, 0x00, 0x0f, 0x05, 0xc3,
};
static const struct vs_block fixed = {
    .addr = 0xffffffffff600000, .bytes = old_calls, .size = sizeof(old_calls), .insns = 9};

/* The return address, a ucontext_t of which the first 40 bytes are other things, and registers in
 * this order. */
#define AT(place) (8 + 40 + 8 * (place))

static const struct vs_abi_saved saved[] = {
    {8, AT(0), false},         {9, AT(1), false},    {10, AT(2), false},   {11, AT(3), false},
    {12, AT(4), false},        {13, AT(5), false},   {14, AT(6), false},   {15, AT(7), false},
    {RDI, AT(8), true},        {RSI, AT(9), true},   {RBP, AT(10), false}, {RBX, AT(11), false},
    {RDX, AT(12), true},       {RAX, AT(13), false}, {RCX, AT(14), false}, {RSP, AT(15), true},
    {VS_REG_PC, AT(16), true},
};

static const struct vs_abi_frame frame = {
    .restorer = 16, .saved = saved, .saved_count = sizeof(saved) / sizeof(saved[0])};

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
    .fixed = &fixed,
    .frame = &frame,
    .machine = "x86_64",
};
