/* SPDX-License-Identifier: MIT */
/* What Linux programs of an ISA and their kernel agree on, where ISAs differ. Registers are by
 * DWARF's numbers. */
#ifndef ISA_ABI_H
#define ISA_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "isa/syscalls.h"

struct vs_cpu;

#define VS_ABI_SIGNALS     64   /* are numbered from 1 to this */
#define VS_ABI_ENTERED_MAX 8    /* registers that entering a handler changes, pc not counted */
#define VS_ABI_FRAME_MAX   4096 /* bytes of a frame */
#define VS_ABI_INFO_SIZE   128  /* bytes of a siginfo_t */
#define VS_ABI_STACK_SIZE  24   /* of a stack_t, as by sigaltstack */

/* What calls read, which is the same for all ISAs of 64 bits. */
struct vs_abi_clone {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

struct vs_abi_iovec {
    uint64_t base, size;
};

struct vs_abi_pollfd {
    int32_t fd;
    int16_t events, revents;
};

/* Bytes of a frame, from one offset to another. */
struct vs_abi_part {
    uint16_t from, to;
};

/* What a handler finds on its stack, and how it comes there and back. NULL in place of one: the
 * simulated platform does not run such programs. */
struct vs_abi_signals {
    size_t frame_size;
    const struct vs_abi_part *parts; /* that the kernel writes of a frame */
    unsigned part_count;

    /* Makes a frame of the core's registers, of a siginfo_t and a stack_t, and of the signals that
     * are blocked when the handler has returned. */
    void (*fill)(const struct vs_cpu *cpu, const void *info, const void *stack, uint64_t mask,
                 void *frame);
    /* Goes into the handler, with the frame at that address; it returns to `back`. */
    void (*enter)(struct vs_cpu *cpu, int signal, uint64_t handler, uint64_t frame, uint64_t back);
    const uint16_t *entered; /* registers that this sets, pc not among them */
    unsigned entered_count;
    /* Takes registers back out of a frame, and what else it has: a stack_t, and the mask. */
    void (*leave)(struct vs_cpu *cpu, const void *frame, void *stack, uint64_t *mask);

    const void *back; /* code to return to from a handler: calls rt_sigreturn */
    unsigned back_size, back_insns;
};

struct vs_abi {
    /* A system call: registers of its number, arguments and result. */
    uint16_t call, args[6], result;
    uint16_t stack, thread; /* pointers: to the stack, and to what is the thread's own */
    unsigned call_length;   /* bytes of the instruction */

    const uint16_t *calls; /* enum vs_syscall by number */
    unsigned call_count;

    uint8_t clone_child, clone_tls;     /* which arguments of clone they are */
    uint16_t stat_size, sigaction_size; /* bytes of structures */

    const uint16_t *state; /* all registers of a thread, in the order in which payloads of events
                            * that the simulated platform makes have them; each of 8 bytes */
    unsigned state_count;
    const struct vs_abi_signals *signals;

    const char *machine; /* as uname -m says */
    uint64_t hwcap;      /* AT_HWCAP */
    /* A line or more on a core, as in /proc/cpuinfo. */
    int (*describe_core)(unsigned core, char *text, size_t capacity);
    /* Why a program of these flags in its ELF header cannot run; NULL: it can. */
    const char *(*refuse)(unsigned elf_flags);
};

static inline enum vs_syscall vs_abi_call(const struct vs_abi *abi, uint64_t number)
{
    return number < abi->call_count ? (enum vs_syscall)abi->calls[number] : VS_SYS_none;
}

#endif
