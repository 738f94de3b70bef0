/* SPDX-License-Identifier: MIT */
/* Blocks of code as the tool announced them, prepared for turning their records into events. */
#ifndef CAPTURE_BLOCKS_H
#define CAPTURE_BLOCKS_H

#include "base/arena.h"
#include "capture/wire.h"
#include "isa/isa.h"
#include "trace/recipe.h"
#include "vestige/event.h"
#include "vestige/run.h"

/* Where a step's address or value comes from. */
enum vs_block_value {
    VS_BLOCK_FIXED,    /* it is in the step's event */
    VS_BLOCK_RECORDED, /* it is in the record */
    VS_BLOCK_OF_STEP,  /* it is an earlier step's, plus what the step's event has */
};

/* An operand: an event with everything that is the same each time. Its icount is the number of
 * instructions since the step before it, or since the block's start. */
struct vs_block_step {
    struct vs_event event;
    uint64_t mask; /* for a value of at most 8 bytes */
    uint16_t insn;
    uint16_t addr_at, value_at, guard_at;
    uint16_t addr_of, value_of;
    uint8_t addr, value; /* enum vs_block_value */
    bool guarded, wide;
};

/* What leaving a block by one of its exits means. */
struct vs_block_leave {
    /* The recipe used last, which is for a thread that had retired `since` instructions without an
     * event. */
    uint32_t recipe; /* its number plus one; 0: there is none */
    uint16_t since;
    uint16_t then;      /* what `since` is afterwards */
    uint32_t insns;     /* that retire */
    uint16_t steps;     /* that precede it */
    uint16_t all;       /* events: the steps, and the branch */
    uint16_t after;     /* instructions after the last step */
    uint16_t target_at; /* where the record has an indirect target; 0: the event has it */
    uint8_t leave;      /* enum wire_leave */
    uint8_t runs;       /* how often it was taken before it had a recipe */
    bool branch;
    bool again; /* the last instruction is repeated: insns does not count it */
    bool plain; /* nothing is special about it, nor about the steps before it */
    bool hot;   /* it may have recipes: it is plain, has events, and steps are loads and stores */
    struct vs_event event; /* the branch's, if any; icount: instructions since the last step */
};

struct vs_code_block {
    uint32_t length; /* a record's */
    uint16_t leave_count, step_count;
    struct vs_block_leave *leaves;
    struct vs_block_step *steps;
    uint64_t addr;
    uint32_t id; /* the consumer's number for it */
    uint16_t insns;
    bool guarded;     /* some step is guarded */
    uint64_t last_pc; /* the last instruction's */
    const uint8_t *lengths;
    const uint8_t *code;
    uint32_t code_size; /* 0: there is only an instruction that Valgrind could not decode */
    uint32_t decoded;   /* instructions that have bytes */
};

/* Makes a block of the ISA's code from a WIRE_BLOCK record of `size` bytes, with memory of the
 * arena. Returns 0; -VSE_NOMEM; -VSE_CORRUPT. */
int vs_code_block_make(struct vs_code_block *b, struct vs_arena *arena, const struct vs_isa *isa,
                       const void *record, size_t size);

/* Makes the steps of a recipe for a plain leave: room for its steps and one more. The first event
 * counts `since` more instructions. Returns how many. */
unsigned vs_code_block_recipe(const struct vs_code_block *b, const struct vs_block_leave *l,
                              unsigned since, struct vs_recipe_step *steps);

/* An instruction's address. */
uint64_t vs_code_block_pc(const struct vs_code_block *b, unsigned insn);

#endif
