/* SPDX-License-Identifier: MIT */
#include "isa/abi.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "isa/rv64/hart.h"
#include "isa/rv64/rv64.h"
#include "isa/rv64/rv64_syscalls.h"
#include "vestige/event.h"

#ifndef EF_RISCV_RVE
#define EF_RISCV_RVE 8
#endif

enum { RA = 1, SP = 2, TP = 4, A0 = 10, A1 = 11, A2 = 12, A7 = 17 };

static const uint16_t calls[] = {
#define CALL(number, name) [number] = VS_SYS_##name,
    VS_RV64_SYSCALLS(CALL)
#undef CALL
};

/* clang-format off */
#define F(n) (VS_RV64_REG_F0 + (n))
static const uint16_t state[] = {
    1,     2,     3,     4,     5,     6,     7,     8,     9,     10,    11,
    12,    13,    14,    15,    16,    17,    18,    19,    20,    21,    22,
    23,    24,    25,    26,    27,    28,    29,    30,    31,
    F(0),  F(1),  F(2),  F(3),  F(4),  F(5),  F(6),  F(7),  F(8),  F(9),  F(10),
    F(11), F(12), F(13), F(14), F(15), F(16), F(17), F(18), F(19), F(20), F(21),
    F(22), F(23), F(24), F(25), F(26), F(27), F(28), F(29), F(30), F(31),
    VS_RV64_REG_FCSR, VS_REG_PC,
};
/* clang-format on */

/* ---- signals --------------------------------------------------------------------------------- */

/* rt_sigframe: what a handler finds at its sp. */
struct frame {
    uint8_t info[VS_ABI_INFO_SIZE];
    uint64_t flags, link; /* the ucontext begins here */
    uint8_t stack[VS_ABI_STACK_SIZE];
    uint64_t mask;
    uint8_t unused[128]; /* room for more signals, and to align what follows */
    uint64_t pc, x[31];
    uint64_t f[32];
    uint32_t fcsr;
    uint8_t quad[256 - 4]; /* what 128-bit registers would take beyond this */
    uint32_t quad_fcsr, reserved[3];
};
_Static_assert(sizeof(struct frame) == 1088 && sizeof(struct frame) <= VS_ABI_FRAME_MAX,
               "rt_sigframe");

static const struct vs_abi_part parts[] = {
    {0, offsetof(struct frame, unused)},
    {offsetof(struct frame, pc), offsetof(struct frame, quad)},
    {offsetof(struct frame, reserved), sizeof(struct frame)},
};

static void fill(const struct vs_cpu *cpu, const void *info, const void *stack, uint64_t mask,
                 void *frame)
{
    const struct vs_hart *hart = (const struct vs_hart *)cpu;
    struct frame *f = frame;
    *f = (struct frame){.mask = mask, .pc = cpu->pc, .fcsr = hart->fcsr};
    memcpy(f->info, info, sizeof(f->info));
    memcpy(f->stack, stack, sizeof(f->stack));
    memcpy(f->x, hart->x + 1, sizeof(f->x));
    memcpy(f->f, hart->f, sizeof(f->f));
}

static const uint16_t entered[] = {RA, SP, A0, A1, A2};

static void enter(struct vs_cpu *cpu, int signal, uint64_t handler, uint64_t frame, uint64_t back)
{
    struct vs_hart *hart = (struct vs_hart *)cpu;
    hart->x[RA] = back;
    hart->x[SP] = frame;
    hart->x[A0] = (uint64_t)signal;
    hart->x[A1] = frame;
    hart->x[A2] = frame + offsetof(struct frame, flags);
    cpu->pc = handler & ~UINT64_C(1);
}

static void leave(struct vs_cpu *cpu, const void *frame, void *stack, uint64_t *mask)
{
    struct vs_hart *hart = (struct vs_hart *)cpu;
    const struct frame *f = frame;
    cpu->pc = f->pc & ~UINT64_C(1);
    memcpy(hart->x + 1, f->x, sizeof(f->x));
    memcpy(hart->f, f->f, sizeof(f->f));
    hart->fcsr = f->fcsr & 0xff;
    memcpy(stack, f->stack, sizeof(f->stack));
    *mask = f->mask;
}

/* li a7, 139; ecall */
static const uint32_t back[] = {139u << 20 | A7 << 7 | 0x13, 0x73};

static const struct vs_abi_signals signals = {
    .frame_size = sizeof(struct frame),
    .parts = parts,
    .part_count = sizeof(parts) / sizeof(parts[0]),
    .fill = fill,
    .enter = enter,
    .entered = entered,
    .entered_count = sizeof(entered) / sizeof(entered[0]),
    .leave = leave,
    .back = back,
    .back_size = sizeof(back),
    .back_insns = sizeof(back) / sizeof(back[0]),
};

_Static_assert(sizeof(entered) / sizeof(entered[0]) <= VS_ABI_ENTERED_MAX, "registers");

/* ---- the machine ----------------------------------------------------------------------------- */

static int describe_core(unsigned core, char *text, size_t capacity)
{
    return snprintf(text, capacity, "hart\t\t: %u\nisa\t\t: rv64imafdc\nmmu\t\t: sv39\n", core);
}

static const char *refuse(unsigned elf_flags)
{
    return elf_flags & EF_RISCV_RVE ? "a program for RV64E, which has only 16 registers" : NULL;
}

const struct vs_abi vs_rv64_abi = {
    .call = A7,
    .args = {A0, A0 + 1, A0 + 2, A0 + 3, A0 + 4, A0 + 5},
    .result = A0,
    .stack = SP,
    .thread = TP,
    .modules = -16,
    .call_length = 4,
    .calls = calls,
    .call_count = sizeof(calls) / sizeof(calls[0]),
    .clone_child = 4,
    .clone_tls = 3,
    .stat_size = 128,
    .sigaction_size = 24,
    .epoll_size = 16,
    .state = state,
    .state_count = sizeof(state) / sizeof(state[0]),
    .signals = &signals,
    .machine = "riscv64",
    .hwcap = 1 << 8 | 1 << 12 | 1 << 0 | 1 << 5 | 1 << 3 | 1 << 2, /* I, M, A, F, D, C */
    .describe_core = describe_core,
    .refuse = refuse,
};
