/* SPDX-License-Identifier: MIT */
/* A Linux process of the target: its memory, threads, files, signals and time, as a program in user
 * mode sees them. Whoever runs the harts (target/machine.h) decides when a task runs; the process
 * decides what system calls, faults and the passing of time do to it.
 *
 * Each call below appends to `effects` what it did that a recorder or a cache has to know, in
 * order; the caller takes note of them and sets effect_count to 0. Nothing depends on the host but
 * the files that the program uses: the same calls have the same effects in every run.
 */
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
    VS_TASK_ENDED,   /* the slot may be taken by a new task */
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
    uint32_t number; /* in order of creation, from 0 on; never used again */
    enum vs_task_state state;
    bool attention; /* vs_process_attend before it runs on */
    struct vs_call call;
    struct vs_task_linux *linux_state;
};

enum vs_effect_kind {
    VS_EFFECT_CALL,  /* the task's call ended; value: the register of its result. With `restart`, pc
                      * is at the call again and that register as before; of a call that ends
                      * the task it is its argument */
    VS_EFFECT_WROTE, /* the kernel wrote [addr, addr + size), for the task's call if pc is not 0 */
    VS_EFFECT_MAPPED,    /* [addr, addr + size) is new memory; flags VS_MAP_READ, WRITE, EXEC */
    VS_EFFECT_PROTECTED, /* the same memory, other flags */
    VS_EFFECT_UNMAPPED,  /* [addr, addr + size) is gone */
    VS_EFFECT_STARTED,   /* a new task, whose registers are set */
    VS_EFFECT_ENDED,     /* the task ended; value: its status */
    VS_EFFECT_SIGNAL,    /* it enters a handler: addr; pc: the instruction not executed; value: the
                          * signal. The registers of `regs` changed, and pc: addr. Several
                          * may follow each other */
    VS_EFFECT_SIGRETURN, /* it returned from one, to addr; all registers changed. In place of
                          * VS_EFFECT_CALL */
};

struct vs_effect {
    enum vs_effect_kind kind;
    unsigned flags;
    struct vs_task *task;
    uint64_t pc, addr, size, value;
    uint64_t regs[VS_ABI_ENTERED_MAX]; /* SIGNAL: those of the ABI's `entered` afterwards */
    bool restart;
    bool image; /* MAPPED: part of the program's file, as loaded */
};

/* A call that is not supported, and was answered with ENOSYS. */
struct vs_unsupported {
    uint64_t number, pc;
    uint64_t times;
};

#define VS_UNSUPPORTED_MAX 16

struct vs_process_options {
    const char *path;                     /* a static or static-pie program of the target's ISA */
    char *const *argv;                    /* ended by NULL, [0] included */
    char *const *envp;                    /* ended by NULL */
    uint64_t seed;                        /* of what the program gets as random */
    unsigned cores;                       /* what it is told of the machine */
    uint64_t memory_limit;                /* bytes that may be touched; 0: 4 GiB */
    const struct vs_interrupt *interrupt; /* vs_process_wait returns for it; may be NULL */
};

struct vs_linux; /* files, signals, waits: what only the process knows */

struct vs_process {
    const struct vs_isa *isa;
    struct vs_ram memory;
    struct vs_cpu_code *code; /* of all its cores */
    struct vs_task **tasks;   /* by slot */
    size_t task_count;        /* slots */
    uint32_t started;         /* tasks, ever */
    uint32_t alive;           /* tasks that have not ended */

    struct vs_effect *effects;
    size_t effect_count, effect_capacity;

    uint64_t now; /* nanoseconds since the start; the owner sets it, never back */

    bool ended; /* all tasks have ended */
    int status; /* then: as by waitpid */

    bool full;          /* more was touched than memory_limit; the owner stops */
    uint64_t full_addr; /* then: where */

    struct vs_unsupported unsupported[VS_UNSUPPORTED_MAX];
    size_t unsupported_count;

    struct vs_image image; /* of the program */
    uint64_t entry;        /* address of its first instruction */
    struct vs_linux *linux_state;
};

/* Whether the file is a program for vs_process_open, before anything is written.
 * Returns 0; -VSE_NOTFOUND; -VSE_IO; -VSE_INVAL (of another ISA, dynamic, not executable, its
 * headers make no sense), and diag says which and what to do. */
int vs_process_check(const char *path, struct vs_diag *diag);

/* Loads the program and makes its first task. Effects: what was mapped and written, STARTED.
 * Returns 0; as vs_process_check; -VSE_LIMIT (it touches more than memory_limit); -VSE_NOMEM. */
int vs_process_open(struct vs_process **p, const struct vs_process_options *options,
                    struct vs_diag *diag);
/* NULL is fine. */
void vs_process_close(struct vs_process *p);

/* The functions below return 0, or -VSE_NOMEM. */

/* The task's core stopped with VS_STOP_CALL: does the call, which may end it, block it, or end
 * the process. */
int vs_process_call(struct vs_process *p, struct vs_task *t);

/* The task's core stopped with another trap: makes it a signal, which is delivered by
 * vs_process_attend, now due. A first access to memory that is mapped is no signal: it gets its
 * page, zero, and the task simply runs on. */
int vs_process_fault(struct vs_process *p, struct vs_task *t, int stop);

/* Delivers what signals are due to a ready task that has `attention`: it enters a handler, or the
 * process ends. */
int vs_process_attend(struct vs_process *p, struct vs_task *t);

/* After `now` was set: timers expire, waits time out, what waits for files of the host is tried
 * again. */
int vs_process_advance(struct vs_process *p);

/* When something will happen by itself: a value of `now`, or UINT64_MAX. */
uint64_t vs_process_deadline(const struct vs_process *p);

/* Whether some task waits for a file of the host. */
bool vs_process_waits(const struct vs_process *p);

/* Waits until vs_process_advance may bring such a task on, or the interrupt comes. */
int vs_process_wait(struct vs_process *p);

/* A signal from outside, as by kill(2). */
int vs_process_signal(struct vs_process *p, int number);

#endif
