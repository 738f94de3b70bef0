/* SPDX-License-Identifier: MIT */
/* A Linux process on the target: its memory, threads, files, signals and time, as a program in user
 * mode sees them. Whoever runs the cores (target/machine.h) decides when a task runs; the process
 * decides what system calls, faults and the passing of time do to it.
 *
 * Each function below appends to `effects`, in order, what it did that a recorder or a cache has to
 * know; the caller takes note of the effects and sets effect_count to 0. Nothing depends on the
 * host but the files that the program uses: the same calls have the same effects in every run. */
#ifndef TARGET_PROCESS_H
#define TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/interrupt.h"
#include "isa/isa.h"
#include "vestige/error.h"
#include "vestige/run.h"

enum vs_task_state {
    VS_TASK_READY,   /* can run */
    VS_TASK_BLOCKED, /* in a system call that has not ended */
    VS_TASK_ENDED,   /* a new task may take the slot */
};

/* The system call that a task is in, or made last. */
struct vs_call {
    uint64_t pc; /* of its instruction */
    uint64_t number;
    enum vs_syscall what;
    uint64_t args[6];
};

struct vs_task_linux; /* what only the process knows */

/* A thread. Its address never changes; cpu->id is the number of its slot in the process. */
struct vs_task {
    struct vs_cpu *cpu;
    uint32_t tid;
    uint32_t number; /* in order of creation, from 0 on; never reused */
    enum vs_task_state state;
    bool attention; /* needs vs_process_attend before it runs on */
    struct vs_call call;
    struct vs_task_linux *linux_state;
};

enum vs_effect_kind {
    VS_EFFECT_CALL,   /* the task's call ended; value: what its result's register holds. With
                       * `restart`, the pc is at the call again and the register as before. If the
                       * call ends the task, value is its argument */
    VS_EFFECT_WROTE,  /* the kernel wrote [addr, addr + size), for the task's call if pc is not 0 */
    VS_EFFECT_MAPPED, /* [addr, addr + size) is new memory; flags VS_MAP_READ, WRITE, EXEC */
    VS_EFFECT_PROTECTED, /* the same memory, other flags */
    VS_EFFECT_UNMAPPED,  /* [addr, addr + size) is gone */
    VS_EFFECT_STARTED,   /* a new task, whose registers are set */
    VS_EFFECT_ENDED,     /* the task ended; value: its status */
    VS_EFFECT_SIGNAL,    /* the task enters the handler at addr; pc: the instruction that it did not
                          * execute; value: the signal. Its pc became addr and its registers
                          * `regs`. Several may follow each other */
    VS_EFFECT_SIGRETURN, /* the task returned from a handler, to addr; all registers changed.
                          * Replaces VS_EFFECT_CALL */
};

struct vs_effect {
    enum vs_effect_kind kind;
    unsigned flags;
    struct vs_task *task;
    uint64_t pc, addr, size, value;
    uint64_t regs[VS_ABI_ENTERED_MAX]; /* SIGNAL: the registers that the ABI's `entered` lists */
    bool restart;
    bool image; /* MAPPED: it is part of the program's file, as loaded */
};

/* A system call that is not supported and was answered with ENOSYS. */
struct vs_unsupported {
    uint64_t number, pc;
    uint64_t times;
};

#define VS_UNSUPPORTED_MAX 16

struct vs_process_options {
    const char *path;      /* a static or static-pie program of the target's ISA */
    const char *exe;       /* the absolute path that it takes for its own; NULL: `path` */
    const char *started;   /* the path with which it was started (AT_EXECFN); NULL: `path` */
    char *const *argv;     /* ended by NULL, [0] included */
    char *const *envp;     /* ended by NULL */
    uint64_t seed;         /* of the program's random numbers */
    unsigned cores;        /* how many it is told that there are */
    uint64_t memory_limit; /* bytes that may be touched; 0: 4 GiB */
    const struct vs_interrupt *interrupt; /* ends vs_process_wait; may be NULL */
};

struct vs_linux; /* files, signals, waits: what only the process knows */

struct vs_process {
    const struct vs_isa *isa;
    struct vs_ram memory;
    struct vs_cpu_code *code; /* shared by all its CPUs */
    struct vs_task **tasks;   /* by slot */
    size_t task_count;        /* slots */
    uint32_t started;         /* tasks that ever started */
    uint32_t alive;           /* tasks that have not ended */

    struct vs_effect *effects;
    size_t effect_count, effect_capacity;

    uint64_t now; /* nanoseconds since the start; the owner sets it, and never back */

    bool ended; /* all tasks have ended */
    int status; /* if `ended`: as by waitpid */

    bool full;          /* more was touched than memory_limit; the owner has to stop */
    uint64_t full_addr; /* if `full`: where */

    struct vs_unsupported unsupported[VS_UNSUPPORTED_MAX];
    size_t unsupported_count;

    struct vs_image image; /* of the program */
    uint64_t entry;        /* address of its first instruction */
    struct vs_linux *linux_state;
};

/* Checks that the file is a program for vs_process_open, before anything is written. Returns 0;
 * -VSE_NOTFOUND; -VSE_IO; -VSE_INVAL (it is for another ISA, dynamic or not executable, or its
 * headers make no sense), where diag says which it is and what to do. */
int vs_process_check(const char *path, struct vs_diag *diag);

/* Loads the program and makes its first task. Its effects are what was mapped and written, and
 * STARTED. Returns 0; as vs_process_check; -VSE_LIMIT (the program touches more than memory_limit);
 * -VSE_NOMEM. */
int vs_process_open(struct vs_process **p, const struct vs_process_options *options,
                    struct vs_diag *diag);
/* NULL is fine. */
void vs_process_close(struct vs_process *p);

/* The functions below return 0, or -VSE_NOMEM. */

/* The task's CPU stopped with VS_STOP_CALL: does the call, which may end the task, block it, or end
 * the process. */
int vs_process_call(struct vs_process *p, struct vs_task *t);

/* The task's CPU stopped with another trap: makes it a signal, which vs_process_attend, now due,
 * delivers. A first access to a mapped page is no signal: the page gets memory, zeroed, and the
 * task simply runs on. */
int vs_process_fault(struct vs_process *p, struct vs_task *t, int stop);

/* Delivers the signals that are due to a ready task that has `attention`: it enters a handler, or
 * the process ends. */
int vs_process_attend(struct vs_process *p, struct vs_task *t);

/* To be called after `now` was set: timers expire, waits time out, and calls that wait for files of
 * the host are tried again. */
int vs_process_advance(struct vs_process *p);

/* Returns the `now` at which something will happen by itself, or UINT64_MAX. */
uint64_t vs_process_deadline(const struct vs_process *p);

/* Returns whether some task waits for a file of the host. */
bool vs_process_waits(const struct vs_process *p);

/* Waits until vs_process_advance may let such a task continue, or the interrupt comes. */
int vs_process_wait(struct vs_process *p);

/* Sends the process a signal from outside, as kill(2) does. */
int vs_process_signal(struct vs_process *p, int number);

#endif
