/* SPDX-License-Identifier: MIT */
/* Register validation: which integer registers of each core hold what the debugger knows, and on
 * the debugger's side also their values. Both sides follow the executed instructions:
 *
 *   - An address that valid registers tell need not be sent.
 *   - One that is sent makes the one invalid register in it valid, if the address determines it.
 *   - Iterations of a string instruction follow from the first if the direction is known; if it is
 *     not, the first two tell it.
 *   - What an instruction computes from valid registers and constants is valid. All else is not,
 *     above all what comes from memory.
 *
 * Where a core is not where the code was followed to, or the code is not known, nothing is valid
 * until it is told again. */
#ifndef TECHNIQUE_VALIDITY_H
#define TECHNIQUE_VALIDITY_H

#include <stdbool.h>
#include <stdint.h>

#include "technique/address.h"

struct vs_validity_insn;

struct vs_validity_core {
    uint32_t valid;
    uint64_t executed; /* instructions */
    uint64_t until;    /* the value of `executed` up to which the code has this version */
    uint32_t version;
    bool placed; /* pc is where it goes on */
    uint64_t pc;

    bool inside; /* the instruction at `at` is under way */
    bool known;  /* and it was decoded */
    uint64_t at, next;
    struct vs_operands now;
    uint8_t loads, stores;          /* operands that it has had */
    uint64_t last_load, last_store; /* their addresses */
    uint64_t registers[32];         /* values of the valid ones, if values are kept */
};

struct vs_validity {
    const struct vs_address_code *code; /* NULL: nothing is ever valid */
    bool values;
    struct vs_validity_core *cores;
    struct vs_validity_insn *insns; /* decoded instructions, by address */
    uint64_t computing, unmodelled; /* instructions that compute registers, and those of them that
                                       are not followed */
};

/* Returns 0; -VSE_NOMEM. v needs fini in any case. */
int vs_validity_init(struct vs_validity *v, unsigned cores, const struct vs_address_code *code,
                     bool values);
void vs_validity_fini(struct vs_validity *v);

/* Moves a core, which must exist. */
void vs_validity_follow(struct vs_validity *v, const struct vs_address_move *move);

/* Returns the next memory operand of the instruction under way; NULL if none is known, and its
 * address has to be sent. Nothing changes before vs_validity_took. */
const struct vs_memory_operand *vs_validity_operand(const struct vs_validity *v, unsigned core,
                                                    bool store);

/* Whether the debugger can tell the operand's address. With values, sets *addr to it. */
bool vs_validity_tells(const struct vs_validity *v, unsigned core,
                       const struct vs_memory_operand *m, bool store, uint64_t *addr);

/* The operand, or NULL, had this address, whether or not it was sent. */
void vs_validity_took(struct vs_validity *v, unsigned core, const struct vs_memory_operand *m,
                      bool store, uint64_t addr);

#endif
