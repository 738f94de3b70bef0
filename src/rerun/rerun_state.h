/* SPDX-License-Identifier: MIT */
/* A run that is executed again, as the files of this layer see it. */
#ifndef RERUN_RERUN_STATE_H
#define RERUN_RERUN_STATE_H

#include "isa/cpu.h"
#include "isa/set.h"
#include "rerun/rerun.h"
#include "rerun/selecting.h"
#include "rerun/whole_memory.h"

#define VS_RERUN_LOCKS 256   /* a power of 2 */
#define VS_RERUN_BATCH 16384 /* events, about */

struct vs_rerun_thread {
    struct vs_cpu *cpu; /* NULL: it has not begun, or is over */
    uint64_t goal;      /* instructions that it has retired, according to the inputs */
    uint64_t last;      /* those that events account for */
    uint64_t events;    /* of the thread */
    uint64_t held;      /* if its last event happened within an instruction that repeats itself:
                         * how many iterations it has done; 0: the instruction is complete */
    bool stale;         /* memory was told anew: it does not run before its next gap */
    /* While counting: the same as `last` and `events` without loads and stores. */
    uint64_t flow_last, flow_events;
};

/* Whether the instruction at pc is locked. */
struct vs_rerun_lock {
    uint64_t pc;
    bool known, locked;
};

struct vs_rerun {
    struct vs_cpu_memory seen; /* first: what the cores access */
    struct vs_whole_memory memory;
    const struct vs_isa *isa;
    const struct vs_cpu_ops *ops;
    struct vs_cpu_code *code;
    struct vs_reader *inputs;
    struct vs_rerun_thread *threads;
    unsigned thread_count;
    struct vs_rerun_lock locks[VS_RERUN_LOCKS];

    struct vs_batch in; /* inputs; from `at` on they are still to come */
    size_t at;
    bool begun;                  /* the one at `at` is due: its thread is on the way there */
    size_t outside, outside_end; /* inputs with what the thread gets from outside on that way; those
                                  * before `outside` it has got */
    struct vs_made joined;       /* what `in` has, if an instruction's values were in two batches */
    int failed;                  /* what is returned once the events before it were */
    struct vs_diag diag;         /* and why */

    struct vs_made made;
    size_t count; /* of its events */
    struct vs_event lost;
    bool counting;     /* events are counted, and not made */
    bool flow_only;    /* accesses do not become events */
    uint64_t executed; /* instructions of all threads, as the inputs say */
    uint64_t digests;  /* of registers, that were compared */
    unsigned ran;      /* the thread that did something last */
    struct {
        uint64_t times, pages; /* of memory, that were compared */
        /* 1 + `executed` when that was done last, and the time before; 0: never */
        uint64_t at, before;
    } digested;
    struct vs_selecting *selecting; /* NULL: all instructions become events */
};

/* Appends an event that no access and no branch is, after so many of all instructions that its
 * thread retires; `bytes` is its value if that is wide. */
void vs_rerun_append(struct vs_rerun *r, const struct vs_event *e, const uint8_t *bytes,
                     uint64_t retired);

/* Lets accesses make events, or if r->counting be counted as such, or neither. */
void vs_rerun_use(struct vs_rerun *r, bool made);

/* Makes the event of a branch, as struct vs_cpu_code wants it. */
void vs_rerun_branched(struct vs_cpu *cpu, const struct vs_insn *insn, uint64_t to, bool condition);

/* Makes it as if nothing had been executed; the reader of the inputs stays where it is. */
void vs_rerun_forget(struct vs_rerun *r);

/* Gets more inputs if all were taken. Returns 0; -VSE_END; -VSE_NOMEM; with r->diag, as
 * vs_reader_next. */
int vs_rerun_get_inputs(struct vs_rerun *r);

/* Finds all values from outside that the instruction takes whose first is at r->at (rdrand takes
 * two), with the next batch of inputs if need be. Returns 0; -VSE_NOMEM; with r->diag, as
 * vs_reader_next. */
int vs_rerun_find_values(struct vs_rerun *r);

/* Goes to an input, which is then the next. Returns 0; with diag, as vs_reader_seek_event. */
int vs_rerun_seek_input(struct vs_rerun *r, uint64_t number, struct vs_diag *diag);

/* Events of all threads so far. */
uint64_t vs_rerun_events(const struct vs_rerun *r);

/* Compares memory with the digests that the event has of it. Returns 0; -VSE_NOMEM; -VSE_CORRUPT
 * with r->diag, after which the inputs have to be sought. */
int vs_rerun_compare_memory(struct vs_rerun *r, const struct vs_event *e, const uint8_t *payload);

/* Says that code is not what it was, so that what is known of it is out of date. */
void vs_rerun_code_changed(struct vs_rerun *r);

/* Says that memory changed which is not a thread's doing. */
void vs_rerun_memory_changed(struct vs_rerun *r, uint64_t addr, uint64_t size);

#endif
