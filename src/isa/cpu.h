/* SPDX-License-Identifier: MIT */
/* Execution of an ISA in user mode over any memory, which replay, verification and the simulated
 * platform drive.
 *
 * A machine consists of cores, a memory (isa/cpu_memory.h), and the decoded code that the cores
 * share. No state lies elsewhere: any number of machines run side by side, each in one thread at a
 * time. The cores of a machine take turns, so that what they do has one order, the same in every
 * run.
 *
 * An ISA's row (isa/set.h) has the table of its CPU. A core's state is opaque but for its head,
 * struct vs_cpu, and so is the machine's code but for its head, struct vs_cpu_code. */
#ifndef ISA_CPU_H
#define ISA_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "isa/cpu_log.h"
#include "isa/cpu_memory.h"
#include "isa/insn.h"
#include "isa/registers.h"

struct vs_cpu_ops;

#define VS_PASSING_NONE UINT64_MAX /* no instruction's address */

#define VS_CPU_DECODED_MAX 256 /* bytes of code that are decoded at once */

#define VS_CPU_SAVED_MAX 4096 /* bytes of a copy of a core of any ISA */

/* The head of a core. The owner may set pc, memory, code, id, passing,
 * iterate_until and pause_after between runs. */
struct vs_cpu {
    const struct vs_cpu_ops *ops;
    struct vs_cpu_memory *memory; /* what it accesses; the owner's */
    struct vs_cpu_code *code;     /* may be shared by cores that fetch the same; the owner's */
    uint64_t pc;
    uint64_t retired; /* instructions */
    uint64_t fault;   /* after a trap: the address at fault, or the illegal instruction; after a
                       * mark: its number */
    uint64_t passing; /* an address at which the core does not stop next time, or
                       * VS_PASSING_NONE */
    /* An instruction that repeats itself, such as x86's rep movs, retires with its first iteration.
     * These are the iterations that it has done if it has retired and goes on; pc is still at it.
     * Otherwise 0. */
    uint64_t iterations;
    uint64_t iterate_until; /* a run stops when `iterations` has come to this; 0: never */
    uint64_t pause_after;   /* a run that is not observed may stop with VS_STOP_LIMIT after so many
                             * instructions, wherever that costs least, and does so before many
                             * more; 0: it does not */
    uint32_t id;            /* by which the memory knows it */
};

/* The head of a machine's decoded code. The owner may set the members after `flushes` while nothing
 * is decoded. */
struct vs_cpu_code {
    const struct vs_cpu_ops *ops;
    uint64_t flushes; /* how often code was forgotten */

    bool marks; /* the ISA's mark instruction stops a run with VS_STOP_MARK after it retired */
    const uint64_t *breaks; /* ascending addresses at which a core stops with VS_STOP_BREAK, unless
                             * cpu->passing is the address; set with vs_cpu_break */
    size_t break_count;
    struct vs_buf breaks_before; /* what they were when they were set; private */
    /* If not NULL, says of any address whether a core stops there, too. It always says the same
     * about an address. */
    bool (*stops)(const void *watcher, uint64_t pc);
    const void *watcher;
    /* If not NULL, called for each piece of code that was decoded, before it is executed: `size`
     * bytes from addr on, at most VS_CPU_DECODED_MAX. In an observed run, the log has everything
     * that the core did before. Returns 0, or a negative error, which ends the run. */
    int (*decoded)(void *context, struct vs_cpu *cpu, uint64_t addr, unsigned size, unsigned insns);
    void *context;
    /* If not NULL, called for each branch that is about to retire, taken or not: what `describe`
     * said about it, where control goes, and whether it leaves by the exit that depends on the
     * condition as the processor has it, not negated. Not by CPUs that run observed. */
    void (*branched)(struct vs_cpu *cpu, const struct vs_insn *insn, uint64_t to, bool condition);
    /* Goes with `branched`: says what the instruction at pc is, as an ISA's decode does. */
    int (*describe)(const uint8_t *bytes, size_t size, uint64_t pc, struct vs_insn *insn);
};

/* Why a run ended. With all but the first four, the instruction at pc is where the run stopped, and
 * did not retire. */
enum vs_stop {
    VS_STOP_LIMIT,       /* as many instructions retired as were asked for, or it pauses */
    VS_STOP_LOG,         /* the log has no room for more */
    VS_STOP_CALL,        /* a system call, which has retired; pc is after it */
    VS_STOP_MARK,        /* a mark, which has retired; fault: its number */
    VS_STOP_BREAK,       /* at an address to stop at */
    VS_STOP_TRAP,        /* a breakpoint instruction */
    VS_STOP_ILLEGAL,     /* fault: the instruction */
    VS_STOP_FETCH_FAULT, /* fault: the address */
    VS_STOP_LOAD_FAULT,  /* fault: the address */
    VS_STOP_STORE_FAULT, /* fault: the address; also of conditional stores and atomics */
    VS_STOP_LOAD_ALIGN,  /* fault: the address; of reserved loads */
    VS_STOP_STORE_ALIGN, /* fault: the address; of conditional stores and atomics */
    VS_STOP_ARITHMETIC,  /* for example a division by zero, where that traps */
};

struct vs_cpu_ops {
    size_t size;  /* bytes of a core */
    size_t saved; /* bytes of a checkpoint of it, at most VS_CPU_SAVED_MAX */

    /* Makes a machine's code. Returns NULL without memory. */
    struct vs_cpu_code *(*code_new)(void);
    void (*code_free)(struct vs_cpu_code *code);
    /* See vs_cpu_flush. */
    void (*flush)(struct vs_cpu_code *code, uint64_t addr, uint64_t size);

    /* Makes a core whose registers are all zero. */
    void (*init)(struct vs_cpu *cpu, unsigned id, struct vs_cpu_code *code,
                 struct vs_cpu_memory *memory);

    /* See vs_cpu_run. run_observed is NULL if the simulated platform does not have the ISA. */
    int (*run)(struct vs_cpu *cpu, uint64_t most);
    int (*run_observed)(struct vs_cpu *cpu, uint64_t most, struct vs_cpu_log *log);

    /* Get and set a register by its DWARF number, or VS_REG_PC, little-endian. get returns its
     * size, at most VS_REGISTER_BYTES, or -VSE_NOTFOUND. set returns 0; -VSE_CORRUPT (there is no
     * such register, or it cannot have that value); if there are fewer bytes than the register
     * has, the others become zero. */
    int (*get)(const struct vs_cpu *cpu, unsigned number, void *bytes);
    int (*set)(struct vs_cpu *cpu, unsigned number, const void *bytes, size_t size);

    /* See vs_cpu_forget_page. NULL if cores keep no pages. */
    void (*forget_page)(struct vs_cpu *cpu, uint64_t addr, bool only_writes);

    /* Save and restore a checkpoint of `saved` bytes: everything that the core's instructions can
     * see, with pc and retired. Restoring leaves id, memory and code as they are, and sets passing
     * to VS_PASSING_NONE. */
    void (*save)(const struct vs_cpu *cpu, void *copy);
    void (*restore)(struct vs_cpu *cpu, const void *copy);
};

/* Executes at most `most` instructions from pc on. Returns a VS_STOP_x; -VSE_NOMEM; a negative
 * error of the memory. In every case the core is as it was after the last instruction that
 * retired.
 *
 * An instruction that repeats itself is executed iteration by iteration, each as if it were an
 * instruction, but only the first retires. If the run's last instruction does so, the run ends
 * after its first iteration, with cpu->iterations 1; the next run completes it before anything
 * else, and only completes it if `most` is 0. */
static inline int vs_cpu_run(struct vs_cpu *cpu, uint64_t most)
{
    return cpu->ops->run(cpu, most);
}

/* Does the same and writes every instruction that retires to the log. May also return
 * VS_STOP_LOG. */
static inline int vs_cpu_run_observed(struct vs_cpu *cpu, uint64_t most, struct vs_cpu_log *log)
{
    return cpu->ops->run_observed(cpu, most, log);
}

/* Forgets decoded code, at least what was decoded from these bytes. Must not be called while a core
 * that uses the code runs: memories return VS_CPU_CODE instead. */
static inline void vs_cpu_flush(struct vs_cpu_code *code, uint64_t addr, uint64_t size)
{
    code->ops->flush(code, addr, size);
}

static inline void vs_cpu_flush_all(struct vs_cpu_code *code)
{
    code->ops->flush(code, 0, UINT64_MAX);
}

/* NULL is fine. */
void vs_cpu_code_free(struct vs_cpu_code *code);

/* Sets the addresses to stop at, in place of those before. They must ascend, and stay valid. Code
 * is forgotten only where addresses came or went. */
void vs_cpu_break(struct vs_cpu_code *code, const uint64_t *addrs, size_t count);

/* Returns whether a core stops at the address, unless it passes it. For CPUs that decode code. */
static inline bool vs_cpu_stops(const struct vs_cpu_code *code, uint64_t pc)
{
    size_t low = 0, high = code->break_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (code->breaks[middle] < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return (low < code->break_count && code->breaks[low] == pc) ||
           (code->stops && code->stops(code->watcher, pc));
}

/* Forgets what the memory's `page` returned for one page: all of it, or only what it returned for
 * writing. Memories call this when they unmap or protect a page or begin to watch it. */
static inline void vs_cpu_forget_page(struct vs_cpu *cpu, uint64_t addr, bool only_writes)
{
    if (cpu->ops->forget_page)
        cpu->ops->forget_page(cpu, addr, only_writes);
}

/* Returns cores side by side, all initialized, with ids from 0 on, to be freed with free(); NULL
 * without memory. */
struct vs_cpu *vs_cpu_new(const struct vs_cpu_ops *ops, unsigned count, struct vs_cpu_code *code,
                          struct vs_cpu_memory *memory);
/* Returns the core with index i among such cores. */
struct vs_cpu *vs_cpu_at(struct vs_cpu *cpus, unsigned i);

/* Copies a core to another of the same ISA, as saving and restoring a checkpoint does. */
void vs_cpu_copy(struct vs_cpu *to, const struct vs_cpu *from);

/* Makes all registers as a new core has them. It stays the core that retired what it did. */
void vs_cpu_clear(struct vs_cpu *cpu);

/* Returns a register of at most 8 bytes, zero-extended; 0 if there is none with that number. */
uint64_t vs_cpu_get(const struct vs_cpu *cpu, unsigned number);
/* Sets a register, which must exist, to a value that it can have. */
void vs_cpu_put(struct vs_cpu *cpu, unsigned number, uint64_t value);

/* Sets registers from an event's payload, except for what is said about an exception: its cause,
 * and the iterations before it. If there is a pc, cpu->iterations is 0 afterwards, or what the
 * payload says about an instruction that is resumed. Returns 0; -VSE_CORRUPT. */
int vs_cpu_set_registers(struct vs_cpu *cpu, const uint8_t *bytes, size_t size);

#endif
