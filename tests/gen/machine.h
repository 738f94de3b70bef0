/* SPDX-License-Identifier: MIT */
/* The state of a generation: threads that execute the program, and the batch being filled.
 *
 * One step of a thread executes up to and including its next site or terminator. Whatever else
 * happens to a thread (signal, gap, switch, end) happens between steps, at any instruction in
 * between: `skip` says how many of them have retired already. */
#ifndef GEN_MACHINE_H
#define GEN_MACHINE_H

#include "gen/memory.h"
#include "gen/program.h"

enum {
    DEPTH_MAX = 96,      /* frames */
    DEPTH_DEEP = 24,     /* recursion ends, signals wait */
    WIDE_SOFT = 1 << 18, /* a batch ends soon after this many bytes */
    WIDE_MAX = WIDE_SOFT + GEN_BATCH_EVENTS * 128 + (1 << 18),
    BATCH_SOFT = GEN_BATCH_EVENTS - GEN_SLACK, /* no step emits more than GEN_SLACK */
    MAPS_MAX = 256
};

/* Where a thread goes on when a call or a handler is over. */
struct frame {
    uint32_t block, site, skip;
    bool handler; /* a signal came in here */
    uint64_t sp;
    uint64_t pc;
};

struct thread {
    uint32_t block; /* position: block, next site in it, instructions retired towards that */
    uint32_t site, skip;
    uint32_t icount; /* retired since the last event */
    uint32_t depth;
    uint32_t handlers; /* frames that are */
    uint16_t index;
    bool alive, sc_failed;
    uint64_t sp;
    uint64_t history; /* outcomes of conditionals, the latest in bit 0 */
    uint64_t node;
    uint64_t loaded;
    uint64_t quits; /* ends when the run has this many events */
    uint64_t *state;
    struct frame frame[DEPTH_MAX];
};

struct mapping {
    uint64_t addr, length;
    bool gone;
};

struct gen {
    struct gen_options options; /* without zeros */
    struct program program;
    struct memory memory;
    struct rng control, data, order, timing;

    struct thread *threads;
    uint64_t *states;
    uint32_t started, alive;
    uint32_t now; /* the thread that runs */
    uint64_t slice_end;
    uint64_t fine_end; /* slices of a few events until then */
    uint64_t next_syscall, next_signal, next_gap, next_code, next_count;

    int version; /* of the code that is replaced; -1 before there is one */
    struct mapping map[MAPS_MAX];
    uint32_t maps;
    struct vs_image image[2];

    uint32_t *block_of_id;
    uint32_t block_ids, image_ids;

    uint64_t first; /* global number of the batch's first event */
    uint32_t count, limit;
    uint32_t wide_size;
    uint64_t clock, clock_rest;
    struct vs_event events[GEN_BATCH_EVENTS];
    uint64_t cycles[GEN_BATCH_EVENTS];
    uint8_t wide[WIDE_MAX];
};

static inline uint64_t events_so_far(const struct gen *g)
{
    return g->first + g->count;
}

/* A number of events with this mean; far away if the knob says never. */
static inline uint64_t next_due(struct gen *g, uint32_t mean)
{
    if (mean == GEN_NEVER)
        return UINT64_MAX;
    return events_so_far(g) + rng_range(&g->order, 1, 2 * mean - 1);
}

static inline void put_event(struct gen *g, struct thread *t, const struct vs_event *e)
{
    g->events[g->count] = *e;
    g->events[g->count].thread = t->index;
    g->events[g->count++].icount = (uint16_t)t->icount;
    t->icount = 0;
}

/* Appends an event; thread and icount are filled in. */
static inline void emit(struct gen *g, struct thread *t, struct vs_event e)
{
    while (__builtin_expect(t->icount > UINT16_MAX, 0)) {
        uint32_t rest = t->icount - UINT16_MAX;
        t->icount = UINT16_MAX;
        put_event(g, t, &(struct vs_event){.kind = VS_COUNT});
        t->icount = rest;
    }
    put_event(g, t, &e);
}

/* Room for a wide value in the batch. Returns its offset. */
static inline uint32_t wide_put(struct gen *g, uint32_t size)
{
    uint32_t offset = g->wide_size;
    g->wide_size += size;
    if (g->wide_size > WIDE_SOFT && g->limit > g->count)
        g->limit = g->count;
    return offset;
}

/* ---- exec.c ---- */

/* Moves a thread to a block, which is in the table from then on. */
void exec_enter(struct gen *g, struct thread *t, uint32_t block);
/* Gives a block its id, if it has none. */
void exec_see(struct gen *g, uint32_t block);
/* Steps until the batch has g->limit events. */
void exec_run(struct gen *g, struct thread *t);
/* Retires some of the instructions before the next site or terminator, maybe none.
 * Returns the address of the next instruction. */
uint64_t exec_advance(struct gen *g, struct thread *t);
/* The stack pointer as the next instruction sees it; t->sp is that of the function's body. */
uint64_t exec_sp(const struct gen *g, const struct thread *t);
/* Goes back to a frame and drops it and those above it. */
void exec_unwind(struct gen *g, struct thread *t, uint32_t frame);

/* ---- system.c: what comes from outside ---- */

void system_call(struct gen *g, struct thread *t, const struct site *s);
void system_clone(struct gen *g, struct thread *t, const struct site *s);
void system_signal(struct gen *g, struct thread *t);
void system_signal_return(struct gen *g, struct thread *t, uint64_t pc);
void system_gap(struct gen *g, struct thread *t);
/* The first thread, and what is mapped from the start. */
void system_begin(struct gen *g);
void system_exit(struct gen *g, struct thread *t);

#endif
