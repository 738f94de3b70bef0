/* SPDX-License-Identifier: MIT */
/* The inside of an assembler: `assemble` takes blocks apart and delivers events, and
 * `assemble_records` knows the other records. */
#ifndef CAPTURE_ASSEMBLER_H
#define CAPTURE_ASSEMBLER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "capture/assemble.h"
#include "capture/blocks.h"
#include "capture/wire_registers.h"

/* One of VEX's blocks has no more operands than this, with a branch. */
#define VS_BLOCK_EVENTS (VS_PARCEL_EVENTS - VS_PARCEL_BATCH)
/* More instructions than a thread runs between two of the tool's records. */
#define VS_CAPTURE_SINCE_MAX (UINT64_C(1) << 32)
#define VS_CAPTURE_NESTED    16 /* signal handlers of a thread within each other that are followed */

/* How many records are delivered together. */
#define VS_RECORDS 4096

enum vs_pending { VS_PENDING_NONE, VS_PENDING_SIGNAL, VS_PENDING_RETURN };

/* A repeated instruction that was counted but goes on. */
struct vs_repetition {
    uint64_t pc;         /* 0 = there is none */
    uint64_t iterations; /* that it has done */
};

struct vs_capture_thread {
    bool live;
    uint16_t number;
    uint64_t since;      /* instructions retired after its last event; less than 0, modulo 2^64, if
                          * the tool is yet to count them */
    uint64_t call_pc;    /* of the system call that it is in; 0 = none */
    uint64_t request_pc; /* of the client request whose result is due; 0 = none */
    struct vs_repetition repeats;
    enum vs_pending pending;
    uint64_t signal;
    struct wire_regs before;
    bool torn; /* it was interrupted within an instruction, which may have set registers already */
    uint64_t bases[2];                                   /* of fs and gs, as far as is known */
    struct vs_repetition interrupted[VS_CAPTURE_NESTED]; /* when signal handlers were entered */
    unsigned depth;
    /* If inputs are recorded: */
    uint64_t digest;  /* of its registers now; 0 = not known */
    uint64_t stretch; /* instructions since its last VS_TURN */
    uint64_t said;    /* the iterations in that, if nothing retired since; else 0 */
    bool unsaid;      /* it ran after its last event that is no branch, load or store */
};

struct vs_assembler {
    struct vs_assembler_options o;
    struct vs_codemap code;
    struct vs_arena arena; /* the blocks' */
    struct vs_code_block *blocks;
    size_t block_count, block_capacity; /* blocks are numbered from 1; [0] is not used */
    struct vs_capture_thread **threads; /* by Valgrind's number */
    size_t thread_capacity;
    unsigned thread_count; /* numbered so far */
    struct vs_capture_thread *current;
    struct vs_capture_thread
        nobody; /* stands in for a thread when events about the whole program are made */
    struct vs_parcel *parcel; /* being filled */
    struct vs_event *events;  /* the parcel's */
    size_t count;
    uint64_t window, left; /* the current window, and what is left of it */
    bool cut;              /* the window is over */
    unsigned begun;        /* threads that have begun before that */
    uint64_t cut_pc;       /* the window's last instruction, if that has events; 0 = none */
    uint16_t cut_thread;
    bool turn_due;         /* it is to be said that the thread came to that instruction's end */
    bool records;          /* the consumer takes records */
    struct vs_map recipes; /* numbers plus one, by block, exit and instructions before */
    uint32_t taken[VS_RECORDS];   /* recipes of the records to be delivered */
    struct vs_recipe_step *steps; /* of the recipe that is made: room for VS_BLOCK_EVENTS */
    bool theirs;                  /* the error that is returned is the consumer's */
    struct vs_assembler_stats stats;
    struct vs_buf command;
    char shared[512]; /* as vs_assembler_shared gives it */
    const struct vs_isa *isa;
    struct vs_wire_numbers numbers;
    uint8_t payload[VS_REGS_MAX + sizeof(struct vs_syscall_head)];
    /* of the block that is taken apart, by step */
    uint64_t addrs[VS_BLOCK_EVENTS], values[VS_BLOCK_EVENTS];
    /* A copy of the record that is no block, since the program may write over the original between
     * the check and the use. */
    uint64_t record[WIRE_RECORD_MAX / 8];
};

/* Says what makes no sense. Returns -VSE_CORRUPT. */
int vs_assembler_nonsense(struct vs_diag *diag, const char *what);

/* Passes on what the consumer returned. */
static inline int64_t vs_assembler_theirs(struct vs_assembler *a, int64_t e)
{
    a->theirs |= e < 0;
    return e;
}

/* Settles a system call that the tool did not report as done: it was interrupted and tried again,
 * or was not observed. */
static inline void vs_assembler_settle_call(struct vs_capture_thread *t, uint64_t next_pc)
{
    if (t->call_pc && next_pc != t->call_pc)
        t->since++;
    t->call_pc = 0;
}

/* Notes a client request that was counted, or that there is none. It retires when its result is
 * known, as something may happen before that. */
static inline void vs_assembler_request(struct vs_capture_thread *t, uint64_t pc)
{
    t->request_pc = pc;
    t->since -= pc != 0;
}

/* Appends an event that no instruction of a block makes; `payload` becomes its value if it has more
 * than 8 bytes. The event counts the instructions since the thread's last one, and `more`. Returns
 * 0; -VSE_NOMEM; -VSE_CORRUPT (there are too many of them); the consumer's error. */
int vs_assembler_put(struct vs_assembler *a, struct vs_capture_thread *t, struct vs_event e,
                     const void *payload, size_t size, unsigned more);

/* Says how far the thread came, if that is not clear already, or in any case. Returns as
 * vs_assembler_put. */
int vs_assembler_put_turn(struct vs_assembler *a, struct vs_capture_thread *t, bool always);

/* Gives an event to the instructions of a thread that have none. Returns as vs_assembler_put. */
int vs_assembler_put_since(struct vs_assembler *a, struct vs_capture_thread *t);

/* Goes on with another window: what came before it is delivered. Returns as vs_assembler_put. */
int vs_assembler_next_window(struct vs_assembler *a, uint64_t window);

/* Takes a record that is no block that ran. Returns as vs_assembler_take. */
int vs_assembler_record(struct vs_assembler *a, uint32_t kind, const struct wire_head *head,
                        struct vs_diag *diag);

/* Takes over a block that another assembler knows, without the ways to leave it, and with it in
 * place if it is there. Returns as vs_assembler_take. */
int vs_assembler_take_over(struct vs_assembler *a, const struct vs_code_block *b, bool in_place,
                           struct vs_diag *diag);

/* Ends all threads. Returns as vs_assembler_put. */
int vs_assembler_end_threads(struct vs_assembler *a);

#endif
