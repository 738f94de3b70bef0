/* SPDX-License-Identifier: MIT */
/* What the current instruction has already done. An instruction that has to wait for a message in
 * the midst of its accesses is later executed from its beginning and makes them again: those that
 * it made before get the same answers, and nobody else sees them twice. An iteration of an
 * instruction that repeats itself counts as an instruction here. */
#ifndef REPLAY_DONE_H
#define REPLAY_DONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/cpu.h"

struct vs_replay_done {
    uint64_t at;           /* instructions retired before it */
    uint64_t iteration;    /* if it repeats itself: iterations done before, after it retired */
    unsigned count, asked; /* accesses that it made; how many of them it has made again */
    unsigned used, given;  /* bytes that they got; how many of them they got again */
    uint8_t bytes[VS_CPU_PARTS_MAX];
};

/* The core is about to execute. */
static inline void vs_done_restart(struct vs_replay_done *d)
{
    d->asked = d->given = 0;
}

static inline void vs_done_clear(struct vs_replay_done *d)
{
    d->count = d->asked = d->used = d->given = 0;
}

/* Returns whether it is about the core's next instruction, or iteration of one. */
static inline bool vs_done_fits(const struct vs_replay_done *d, const struct vs_cpu *cpu)
{
    return d->at == cpu->retired && d->iteration == cpu->iterations;
}

/* Returns whether the core's next instruction or iteration has been begun. */
static inline bool vs_done_is_begun(const struct vs_replay_done *d, const struct vs_cpu *cpu)
{
    return d->count && vs_done_fits(d, cpu);
}

/* Returns whether the core's next access was made before; if so, gets the `size` bytes that it got
 * then. */
bool vs_done_repeat(struct vs_replay_done *d, const struct vs_cpu *cpu, void *bytes, size_t size);

/* The core made an access that others of the same instruction may follow, and got these bytes.
 * Returns 0; -VSE_LIMIT. */
int vs_done_keep(struct vs_replay_done *d, const struct vs_cpu *cpu, const void *bytes,
                 size_t size);

#endif
