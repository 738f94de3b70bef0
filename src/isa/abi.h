/* SPDX-License-Identifier: MIT */
/* What an ISA's Linux programs and their kernel agree on, where ISAs differ. Registers have DWARF's
 * numbers. */
#ifndef ISA_ABI_H
#define ISA_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/syscalls.h"
#include "vestige/event.h"

struct vs_cpu;

#define VS_ABI_SIGNALS     64   /* signals are numbered from 1 to this */
#define VS_ABI_ENTERED_MAX 8    /* registers that entering a handler changes, beside the pc */
#define VS_ABI_FRAME_MAX   4096 /* bytes of a frame */
#define VS_ABI_INFO_SIZE   128  /* bytes of a siginfo_t */
#define VS_ABI_STACK_SIZE  24   /* bytes of a stack_t, as sigaltstack has it */

/* Structures that calls read, which are the same for all 64-bit ISAs. */
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

/* The bytes of a frame from one offset up to another. */
struct vs_abi_part {
    uint16_t from, to;
};

/* What a signal handler finds on its stack, and how a thread gets into the handler and back. An ABI
 * has NULL in its place if the simulated platform does not run such programs. */
struct vs_abi_signals {
    size_t frame_size;
    const struct vs_abi_part *parts; /* those parts of a frame that the kernel writes */
    unsigned part_count;

    /* Makes a frame from the core's registers, a siginfo_t, a stack_t, and the mask of signals that
     * are blocked once the handler has returned. */
    void (*fill)(const struct vs_cpu *cpu, const void *info, const void *stack, uint64_t mask,
                 void *frame);
    /* Enters the handler, with the frame at that address; the handler returns to `back`. */
    void (*enter)(struct vs_cpu *cpu, int signal, uint64_t handler, uint64_t frame, uint64_t back);
    const uint16_t *entered; /* the registers that `enter` sets, beside the pc */
    unsigned entered_count;
    /* Takes the registers back from a frame, and gets its stack_t and its mask. */
    void (*leave)(struct vs_cpu *cpu, const void *frame, void *stack, uint64_t *mask);

    const void *back; /* the code that a handler returns to, which calls rt_sigreturn */
    unsigned back_size, back_insns;
};

/* Where a handler finds what the kernel put on its stack, for a debugger. */
struct vs_abi_saved {
    uint16_t number, at; /* a register, and its place from the handler's first stack pointer on */
    bool changed;        /* the handler does not find it as it was */
};

struct vs_abi_frame {
    uint16_t restorer; /* where rt_sigaction's structure has the address that a handler returns to,
                        * which lies at the handler's first stack pointer */
    const struct vs_abi_saved *saved;
    unsigned saved_count;
};

struct vs_abi {
    /* The registers of a system call's number, arguments and result. */
    uint16_t call, args[6], result;
    uint16_t stack, thread; /* the registers of the stack pointer and of the thread pointer */
    int modules; /* from the thread pointer to the address of the C library's list of where the
                  * thread has its variables, 16 bytes for each file */
    unsigned call_length; /* bytes of the instruction that calls */

    const uint16_t *calls; /* enum vs_syscall by number */
    unsigned call_count;

    uint8_t clone_child, clone_tls;                 /* which of clone's arguments these are */
    uint16_t stat_size, sigaction_size, epoll_size; /* bytes of the structures */

    const uint16_t *state; /* all registers of a thread, each of 8 bytes, in their order in the
                            * payloads of the simulated platform's events */
    unsigned state_count;
    const struct vs_abi_signals *signals;
    const struct vs_block *fixed;     /* code that no file has, at the same place in every program;
                                       * NULL: there is none */
    const struct vs_abi_frame *frame; /* NULL: not known */

    const char *machine; /* as uname -m says */
    uint64_t hwcap;      /* AT_HWCAP */
    /* Writes one or more lines about a core, as in /proc/cpuinfo. */
    int (*describe_core)(unsigned core, char *text, size_t capacity);
    /* Returns why a program with these flags in its ELF header cannot run; NULL if it can. */
    const char *(*refuse)(unsigned elf_flags);
};

static inline enum vs_syscall vs_abi_call(const struct vs_abi *abi, uint64_t number)
{
    return number < abi->call_count ? (enum vs_syscall)abi->calls[number] : VS_SYS_none;
}

#endif
